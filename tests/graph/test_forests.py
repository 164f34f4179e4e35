"""Spanning forests on the CPU, the host executor and a GPU, against Kruskal's algorithm."""

import networkx as nx
import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree

from changing_memory import ChangingGpu
from conncomp import (
    Graph,
    Workspace,
    connected_components,
    generate,
    minimum_spanning_forest,
    set_num_threads,
    spanning_forest,
)
from conncomp.graph.forests import _as_weights
from conncomp.kernels.cuda.graph import boruvka
from conncomp.kernels.cuda.graph.boruvka import forest_arcs
from conncomp.kernels.cuda.launcher import recorded_launches
from dealt import SOAK, examples
from forest_reference import ends_of, forest_by_kruskal
from hard_graphs import FORMS, HARD_GRAPHS, from_arcs, grid, line, make, random, shuffled, star
from host_cuda.host_gpu import SANITIZER, HostGpu

DTYPES = ["?", "i1", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"]


def draw_weights(kind, count, seed=0, graph=None):
    """Return weights: all equal, of few values, or any; or equal from both ends."""
    draw = np.random.default_rng(seed)
    if kind == "equal":
        return np.full(count, 3.5, np.float32)
    if kind.startswith("few"):
        return draw.integers(-2, 3, count).astype(np.int64 if kind == "few, wide" else np.int32)
    if kind == "both ways":
        src, dst = (ends.astype(np.int64) for ends in ends_of(graph))
        mixed = np.minimum(src, dst) * 7919 + np.maximum(src, dst) * 104729
        return (mixed % 31 - 15).astype(np.float32)
    if kind == "wide":
        return draw.normal(size=count) * 10.0 ** draw.integers(-200, 200, count)
    limits = np.iinfo(np.int64)
    return draw.integers(limits.min, limits.max, count, endpoint=True)


KINDS = ["equal", "few", "few, wide", "both ways", "wide", "any"]


@pytest.fixture(params=[1, 3], ids=["one thread", "three threads"])
def _threads(request):
    set_num_threads(request.param)


def check_forest(graph, arcs, weights=None):
    np.testing.assert_array_equal(arcs, forest_by_kruskal(graph, weights))
    assert arcs.dtype == np.int32


@pytest.mark.soak(gate="pairs")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", HARD_GRAPHS)
@pytest.mark.usefixtures("_threads")
def test_hard_graphs(name, form):
    for vertex, pointer in ((np.int32, np.int32), (np.int64, np.int64)):
        graph = make(name, form, vertex, pointer)
        check_forest(graph, spanning_forest(graph))
        for seed, kind in enumerate(KINDS):
            weights = draw_weights(kind, graph.num_arcs, seed, graph)
            check_forest(graph, minimum_spanning_forest(graph, weights), weights)


def test_random_graphs():
    draw = np.random.default_rng(5)
    for seed in range(examples(1500)):
        n = int(draw.integers(1, 40))
        src, dst, _ = random(n, int(draw.integers(0, 160)), seed)
        graph = from_arcs(src, dst, n, FORMS[seed % 3])
        check_forest(graph, spanning_forest(graph))
        weights = draw_weights(KINDS[seed % 6], graph.num_arcs, seed, graph)
        check_forest(graph, minimum_spanning_forest(graph, weights), weights)


def many_arcs(form, n=900, seed=3):
    """Return a graph of so many arcs a vertex that the lighter ones go first."""
    src, dst, _ = random(n, 20 * n, seed)
    return from_arcs(src, dst, n, form)


@pytest.mark.parametrize("form", FORMS)
def test_light_and_heavy_arcs(form):
    graph = many_arcs(form)
    for kind in KINDS:
        weights = draw_weights(kind, graph.num_arcs, 2, graph)
        check_forest(graph, minimum_spanning_forest(graph, weights), weights)


LISTS = {  # so long that two threads share the work
    "uniform": lambda: random(140_000, 300_000, 4),
    "sparse": lambda: random(200_000, 100_000, 4),
    "dense": lambda: random(900, 200_000, 4),
    "line": lambda: line(140_000),
    "hub": lambda: star(140_000, 7),
    "grid": lambda: grid(400, 400),
    "repeated": lambda: (*(np.tile(ends, 12) for ends in random(140_000, 30_000, 4)[:2]), 140_000),
    "loops": lambda: (np.arange(140_000), np.arange(140_000) // 2 * 2, 140_000),
}


@pytest.mark.parametrize("order", ["any", "sources"])
@pytest.mark.parametrize("kind", LISTS)
def test_long_lists_on_several_threads(kind, order):
    """Where two threads share the work, the forest is that of one thread, bit by bit."""
    src, dst, n = LISTS[kind]()
    places = np.random.default_rng(2).permutation(len(src))
    if order == "sources":
        places = np.argsort(src, kind="stable")
    graph = Graph.from_edges(src[places], dst[places], n)
    expected = forest_by_kruskal(graph)
    for threads in (1, 2, 3, 8):
        set_num_threads(threads)
        np.testing.assert_array_equal(spanning_forest(graph), expected)


@pytest.mark.parametrize("form", FORMS)
def test_large_graphs_do_not_depend_on_threads(form):
    graph = from_arcs(*random(3_000, 300_000, 8), form)
    weights = draw_weights("few", graph.num_arcs), draw_weights("wide", graph.num_arcs)
    found = []
    for threads in (1, 2, 5):
        set_num_threads(threads)
        arcs = spanning_forest(graph)
        found.append((arcs, *(minimum_spanning_forest(graph, w) for w in weights)))
    for others in found[1:]:
        for one, other in zip(found[0], others, strict=True):
            np.testing.assert_array_equal(one, other)
    for arcs in found[0]:
        check_spanning(graph, arcs)


def check_spanning(graph, arcs):
    """Check that arcs are of the graph, without cycles, and connect what the graph connects."""
    src, dst = ends_of(graph)
    assert (np.diff(arcs) > 0).all()
    count, labels = connected_components(graph, algorithm="bfs")
    assert len(arcs) == graph.num_vertices - count
    tree = Graph.from_edges(src[arcs], dst[arcs], graph.num_vertices)
    np.testing.assert_array_equal(connected_components(tree, algorithm="bfs")[1], labels)


def test_weight_is_that_of_scipy():
    draw = np.random.default_rng(4)
    for seed in range(20):
        matrix = sparse.random_array((300, 300), density=0.03, rng=seed, format="csr")
        matrix.data = draw.integers(1, 50, matrix.nnz).astype(np.float64)
        arcs = minimum_spanning_forest(matrix)
        tree = minimum_spanning_tree(matrix)
        # SciPy takes arcs in both directions, too.
        assert matrix.data[arcs].sum() == tree.sum()
        assert len(arcs) == tree.nnz


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype):
    src, dst, n = random(50, 300, 1)
    draw = np.random.default_rng(2)
    if dtype == "?":
        weights = draw.random(300) < 0.5
    elif dtype[0] == "f":
        weights = draw.normal(size=300).astype(dtype)
        weights[:6] = np.inf, -np.inf, 0.0, -0.0, np.finfo(dtype).max, np.finfo(dtype).tiny
    else:
        limits = np.iinfo(dtype)
        weights = draw.integers(limits.min, limits.max, 300, dtype, endpoint=True)
        weights[:2] = limits.min, limits.max
    for form in FORMS:
        graph = from_arcs(src, dst, n, form)
        values = np.resize(weights, graph.num_arcs)
        check_forest(graph, minimum_spanning_forest(graph, values), values)
        swapped = values.astype(np.dtype(dtype).newbyteorder())
        check_forest(graph, minimum_spanning_forest(graph, swapped), values)
        strided = np.repeat(values, 2)[::2]
        check_forest(graph, minimum_spanning_forest(graph, strided), values)


def test_both_zeros_weigh_the_same():
    for dtype in ("f4", "f8"):
        for weights in ([0.0, -0.0], [-0.0, 0.0]):
            graph = Graph.from_edges([0, 1], [1, 0])
            values = np.array(weights, dtype)
            assert minimum_spanning_forest(graph, values).tolist() == [0]


def test_lighter_of_two_opposite_arcs_counts():
    graph = Graph.from_csr([0, 1, 2], [1, 0])
    assert minimum_spanning_forest(graph, [2, 1]).tolist() == [1]
    assert minimum_spanning_forest(graph, [1, 1]).tolist() == [0]


MATRIX = np.array([[0, 5, 1, 0], [5, 0, 2, 0], [1, 2, 0, 0], [0, 0, 0, 4]])


def test_dense_matrices():
    arcs = minimum_spanning_forest(MATRIX)
    assert sorted(MATRIX[MATRIX != 0][arcs]) == [1, 2]
    masked = np.ma.masked_equal([[9, 0, 9], [9, 9, 7], [9, 9, 9]], 9)
    assert minimum_spanning_forest(masked).tolist() == [0, 1]  # a zero that is not masked, too
    assert minimum_spanning_forest(np.zeros((0, 0))).tolist() == []


def test_what_graphs_remember_does_not_matter():
    src, dst, n = random(50, 300, 1)
    graph = from_arcs(src, dst, n, "arcs")
    right = spanning_forest(graph)
    assert len(graph.indices) == 300  # makes the rows
    np.testing.assert_array_equal(spanning_forest(graph), right)


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        ([1.0, np.nan, 2.0], ValueError, r"weights\[1\] is NaN"),
        ([1.0, 2.0], ValueError, r"weights has shape \(2,\); there must be one for each of 3 arcs"),
        ([[1.0], [2.0], [3.0]], ValueError, r"weights has shape \(3, 1\)"),
        ([1j, 2, 3], TypeError, "weights is of dtype complex128"),
        (["a", "b", "c"], TypeError, "weights is of dtype"),
        ([None, 1, 2], TypeError, "weights is a list"),
        (np.ones(3, np.longdouble), TypeError, "use float64"),
        (np.ma.masked_equal([1, 2, 3], 2), ValueError, "weights has masked elements"),
    ],
)
def test_bad_weights(weights, error, message):
    graph = Graph.from_edges([0, 1, 2], [1, 2, 0])
    with pytest.raises(error, match=message):
        minimum_spanning_forest(graph, weights)


