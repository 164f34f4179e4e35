"""``python -m reproductions ecl-cc-2018``, on the CPU and on the host executor."""

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

import conncomp
from conncomp import Graph, generate
from conncomp.bench import devices
from conncomp.graph import labelling
from conncomp.graph.algorithms import ALGORITHMS
from conncomp.graph.inputs import parts
from conncomp.kernels.cuda import launcher
from host_cupy import HostCuPyGpu
from reproductions import PAPERS
from reproductions.ecl_cc_2018 import (
    graphs,
    l2,
    laboratory,
    order,
    published,
    runtimes,
    scaling,
    variants,
)
from reproductions.ecl_cc_2018.laboratory import Laboratory, on_threads, thread_counts
from reproductions.paper import RefusalError
from reproductions.tests.paper_results import files, written

PAPER = PAPERS["ecl-cc-2018"]
COMMAND = "ecl-cc-2018", "-o", "out"
# Before a test puts others in their place.
ON_GPU, LABEL, MOVE, CHECK = (
    ALGORITHMS["cuda"],
    conncomp.connected_components,
    Graph.to,
    parts.check_rows,
)
FEW = [row for row in laboratory.ECL if row.name in ("2d-2e20.sym", "europa_osm", "rmat16.sym")]


def on(device):
    return {name for name, exhibit in PAPER.exhibits.items() if device in exhibit.seconds}


@pytest.fixture
def few(monkeypatch):
    """Let there be three graphs."""
    for module in (laboratory, l2):
        monkeypatch.setattr(module, "ECL", FEW)


@pytest.fixture
def host(executor, gpu, monkeypatch, few):
    """Let the host executor be the GPU, with arrays of CuPy's kind."""
    executor = HostCuPyGpu(gpu)
    monkeypatch.setattr(conncomp, "connected_components", LABEL)
    monkeypatch.setattr(Graph, "to", MOVE)
    monkeypatch.setattr(parts, "check_rows", CHECK)
    monkeypatch.setitem(ALGORITHMS, "cuda", ON_GPU)
    for module in (labelling, parts, launcher):
        monkeypatch.setattr(module, "current_gpu", lambda: executor)
    monkeypatch.setattr(labelling, "call_again", lambda *_: (None, None))  # launches are not kept
    monkeypatch.setattr(devices.Cuda, "capture", lambda self, call: call)
    return executor


