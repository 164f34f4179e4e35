"""`cluster_quality` against NetworkX and sets of pairs."""

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import conncomp
from pairs_reference import clusters_of, table_of

ROWS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9)), max_size=30)


def columns(rows):
    return tuple(np.array([row[k] for row in rows], np.int64) for k in range(3))


def parts_of(members, pairs):
    """Return the sizes of the parts of a cluster, ascending."""
    _, first = clusters_of(pairs, members)
    return sorted(first.count(root) for root in set(first))


@given(ROWS, st.booleans())
def test_quality(rows, raised):
    left, right, weights = columns(rows)
    table = conncomp.cluster_pairs(left, right, weights=weights, threshold=4)
    threshold = 4 if raised else None
    quality = conncomp.cluster_quality(table, left, right, weights=weights, threshold=threshold)
    place = {node: k for k, node in enumerate(table["node"].tolist())}
    counted = [row for row in rows if not raised or row[2] >= 4]
    for k, cluster in enumerate(quality["cluster"].tolist()):
        members = table["node"][table["cluster"] == cluster].tolist()
        inside = [
            row for row in counted if row[0] in members and row[1] in members and row[0] != row[1]
        ]
        assert quality["size"][k] == len(members)
        check_bridges(quality, k, members, inside, place)
        if len(members) == 1:
            assert quality["density"][k] == 1
            assert np.isnan(quality["weakest"][k])
            assert quality["weakest_left"].mask[k]
            continue
        possible = len(members) * (len(members) - 1) / 2
        assert quality["density"][k] == quality["pairs"][k] / possible
        # The cluster holds together at the weight of the weakest link, and not above.
        weakest = quality["weakest"][k]
        for least, connected in ((weakest, True), (weakest + 0.5, False)):
            kept = [row[:2] for row in inside if row[2] >= least]
            assert (len(parts_of(members, kept)) == 1) == connected
        ends = quality["weakest_left"][k], quality["weakest_right"][k]
        assert (*ends, weakest) in inside


def check_bridges(quality, k, members, inside, place):
    graph = nx.Graph([row[:2] for row in inside])
    assert quality["pairs"][k] == graph.number_of_edges()
    bridges = list(nx.bridges(graph))
    assert quality["bridges"][k] == len(bridges)
    assert quality["bridge_left"].mask[k] == (not bridges)
    if not bridges:
        assert quality["cut_off"][k] == 0
        return
    evenness = {}
    for u, v in bridges:
        others = [row[:2] for row in inside if set(row[:2]) != {u, v}]
        component = nx.node_connected_component(graph, u)
        evenness[tuple(sorted((u, v), key=place.get))] = min(parts_of(list(component), others))
    best = min(evenness, key=lambda pair: (-evenness[pair], *map(place.get, pair)))
    assert quality["cut_off"][k] == evenness[best]
    found = int(quality["bridge_left"][k]), int(quality["bridge_right"][k])
    assert set(found) == set(best)
    assert found in [row[:2] for row in inside]  # as a pair has it


def test_clusters_that_their_pairs_do_not_connect():
    """A bridge divides what it is in, and not the cluster."""
    table = {"node": [1, 2, 3, 4, 5, 6], "cluster": ["a"] * 6}
    quality = conncomp.cluster_quality(table, [2, 4, 5], [1, 5, 6])
    assert quality["bridges"] == 3
    assert quality["cut_off"] == 1
    assert (quality["bridge_left"], quality["bridge_right"]) == (2, 1)


def test_columns_of_other_names_thresholds_and_several_parts():
    pairs = pa.table({"f": ["x"] * 3, "d": [1, 2, 3], "g": ["x", "y", "x"], "e": [2, 2, 4]})
    weights = np.array([0.9, 0.7, 0.5])
    table = conncomp.cluster_pairs(
        pairs, ("f", "d"), ("g", "e"), weights=weights, threshold=[0.8, 0.5]
    )
    for threshold, sizes in ((0.8, [2, 1, 1, 1]), (0.5, [3, 2])):
        quality = conncomp.cluster_quality(
            table,
            pairs,
            ("f", "d"),
            ("g", "e"),
            weights=weights,
            threshold=threshold,
            node=("node_0", "node_1"),
            cluster=f"cluster_{threshold}",
        )
        assert quality["size"].to_pylist() == sizes
    assert quality["weakest_right_0"].to_pylist() == ["y", "x"]
    assert quality["weakest_right_1"].to_pylist() == [2, 4]
    named = conncomp.cluster_pairs(pairs, ("f", "d"), ("g", "e"), cluster_ids="first")
    quality = conncomp.cluster_quality(
        named,
        pairs,
        ("f", "d"),
        ("g", "e"),
        node=("node_0", "node_1"),
        cluster=("cluster_0", "cluster_1"),
    )
    assert quality["cluster_1"].to_pylist() == [1, 3]