def test_nan_far_away():
    weights = np.zeros(1 << 20, np.float32)
    weights[-3] = np.nan
    ends = np.zeros(1 << 20, np.int32)
    with pytest.raises(ValueError, match=r"weights\[1048573\] is NaN"):
        minimum_spanning_forest(Graph.from_edges(ends, ends), weights)


def test_missing_weights():
    for graph in (Graph.from_edges([0], [1]), nx.path_graph(3)):
        with pytest.raises(TypeError, match="weights is missing"):
            minimum_spanning_forest(graph)
    with pytest.raises(TypeError, match=r"minimum_spanning_tree\(graph, .* takes"):
        minimum_spanning_forest(nx.path_graph(3))


def test_bad_graphs():
    for find in (spanning_forest, minimum_spanning_forest):
        with pytest.raises(ValueError, match="square"):
            find(np.ones((2, 3)))
        with pytest.raises(ValueError, match="square"):
            find(sparse.csr_array(np.ones((2, 3))))
        with pytest.raises(TypeError, match="must be"):
            find([[1j]])


def find_on_host(graph, weights=None, **options):
    bits = None if weights is None else _as_weights(weights, graph._parts)
    return forest_arcs(HostGpu(**options), graph._parts, bits, Workspace())


@pytest.mark.soak(gate="values")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", HARD_GRAPHS)
def test_hard_graphs_on_gpu(name, form):
    """Each graph in a form has two kinds of weights, others in each; a sanitizer sees all kinds."""
    graph = make(name, form)
    check_forest(graph, find_on_host(graph))
    share = (list(HARD_GRAPHS).index(name) + list(FORMS).index(form)) % 3
    kinds = list(enumerate(KINDS))
    for seed, kind in kinds if SOAK or SANITIZER else kinds[share::3]:
        weights = draw_weights(kind, graph.num_arcs, seed, graph)
        check_forest(graph, find_on_host(graph, weights, seed=seed), weights)


