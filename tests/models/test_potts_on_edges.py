"""The Potts model on any lattice and graph, and in fields: distribution, trajectories, errors."""

from math import log, sqrt

import numpy as np
import pytest

from conncomp import Graph
from conncomp.models import Ising, Potts
from models.devices import DEVICES
from models.references import check_updates

RNG = np.random.default_rng(3)
GRAPH = Graph.from_edges([0, 1, 2, 2, 3], [1, 2, 0, 3, 4])

SMALL = {
    "triangular": ((2, 4), 3, {"lattice": "triangular", "beta": 0.4}),
    "field": ((2, 3), 4, {"beta": 0.7, "field": 0.5}),
    "field against": ((2, 3), 3, {"beta": 0.7, "field": -0.8}),
    "two states": ((2, 5), 2, {"beta": 0.6, "field": 0.3, "periodic": False}),
    "random field": (GRAPH, 3, {"beta": 1.1, "field": [1.0, -0.5, 0, 0.7, -2]}),
    "couplings": (GRAPH, 5, {"beta": 1.1, "coupling": [1, 0.5, 2, 0.1, 1]}),
    "all of it": (GRAPH, 3, {"temperature": 1.4, "coupling": [1, 0.5, 2, 0.1, 1], "field": 0.6}),
    "kagome": ((1, 2), 3, {"lattice": "kagome", "beta": 0.5, "field": -0.3}),
    "no bond": (Graph.from_edges([], [], 4), 6, {"beta": 0.7, "field": [0.5, 0, -0.2, 1]}),
}

TRAJECTORIES = [
    *(SMALL[case] for case in ("triangular", "random field", "all of it", "no bond")),
    ((3, 70), 2, {"beta": 0.8, "field": RNG.normal(size=(3, 70))}),
    ((4, 5), 7, {"lattice": "kagome", "beta": 1.1, "field": 0.2, "periodic": False}),
    ((6, 6, 4), 255, {"beta": 3.0, "field": 1e-3}),
]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("case", range(len(TRAJECTORIES)))
def test_trajectories_are_those_of_the_reference(device, case):
    shape, q, arguments = TRAJECTORIES[case]
    check_updates(Potts(shape, q, **arguments, replicas=2, first_replica=3, seed=7, device=device))


def test_critical_points():
    """F. Y. Wu, Rev. Mod. Phys. 54, 235 (1982): those of two states are the Ising model's."""
    for lattice in ("triangular", "honeycomb"):
        expected = 2 / Ising.critical_temperature(lattice)
        assert Potts.critical_beta(2, lattice=lattice) == pytest.approx(expected, rel=1e-14)
        assert Potts((4, 4), 2, lattice=lattice).beta == pytest.approx(expected)
    # sqrt(3) of the square lattice is between the others.
    betas = [Potts.critical_beta(3, lattice=lattice) for lattice in ("triangular", "honeycomb")]
    assert betas[0] < log(1 + sqrt(3)) < betas[1]


def test_shapes_starts_and_labels():
    start = np.arange(24).reshape(2, 4, 3) % 5
    model = Potts((2, 4), 5, 40.0, lattice="kagome", start=start, temperature=None)
    np.testing.assert_array_equal(model.spins, start)
    assert model.coordinates.shape == (24, 2)
    assert Potts((2, 4), 5, 40.0, lattice="kagome", start="cold").labels(return_num=True)[1] == 1
    assert model.labels().shape == (2, 4, 3)
    assert Potts((8, 8), 3, temperature=2.0).beta == 0.5


REFUSED = [
    (lambda: Potts(GRAPH, 3), "no critical temperature of the Potts model on a graph"),
    (lambda: Potts((3, 3), 3, lattice="kagome"), "on this lattice, kagome, is known here"),
    (lambda: Potts.critical_beta(3, lattice="kagome"), "lattice='kagome'"),
    (lambda: Potts(GRAPH, 3, temperature=0.0), "temperature=0.0 must be above 0"),
    (lambda: Potts((3, 3), 3, coupling=-1.0), "on 2 axes with coupling=-1 is known here; give"),
    (
        lambda: Potts((3, 3), 3, 1.0, coupling=-1.0).swendsen_wang(clusters=True),
        "leave it out with couplings below 0",
    ),
    (
        lambda: Potts((3, 3), 3, 1.0, coupling=-1.0).updater(update="few-cluster"),
        "'few-cluster' is for hyper",
    ),
    (lambda: Potts(GRAPH, 3, 1.0, field=[1.0]), r"field has shape \(1,\)"),
    (lambda: Potts(GRAPH, 3, 1.0, temperature=1.0), "exclude each other"),
    (lambda: Potts(GRAPH, 3, 1.0, labelling="serial"), "are for hypercubic lattices"),
    (
        lambda: Potts(GRAPH, 3, 1.0).updater(update="metropolis", clusters=True),
        'clusters=True is not for update="metropolis"',
    ),
    (
        lambda: Potts((3, 3), 3).updater(update="heat-bath", wrapping=True),
        'wrapping=True is not for update="heat-bath"',
    ),
    (
        lambda: Potts((3, 3), 3, 1.0, lattice="triangular").updater(
            update="metropolis", wrapping=True
        ),
        'wrapping=True is not for update="metropolis"',
    ),
    (lambda: Potts(GRAPH, 3, 1.0).swendsen_wang(wrapping=True), "wrapping is measured on lattices"),
    (lambda: Potts(GRAPH, 3, 1.0).wrapping(), "wrapping is for hypercubic"),
    (lambda: Potts((2, 2), field=1.0).swendsen_wang(clusters=True), "leave it out with a field"),
    (lambda: Potts((2, 2), field=1.0).measure().satisfied_bonds, "couplings differ or sites"),
]


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_bad_arguments(call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call()
