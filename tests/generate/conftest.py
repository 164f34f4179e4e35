import pytest

from conncomp.graph import Graph
from conncomp.kernels.cuda import launcher
from stand_in import CuPy


@pytest.fixture
def cupy(monkeypatch):
    """Let device="cuda" work on a stand-in for CuPy, by the code for CuPy's arrays."""

    def from_edges(src, dst, num_vertices):
        return Graph(num_vertices, arcs=(src.get(), dst.get()))

    def from_csr(indptr, indices):
        return Graph(len(indptr) - 1, csr=(indptr.get(), indices.get()))

    stand_in = CuPy()
    monkeypatch.setattr(launcher, "import_cupy", lambda: stand_in)
    monkeypatch.setattr(Graph, "from_edges", from_edges)
    monkeypatch.setattr(Graph, "from_csr", from_csr)
    return stand_in
