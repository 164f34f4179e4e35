"""``conncomp bench --device cuda``: on a stand-in for the GPU, and on one where there is one."""

import json
import sys
import weakref
from itertools import count
from pathlib import Path
from time import perf_counter, sleep
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import skimage.measure
from scipy import ndimage, sparse

import fake_gpu
from conncomp import generate
from conncomp.bench import devices, runner
from conncomp.bench.peers import TABLES, algorithms
from conncomp.bench.results import load
from conncomp.bench.suites import SUITES
from conncomp.cli._rules import option_of
from conncomp.cli.bench import grid
from conncomp.graph import Graph
from conncomp.kernels.cuda import launcher
from stand_in import Array

GRID = ("grid", "--size", "tiny", "--suite", "images", "--input", "blobs", "--device", "cuda")
GRAPH = ("graph", "--size", "tiny", "--suite", "hard", "--input", "star-last", "--device", "cuda")
NAMES = [(kind, suite) for kind in SUITES for suite in SUITES[kind]]

BENCHMARKS = sorted((Path(__file__).parents[2] / "benchmarks").glob("cpu-*.json"))


def measured():
    return json.loads(Path("out.json").read_text())["rows"]


def runs_of(name):
    return [run for row in measured() for run in row["runs"] if run["name"] == name]


@pytest.mark.parametrize("arguments", [GRID, GRAPH])
def test_result(run, gpu, arguments):
    found = run(*arguments, "-o", "out.json")
    assert (found.exit_code, found.stderr) == (0, "")
    result = json.loads(Path("out.json").read_text())
    assert (result["device"], result["versions"]["cupy"]) == ("cuda", "14.2.0")
    assert result["machine"]["gpu"] == {
        "name": "A GPU",
        "memory_bytes": 1 << 35,
        "driver": "13.1",
        "runtime": "13.0",
    }
    size = devices.COPY_BYTES
    copied = 2 * size / (2 * size / fake_gpu.COPY_RATE + fake_gpu.LAUNCH)
    assert result["copy_bytes_per_second"] == pytest.approx(copied)
    (row,) = result["rows"]
    assert "transfers" not in row
    assert [run["name"] for run in row["runs"]] == ["auto", "plain", "auto-consecutive"]
    for run_ in row["runs"]:
        assert (run_["kind"], run_["threads"], run_["status"]) == ("ours", 1, "ok")
        assert len(run_["seconds"]) == 100
        assert run_["seconds"] == pytest.approx([fake_gpu.LABELLING + fake_gpu.LAUNCH] * 100)
        if run_["name"] == "auto-consecutive":
            assert "captured" not in run_
        else:
            assert run_["captured"] == pytest.approx([fake_gpu.LABELLING] * 100)
    assert gpu.freed == 3  # after the copies, after making and after the row
    lines = found.stdout.splitlines()
    assert any(line.startswith("GPU ") and "A GPU, 34.4 GB, CUDA 13.0" in line for line in lines)
    (header,) = (line.rstrip() for line in lines if line.startswith("input "))
    assert header.endswith("/ floor  graph ms  / floor")
    (line,) = (line for line in lines if "plain" in line)
    floor = row["floor_bytes"] / copied
    assert line.split()[-2:] == ["0.02", f"{fake_gpu.LABELLING / floor:.3g}"]
    assert f"{(fake_gpu.LABELLING + fake_gpu.LAUNCH) / floor:.3g}" in line


@pytest.mark.parametrize(("arguments", "name"), [(GRID, "blobs"), (GRAPH, "star")])
def test_inputs_are_made_on_the_gpu(run, gpu, monkeypatch, arguments, name):
    """They are, and leave nothing there for what is timed."""
    generator, asked, made, left = getattr(generate, name), [], [], []

    def make(*arguments, device):
        data = generator(*arguments, device=device)
        asked.append(device)
        made.append(weakref.ref(data))
        return data

    def free():
        left.append([data() is not None for data in made])

    monkeypatch.setattr(generate, name, make)
    pool = SimpleNamespace(free_all_blocks=free)
    monkeypatch.setattr(gpu, "get_default_memory_pool", lambda: pool)
    run(*arguments, "-o", "out.json")
    assert runs_of("auto")[0]["status"] == "ok"
    assert asked == ["cuda"]
    assert left == [[], [False], [False]]  # after the copies, after making and after the row