@pytest.mark.parametrize("form", FORMS)
def test_index_types_on_gpu(form):
    for name in ("critical", "brooms"):
        for vertex in (np.int32, np.int64):
            for pointer in (np.int32, np.int64):
                graph = make(name, form, vertex, pointer)
                weights = draw_weights("few", graph.num_arcs)
                check_forest(graph, find_on_host(graph, weights), weights)


@pytest.mark.parametrize("form", FORMS)
def test_phases(form):
    graph = many_arcs(form, 120)
    # ThreadSanitizer sees what has no order in one of narrow weights and one of wide ones.
    kinds = ("few", "wide") if SANITIZER == "thread" else KINDS
    with recorded_launches() as launches:
        check_forest(graph, find_on_host(graph))
        for kind in kinds:
            weights = draw_weights(kind, graph.num_arcs, 2, graph)
            check_forest(graph, find_on_host(graph, weights), weights)
    names = [launch.kernel.name for launch in launches]
    assert names.count("guess_limit") == 1 + len(kinds)
    assert names.count("weigh_both_ways") == (len(kinds) if form == "both ends" else 0)


# From how many vertices on a row is far from another one, after how many steps edges are listed,
# and up to how many edges a vertex all are gone through at once.
LINKING = {
    "near": (1 << 18, 128, 3),
    "far": (2, 128, 99),
    "few steps": (2, 3, 99),
    "none": (40, 0, 3),
}


