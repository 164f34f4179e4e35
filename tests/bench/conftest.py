import json
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import click.testing
import numpy as np
import pytest

import conncomp
from conncomp.bench import devices, machine, runner
from conncomp.bench.papers import laboratory
from conncomp.bench.peers import TABLES
from conncomp.bench.results import GraphResult, GraphRow, GridResult, GridRow, Machine, Run
from conncomp.cli._command import command
from conncomp.grid import labelling
from fake_gpu import FakeGpu
from host_cuda.host_gpu import AVAILABLE, HostGpu

# Before a test puts others in their places.
LABEL, CONNECTED_COMPONENTS = conncomp.label, conncomp.connected_components
ON_GPU = {kind: table["cuda"] for kind, table in TABLES.items()}


@pytest.fixture(autouse=True)
def _same_threads():
    threads = conncomp.get_num_threads()
    yield
    conncomp.set_num_threads(threads)


@pytest.fixture(autouse=True)
def _small_cache(monkeypatch):
    """Measure the copy rate on little memory."""
    monkeypatch.setattr(machine, "_last_level_cache", lambda: 1 << 20)


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


@pytest.fixture
def gpu(monkeypatch):
    """Let conncomp work on a GPU that is not there, by the algorithms "auto" and "plain"."""
    fake = FakeGpu(conncomp.connected_components, conncomp.label)
    for module in ("kernels.cuda.launcher", "_arrays"):
        monkeypatch.setattr(f"conncomp.{module}.import_cupy", lambda: fake)
    monkeypatch.setattr("conncomp.graph.graph.current_gpu", lambda: SimpleNamespace(xp=fake))
    checked = SimpleNamespace(symmetric=True, wrong=False)  # by a kernel
    monkeypatch.setattr("conncomp.graph.graph.check_rows", lambda *rows: checked)
    monkeypatch.setattr(devices, "WARM_UP", 0)
    monkeypatch.setattr(devices, "COPY_BYTES", 1 << 20)

    def move(graph, device):
        return fake.move_graph(graph, device)

    monkeypatch.setattr(conncomp.Graph, "to", move)
    monkeypatch.setattr(conncomp, "connected_components", fake.connected_components)
    monkeypatch.setattr(conncomp, "label", fake.label)
    for kind, table in TABLES.items():
        known = TABLES["grid" if kind == "grid" else "graph"]["cuda"]["auto"]
        monkeypatch.setitem(table, "cuda", dict.fromkeys(("auto", "plain"), known))
    return fake


@pytest.fixture
def kernels_on_host(gpu, monkeypatch):
    """Let contenders run their kernels on the host executor; each call takes longer than the last.

    What has an array to write to works on the GPU, everything else on the CPU.
    """
    if not AVAILABLE:
        pytest.skip("there is nothing that the host executor needs")
    executor, milliseconds = HostGpu(), count(1)

    def label(image, **options):
        return LABEL(image, device="cuda" if "out" in options else "cpu", **options)

    def connected_components(graph, **options):
        if "out" not in options:
            return CONNECTED_COMPONENTS(graph, **options)
        names = "algorithm", "numbering", "out", "workspace"
        algorithm, numbering, out, workspace = (options.pop(name) for name in names)
        kind = "graph" if options.pop("connection") == "weak" else "strong"
        record = ON_GPU[kind][algorithm]
        task = numbering == "consecutive", True
        counts = record.fill(
            executor, graph, out, workspace, *task, **record.check_options(options)
        )
        return counts, out

    for kind, records in ON_GPU.items():
        monkeypatch.setitem(TABLES[kind], "cuda", records)
    monkeypatch.setattr(conncomp, "label", label)
    monkeypatch.setattr(conncomp, "connected_components", connected_components)
    monkeypatch.setattr(labelling, "current_gpu", lambda: executor)
    monkeypatch.setattr(labelling, "move_to_gpu", lambda xp, array: array)
    monkeypatch.setattr(labelling, "move_from_gpu", lambda array, out: np.copyto(out, array))
    monkeypatch.setattr(conncomp.Graph, "to", lambda graph, device: graph)
    monkeypatch.setattr(devices.Cuda, "place", lambda _, data: data)
    monkeypatch.setattr(devices.Cuda, "fetch", lambda _, array: array)
    monkeypatch.setattr(devices.Cuda, "capture", lambda _, call: call)
    monkeypatch.setattr(gpu, "empty", np.empty)
    monkeypatch.setattr(gpu.cuda, "get_elapsed_time", lambda *_: float(next(milliseconds)))
    monkeypatch.setattr(runner, "MOST_RUNS", 1)
    on_cpu = devices.Cpu()
    monkeypatch.setattr(laboratory, "make_input", lambda entry, _: runner.make_input(entry, on_cpu))
    return executor
