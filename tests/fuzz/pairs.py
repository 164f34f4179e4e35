"""Targets for tables of pairs: clusters, their quality, and datatrove's files."""

import datetime as dt
import tempfile
import uuid
from collections import UserList, deque
from decimal import Decimal
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd

import conncomp

from ..pairs_reference import clusters_of, table_of
from . import draws

DTYPES = [np.int64, np.int8, np.uint16, np.uint64, ">i4", np.float64, "U"]
WEIGHTS = [np.float64, np.float32, np.float16, np.int32]


def _drawn(choices):
    """Return ids on the left and on the right, and weights."""
    ids = choices.pick([9, 2, 1, 100])
    rows = choices.pick([ids, 0, 1, 3 * ids])
    rng, dtype = choices.generator(), choices.pick(DTYPES)
    left, right = rng.integers(0, ids, (2, rows)).astype(dtype)
    weights = rng.integers(0, 9, rows).astype(choices.pick(WEIGHTS))
    return *(draws.vector(choices, ends) for ends in (left, right)), weights


def clusters_of_pairs(choices):
    """Compare tables of clusters, at once and by batches, with a dictionary's."""
    left, right, weights = _drawn(choices)
    pairs = list(zip(left.tolist(), right.tolist(), weights.tolist(), strict=True))
    thresholds = choices.pick([None, 4, [6, 2], [0, 9, 5]])
    options = {} if thresholds is None else {"weights": weights, "threshold": thresholds}
    table = conncomp.cluster_pairs(left, right, **options)
    growing = conncomp.ClusterPairs(threshold=thresholds)
    cut = choices.below(len(pairs) + 1)
    for part in (slice(cut), slice(cut, None)):
        growing.add(left[part], right[part], None if thresholds is None else weights[part])
    for name, column in growing.labels().items():
        np.testing.assert_array_equal(column, table[name])
    ids = clusters_of([pair[:2] for pair in pairs])[0]
    assert table["node"].tolist() == ids
    several = isinstance(thresholds, list)
    for threshold in thresholds if several else [thresholds]:
        kept = [pair[:2] for pair in pairs if threshold is None or pair[2] >= threshold]
        _, clusters, sizes = table_of(kept, ids)
        suffix = f"_{threshold}" if several else ""
        assert table[f"cluster{suffix}"].tolist() == clusters
        assert table[f"size{suffix}"].tolist() == sizes


STAMP = pd.Timestamp("2020-02-29 12:00")
US = dt.timedelta(microseconds=1)
# Ids of one kind each, close to one another: what merges two of them loses something.
OBJECTS = {
    "text": ["a", "a\0", "", "\0", "a\0b", "é", "é\0", "1", "a" * 5000],
    "bytes": [b"a", b"a\0", b"", b"\0", b"\0\0", b"\xff", np.bytes_(b"b"), b"a" * 5000],
    "integer": [0, 1, -1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), np.int8(7), np.uint8(200)],
    "large": [0, 1, 2**63 - 1, 2**63, 2**64 - 1, np.uint64(2**64 - 2)],
    "float": [0.0, -0.0, 0.1, np.nextafter(0.1, 1), np.inf, 1e-320, np.float32(0.1)],
    "boolean": [True, False, np.True_],
    "decimal": [Decimal("0.1"), Decimal("0.10"), Decimal("0.1000000000000001"), Decimal(-1)],
    "UUID": [uuid.UUID(int=k) for k in (0, 1, 1 << 64, 2**128 - 1)],
    "date": [dt.date.min, dt.date.max, dt.date(2020, 2, 29)],
    "time": [dt.time(), dt.time(0, 0, 0, 1), dt.time.max],
    "datetime": [STAMP, STAMP + pd.Timedelta(1, "ns"), STAMP.to_pydatetime() + US],
    "of a zone": [(STAMP + pd.Timedelta(k, "ns")).tz_localize("UTC") for k in (0, 1, 1000)],
    "duration": [pd.Timedelta(1, "ns"), dt.timedelta(), US, -US, np.timedelta64(1, "h")],
    "picoseconds": [np.datetime64(k, "ps") for k in range(3)],
}


def _array_of_objects(values):
    made = np.empty(len(values), object)
    made[:] = values
    return made


CONTAINERS = [
    list,
    _array_of_objects,
    lambda values: np.ma.MaskedArray(_array_of_objects(values)),
    deque,
    UserList,
    lambda values: pd.Series(values, dtype=object),
    lambda values: pd.Index(values, dtype=object),
]

MEET = {"integer", "large", "float"}, {"integer", "large", "decimal"}, {"datetime", "picoseconds"}


def ids_of_objects(choices):
    """Compare clusters of Python objects with a dictionary's; what it must not merge is refused."""
    kind = choices.pick(list(OBJECTS))
    other = choices.pick([kind, kind, kind, *OBJECTS])
    pool = [(name, value) for name in {kind: 0, other: 0} for value in OBJECTS[name]]
    rng = choices.generator()
    rows = 1 + choices.below(20)
    drawn = [[pool[k] for k in rng.integers(0, len(pool), rows)] for _ in range(2)]
    drawn.append([pool[k] for k in rng.permutation(len(pool))[: choices.below(4)]])
    kinds = {name for side in drawn for name, _ in side}
    left, right, nodes = ([value for _, value in side] for side in drawn)
    try:
        table = _clusters_of_objects(choices, left, right, nodes)
    except (TypeError, ValueError) as error:
        told = str(error)
        # A column may be of integers alone, beside one that has them among floats or decimals.
        apart = len({type(value) for value in left + right + nodes}) > 1 and (
            "there are ids of" in told or "cannot be compared; cast" in told
        )
        no_type = "picoseconds" in kinds and "have no type in Arrow" in told
        if len(kinds) > 1 or apart or no_type:
            return
        raise AssertionError(told) from error
    if len(kinds) > 1 and not any(kinds <= numbers for numbers in MEET):
        raise AssertionError(f"ids of {kinds} were not refused")
    plain = (map(_as_python, side) for side in (left, right))
    ids, cluster, size = table_of(list(zip(*plain, strict=True)), list(map(_as_python, nodes)))
    found = [_as_python(node) for node in table["node"]]
    assert len(found) == len(ids), "ids are merged"
    assert all(node == wanted for node, wanted in zip(found, ids, strict=True))
    assert list(map(int, table["cluster"])) == cluster
    assert list(map(int, table["size"])) == size