@pytest.mark.parametrize("linking", LINKING.values(), ids=LINKING)
@pytest.mark.parametrize("form", ["sorted", *FORMS])
def test_links(form, linking, monkeypatch):
    """Links of trees, by edges that give up sooner or later, where rows are far or near."""
    for name, value in zip(("FAR", "MOST_STEPS", "ALL_IN_ORDER"), linking, strict=True):
        monkeypatch.setattr(boruvka, name, value)
    several = shuffled([grid(9, 9), random(70, 90, 1), line(50)], 3)
    draws = [random(400, arcs, arcs) for arcs in (300, 420, 700, 1150)] + [random(40, 1500, 2)]
    for seed, ends in enumerate([several, HARD_GRAPHS["multiple"], HARD_GRAPHS["loop"], *draws]):
        graph = from_arcs(*ends, "both ends" if form == "sorted" else form)
        graph = sorted_rows(graph) if form == "sorted" else graph
        check_forest(graph, find_on_host(graph, seed=seed))


@pytest.mark.parametrize("seed", range(4))
def test_links_that_give_way(seed):
    """Edges that blocks see in any order, some of them into one tree."""
    draw = np.random.default_rng(seed)
    n, hub = 9000, 8990 + seed
    src, dst = draw.integers(0, n, (2, 20_000))
    src[::300] = hub
    graph = Graph.from_edges(src, dst, n)
    check_forest(graph, find_on_host(graph, seed=seed, workers=4))


def test_a_long_way_along_links():
    """The edge that closes a ring is listed, and all links with it."""
    n = 1000
    path = np.arange(n)
    for ring in (np.roll(path, -1), np.roll(path, 1)):
        graph = Graph.from_edges(path, ring, n)
        check_forest(graph, find_on_host(graph))


