from itertools import count

import click.testing
import numpy as np
import pytest

import conncomp
from conncomp._algorithms import Task
from conncomp.bench import devices, runner
from conncomp.bench.peers import TABLES
from conncomp.grid import answers, array
from host_cuda.host_gpu import HostGpu
from measured_gpu import *  # noqa: F403
from reproductions import laboratory
from reproductions.command import paper

# Before a test puts others in their places.
LABEL, CONNECTED_COMPONENTS = conncomp.label, conncomp.connected_components
ON_GPU = {kind: table["cuda"] for kind, table in TABLES.items()}


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run `python -m reproductions` in an empty folder; it ends with `code`, silent if with 0."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, code=0, silent=True):
        done = click.testing.CliRunner().invoke(paper, [*map(str, arguments)])
        assert done.exit_code == code, done.output
        assert code or not silent or not done.stderr
        return done

    return run


@pytest.fixture
def executor(gpu, monkeypatch):
    """Return a host executor, by whose clock each call takes longer than the last one."""
    milliseconds = count(1)
    monkeypatch.setattr(gpu.cuda, "get_elapsed_time", lambda *_: float(next(milliseconds)))
    return HostGpu()


@pytest.fixture
def arrays_on_host(executor, monkeypatch):
    """Let arrays be labelled by the host executor, where they are."""
    for module in array, answers:
        monkeypatch.setattr(module, "current_gpu", lambda: executor)
    monkeypatch.setattr(array, "move_to_gpu", lambda xp, values, wait=True: values)
    monkeypatch.setattr(answers, "move_from_gpu", lambda values, out: np.copyto(out, values))


@pytest.fixture
def kernels_on_host(executor, arrays_on_host, gpu, monkeypatch):
    """Let contenders run their kernels on the host executor.

    What has an array to write to works on the GPU, everything else on the CPU.
    """

    def label(image, **options):
        return LABEL(image, device="cuda" if "out" in options else "cpu", **options)

    def connected_components(graph, **options):
        if "out" not in options:
            return CONNECTED_COMPONENTS(graph, **options)
        names = "algorithm", "numbering", "out", "workspace"
        algorithm, numbering, out, workspace = (options.pop(name) for name in names)
        kind = "graph" if options.pop("connection") == "weak" else "strong"
        record = ON_GPU[kind][algorithm]
        task = Task(executor, out, workspace, numbering == "consecutive")
        return record.fill(graph._parts, task, **record.check_options(options)), out

    for kind, records in ON_GPU.items():
        monkeypatch.setitem(TABLES[kind], "cuda", records)
    monkeypatch.setattr(conncomp, "label", label)
    monkeypatch.setattr(conncomp, "connected_components", connected_components)
    monkeypatch.setattr(conncomp.Graph, "to", lambda graph, device: graph)
    monkeypatch.setattr(devices.Cuda, "place", lambda _, data: data)
    monkeypatch.setattr(devices.Cuda, "fetch", lambda _, array: array)
    monkeypatch.setattr(devices.Cuda, "capture", lambda _, call: call)
    monkeypatch.setattr(gpu, "empty", np.empty)
    monkeypatch.setattr(runner, "MOST_RUNS", 1)
    on_cpu = devices.Cpu()
    monkeypatch.setattr(laboratory, "make_input", lambda entry, _: runner.make_input(entry, on_cpu))
    return executor
