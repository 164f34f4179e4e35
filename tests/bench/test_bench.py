"""``conncomp bench``: what it measures, what it writes, and how it fails."""

import json
import math
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import conncomp
from conncomp import generate
from conncomp.bench import devices, inputs, peers, runner
from conncomp.cli import bench

IMAGE = ("grid", "--size", "tiny", "--suite", "images", "--input", "blobs")


def check_failure(result, *words, status=2):
    assert result.exit_code == status, result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("conncomp: ")
    for word in words:
        assert word in line


def runs_of(path, name):
    rows = json.loads(Path(path).read_text())["rows"]
    return [run for row in rows for run in row["runs"] if run["name"] == name]


@pytest.mark.parametrize(
    ("arguments", "own"),
    [
        (
            IMAGE,
            {
                "suite": "images",
                "input": "blobs",
                "description": "smooth blobs, 64 x 64",
                "elements": 4096,
                "shape": [64, 64],
                "dtype": "uint8",
                "connectivity": 2,
                "floor_bytes": 5 * 4096,
            },
        ),
        (
            ("graph", "--size", "tiny", "--suite", "hard", "--input", "line"),
            {
                "suite": "hard",
                "input": "line",
                "description": "the longest chain of parents; some 1,024 vertices",
                "vertices": 1024,
                "arcs": 2046,
                "components": 1,
                "floor_bytes": 8 * 1025 + 4 * 2046 + 4 * 1024,
            },
        ),
    ],
)
def test_result(run, arguments, own):
    found = run(*arguments, "--threads", 2, "--peers", "-o", "out.json")
    assert found.exit_code == 0, found.stderr
    assert found.stderr == "" or found.stderr.startswith("conncomp: not installed, skipped: ")
    result = json.loads(Path("out.json").read_text())
    assert list(result) == [
        *("format", "version", "kind", "created", "commit", "dirty", "machine", "versions"),
        *("device", "threads", "size", "copy_bytes_per_second", "rows"),
    ]
    assert (result["format"], result["version"]) == ("conncomp-bench", 1)
    assert (result["kind"], result["device"], result["size"]) == (arguments[0], "cpu", "tiny")
    assert result["threads"] == 2
    assert list(result["machine"]) == ["cpu", "cores", "memory_bytes", "system"]
    assert {"conncomp", "numpy", "scipy"} <= set(result["versions"])
    (row,) = result["rows"]
    measured = row.pop("runs")
    assert row == own | {"stand_in": False, "components": row["components"]}
    assert {run["kind"] for run in measured} == {"ours", "peer"}
    for run_ in measured:
        assert list(run_) == ["name", "kind", "threads", "status", "reason", "seconds"]
        assert (run_["status"], run_["reason"]) == ("ok", None)
        assert len(run_["seconds"]) >= 5
        assert all(0 < second < 10 for second in run_["seconds"])
    threads = {run["name"]: run["threads"] for run in measured}
    assert threads["auto"] == 2
    assert threads["scipy"] == 1
    lines = found.stdout.splitlines()
    header = next(line for line in lines if line.startswith("input "))
    assert "scipy /" in header
    measured = sum(line.startswith(f"{own['suite']}/{own['input']}") for line in lines)
    assert measured == len(peers.algorithms(arguments[0], "cpu"))


@pytest.mark.parametrize("kind", ["graph", "strong"])
def test_the_form_of_graphs_is_told(run, kind):
    suite = "wang" if kind == "graph" else "scc"
    measured = (kind, "--suite", suite, "--size", "tiny")
    for name in ["auto", "auto-list"]:
        found = run(*measured, "--algorithm", name)
        (line,) = (line for line in found.stdout.splitlines() if line.startswith("graphs "))
        assert ("as rows" in line, "auto-list" in line) == (True, name == "auto-list")
    assert "auto-list" not in peers.algorithms("grid", "cpu")


