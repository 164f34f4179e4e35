"""Edges and pairs in DataFrames of Dask, against the same tables in memory."""

import dask
import numpy as np
import pandas as pd
import pytest
from dask import dataframe as dd

import conncomp


def frame_of_edges(rng):
    """Return edges at random, in memory and in partitions."""
    count, vertices = int(rng.integers(1, 80)), int(rng.integers(1, 60))
    src, dst = rng.integers(0, vertices, (2, count))
    weight = rng.integers(0, 4, count).astype(rng.choice(["i8", "u2", "f4", "f8"]))
    frame = pd.DataFrame({"a": src.astype(rng.choice(["i8", "i4", "u1"])), "b": dst, "w": weight})
    return frame, dd.from_pandas(frame, npartitions=int(rng.integers(1, 9)))


@pytest.mark.parametrize("part", range(2))
def test_edges(part):
    """Many weights are equal, and forests of up to nine partitions are merged in two levels."""
    for seed in range(20 * part, 20 * part + 20):
        rng = np.random.default_rng(seed)
        frame, lazy = frame_of_edges(rng)
        vertices = None if rng.random() < 0.5 else 70
        graph = conncomp.Graph.from_edges(frame.a, frame.b, num_vertices=vertices)
        known = {"num_vertices": vertices}
        labelled = conncomp.label_edge_files(lazy, "a", "b", **known)
        forest = conncomp.spanning_forest_of_files(lazy, "a", "b", **known)
        least = conncomp.minimum_spanning_forest_of_files(lazy, "a", "b", "w", **known)
        lazy_arrays = (*labelled, *forest, *least)
        count, labels, *columns = dask.compute(*lazy_arrays, scheduler="sync")
        wanted, wanted_labels = conncomp.connected_components(graph)
        assert count == wanted
        np.testing.assert_array_equal(labels, wanted_labels, strict=True)
        numbers = conncomp.spanning_forest(graph)
        lightest = conncomp.minimum_spanning_forest(graph, frame.w.to_numpy())
        expected = [numbers, frame.a[numbers], frame.b[numbers]]
        expected += [lightest, frame.a[lightest], frame.b[lightest], frame.w[lightest]]
        for column, values, array in zip(columns, expected, lazy_arrays[2:], strict=True):
            np.testing.assert_array_equal(column, values, err_msg=str(seed))
            assert column.dtype == array.dtype


@pytest.mark.parametrize(
    ("change", "arguments", "error", "message"),
    [
        ({"a": [0, -4]}, {}, ValueError, "the column of src holds -4"),
        ({"b": [0, 10**12]}, {}, ValueError, "an edge has the end 1000000000000, which makes"),
        ({"b": np.array([0, 2**64 - 1], "u8")}, {}, ValueError, "too large for a vertex"),
        ({"a": [0.5, 1]}, {}, TypeError, "the column of src is of float64, not of integers"),
        ({"w": [0, np.nan]}, {}, ValueError, "NaN"),
        ({"w": ["x", "y"]}, {}, TypeError, "the column of weights is of .*, not of real numbers"),
        ({}, {"src": "c"}, ValueError, "src='c': it has no column of that name, but 'a', 'b', 'w'"),
        ({}, {"dst": 3}, TypeError, "dst=3 must be the name of a column"),
        ({}, {"num_vertices": 2}, ValueError, "has the end 2; num_vertices=2"),
        ({}, {"num_vertices": -1}, ValueError, "num_vertices=-1"),
        ({}, {"format": "csv"}, ValueError, "format='csv' is for files, not a DataFrame"),
    ],
)
def test_bad_edges(change, arguments, error, message):
    frame = pd.DataFrame({"a": [0, 1], "b": [1, 2], "w": [1, 2]} | change)
    options = {"src": "a", "dst": "b", "weights": "w"} | arguments
    with pytest.raises(error, match=message):
        dask.compute(
            conncomp.minimum_spanning_forest_of_files(
                dd.from_pandas(frame, npartitions=2), **options
            ),
            scheduler="sync",
        )


