"""Targets for tables of pairs: clusters, their quality, and datatrove's files."""

import tempfile
from pathlib import Path

import networkx as nx
import numpy as np

import conncomp

from ..pairs_reference import clusters_of, table_of
from . import draws
from .choices import Choices

DTYPES = [np.int64, np.int8, np.uint16, np.uint64, ">i4", np.float64, "U"]
WEIGHTS = [np.float64, np.float32, np.float16, np.int32]


def _drawn(choices):
    """Return ids on the left and on the right, and weights."""
    conncomp.set_num_threads(1 + choices.below(4))
    ids = choices.pick([9, 2, 1, 100])
    rows = choices.pick([ids, 0, 1, 3 * ids])
    rng, dtype = choices.generator(), choices.pick(DTYPES)
    left, right = rng.integers(0, ids, (2, rows)).astype(dtype)
    weights = rng.integers(0, 9, rows).astype(choices.pick(WEIGHTS))
    return *(draws.vector(choices, ends) for ends in (left, right)), weights


def clusters_of_pairs(data):
    """Compare tables of clusters, at once and by batches, with a dictionary's."""
    choices = Choices(data)
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


def quality_of_clusters(data):
    """Compare what is said of clusters with NetworkX."""
    choices = Choices(data)
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


def duplicates(data):
    """Compare the documents that datatrove's filter keeps with the clusters of their pairs."""
    choices = Choices(data)
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