def test_large_ids_stay_what_they_are_in_pandas():
    """Integers with nulls must not become floats, which have 53 bits."""
    large = 2**63 - 3
    pairs = pd.DataFrame({"l": [large, 7], "r": [large - 1, 8], "w": [1.0, 0.0]})
    table = conncomp.cluster_pairs(pairs, "l", "r", weights="w", threshold=0.5)
    quality = conncomp.cluster_quality(table, pairs, "l", "r", weights="w", threshold=0.5)
    for name, end in (("weakest_left", large), ("bridge_right", large - 1)):
        assert quality[name].dtype == "Int64"
        assert quality[name][0] == end
        assert quality[name].isna().tolist() == [False, True, True]


@pytest.mark.parametrize("library", [np.asarray, pa.array, pd.Series])
def test_nothing(library):
    empty = library([])
    table = conncomp.cluster_pairs(empty, empty)
    quality = conncomp.cluster_quality(table, empty, empty, weights=empty)
    assert all(len(quality[name]) == 0 for name in ("size", "density", "bridge_left", "weakest"))
    alone = conncomp.cluster_pairs(empty, empty, nodes=empty)
    assert len(conncomp.cluster_quality(alone, empty, empty)["size"]) == 0


def test_long_paths_and_stars_and_cycles():
    """Deep searches need no stack of calls, and hubs take linear time."""
    n = 300_000
    path = np.arange(n - 1), np.arange(1, n)
    star = np.zeros(n - 1, np.int64), np.arange(1, n)
    cycle = np.arange(n), np.roll(np.arange(n), -1)
    for (left, right), bridges, cut_off in ((path, n - 1, n // 2), (star, n - 1, 1), (cycle, 0, 0)):
        quality = conncomp.cluster_quality(conncomp.cluster_pairs(left, right), left, right)
        assert quality["bridges"].tolist() == [bridges]
        assert quality["cut_off"].tolist() == [cut_off]


def test_nulls():
    table = {"node": pa.array([1, 2, None]), "cluster": pa.array([0, 0, 1])}
    left, right = pa.array([1, None]), pa.array([2, 2])
    with pytest.raises(ValueError, match="clusters, column 'node' is null at row 2"):
        conncomp.cluster_quality(table, left, right)
    quality = conncomp.cluster_quality(table, left, right, nulls="drop")
    assert quality["pairs"].to_pylist() == [1]


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([1], [3]), {}, "id 3, which is not among the nodes"),
        (([1, 2], [2]), {}, "columns differ in length: left 2, right 1"),
        (([1], [2]), {"weights": []}, "columns differ in length"),
        (([1], [2]), {"threshold": 1}, "threshold needs weights"),
        (([1], [2]), {"node": "id"}, "node='id': clusters has no column of that name"),
        (([1], [2]), {"cluster": "id"}, "cluster='id': clusters has no column of that name"),
        (([1], [2]), {"node": ("node", "size")}, "as many columns"),
        (([1], [2]), {"nulls": "keep"}, "nulls='keep' is not one of"),
    ],
)
def test_bad_values(arguments, options, message):
    table = conncomp.cluster_pairs([1], [2])
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        conncomp.cluster_quality(table, *arguments, **options)


def test_nodes_that_have_two_rows():
    table = {"node": [1, 1], "cluster": [0, 1]}
    with pytest.raises(ValueError, match="more than one row"):
        conncomp.cluster_quality(table, [1], [1])


def test_types_that_do_not_compare():
    table = conncomp.cluster_pairs([1], [2])
    with pytest.raises(TypeError, match="compared"):
        conncomp.cluster_quality(table, ["1"], ["2"])


def test_many_pieces_and_forests_between_them(monkeypatch):
    rng = np.random.default_rng(5)
    left, right = rng.integers(0, 400, (2, 2000))
    weights = rng.integers(0, 50, 2000) / 8
    table = conncomp.cluster_pairs(left, right, weights=weights, threshold=4)
    arguments = {"weights": weights, "threshold": 3}
    whole = conncomp.cluster_quality(table, left, right, **arguments)
    monkeypatch.setattr("conncomp.tables.columns.PIECE_ROWS", 7)
    for constant in ("FEWEST_EDGES", "EDGES_A_VERTEX"):
        monkeypatch.setattr(f"conncomp.tables.forests.{constant}", 1)
    pieces = conncomp.cluster_quality(table, left, right, **arguments)
    assert list(pieces) == list(whole)
    for name in whole:
        np.testing.assert_array_equal(pieces[name], whole[name])


def test_shuffled_rows_give_the_same_numbers():
    rng = np.random.default_rng(3)
    left, right = rng.integers(0, 3000, (2, 2800))
    table = conncomp.cluster_pairs(left, right)
    order = rng.permutation(len(left))
    one = conncomp.cluster_quality(table, left, right)
    other = conncomp.cluster_quality(table, right[order], left[order])
    for name in ("cluster", "size", "pairs", "density", "bridges", "cut_off"):
        np.testing.assert_array_equal(one[name], other[name])
    np.testing.assert_array_equal(one["bridge_left"], other["bridge_right"])
    ids, cluster, _ = table_of(list(zip(left.tolist(), right.tolist(), strict=True)))
    assert table["node"].tolist() == ids
    assert table["cluster"].tolist() == cluster