class TestOnCpu:
    @pytest.mark.soak
    def test_all(self, run):
        run(*COMMAND, "--all")
        assert files(".json") == files(".png") == on("cpu")
        most = conncomp.get_num_threads()
        graphs_of_paper = list(published.TABLE_2["vertices"])
        table = written("table-2")
        assert [row["input"] for row in table["rows"]] == graphs_of_paper
        one = {row["input"] for row in table["rows"] if row["components"] == 1}
        assert {"2d-2e20.sym", "europa_osm", "delaunay_n24", "USA-road-d.USA"} <= one
        assert table["left_out"] == {}
        for name in ("figure-13", "table-7", "figure-14", "table-8"):
            own = [on_threads(code, most) for code in ("ecl", "auto")]
            assert written(name)["codes"][:2] == own
        serial = written("table-9")
        assert {"scipy", on_threads("ecl", 1)} <= set(serial["codes"])
        for row in serial["rows"]:
            assert not any(row["failures"].values())
            assert all(ms > 0 for ms in row["milliseconds"].values())
        for name in on("cpu") - {"table-1"}:
            for claim in written(name)["claims"]:
                assert claim["says"]
                assert claim["here"]
                assert claim["holds"] is None

    @pytest.mark.parametrize("phase", [variants.INIT, variants.JUMP, variants.FINISH])
    def test_variants(self, phase, few):
        findings = variants.measure(phase, Laboratory(devices.Cpu(), "small"))
        base = findings["base"]
        assert len(findings["rows"]) == len(FEW) * (len(phase.choices) + 1)
        for row in findings["rows"]:
            if row["variant"] == base:
                assert row["relative"] == 1
        assert set(findings["fits"]["geometric_means"]) == {
            *findings["published"]["geometric_means"],
            base,
        }

    def test_threads(self, few):
        conncomp.set_num_threads(3)
        assert thread_counts() == [1, 2, 3]
        findings = scaling.measure(Laboratory(devices.Cpu(), "small"))
        assert conncomp.get_num_threads() == 3
        conncomp.set_num_threads(1)
        assert thread_counts() == [1]
        counts = [row["threads"] for row in findings["rows"] if row["algorithm"] == "auto"]
        assert counts == [1, 2, 3] * len(FEW)
        for row in findings["rows"]:
            assert (row["speed_up"] == 1) == (row["threads"] == 1) or row["threads"] > 1

    def test_kept_graphs(self, few, tmp_path, monkeypatch):
        """Graphs that were measured are not measured again, for whichever exhibit."""
        measured = []
        measure = Laboratory.measure

        def fail_at_third(self, entry, contenders):
            measured.append(entry.name)
            if len(measured) == 3:
                raise KeyboardInterrupt
            return measure(self, entry, contenders)

        monkeypatch.setattr(Laboratory, "measure", fail_at_third)
        with pytest.raises(KeyboardInterrupt):
            Laboratory(devices.Cpu(), "small").graphs(tmp_path / "figure-7.checkpoint")
        whole = Laboratory(devices.Cpu(), "small").graphs(tmp_path / "figure-8.checkpoint")
        assert [row["input"] for row in whole.rows] == [row.name for row in FEW]
        assert measured == [row.name for row in FEW] + [FEW[-1].name]
        again = Laboratory(devices.Cpu(), "small").graphs(tmp_path / "figure-9.checkpoint")
        assert again.rows == json.loads(json.dumps(whole.rows))
        with pytest.raises(ValueError, match=r"'small', \d+, None\] instead of .*'paper'.*--force"):
            Laboratory(devices.Cpu(), "paper").graphs(tmp_path / "figure-7.checkpoint")
        (tmp_path / laboratory.KEPT).write_text("[]")
        with pytest.raises(ValueError, match="holds no measured graphs; --force replaces it"):
            Laboratory(devices.Cpu(), "small").graphs(tmp_path / "figure-7.checkpoint")

    def test_force_measures_anew(self, few, run):
        run(*COMMAND, "--figure", "7")
        first = written("figure-7")["rows"]
        run(*COMMAND, "--figure", "8")
        Path("out", laboratory.KEPT).write_text("{}")
        assert "holds no measured graphs" in run(*COMMAND, "--figure", "9", code=2).stderr
        run(*COMMAND, "--figure", "7", "--force")
        assert written("figure-7")["rows"] != first

    def test_published_files_take_the_places_of_stand_ins(self, few, run):
        """As published, at any size; what was measured without them is of another kind."""
        Path("data").mkdir()
        Path("data/europa_osm.txt").write_text("5 7\n7 9\n3 4\n")
        run(*COMMAND, "--table", "2", "--data", "data")
        table = written("table-2")
        rows = {row["input"]: row for row in table["rows"]}
        assert rows["europa_osm"]["description"] == "road map, from europa_osm.txt"
        assert (rows["europa_osm"]["vertices"], rows["europa_osm"]["arcs"]) == (5, 6)
        assert (rows["europa_osm"]["components"], rows["europa_osm"]["stand_in"]) == (2, False)
        assert table["shares"]["europa_osm"] == 1
        assert table["shares"]["2d-2e20.sym"] < 1
        other = run(*COMMAND, "--figure", "7", code=2)
        assert "instead of" in other.stderr

    def test_paper_sizes(self):
        """On a GPU all graphs are as large as published, on a CPU those of five million arcs."""
        assert set(laboratory.shares("paper", "cuda").values()) == {1}
        on_cpu = laboratory.shares("paper", "cpu")
        assert (on_cpu["internet"], on_cpu["uk-2002"]) == (1, 5_000_000 / 523_574_516)

    def test_too_large_graphs_are_left_out(self, few, monkeypatch):
        monkeypatch.setattr("conncomp.bench.inputs.available_memory", lambda: 530_000)
        measured = Laboratory(devices.Cpu(), "small").graphs()
        assert [row["input"] for row in measured.rows] == ["2d-2e20.sym", "rmat16.sym"]
        assert set(measured.left_out) == {"europa_osm"}
        assert "europa_osm needs some 5" in measured.left_out["europa_osm"]

    @pytest.mark.parametrize("exhibit", ["figure-11", "table-3", "table-4", "figure-10"])
    def test_of_kernels(self, run, exhibit):
        done = run(*COMMAND, "--exhibit", exhibit, code=2)
        assert f"{exhibit} is of kernels for a GPU; use --device cuda" in done.stderr


