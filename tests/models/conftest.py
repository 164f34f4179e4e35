import pytest

from conncomp.kernels.cuda.models import words
from conncomp.models import base
from host_cuda.host_gpu import HostGpu

try:
    import cupy

    HAS_GPU = cupy.cuda.runtime.getDeviceCount() > 0
except Exception:
    HAS_GPU = False


@pytest.fixture(autouse=True)
def gpu_without_gpu(request, monkeypatch):
    """Let the host executor take the place of a GPU where there is none."""
    parameters = getattr(request.node, "callspec", None)
    if HAS_GPU or parameters is None or parameters.params.get("device") != "cuda":
        return
    gpu = HostGpu()
    monkeypatch.setattr(base, "current_gpu", lambda: gpu)
    # So that tests have lattices on either side: clusters by sites, and by bricks of them.
    monkeypatch.setattr(words, "MOST_OF_MULTIPROCESSOR", 150)