def arrays_of(data):
    return [data.indptr, data.indices] if isinstance(data, Graph) else [data]


def check_inputs(kind, suite):
    """Check that what is measured is the same, bit for bit, wherever it was made."""
    here, there = devices.Cpu(), devices.Cuda()
    for entry in SUITES[kind][suite]("tiny", None):
        with there.current():
            made = arrays_of(entry.make(device="cuda"))
            assert all(isinstance(array, there.cupy.ndarray) for array in made), entry.name
            fetched = arrays_of(runner.make_input(entry, there))
        for array, expected in zip(fetched, arrays_of(runner.make_input(entry, here)), strict=True):
            np.testing.assert_array_equal(array, expected, entry.name)
            assert type(array) is np.ndarray, entry.name
            assert array.dtype == expected.dtype or array.size == 0, entry.name


@pytest.mark.parametrize(("kind", "suite"), NAMES)
def test_every_input_is_the_same(gpu, kind, suite):
    check_inputs(kind, suite)


def test_published_graph(run, gpu):
    Path("amazon0601.txt").write_text("5 7\n7 5\n9 9\n7 9\n")
    chosen = ("--suite", "ecl-18", "--input", "amazon0601", "--data", ".")
    found = run("graph", *chosen, "--device", "cuda", "-o", "out.json")
    assert (found.exit_code, found.stderr) == (0, "")
    (row,) = measured()
    assert (row["stand_in"], row["vertices"], row["arcs"]) == (False, 3, 4)
    assert {run["status"] for run in row["runs"]} == {"ok"}


def test_what_reads_results(run, gpu):
    run(*GRID, "--transfers", "-o", "out.json")
    result = load("out.json")
    assert result.machine.gpu.name == "A GPU"
    (row,) = result.rows
    assert row.runs[0].captured_median == pytest.approx(fake_gpu.LABELLING)
    assert row.runs[2].captured_median is None
    assert row.transfers.medians == pytest.approx((4096 / 5e10, 4 * 4096 / 5e10), abs=5e-7)
    assert run("report", "out.json", "-o", "out.html").exit_code == 0
    page = Path("out.html").read_text()
    for words in ("on\nthe GPU", "A GPU, 32 GiB", "driver for CUDA 13.1", "as a graph", "20.0 µs"):
        assert words in page
    assert "500 ns to the GPU, labels\n500 ns back" in page
    changed = json.loads(Path("out.json").read_text())
    changed["machine"]["gpu"]["name"] = "Another"
    Path("other.json").write_text(json.dumps(changed))
    shown = run("compare", "out.json", "other.json").stdout
    assert "GPU: A GPU, CUDA 13.0, driver 13.1, then Another, CUDA 13.0, driver 13.1" in shown


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.name)
def test_results_of_before_are_read(path):
    result = load(path)
    assert result.machine.gpu is None
    assert {run.captured for row in result.rows for run in row.runs} == {()}
    assert {row.transfers for row in result.rows} == {None}


def test_transfers(run, gpu, monkeypatch):
    monkeypatch.setattr(fake_gpu, "TRANSFER_RATE", 1e8)
    found = run(*GRAPH, "--transfers", "-o", "out.json")
    (row,) = measured()
    to_device = (8 * 1025 + 4 * row["arcs"]) / 1e8
    assert row["transfers"]["to_device"] == pytest.approx([to_device] * 100)
    assert row["transfers"]["to_host"] == pytest.approx([4 * 1024 / 1e8] * 100)
    *_, header, line = found.stdout.splitlines()
    assert header.split("  ")[-1] == "labels' ms back"
    assert line.split() == ["hard/star-last", f"{1e3 * to_device:.3g}", f"{4096 / 1e5:.3g}"]


@pytest.mark.parametrize(
    ("size", "seconds", "captured"),
    [(0, 0, False), (10**9, 0, True), (0, 1, True), (4096, 0, False), (4097, 0, True)],
)
def test_small_inputs_are_captured(run, gpu, monkeypatch, size, seconds, captured):
    monkeypatch.setattr(runner, "SMALL_SIZE", size)
    monkeypatch.setattr(runner, "SMALL_SECONDS", seconds)
    found = run(*GRID, "--algorithm", "auto", "-o", "out.json")
    assert ("captured" in runs_of("auto")[0]) == captured
    assert ("graph ms" in found.stdout) == captured


