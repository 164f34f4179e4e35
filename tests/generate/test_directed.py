"""Directed graphs: what is known by construction, and that they are the same on a GPU."""

import numpy as np
import pytest

import conncomp
from conncomp import generate
from conncomp.generate import meshes

GRAPHS = {
    "random_directed": lambda **k: generate.directed.random_arcs(500, 1.3, **k),
    "directed_rmat": lambda **k: generate.directed.rmat(9, 5, **k),
    "directed_rmat shuffled": lambda **k: generate.directed.rmat(9, 5, shuffle=True, **k),
    "bow_tie": lambda **k: generate.directed.bow_tie(1000, 5, **k),
    "bow_tie shuffled": lambda **k: generate.directed.bow_tie(1000, 5, shuffle=True, **k),
    "bow_tie of one": lambda **k: generate.directed.bow_tie(1, **k),
    "bow_tie of few": lambda **k: generate.directed.bow_tie(7, 3, **k),
    "cycle shuffled": lambda **k: generate.directed.cycle(500, shuffle=True, **k),
    "chain_of_cycles shuffled": lambda **k: generate.directed.chain_of_cycles(
        50, 7, shuffle=True, **k
    ),
    "mesh_sweep shuffled": lambda **k: generate.mesh_sweep((5, 4, 3), shuffle=True, **k),
}
SIDES = {"hexahedra": 6, "tetrahedra": 4}
FORMS = ["torus", "klein-bottle", "twisted-beam"]


def strong(graph):
    """Return the sizes of strong components, the largest first."""
    labels = conncomp.connected_components(graph, connection="strong")[1]
    return np.sort(conncomp.component_sizes(labels, background=None))[::-1]


def ends(graph):
    return np.repeat(np.arange(graph.num_vertices), np.diff(graph.indptr)), graph.indices


@pytest.mark.parametrize("name", GRAPHS)
def test_same_for_a_seed_everywhere(cupy, name):
    here, there = GRAPHS[name](seed=2**40 + 3), GRAPHS[name](seed=2**40 + 3, device="cuda")
    assert here.num_vertices == there.num_vertices
    for one, other in zip(here.arrays, there.arrays, strict=True):
        np.testing.assert_array_equal(one, other.get() if hasattr(other, "get") else other)
        assert one.dtype == np.int32
    other = np.stack(GRAPHS[name](seed=1).arrays)
    assert here.num_vertices < 10 or not np.array_equal(np.stack(here.arrays), other)


@pytest.mark.parametrize(("degree", "share"), [(0.8, 0), (1.5, 0.34), (3, 0.885)])
def test_the_giant_of_random_graphs(degree, share):
    """It has the square of the giant's share of an undirected graph: x = 1 - exp(-degree x)."""
    graph = generate.directed.random_arcs(30_000, degree)
    assert graph.num_arcs == round(30_000 * degree)
    assert (np.not_equal(*ends(graph))).all()
    assert strong(graph)[0] / 30_000 == pytest.approx(share, abs=0.02)


def test_rmat_is_that_of_undirected_graphs():
    src, dst = generate.directed.rmat(8, 4, seed=3).arrays
    both = generate.rmat(8, 4, seed=3)
    np.testing.assert_array_equal(both.arrays[0], np.concatenate([dst, src]))


@pytest.mark.parametrize("shuffle", [False, True])
def test_bow_tie(shuffle):
    graph = generate.directed.bow_tie(20_000, shuffle=shuffle)
    sizes = strong(graph)
    assert sizes[0] == 5600
    assert 2 <= sizes[1] <= 16
    labels = conncomp.connected_components(graph, connection="strong")[1]
    core = labels == np.bincount(labels).argmax()
    for src, dst in (ends(graph), ends(graph)[::-1]):
        reached, before = core.copy(), 0
        while before < reached.sum():
            before = reached.sum()
            reached[dst[reached[src]]] = True
        # The core and what it leads to, or what leads to it.
        assert before == pytest.approx(20_000 * 0.49, rel=0.05)


def test_cycles():
    assert strong(generate.directed.cycle(1000)).tolist() == [1000]
    graph = generate.directed.chain_of_cycles(20, 5)
    assert strong(graph).tolist() == [5] * 20
    assert graph.num_arcs == 100 + 19
    labels = conncomp.connected_components(graph, connection="strong", numbering="topological")[1]
    assert labels[::5].tolist() == list(range(19, -1, -1))
    assert generate.directed.chain_of_cycles(0, 3).num_vertices == 0


