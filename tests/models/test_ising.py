"""The Ising model on any lattice: its geometry, its distribution, its trajectories, its errors."""

from itertools import product

import numpy as np
import pytest

from cell_reference import bonds_of
from conncomp.models import Ising, Potts, UnitCell
from conncomp.models.lattices import LATTICES
from models.devices import DEVICES
from models.references import check_updates

# Its first bond moves by five sites along a row, which has three where there is one cell.
FAR = UnitCell(
    [[1.0, 0.0], [0.0, 1.0]],
    [[0.0, 0.0], [0.0, 0.3], [0.0, 0.6]],
    [(2, 0, (-1, -1)), (0, 2, (-1, 1)), (0, 1, (0, 0))],
)
LADDER = UnitCell([[1.0]], [[0.0], [0.0]], [(0, 1, [0]), (0, 0, [1]), (1, 1, [1])])
# Cells of which bonds lead back by more sites than a cell has.
CROSSED = UnitCell(
    np.eye(2), np.zeros((2, 2)), [(0, 1, (0, 0)), (1, 0, (0, 1)), (0, 1, (1, 1)), (0, 0, (1, 0))]
)
FARTHEST = UnitCell(np.eye(2), np.zeros((8, 2)), [(0, 7, (1, 1)), (0, 1, (0, 0)), (7, 0, (1, -1))])


# ------------------------------------------------------------------------------------ the geometry


@pytest.mark.parametrize("name", LATTICES)
def test_bonds_join_all_nearest_neighbours(name):
    """Found from where the sites lie, with the shortest of all images."""
    cell = LATTICES[name]
    axes = len(cell.vectors)
    model = Ising(4, lattice=name, beta=0.1)
    places, periods = model.coordinates, 4 * np.array(cell.vectors)
    images = np.array(list(product((-1, 0, 1), repeat=axes))) @ periods
    distances = np.min(
        [np.linalg.norm(places[:, None] - places + image, axis=-1) for image in images], axis=0
    )
    nearest = distances[distances > 1e-9].min()
    expected = np.argwhere(np.triu(abs(distances - nearest) < 1e-9))
    found = np.unique(np.sort(model.edges, axis=1), axis=0)
    np.testing.assert_array_equal(found, expected)
    assert len(model.edges) == len(expected)


@pytest.mark.soak(gate="pairs")
@pytest.mark.parametrize("lattice", ["triangular", "kagome", "bcc", "diamond", LADDER])
@pytest.mark.parametrize("length", [1, 2, 3])
@pytest.mark.parametrize("border", [True, False, "antiperiodic"])
def test_edges_and_signs_are_those_of_the_cells_list(lattice, length, border):
    model = Ising(length, lattice=lattice, beta=0.1, periodic=border, coupling=-2.0)
    name = {True: "periodic", False: "open"}.get(border, border)
    cell = model.cell
    shape = (length,) * len(cell.vectors)
    expected = sorted((u, v, -sign) for u, v, sign, _ in bonds_of(cell, shape, [name] * len(shape)))
    found = np.column_stack([model.edges, model.signs]).tolist()
    assert sorted(map(tuple, found)) == expected


# ------------------------------------------------------------------------------------ trajectories

# Rows of less than a word, of a word, and of several; cells across the ends of words.
TRAJECTORIES = [
    ((3, 70), "triangular", 0.27, 1.0, True),
    ((4, 64), "triangular", 0.3, -1.0, (True, "antiperiodic")),
    ((5, 43), "honeycomb", 0.66, 1.0, True),
    ((3, 22), "kagome", 0.47, 1.0, ("antiperiodic", False)),
    ((2, 2, 5), "bcc", 0.16, 1.0, True),
    ((1, 2, 3), "fcc", 0.1, 1.0, True),
    ((2, 3, 2), "diamond", 0.37, 1.0, True),
    ((70,), LADDER, 0.6, 1.0, "antiperiodic"),
    ((1,), LADDER, 0.6, 1.0, True),
    ((5, 1), FAR, 0.6, 1.0, True),
    ((4, 30), FAR, 0.6, -1.0, "antiperiodic"),
    ((3, 1), "kagome", 0.6, 1.0, False),
    ((4, 1), CROSSED, 0.3, -1.0, "antiperiodic"),
    ((6, 1), FARTHEST, 0.6, 1.0, (True, "antiperiodic")),
]


@pytest.mark.soak(gate="values")
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("shape", "lattice", "beta", "coupling", "periodic"), TRAJECTORIES)
def test_trajectories_are_those_of_the_reference(device, shape, lattice, beta, coupling, periodic):
    arguments = {"lattice": lattice, "beta": beta, "coupling": coupling, "periodic": periodic}
    check_updates(Ising(shape, **arguments, replicas=2, first_replica=3, seed=7, device=device))