def test_a_wrong_answer(run, gpu, monkeypatch):
    def fill(out, numbering, find):
        gpu.launch(1e-5, lambda: out.fill(0))

    monkeypatch.setattr(gpu, "fill", fill)
    assert run(*GRID, "-o", "out.json").exit_code == 0
    (wrong,) = runs_of("auto")
    assert (wrong["status"], wrong["seconds"]) == ("wrong", [])
    assert wrong["reason"].startswith("label 0 instead of ")
    assert "captured" not in wrong


def test_an_answer_that_is_wrong_as_a_graph(run, gpu, monkeypatch):
    fill = gpu.fill

    def half_captured(out, numbering, find):
        if gpu.captured is None:
            fill(out, numbering, find)

    monkeypatch.setattr(gpu, "fill", half_captured)
    assert run(*GRID, "-o", "out.json").exit_code == 0
    (wrong,) = runs_of("auto")
    assert (wrong["status"], wrong["seconds"]) == ("wrong", [])
    assert wrong["reason"].startswith("as a CUDA graph: label -2 instead of ")
    assert runs_of("auto-consecutive")[0]["status"] == "ok"
    load("out.json")


def test_a_call_that_cannot_be_captured(run, gpu, monkeypatch):
    fill = gpu.fill

    def waits(out, numbering, find):
        fill(out, numbering, find)
        gpu.wait()

    monkeypatch.setattr(gpu, "fill", waits)
    found = run(*GRID, "-o", "out.json")
    assert found.exit_code == 0
    for name in ("auto", "plain"):  # one failure does not spoil what comes after it
        (run_,) = runs_of(name)
        assert (run_["status"], run_["captured"], len(run_["seconds"])) == ("ok", [], 100)
        wanted = "not captured: RuntimeError: cudaErrorStreamCaptureUnsupported"
        assert run_["reason"] == wanted
    assert found.stdout.count("failed") == 2
    assert run("report", "out.json", "-o", "out.html").exit_code == 0
    assert "not captured: RuntimeError" in Path("out.html").read_text()


def sweeps_without_end(monkeypatch, gpu, spoilt):
    """Let the call of that number, from 0, go on until it is given up."""
    fill, calls, nothing = (
        gpu.fill,
        count(),
        launcher.Kernel("sweep", None, lambda *_, **__: sleep(1e-3)),
    )

    def sweep(out, numbering, find):
        if next(calls) in spoilt:
            while True:
                launcher.launch(nothing, (1, 1))
        fill(out, numbering, find)

    monkeypatch.setattr(gpu, "fill", sweep)


def test_an_algorithm_that_takes_too_long(run, gpu, monkeypatch):
    sweeps_without_end(monkeypatch, gpu, {0})
    start = perf_counter()
    found = run(*GRID, "--limit", "0.05", "-o", "out.json")
    assert perf_counter() - start < 10
    assert (found.exit_code, found.stderr) == (0, "")
    (slow,) = runs_of("auto")
    wanted = "failed", "given up after 0.05 s", []
    assert (slow["status"], slow["reason"], slow["seconds"]) == wanted
    assert runs_of("plain")[0]["status"] == runs_of("auto-consecutive")[0]["status"] == "ok"
    assert "given up after 0.05 s" in found.stdout
    load("out.json")


def test_limit_by_default(run, gpu, monkeypatch):
    monkeypatch.setattr(option_of(grid, "--limit"), "default", 0.01)
    sweeps_without_end(monkeypatch, gpu, {0})
    run(*GRID, "--algorithm", "auto", "-o", "out.json")
    assert runs_of("auto")[0]["reason"] == "given up after 0.01 s"


def test_what_takes_long_is_measured_once(run, gpu, monkeypatch):
    monkeypatch.setattr(runner, "LONGEST", fake_gpu.LABELLING)
    monkeypatch.setattr(gpu, "fill", numbered := Counted(gpu.fill))
    found = run(*GRID, "--algorithm", "auto-consecutive", "-o", "out.json")
    (run_,) = runs_of("auto-consecutive")
    assert run_["seconds"] == pytest.approx([fake_gpu.LABELLING + fake_gpu.LAUNCH])
    assert numbered.calls == 2  # to be checked, and to be timed
    assert "measured once" in found.stdout
    assert run("report", "out.json", "-o", "out.html").exit_code == 0