@pytest.mark.parametrize("function", ["connected_components", "spanning_forest"])
def test_functions_of_graphs_in_memory_say_what_takes_edges_of_dask(function):
    edges = dd.from_pandas(pd.DataFrame({"src": [0, 1], "dst": [1, 2]}), npartitions=2)
    with pytest.raises(TypeError, match=r"DataFrame of Dask; .* are for conncomp.label_edge_files"):
        getattr(conncomp, function)(edges)


KINDS = {
    "integers": lambda values: values,
    "strings": lambda values: np.char.add("é", values.astype(str)),
    "dates": lambda values: values.astype("M8[s]"),
    "binary": lambda values: values.astype("S").astype(object),
}


@pytest.mark.parametrize("kind", [*KINDS, "two columns", "wide and narrow"])
def test_pairs(kind):
    """Rows, their order, and numbers or names of clusters; ids of each kind, at thresholds."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        count = int(rng.integers(1, 60))
        left, right = rng.integers(0, rng.integers(1, 60), (2, count)) - 3
        of_kind = KINDS.get(kind, KINDS["integers"])
        frame = pd.DataFrame({"l": of_kind(left), "r": of_kind(right), "w": left % 5 / 4})
        names, arguments = ("l", "r"), {"cluster_ids": ["number", "first"][seed % 2]}
        if kind == "two columns":
            frame = frame.assign(l=left // 5, r=right // 5, k=left % 5, s=right % 5)
            names = ("l", "k"), ("r", "s")
        if kind == "wide and narrow":
            frame["l"] = frame["l"].astype("i1")
        if rng.random() < 0.6:
            arguments |= {"weights": "w", "threshold": [0.5, [0.25, 0.5, 1]][rng.integers(2)]}
        if kind == "integers" and rng.random() < 0.5:
            arguments["nodes"] = np.arange(20, -10, -3)
        want = conncomp.cluster_pairs(frame, *names, **arguments)
        with dask.config.set({"dataframe.convert-string": kind != "binary"}):
            lazy = dd.from_pandas(frame, npartitions=int(rng.integers(1, 7)))
            given = conncomp.cluster_pairs(lazy, *names, **arguments)
            computed = given.compute(scheduler="sync").reset_index(drop=True)
        pd.testing.assert_frame_equal(computed, want, obj=f"{kind} {seed}")
        assert list(given.dtypes) == list(want.dtypes)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"right": None}, TypeError, "right is missing"),
        ({"right": "x"}, ValueError, "'x'"),
        ({"weights": [1, 2], "threshold": 1}, TypeError, "weights=.* must be the name of a column"),
        ({"weights": "r", "max_size": 3}, ValueError, "max_size=3 is for tables in memory"),
        ({"threshold": 1}, ValueError, "threshold needs weights"),
        ({"weights": "r"}, ValueError, "weights is for threshold or max_size; give one"),
        ({"cluster_ids": "x"}, ValueError, "cluster_ids='x'"),
        ({"nulls": "x"}, ValueError, "nulls='x'"),
    ],
)
def test_bad_pairs(arguments, error, message):
    frame = dd.from_pandas(pd.DataFrame({"l": [0, 1], "r": [1, 2]}), npartitions=2)
    with pytest.raises(error, match=message):
        conncomp.cluster_pairs(frame, "l", **({"right": "r"} | arguments))


def test_nulls_and_objects_in_pairs():
    frame = pd.DataFrame({"l": pd.array([0, None, 5], "Int64"), "r": pd.array([1, 2, 0], "Int64")})
    lazy = dd.from_pandas(frame, npartitions=2)
    with pytest.raises(ValueError, match="null"):
        conncomp.cluster_pairs(lazy, "l", "r").compute(scheduler="sync")
    dropped = conncomp.cluster_pairs(lazy, "l", "r", nulls="drop").compute(scheduler="sync")
    want = conncomp.cluster_pairs(frame, "l", "r", nulls="drop")
    np.testing.assert_array_equal(dropped, want)
