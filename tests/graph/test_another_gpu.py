"""Graphs and matrices on a GPU that is not the current one."""

from types import SimpleNamespace

import numpy as np
import pytest

from conncomp import Graph, _array_storage, minimum_spanning_forest, spanning_forest
from conncomp.graph.inputs.conversions import as_arcs_or_rows
from host_cupy import place_elsewhere

MATRIX = np.array([[0, 5, 1, 0], [5, 0, 2, 0], [1, 2, 0, 0], [0, 0, 0, 0]], np.float32)

cupy = pytest.fixture(place_elsewhere)


def test_dense_matrices(cupy):
    arcs = spanning_forest(cupy.asarray(MATRIX))
    np.testing.assert_array_equal(arcs.get(), spanning_forest(MATRIX))
    arcs = minimum_spanning_forest(cupy.asarray(MATRIX))
    np.testing.assert_array_equal(arcs.get(), minimum_spanning_forest(MATRIX))


@pytest.mark.parametrize("form", ["arcs", "csr"])
def test_copies_of_arrays(cupy, form):
    graph = Graph.from_edges([2, 0, 1], [0, 1, 2])
    placed = (
        Graph.from_edges(*map(cupy.asarray, graph.arrays))
        if form == "arcs"
        else Graph.from_csr(*map(cupy.asarray, (graph.indptr, graph.indices)))
    )
    if form == "csr":
        np.testing.assert_array_equal(placed.indptr.get(), graph.indptr)
        np.testing.assert_array_equal(placed.indices.get(), graph.indices)
    for array, kept in zip(placed.arrays, placed._parts.arrays, strict=True):
        np.testing.assert_array_equal(array.get(), kept.get())


def test_moves_wait_for_the_other_gpu(cupy, monkeypatch):
    """A copy by strips is ordered with kernels of the GPU that is current."""
    placed = Graph.from_edges(cupy.asarray(np.arange(900)), cupy.asarray(np.arange(900) + 1))

    def download(_, array, out):
        assert cupy.cuda.runtime.getDevice() == 1
        array.get(out=out)

    monkeypatch.setattr(_array_storage, "FEW_BYTES", 10)
    monkeypatch.setattr(_array_storage, "download", download)
    np.testing.assert_array_equal(
        _array_storage.move_from_gpu(placed._parts.arrays[0]), np.arange(900)
    )
    np.testing.assert_array_equal(placed.to("cpu").arrays[1], np.arange(900) + 1)


def test_sparse_matrices_are_converted_there(cupy):
    class Columns:
        format, data = "csc", cupy.asarray(np.ones(3))

        def tocoo(self):
            return SimpleNamespace(format="coo", made_on=cupy.cuda.runtime.getDevice())

    Columns.__module__ = "cupyx.scipy.sparse"
    assert as_arcs_or_rows(Columns()).made_on == 1
