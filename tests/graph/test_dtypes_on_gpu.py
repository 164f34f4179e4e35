"""Labels of vertices of every dtype from a GPU: those of the CPU."""

import numpy as np
import pytest

from conncomp import Graph, connected_components
from host_cupy import HOST_AND_GPU, cupy_of

GRAPH = Graph.from_edges([4, 1, 3], [3, 4, 1], num_vertices=120)
DTYPES = [f"{sign}{size}" for sign in "iu" for size in (1, 2, 4, 8)]


@pytest.fixture(params=HOST_AND_GPU)
def cupy(request, monkeypatch):
    return cupy_of(request.param, monkeypatch)


@pytest.mark.parametrize("dtype", [*DTYPES, "smallest"])
@pytest.mark.parametrize("numbering", ["consecutive", "roots"])
def test_dtypes(cupy, dtype, numbering):
    expected = connected_components(GRAPH, numbering=numbering, dtype=dtype)[1]
    placed = GRAPH.to("cuda")
    count, labels = connected_components(placed, numbering=numbering, dtype=dtype)
    assert int(count) == 118
    np.testing.assert_array_equal(labels.get(), expected, strict=True)
    out = cupy.asarray(np.full_like(expected, 77))
    assert connected_components(placed, numbering=numbering, out=out)[1] is out
    np.testing.assert_array_equal(out.get(), expected)
    moved = connected_components(GRAPH, numbering=numbering, dtype=dtype, device="cuda")[1]
    np.testing.assert_array_equal(moved, expected, strict=True)


@pytest.mark.usefixtures("cupy")
def test_dtypes_that_are_too_small():
    graph = Graph.from_edges([], [], 300).to("cuda")
    with pytest.raises(ValueError, match="dtype is int8, too small for labels up to 299; use uint"):
        connected_components(graph, dtype="i1")