def test_a_list_has_all_edges_and_then_their_opposites(monkeypatch):
    """And a graph is made of it for each run, as a call before may leave rows."""
    edges = np.array([[0, 1], [2, 3], [1, 2], [3, 3]]).T
    graph = conncomp.Graph.from_edges(*np.concatenate([edges, edges[::-1]], 1), 6)
    contender = peers.algorithms("graph", "cpu")["auto-list"]
    src, dst, vertices = prepared = contender.prepare(graph, 0)
    assert (src.tolist(), dst.tolist(), vertices) == ([0, 1, 2, 1, 2, 3], [1, 2, 3, 0, 1, 2], 6)
    made, connected_components = set(), conncomp.connected_components

    def noted(graph, **options):
        made.add(graph)
        return connected_components(graph, **options)

    monkeypatch.setattr(conncomp, "connected_components", noted)
    for _ in range(2):
        assert contender.labels(contender.run(prepared)).tolist() == [0, 0, 0, 0, 1, 2]
    assert len(made) == 2


def test_a_list_has_the_arcs_of_a_directed_graph():
    src, dst = np.random.default_rng(1).integers(0, 50, (2, 120))
    graph = conncomp.Graph.from_edges(src, dst, 50)
    contender = peers.algorithms("strong", "cpu")["auto-list"]
    *arcs, vertices = prepared = contender.prepare(graph, 0)
    assert vertices == 50
    assert sorted(zip(*arcs, strict=True)) == sorted(zip(src, dst, strict=True))
    labels = conncomp.connected_components(graph, connection="strong")[1]
    np.testing.assert_array_equal(contender.labels(contender.run(prepared)), labels)


def test_peers_alone(run):
    found = run(*IMAGE, "--algorithm", "scipy", "-o", "out.json")
    assert found.exit_code == 0
    assert [run["name"] for run in json.loads(Path("out.json").read_text())["rows"][0]["runs"]] == [
        "scipy"
    ]
    assert "images/blobs  scipy" in found.stdout


ON_LINE = ("graph", "--size", "tiny", "--suite", "hard", "--input", "line")


def names_of(path):
    (row,) = json.loads(Path(path).read_text())["rows"]
    assert {run["status"] for run in row["runs"]} == {"ok"}
    return [run["name"] for run in row["runs"]]


def test_every_combination_of_options(run):
    values = "init=1", "init=2", "jump=4"
    options = [word for value in values for word in ("--option", value)]
    found = run(*ON_LINE, "--algorithm", "ecl", *options, "-o", "out.json")
    assert found.exit_code == 0, found.stderr
    assert names_of("out.json") == ["ecl, init=1, jump=4", "ecl, init=2, jump=4"]


def test_an_algorithm_takes_the_options_that_it_has(run):
    options = "--option", "merge=relaxation", "--option", "tile=none", "--option", "tile=8"
    found = run(*IMAGE, "--algorithm", "runs", "--algorithm", "tiles", *options, "-o", "out.json")
    assert found.exit_code == 0, found.stderr
    variants = [f"tiles, merge=relaxation, tile={side}" for side in (None, 8)]
    assert names_of("out.json") == ["runs", *variants]


def test_options_on_a_gpu():
    values = {"block": ["16x16", "32X32"], "cells": ["4"]}
    asked = SimpleNamespace(device="cuda", algorithm=(), values=values, peers=False)
    found = bench._choose_contenders("grid", asked)
    names = [contender.name for contender in found]
    for algorithm in ("label-equivalence", "local-propagation"):
        for block in ((16, 16), (32, 32)):
            assert f"{algorithm}, block={block}, cells=4" in names
    assert "neighbour-propagation, block=(16, 16)" in names
    assert {"auto", "auto-consecutive", "directional-propagation"} < set(names)


def test_a_wrong_algorithm_is_not_timed(run, monkeypatch):
    def wrong(*arguments, **options):
        labels = label(*arguments, **options)
        labels[labels == 2] = 1
        return labels

    label = conncomp.label
    monkeypatch.setattr(conncomp, "label", wrong)
    found = run(*IMAGE, "--algorithm", "auto", "--algorithm", "scipy", "-o", "out.json")
    assert found.exit_code == 0
    (ours,) = runs_of("out.json", "auto")
    assert (ours["status"], ours["seconds"]) == ("wrong", [])
    assert ours["reason"].startswith("label 1 instead of 2 at (")
    assert runs_of("out.json", "scipy")[0]["status"] == "ok"
    assert "wrong  label 1 instead of 2 at (" in found.stdout