class TestOnGpu:
    @pytest.mark.soak
    def test_all_without_a_profiler(self, run, host, monkeypatch):
        monkeypatch.setattr(l2, "PROFILER", "no-such-ncu")
        done = run(*COMMAND, "--all", "--device", "cuda", silent=False)
        (line,) = done.stderr.splitlines()
        assert line.startswith("conncomp: table-3 is left out: it counts accesses by Nsight")
        assert "there is no 'no-such-ncu'" in line
        assert files(".json") == files(".png") == on("cuda") - {"table-3"}
        self.check_paths()
        self.check_programs()

    def check_paths(self):
        rows = {(row["input"], row["jump"]): row for row in written("table-4")["rows"]}
        assert len(rows) == len(FEW) * 4
        for row in rows.values():
            assert 0 < row["walked"] <= row["paths"]
            assert row["average"] <= row["average_walked"] <= row["maximum"]
            assert row["average_walked"] >= 1
        # On a grid in order chains grow with the side, unless they are jumped.
        assert rows["2d-2e20.sym", 3]["average"] > 3 * rows["2d-2e20.sym", 4]["average"]

    def check_programs(self):
        findings = written("figure-11")
        assert findings["codes"][:3] == ["ecl", "auto", "soman"]
        for row in findings["rows"]:
            assert not any(row["failures"].values())
        shares = written("figure-10")["rows"]
        for row in shares:
            assert list(row["shares"]) == list(graphs.KERNELS)
            assert sum(row["shares"].values()) == pytest.approx(1)
        across = written("figure-17")
        assert across["base"] == "ecl on the GPU"
        assert {row["device"] for row in across["rows"]} == {"GPU", "parallel CPU", "serial CPU"}

    @pytest.mark.parametrize("exhibit", ["figure-13", "table-10", "thread-scaling"])
    def test_of_the_cpu(self, run, exhibit):
        done = run(*COMMAND, "--exhibit", exhibit, "--device", "cuda", code=2)
        assert f"{exhibit} is of the CPU; use --device cpu" in done.stderr


PROGRAM = """
import json, os, sys
path = os.environ["FAKE_NCU"]
told = json.load(open(path))
told["arguments"] = sys.argv[1:]
json.dump(told, open(path, "w"))
print("==PROF== Connected to process 7")
print('"ID","Process ID","Kernel Name","lts__t_sectors_op_read.sum","lts__t_sectors_op_write.sum"')
print('"","","","sector","sector"')
for number, (kernel, reads, writes) in enumerate(told["launches"]):
    print(f'"{number}","7","{kernel}","{reads:,}","{writes:,}"')
print(told["last"], file=sys.stderr)
sys.exit(told["status"])
"""


