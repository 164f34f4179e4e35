import json
from datetime import UTC, datetime
from pathlib import Path

import click.testing
import pytest

from conncomp.bench.results import GraphResult, GraphRow, GridResult, GridRow, Machine, Run
from conncomp.cli._command import command
from measured_gpu import *  # noqa: F403


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run `conncomp bench` in an empty folder, in this process."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        return click.testing.CliRunner().invoke(
            command, ["bench", *map(str, arguments)], prog_name="conncomp"
        )

    return run


@pytest.fixture
def make_run():
    def make(name="auto", seconds=(1.0, 1.01, 0.99, 1.02, 0.98, 1.0), kind="ours", **extra):
        fields = {"threads": 1, "status": "ok", "reason": None} | extra
        return Run(name=name, kind=kind, seconds=tuple(seconds), **fields)

    return make


@pytest.fixture
def make_row(make_run):
    def make(input="cells", runs=None, suite="images", graph=False, **extra):
        size = {"vertices": 50, "arcs": 200}
        if not graph:
            size = {"elements": 100, "shape": (10, 10), "dtype": "uint8", "connectivity": 2}
        fields = {
            "description": "round cells",
            "stand_in": False,
            "components": 3,
            "floor_bytes": 500,
        }
        runs = (make_run(),) if runs is None else tuple(runs)
        row = GraphRow if graph else GridRow
        return row(suite=suite, input=input, runs=runs, **fields | size | extra)

    return make


@pytest.fixture
def make_result():
    def make(*rows, **extra):
        fields = {
            "created": datetime(2026, 11, 21, 12, tzinfo=UTC),
            "commit": "0123abc",
            "dirty": False,
            "machine": Machine(cpu="a CPU", cores=2, memory_bytes=1 << 34, system="Linux"),
            "versions": {"numpy": "2.0"},
            "device": "cpu",
            "threads": 2,
            "size": "small",
            "copy_bytes_per_second": 1e10,
        }
        is_graph = bool(rows) and isinstance(rows[0], GraphRow)
        return (GraphResult if is_graph else GridResult)(rows=rows, **fields | extra)

    return make


@pytest.fixture
def raw():
    """Return the agreed format, written out."""
    timed = {"name": "auto", "kind": "ours", "threads": 2, "status": "ok", "reason": None}
    wrong = {"name": "x", "kind": "peer", "threads": 1, "status": "wrong", "reason": "0 is 1"}
    row = {
        "suite": "ecl-18",
        "input": "internet",
        "description": "a stand-in",
        "stand_in": True,
        "vertices": 10,
        "arcs": 20,
        "components": 1,
        "floor_bytes": 160,
        "runs": [timed | {"seconds": [0.5, 1]}, wrong | {"seconds": []}],
    }
    return {
        "format": "conncomp-bench",
        "version": 1,
        "kind": "graph",
        "created": "2026-11-21T12:00:00+00:00",
        "commit": None,
        "dirty": None,
        "machine": {"cpu": "c", "cores": 2, "memory_bytes": 1, "system": "s"},
        "versions": {"numpy": "2.0"},
        "device": "cpu",
        "threads": 2,
        "size": "small",
        "copy_bytes_per_second": 1e10,
        "rows": [row],
    }


@pytest.fixture
def write():
    def write(path, value):
        Path(path).write_text(value if isinstance(value, str) else json.dumps(value))
        return path

    return write