def test_square_lattice_is_potts_in_another_convention():
    ising, potts = Ising((20, 70), temperature=2.0, seed=9), Potts((20, 70), beta=1.0, seed=9)
    ours, theirs = ising.swendsen_wang(5), potts.swendsen_wang(5)
    np.testing.assert_array_equal(ours.records, theirs.records)
    np.testing.assert_array_equal(ours.energy, 2 * theirs.energy + 2 * 20 * 70)
    np.testing.assert_array_equal(ising.spins, 1 - 2 * potts.spins.astype(int))
    assert Ising(4).temperature == pytest.approx(2.269185314213022)
    assert Ising(4).beta == pytest.approx(Potts((4, 4)).beta / 2)


def test_first_spins():
    given = np.random.default_rng(1).choice([-1, 1], (5, 4, 3))
    model = Ising((5, 4), lattice="kagome", start=given)
    np.testing.assert_array_equal(model.spins, given)
    assert model.magnetisation() == pytest.approx(given.mean())
    cold = Ising((5, 4), lattice="kagome", start="cold", replicas=2)
    assert (cold.spins == 1).all()
    assert cold.energy().tolist() == [-120.0, -120.0]


# ---------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"lattice": "cube"}, "lattice='cube'"),
        ({"lattice": 3}, "lattice=3 must be the name of a lattice, or a UnitCell"),
        ({"lattice": "cubic", "shape": (4, 4)}, "must have 3 axes"),
        ({"lattice": "fcc"}, "no critical temperature of lattice='fcc' is known here, but of"),
        ({"lattice": "triangular", "coupling": -1.0}, "triangular, with coupling=-1 is known"),
        ({"coupling": 0}, "coupling=0 must not be 0"),
        ({"temperature": 0.0}, "temperature=0.0 must be above 0, and finite"),
        ({"temperature": 1.0, "beta": 1.0}, "temperature and beta exclude each other"),
        ({"beta": -1.0}, "beta=-1.0 must be finite, and not negative"),
        ({"beta": [1.0, 2.0], "replicas": 3}, "beta has shape"),
        ({"periodic": "mobius"}, "periodic='mobius' must be True, False or"),
        ({"periodic": [True]}, "has 1 entries; the lattice has 2 axes"),
        ({"start": np.zeros((4, 4), int)}, "neither 1 nor -1"),
        ({"start": np.ones((4, 5), int)}, "start has shape"),
        ({"lattice": "kagome", "shape": (1 << 20, 1 << 19)}, "fewer than 2"),
    ],
)
def test_bad_arguments(arguments, words):
    arguments = {"shape": 4, **arguments}
    with pytest.raises((ValueError, TypeError), match=words):
        Ising(arguments.pop("shape"), **arguments)


def test_updates_that_a_lattice_does_not_have():
    frustrated = Ising(4, lattice="triangular", coupling=-1.0, beta=0.3)
    with pytest.raises(ValueError, match=r"clusters=True .* leave it out for an antiferromagnet"):
        frustrated.swendsen_wang(clusters=True)
    with pytest.raises(ValueError, match='clusters=True is not for update="heat-bath"'):
        Ising(4).updater(update="heat-bath", clusters=True)
    with pytest.raises(ValueError, match="update='few-cluster'"):
        Ising(4).updater(update="few-cluster")
    assert Ising(4).updater(update="metropolis").options["update"] == "metropolis"


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        (([[1.0, 0.0]], [[0.0]], []), "must be 1 to 4 vectors of as many numbers"),
        (([[np.inf]], [[0.0]], []), "must be finite"),
        (([[1.0]], [], []), "sites="),
        (([[1.0]], [[0.0]] * 9, []), "must be 1 to 8 places"),
        (([[1.0]], [[0.0]], [(0, 1, [1])]), "a bond's site=1"),
        (([[1.0]], [[0.0]], [(0, 0, [2])]), "must have 1 steps of -1, 0 or 1"),
        (([[1.0]], [[0.0]], [(0, 0, [0])]), "leads from a site to itself"),
        (([[1.0]], [[0.0]], [(0, 0, [1]), (0, 0, [-1])]), "has a bond twice"),
        (([[1.0]], [[0.0]], [(0, 0)]), "must be two sites and the steps between cells"),
    ],
)
def test_bad_cells(cell, words):
    with pytest.raises((ValueError, TypeError), match=words):
        UnitCell(*cell)
