"""``conncomp graph`` of edges in files of tables."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import conncomp
from cli.test_command import check_failure

SRC, DST = np.random.default_rng(1).integers(0, 300, (2, 200))


@pytest.fixture(autouse=True)
def _edges(tmp_path):
    for k in range(4):
        part = slice(50 * k, 50 * k + 50)
        table = pa.table({"src": SRC[part], "dst": DST[part]})
        pyarrow.parquet.write_table(table, tmp_path / f"{k}.parquet")


@pytest.mark.parametrize("name", ["l.pq.parquet", "l.npy", "l.txt"])
def test_labels_of_a_pattern(report, name):
    found = report("graph", "[0-9].parquet", "-o", name)
    count, labels = conncomp.connected_components(conncomp.Graph.from_edges(SRC, DST))
    assert (found["components"], found["arcs"], found["vertices"]) == (count, 200, len(labels))
    sizes = conncomp.component_sizes(labels, background=None)
    assert found["largest"][0] == {"label": int(sizes.argmax()), "size": int(sizes.max())}
    if name == "l.npy":
        written = np.load(name)
    elif name == "l.txt":
        written = np.loadtxt(name, dtype=int)[:, 1]
    else:
        written = pyarrow.parquet.read_table(name).column("label").to_numpy()
    np.testing.assert_array_equal(written, labels)


def test_one_file_prints_a_table(run):
    result = run("graph", "0.parquet")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "arcs        50" in result.stdout


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["0.parquet", "--strong"], "--strong is not for edges in Parquet"),
        (["0.parquet", "--integers"], "--integers is not"),
        (["0.parquet", "--no-header"], "--no-header is for files of CSV and TSV; leave it out"),
        (["[ab].csv", "--no-header"], "b.csv:2: column '0': expected an integer"),
        (["0.parquet", "--src", "a"], "it has no column of that name, but 'src', 'dst'"),
        (["x*.parquet"], "none of that pattern"),
        (["missing.parquet"], "does not exist"),
        (["e.txt", "--dst", "b"], "--dst is for edges in Parquet"),
    ],
)
def test_bad_words(run, words, line, tmp_path):
    (tmp_path / "e.txt").write_text("0 1\n")
    (tmp_path / "a.csv").write_text("0,1\n")
    (tmp_path / "b.csv").write_text("0,1\n01,2\n")
    assert line in check_failure(run("graph", *words))
