"""Components of graphs that grow, after every batch against SciPy: CPU, host executor and GPU."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import conncomp
from conncomp import Graph, IncrementalComponents, Workspace
from conncomp.graph import growing
from conncomp.kernels.cuda.graph import incremental as driver
from dealt import examples
from hard_graphs import HARD_GRAPHS, shuffled
from host_cuda.host_gpu import HostGpu
from host_cupy import place_on_host
from interrupts import interrupted_after
from reference import consecutive

DEVICES = ["cpu", "host", pytest.param("cuda", marks=pytest.mark.gpu)]
ON_GPU = DEVICES[1:]


class Place:
    """Where components are kept: how arrays get there and back."""

    def __init__(self, device, xp=np):
        self.device, self._xp = device, xp

    def put(self, values, dtype=None):
        array = np.asarray(values, dtype)
        return array if self.device == "cpu" else self._xp.asarray(array)

    def get(self, array):
        return array if self.device == "cpu" else array.get()

    def components(self, n, **options):
        return IncrementalComponents(n, device=self.device, **options)


@pytest.fixture
def place(request, monkeypatch):
    if request.param == "cpu":
        return Place("cpu")
    if request.param == "cuda":
        return Place("cuda", pytest.importorskip("cupy"))
    return Place("cuda", place_on_host(monkeypatch))


on_all = pytest.mark.parametrize("place", DEVICES, indirect=True)
on_gpus = pytest.mark.parametrize("place", ON_GPU, indirect=True)


def roots_by_scipy(n, src, dst):
    matrix = coo_array((np.ones(len(src), bool), (src, dst)), shape=(n, n))
    _, labels = connected_components(matrix, directed=False)
    return np.unique(labels, return_index=True)[1][labels] if n else np.zeros(0, int)


def random_batches(generator, n, batches, most):
    """Yield sources and targets: far, near, of one hub, or none; loops and duplicates too."""
    for _ in range(batches):
        size = int(generator.integers(0, most, endpoint=True)) if n else 0
        src = generator.integers(0, max(n, 1), size)
        kind = generator.integers(4)
        if kind == 0:
            dst = np.clip(src + generator.integers(-2, 3, size), 0, n - 1)
        elif kind == 1:
            dst = np.full(size, src[0] if size else 0)
        else:
            dst = generator.integers(0, max(n, 1), size)
        yield src, dst


def check_all(place, components, roots):
    """Compare all that can be asked with the roots."""
    n = len(roots)
    for numbering, right in ("roots", roots), ("consecutive", consecutive(roots, 0)):
        labels = place.get(components.labels(numbering))
        np.testing.assert_array_equal(labels, right)
        assert labels.dtype == components.dtype
    assert components.count == len(np.unique(roots))
    v = np.arange(n)
    np.testing.assert_array_equal(place.get(components.roots(place.put(v))), roots)
    u = v[::-1] // 2
    answer = place.get(components.connected(place.put(v), place.put(u)))
    np.testing.assert_array_equal(answer, roots[v] == roots[u], strict=True)


def check_growing(place, seed, most_vertices, batches, most, **options):
    generator = np.random.default_rng(seed)
    n = int(generator.integers(0, most_vertices, endpoint=True))
    components = place.components(n, **options)
    every = np.zeros((2, 0), int)
    vertex = generator.choice([np.int32, np.int64, np.uint16 if n <= 1 << 16 else np.uint32])
    for batch in random_batches(generator, n, batches, most):
        components.add_edges(*(place.put(ends, vertex) for ends in batch))
        every = np.append(every, np.stack(batch), 1)
        check_all(place, components, roots_by_scipy(n, *every))


@pytest.mark.parametrize("dtype", [None, np.int64])
def test_thousands_of_batches(dtype):
    for seed in range(examples(250)):
        conncomp.set_num_threads(1 + seed % 3)
        check_growing(Place("cpu"), seed, 60, 8, 30, dtype=dtype)


@pytest.mark.parametrize("threads", [1, 3])
def test_large_batches(threads):
    """Of several parts, and of int32 and int64."""
    conncomp.set_num_threads(threads)
    for seed in range(2):
        check_growing(Place("cpu"), seed, 400_000, 4, 400_000)


@on_gpus
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_batches_on_gpu(place, dtype):
    for seed in range(6):
        check_growing(place, seed, 500, 6, 700, dtype=dtype)


@pytest.mark.gpu
def test_soak_on_gpu():
    place = Place("cuda", pytest.importorskip("cupy"))
    for seed in range(300):
        check_growing(place, seed, 3000, 5, 5000)
    for seed in range(3):
        check_growing(place, seed, 10_000_000, 3, 10_000_000)


@on_all
@pytest.mark.parametrize("graph", HARD_GRAPHS)
def test_hard_graphs(place, graph):
    src, dst, n = HARD_GRAPHS[graph]
    roots = roots_by_scipy(n, src, dst)
    for pieces in (1, 3):
        components = place.components(n)
        for ends in zip(np.array_split(src, pieces), np.array_split(dst, pieces), strict=True):
            components.add_edges(*map(place.put, ends))
        check_all(place, components, roots)


@pytest.mark.parametrize("rounds", [1, driver.ROUNDS])
@pytest.mark.parametrize("vertex", [np.int32, np.int64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_interleavings(index, vertex, rounds, monkeypatch):
    """With few blocks, which go on in steps of the grid, and with many."""
    monkeypatch.setattr(driver, "ROUNDS", rounds)
    src, dst, n = shuffled([HARD_GRAPHS[name] for name in ("line", "star", "critical")], seed=1)
    src, dst = np.append(src, src[:3000]), np.append(dst, dst[:3000])
    right = roots_by_scipy(n, src, dst)
    for seed in range(12):
        gpu = HostGpu(seed=seed)
        forest, workspace = driver.GrowingForest(gpu, n, np.dtype(index)), Workspace()
        for part in np.array_split(np.arange(len(src)), 2):
            ends = (end[part].astype(vertex) for end in (src, dst))
            forest.unite(gpu, *ends, workspace)
        np.testing.assert_array_equal(follow(forest.parent), right)
        assert forest.components[0] == len(np.unique(right))
        assert not forest.refusal.any()
        answer = np.empty(n, bool)
        v = np.arange(n, dtype=vertex)
        forest.compare_roots(gpu, v, v[::-1].copy(), answer)
        np.testing.assert_array_equal(answer, right == right[::-1])
        roots = np.empty(n, index)
        forest.list_roots(gpu, v, roots)
        np.testing.assert_array_equal(roots, right)
        for label in (np.int32, np.int64):
            labels = np.empty(n, label)
            forest.copy_roots(gpu, labels)
            np.testing.assert_array_equal(labels, right)
        np.testing.assert_array_equal(forest.parent, right)


def test_edges_that_unite_connect_all():
    """Of all that see a union, in whatever order they come: `ClusterPairs` unites no others."""
    generator = np.random.default_rng(3)
    for seed in range(examples(300)):
        n = int(generator.integers(4, 60))
        src, dst = generator.integers(0, n, (2, 8 * n), np.int32)
        forest = driver.GrowingForest(gpu := HostGpu(seed=seed), n, np.dtype(np.int32))
        united = forest.unite(gpu, src, dst, Workspace())
        which = np.unpackbits(united.view(np.uint8), bitorder="little")[: len(src)] > 0
        right = roots_by_scipy(n, src, dst)
        np.testing.assert_array_equal(roots_by_scipy(n, src[which], dst[which]), right)
        assert which.sum() == n - len(np.unique(right))


def follow(parent):
    """Return the roots of a forest, which is left as it is."""
    roots = parent
    while (roots[roots] != roots).any():
        roots = roots[roots]
    return roots


def depth_of(parent):
    depth, above = 0, np.arange(len(parent))
    while (parent[above] != above).any():
        above, depth = parent[above], depth + 1
    return depth


@pytest.mark.parametrize("order", ["forwards", "backwards"])
def test_long_paths_are_not_left(order):
    """Where each edge of a path was hooked before any was seen, as all at once on a GPU."""
    n = 6000
    src = np.arange(n - 1) if order == "forwards" else np.arange(n - 1)[::-1].copy()
    for seed in range(4):
        gpu = HostGpu(seed=seed)
        forest = driver.GrowingForest(gpu, n, np.dtype(np.int32))
        forest.parent[1:] = np.arange(n - 1)
        united = np.full(-(-len(src) // 32), 2**32 - 1, np.uint32)
        forest.shorten(gpu, 1, src, src + 1, united)
        assert not follow(forest.parent).any()
        assert depth_of(forest.parent) <= 2


@pytest.mark.parametrize("launch", [1, 2])
def test_ends_that_change(launch):
    """They are no vertices any more after the check, or after the union."""
    generator = np.random.default_rng(0)
    n, noise = 300, [-1, 300, 2**31 - 1, -(2**31)]
    for seed in range(5):
        src, dst = generator.integers(0, n, (2, 900), np.int32)
        before = src.copy(), dst.copy()
        changed = generator.random(900) < 0.5
        task = src, changed, noise
        gpu = Changing(launch, task, seed=seed)
        forest = driver.GrowingForest(gpu, n, np.dtype(np.int32))
        forest.unite(gpu, src, dst, Workspace())
        kept = ~changed if launch == 1 else np.ones(900, bool)
        right = roots_by_scipy(n, before[0][kept], before[1][kept])
        np.testing.assert_array_equal(follow(forest.parent), right)
        assert forest.components[0] == len(np.unique(right))


class Changing(HostGpu):
    """A device where ends of edges become something else ahead of a launch."""

    def __init__(self, launch, task, **options):
        super().__init__(**options)
        self._left, self._task = launch, task

    def next_seed(self):
        if self._left == 0:
            array, changed, noise = self._task
            array[changed] = np.resize(noise, changed.sum())
        self._left -= 1
        return super().next_seed()


@on_all
def test_single_vertices(place):
    components = place.components(4)
    components.add_edges(place.put([0, 3]), place.put([2, 3]))
    for two in (2, np.int8(2), np.uint64(2)):
        assert components.connected(0, two) is True
        assert components.connected(two, 3) is False
        assert components.roots(two) == 0
        assert type(components.roots(two)) is int
    for wrong in (-1, 4, 2**70):
        for call in (lambda v: components.connected(0, v), components.roots):
            with pytest.raises(ValueError, match=f"={wrong}; vertices are numbered from 0 to 3"):
                call(wrong)


@on_all
@pytest.mark.parametrize("numbering", ["consecutive", "roots"])
def test_output(place, numbering):
    components = place.components(300)
    components.add_edges(place.put([9, 8]), place.put([299, 9]))
    right = components.labels(numbering)
    assert right.dtype == np.int32
    for dtype in (np.int32, np.int64, np.uint16, np.float64):
        out = place.put(np.full(300, 7, dtype))
        if dtype == np.float64:
            with pytest.raises(TypeError, match="out is float64; labels are integers"):
                components.labels(numbering, out=out)
            continue
        assert components.labels(numbering, out=out) is out
        np.testing.assert_array_equal(place.get(out), place.get(right))
        labels = components.labels(numbering, dtype=dtype)
        np.testing.assert_array_equal(place.get(labels), place.get(out), strict=True)
    assert components.labels(numbering, dtype="smallest").dtype == np.uint16
    with pytest.raises(ValueError, match=r"out has shape \(299,\)"):
        components.labels(numbering, out=place.put(np.zeros(299, int)))
    with pytest.raises(ValueError, match="is uint8, too small for labels"):
        components.labels(numbering, dtype=np.uint8)


@on_all
def test_edges_are_not_changed(place):
    src, dst = np.array([3, 2, 3]), np.array([0, 2, 1])
    ends = place.put(src.copy()), place.put(dst.copy())
    components = place.components(4)
    components.add_edges(*ends)
    components.connected(*ends)
    components.roots(ends[0])
    for given, before in zip(ends, (src, dst), strict=True):
        np.testing.assert_array_equal(place.get(given), before)


@on_all
def test_strides_and_types(place):
    """Ends that are a row or a column of a table, and of two types."""
    table = np.array([[0, 5], [4, 1], [2, 2]])
    right = roots_by_scipy(6, *table.T)
    for dtype in (np.int8, np.int32, np.uint64):
        components = place.components(6)
        columns = place.put(table.astype(dtype))
        components.add_edges(columns[:, 0], columns[:, 1])
        check_all(place, components, right)
        components = place.components(6)
        components.add_edges(*place.put(table.T.astype(dtype)))
        check_all(place, components, right)
    components = place.components(6)
    components.add_edges(place.put(table[:, 0], np.int32), place.put(table[:, 1], np.int64))
    check_all(place, components, right)


@on_all
def test_empty_arrays(place):
    components = place.components(3)
    nothing = place.put([])
    components.add_edges(nothing, nothing)
    assert components.connected(nothing, nothing).shape == (0,)
    assert components.roots(nothing).shape == (0,)
    assert components.count == 3


@on_all
def test_copies_and_pickles(place):
    components = place.components(5, dtype=np.int64)
    components.add_edges(place.put([0, 4]), place.put([1, 2]))
    clones = [copy.copy(components), copy.deepcopy(components)]
    clones.append(pickle.loads(pickle.dumps(components)))
    components.add_edges(place.put([0]), place.put([4]))
    for clone in clones:
        assert (clone.device, clone.dtype) == (components.device, np.int64)
        check_all(place, clone, np.array([0, 0, 2, 3, 2]))
        clone.add_edges(place.put([3]), place.put([4]))
        assert clone.count == 2
    check_all(place, components, np.array([0, 0, 0, 3, 0]))
    assert pickle.loads(pickle.dumps(place.components(0))).count == 0


def refused():
    """Return ends of edges of which one is no vertex of 5, and how the error begins."""
    yield [0, 1, 5], [1, 2, 3], r"src\[2\] is 5"
    yield [0, 1, 3], [1, -1, 3], r"dst\[1\] is -1"
    yield [0, 2**40], [1, 1], rf"src\[1\] is {2**40}"
    yield [0, 1], [1, -(2**63)], rf"dst\[1\] is -{2**63}"


@on_all
@pytest.mark.parametrize(("src", "dst", "message"), list(refused()))
def test_what_is_no_vertex(place, src, dst, message):
    """Nothing of the batch is added; other batches are."""
    message = rf"^{message}; vertices are numbered from 0 to 4"
    ends = place.put(src), place.put(dst)
    components = place.components(5)
    components.add_edges(place.put([3]), place.put([4]))
    if place.device == "cpu":
        with pytest.raises(ValueError, match=message):
            components.add_edges(*ends)
    else:
        with pytest.raises(ValueError, match=f"{message}; the batch is left out"):
            components.add_edges(*ends, wait=True)
        components.add_edges(*ends)
        components.add_edges(place.put([1]), place.put([4]))
        for ask in (components.check, components.labels, lambda: components.count):
            with pytest.raises(ValueError, match=message):
                ask()
            components.check()
            components.add_edges(*ends)
        with pytest.raises(ValueError, match=message):
            components.check()
    components.add_edges(place.put([1]), place.put([4]))
    check_all(place, components, np.array([0, 1, 2, 1, 1]))
    for ask, name in (
        (lambda **wait: components.connected(ends[0], ends[1], **wait), message[1:4]),
        (lambda **wait: components.roots(ends[message[1:4] == "dst"], **wait), "vertices"),
    ):
        renamed = message.replace(message[1:4], {"src": "u", "dst": "v"}.get(name, name))
        with pytest.raises(ValueError, match=renamed):
            ask(wait=True)
    check_all(place, components, np.array([0, 1, 2, 1, 1]))


@on_gpus
def test_answers_about_what_is_no_vertex(place):
    components = place.components(3)
    answer = components.connected(place.put([0, 3]), place.put([0, 3]))
    np.testing.assert_array_equal(place.get(answer), [True, False])
    roots = components.roots(place.put([2, -1]))
    np.testing.assert_array_equal(place.get(roots), [2, -1])
    with pytest.raises(ValueError, match=r"^[uv]\[1\] is 3; vertices are numbered from 0 to 2$"):
        components.check()
    assert components.count == 3


@on_all
def test_no_vertices(place):
    components = place.components(0)
    assert (components.count, components.labels().shape) == (0, (0,))
    with pytest.raises(
        ValueError, match=r"(src|dst)\[0\] is 0; vertices are numbered from 0 to -1"
    ):
        components.add_edges(place.put([0]), place.put([0]), wait=True)


@on_all
def test_bad_arguments(place):
    components = place.components(3)
    one, two = place.put([1]), place.put([1, 2])
    wrongs = [
        ((one, two), ValueError, "src has 1 entries and dst has 2"),
        ((place.put([[1]]), one), ValueError, r"src has shape \(1, 1\); it must have one dim"),
        ((one, place.put(1)), ValueError, r"dst has shape \(\); it must have one dimension"),
        ((place.put([0.5]), one), TypeError, "src is of dtype float64; it must be of integers"),
        ((one, place.put([True])), TypeError, "dst is of dtype bool; it must be of integers"),
    ]
    for ends, error, message in wrongs:
        with pytest.raises(error, match=message):
            components.add_edges(*ends)
        with pytest.raises(error, match=message.replace("src", "u").replace("dst", "v")):
            components.connected(*ends)
    with pytest.raises(ValueError, match="numbering='root' is not one of"):
        components.labels("root")
    assert components.count == 3


@on_gpus
def test_arrays_in_the_wrong_place(place):
    in_memory, on_gpu = IncrementalComponents(3), place.components(3)
    array, placed = np.array([1]), place.put([1])
    with pytest.raises(TypeError, match="src lies in GPU memory, but the components in main mem"):
        in_memory.add_edges(placed, array)
    with pytest.raises(TypeError, match=r"v lies in GPU memory, .* device='cuda'"):
        in_memory.connected(array, placed)
    with pytest.raises(TypeError, match=r"src lies in main memory, but .* cupy\.asarray"):
        on_gpu.add_edges(array, array)
    with pytest.raises(TypeError, match="dst lies in main memory, but the components on a GPU"):
        on_gpu.add_edges(placed, [1])
    with pytest.raises(TypeError, match="vertices lies in main memory"):
        on_gpu.roots(array)
    with pytest.raises(TypeError, match="out must lie in GPU memory"):
        on_gpu.labels(out=np.zeros(3, int))
    with pytest.raises(TypeError, match="out must be a NumPy array"):
        in_memory.labels(out=place.put([0, 0, 0]))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"dtype": np.int16}, TypeError, "dtype=.*int16.* must be int32 or int64"),
        ({"dtype": "smallest"}, TypeError, "dtype='smallest' must be int32 or int64"),
        (
            {"num_vertices": 2**31 + 1, "dtype": "i4"},
            ValueError,
            "dtype=int32 is too small for 2147483649 vertices; use int64",
        ),
    ],
)
def test_bad_arguments_of_the_constructor(arguments, error, message):
    with pytest.raises(error, match=message):
        IncrementalComponents(**{"num_vertices": 3, **arguments})


def test_attributes():
    components = IncrementalComponents(3)
    assert repr(components) == "IncrementalComponents(num_vertices=3, device='cpu')"
    assert (components.num_vertices, components.device) == (3, "cpu")
    assert components.dtype == np.int32
    assert IncrementalComponents(3, dtype=np.int64).dtype == np.int64


def test_lists():
    components = IncrementalComponents(3)
    components.add_edges([2], (1,))
    assert components.connected([1], range(2, 3)).tolist() == [True]


def test_no_gpu(monkeypatch):
    def missing():
        raise ImportError("work on a GPU needs CuPy")

    monkeypatch.setattr(growing, "current_gpu", missing)
    with pytest.raises(ImportError, match="needs CuPy"):
        IncrementalComponents(3, device="cuda")


def test_threads_that_add_at_once():
    """And that ask meanwhile: what is connected stays so, and all is in at the end."""
    conncomp.set_num_threads(2)
    generator = np.random.default_rng(0)
    for n in (300, 100_000):
        ends = generator.integers(0, n, (4, 2, 20, n // 20))
        components = IncrementalComponents(n)
        begin = Barrier(5)

        def add(batches, components=components, begin=begin):
            begin.wait()
            for src, dst in zip(*batches, strict=True):
                components.add_edges(src, dst)
                assert components.connected(src, dst).all()

        def ask(components=components, begin=begin, n=n):
            begin.wait()
            before, count = components.labels("roots"), n
            for _ in range(20):
                assert components.count <= count
                count = components.count
                labels = components.labels("roots")
                np.testing.assert_array_equal(labels[labels], labels)
                np.testing.assert_array_equal(labels[before], labels)
                before = labels

        with ThreadPoolExecutor(5) as pool:
            for done in [*(pool.submit(add, batches) for batches in ends), pool.submit(ask)]:
                done.result()
        check_all(Place("cpu"), components, roots_by_scipy(n, *ends.swapaxes(0, 1).reshape(2, -1)))


def test_interrupt():
    """Some edges of the batch are in; the count is right, and the others can be added again."""
    conncomp.set_num_threads(1)
    n = 1 << 22
    src, dst = np.random.default_rng(0).integers(0, n, (2, 2 * n), np.int32)
    right = roots_by_scipy(n, src, dst)
    for delay in (0.01, 0.03):
        components = IncrementalComponents(n)
        with interrupted_after(delay):
            while True:
                components.add_edges(src, dst)
        roots = components.labels("roots")
        assert components.count == (roots == np.arange(n)).sum()
        np.testing.assert_array_equal(right[roots], right)
        components.add_edges(src, dst)
        np.testing.assert_array_equal(components.labels("roots"), right)


class Tensor:
    """What PyTorch's tensors in main memory offer."""

    def __init__(self, values):
        self._values = np.asarray(values)

    def __dlpack__(self, **options):
        return self._values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._values.__dlpack_device__()

    def __array__(self, dtype=None, copy=None):
        return np.array(self._values, dtype, copy=copy)

    def __iter__(self):
        return map(Tensor, self._values)


