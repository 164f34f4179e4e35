"""Every GPU algorithm on graphs, on the host executor and on a GPU, against a plain search."""

from itertools import product

import numpy as np
import pytest

from conncomp import Graph, Workspace, connected_components, generate
from conncomp._algorithms import Task
from conncomp.graph.algorithms import ALGORITHMS
from conncomp.kernels.cuda.core.numbering import number_roots
from conncomp.kernels.cuda.graph import blocked_afforest, ecl
from conncomp.kernels.cuda.graph.edges import (
    check_rows,
    list_edges,
    memory_for_edges,
    rows_from_both_ends,
)
from conncomp.kernels.cuda.launcher import current_gpu, launch, recorded_launches
from conncomp.kernels.cuda.papers import hawick_graphs
from dealt import dealt
from hard_graphs import (
    FORMS,
    HARD_GRAPHS,
    from_arcs,
    line,
    make,
    mostly_far,
    random,
    roots_of,
    shuffled,
    star,
)
from host_cuda.host_gpu import HostGpu, interleavings
from reference import components_by_search, consecutive

ON_GPU = ALGORITHMS["cuda"]
ECL_VARIANTS = [{"init": i} for i in (1, 2)] + [{"jump": j} for j in (1, 2, 3)]
ECL_VARIANTS += [{"finish": f} for f in (1, 2)]
CASES = [(name, {}) for name in ON_GPU] + [("ecl", variant) for variant in ECL_VARIANTS]
CASES.append(("soman", {"jump": "end"}))
CASES += [("soman", {"hook": hook}) for hook in ("soman", "wang")]
CASES += [("soman", {"hook": hook, "writes": "outermost"}) for hook in ("roots", "soman", "wang")]
CASES.append(("soman", {"jump": "end", "writes": "outermost"}))
CASES += [("vertex-propagation", {"rows": rows, "block": 64}) for rows in ("shared", "sorted")]
CASES += [(name, {"block": 32}) for name in ("edge-propagation", "vertex-propagation", "bfs")]
CASES += [(name, {"block": 512}) for name in ("edge-propagation", "vertex-propagation", "bfs")]


def fill(gpu, algorithm, graph, index=np.int32, **options):
    roots = np.full(graph.num_vertices, -7, index)
    task = Task(gpu, roots, Workspace(), consecutive=False)
    components = ON_GPU[algorithm].fill(graph._parts, task, **options)
    return roots, int(components[0])


@pytest.mark.parametrize(
    ("algorithm", "options", "graph_and_form"),
    dealt(CASES, product(HARD_GRAPHS, FORMS), forms=len(FORMS)),
    ids=str,
)
def test_hard_graphs(algorithm, options, graph_and_form):
    graph, form = graph_and_form
    expected = roots_of(graph)
    for seed in interleavings(3):
        gpu = HostGpu(seed=seed)
        roots, components = fill(gpu, algorithm, make(graph, form), **options)
        np.testing.assert_array_equal(roots, expected)
        assert components == len(np.unique(expected))
        if gpu.launched > 20:  # a seed for each is interleavings enough
            break


