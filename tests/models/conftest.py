import pytest

from conncomp.models.cahn_hilliard import cuda as cahn_hilliard_engine
from conncomp.models.kawasaki import cuda as kawasaki_engine
from conncomp.models.observables import cuda as structure_engine
from conncomp.models.potts import cuda as potts_engine
from conncomp.models.spin_glass import cuda as glass_engine
from conncomp.models.spins import cuda as spins_engine
from host_cuda.host_gpu import AVAILABLE, HostGpu

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
    if not AVAILABLE:
        pytest.skip("there is neither a GPU nor what the host executor needs")
    gpu = HostGpu()
    engines = (
        potts_engine,
        cahn_hilliard_engine,
        kawasaki_engine,
        glass_engine,
        spins_engine,
        structure_engine,
    )
    for engine in engines:
        monkeypatch.setattr(engine, "current_gpu", lambda: gpu)
    # So that tests have lattices on either side: clusters by sites, and by bricks of them.
    monkeypatch.setattr(potts_engine, "MOST_OF_MULTIPROCESSOR", 150)
