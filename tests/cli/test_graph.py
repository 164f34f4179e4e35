import os
from pathlib import Path

import numpy as np
import pytest

import conncomp
from cli.test_command import check_failure

# 3 <-> 5, 5 -> 9, 20 -> 21 -> 22 -> 20
ARCS = "# a comment\n3 5\n5 3\n5 9\n20 21\n21 22\n22 20\n"
DATA = Path(__file__).parents[2].parent / "shared" / "data"


@pytest.fixture(autouse=True)
def _arcs(tmp_path):
    (tmp_path / "arcs.txt").write_text(ARCS)


def test_report_is_what_the_library_says(report):
    found = report("graph", "arcs.txt", "-o", "o.npy", "--threads", 1, "--top", 2)
    graph = conncomp.Graph.read("arcs.txt")
    count, labels = conncomp.connected_components(graph)
    np.testing.assert_array_equal(np.load("o.npy"), labels)
    assert (found["vertices"], found["arcs"]) == (graph.num_vertices, graph.num_arcs)
    assert (found["components"], found["threads"], found["connection"]) == (count, 1, "weak")
    assert found["largest"] == [{"label": labels[3], "size": 3}, {"label": labels[20], "size": 3}]
    assert found["sizes"] == [{"from": 1, "to": 9, "components": count, "elements": len(labels)}]
    assert found["arcs_per_second"] == graph.num_arcs / found["seconds"]["labelling"]


def test_strong(report):
    found = report("graph", "arcs.txt", "--strong", "--compact-ids")
    assert (found["components"], found["connection"]) == (3, "strong")


@pytest.mark.parametrize("compact", [False, True])
def test_text(report, compact):
    options = ("--compact-ids",) if compact else ()
    for name in ("o.txt", "o.csv"):
        report("graph", "arcs.txt", *options, "-o", name)
    lines = Path("o.csv").read_text().splitlines()
    assert lines[0] == "vertex,label"
    assert [line.replace(",", " ") for line in lines[1:]] == Path("o.txt").read_text().splitlines()
    vertices, labels = np.loadtxt("o.txt", dtype=int).T
    if compact:
        assert vertices.tolist() == [3, 5, 9, 20, 21, 22]
        assert labels.tolist() == [0, 0, 0, 1, 1, 1]
    else:
        expected = conncomp.connected_components(conncomp.Graph.read("arcs.txt"))[1]
        assert vertices.tolist() == list(range(23))
        assert labels.tolist() == expected.tolist()


def test_npz_keeps_ids(report):
    report("graph", "arcs.txt", "--compact-ids", "-o", "o.NPZ")
    with np.load("o.NPZ") as found:
        assert found["ids"].tolist() == ["3", "5", "9", "20", "21", "22"]
        assert found["labels"].tolist() == [0, 0, 0, 1, 1, 1]
    report("graph", "arcs.txt", "--compact-ids", "--integers", "-o", "o.npz")
    with np.load("o.npz") as found:
        assert found["ids"].tolist() == [3, 5, 9, 20, 21, 22]
    report("graph", "arcs.txt", "-o", "plain.npz")
    with np.load("plain.npz") as found:
        assert list(found) == ["labels"]


@pytest.mark.parametrize("strong", [(), ("--strong",)])
def test_gaps_in_ids(report, run, strong):
    assert report("graph", "arcs.txt", *strong)["without_arcs"] == 23 - 6
    assert report("graph", "arcs.txt", *strong, "--compact-ids")["without_arcs"] == 0
    shown = " ".join(run("graph", "arcs.txt", *strong).stdout.split())
    assert (
        "17 of them are vertices without arcs; if ids have gaps, --compact-ids leaves them out"
    ) in shown
    assert "without arcs" not in run("graph", "arcs.txt", *strong, "--compact-ids").stdout


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.graph", "4 1\n\n3\n2\n\n", 2),
        ("a.graph", "2 2\n1 2\n1\n", 0),
        ("a.txt", "0 0\n2 2\n", 1),
        ("a.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n5 5 1\n2 1\n", 3),
        ("a.csv", "source,target\na,b\nc,c\n", 0),
    ],
)
def test_vertices_without_arcs(report, name, content, expected):
    Path(name).write_text(content)
    assert report("graph", name)["without_arcs"] == expected


def test_far_ids(run):
    Path("far.txt").write_text("0 67108863\n")
    found = run("graph", "far.txt")
    assert found.exit_code == 2
    assert found.stderr == (
        "conncomp: far.txt: 67108864 vertices, but only 1 arcs: to label them takes about 2.1 GB "
        "of memory; --compact-ids keeps only the vertices that have arcs\n"
    )
    assert run("graph", "far.txt", "--compact-ids").exit_code == 0


