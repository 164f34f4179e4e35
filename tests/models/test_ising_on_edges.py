"""The Ising model on graphs, with couplings and fields: distribution, trajectories, errors."""

from functools import partial

import numpy as np
import pytest
from scipy import sparse

from conncomp import Graph
from conncomp.models import Ising, Potts
from models.devices import DEVICES
from models.edges_reference import random_regular, small_world
from models.references import check_updates

RNG = np.random.default_rng(3)
RING = small_world(9, 3, 1)
TRIANGLES = Graph.from_edges([0, 1, 2, 2, 3], [1, 2, 0, 3, 4])
SMALL = {
    "small world": (RING, {"beta": 0.3}),
    "random regular": (random_regular(12, 4, 2), {"beta": 0.4}),
    "frustrated": (TRIANGLES, {"beta": 0.8, "coupling": -1.5}),
    "signs": (RING, {"beta": 0.6, "coupling": RNG.choice([-1.0, 1.0], 21)}),
    "gaussian": (RING, {"beta": 0.6, "coupling": RNG.normal(size=21)}),
    "field": (RING, {"beta": 0.3, "field": 0.4}),
    "random field": (RING, {"beta": 0.5, "field": RNG.normal(size=9)}),
    "all of it": (TRIANGLES, {"beta": 0.7, "coupling": [1, -2, 0.5, 1, -1], "field": -0.3}),
    "no bond": (Graph.from_edges([], [], 4), {"beta": 0.7, "field": [0.5, 0, -0.2, 1]}),
    "lattice": ((3, 4), {"lattice": "triangular", "beta": 0.2, "field": 0.2}),
    "potts lattice": ((3, 4), {"beta": 0.4, "field": RNG.normal(size=(3, 4))}),
    "chain": ((1, 3), {"lattice": "kagome", "beta": 0.4, "field": 0.1, "coupling": -1.0}),
    "turned": (5, {"lattice": "chain", "beta": 0.4, "field": 0.1, "periodic": "antiperiodic"}),
    "cell": ((2, 3), {"lattice": "honeycomb", "beta": 0.6, "coupling": RNG.normal(size=18)}),
}

TRAJECTORIES = [
    *(SMALL[case] for case in ("random regular", "gaussian", "all of it", "no bond", "turned")),
    (random_regular(201, 4, 7), {"beta": 0.35}),
    (small_world(130, 30, 5), {"beta": 0.3, "field": RNG.normal(size=130)}),
    ((9, 8), {"lattice": "kagome", "beta": 0.4, "field": 0.3, "periodic": False}),
]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("case", range(len(TRAJECTORIES)))
def test_trajectories_are_those_of_the_reference(device, case):
    shape, arguments = TRAJECTORIES[case]
    check_updates(Ising(shape, **arguments, replicas=2, first_replica=3, seed=7, device=device))


def test_arcs_become_bonds():
    """Arcs there and back are one bond, several of one way add up, and couplings of 0 are none."""
    graph = Graph.from_edges([0, 1, 2, 2, 3], [1, 0, 1, 1, 0], 5)
    model = Ising(graph, beta=1.0, coupling=[2.0, 2.0, 0.5, 1.0, 0.0], start="cold")
    assert model.edges.tolist() == [[0, 1], [1, 2]]
    assert model.energy() == pytest.approx(-3.5)
    assert Ising(graph, beta=1.0, start="cold").energy() == pytest.approx(-4.0)
    assert Ising(graph, beta=1.0, start="cold", coupling=-1.0).signs.tolist() == [-1, -1, -1]
    labels, count = model.labels(return_num=True)
    assert labels.shape == (5,)
    assert count == labels.max()