@pytest.mark.parametrize(
    ("error", "reason"),
    [(MemoryError("no room"), "MemoryError: no room"), (KeyError("a\nb"), r"KeyError: 'a\nb'")],
)
def test_a_peer_that_fails(run, monkeypatch, error, reason):
    def fail(*arguments):
        raise error

    monkeypatch.setattr(peers.peers("grid", "cpu")["scipy"], "run", fail)
    found = run(*IMAGE, "--algorithm", "auto", "--algorithm", "scipy", "-o", "out.json")
    assert found.exit_code == 0
    (failed,) = runs_of("out.json", "scipy")
    assert (failed["status"], failed["reason"], failed["seconds"]) == ("failed", reason, [])
    assert found.stdout.splitlines()[-1].endswith("failed")


def test_a_wrong_peer(run, monkeypatch):
    scipy, ones = peers.peers("grid", "cpu")["scipy"], np.ones((64, 64), int)
    monkeypatch.setattr(scipy, "run", lambda self, prepared: (ones, 1))
    assert run(*IMAGE, "--algorithm", "scipy", "-o", "out.json").exit_code == 0
    (wrong,) = runs_of("out.json", "scipy")
    assert (wrong["status"], wrong["reason"]) == ("wrong", "background labelled 1")


def test_missing_peers_are_named_once(run, monkeypatch):
    for peer in peers.peers("grid", "cpu").values():
        if peer.name != "scipy":
            monkeypatch.setattr(peer, "module", "no_such_library_" + peer.module)
    found = run("grid", "--size", "tiny", "--suite", "maddix", "--peers")
    assert found.exit_code == 0
    assert found.stderr == "conncomp: not installed, skipped: scikit-image, cv2, cc3d, kornia-rs\n"
    check_failure(run(*IMAGE, "--algorithm", "cv2"), "not installed: cv2")


def test_an_algorithm_that_takes_too_long():
    contenders = [peers.algorithms("grid", "cpu")[name] for name in ("raster-scan", "runs")]
    spiral = inputs.Input(
        "spiral", "", 0, lambda device: generate.patterns.spiral(1500), connectivity=1
    )
    task = {"size": "small", "threads": 1, "limit": 0.1}
    *_, result = runner.measure("grid", [("hard", spiral)], contenders, **task)
    slow, default = result["rows"][0]["runs"]
    wanted = "failed", "given up after 0.1 s", []
    assert (slow["status"], slow["reason"], slow["seconds"]) == wanted
    assert default["status"] == "ok"


def test_without_the_reference(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "skimage.measure", None)
    check_failure(run(*IMAGE), "needs scikit-image: pip install 'conncomp[bench]'")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), ["Missing command"]),
        (("bogus",), ["'bogus'"]),
        (("grid", "--suite", "ecl-18"), ["--suite", "'ecl-18'", "hawick-arrays, maddix, images"]),
        (("graph", "--suite", "images"), ["'images'", "hawick-graphs, ecl-18, wang, hard"]),
        ((*IMAGE, "--input", "star"), ["--input", "'star'", "random-10, random-50"]),
        ((*IMAGE, "--algorithm", "fast"), ["--algorithm", "'fast'", "auto, runs, ", ", scipy"]),
        ((*IMAGE, "--algorithm", "igraph"), ["--algorithm", "'igraph'"]),
        ((*IMAGE, "--option", "tile"), ["--option", "'tile' is not NAME=VALUE"]),
        ((*IMAGE, "--option", "=4"), ["'=4' is not NAME=VALUE"]),
        ((*IMAGE, "--option", "tile="), ["'tile=' is not NAME=VALUE"]),
        (
            (*IMAGE, "--option", "init=3"),
            ["no chosen algorithm has 'init'; there are local, merge, tile"],
        ),
        (
            (*IMAGE, "--algorithm", "runs", "--option", "tile=8"),
            ["no chosen algorithm has 'tile'; there are none"],
        ),
        (
            (*IMAGE, "--algorithm", "scipy", "--option", "tile=8"),
            ["no chosen algorithm has 'tile'; there are none"],
        ),
        (
            (*IMAGE, "--option", "tile=5"),
            ["tile=5 is no choice of 'tiles'; there are none, 4, 8, 16, 32, 64"],
        ),
        (("graph", "--option", "jump=5"), ["jump=5 is no choice of 'ecl'; there are 4, 1, 2, 3"]),
        (("grid", "--size", "huge"), ["'huge' is not one of"]),
        ((*IMAGE, "--threads", "0"), ["--threads"]),
        ((*IMAGE, "--device", "tpu"), ["'tpu'"]),
        ((*IMAGE, "--transfers"), ["--transfers is for --device cuda"]),
        ((*IMAGE, "--limit", "0"), ["0", "x>0"]),
        ((*IMAGE, "--device", "cuda", "--limit", "0"), ["0", "x>0"]),
        ((*IMAGE, "--data", "nowhere"), ["'nowhere' does not exist"]),
        ((*IMAGE, "-o", "out.txt"), ["'out.txt' does not end in .json"]),
        ((*IMAGE, "-o", "nowhere/out.json"), ["there is no directory 'nowhere'"]),
    ],
)
def test_bad_input_is_one_line(run, arguments, words):
    check_failure(run(*arguments), *words)
    assert not list(Path().iterdir())


