"""Strong components on a GPU: every algorithm on the host executor, beside a search."""

import numpy as np
import pytest

from conncomp import Graph, Workspace, connected_components, generate
from conncomp._algorithms import Task
from conncomp.graph.algorithms import STRONG_ALGORITHMS
from conncomp.kernels.cuda.graph import strong_components
from conncomp.kernels.cuda.graph.edges import list_arcs
from conncomp.kernels.cuda.launcher import recorded_launches
from graph.test_strong_components import many_digraphs
from host_cuda.host_gpu import HostGpu, interleavings
from reference import strong_components_by_tarjan

ON_GPU = STRONG_ALGORITHMS["cuda"]


def random_digraph(vertices, arcs, seed, hubs=0):
    """Return a digraph of random arcs, and of arcs from and to a few hubs."""
    rng = np.random.default_rng(seed)
    src, dst = rng.integers(0, vertices, (2, arcs))
    to_hub, from_hub = rng.integers(0, vertices, (2, hubs * vertices // 4))
    hub = rng.integers(0, vertices, 1).repeat(len(to_hub))
    src, dst = np.concatenate([src, to_hub, hub]), np.concatenate([dst, hub, from_hub])
    return Graph.from_edges(src, dst, vertices)


def shuffled_tori(rows, columns):
    """Return three tori side by side, in any order, with a few arcs from one to the next."""
    place = np.arange(3 * rows * columns).reshape(3, rows, columns)
    src = np.concatenate([place.ravel(), place.ravel(), place[:2].ravel()[::50]])
    ends = [np.roll(place, 1, 1).ravel(), np.roll(place, 1, 2).ravel(), place[1:].ravel()[::50]]
    names = np.random.default_rng(7).permutation(place.size)
    return Graph.from_edges(names[src], names[np.concatenate(ends)], place.size)


def rising_digraph(vertices, arcs, backwards=False):
    """Return a digraph of arcs to later vertices, but for some pairs close by that have both."""
    rng = np.random.default_rng(6)
    src = rng.integers(0, vertices - 1, arcs)
    dst = rng.integers(src + 1, np.minimum(src + rng.choice([3, 90], arcs), vertices))
    near = rng.integers(1, vertices, vertices // 6)
    src, dst = (
        np.concatenate([src, near]),
        np.concatenate([dst, near - rng.integers(0, 2, len(near))]),
    )
    return Graph.from_edges(*((dst, src) if backwards else (src, dst)), vertices)


def shuffled(vertices, src, dst):
    names = np.random.default_rng(8).permutation(vertices)
    return Graph.from_edges(names[src], names[dst], vertices)


def scattered_pairs(pairs):
    """Return pairs side by side, from each of which an arc leads to a pair anywhere.

    Three arcs each, which a sample with steps of a multiple of three would see one of.
    """
    first = 2 * np.arange(pairs)
    other = 2 * np.random.default_rng(11).permutation(pairs)
    src, dst = np.stack([first, first, first + 1], 1), np.stack([first + 1, other, first], 1)
    return Graph.from_edges(src.ravel(), dst.ravel(), 2 * pairs)


def functional_graph(vertices, backwards=False):
    """Return a digraph in which one arc leaves every vertex, or leads to it."""
    dst = np.random.default_rng(9).integers(0, vertices, vertices)
    arcs = np.arange(vertices), dst
    return Graph.from_edges(*(arcs[::-1] if backwards else arcs), vertices)


def looped_paths(count, length, backwards=False):
    """Return paths side by side and one after the other, from each of which an arc leads back."""
    rng = np.random.default_rng(10)
    place = np.arange(count * length).reshape(count, length)
    late, early = rng.integers(length // 2, length, count), rng.integers(0, length // 2, count)
    first = place[:, 0]
    src = [place[:, :-1].ravel(), first + late, first[:-1], first[:-2]]
    dst = [place[:, 1:].ravel(), first + early, first[1:] + late[1:], first[2:] + early[2:]]
    arcs = np.concatenate(src), np.concatenate(dst)
    return shuffled(place.size, *(arcs[::-1] if backwards else arcs))


def daisies(count, petals, length):
    """Return cycles that share a vertex, and an arc from each such flower to the next."""
    place = np.arange(count * petals * length).reshape(count, petals, length)
    place[:, :, 0] = place[:, :1, 0]
    centre = place[:, 0, 0]
    src = np.concatenate([place.ravel(), centre[:-1]])
    dst = np.concatenate([np.roll(place, -1, 2).ravel(), centre[1:]])
    return shuffled(place.size, src, dst)


def cycle_with_exits(length):
    """Return a cycle from which two arcs lead to a clique of five."""
    src, dst = (length + np.argwhere(~np.eye(5, dtype=bool))).T
    ring = np.arange(length)
    src = np.concatenate([src, ring, [1, length // 2]])
    dst = np.concatenate([dst, np.roll(ring, -1), [length, length + 1]])
    return shuffled(length + 5, src, dst)


def ladder(rungs):
    """Return two paths side by side, with arcs both ways between them."""
    v = np.arange(2 * rungs)
    return shuffled(2 * rungs, np.r_[v, v[:-2]], np.r_[v ^ 1, v[:-2] + 2])


def streets(rows, columns):
    """Return a grid in which nine of ten edges lead both ways."""
    place = np.arange(rows * columns).reshape(rows, columns)
    src = np.concatenate([place[:, 1:].ravel(), place[1:].ravel()])
    dst = np.concatenate([place[:, :-1].ravel(), place[:-1].ravel()])
    both = np.random.default_rng(13).random(len(src)) < 0.9
    return Graph.from_edges(np.r_[src, dst[both]], np.r_[dst, src[both]], place.size)


def nested_cycles(depth):
    """Return cycles of three such cycles each, twice, and an arc from one to the other."""
    src = dst = np.zeros(0, np.int64)
    for size in 3 ** np.arange(depth):
        src = np.concatenate([src, src + size, src + 2 * size, np.arange(3) * size])
        dst = np.concatenate([dst, dst + size, dst + 2 * size, np.roll(np.arange(3), -1) * size])
    size = 3**depth
    return shuffled(2 * size, np.r_[src, src + size, 0], np.r_[dst, dst + size, size])


def drifting_digraph(vertices):
    """Return a digraph of six arcs a vertex, mostly a few ahead; a search for a giant creeps in it.

    The first vertex and the last one lead far, so that the order has no cuts.
    """
    rng = np.random.default_rng(1)
    src = rng.integers(1, vertices - 1, 6 * vertices)
    dst = np.clip(src + rng.integers(-3, 9, len(src)), 1, vertices - 2)
    far = np.arange(1, 60)
    src = np.concatenate([src, np.zeros_like(far), np.full_like(far, vertices - 1)])
    return Graph.from_edges(src, np.concatenate([dst, vertices - 1 - far, far]), vertices)


DIGRAPHS = {
    "random": lambda: random_digraph(700, 900, 1),
    "dense": lambda: random_digraph(100, 1500, 2),
    "hubs": lambda: random_digraph(900, 700, 3, hubs=2),
    "rmat": lambda: generate.directed.rmat(9, 8),
    "web": lambda: generate.directed.bow_tie(600),
    "cycle": lambda: generate.directed.cycle(300),
    "shuffled cycle": lambda: generate.directed.cycle(300, shuffle=True),
    "path": lambda: Graph.from_edges(np.arange(99), np.arange(1, 100)),
    "chain": lambda: generate.directed.chain_of_cycles(40, 7, shuffle=True),
    "pairs": lambda: generate.directed.chain_of_cycles(50, 2),
    "torus": lambda: generate.mesh_sweep((8, 5, 4)),
    "klein bottle": lambda: generate.mesh_sweep((6, 6, 4), "klein-bottle"),
    "beam": lambda: generate.mesh_sweep((6, 4, 3), "twisted-beam", elements="tetrahedra"),
    "source hub": lambda: Graph.from_edges([0] * 4999 + [7, 8], [*range(1, 5000), 8, 7]),
    "shuffled pairs": lambda: generate.directed.chain_of_cycles(150, 2, shuffle=True),
    "shuffled tori": lambda: shuffled_tori(13, 17),
    "rising": lambda: rising_digraph(500, 1200),
    "falling": lambda: rising_digraph(500, 1200, backwards=True),
    "loops": lambda: Graph.from_edges([0, 1, 1, 2, 2, 5], [0, 1, 1, 2, 2, 5], 7),
    "multiple": lambda: Graph.from_edges([0, 1, 0, 1, 2, 2], [1, 0, 1, 0, 1, 1], 3),
    "alone": lambda: Graph.from_edges([], [], 100),
    "one": lambda: Graph.from_edges([], [], 1),
    "nothing": lambda: Graph.from_edges([], []),
}
# A path is divided in as many rounds as half of its vertices, of several launches each.
SLOW = {
    ("forward-backward", name)
    for name in ("path", "chain", "pairs", "shuffled pairs", "rising", "falling")
}


def arcs_of(graph):
    src = np.repeat(np.arange(graph.num_vertices), np.diff(graph.indptr))
    return np.stack([src, graph.indices], axis=1)


def in_form(graph, form, vertex=np.int32, pointer=np.int32):
    if form == "rows":
        return Graph.from_csr(graph.indptr.astype(pointer), graph.indices.astype(vertex))
    arcs = np.random.default_rng(4).permutation(arcs_of(graph)).astype(vertex)
    return Graph.from_edges(*arcs.T, graph.num_vertices)


def fill(gpu, algorithm, graph, index=np.int32):
    roots = np.full(graph.num_vertices, -7, index)
    components = ON_GPU[algorithm].fill(graph._parts, Task(gpu, roots, Workspace(), False))
    return roots, int(components[0])


def check(gpu, algorithm, graph, expected, index=np.int32):
    roots, components = fill(gpu, algorithm, graph, index)
    np.testing.assert_array_equal(roots, expected)
    assert components == len(np.unique(expected))


def expected_of(graph):
    return strong_components_by_tarjan(graph.num_vertices, arcs_of(graph).tolist())


@pytest.mark.soak(gate="pairs")
@pytest.mark.parametrize("form", ["rows", "arcs"])
@pytest.mark.parametrize("name", DIGRAPHS)
@pytest.mark.parametrize("algorithm", ON_GPU)
def test_digraphs(algorithm, name, form):
    graph = DIGRAPHS[name]()
    expected = expected_of(graph)
    for seed in interleavings(1 if (algorithm, name) in SLOW else 3):
        check(HostGpu(seed=seed), algorithm, in_form(graph, form), expected)


@pytest.mark.parametrize("vertex", [np.int32, np.int64])
def test_sources_of_arcs(vertex):
    """Rows that are empty, begin and end with spans of 4,096 arcs, or are longer than these."""
    rng = np.random.default_rng(3)
    lengths = rng.choice([0, 0, 1, 5, 40], 900)
    lengths[[0, 7, 300, 500, 899]] = 4096, 0, 9000, 8192 - 4096, 0
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(vertex)
    indices = rng.integers(0, 900, indptr[-1]).astype(vertex)
    graph = Graph.from_csr(indptr, indices)
    sources = np.full(len(indices), -1, vertex)
    list_arcs(HostGpu(seed=2), graph._parts, sources)
    np.testing.assert_array_equal(sources, np.repeat(np.arange(900), lengths))


def test_members_of_a_giant_that_is_not_complete():
    # Its search is given up, and its member is told in a later round only.
    graph = drifting_digraph(1500)
    check(HostGpu(seed=1), "auto", in_form(graph, "rows"), expected_of(graph))


@pytest.mark.soak(gate="values")
@pytest.mark.parametrize("barriers", [0, 1])
@pytest.mark.parametrize("name", DIGRAPHS)
def test_what_sweeps_over_arcs_do_not_settle(name, barriers, monkeypatch):
    """Vertices pass on what they know, from the first arc on or after a few sweeps."""
    monkeypatch.setattr(strong_components, "ARC_BARRIERS", (barriers, barriers))
    graph = DIGRAPHS[name]()
    expected = expected_of(graph)
    for seed in range(3):
        check(HostGpu(seed=seed), "auto", in_form(graph, "rows"), expected)


@pytest.mark.parametrize("hub", [1, 10**6])
def test_with_and_without_a_search_for_a_giant(hub, monkeypatch):
    """From any vertex, or from none."""
    monkeypatch.setattr(strong_components, "_least_hub", lambda vertices, arcs: hub)
    for name in ("random", "dense", "rmat", "shuffled cycle", "path", "torus"):
        graph = DIGRAPHS[name]()
        check(HostGpu(), "auto", in_form(graph, "rows"), expected_of(graph))


@pytest.mark.soak(gate="values")
@pytest.mark.parametrize("long_arc", [1, 10**6])
@pytest.mark.parametrize("name", DIGRAPHS)
def test_with_and_without_cuts(long_arc, name, monkeypatch):
    """Whatever arcs of a sample say: cuts are looked for, or not."""
    monkeypatch.setattr(strong_components, "_long_arc", lambda vertices: long_arc)
    graph = DIGRAPHS[name]()
    for seed in range(2):
        check(HostGpu(seed=seed), "auto", in_form(graph, "rows"), expected_of(graph))


@pytest.fixture
def chained(monkeypatch):
    """Chains are looked for in every graph, whatever a sample of its arcs says."""
    monkeypatch.setattr(strong_components, "LEAST_CHAINED", 0)
    monkeypatch.setattr(strong_components, "CHAIN_DEGREE", 10**6)
    monkeypatch.setattr(strong_components, "MOST_ENDS", 10**6)
    monkeypatch.setattr(strong_components, "_least_hub", lambda vertices, arcs: 10**6)
    monkeypatch.setattr(strong_components, "_long_arc", lambda vertices: -vertices)


CHAINS = DIGRAPHS | {
    "shuffled path": lambda: shuffled(99, np.arange(98), np.arange(1, 99)),
    "cycles of threes": lambda: generate.directed.chain_of_cycles(60, 3, shuffle=True),
    "trees on cycles": lambda: functional_graph(400),
    "trees from cycles": lambda: functional_graph(400, backwards=True),
    "paths to loops": lambda: looped_paths(30, 11),
    "paths from loops": lambda: looped_paths(30, 11, backwards=True),
    "daisies": lambda: daisies(3, 4, 100),
    "exits": lambda: cycle_with_exits(200),
    "ladder": lambda: ladder(100),
    "no chains": lambda: Graph.from_edges(
        np.arange(14) % 7, (np.arange(14) % 7 + np.repeat([1, 2], 7)) % 7
    ),
    "streets": lambda: streets(17, 23),
    "nested cycles": lambda: nested_cycles(5),
}


@pytest.mark.soak(gate="values")
@pytest.mark.parametrize("form", ["rows", "arcs"])
@pytest.mark.parametrize("name", CHAINS)
def test_chains(name, form, chained):
    graph = CHAINS[name]()
    for seed in interleavings(3):
        with recorded_launches() as launches:
            check(HostGpu(seed=seed), "auto", in_form(graph, form), expected_of(graph))
        names = [launch.kernel.name for launch in launches]
        assert ("contract_chains" in names) == (graph.num_arcs > 0)


@pytest.mark.parametrize(
    "name",
    [
        "shuffled path",
        "shuffled cycle",
        "shuffled pairs",
        "cycles of threes",
        "trees on cycles",
        "trees from cycles",
        "paths to loops",
        "paths from loops",
        "daisies",
        "exits",
        "ladder",
    ],
)
def test_chains_leave_no_arcs(name, chained):
    """But for those of a clique, which are no chains."""
    with recorded_launches() as launches:
        fill(HostGpu(), "auto", in_form(CHAINS[name](), "rows"))
    (arguments,) = (launch.arguments for launch in launches if launch.kernel.name == "choose_pivot")
    state = arguments[-2].view(np.int64)
    assert state[0] & strong_components.CONTRACT_CHAINS
    assert state[14] == (20 if name == "exits" else 0)  # arcs that are kept


def test_mutual_arcs_are_united_where_a_sample_tells_of_many(monkeypatch):
    monkeypatch.setattr(strong_components, "LEAST_CHAINED", 0)
    graph = in_form(streets(70, 90), "rows")
    with recorded_launches() as launches:
        check(HostGpu(), "auto", graph, expected_of(graph))
    (arguments,) = (launch.arguments for launch in launches if launch.kernel.name == "choose_pivot")
    state = arguments[-2].view(np.int64)
    assert state[0] == 2 + 4  # chains, and mutual arcs first
    assert state[14] < graph.num_arcs / 4


@pytest.mark.parametrize(
    "name", ["torus", "shuffled pairs", "shuffled tori", "path", "hubs", "alone"]
)
@pytest.mark.parametrize("chains", [False, True])
def test_all_first_steps_are_launched_where_none_is_known(name, chains, monkeypatch, request):
    """As for a graph that is new in a capture, which cannot ask: each looks for itself."""
    if chains:
        request.getfixturevalue("chained")
    monkeypatch.setattr(HostGpu, "is_capturing", lambda gpu, stream: True)
    graph = CHAINS[name]()
    with recorded_launches() as launches:
        check(HostGpu(), "auto", in_form(graph, "rows"), expected_of(graph))
    names = [launch.kernel.name for launch in launches]
    assert names[-3:] == ["contract_chains", "cut_arcs", "strong_components"]


def test_chains_are_looked_for_where_a_sample_tells_of_some():
    """In graphs of many vertices, where few lead nowhere and the order has no cuts."""
    vertices = strong_components.LEAST_CHAINED
    for graph, first in (
        (generate.directed.cycle(vertices, shuffle=True), ["contract_chains"]),
        (generate.directed.cycle(vertices // 2, shuffle=True), ["cut_arcs"]),
        (generate.directed.cycle(vertices), ["cut_arcs"]),
        (scattered_pairs(1 << 16), ["contract_chains"]),
        (random_digraph(vertices, vertices // 2, 1), []),
    ):
        with recorded_launches() as launches:
            fill(HostGpu(), "auto", in_form(graph, "rows"))
        names = [launch.kernel.name for launch in launches]
        assert names[names.index("choose_pivot") + 1 :] == [*first, "strong_components"]


def test_cuts_are_compiled_for_a_graph_that_may_have_some():
    """Not for one with a giant around a hub."""
    gpu, launched = HostGpu(), []
    giant, path = (in_form(DIGRAPHS[name](), "rows") for name in ("rmat", "path"))
    for graph in (giant, path, giant, path):
        with recorded_launches() as launches:
            check(gpu, "auto", graph, expected_of(graph))
        launched.append("cut_arcs" in [launch.kernel.name for launch in launches])
    assert launched == [False, True, False, True]
    # What ``conncomp gpu --compile strong`` calls.
    circle = Graph.from_csr(np.arange(5, dtype=np.int32), np.array([1, 2, 3, 0], np.int32))
    with recorded_launches() as launches:
        check(HostGpu(), "auto", circle, np.zeros(4, np.int32))
    assert [launch.kernel.name for launch in launches][-2:] == ["cut_arcs", "strong_components"]


def test_a_sample_of_vertices_that_no_arc_leads_to():
    """Of many vertices some are looked at; without any such, and with many."""
    ring, vertices = np.arange(70_001), 70_001
    following = np.roll(ring, -1)
    cycle = Graph.from_edges(ring, following, vertices)
    check(HostGpu(), "auto", in_form(cycle, "rows"), np.zeros(vertices, np.int32))
    without = ring % 10 > 0
    paths = Graph.from_edges(ring[without], following[without], vertices)
    check(HostGpu(), "auto", in_form(paths, "rows"), ring)


@pytest.mark.soak
def test_a_search_that_is_given_up_leaves_a_giant_among_other_sources(monkeypatch):
    """The arcs of its members are then of one vertex, but do not lie side by side."""
    monkeypatch.setattr(strong_components, "_least_hub", lambda vertices, arcs: 1)
    members = np.arange(0, 16000, 100)
    giant = [arc for v in members[1:] for arc in ((0, v), (v, 0))]
    leaving = [(v, v + k) for v in members for k in range(1, v // 53 % 43)]
    creeping = [(0, 20000)] + [(v, v - 1) for v in range(20000, 19500, -1)]
    between = [v + i for v in members for i in range(50, 100)]
    cycle = [*zip(between, np.roll(between, -1), strict=True)]
    graph = Graph.from_edges(*np.array([*giant, *leaving, *creeping, *cycle]).T, 10**5)
    for seed in range(5):
        check(HostGpu(seed=seed), "auto", in_form(graph, "rows"), expected_of(graph))


@pytest.mark.soak(gate="pairs")
@pytest.mark.parametrize("form", ["rows", "arcs"])
@pytest.mark.parametrize("vertex", [np.int32, np.int64])
@pytest.mark.parametrize("pointer", [np.int32, np.int64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("algorithm", ON_GPU)
def test_index_types(algorithm, index, pointer, vertex, form):
    graph = DIGRAPHS["web"]()
    check(HostGpu(), algorithm, in_form(graph, form, vertex, pointer), expected_of(graph), index)


@pytest.mark.parametrize("algorithm", ON_GPU)
def test_random_digraphs(algorithm):
    """Many small ones side by side, sparse ones and dense ones."""
    for seed in range(2):
        n, arcs, _ = many_digraphs(400, seed)
        graph = in_form(Graph.from_edges(*arcs.T, n), "rows")
        check(HostGpu(seed=seed), algorithm, graph, expected_of(graph))


def test_a_symmetric_graph_has_weak_components(monkeypatch):
    graph = generate.uniform_random(500, 400)
    rows = Graph.from_csr(graph.indptr, graph.indices)
    rows._parts.symmetric = True
    monkeypatch.setattr(strong_components, "KERNELS", None)  # which it would have to load
    check(HostGpu(), "auto", rows, expected_of(graph))


@pytest.mark.gpu
@pytest.mark.parametrize("form", ["rows", "arcs"])
@pytest.mark.parametrize("algorithm", ON_GPU)
def test_on_a_gpu(algorithm, form):
    for name, make in DIGRAPHS.items():
        graph = make()
        task = {"connection": "strong", "algorithm": algorithm, "numbering": "roots"}
        labels = connected_components(in_form(graph, form).to("cuda"), **task)[1]
        np.testing.assert_array_equal(labels.get(), expected_of(graph), name)


@pytest.mark.gpu
@pytest.mark.parametrize("numbering", ["consecutive", "topological"])
def test_numbers_on_a_gpu(numbering):
    for name, make in DIGRAPHS.items():
        graph = make()
        task = {"connection": "strong", "numbering": numbering}
        count, labels = connected_components(graph.to("cuda"), **task)
        expected = connected_components(graph, **task)
        assert count == expected[0]
        np.testing.assert_array_equal(labels.get(), expected[1], name)


@pytest.mark.gpu
@pytest.mark.parametrize(
    "graph",
    [
        lambda: generate.directed.cycle(10**7, device="cuda"),
        lambda: generate.directed.cycle(10**7, shuffle=True, device="cuda"),
        lambda: generate.directed.rmat(20, 8, device="cuda"),
        lambda: generate.directed.random_arcs(10**6, 1.3, device="cuda"),
        lambda: generate.mesh_sweep((64, 64, 64), device="cuda"),
    ],
)
def test_large_digraphs_on_a_gpu(graph):
    graph = graph()
    task = {"connection": "strong", "numbering": "roots"}
    labels = connected_components(graph, **task)[1]
    np.testing.assert_array_equal(labels.get(), connected_components(graph.to("cpu"), **task)[1])