@pytest.mark.parametrize("make", [Ising, partial(Potts, q=3)])
def test_a_field_changes_the_engine_and_not_the_first_spins(make):
    plain, tied, free = (make((7, 70), seed=2, field=field) for field in (None, 0.1, 0.0))
    np.testing.assert_array_equal(plain.spins, tied.spins)
    along = plain.spins.sum() if make is Ising else (plain.spins == 0).sum()
    assert tied.energy() == pytest.approx(plain.energy() - 0.1 * along, rel=1e-7)
    assert tied.beta == plain.beta
    assert free.parameters() == plain.parameters()


def test_couplings_that_cancel_are_no_bond():
    arcs = [0, 0, 0, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0, 2]
    graph = Graph.from_edges(*arcs, 3)
    model = Ising(graph, beta=1.0, coupling=[0.1, 0.2, -0.3, -0.3, 0.2, 0.1, 1.0])
    assert model.edges.tolist() == [[1, 2]]


# ---------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"shape": Graph.from_edges([0, 1], [1, 1])}, "loop at vertex 1"),
        ({"shape": Graph.from_edges([], [], 0)}, "0 vertices; there must be 1"),
        ({"coupling": [1.0, np.nan, 1.0, 1.0, 1.0]}, r"coupling\[1\]=nan must be finite"),
        ({"shape": sparse.csr_array((3, 3))}, r"shape is a sparse matrix; give .*from_scipy"),
        ({"coupling": [1.0, 1.0]}, r"coupling has shape \(2,\); .* each of 5 arcs"),
        ({"coupling": 0.0}, "coupling=0.0 must not be 0"),
        ({"shape": (3, 3), "coupling": np.ones(17)}, "one for each of 18 bonds"),
        ({"field": [1.0, 2.0]}, r"field has shape \(2,\); .* shape \(5,\)"),
        ({"field": np.inf}, "field=inf must be finite"),
        ({"field": [0.0, 0.0, np.nan, 0.0, 0.0]}, r"field\[2\]=nan must be finite"),
        ({"beta": None}, "no critical temperature of the Ising model on a graph"),
        ({"lattice": "kagome"}, "lattice and periodic are not for a graph"),
        ({"periodic": False}, "lattice and periodic are not for a graph"),
        (
            {"shape": Graph.from_edges([0, 1], [1, 0]), "coupling": [1.0, 2.0]},
            "coupling from vertex 0 to 1 is 1, and back 2; a bond has one",
        ),
        (
            {"shape": Graph.from_edges([0, 0], [1, 1]), "coupling": [1e308, 1e308]},
            "between vertices 0 and 1 add up to no finite number",
        ),
    ],
)
def test_bad_arguments(arguments, words):
    arguments = {"shape": TRIANGLES, "beta": 1.0, **arguments}
    with pytest.raises((ValueError, TypeError), match=words):
        Ising(arguments.pop("shape"), **arguments)


def test_what_needs_no_frustration_and_no_field():
    frustrated = Ising(TRIANGLES, beta=1.0, coupling=[1, 1, -1, 1, 1])
    with pytest.raises(ValueError, match="leave it out for an antiferromagnet or frustrated"):
        frustrated.swendsen_wang(clusters=True)
    with pytest.raises(ValueError, match="leave it out with a field"):
        Ising(TRIANGLES, beta=1.0, field=0.1).swendsen_wang(clusters=True)
    with pytest.raises(ValueError, match='clusters=True is not for update="metropolis"'):
        Ising(TRIANGLES, beta=1.0).updater(update="metropolis", clusters=True)
    for lattice in ("square", "triangular"):
        with pytest.raises(ValueError, match='wrapping=True is not for update="heat-bath"'):
            Ising((4, 4), lattice=lattice).updater(update="heat-bath", wrapping=True)
    with pytest.raises(ValueError, match="satisfied bonds are not counted where couplings differ"):
        Ising(TRIANGLES, beta=1.0, field=0.1).measure().satisfied_bonds  # noqa: B018
    with pytest.raises(ValueError, match="no coordinates"):
        frustrated.coordinates  # noqa: B018
