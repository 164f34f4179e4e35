import pytest

from conncomp.graph import Graph
from conncomp.kernels.cuda import launcher
from stand_in import CuPy


@pytest.fixture(params=["stand-in", pytest.param("GPU", marks=pytest.mark.gpu)])
def cupy(request, monkeypatch):
    """CuPy on a GPU, or a stand-in by which device="cuda" works, by the code for CuPy's arrays."""
    if request.param == "GPU":
        return launcher.import_cupy()

    def from_edges(src, dst, num_vertices):
        return Graph(num_vertices, arcs=(src.get(), dst.get()))

    def from_csr(indptr, indices):
        return Graph(len(indptr) - 1, csr=(indptr.get(), indices.get()))

    stand_in = CuPy()
    monkeypatch.setattr(launcher, "import_cupy", lambda: stand_in)
    monkeypatch.setattr(Graph, "from_edges", from_edges)
    monkeypatch.setattr(Graph, "from_csr", from_csr)
    return stand_in
