"""`connected_components` on real graphs, which lie beside the repository where they are at all."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph

from conncomp import Graph, connected_components

DATA = Path(__file__).parents[2].parent / "shared" / "data"


def existing(name):
    path = DATA / name
    if not path.exists():
        pytest.skip(f"{name} is not in ../shared/data")
    return path


def test_wikipedia_votes():
    with gzip.open(existing("wiki-Vote.txt.gz"), "rt") as file:
        src, dst = np.loadtxt(file, dtype=np.int64).T
    graph = Graph.from_edges(src, dst, 8298)
    assert graph.num_arcs == 103_689
    assert not graph.is_symmetric()
    assert connected_components(graph, return_labels=False) == 1207
    ids, ends = np.unique([src, dst], return_inverse=True)
    compact = Graph.from_edges(*ends.reshape(2, -1))
    assert compact.num_vertices == len(ids) == 7115
    assert connected_components(compact, return_labels=False) == 24
    assert connected_components(compact, connection="strong", return_labels=False) == 5816


@pytest.mark.parametrize(
    ("name", "num_vertices", "num_edges", "components"),
    [
        ("wing.graph", 62_032, 121_544, 1),
        ("power.graph", 4_941, 6_594, 1),
        ("PGPgiantcompo.graph", 10_680, 24_316, 1),
        ("hep-th.graph", 8_361, 15_751, 1332),
    ],
)
def test_metis_graphs(name, num_vertices, num_edges, components):
    lines = existing(name).read_text().splitlines()
    neighbours = [[int(w) - 1 for w in line.split()] for line in lines[1 : num_vertices + 1]]
    indptr = np.cumsum([0, *map(len, neighbours)])
    graph = Graph.from_csr(indptr, np.concatenate(neighbours).astype(np.int32))
    assert (graph.num_vertices, graph.num_arcs) == (num_vertices, 2 * num_edges)
    assert graph.is_symmetric()
    count, labels = connected_components(graph)
    assert count == components
    matrix = sparse.csr_array((np.ones(2 * num_edges), graph.indices, graph.indptr))
    np.testing.assert_array_equal(labels, csgraph.connected_components(matrix)[1])