class Counted:
    def __init__(self, function):
        self.function, self.calls = function, 0

    def __call__(self, *arguments):
        self.calls += 1
        return self.function(*arguments)


def test_events_have_a_resolution(gpu):
    device = devices.Cuda()
    with device.current():
        assert device.seconds(lambda: None) == devices.SHORTEST_SECONDS


def check_failure(result, *words):
    assert (result.exit_code, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    for word in words:
        assert word in line
    assert not list(Path().iterdir())


@pytest.mark.parametrize("error", [ImportError("needs CuPy"), RuntimeError("there is no\nGPU")])
@pytest.mark.parametrize("more", [(), ("--list",), ("--transfers", "-o", "out.json")])
def test_without_a_gpu(run, monkeypatch, error, more):
    def fail():
        raise error

    monkeypatch.setattr(launcher, "import_cupy", fail)
    check_failure(run(*GRID, *more), "conncomp: " + " ".join(str(error).split()))


def test_bad_names(run, gpu):
    check_failure(
        run(*GRID, "--algorithm", "runs"),
        "there is no 'runs'; there are auto, plain, auto-consecutive, cupyx, cucim.",
    )
    check_failure(run(*GRAPH, "--algorithm", "scipy"), "auto-consecutive, cupyx, cugraph.")


def test_no_algorithm(run, gpu, monkeypatch):
    monkeypatch.setitem(TABLES["grid"], "cuda", {})
    check_failure(run(*GRID), "there is no algorithm for cuda")


def test_memory(run, gpu):
    gpu.free_bytes = 1000
    check_failure(run(*GRID), "blobs needs some 98.3 kB on the GPU, and 1 kB are available")
    shown = run(*GRID, "--list").stdout
    assert shown.splitlines()[2].split() == ["on", "the", "GPU", "1", "kB"]
    assert "98.3 kB" in shown


def module(monkeypatch, name, **members):
    made = ModuleType(name)
    made.__dict__.update({"__version__": "1.0"} | members)
    monkeypatch.setitem(sys.modules, name, made)
    return made


@pytest.fixture
def libraries(gpu, monkeypatch):
    """Put the other libraries' functions there, as they are documented."""

    def label(image, structure):
        labels, count = ndimage.label(image.host, np.asarray(structure))
        return Array(labels), count

    def skimage_label(image, background, connectivity):
        return Array(skimage.measure.label(image.host, None, False, connectivity))

    def csr_matrix(parts, shape):
        return sparse.csr_array(tuple(part.host for part in parts), shape=shape)

    def components(matrix, directed):
        assert not directed
        return tuple(map(np.asarray, sparse.csgraph.connected_components(matrix)))

    class Graph:
        def __init__(self, directed):
            assert not directed

        def from_cudf_adjlist(self, offsets, indices, renumber):
            assert not renumber
            assert offsets.dtype == indices.dtype
            parts, n = (np.ones(len(indices)), indices.host, offsets.host), len(offsets) - 1
            self.matrix = sparse.csr_array(parts, shape=(n, n))

    def weak(graph):
        labels = sparse.csgraph.connected_components(graph.matrix)[1]
        vertices = np.flatnonzero(np.diff(graph.matrix.indptr))[::-1]
        columns = {"vertex": vertices, "labels": labels[vertices]}
        return {name: SimpleNamespace(values=Array(part)) for name, part in columns.items()}

    for name in ("cupyx", "cupyx.scipy", "cucim", "cucim.skimage"):
        module(monkeypatch, name)
    module(monkeypatch, "cupy", __version__="14.2.0")
    module(monkeypatch, "cupyx.scipy.ndimage", label=label)
    module(monkeypatch, "cucim.skimage.measure", label=skimage_label)
    module(monkeypatch, "cupyx.scipy.sparse", csr_matrix=csr_matrix)
    module(
        monkeypatch,
        "cupyx.scipy.sparse.csgraph",
        connected_components=lambda *a, **k: tuple(map(Array, components(*a, **k))),
    )
    module(monkeypatch, "pylibcugraph")
    module(monkeypatch, "cudf", Series=lambda values: values)
    module(monkeypatch, "cugraph", Graph=Graph, weakly_connected_components=weak)


@pytest.mark.parametrize(
    ("arguments", "names"), [(GRID, ["cupyx", "cucim"]), (GRAPH, ["cupyx", "cugraph"])]
)
def test_peers(run, libraries, arguments, names):
    found = run(*arguments, "--peers", "-o", "out.json")
    assert (found.exit_code, found.stderr) == (0, "")
    for name in names:
        (peer,) = runs_of(name)
        assert (peer["kind"], peer["status"], peer["reason"]) == ("peer", "ok", None)
        assert "captured" not in peer
        assert f"{name} /" in found.stdout
    versions = json.loads(Path("out.json").read_text())["versions"]
    assert versions["cupy"] == "14.2.0"
    assert versions[names[1]] == "1.0"


def test_peers_on_every_input(run, libraries, monkeypatch):
    monkeypatch.setattr(runner, "FEWEST_RUNS", 1)
    monkeypatch.setattr(runner, "SHORTEST", 0)
    for kind in ("graph", "grid"):  # the others have no peers there
        run(kind, "--size", "tiny", "--device", "cuda", "--peers", "-o", "out.json")
        for row in measured():
            assert {run["status"] for run in row["runs"]} == {"ok"}, row["input"]
        # Only scikit-image's kind labels arrays of several values.
        assert 0 < len(runs_of("cupyx")) <= len(measured())
        if kind == "grid":
            assert len(runs_of("cupyx")) < len(runs_of("cucim")) == len(measured())


def test_a_wrong_peer(run, libraries, monkeypatch):
    ones = Array(np.ones((64, 64), int))
    monkeypatch.setattr(sys.modules["cupyx.scipy.ndimage"], "label", lambda *a: (ones, 1))
    run(*GRID, "--peers", "-o", "out.json")
    assert runs_of("cupyx")[0]["reason"] == "background labelled 1"


def test_missing_peers_are_named_once(run, libraries, monkeypatch):
    for name in ("cucim.skimage.measure", "cugraph", "pylibcugraph"):
        monkeypatch.setitem(sys.modules, name, None)
    found = run(*GRID, "--peers")
    assert (found.exit_code, found.stderr) == (0, "conncomp: not installed, skipped: cucim\n")
    found = run(*GRAPH, "--peers")
    assert found.stderr == "conncomp: not installed, skipped: cupyx, cugraph\n"


@pytest.mark.gpu
@pytest.mark.parametrize("kind", [kind for kind in SUITES if TABLES[kind]["cuda"]])
def test_on_a_gpu(run, kind):
    # Of a path, each vertex of which is a component, the slowest algorithm takes seconds.
    options = ("--size", "tiny", "--device", "cuda", "--peers", "--transfers", "--limit", "30")
    found = run(kind, *options, "-o", "out.json")
    assert found.exit_code == 0, found.stderr
    result = load("out.json")
    assert result.machine.gpu.memory_bytes > 1 << 30
    assert 1e10 < result.copy_bytes_per_second < 1e14
    for row in result.rows:
        assert min(row.transfers.medians) > 0
        assert {run_.name for run_ in row.runs} >= set(algorithms(kind, "cuda"))
        for run_ in row.runs:
            assert (run_.status, run_.reason) == ("ok", None), (row.input, run_.name, run_.reason)
            if getattr(TABLES[kind]["cuda"].get(run_.name), "capturable", False):
                assert 0 < run_.captured_median < 1
            else:
                assert run_.captured_median is None
    assert run("report", "out.json", "-o", "out.html").exit_code == 0


@pytest.mark.gpu
@pytest.mark.parametrize(("kind", "suite"), NAMES)
def test_every_input_is_the_same_on_a_gpu(kind, suite):
    check_inputs(kind, suite)


@pytest.mark.gpu
def test_times_on_a_gpu():
    """Events and captured graphs tell the time of a copy of known size alike."""
    device = devices.Cuda()
    rate = device.copy_rate(1)
    with device.current():
        source = device.place(np.ones(1 << 28, np.uint8))
        target = device.cupy.zeros_like(source)

        def copy():
            device.cupy.copyto(target, source)

        device.warm_up(copy)
        replay = device.capture(copy)
        assert not device.fetch(target[:10] - 1).any()  # by the calls before the capture
        target.fill(0)
        replay()
        np.testing.assert_array_equal(device.fetch(target), np.ones(1 << 28, np.uint8))
        expected = 2 * source.nbytes / rate
        for call in (copy, replay):
            median = np.median([device.seconds(call) for _ in range(30)])
            assert expected / 2 < median < 2 * expected