def _clusters_of_objects(choices, left, right, nodes):
    """Return the clusters, by any function and from any containers."""
    way, cut = choices.below(4), choices.below(len(left) + 1)
    make = [choices.pick(CONTAINERS) for _ in range(3)]
    if way == 1:
        growing = conncomp.ClusterPairs()
        growing.add_nodes(make[2](nodes))
        for part in (slice(cut), slice(cut, None)):
            growing.add(make[0](left[part]), make[1](right[part]))
        return growing.labels()
    sides = make[0](left), make[1](right)
    if way == 2:
        return conncomp.cluster_pairs(dict(zip("lr", sides, strict=True)), "l", "r", nodes=nodes)
    if way == 3:
        ones = [1] * len(left)
        several = ((side, ones) for side in sides)
        table = conncomp.cluster_pairs(*several, nodes=(nodes, [1] * len(nodes)))
        return {"node": table["node_0"], "cluster": table["cluster"], "size": table["size"]}
    return conncomp.cluster_pairs(*sides, nodes=make[2](nodes))


def _as_python(node):
    """Return an id of a result as Python compares it with those that went in."""
    node = node.as_py() if hasattr(node, "as_py") else node
    if not isinstance(node, np.generic) or (unit := np.dtype(node.dtype).str[-3:-1]) == "ps":
        return node
    whole = {"M": pd.Timestamp, "m": pd.Timedelta}.get(node.dtype.kind)
    return whole(node) if whole is not None and unit != "[D" else node.item()


def quality_of_clusters(choices):
    """Compare what is said of clusters with NetworkX."""
    left, right, weights = _drawn(choices)
    threshold = choices.pick([None, 3])
    table = conncomp.cluster_pairs(left, right)
    quality = conncomp.cluster_quality(table, left, right, weights=weights, threshold=threshold)
    graph = nx.Graph()
    graph.add_nodes_from(table["node"].tolist())
    for u, v, weight in zip(left.tolist(), right.tolist(), weights.tolist(), strict=True):
        if u != v and (threshold is None or weight >= threshold):
            heaviest = max(weight, graph.get_edge_data(u, v, {"weight": weight})["weight"])
            graph.add_edge(u, v, weight=heaviest)
    for k, cluster in enumerate(quality["cluster"].tolist()):
        part = graph.subgraph(table["node"][table["cluster"] == cluster].tolist())
        tree = nx.maximum_spanning_tree(part)
        lightest = min((weight for *_, weight in tree.edges(data="weight")), default=np.nan)
        sides = [_smaller_side(part, u, v) for u, v in nx.bridges(part)]
        expected = {
            "size": len(part),
            "pairs": part.number_of_edges(),
            "density": nx.density(part) if len(part) > 1 else 1,
            "bridges": len(sides),
            "cut_off": max(sides, default=0),
            "weakest": lightest,
        }
        for name, value in expected.items():
            np.testing.assert_allclose(quality[name][k], value, err_msg=name)


def _smaller_side(graph, u, v):
    without = nx.Graph(graph.edges)
    without.remove_edge(u, v)
    return min(len(nx.node_connected_component(without, end)) for end in (u, v))


def duplicates(choices):
    """Compare the documents that datatrove's filter keeps with the clusters of their pairs."""
    rng = choices.generator()
    documents = choices.pick([9, 2, 100])
    words = rng.integers(0, documents, (choices.pick([documents, 0, 3]), 4)).astype("<u4")
    words[:, [0, 2]] %= 3
    with tempfile.TemporaryDirectory(prefix="conncomp-fuzz-") as folder:
        cut = choices.below(len(words) + 1)
        for name, part in (("0.dups", words[:cut]), ("1.dups", words[cut:])):
            part.tofile(Path(folder, name))
        counts = conncomp.cluster_dups(folder, folder, save_cluster_size=True)
        removed, sizes = (_written(Path(folder), kind) for kind in ("remove", "sizes"))
    pairs = [((a, b), (c, d)) for a, b, c, d in words.tolist()]
    ids, roots = clusters_of(pairs)
    counted = {node: roots.count(root) for node, root in zip(ids, roots, strict=True)}
    assert sizes == sorted((file, document, size) for (file, document), size in counted.items())
    kept = [root for node, root in zip(ids, roots, strict=True) if node not in set(removed)]
    assert sorted(kept) == sorted(set(roots)), "one of each cluster stays"
    clusters = len(set(roots))
    assert counts == {
        "duplicates": len(ids),
        "to_remove": len(ids) - clusters,
        "clusters": clusters,
    }


def _written(folder, kind):
    """Return what files of a kind have, with the numbers of the files ahead."""
    width = 1 if kind == "remove" else 2
    found = []
    for path in sorted(folder.glob(f"*.{kind}")):
        rows = np.fromfile(path, "<u4").reshape(-1, width).tolist()
        found += [(int(path.stem), *row) for row in rows]
    return found
