"""Graphs whose edges are in files, held against `connected_components` of all edges."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import conncomp
from conncomp.tables import forests
from conncomp.tables.files import pair_file

PARTS = [
    (np.array([0, 5, 5], np.int32), np.array([1, 7, 7], np.int32)),
    (np.zeros(0, np.int32), np.zeros(0, np.int32)),
    (np.array([9, 1], np.int32), np.array([5, 3], np.int32)),
]


def write(folder, parts, names=("src", "dst"), **options):
    for number, ends in enumerate(parts):
        table = pa.table(dict(zip(names, ends, strict=True)))
        pyarrow.parquet.write_table(table, folder / f"{number}.parquet", **options)
    return str(folder / "*.parquet")


def expected(parts, num_vertices=None):
    src, dst = (np.concatenate(side) for side in zip(*parts, strict=True))
    return conncomp.Graph.from_edges(src, dst, num_vertices=num_vertices)


@settings(max_examples=40)
@given(
    sizes=st.lists(st.integers(0, 60), min_size=1, max_size=4),
    vertices=st.integers(1, 90),
    seed=st.integers(0, 2**32 - 1),
    dtype=st.sampled_from(["i1", "u1", "i4", "u4", "i8", "u8"]),
    more=st.sampled_from([None, 0, 5]),
    rows=st.sampled_from([1, 7, 1 << 18]),
)
def test_components_and_forest(tmp_path_factory, sizes, vertices, seed, dtype, more, rows):
    rng = np.random.default_rng(seed)
    parts = [tuple(rng.integers(0, vertices, (2, size)).astype(dtype)) for size in sizes]
    files = write(tmp_path_factory.mktemp("edges"), parts, row_group_size=17)
    count = None if more is None else vertices + more
    graph = expected(parts, count)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pair_file, "ROWS", rows)
        found, labels = conncomp.label_edge_files(files, num_vertices=count)
        numbers, src, dst = conncomp.spanning_forest_of_files(files, num_vertices=count)
    wanted, wanted_labels = conncomp.connected_components(graph)
    assert found == wanted
    np.testing.assert_array_equal(labels, wanted_labels, strict=True)
    np.testing.assert_array_equal(numbers, conncomp.spanning_forest(graph))
    both = zip(*parts, strict=True)
    for ends, side in zip((src, dst), both, strict=True):
        np.testing.assert_array_equal(ends, np.concatenate(side)[numbers])


def test_other_columns_formats_and_several_names(tmp_path):
    write(tmp_path, PARTS, ("a", "b"))
    names = [tmp_path / "0.parquet", str(tmp_path / "2.parquet")]
    told = []
    count, labels = conncomp.label_edge_files(
        names, "a", "b", progress=lambda *now: told.append(now)
    )
    assert (count, labels.tolist()) == (6, [0, 0, 1, 0, 2, 3, 4, 3, 5, 3])
    size = sum((tmp_path / f"{k}.parquet").stat().st_size for k in (0, 2))
    assert told[-1] == (size, size)
    (tmp_path / "edges.tsv").write_text("src\tdst\n3\t1\n")
    assert conncomp.label_edge_files(tmp_path / "edges.tsv")[0] == 3


@pytest.mark.parametrize(
    ("ends", "error", "words"),
    [
        (([0, -3], [1, 1]), ValueError, "0.parquet: the column of src holds -3"),
        (([0], [10**12]), ValueError, "an edge has the end 1000000000000, which makes"),
        ((np.array([2**63], np.uint64), [1]), ValueError, "too large for a vertex"),
        (([0.5], [1]), TypeError, "not of integers|is of float64"),
        ((["a"], ["b"]), TypeError, "not of integers"),
        (([0, None], [1, 2]), ValueError, "null"),
    ],
)
def test_bad_ends(tmp_path, ends, error, words):
    files = write(tmp_path, [ends])
    for function in (conncomp.label_edge_files, conncomp.spanning_forest_of_files):
        with pytest.raises(error, match=words):
            function(files)


def test_bad_arguments(tmp_path):
    files = write(tmp_path, PARTS)
    with pytest.raises(ValueError, match="has the end 9; num_vertices=9"):
        conncomp.label_edge_files(files, num_vertices=9)
    with pytest.raises(ValueError, match="src='left': it has no column of that name"):
        conncomp.label_edge_files(files, "left")
    with pytest.raises(TypeError, match="dst=5 must be the name of a column"):
        conncomp.label_edge_files(files, dst=5)
    with pytest.raises(FileNotFoundError, match="none of that pattern"):
        conncomp.label_edge_files(str(tmp_path / "*.arrow"))
    for names in (5, [], [5], b"x"):
        with pytest.raises(TypeError, match="files="):
            conncomp.label_edge_files(names)
    with pytest.raises(ValueError, match="has no edges"):
        conncomp.label_edge_files(files, format="dups")
    with pytest.raises(ValueError, match="num_vertices=-1"):
        conncomp.label_edge_files(files, num_vertices=-1)


@pytest.mark.parametrize("odd", ["007", "+7", " 7", "7 ", "7.0", "0x7", "-0", "1" * 20, '""', "x"])
@pytest.mark.parametrize("name", ["e.csv", "e.tsv"])
def test_text_must_be_written_as_integers_are(tmp_path, odd, name):
    rows = f'x,src,dst\n"a\nb",1,"2"\n\n,2,{odd}\n'
    (tmp_path / name).write_text(rows.replace(",", "\t") if name == "e.tsv" else rows)
    words = (
        rf"{name}:5: column 'dst': expected an integer .*, found .*cluster_pairs takes other ids"
    )
    with pytest.raises(ValueError, match=words):
        conncomp.label_edge_files(tmp_path / name)


def test_edges_without_a_header(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("0,1,2.5\n1,2,0.5\n2,0,1\n")
    for options in ({}, {"header": False}, {"src": 0, "dst": 1}, {"src": "0", "dst": "1"}):
        assert conncomp.label_edge_files(path, **options)[1].tolist() == [0, 0, 0]
        assert len(conncomp.spanning_forest_of_files(path, **options)[0]) == 2
        more = {"weights": 2} if "src" in options else {}
        edges, *_ = conncomp.minimum_spanning_forest_of_files(path, **options, **more)
        assert edges.tolist() == [1, 2]
    with pytest.raises(ValueError, match="'src': it has no column of that name, but '0', '1'"):
        conncomp.label_edge_files(path, header=True)
    with pytest.raises(ValueError, match="src='3': without a header, columns have the numbers 0 t"):
        conncomp.label_edge_files(path, 3, 1)
    with pytest.raises(
        ValueError, match=r"its first row, '0', '1', '2.5', is taken as data and has"
    ):
        conncomp.label_edge_files(path, "a", "b")
    path.write_text("src,dst\n0,1\n")
    assert conncomp.label_edge_files(path)[0] == 1
    with pytest.raises(ValueError, match=r"e\.csv:1: column '0': .* found 'src'"):
        conncomp.label_edge_files(path, header=False)


def test_other_formats_and_functions(tmp_path):
    files = write(tmp_path, PARTS)
    functions = (
        conncomp.label_edge_files,
        conncomp.spanning_forest_of_files,
        conncomp.minimum_spanning_forest_of_files,
    )
    for function in functions:
        for format in ("json", "", "CSV", 5, [], np.arange(2), "edge-list"):
            with pytest.raises(ValueError, match=r"format=.* is not one of None, 'parquet'"):
                function(files, format=format)
        with pytest.raises(ValueError, match="header=False is for files of CSV and TSV"):
            function(files, header=False)


def test_a_damaged_file_is_named(tmp_path):
    files = write(tmp_path, PARTS)
    content = (tmp_path / "2.parquet").read_bytes()
    (tmp_path / "2.parquet").write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"2\.parquet: "):
        conncomp.label_edge_files(files)


def test_room_grows_with_the_vertices(tmp_path):
    src = np.arange(5000, dtype=np.int64)
    files = write(
        tmp_path, [(src[k : k + 100], src[k : k + 100] // 7) for k in range(0, 5000, 100)]
    )
    count, labels = conncomp.label_edge_files(files)
    assert (count, labels.max()) == (1, 0)


@settings(max_examples=40)
@given(
    sizes=st.lists(st.integers(0, 60), min_size=1, max_size=4),
    vertices=st.integers(1, 90),
    seed=st.integers(0, 2**32 - 1),
    kinds=st.sampled_from(
        [("i8",), ("f4",), ("f8",), ("u1", "f8"), ("u8",), ("i8", "f8"), ("b1",)]
    ),
    rows=st.sampled_from([1, 7, 1 << 18]),
    fewest=st.sampled_from([0, 30, 1 << 20]),
)
def test_minimum_forest(tmp_path_factory, sizes, vertices, seed, kinds, rows, fewest):
    """Few weights, so that many are equal; batches and what is left of them are of any size."""
    rng = np.random.default_rng(seed)
    parts = []
    for k, size in enumerate(sizes):
        weights = rng.integers(0, rng.choice([2, 9]), size).astype(kinds[k % len(kinds)])
        parts.append((*rng.integers(0, vertices, (2, size)), weights))
    folder = tmp_path_factory.mktemp("edges")
    files = write(folder, parts, ("src", "dst", "weight"), row_group_size=17)
    graph = expected([part[:2] for part in parts], vertices)
    weights = np.concatenate([part[2] for part in parts])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pair_file, "ROWS", rows)
        patch.setattr(forests, "FEWEST_EDGES", fewest)
        found = conncomp.minimum_spanning_forest_of_files(files, num_vertices=vertices)
    numbers = conncomp.minimum_spanning_forest(graph, weights)
    np.testing.assert_array_equal(found[0], numbers)
    for column, side in zip(found[1:], zip(*parts, strict=True), strict=True):
        np.testing.assert_array_equal(column, np.concatenate(side)[numbers])
    assert found[3].dtype == weights.dtype


def test_bad_weights(tmp_path):
    files = write(tmp_path, [([0], [1], ["a"])], ("src", "dst", "weight"))
    with pytest.raises(TypeError, match="the column of weights is of string, not of numbers"):
        conncomp.minimum_spanning_forest_of_files(files)
    with pytest.raises(ValueError, match="weights='w': it has no column of that name"):
        conncomp.minimum_spanning_forest_of_files(files, weights="w")
    with pytest.raises(TypeError, match="weights=3 must be the name of a column"):
        conncomp.minimum_spanning_forest_of_files(files, weights=3)
    write(tmp_path, [([0], [1], [np.nan])], ("src", "dst", "weight"))
    with pytest.raises(ValueError, match="column 'weight' is null at row 0; leave out"):
        conncomp.minimum_spanning_forest_of_files(files)
