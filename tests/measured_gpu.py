"""Fixtures of all that measures: a GPU that is not there, little memory, threads as they were."""

from types import SimpleNamespace

import pytest

import conncomp
from conncomp._config import working_threads
from conncomp.bench import devices
from conncomp.bench.peers import TABLES
from fake_gpu import FakeGpu

__all__ = ["_same_threads", "_small_cache", "gpu"]


@pytest.fixture(autouse=True)
def _same_threads():
    with working_threads(conncomp.get_num_threads()):
        yield


@pytest.fixture(autouse=True)
def _small_cache(monkeypatch):
    """Measure the copy rate on little memory."""
    monkeypatch.setattr(devices, "_last_level_cache", lambda: 1 << 20)


@pytest.fixture
def gpu(monkeypatch):
    """Let conncomp work on a GPU that is not there, by the algorithms "auto" and "plain"."""
    fake = FakeGpu(conncomp.connected_components, conncomp.label)
    for module in ("kernels.cuda.launcher", "_arrays"):
        monkeypatch.setattr(f"conncomp.{module}.import_cupy", lambda: fake)
    monkeypatch.setattr("conncomp.graph.inputs.parts.current_gpu", lambda: SimpleNamespace(xp=fake))
    checked = SimpleNamespace(symmetric=True, wrong=False)  # by a kernel
    monkeypatch.setattr("conncomp.graph.inputs.parts.check_rows", lambda *rows: checked)
    monkeypatch.setattr(devices, "WARM_UP", 0)
    monkeypatch.setattr(devices, "COPY_BYTES", 1 << 20)

    def move(graph, device):
        return fake.move_graph(graph, device)

    monkeypatch.setattr(conncomp.Graph, "to", move)
    monkeypatch.setattr(conncomp, "connected_components", fake.connected_components)
    monkeypatch.setattr(conncomp, "label", fake.label)
    for kind, table in TABLES.items():
        known = TABLES["grid" if kind == "grid" else "graph"]["cuda"]["auto"]
        monkeypatch.setitem(table, "cuda", dict.fromkeys(("auto", "plain"), known))
    return fake
