"""The algorithms on a GPU on very many graphs, and on one of more arcs than int32 counts."""

from math import gcd

import numpy as np
import pytest
from scipy.sparse import coo_array, csgraph

from conncomp import Graph, Workspace, connected_components
from conncomp._algorithms import Task
from conncomp.graph.algorithms import ALGORITHMS
from host_cuda.host_gpu import HostGpu

ON_GPU = ALGORITHMS["cuda"]
FAST = ("auto", "ecl", "soman")


class Batch:
    """Random graphs beside each other, as one graph, whose components SciPy finds at once."""

    def __init__(self, xp, generator, count, most_vertices):
        sizes = generator.integers(1, most_vertices, count, endpoint=True)
        arcs = generator.integers(0, 3 * sizes, endpoint=True)
        self.vertices, self.arcs = (np.append(0, np.cumsum(part)) for part in (sizes, arcs))
        owner = np.repeat(np.arange(count), arcs)
        ends = self.vertices[owner] + generator.integers(0, sizes[owner], (2, len(owner)))
        self.total = int(self.vertices[-1])
        matrix = coo_array((np.ones(len(owner)), tuple(ends)), shape=(self.total, self.total))
        _, labels = csgraph.connected_components(matrix, directed=False)
        smallest = np.unique(labels, return_index=True)[1]
        before = np.repeat(self.vertices[:-1], sizes)
        self.right = {"consecutive": labels - labels[before], "roots": smallest[labels] - before}
        first = self.vertices[owner]
        local_ends = np.stack([ends - first, ends[::-1] - first])
        self.list = tuple(xp.asarray(part) for part in local_ends[0].astype(np.int32))
        self.rows = []
        for both_ends in (False, True):
            src = np.append(ends[0], ends[1]) if both_ends else ends[0]
            dst = np.append(local_ends[0, 1], local_ends[1, 1]) if both_ends else local_ends[0, 1]
            order = np.argsort(src, kind="stable")
            indptr = np.searchsorted(src[order], np.arange(self.total + 1)).astype(np.int32)
            rows = indptr, dst[order].astype(np.int32)
            self.rows.append(tuple(xp.asarray(part) for part in rows))

    def parts(self):
        """Yield for each graph where its vertices are, and the graph in one of three forms."""
        for number in range(len(self.arcs) - 1):
            span = slice(*map(int, self.vertices[number : number + 2]))
            low, high = map(int, self.arcs[number : number + 2])
            form, n = number % 3, span.stop - span.start
            if form == 2:
                arcs = self.list[0][low:high], self.list[1][low:high]
                yield span, Graph._of_checked(n, arcs=arcs, library="cupy")
            else:
                indptr, indices = self.rows[form]
                low, high = low << form, high << form
                csr = indptr[span.start : span.stop + 1] - low, indices[low:high]
                yield span, Graph._of_checked(n, csr=csr, symmetric=form == 1, library="cupy")