def test_a_tree_that_many_edges_lead_to():
    """It need not choose an edge, whatever the number of blocks that agree on it."""
    graph = generate.barabasi_albert(1500, 6, shuffle=True)
    for seed, kind in enumerate(("both ways", "few")):
        weights = draw_weights(kind, graph.num_arcs, seed, graph)
        check_forest(graph, find_on_host(graph, weights, seed=seed), weights)


def test_lists_of_many_edges():
    """Of which some lower keys first, by several blocks; at last one goes on alone."""
    src, dst, n = random(12_000, 20_000, 4)
    graph = sorted_rows(from_arcs(src, dst, n, "both ends"))
    weights = (draw_weights("both ways", graph.num_arcs, graph=graph) % 7).astype(np.int32)
    for several in (None, weights):
        check_forest(graph, find_on_host(graph, several), several)


@pytest.mark.soak
@pytest.mark.parametrize("rows", ["sorted", "in any order"])
def test_rows_from_both_ends(rows):
    """Rows that are sorted begin with the smallest neighbour, or a loop; others may not."""
    for seed, ends in enumerate([*HARD_GRAPHS.values(), random(300, 700, 5), random(40, 700, 6)]):
        graph = from_arcs(*ends, "both ends")
        drawn = np.random.default_rng(seed).random(graph.num_arcs)
        graph = sorted_rows(graph, None if rows == "sorted" else drawn)
        check_forest(graph, find_on_host(graph, seed=seed))
        for kind in ("both ways", "equal"):
            weights = draw_weights(kind, graph.num_arcs, graph=graph)
            check_forest(graph, find_on_host(graph, weights), weights)
            wide = weights.astype(np.float64)
            check_forest(graph, find_on_host(graph, wide), wide)


def sorted_rows(graph, within=None):
    """Return a graph of arcs from both ends, with rows in the order of indices or of values."""
    within = graph.indices if within is None else within
    order = np.lexsort([within, ends_of(graph)[0]])
    csr = graph._parts.csr[0], graph._parts.csr[1][order]
    return Graph._of_checked(graph.num_vertices, csr=csr, symmetric=True)


def test_hubs():
    """Rows that are too long to be looked through first, by weight."""
    n = 5000
    hub, leaf = np.zeros(n - 1, int), np.arange(1, n)
    chain = leaf[1:-1], leaf[2:]
    graph = sorted_rows(
        from_arcs(np.append(hub, chain[0]), np.append(leaf, chain[1]), n, "both ends")
    )
    check_forest(graph, find_on_host(graph))
    lightest_last = -np.maximum(*ends_of(graph)).astype(np.float32)
    for weights in (lightest_last, draw_weights("both ways", graph.num_arcs, graph=graph)):
        check_forest(graph, find_on_host(graph, weights), weights)


def test_hubs_outside_the_giant():
    """Of two components, the smaller one has a hub, and what is above the limit is outside."""
    draw = np.random.default_rng(2)
    giant = draw.integers(0, 4000, (2, 12_000))
    leaf = np.arange(4001, 5500)
    hub, rim = (np.full(len(leaf), 4000), leaf), (leaf[:-1], leaf[1:])
    src, dst = (np.concatenate(ends) for ends in zip(giant, hub, rim, strict=True))
    graph = sorted_rows(from_arcs(src, dst, 5500, "both ends"))
    for factor in (7919, -7919):
        weights = (np.minimum(*ends_of(graph)).astype(np.int64) * factor % 10007).astype(np.int32)
        weights = weights * np.where(ends_of(graph)[0] >= 4000, 1000, 1).astype(np.int32)
        check_forest(graph, find_on_host(graph, weights), weights)


