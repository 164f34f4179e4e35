"""What first calls compile at once: all that is loaded ahead is launched later."""

import numpy as np
import pytest

from conncomp import Graph
from conncomp._algorithms import Task
from conncomp.graph.algorithms import ALGORITHMS, STRONG_ALGORITHMS
from conncomp.kernels.cuda.graph import boruvka
from conncomp.kernels.cuda.models import words
from conncomp.kernels.cuda.workspace import Workspace
from conncomp.models import Potts, base
from host_cuda.host_gpu import HostGpu


class NotingGpu(HostGpu):
    """One that notes what is compiled by threads, and what is loaded when."""

    def __init__(self):
        super().__init__()
        self.ahead, self.loaded = [], []

    def loading(self, groups):
        self.ahead += groups
        return super().loading(groups)

    def load_at_once(self, groups):
        self.ahead += groups
        super().load_at_once(groups)

    def load(self, file, names, shared_percent=None):
        self.loaded.append((file, names))
        return super().load(file, names, shared_percent)

    def names(self, groups):
        return {name.partition("<")[0] for _, names in groups for name in names}


def graph_of(form, symmetric=False):
    """Return a path of 100 vertices."""
    path = np.arange(100, dtype=np.int32)
    ends = path[:-1], path[1:]
    if form == "list":
        return Graph.from_edges(*ends, len(path))
    if not symmetric:
        indptr = np.minimum(np.arange(len(path) + 1, dtype=np.int32), len(path) - 1)
        return Graph.from_csr(indptr, ends[1])
    indptr = np.concatenate([[0], np.arange(1, 2 * len(path) - 2, 2), [2 * len(path) - 2]])
    indices = np.stack([path - 1, path + 1], 1).ravel()[1:-1]
    csr = indptr.astype(np.int32), indices
    return Graph._of_checked(len(path), csr=csr, symmetric=True)


@pytest.mark.parametrize("form", ["rows", "list"])
@pytest.mark.parametrize("table", [ALGORITHMS, STRONG_ALGORITHMS], ids=["weak", "strong"])
@pytest.mark.parametrize("consecutive", [False, True])
def test_graphs(table, form, consecutive):
    gpu, graph = NotingGpu(), graph_of(form)
    labels = np.empty(graph.num_vertices, np.int32)
    table["cuda"]["auto"].fill(graph._parts, Task(gpu, labels, Workspace(), consecutive))
    wanted = {"strong_components"} if table is STRONG_ALGORITHMS else set()
    wanted |= {"mark_roots", "number_few_labels"} if consecutive else set()
    assert gpu.names(gpu.ahead) == wanted
    assert set(gpu.ahead) <= set(gpu.loaded)


def test_what_comes_before_strong_components_is_one_module():
    gpu, graph = NotingGpu(), graph_of("rows")
    labels = np.empty(graph.num_vertices, np.int32)
    STRONG_ALGORITHMS["cuda"]["auto"].fill(graph._parts, Task(gpu, labels, Workspace(), False))
    (module,) = (names for _, names in gpu.loaded if len(names) == 2)
    assert [name.partition("<")[0] for name in module] == ["choose_pivot", "list_sources"]


@pytest.mark.parametrize("symmetric", [False, True])
def test_forests(symmetric):
    gpu, graph = NotingGpu(), graph_of("rows", symmetric)
    arcs = boruvka.forest_arcs(gpu, graph._parts, None, Workspace())
    assert len(arcs) == graph.num_vertices - 1
    assert ("list_edges_of_hubs" in gpu.names(gpu.ahead)) == symmetric
    assert set(gpu.ahead) <= set(gpu.loaded)


@pytest.mark.parametrize(
    ("shape", "wanted"),
    [((16, 16), set()), ((128, 64), {"toss_coins", "label_rows", "join_rows", "flip_rows"})],
)
@pytest.mark.parametrize("clusters", [False, True])
def test_potts(shape, wanted, clusters, monkeypatch):
    gpu = NotingGpu()
    monkeypatch.setattr(base, "current_gpu", lambda: gpu)
    monkeypatch.setattr(words, "MOST_OF_MULTIPROCESSOR", 150)
    model = Potts(shape, q=2, beta="critical", seed=1, device="cuda")
    model.swendsen_wang(clusters=clusters)
    if clusters and wanted:
        wanted = {"link_words", "measure_tiles", "flip_bricks"}
    assert wanted <= gpu.names(gpu.ahead)
    assert set(gpu.ahead) <= set(gpu.loaded)