@pytest.mark.parametrize("elements", SIDES)
@pytest.mark.parametrize("form", FORMS)
def test_meshes(form, elements):
    """Every element has as many neighbours as sides, but at the walls, and shares corners."""
    shape = (7, 6, 4)
    graph = generate.mesh_sweep(shape, form, elements=elements)
    src, dst = ends(graph)
    assert (src != dst).all()
    pairs = np.unique(np.sort(np.stack([src, dst]), axis=0), axis=1)
    degrees = np.bincount(pairs.ravel(), minlength=graph.num_vertices)
    cells = 7 * 6 * 4
    assert graph.num_vertices == cells * (1 if elements == "hexahedra" else 6)
    walls = 2 * 7 * 6 + (2 * 6 * 4 + 2 * 7 * 4 if form == "twisted-beam" else 0)
    triangles = walls * (1 if elements == "hexahedra" else 2)
    assert degrees.max() == SIDES[elements]
    assert degrees.sum() == SIDES[elements] * graph.num_vertices - triangles
    assert conncomp.connected_components(graph, return_labels=False) == 1
    if elements == "tetrahedra":  # whose faces are flat
        assert graph.num_arcs == pairs.shape[1]
    # Opposite directions give opposite arcs.
    back = generate.mesh_sweep(shape, form, elements=elements, direction=(-0.8, -0.5, -0.33))
    there = np.stack(ends(back)[::-1])
    for one, other in zip(np.unique(there, axis=1), np.unique([src, dst], axis=1), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("form", FORMS)
def test_faces_lie_where_their_elements_touch(form):
    """The corners of every face of u are corners of v, over the ends of the grid, too."""
    shape = (5, 4, 3)
    mesh = meshes._Mesh(shape, meshes._FORMS[form])
    for u, v, face, _ in meshes._hexahedra(mesh):
        corners = np.stack([mesh.corner(offset)[v] for offset in np.ndindex(2, 2, 2)])
        for corner, _ in zip(face, u, strict=False):
            distance = np.linalg.norm(corners - corner, axis=-1).min(axis=0)
            assert distance.max() < 1e-9
    orders = list(meshes.permutations(range(3)))
    steps = [np.cumsum([np.zeros(3, int), *np.eye(3, dtype=int)[list(o)]], axis=0) for o in orders]
    for _, v, face, _ in meshes._tetrahedra(mesh):
        corners = np.empty((4, len(v), 3))
        for k, path in enumerate(steps):
            of = v % 6 == k
            for place, offset in enumerate(path):
                corners[place, of] = mesh.corner(offset)[v[of] // 6]
        for corner in face:
            assert np.linalg.norm(corners - corner, axis=-1).min(axis=0).max() < 1e-9


def test_meshes_that_others_fail_on():
    """A twisted beam has thin components through it; other meshes have none, and long paths."""
    beam = strong(generate.mesh_sweep((40, 8, 8), "twisted-beam"))
    assert beam[0] > 40
    torus = generate.mesh_sweep((40, 8, 8))
    assert strong(torus)[0] == 1


REFUSED = [
    (lambda: generate.mesh_sweep((5, 5)), "shape="),
    (lambda: generate.mesh_sweep((5, 5, 2)), r"shape\[2\]=2 must be at least 3"),
    (lambda: generate.mesh_sweep((5, 5, 5), "ball"), "form='ball' is not one of 'torus', "),
    (lambda: generate.mesh_sweep((5, 5, 5), elements="cubes"), "elements='cubes' is not one of"),
    (lambda: generate.mesh_sweep((5, 5, 5), direction=(0, 0, 0)), "direction=.*not all 0"),
    (lambda: generate.mesh_sweep((5, 5, 5), direction=(1, 0)), "direction=.*three numbers"),
    (lambda: generate.directed.random_arcs(1, 2), "mean_degree=2 must be 0 for num_vertices=1"),
    (lambda: generate.directed.rmat(3, a=0.9), r"a \+ b \+ c"),
    (lambda: generate.directed.cycle(0), "num_vertices=0 must be at least 1"),
    (lambda: generate.directed.chain_of_cycles(3, 0), "length=0 must be at least 1"),
    (lambda: generate.directed.bow_tie(0), "num_vertices=0 must be at least 1"),
    (lambda: generate.directed.bow_tie(10**12, 10**9), r"num_vertices \* links_per_vertex=10{21}"),
    (
        lambda: generate.directed.chain_of_cycles(10**14, 10**14),
        r"num_cycles \* length=10{28} must be",
    ),
    (
        lambda: generate.directed.random_arcs(10**14, 10**14),
        r"num_vertices \* mean_degree=1e\+28 must",
    ),
    (lambda: generate.directed.random_arcs(9, 1e308), r"num_vertices \* mean_degree=inf must be"),
]


@pytest.mark.parametrize(("make", "message"), REFUSED)
def test_arguments(make, message):
    with pytest.raises(ValueError, match=message):
        make()