@pytest.mark.parametrize("compact", [(), ("--compact-ids",)])
def test_names(report, run, compact):
    Path("names.csv").write_text('Source,Target\n"Paris, F",Rome\nOslo,Oslo\nRome,Bern\n')
    found = report("graph", "names.csv", *compact, "-o", "o.csv")
    assert (found["vertices"], found["components"]) == (4, 2)
    assert Path("o.csv").read_text() == 'vertex,label\n"Paris, F",0\nRome,0\nOslo,1\nBern,0\n'
    report("graph", "names.csv", *compact, "-o", "o.npz")
    with np.load("o.npz") as written:
        assert written["ids"].tolist() == ["Paris, F", "Rome", "Oslo", "Bern"]
        assert written["labels"].tolist() == [0, 0, 1, 0]
    assert ".npy" in check_failure(run("graph", "names.csv", *compact, "-o", "o.npy"))
    assert not Path("o.npy").exists()


def test_names_that_look_like_numbers(run, report):
    Path("zip.csv").write_text("source,target\n02139,02140\n2139,10001\n")
    report("graph", "zip.csv", "--compact-ids", "-o", "o.csv")
    assert Path("o.csv").read_text() == "vertex,label\n02139,0\n02140,0\n2139,1\n10001,1\n"
    wrong = "conncomp: zip.csv:2: expected an integer of 64 bits without leading zeros, signs, "
    for options in ((), ("--integers",), ("--compact-ids", "--integers")):
        found = run("graph", "zip.csv", *options)
        assert found.exit_code == 2
        assert found.stderr == (
            f"{wrong}blanks or fractions (--compact-ids without --integers keeps ids as text), "
            "found '02139'\n"
        )
    found = run("graph", "arcs.txt", "--integers", "--format", "metis")
    assert "--integers is for the format edge-list or csv" in found.stderr


def test_a_first_row(run, report):
    Path("names.csv").write_text("Ada,Grace\nGrace,Emmy\n")
    found = run("graph", "names.csv", "-o", "o.csv")
    assert found.stderr == (
        "conncomp: names.csv: the first row, 'Ada', 'Grace', is taken as data, like the rows below "
        "it; --header takes it as the names of columns\n"
    )
    assert Path("o.csv").read_text().count("\n") == 4
    assert report("graph", "names.csv", "--no-header")["vertices"] == 3
    assert report("graph", "names.csv", "--header")["vertices"] == 2
    Path("d.csv").write_text("O'Neil,McDonald\nAda,Grace\n")
    assert "; --no-header takes it as data\n" in run("graph", "d.csv").stderr
    assert "--header is for the format csv" in run("graph", "arcs.txt", "--header").stderr


def test_a_pipe(report):
    read_end, write_end = os.pipe()
    os.write(write_end, b"4 1\n\n3\n2\n\n")
    os.close(write_end)
    try:
        found = report("graph", f"/dev/fd/{read_end}", "--format", "metis", "-o", "o.txt")
    finally:
        os.close(read_end)
    assert found["components"] == 3
    assert Path("o.txt").read_text() == "0 0\n1 1\n2 1\n3 2\n"


def test_histogram(report):
    report("graph", "arcs.txt", "--histogram", "h.png")
    assert conncomp.read_image("h.png").shape[:2] == (675, 1050)


def test_empty_graph(report, run):
    Path("empty.txt").write_text("# no arcs\n")
    found = report("graph", "empty.txt", "--histogram", "h.png", "-o", "o.csv")
    assert (found["vertices"], found["components"], found["largest"]) == (0, 0, [])
    assert run("graph", "empty.txt").exit_code == 0


def test_table(run):
    result = run("graph", "arcs.txt", "--compact-ids", "--threads", 2)
    assert (result.exit_code, result.stderr) == (0, "")
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert {
        "vertices 6",
        "arcs 6",
        "components 2 (weak)",
        "largest label 0: 3 vertices, 50 % of all",
        "label vertices share",
        "1 3 50 %",
        "1 to 9 2 6 100 %",
    } <= set(lines)
    assert any(line.endswith("arcs/s with 2 threads") for line in lines)


@pytest.mark.skipif(not DATA.is_dir(), reason="the folder ../shared/data is absent")
@pytest.mark.parametrize(
    ("name", "options", "components"),
    [
        ("wiki-Vote.txt.gz", (), 1207),
        ("wiki-Vote.txt.gz", ("--compact-ids",), 24),
        ("wiki-Vote.txt.gz", ("--compact-ids", "--strong"), 5816),
        ("hep-th.graph", (), 1332),
        ("power.graph", (), 1),
    ],
)
def test_known_graphs(report, name, options, components):
    assert report("graph", DATA / name, *options)["components"] == components


@pytest.mark.parametrize(
    ("connection", "names", "wrong"),
    [((), ["auto", "ecl", "bfs"], "tarjan"), (("--strong",), ["auto", "tarjan"], "ecl")],
)
def test_algorithm(report, run, connection, names, wrong):
    expected = report("graph", "arcs.txt", *connection)["components"]
    for name in names:
        assert report("graph", "arcs.txt", *connection, "--algorithm", name)["components"] == (
            expected
        )
    assert f"--algorithm: '{wrong}' is not one of auto, " in check_failure(
        run("graph", "arcs.txt", *connection, "--algorithm", wrong)
    )