@pytest.fixture
def profiler(tmp_path, monkeypatch, host):
    """Put a program in the place of the profiler, which tells of what `set_up` is given."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "ncu"
    program.write_text(f"#!{sys.executable}\n{PROGRAM}")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    told = tmp_path / "told.json"
    monkeypatch.setenv("FAKE_NCU", str(told))

    def set_up(launches, status=0, last=""):
        told.write_text(json.dumps({"launches": launches, "status": status, "last": last}))
        return told

    return set_up


def launches_of(reads, writes):
    """Return launches of which those of a graph and a way to jump have these sums."""
    return [
        (f"void conncomp::{kernel}<1, int>(long)", part, part_of_writes)
        for _ in FEW
        for jump in l2.JUMPS
        for kernel, part, part_of_writes in zip(
            l2.KERNELS,
            (reads[jump] - 4000, 1000, 1000, 1000, 1000),
            (writes[jump], 0, 0, 0, 0),
            strict=True,
        )
    ]


@pytest.mark.skipif(os.name != "posix", reason="the stand-in of the profiler is a script")
class TestProfiler:
    READS, WRITES = {1: 15_000, 2: 11_000, 3: 24_000, 4: 10_000}, {1: 40, 2: 30, 3: 5, 4: 10}

    def test_table_3(self, run, profiler):
        told = profiler(launches_of(self.READS, self.WRITES))
        run(*COMMAND, "--table", "3", "--device", "cuda")
        findings = written("table-3")
        assert len(findings["rows"]) == len(FEW) * 4
        for row in findings["rows"]:
            assert row["reads"] == self.READS[row["jump"]]
            assert row["reads_relative"] == self.READS[row["jump"]] / 10_000
            assert row["writes_relative"] == self.WRITES[row["jump"]] / 10
        assert findings["fits"]["geometric_means"]["reads 3"] == pytest.approx(2.4)
        assert findings["fits"]["reads_over_writes"]["4"] == pytest.approx(1000)
        arguments = json.loads(told.read_text())["arguments"]
        assert arguments[-4:] == [
            *(sys.executable, "-m", "reproductions.ecl_cc_2018.l2_run", "small")
        ]
        assert ",".join(l2.METRICS.values()) in arguments

    @pytest.mark.parametrize(
        ("launches", "status", "last", "words"),
        [
            ([], 1, "==ERROR== ERR_NVGPUCTRPERM", "status 1 and told of 0 launches"),
            ([], 1, "==ERROR== ERR_NVGPUCTRPERM", "ERR_NVGPUCTRPERM"),
            (launches_of(READS, WRITES)[:-1], 0, "", "told of 59 launches instead of 60"),
            (launches_of(READS, WRITES)[::-1], 0, "", "instead of 'ecl_init'"),
        ],
    )
    def test_refused(self, run, profiler, launches, status, last, words):
        profiler(launches, status, last)
        done = run(*COMMAND, "--table", "3", "--device", "cuda", code=2)
        (line,) = done.stderr.splitlines()
        assert line.startswith("conncomp: table-3: ")
        assert words in line
        assert not Path("out", "table-3.json").exists()

    def test_too_slow(self, profiler, monkeypatch):
        profiler(launches_of(self.READS, self.WRITES))
        monkeypatch.setattr(l2, "SECONDS", {"small": 1e-6})
        with pytest.raises(RefusalError, match="ncu took longer than 1e-06 s"):
            l2.measure(Laboratory(devices.Cuda(), "small"))

    def test_what_is_profiled(self, host, monkeypatch):
        from reproductions.ecl_cc_2018 import l2_run

        calls = []

        def call(graph, **options):
            calls.append((graph.num_vertices, options["jump"], options["algorithm"]))
            return LABEL(graph, **options)

        monkeypatch.setattr(conncomp, "connected_components", call)
        l2_run.main("small")
        sizes = [entry.make().num_vertices for entry in l2.inputs("small")]
        assert calls == [(size, jump, "ecl") for size in sizes for jump in l2.JUMPS]


class TestPublished:
    """What the text says of tables follows from them, so that no value was misread."""

    @pytest.mark.parametrize(
        ("table", "means"),
        [
            (published.TABLE_5, {"Groute": 1.8, "Soman": 4.0, "IrGL": 6.4, "Gunrock": 8.4}),
            (published.TABLE_6, {"Groute": 1.6, "Soman": 4.3, "IrGL": 5.8, "Gunrock": 11.2}),
            (published.TABLE_7, {"ndHybrid": 0.98, "Ligra+ BFSCC": 1.5, "Galois": 4.7}),
            (published.TABLE_7, {"Ligra+ Comp": 2.2, "CRONO": 3.5, "Multistep": 3.6}),
            (published.TABLE_8, {"Ligra+ BFSCC": 1.7, "ndHybrid": 1.9, "Multistep": 2.7}),
            (published.TABLE_8, {"CRONO": 6.8, "Ligra+ Comp": 7.2, "Galois": 22.9}),
            (published.TABLE_9, {"Galois": 2.6, "Boost": 5.2, "igraph": 6.7, "Lemon": 9.1}),
            (published.TABLE_10, {"Boost": 5.3, "igraph": 7.9, "Galois": 8.1, "Lemon": 11}),
        ],
    )
    def test_means(self, table, means):
        base = next(iter(table.values()))
        assert len(base) == 18
        for name, mean in means.items():
            assert published.mean_ratio(table[name], base) == pytest.approx(mean, rel=0.035)

    def test_means_of_accesses(self):
        said = (1.44, 1.09, 2.43, 4.19, 3.45, 0.50)
        for column, mean in zip(published.TABLE_3.values(), said, strict=True):
            assert published.geometric_mean(column.values()) == pytest.approx(mean, abs=0.006)

    def test_degrees(self):
        table = published.TABLE_2
        for graph, arcs in table["arcs"].items():
            degree = arcs / table["vertices"][graph]
            assert degree == pytest.approx(table["d_avg"][graph], abs=0.051)

    def test_across(self):
        theirs = published.TABLE_5["ECL-CC"]
        parallel, serial = published.TABLE_7["ndHybrid"], published.TABLE_9["Galois"]
        assert published.mean_ratio(parallel, theirs) == pytest.approx(19, rel=0.02)
        assert published.mean_ratio(serial, theirs) == pytest.approx(77, rel=0.01)

    def test_newer_machines(self):
        words = runtimes._faster_on(published.TABLE_5, published.TABLE_6)
        assert "ECL-CC 18 of 18, Groute 16 of 18, Gunrock 18 of 18" in words
        words = runtimes._faster_on(published.TABLE_7, published.TABLE_8)
        assert "Ligra+ Comp 18 of 18" in words
        assert "Galois 18 of 18" in words

    def test_fastest(self):
        words = runtimes._EXTREMES["fastest"](published.TABLE_7)
        assert words == "ndHybrid 5, Ligra+ BFSCC 5, ECL-CC OMP 5, Ligra+ Comp 2, Galois 1"


class TestOrder:
    def test_renamed(self):
        graph = generate.road_like((9, 9), 0.7, connected=True)
        for choose in (order.shuffled, order.breadth_first):
            names = choose(graph)
            assert sorted(names) == list(range(graph.num_vertices))
            other = order.renamed(graph, names)
            old = {
                (int(names[u]), int(names[v]))
                for u in range(graph.num_vertices)
                for v in graph.indices[graph.indptr[u] : graph.indptr[u + 1]]
            }
            new = {
                (u, int(v))
                for u in range(other.num_vertices)
                for v in other.indices[other.indptr[u] : other.indptr[u + 1]]
            }
            assert new == old
            assert other.is_symmetric()

    def test_breadth_first(self):
        """Each vertex but the first has a neighbour before it, and these never go back."""
        graph = generate.road_like((9, 9), 0.7, connected=True)
        ordered = order.renamed(graph, order.breadth_first(graph))
        first = [int(ordered.indices[ordered.indptr[v]]) for v in range(ordered.num_vertices)]
        assert all(first[v] < v for v in range(1, len(first)))
        assert np.all(np.diff(first[1:]) >= 0)


class TestClaims:
    def test_factor(self):
        for measured, holds in ((1.9, True), (2.1, False), (1.2, False), (None, None)):
            assert published.factor("figure-8.jump1", measured).holds is holds

    def test_percentage(self):
        words = {"words": "compute 1", "percent": 47.1, "said": 0.471}
        for measured, holds in ((0.43, True), (0.41, False), (0.53, False), (None, None)):
            assert published.percentage("figure-10.share", measured, **words).holds is holds

    def test_every(self):
        told = published.every("figure-9.fini1-never", {"a": True, "b": False})
        assert (told.holds, told.here) == (False, "on 1 of 2 graphs; not on b")
        assert published.every("figure-9.fini1-never", {}).holds is None

    def test_listed(self):
        assert published.listed("abcdef") == "a, b, c, d and 2 others"


class TestJudges:
    """Of "ecl", another program of ours and a library that the paper measured, too."""

    TIMES = {  # noqa: RUF012
        "ecl": {"a": 1.0, "b": 2.0, "c": 3.0},
        "auto": {"a": 0.1, "b": 0.1, "c": 0.1},
        "igraph": {"a": 9.0, "b": 4.0, "c": 2.0},
    }

    def told(self, times_now, kind, comparison=runtimes.SERIAL_XEON):
        (remark,) = (remark for remark in comparison.remarks if remark.kind == kind)
        return runtimes._claim_of_others(remark, comparison, times_now)

    def test_fastest_against_whom(self):
        """That theirs is the fastest of programs that are not measured is not judged."""
        told = self.told(self.TIMES, "fastest")
        assert told.holds is None
        assert told.here.startswith(
            "of the other programs only igraph is measured: ecl 2, igraph 1"
        )

    @pytest.mark.parametrize(("most", "holds"), [(5.0, False), (17.0, True), (70.0, False)])
    def test_far_ahead(self, most, holds):
        """Their table has 17.8 for igraph."""
        times_now = {"ecl": {"a": 1.0}, "igraph": {"a": most}}
        assert self.told(times_now, "best").holds is holds

    def test_without_their_programs(self):
        alone = {"ecl": self.TIMES["ecl"], "auto": self.TIMES["auto"]}
        told = self.told(alone, "fastest")
        assert told.here.startswith("none of the other programs is measured; their table: ")
        assert self.told(alone, "best").holds is None

    def test_soman(self):
        for seconds, holds in ((2.0, True), (0.5, False)):
            times_now = {"ecl": {"a": 1.0}, "soman": {"a": seconds}}
            told = self.told(times_now, "", runtimes.TITAN)
            assert told.holds is holds
            assert "soman (reproduced)" in told.here

    def test_variants_are_compared_with_times_of_one_kind(self):
        row = {"captured": {"ecl": 1.0}, "seconds": {"ecl": 2.0, "ecl, init=1": 3.0}}
        assert variants._seconds(row, "ecl, init=1") == (3.0, 2.0)
        assert variants._seconds(row, "ecl") == (1.0, 1.0)
        assert variants._seconds(row, "ecl, init=2") is None
