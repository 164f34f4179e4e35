"""Graphs: what is known by construction, and the statistics of the random ones."""

import networkx
import numpy as np
import pytest
from scipy import stats

import conncomp
from conncomp import generate
from families import GRAPHS, SHUFFLED_GRAPHS, UNSEEDED_GRAPHS


def components(graph):
    return conncomp.connected_components(graph, return_labels=False)


def degrees(graph):
    return np.diff(graph.indptr)


def edges(graph):
    """Return the edges as rows (u, v), in the order in which they were made."""
    src, dst = graph.arrays[:2]  # each edge (u, v) is first v -> u, and later u -> v
    return np.stack([dst, src], axis=1)[: graph.num_arcs // 2]


def loops(graph):
    return int((np.repeat(np.arange(graph.num_vertices), degrees(graph)) == graph.indices).sum())


@pytest.mark.parametrize("name", GRAPHS)
def test_graphs_are_sound(name):
    graph = GRAPHS[name]()
    assert all(array.dtype == np.int32 for array in graph.arrays if array is not graph.indptr)
    assert graph.is_symmetric()
    graph._parts.symmetric = None
    assert graph.is_symmetric()  # as found, not as said
    assert graph.indices.min() >= 0
    assert graph.indices.max() < graph.num_vertices
    assert len(graph.indptr) == graph.num_vertices + 1
    if not name.startswith(("disjoint", "rmat")):
        assert loops(graph) == 0


@pytest.mark.parametrize("name", [name for name in GRAPHS if name not in UNSEEDED_GRAPHS])
def test_same_for_a_seed_on_any_number_of_threads(name):
    made = []
    for threads in (1, 5):
        conncomp.set_num_threads(threads)
        made.append(GRAPHS[name](seed=11))
    for one, other in zip(made[0].arrays, made[1].arrays, strict=True):
        np.testing.assert_array_equal(one, other)
    if name not in ("line", "grid"):
        other = GRAPHS[name](seed=12)
        assert made[0].num_arcs != other.num_arcs or (made[0].indices != other.indices).any()


@pytest.mark.parametrize("name", SHUFFLED_GRAPHS)
def test_shuffle_renames_the_vertices(name):
    plain, shuffled = GRAPHS[name](seed=3), GRAPHS[name](shuffle=True, seed=3)
    assert (edges(plain) != edges(shuffled)).any()
    # One name for each vertex: every old name always meets the same new one.
    pairs = np.unique(np.stack([edges(plain).ravel(), edges(shuffled).ravel()]), axis=1)
    for names in pairs:
        assert len(np.unique(names)) == pairs.shape[1]


def test_line():
    for n in (1, 2, 1000):
        graph = generate.line(n)
        assert edges(graph).tolist() == [[i, i + 1] for i in range(n - 1)]
    assert components(generate.line(1000, shuffle=True)) == 1
    rows = np.split(generate.line(50).indices, generate.line(50).indptr[1:-1])
    assert all((np.diff(row) > 0).all() for row in rows)


@pytest.mark.parametrize("hub", [0, 5, 9, -1])
def test_star(hub):
    graph = generate.star(10, hub)
    expected = np.ones(10)
    expected[hub] = 9
    np.testing.assert_array_equal(degrees(graph), expected)
    assert components(graph) == 1
    assert generate.star(1).num_arcs == 0


@pytest.mark.parametrize("shape", [(7,), (5, 6), (3, 4, 5), (1, 5), (2, 2)])
def test_grid(shape):
    graph = generate.grid(shape)
    expected = networkx.grid_graph(shape[::-1])
    renamed = networkx.relabel_nodes(
        expected, {node: np.ravel_multi_index(np.atleast_1d(node), shape) for node in expected}
    )
    assert {frozenset(edge) for edge in edges(graph).tolist()} == {
        frozenset(map(int, edge)) for edge in renamed.edges
    }
    assert graph.num_arcs == 2 * renamed.number_of_edges()


def test_periodic_grid():
    assert set(degrees(generate.grid((3, 5, 4), periodic=True))) == {6}
    assert set(degrees(generate.grid(8, periodic=True))) == {2}
    half = degrees(generate.grid((5, 6), periodic=(False, True))).reshape(5, 6)
    assert set(half[0]) == set(half[-1]) == {3}
    assert set(half[1:-1].ravel()) == {4}
    # Two in a row are neighbours once.
    assert set(degrees(generate.grid((2, 2), periodic=True))) == {2}


def test_road_like():
    graph = generate.road_like((100, 120), 0.6)
    assert graph.num_vertices == 12000
    kept = graph.num_arcs / 2
    total = 99 * 120 + 100 * 119
    assert stats.binomtest(int(kept), total, 0.6).pvalue > 1e-3
    every = generate.road_like((7, 9), 1)
    grid = generate.grid((7, 9))
    assert {tuple(edge) for edge in edges(every).tolist()} == {
        tuple(edge) for edge in edges(grid).tolist()
    }
    assert generate.road_like((7, 9), 0).num_arcs == 0


def test_roads_in_segments_have_the_same_components():
    for seed in range(5):
        plain = generate.road_like((20, 30), 0.6, seed=seed)
        cut = generate.road_like((20, 30), 0.6, segments=4, seed=seed)
        assert components(plain) == components(cut)
        junctions = np.sort(degrees(plain))
        np.testing.assert_array_equal(
            junctions[junctions != 2], np.sort(degrees(cut)[degrees(cut) != 2])
        )
        inserted = cut.num_vertices - plain.num_vertices
        assert inserted == (cut.num_arcs - plain.num_arcs) // 2
        assert inserted / (plain.num_arcs / 2) == pytest.approx(1.5, abs=0.2)


def test_connected_roads():
    for keep in (0, 0.55, 1):
        graph = generate.road_like((40, 50), keep, connected=True)
        assert components(graph) == 1
        total = 39 * 50 + 40 * 49
        assert graph.num_arcs / 2 == pytest.approx(max(keep * total, 1999), rel=0.03)
    tree = generate.road_like((40, 50), 0, connected=True, segments=3)
    assert tree.num_arcs // 2 == tree.num_vertices - 1
    assert components(generate.road_like((1, 1), connected=True)) == 1


@pytest.mark.parametrize("order", ["random", "strip", "hilbert"])
def test_delaunay(order):
    graph = generate.delaunay(3000, order)
    assert components(graph) == 1
    assert 5.9 < graph.num_arcs / 3000 < 6  # 6 - (6 + 2 * hull) / n
    u, v = np.repeat(np.arange(3000), degrees(graph)), graph.indices
    far = np.median(np.abs(u - v))
    assert far > 500 if order == "random" else far < 100


def test_uniform_random():
    graph = generate.uniform_random(2000, 8000)
    assert graph.num_arcs == 16000
    counts = np.bincount(degrees(graph), minlength=20)
    expected = 2000 * stats.poisson(8).pmf(np.arange(len(counts)))
    merged = [np.array([c[:4].sum(), *c[4:14], c[14:].sum()]) for c in (counts, expected)]
    merged[1] *= 2000 / merged[1].sum()
    assert stats.chisquare(*merged).pvalue > 1e-3
    assert generate.uniform_random(0, 0).num_vertices == 0


def test_random_neighbours():
    graph = generate.random_neighbours(5000, 4)
    assert graph.num_arcs == 40000
    assert degrees(graph).min() >= 4
    assert components(graph) == 1


@pytest.mark.parametrize("k", [1, 10, 300])
def test_disjoint(k):
    graph = generate.disjoint(3000, 30000, k, connected=True)
    assert (graph.num_arcs, components(graph)) == (60000, k)
    loose = generate.disjoint(3000, 3000, k)
    assert components(loose) >= k
    assert components(generate.disjoint(3000, 0, k)) == 3000


def test_disjoint_leaves_as_many_alone_as_expected():
    graph = generate.disjoint(100_000, 312_500, 10)
    assert (degrees(graph) == 0).sum() == pytest.approx(100_000 * np.exp(-6.25), rel=0.25)


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize(
    ("n", "m", "k"), [(0, 0, 0), (5, 0, 5), (5, 3, 4), (10, 9, 1), (1000, 700, 301), (999, 5000, 7)]
)
def test_wang(n, m, k, shuffle):
    graph = generate.equal_components(n, m, k, shuffle=shuffle)
    assert (graph.num_vertices, graph.num_arcs, components(graph)) == (n, 2 * m, k)
    if n:
        labels = conncomp.connected_components(graph)[1]
        sizes = conncomp.component_sizes(labels, background=None)
        assert set(sizes) <= {n // k, -(-n // k)}
        if not shuffle:
            assert (np.diff(labels) >= 0).all()


def tail_exponent(degree, smallest):
    """Estimate the exponent of a power law by maximum likelihood (Clauset et al. 2009)."""
    tail = degree[degree >= smallest]
    return 1 + len(tail) / np.log(tail / (smallest - 0.5)).sum()


@pytest.mark.parametrize("d", [1, 2, 5])
def test_barabasi_albert(d):
    n = 100_000
    graph = generate.barabasi_albert(n, d)
    degree = degrees(graph)
    assert graph.num_arcs == 2 * d * (n - d)
    assert components(graph) == 1
    assert tail_exponent(degree, 8 * d) == pytest.approx(3, abs=0.2)
    assert degree.max() > 0.5 * d * np.sqrt(n)
    # P(k) = 2 d (d + 1) / (k (k + 1) (k + 2)), so 2 / (d + 2) have the smallest degree.
    assert (degree == d).mean() == pytest.approx(2 / (d + 2), rel=0.02)
    newer, older = edges(graph)[d:].T
    assert (newer > older).all()


def test_watts_strogatz():
    n, k, p = 20_000, 10, 0.1
    ring = edges(generate.watts_strogatz(n, k, 0))
    assert set(np.bincount(ring.ravel())) == {k}
    assert set(((ring[:, 1] - ring[:, 0]) % n).tolist()) == set(range(1, k // 2 + 1))
    graph = generate.watts_strogatz(n, k, p)
    assert graph.num_arcs == n * k
    changed = (edges(graph) != ring).any(axis=1)
    assert stats.binomtest(int(changed.sum()), len(ring), p).pvalue > 1e-3
    random = degrees(generate.watts_strogatz(n, k, 1))
    assert random.mean() == k
    assert random.min() >= k // 2
    assert random.var() == pytest.approx(k / 2, rel=0.05)  # k / 2 of its own, Poisson(k / 2) others


def test_rmat():
    scale, d = 15, 16
    graph = generate.rmat(scale, d)
    assert graph.num_arcs == 2 * d << scale
    u, v = edges(graph).T
    for bit in (0, 7, 14):
        quadrant = 2 * (u >> bit & 1) + (v >> bit & 1)
        expected = np.array([0.57, 0.19, 0.19, 0.05]) * len(u)
        assert stats.chisquare(np.bincount(quadrant), expected).pvalue > 1e-3
    degree = degrees(graph)
    assert degree.argmax() == 0
    assert degree.max() == pytest.approx(2 * len(u) * 0.76**scale, rel=0.05)
    assert (degree == 0).mean() > 0.2
    level = degrees(generate.rmat(scale, d, a=0.25, b=0.25, c=0.25))
    assert level.max() < 80


def test_simple_rmat_has_each_edge_once():
    whole, simple = generate.rmat(10, 16), generate.rmat(10, 16, simple=True)
    assert loops(simple) == 0
    expected = {tuple(sorted(edge)) for edge in edges(whole).tolist() if edge[0] != edge[1]}
    found = [tuple(edge) for edge in edges(simple).tolist()]
    assert found == sorted(expected)
    assert components(whole) == components(simple)


@pytest.mark.parametrize("window", [None, 100])
def test_web_like(window):
    n, d = 50_000, 7
    graph = generate.web_like(n, d, 0.5, window=window)
    assert graph.num_arcs == 2 * d * (n - 1)
    assert components(graph) == 1
    newer, older = edges(graph).T
    assert (newer > older).all()
    inward = np.bincount(older, minlength=n)
    uniform = np.bincount(edges(generate.web_like(n, d, 0))[:, 1])
    assert inward.max() > 5 * uniform.max()
    if window is None:
        assert tail_exponent(inward, 60) == pytest.approx(3, abs=0.3)


def test_smallest_web():
    assert generate.web_like(1, 3).num_arcs == 0
    assert edges(generate.web_like(2, 3)).tolist() == [[1, 0]] * 3


def test_a_window_makes_near_pages_alike():
    d, alike = 5, {}
    for window in (None, 3):
        links = edges(generate.web_like(5000, d, window=window))[:, 1].reshape(-1, d)
        common = [(links[:-k] == links[k:]).sum(axis=1)[3 - k :] for k in (1, 2, 3)]
        alike[window] = np.mean(np.max(common, axis=0) >= 3)
    # Three links or more of five are copied half the time, from a near page half the time.
    assert alike[3] > 0.25
    assert alike[None] < 0.03


@pytest.mark.parametrize("exponent", [0, 2.5])
def test_overlapping_cliques(exponent):
    graph = generate.overlapping_cliques(3000, 20, exponent=exponent, shared=0)
    labels = conncomp.connected_components(graph)[1]
    sizes = conncomp.component_sizes(labels, background=None)
    np.testing.assert_array_equal(degrees(graph), sizes[labels] - 1)
    assert sizes.max() <= 20
    if exponent == 0:
        assert sizes.mean() == pytest.approx(10.5, rel=0.15)
    else:
        assert np.mean(sizes == 1) == pytest.approx(1 / (np.arange(1, 21) ** -2.5).sum(), rel=0.1)
    assert components(generate.overlapping_cliques(3000, 20, exponent=exponent, shared=2)) == 1
    assert generate.overlapping_cliques(1, 20, shared=3).num_arcs == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: generate.line(0), "num_vertices=0"),
        (lambda: generate.star(5, hub=5), "hub=5"),
        (lambda: generate.grid(()), r"shape=\(\)"),
        (lambda: generate.grid((3, 0)), r"shape\[1\]=0"),
        (lambda: generate.grid((3, 4), periodic=(True,)), r"periodic=\(True,\)"),
        (lambda: generate.road_like((3, 4, 5)), r"shape=\(3, 4, 5\)"),
        (lambda: generate.road_like((3, 4), 1.5), r"keep=1\.5"),
        (lambda: generate.road_like((3, 4), segments=0), "segments=0"),
        (lambda: generate.delaunay(3), "num_vertices=3"),
        (lambda: generate.delaunay(10, "spiral"), "order='spiral'"),
        (lambda: generate.uniform_random(1, 1), "num_edges=1"),
        (lambda: generate.disjoint(5, 5, 6), "num_components=6"),
        (lambda: generate.disjoint(5, 5, 0), "num_components=0"),
        (lambda: generate.disjoint(0, 1, 0), "num_edges=1"),
        (lambda: generate.disjoint(5, 1, 2, connected=True), "num_edges=1"),
        (lambda: generate.equal_components(5, 2, 2), "num_edges=2"),
        (lambda: generate.equal_components(5, 1, 5), "num_edges=1"),
        (lambda: generate.barabasi_albert(3, 3), "num_vertices=3"),
        (lambda: generate.watts_strogatz(10, 3, 0.1), "degree=3"),
        (lambda: generate.watts_strogatz(4, 4, 0.1), "num_vertices=4"),
        (lambda: generate.rmat(32), "scale=32"),
        (lambda: generate.rmat(3, a=0.9), r"a \+ b \+ c = 1\.28"),
        (lambda: generate.web_like(5, 0), "links_per_vertex=0"),
        (lambda: generate.web_like(5, 1, window=0), "window=0"),
        (lambda: generate.overlapping_cliques(5, exponent=-1), r"exponent=-1\.0"),
        (lambda: generate.line(10**18), "num_vertices=10{18} must be at most"),
        (lambda: generate.grid((10**9, 10**9)), r"shape=\(10{9}, 10{9}\) .* at most"),
        (lambda: generate.uniform_random(9, 10**30), "num_edges=10{30} must be at most"),
        (lambda: generate.random_neighbours(10**9, 10**9), r"num_vertices \* degree=10{18}"),
        (lambda: generate.barabasi_albert(10**12, 10**9), r"num_vertices \* edges_per_vertex="),
        (lambda: generate.watts_strogatz(10**12, 10**9, 0.5), r"num_vertices \* degree=10{21}"),
        (lambda: generate.rmat(31, 10**9), r"num_vertices \* edges_per_vertex="),
        (lambda: generate.web_like(10**12, 10**9), r"num_vertices \* links_per_vertex=10{21}"),
    ],
)
def test_bad_values(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_bad_types():
    with pytest.raises(TypeError, match=r"num_vertices=2\.5"):
        generate.line(2.5)
    with pytest.raises(TypeError, match="keep='half'"):
        generate.road_like((3, 4), "half")