EDGE_INDEX = [[0, 1, 5], [1, 2, 4]]


def test_edge_index():
    """As `edge_index` of PyTorch Geometric: int64, of shape (2, num_edges)."""
    edge_index = Tensor(EDGE_INDEX)
    labels = conncomp.connected_components(Graph.from_edges(*edge_index))[1]
    assert labels.tolist() == [0, 0, 0, 1, 2, 2]
    components = IncrementalComponents(6)
    components.add_edges(*edge_index)
    assert components.count == 3


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_torch(device):
    torch = pytest.importorskip("torch")
    edge_index = torch.tensor(EDGE_INDEX, device=device)
    labels = conncomp.connected_components(Graph.from_edges(*edge_index))[1]
    assert labels.tolist() == [0, 0, 0, 1, 2, 2]
    components = IncrementalComponents(6, device=device)
    stream = torch.cuda.Stream() if device == "cuda" else None
    with torch.cuda.stream(stream):
        components.add_edges(*edge_index)
        answer = components.connected(*edge_index)
        labels = components.labels()
    assert answer.tolist() == [True] * 3
    assert labels.tolist() == [0, 0, 0, 1, 2, 2]
    if device == "cuda":
        assert type(labels) is type(answer) is torch.Tensor


@pytest.mark.gpu
def test_captured_in_a_cuda_graph():
    import cupy

    n = 5000
    src, dst = cupy.asarray(np.random.default_rng(0).integers(0, n, (2, 3000)))
    components, out = IncrementalComponents(n, device="cuda"), cupy.empty(n, np.int32)
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        components.add_edges(src[:1], dst[:1])
        components.add_edges(src, dst[::-1].copy())
        components.labels("roots", out=out)
        stream.synchronize()
        stream.begin_capture()
        components.add_edges(src, dst)
        components.labels("roots", out=out)
        captured = stream.end_capture()
        captured.launch(stream)
        every = np.append(src.get(), src.get()), np.append(dst.get(), dst.get()[::-1])
        np.testing.assert_array_equal(out.get(), roots_by_scipy(n, *every))
        assert components.count == len(np.unique(out.get()))