@pytest.mark.soak(gate="pairs")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("vertex", [np.int32, np.int64])
@pytest.mark.parametrize("pointer", [np.int32, np.int64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("algorithm", ON_GPU)
def test_index_types(algorithm, form, vertex, pointer, index):
    for graph in ("critical", "brooms"):
        roots, _ = fill(HostGpu(), algorithm, make(graph, form, vertex, pointer), index)
        np.testing.assert_array_equal(roots, roots_of(graph))


@pytest.mark.parametrize("block", [32, 96, 512])
@pytest.mark.parametrize(
    ("fill_roots", "sweep"),
    [
        (hawick_graphs.fill_by_edges, "edge_propagation"),
        (hawick_graphs.fill_by_vertices, "vertex_propagation"),
        (hawick_graphs.fill_by_bfs, "bfs_sweep"),
    ],
)
def test_blocks_of_sweeps(fill_roots, sweep, block):
    graph = make("critical", "both ends")
    roots = np.empty(graph.num_vertices, np.int32)
    with recorded_launches() as launches:
        fill_roots(HostGpu(), graph._parts, roots, Workspace(), block=block)
    sweeps = [launch for launch in launches if launch.kernel.name == sweep]
    assert {launch.grid[1] for launch in sweeps} == {block}


@pytest.mark.parametrize("rows", ["cached", "shared", "sorted"])
def test_rows_of_vertex_propagation(rows):
    """Only sorted ones have a list of vertices, by degree."""
    graph = make("brooms", "both ends")
    roots = np.empty(graph.num_vertices, np.int32)
    with recorded_launches() as launches:
        hawick_graphs.fill_by_vertices(HostGpu(), graph._parts, roots, Workspace(), rows=rows)
    lists = [each.arguments[3] for each in launches if each.kernel.name == "vertex_propagation"]
    if rows == "sorted":
        degrees = np.diff(graph.indptr)[lists[0]]
        assert (np.diff(degrees) <= 0).all()
        assert sorted(lists[0]) == list(range(graph.num_vertices))
    else:
        assert set(lists) == {None}


@pytest.mark.soak
@pytest.mark.parametrize("degree", [2, 4, 12])
@pytest.mark.parametrize("form", ["rows", "both ends"])
def test_large_blocks_of_default(form, degree):
    """Blocks of more vertices than threads, which by then know that few arcs stay inside."""
    src, dst, n = mostly_far(40_001, degree, seed=11)
    graph = from_arcs(src, dst, n, form)
    expected = components_by_search(n, np.stack([src, dst], 1))
    for seed in range(2):
        gpu = HostGpu(multiprocessors=1, shared_memory=20_000, seed=seed)
        np.testing.assert_array_equal(fill(gpu, "auto", graph)[0], expected)


@pytest.mark.parametrize("form", ["rows", "both ends"])
def test_hubs_of_default(form):
    """Rows so long that blocks share them; the giant is but one of their components."""
    src, dst, n = shuffled([star(5001, 0), star(4601, 4600), random(300, 40, 1)], seed=12)
    check_default(src, dst, n, form)


@pytest.mark.parametrize("form", ["rows", "both ends"])
def test_rows_of_any_length_of_default(form):
    """Rows that are a thread's work, a warp's and a block's, several of each."""
    degrees = [17, 30, 33, 34, 70, 100, 127, 129, 130, 200, 300, 900, 4095, 4097, 8192, 8193]
    stars = [star(degree + 1, place) for degree in degrees for place in (0, degree)]
    check_default(*shuffled(stars, seed=13), form)


def test_a_last_word_of_few_vertices():
    """Of many arcs: there are 32 threads, and AddressSanitizer watches the end of the labels."""
    check_default(*random(1001, 5000, 3), "both ends")


@pytest.mark.parametrize("form", ["rows", "both ends"])
def test_stages_of_default(form):
    """Whatever word of vertices has the only arcs that are left, hidden behind loops."""
    for first in range(32, 11 * 32, 32):
        v = np.arange(first, first + 32)
        src, dst = np.append(np.repeat(v, 80), v), np.append(np.repeat(v, 80), v[0] + 32 + v % 32)
        check_default(src, dst, first + 64, form)


@pytest.mark.parametrize("kept", [0.8, 1])
def test_what_default_postpones(kept, monkeypatch):
    """Rows of at most four arcs, of vertices in no order: a giant, and others of eight vertices."""
    monkeypatch.setattr(blocked_afforest, "POSTPONING_FROM", 0)
    postponed = []

    def noted(kernel, grid, *arguments, **options):
        launch(kernel, grid, *arguments, **options)
        if kernel.name == "guess_giant":
            postponed.append(int(arguments[-2].view(np.int64)[3]))

    monkeypatch.setattr(blocked_afforest, "launch", noted)
    draw = np.random.default_rng(14)
    n = 5000
    pairs = np.concatenate([draw.permutation(n).reshape(2, -1) for _ in range(4)], 1)
    giant = *pairs[:, draw.random(pairs.shape[1]) < kept], n
    rings = [(np.arange(8), (np.arange(8) + k) % 8, 8) for k in (1, 3)]
    check_default(*shuffled([giant, *rings * 20], seed=15), "both ends")
    assert min(postponed) > n / 8


@pytest.mark.parametrize("shuffle", [False, True])
def test_lattices_of_default(shuffle, monkeypatch):
    """Two of 12 by 15 by 20, in blocks of shared memory and in an order of their own."""
    monkeypatch.setattr(blocked_afforest, "POSTPONING_FROM", 0)
    lattice = generate.grid((12, 15, 20), shuffle=shuffle)
    n = lattice.num_vertices
    src, dst = np.repeat(np.arange(n), np.diff(lattice.indptr)), lattice.indices
    src, dst = src[src < dst], dst[src < dst]
    graph = from_arcs(np.append(src, src + n), np.append(dst, dst + n), 2 * n, "both ends")
    for seed in interleavings(3):
        gpu = HostGpu(multiprocessors=1, shared_memory=20_000, seed=seed)
        np.testing.assert_array_equal(fill(gpu, "auto", graph)[0], np.repeat([0, n], n))


def test_turns_of_blocks():
    """Of as many vertices as fit, or fewer, so that no turn has a few blocks only."""
    gpu = HostGpu(multiprocessors=4, shared_memory=100_000)
    fit = blocked_afforest._span(gpu, 10**9, 10**9)
    assert fit * blocked_afforest.VERTEX_BYTES < 50_000 - 1024
    for count in (10, 30_000, 90_000, 95_000, 10**6):
        blocks = -(-count // blocked_afforest._span(gpu, count, count))
        turns = -(-count // (8 * fit))
        assert blocks <= 8 * turns
        assert count < 8 * 1024 or blocks > 8 * turns - 8 * turns // 8


def check_default(src, dst, n, form):
    expected = components_by_search(n, np.stack([src, dst], 1))
    for seed in interleavings(3):
        roots, _ = fill(HostGpu(seed=seed), "auto", from_arcs(src, dst, n, form))
        np.testing.assert_array_equal(roots, expected)


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("graph", ["none", "one", "isolated", "sparse", "star", "line"])
def test_numbering(graph, dtype, first):
    roots = roots_of(graph).astype(dtype)
    if first:  # some background
        roots[roots % 3 == 1] = -1
    labels = np.tile(roots, 1)
    components = number_roots(HostGpu(), labels, first, Workspace())
    np.testing.assert_array_equal(labels, consecutive(roots, first))
    assert components[0] == len(np.unique(roots[roots >= 0]))


def test_numbering_over_tiles():
    roots = np.arange(20_000)
    roots[np.random.default_rng(1).random(20_000) < 0.7] = 0
    labels = roots.copy()
    number_roots(HostGpu(), labels, 0, Workspace())
    np.testing.assert_array_equal(labels, consecutive(roots, 0))


@pytest.mark.parametrize("graph", HARD_GRAPHS)
def test_check_of_good_rows(graph):
    gpu = HostGpu()
    src, dst, _ = HARD_GRAPHS[graph]
    once, twice = make(graph, "rows"), make(graph, "both ends", np.int64, np.int64)
    n = max(once.num_vertices, 1)
    forward, backward = np.sort(src * n + dst), np.sort(dst * n + src)
    assert check_rows(gpu, *once._parts.csr) == (False, np.array_equal(forward, backward))
    assert check_rows(gpu, *twice._parts.csr) == (False, True)


@pytest.mark.parametrize(
    ("indptr", "indices"),
    [
        ([0, 2, 1, 2], [0, 1]),
        ([1, 2], [0, 0]),
        ([0, 1], [0, 0]),
        ([0, 3], [0, 0]),
        ([0, 1], [1]),
        ([0, 1], [-1]),
        ([0], [0]),
        ([0, -5, 1], [0]),
        ([0, 9, 9, 1], [0]),
    ],
)
def test_check_of_bad_rows(indptr, indices):
    arrays = np.array(indptr, np.int32), np.array(indices, np.int32)
    assert check_rows(HostGpu(), *arrays).wrong


def test_check_sees_one_missing_arc():
    generator = np.random.default_rng(2)
    src, dst, n = random(300, 9000, 8)
    src, dst = np.append(src, dst), np.append(dst, src)
    for _ in range(5):
        proper = np.flatnonzero(src != dst)
        src[proper[generator.integers(len(proper))]] = 7
        graph = Graph.from_edges(src, dst, n)
        assert not check_rows(HostGpu(), graph.indptr, graph.indices).symmetric


@pytest.mark.parametrize("form", FORMS)
def test_list_of_edges(form, monkeypatch):
    edges = random(300, 9000, 8)  # with loops and multiple arcs
    monkeypatch.setitem(HARD_GRAPHS, "several spans", edges)
    graph = make("several spans", form)
    src, dst, count = (np.empty(*part) for part in memory_for_edges(graph._parts))
    src, dst = list_edges(HostGpu(), graph._parts, src, dst, count)
    ends = np.stack(edges[:2])
    if form != "arcs":
        ends = ends[:, ends[0] != ends[1]]
    if form == "both ends":
        ends = np.sort(ends, 0)[::-1]
    edges_listed = np.stack([src[: count[0]], dst[: count[0]]])
    np.testing.assert_array_equal(*(arcs[:, np.lexsort(arcs)] for arcs in (edges_listed, ends)))


@pytest.mark.parametrize("algorithm", ON_GPU)
def test_symmetry_to_be_found(algorithm):
    for form in ("rows", "both ends"):
        graph = Graph._of_checked(997, csr=make("critical", form)._parts.csr)
        roots, _ = fill(HostGpu(), algorithm, graph)
        np.testing.assert_array_equal(roots, roots_of("critical"))


def test_symmetric_rows_are_taken_as_they_are():
    graph = Graph._of_checked(997, csr=make("critical", "both ends")._parts.csr)
    assert rows_from_both_ends(HostGpu(), graph._parts)[1] is graph.indices
    graph = Graph._of_checked(997, csr=make("critical", "rows")._parts.csr)
    assert len(rows_from_both_ends(HostGpu(), graph._parts)[1]) == 2 * np.sum(
        np.diff(np.stack(HARD_GRAPHS["critical"][:2]), axis=0) != 0
    )


@pytest.mark.parametrize("algorithm", ON_GPU)
@pytest.mark.parametrize("often", [0, 1])
def test_symmetric_but_for_multiplicities(algorithm, often):
    degrees = np.array([0, 1, 1])
    degrees[1 + often] = 5
    indices = np.repeat([1, 0], degrees[1:]).astype(np.int32)
    graph = Graph._of_checked(2, csr=(np.cumsum(degrees), indices), symmetric=True)
    roots, components = fill(HostGpu(), algorithm, graph)
    assert (roots.tolist(), components) == ([0, 0], 1)


def test_path_lengths():
    """A line, each vertex under the one before: without jumps, v is v steps from the root."""
    n = 60
    src, dst, _ = line(n)
    steps_there = sum(v + (v - 1) for v in range(1, n))
    for form, init in (("both ends", 2), ("both ends", 3), ("arcs", 2)):
        graph = from_arcs(src, dst, n, form)
        for seed in range(3):
            lengths = ecl.count_paths(HostGpu(seed=seed), graph._parts, init, jump=3)
            # The path of vertex 0, from its neighbour's side, has no step.
            assert lengths == (2 * (n - 1), steps_there, n - 1, 2 * (n - 1) - 1)
            paths, steps, longest, walked = ecl.count_paths(
                HostGpu(seed=seed), graph._parts, init, jump=4
            )
            assert paths == 2 * (n - 1)
            assert n - 1 < steps <= steps_there
            assert longest < n
            assert walked == 2 * (n - 1) - 1


@pytest.mark.parametrize("jump", ecl.OPTIONS["jump"])
def test_path_lengths_of_a_star(jump):
    """Every leaf starts under the hub, or else alone, and then the threads of the hub look, too."""
    graph = make("star", "both ends")
    leaves = graph.num_vertices - 1
    assert ecl.count_paths(HostGpu(), graph._parts, 3, jump) == (2 * leaves, leaves, 1, leaves)
    assert ecl.count_paths(HostGpu(), graph._parts, 1, jump) == (2 * leaves + ecl.THREADS, 0, 0, 0)
    assert ecl.count_paths(HostGpu(), make("none", "both ends")._parts) == (0, 0, 0, 0)


@pytest.mark.gpu
class TestOnGpu:
    """The public functions, on a GPU."""

    @pytest.mark.parametrize("form", FORMS)
    @pytest.mark.parametrize("graph", HARD_GRAPHS)
    @pytest.mark.parametrize(("algorithm", "options"), CASES, ids=str)
    def test_hard_graphs(self, algorithm, options, graph, form):
        expected = roots_of(graph)
        on_gpu = make(graph, form).to("cuda")
        for numbering in ("roots", "consecutive"):
            count, labels = connected_components(
                on_gpu, algorithm=algorithm, numbering=numbering, **options
            )
            right = expected if numbering == "roots" else consecutive(expected, 0)
            np.testing.assert_array_equal(labels.get(), right)
            assert int(count) == len(np.unique(expected))

    def test_numpy_there_and_back(self):
        graph = make("critical", "rows")
        count, labels = connected_components(graph, device="cuda")
        assert isinstance(count, int)
        assert isinstance(labels, np.ndarray)
        np.testing.assert_array_equal(labels, connected_components(graph)[1])
        out = np.empty_like(labels)
        assert connected_components(graph, device="cuda", out=out)[1] is out
        np.testing.assert_array_equal(out, labels)

    def test_torch(self):
        torch = pytest.importorskip("torch")
        src, dst, n = HARD_GRAPHS["critical"]
        graph = Graph.from_edges(torch.tensor(src).cuda(), torch.tensor(dst).cuda(), n)
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            out = torch.empty(n, dtype=torch.int32, device="cuda")
            count, labels = connected_components(graph, numbering="roots", out=out)
            fresh = connected_components(graph, numbering="roots")[1]
        stream.synchronize()
        assert labels is out
        assert type(fresh) is type(count) is torch.Tensor
        np.testing.assert_array_equal(labels.cpu().numpy(), roots_of("critical"))
        np.testing.assert_array_equal(fresh.cpu().numpy(), roots_of("critical"))

    def test_cupy_sparse_and_dense(self, cupy):
        from cupyx.scipy import sparse

        src, dst, n = HARD_GRAPHS["critical"]
        ones = cupy.ones(len(src), np.float32)
        matrix = sparse.coo_matrix((ones, (cupy.asarray(src), cupy.asarray(dst))), shape=(n, n))
        expected = consecutive(roots_of("critical"), 0)
        for graph in (matrix, matrix.tocsr(), matrix.toarray()):
            np.testing.assert_array_equal(connected_components(graph)[1].get(), expected)

    @pytest.mark.parametrize("algorithm", [name for name in ON_GPU if ON_GPU[name].capturable])
    def test_captured_in_a_cuda_graph(self, cupy, algorithm):
        graph = make("brooms", "both ends").to("cuda")
        out, workspace = cupy.empty(graph.num_vertices, np.int32), Workspace()
        stream = cupy.cuda.Stream(non_blocking=True)

        def call():
            return connected_components(
                graph, algorithm=algorithm, numbering="roots", out=out, workspace=workspace
            )[0]

        with stream:
            call()
            stream.synchronize()
            used = cupy.get_default_memory_pool().used_bytes()
            stream.begin_capture()
            count = call()
            captured = stream.end_capture()
            assert cupy.get_default_memory_pool().used_bytes() == used
            for _ in range(3):
                out.fill(-7)
                captured.launch(stream)
                np.testing.assert_array_equal(out.get(), roots_of("brooms"))
                assert int(count) == 1

    def test_errors(self, cupy):
        with pytest.raises(ValueError, match="indptr decreases from 2 to 1"):
            Graph.from_csr(cupy.array([0, 2, 1, 2]), cupy.array([0, 1]))
        with pytest.raises(ValueError, match=r"indices\[1\] is 5"):
            Graph.from_csr(cupy.array([0, 2]), cupy.array([0, 5]))
        with pytest.raises(ValueError, match=r"dst\[0\] is -1"):
            Graph.from_edges(cupy.array([0]), cupy.array([-1]))
        with pytest.raises(TypeError, match="src lies in GPU memory, but dst does not"):
            Graph.from_edges(cupy.array([0]), np.array([0]))
        graph = make("line", "rows").to("cuda")
        with pytest.raises(ValueError, match="device='cpu', but csgraph lies in GPU memory"):
            connected_components(graph, device="cpu")
        with pytest.raises(TypeError, match="out must lie in GPU memory"):
            connected_components(graph, out=np.empty(graph.num_vertices, np.int32))
        with pytest.raises(TypeError, match="no option 'jumps'; it has"):
            connected_components(graph, algorithm="ecl", jumps=3)
        with pytest.raises(ValueError, match="jump=5"):
            connected_components(graph, algorithm="ecl", jump=5)

    def test_out_of_memory(self, cupy):
        pool = cupy.cuda.MemoryPool()  # with nothing kept of earlier calls
        with cupy.cuda.using_allocator(pool.malloc):
            graph = from_arcs(*line(1 << 20), "rows").to("cuda")
            pool.set_limit(size=pool.total_bytes() + 1)
            with pytest.raises(MemoryError, match=r"allocating [0-9,]+ bytes"):
                connected_components(graph)
        assert connected_components(graph)[0] == 1

    def test_kernel_times(self):
        from conncomp.diagnostics import kernel_times

        graph = make("brooms", "both ends").to("cuda")
        with kernel_times() as times:
            connected_components(graph, algorithm="ecl", numbering="roots")
        assert list(times) == ["ecl_init", "ecl_low", "ecl_mid", "ecl_high", "ecl_finish"]
        assert all(0 < seconds < 1 for seconds in times.values())
        with pytest.raises(RuntimeError, match="nest"), kernel_times(), kernel_times():
            pass

    def test_path_lengths(self):
        n = 500
        src, dst, _ = line(n)
        graph = from_arcs(src, dst, n, "both ends").to("cuda")
        paths = ecl.count_paths(current_gpu(), graph._parts, jump=3)
        assert paths == (2 * (n - 1), (n - 1) ** 2, n - 1, 2 * (n - 1) - 1)
        shortened = ecl.count_paths(current_gpu(), graph._parts)
        assert n - 1 < shortened.steps <= paths.steps