def test_memory_is_checked_first(run, monkeypatch):
    made = []
    monkeypatch.setattr(conncomp.generate, "blobs", lambda *a, **k: made.append(a))
    monkeypatch.setattr(inputs, "available_memory", lambda: 100_000)
    check_failure(
        run("grid", "--size", "tiny", "--suite", "images", "-o", "out.json"),
        "out of memory: random-10 needs some 197 kB, and 100 kB are available",
    )
    assert not made
    assert not Path("out.json").exists()
    monkeypatch.setattr(inputs, "available_memory", lambda: None)
    inputs.check_memory([inputs.Input("x", "", 1 << 60, list)])


def test_interrupt_keeps_rows(run, monkeypatch):
    def interrupt(self, prepared):
        if prepared.args[0].any():
            return label(self, prepared)
        raise KeyboardInterrupt

    label = peers.Ours.run
    monkeypatch.setattr(peers.Ours, "run", interrupt)
    names = [option for name in ("hilbert", "empty") for option in ("--input", name)]
    found = run("grid", "--size", "tiny", "--suite", "hard", *names, "-o", "out.json")
    assert (found.exit_code, found.stderr) == (130, "conncomp: interrupted\n")
    (row,) = json.loads(Path("out.json").read_text())["rows"]
    assert row["input"] == "hilbert"
    assert "hard/hilbert" in found.stdout
    assert [path.name for path in Path().iterdir()] == ["out.json"]


def test_list(run):
    found = run("graph", "--list", "--size", "full")
    assert found.exit_code == 0
    lines = {tuple(line.split()[:2]): line for line in found.stdout.splitlines()}
    assert lines["ecl-18", "europa_osm"].split()[2:4] == ["10.2", "GB"]
    assert lines["ecl-18", "europa_osm"].rstrip().endswith("(stand-in)")
    assert "stand-in" not in lines["ecl-18", "rmat16.sym"]


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_copy_rate(threads):
    assert 1e8 < devices.Cpu().copy_rate(threads) < 1e13


def test_machine(monkeypatch):
    found = devices.Cpu().describe()
    assert found["cpu"]
    assert found["cores"] >= 1
    assert found["memory_bytes"] > 1 << 28
    monkeypatch.setattr(Path, "read_text", lambda path: "")
    assert devices.Cpu().describe()["cpu"]


def test_commit(monkeypatch, tmp_path):
    revision, dirty = devices.commit()
    assert (revision is None and dirty is None) or (len(revision) == 40 and dirty in (True, False))
    monkeypatch.setattr(conncomp, "__file__", str(tmp_path / "__init__.py"))
    assert devices.commit() == (None, None)


def test_repetitions(monkeypatch):
    class Clock:
        def __init__(self, step):
            self.now, self.step = 0, step

        def __call__(self):
            self.now += self.step
            return self.now

    for step, count in ((1e-6, 100), (0.01, 20), (0.1, 5), (0.3, 4), (2, 1)):
        monkeypatch.setattr(devices, "perf_counter", Clock(step))
        seconds = runner.repeat(lambda: devices.Cpu().seconds(list))
        assert len(seconds) in (count, count + 1) if count > 1 else len(seconds) == 1
        assert math.isclose(np.median(seconds), step, rel_tol=1e-6)
