"""Labels of vertices of every dtype from a GPU: those of the CPU."""

import numpy as np
import pytest

from conncomp import Graph, _arrays, connected_components
from conncomp.graph import graph as graph_module
from conncomp.graph import labelling, repeated
from host_cuda.host_gpu import AVAILABLE
from host_cupy import place_on_host

host = pytest.mark.skipif(not AVAILABLE, reason="needs Linux and a C++ compiler")

GRAPH = Graph.from_edges([4, 1, 3], [3, 4, 1], num_vertices=120)
DTYPES = [f"{sign}{size}" for sign in "iu" for size in (1, 2, 4, 8)]


@pytest.fixture
def cupy(monkeypatch):
    return place_on_host(monkeypatch, _arrays, [labelling, graph_module, repeated])


def check(cupy, dtype, numbering):
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


def check_too_small():
    graph = Graph.from_edges([], [], 300).to("cuda")
    with pytest.raises(ValueError, match="dtype is int8, too small for labels up to 299; use uint"):
        connected_components(graph, dtype="i1")


NUMBERINGS = ["consecutive", "roots"]


@host
@pytest.mark.parametrize("dtype", [*DTYPES, "smallest"])
@pytest.mark.parametrize("numbering", NUMBERINGS)
def test_dtypes(cupy, dtype, numbering):
    check(cupy, dtype, numbering)


@host
@pytest.mark.usefixtures("cupy")
def test_dtypes_that_are_too_small():
    check_too_small()


@pytest.mark.gpu
class TestOnGpu:
    """The same, on a GPU."""

    @pytest.mark.parametrize("dtype", [*DTYPES, "smallest"])
    @pytest.mark.parametrize("numbering", NUMBERINGS)
    def test_dtypes(self, dtype, numbering):
        check(pytest.importorskip("cupy"), dtype, numbering)

    def test_dtypes_that_are_too_small(self):
        check_too_small()
