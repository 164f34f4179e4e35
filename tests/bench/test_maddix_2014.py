"""``conncomp bench paper maddix-2014``, on the CPU and on the host executor with its own clock."""

import json
from pathlib import Path

import pytest

from conncomp.bench.papers import PAPERS
from conncomp.bench.papers.maddix_2014 import published
from conncomp.bench.suites.grids import maddix

EXHIBITS = PAPERS["maddix-2014"].exhibits
ON_CPU = [name for name, exhibit in EXHIBITS.items() if "cpu" in exhibit.seconds]
IMAGES = list(published.MILLISECONDS)
COMMAND = "paper", "maddix-2014", "--all", "-o", "out"


def written():
    return {path.stem: json.loads(path.read_text()) for path in Path("out").glob("*.json")}


@pytest.fixture
def on_gpu(run, kernels_on_host):
    done = run(*COMMAND, "--device", "cuda")
    import traceback

    traceback.print_exception(*done.exc_info)
    assert (done.exit_code, done.stderr) == (0, "")
    return written()


def test_on_the_cpu(run):
    done = run(*COMMAND)
    assert (done.exit_code, done.stderr) == (0, "")
    results = written()
    assert list(results) and set(results) == set(ON_CPU)


def test_on_a_gpu(on_gpu):
    assert set(on_gpu) == set(EXHIBITS)
    times = on_gpu["times"]
    print(json.dumps([c for r in on_gpu.values() for c in r["claims"]], indent=1))
    assert [row["image"] for row in times["rows"] if row["way"] == "kernel D"] == IMAGES