@pytest.mark.parametrize("seed", range(3))
def test_long_rows_outside_the_giant(seed):
    """Of many edges of equal weight into the giant the least one of each tree is of use."""
    draw = np.random.default_rng(seed)
    names = draw.permutation(160)
    giant, outside = names[:120], names[120:]
    inner = draw.choice(giant, (2, 4000))
    outer = draw.choice(outside, 1500), draw.choice(names, 1500)
    src, dst = (np.append(a, b) for a, b in zip(inner, outer, strict=True))
    graph = sorted_rows(from_arcs(src, dst, 160, "both ends"))
    low, high = np.minimum(*ends_of(graph)), np.maximum(*ends_of(graph))
    is_inner = np.isin(low, giant) & np.isin(high, giant)
    heavy = 2 + (low + high) % 2, 200 + high
    for weights in (np.where(is_inner, *both) for both in zip((1, low), heavy, strict=True)):
        for dtype in (np.int32, np.float64):
            check_forest(graph, find_on_host(graph, weights.astype(dtype), seed=seed), weights)
    check_forest(graph, find_on_host(graph, seed=seed))


def test_small_forests_keep_little_memory():
    src, dst = np.triu_indices(20, 1)
    graph = sorted_rows(from_arcs(src, dst, 900, "both ends"))
    arcs = find_on_host(graph)
    check_forest(graph, arcs)
    assert arcs.base is None
    path = np.arange(50)
    assert len(find_on_host(sorted_rows(from_arcs(path, path + 1, 51, "both ends")))) == 50


def test_symmetric_but_for_multiplicities():
    indptr, indices = np.array([0, 5, 6]), np.array([1, 1, 1, 1, 1, 0], np.int32)
    graph = Graph._of_checked(2, csr=(indptr, indices), symmetric=True)
    assert find_on_host(graph).tolist() == [0]
    assert find_on_host(graph, [5, 4, 3, 2, 2, 1]).tolist() == [5]


def test_changing_weights_on_gpu():
    graph = many_arcs("both ends", 300)
    draw = np.random.default_rng(1)
    for dtype in (np.float32, np.float64):
        weights = draw.random(graph.num_arcs).astype(dtype)
        bits = _as_weights(weights, graph._parts)

        def change(number, weights=weights):
            weights[:] = draw.random(len(weights))

        arcs = forest_arcs(ChangingGpu(change), graph._parts, bits, Workspace())
        assert ((arcs >= 0) & (arcs < graph.num_arcs)).all()


@pytest.mark.gpu
class TestOnGpu:
    """The public functions, on a GPU."""

    @pytest.mark.parametrize("form", FORMS)
    @pytest.mark.parametrize("name", HARD_GRAPHS)
    def test_hard_graphs(self, cupy, name, form):
        graph = make(name, form)
        moved = graph.to("cuda")
        check_forest(graph, spanning_forest(moved).get())
        for seed, kind in enumerate(KINDS):
            weights = draw_weights(kind, graph.num_arcs, seed, graph)
            arcs = minimum_spanning_forest(moved, cupy.asarray(weights))
            check_forest(graph, arcs.get(), weights)
            check_forest(graph, minimum_spanning_forest(graph, weights, device="cuda"), weights)

    def test_bad_weights(self, cupy):
        graph = Graph.from_edges([0, 1, 2], [1, 2, 0]).to("cuda")
        with pytest.raises(ValueError, match=r"weights\[1\] is NaN"):
            minimum_spanning_forest(graph, cupy.array([1.0, np.nan, 2.0]))
        with pytest.raises(TypeError, match="weights lies in main memory"):
            minimum_spanning_forest(graph, np.ones(3))

    def test_matrices(self, cupy):
        from cupyx.scipy import sparse as on_gpu

        matrix = on_gpu.csr_matrix(sparse.csr_matrix(MATRIX.astype(np.float32)))
        assert sorted(matrix.data[minimum_spanning_forest(matrix)].get()) == [1, 2]
        assert sorted(minimum_spanning_forest(cupy.asarray(MATRIX)).get()) == [1, 3]