def soak(xp, fill, algorithms, count, most_vertices, batches):
    """Call ``fill(algorithm, graph, labels, numbering)`` on `count` graphs for each algorithm."""
    generator = np.random.default_rng(0)
    for number in range(batches):
        batch = Batch(xp, generator, count // batches, most_vertices)
        numbering = ("roots", "consecutive")[number % 2]
        for algorithm in algorithms:
            labels = xp.full(batch.total, -7, np.int32)
            for span, graph in batch.parts():
                fill(algorithm, graph, labels[span], numbering)
            result = labels if xp is np else labels.get()
            np.testing.assert_array_equal(result, batch.right[numbering], algorithm)


def test_a_few_random_graphs():
    gpu, workspace = HostGpu(), Workspace()

    def fill(algorithm, graph, labels, numbering):
        consecutive = numbering == "consecutive"
        ON_GPU[algorithm].fill(graph._parts, Task(gpu, labels, workspace, consecutive, False))

    soak(np, fill, FAST, 60, 50, 2)


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("algorithms", "count"), [(FAST, 10_000), (sorted({*ON_GPU} - {*FAST}), 300)], ids=str
)
def test_many_random_graphs(cupy, algorithms, count):
    workspace = Workspace()

    def fill(algorithm, graph, labels, numbering):
        options = {"numbering": numbering, "out": labels, "workspace": workspace}
        connected_components(graph, algorithm=algorithm, **options)

    soak(cupy, fill, algorithms, count, 3000, count // 100)


def circulant(xp, n, alone, stride, reach):
    """Return rows that join v to ``v + stride * k`` modulo n for 0 < |k| <= reach, and its roots.

    There are as many components as the greatest common divisor of n and `stride` says, and `alone`
    vertices more.
    """
    degree = 2 * reach
    indices = xp.empty(n * degree, np.int32)
    steps = [stride * k for k in range(-reach, reach + 1) if k]
    steps = xp.asarray(np.array(steps, np.int64))
    for start in range(0, n, 1 << 20):
        v = xp.arange(start, min(start + (1 << 20), n), dtype=np.int64)
        targets = (v[:, None] + steps) % n
        indices[start * degree : (start + len(v)) * degree] = targets.reshape(-1)
    indptr = xp.minimum(xp.arange(n + alone + 1, dtype=np.int64), n) * degree
    roots = xp.arange(n + alone, dtype=np.int32)
    roots[:n] %= gcd(n, stride)
    return indptr, indices, roots


@pytest.mark.parametrize("stride", [6, 6 * 5])
def test_circulant(stride):
    indptr, indices, roots = circulant(np, 6 * 77, 5, stride, 3)
    assert (len(indptr), len(indices)) == (6 * 77 + 6, 6 * 77 * 6)
    graph = Graph.from_csr(indptr, indices)
    assert graph.is_symmetric()
    result = connected_components(graph, numbering="roots")[1]
    np.testing.assert_array_equal(result, roots)


MANY_ARCS = 2**31 + 1000
REACH = 12
RINGS, RING = 307, 223 * 1307
ALONE = 1000
assert 2 * REACH * RINGS * RING == MANY_ARCS


@pytest.fixture(scope="module", params=["near", "far"])
def many_arcs(request):
    """A graph of that many arcs on the GPU, with its roots; neighbours are near or far."""
    import cupy

    pool = cupy.get_default_memory_pool()
    pool.free_all_blocks()
    n = RINGS * RING
    needed = 8 * MANY_ARCS + 32 * n + (1 << 30)  # the graph keeps a copy
    free = cupy.cuda.runtime.memGetInfo()[0]
    if free < needed:
        pytest.skip(f"needs {needed:,} bytes of GPU memory, and {free:,} are free")
    stride = RINGS * (1 if request.param == "near" else 100_003)
    indptr, indices, roots = circulant(cupy, n, ALONE, stride, REACH)
    yield Graph.from_csr(indptr, indices), roots
    del indptr, indices, roots
    pool.free_all_blocks()


@pytest.mark.gpu
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("algorithm", ["auto", "ecl"])
def test_more_arcs_than_int32_counts(cupy, many_arcs, algorithm, known):
    graph, right = many_arcs
    assert graph.is_symmetric()
    assert graph.num_arcs == MANY_ARCS
    if not known:
        graph = Graph._of_checked(graph.num_vertices, csr=graph._parts.csr, library="cupy")
    out = cupy.full(graph.num_vertices, -7, np.int32)
    workspace = Workspace()
    pool = cupy.get_default_memory_pool()
    pool.free_all_blocks()
    before = pool.total_bytes()
    count, labels = connected_components(
        graph, algorithm=algorithm, numbering="roots", out=out, workspace=workspace
    )
    assert labels is out
    assert int(count) == RINGS + ALONE
    # What the pool has got from CUDA is what was held at once, at the most.
    extra = pool.total_bytes() - before
    allowed = 4 * graph.num_vertices + (64 << 20)
    assert 0 < workspace.nbytes <= extra <= allowed
    assert bool((out == right).all())
