"""Every way to call `Potts` wrongly: the error's type, and that it names argument and value."""

import decimal
import math
import re
from fractions import Fraction

import numpy as np
import pytest

from conncomp import models
from conncomp.models import Potts
from models.potts_reference import acceptance, bond_probability

SHAPE = 4, 6


class NoNumber:
    def __float__(self):
        raise RuntimeError("it is none")


@pytest.mark.parametrize(
    ("shape", "error", "message"),
    [
        (0, ValueError, "shape=0 must have lengths of 1 or more"),
        ((4, 0), ValueError, r"shape=\(4, 0\) must have lengths of 1 or more"),
        ((), ValueError, r"shape=\(\) must have 1 to 4 axes"),
        ((2,) * 5, ValueError, r"shape=\(2, 2, 2, 2, 2\) must have 1 to 4 axes"),
        ((2**20, 2**20), ValueError, "and fewer than 2\\*\\*40 sites"),
        (4.0, TypeError, "shape=4.0 must be an integer"),
        (np.array([4.0, 4.0]), TypeError, "shape=.*4.0.* must be an integer"),
        ("44", TypeError, "shape='44' must be an integer"),
        (((4, 4),), TypeError, r"shape=\(4, 4\) must be an integer"),
    ],
)
def test_shape(shape, error, message):
    with pytest.raises(error, match=message):
        Potts(shape, beta=0.5)


@pytest.mark.parametrize(
    ("argument", "error", "message"),
    [
        ({"q": 1}, ValueError, "q=1 must be from 2 to 255"),
        ({"q": 256}, ValueError, "q=256 must be from 2 to 255"),
        ({"q": 2.5}, TypeError, "q=2.5 must be an integer"),
        ({"beta": -0.1}, ValueError, "beta=-0.1 must be finite, and not negative"),
        ({"beta": math.nan}, ValueError, "beta=nan must be finite, and not negative"),
        ({"beta": math.inf}, ValueError, "beta=inf must be finite, and not negative"),
        ({"beta": 10**400}, ValueError, "beta=1000.* must be finite, and not negative"),
        ({"beta": "hot"}, ValueError, "beta='hot' is not one of 'critical'"),
        ({"beta": 1j}, TypeError, "beta=1j must be a number"),
        ({"beta": ["0.5"]}, TypeError, "beta='0.5' must be a number"),
        ({"beta": [[1], [2, 3]]}, ValueError, "NumPy cannot make an array of beta"),
        ({"beta": [0.5, 0.6], "replicas": 1}, ValueError, r"shape \(2,\); .* each of 1 replicas"),
        ({"beta": [[0.5], [0.6]]}, ValueError, r"beta has shape \(2, 1\); .* each of 2 replicas"),
        ({"beta": [[0.5]]}, ValueError, r"beta has shape \(1, 1\)"),
        ({"beta": [0.5, math.nan], "replicas": 2}, ValueError, "must be finite, and not negative"),
        ({"beta": [0.5] * 3, "replicas": 2}, ValueError, r"shape \(3,\); .* each of 2 replicas"),
        ({"coupling": 0}, ValueError, "coupling=0 must not be 0"),
        ({"coupling": -1.5}, ValueError, "with coupling=-1.5 is known here"),
        ({"coupling": math.nan}, ValueError, "coupling=nan must be finite"),
        ({"coupling": 10**400}, ValueError, "coupling=1000.* must be finite"),
        ({"coupling": None}, TypeError, "coupling is a NoneType"),
        ({"coupling": [1.0, 2.0]}, ValueError, r"coupling has shape \(2,\); there must be one"),
        ({"coupling": NoNumber()}, TypeError, "coupling is a NoNumber; it must be of real"),
        ({"periodic": (True,)}, ValueError, "periodic=.* has 1 entries; the lattice has 2 axes"),
        ({"periodic": (1, 0)}, TypeError, "periodic=.* must be True, False"),
        ({"replicas": 0}, ValueError, "replicas=0 must be from 1 to 16777216"),
        ({"replicas": 2**24 + 1}, ValueError, "replicas=16777217 must be from 1 to 16777216"),
        ({"replicas": 2.0}, TypeError, "replicas=2.0 must be an integer"),
        ({"seed": -1}, ValueError, "seed=-1 must be from 0 to 18446744073709551615"),
        (
            {"first_replica": 2**24 - 4, "replicas": 5},
            ValueError,
            "first_replica=16777212 must be from 0 to 16777211",
        ),
        ({"device": "tpu"}, ValueError, "device='tpu' is not one of None, 'cpu', 'cuda'"),
        ({"labelling": "fast"}, ValueError, "labelling='fast' is not one of 'auto', 'serial'"),
        ({"labelling": "tiles", "device": "cpu"}, ValueError, "labelling='tiles'"),
        ({"colour": 3}, TypeError, "Potts has no argument 'colour'"),
        ({"T": 2.2}, TypeError, "no argument 'T'; a temperature is temperature= or beta="),
        ({"tile": 4}, ValueError, "'tile': 4.* leave them out on the CPU"),
    ],
)
def test_arguments_of_the_model(argument, error, message):
    with pytest.raises(error, match=message):
        Potts(SHAPE, **argument)


@pytest.mark.parametrize(
    ("start", "error", "message"),
    [
        ("warm", ValueError, "start='warm' is not one of 'hot', 'cold'"),
        (1.5, TypeError, "start is of dtype float64; it must be of integers"),
        (np.zeros(SHAPE), TypeError, "start is of dtype float64; it must be of integers"),
        (np.zeros(SHAPE, object), TypeError, "start is an array of Python objects"),
        (0, ValueError, r"start has shape \(\); it must have \(2, 4, 6\) or \(4, 6\)"),
        (np.zeros((6, 4), int), ValueError, r"start has shape \(6, 4\); it must have"),
        (np.zeros((3, 4, 6), int), ValueError, r"start has shape \(3, 4, 6\); it must have"),
        (np.zeros((1, 4, 6), int), ValueError, r"start has shape \(1, 4, 6\); it must have"),
        (np.full(SHAPE, 3), ValueError, "start has states from 3 to 3; .* from 0 to q - 1 = 2"),
        (np.full(SHAPE, -1), ValueError, "start has states from -1 to -1; .* q - 1 = 2"),
        (np.full(SHAPE, 2**64 - 1, np.uint64), ValueError, "to 18446744073709551615; they must"),
        ([[0, 1], [2]], ValueError, "NumPy cannot make an array of start"),
        (np.ma.masked_equal(np.eye(*SHAPE, dtype=int), 1), ValueError, "start has masked elements"),
    ],
)
def test_start(start, error, message):
    with pytest.raises(error, match=message):
        Potts(SHAPE, 3, replicas=2, start=start)


@pytest.mark.parametrize("call", ["swendsen_wang", "wolff", "metropolis", "few_cluster"])
@pytest.mark.parametrize(
    ("number", "error", "message"),
    [
        (-1, ValueError, "=-1 must be from 0 to 4294967294"),
        (2**32 - 1, ValueError, "=4294967295 must be from 0 to 4294967294"),
        (1.0, TypeError, "=1.0 must be an integer"),
        (np.arange(2), TypeError, "=an array of shape .* must be an integer"),
    ],
)
def test_number_of_updates(call, number, error, message):
    model = Potts(SHAPE)
    model.swendsen_wang()
    spins = model.spins
    options = {"tile": 2, "p_flip": 0.5} if call == "few_cluster" else {}
    name = "sweeps" if call in ("swendsen_wang", "metropolis") else "updates"
    with pytest.raises(error, match=name + message):
        getattr(model, call)(number, **options)
    assert model.updates == 1
    np.testing.assert_array_equal(model.spins, spins)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"p_flip": 0}, ValueError, "p_flip=0 must be above 0 and below 1"),
        ({"p_flip": 1}, ValueError, "p_flip=1 must be above 0 and below 1"),
        ({"p_flip": 10**400}, ValueError, "p_flip=1000.* must be above 0 and below 1"),
        ({"p_flip": 1e-20}, ValueError, r"p_flip=1e-20 must be 2\*\*-64 or more"),
        ({"p_flip": "0.5"}, TypeError, "p_flip='0.5' must be a number"),
        ({"p_flip": None}, ValueError, "needs tile and p_flip"),
        ({"tile": 4}, ValueError, r"tile=4 must divide the lattice, which has shape \(4, 6\)"),
        ({"tile": (2, 4)}, ValueError, r"tile=\(2, 4\) must divide the lattice"),
        ({"tile": (2,)}, ValueError, r"tile=\(2,\) must divide the lattice"),
        ({"tile": (2, 2, 2)}, ValueError, r"tile=\(2, 2, 2\) must divide the lattice"),
        ({"tile": ()}, ValueError, r"tile=\(\) must divide the lattice"),
        ({"tile": 0}, ValueError, "tile=0 must be from 1"),
        ({"tile": 2.0}, TypeError, "tile=2.0 must be an integer"),
        ({"tile": None}, ValueError, "needs tile and p_flip"),
        ({"tile": np.array([2.0, 2.0])}, TypeError, "tile=.*2.0.* must be an integer"),
        ({"clusters": np.arange(2)}, TypeError, "clusters=.* must be True or False"),
    ],
)
def test_few_cluster(options, error, message):
    model = Potts(SHAPE)
    with pytest.raises(error, match=message):
        model.few_cluster(**{"tile": 2, "p_flip": 0.5, **options})
    assert model.updates == 0


def test_no_updates_measure_nothing():
    model = Potts(SHAPE, 3, replicas=2, beta=0.5)
    for call in (model.swendsen_wang, model.wolff, model.metropolis):
        assert call(0).records.shape == (0, 2, 17)
    assert model.updates == 0


def test_clusters_that_were_not_measured():
    measured = Potts(SHAPE).swendsen_wang(2)
    for name in (
        "clusters",
        "largest_cluster",
        "improved_squared_magnetisation",
        "improved_fourth_magnetisation",
    ):
        with pytest.raises(ValueError, match=r"clusters were not measured; .* clusters=True"):
            getattr(measured, name)


@pytest.mark.parametrize(("q", "ndim"), [(3, 3), (2, 1), (2, 4), (2, 0)])
def test_unknown_critical_temperature(q, ndim):
    with pytest.raises(ValueError, match=f"no critical temperature is known for q={q} in"):
        Potts.critical_beta(q, ndim)
    if ndim in (1, 3, 4):
        with pytest.raises(ValueError, match="give beta as a number"):
            Potts((2,) * ndim, q, "critical")


@pytest.mark.parametrize("q", [1, 256, 2.0, "2"])
def test_q_of_the_critical_temperature(q):
    with pytest.raises((TypeError, ValueError), match=f"q={q!r} must be"):
        Potts.critical_beta(q)
    with pytest.raises(TypeError, match=r"ndim=2\.0 must be an integer"):
        Potts.critical_beta(2, 2.0)


def test_labels_refuse_what_label_bonds_does():
    with pytest.raises(ValueError, match="numbering='some'"):
        Potts(SHAPE).labels(numbering="some")


@pytest.mark.parametrize(
    ("shape", "number"), [((1 << 14, 1 << 14), 1 << 50), ((1 << 39,), 1 << 61)]
)
def test_lattice_that_fits_no_memory(shape, number):
    message = f"spins of shape={shape} with q=2 and 16777216 replicas, .* take {number} bytes"
    with pytest.raises(MemoryError, match=re.escape(message).replace(r"\.\*", ".*")):
        Potts(shape, beta=0.5, replicas=1 << 24, device="cpu")


@pytest.mark.parametrize(
    ("arguments", "attribute", "value"),
    [
        ({"shape": 6}, "shape", (6,)),
        ({"shape": [4, 6]}, "shape", (4, 6)),
        ({"shape": np.array([4, 6])}, "shape", (4, 6)),
        ({"shape": (np.int8(4), np.uint64(6))}, "shape", (4, 6)),
        ({"periodic": np.array([True, False])}, "periodic", (True, False)),
        ({"q": np.uint8(255)}, "states", 255),
    ],
)
def test_arguments_of_other_types(arguments, attribute, value):
    model = Potts(**{"shape": SHAPE, "beta": 0.5, **arguments})
    assert getattr(model.lattice, attribute) == value


@pytest.mark.parametrize(
    "beta",
    [0.5, np.float32(0.5), np.array(0.5), [0.5], np.array([0.5]), Fraction(1, 2), [Fraction(1, 2)]],
)
def test_numbers_of_other_types(beta):
    model = Potts(SHAPE, beta=beta, coupling=Fraction(1, 2))
    assert model.beta == model.coupling == 0.5
    np.testing.assert_array_equal(model.spins, Potts(SHAPE, beta=0.5).spins)


@pytest.mark.parametrize("tile", [2, (2, 2), [2, 2], np.array([2, 2]), np.int64(2)])
def test_tiles_of_other_types(tile):
    model, expected = Potts(SHAPE), Potts(SHAPE)
    model.few_cluster(3, tile=tile, p_flip=np.float32(0.5))
    expected.few_cluster(3, tile=(2, 2), p_flip=0.5)
    np.testing.assert_array_equal(model.spins, expected.spins)


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", ">i2", "u8"])
@pytest.mark.parametrize("shape", [SHAPE, (3, *SHAPE)])
def test_start_of_other_types(dtype, shape):
    wide = np.random.default_rng(0).integers(0, 2, (*shape[:-1], 12)).astype(dtype)
    start = wide[..., ::-2]
    model = Potts(SHAPE, replicas=3, start=start)
    expected = np.broadcast_to(start, (3, *SHAPE)).astype(int)
    start[...] = 0
    np.testing.assert_array_equal(model.spins, expected)


def test_what_is_returned_is_a_copy():
    model = Potts(SHAPE, beta=[0.3, 0.4], replicas=2)
    before = model.spins
    model.spins[...] = 77
    model.beta[...] = 77
    np.testing.assert_array_equal(model.spins, before)
    np.testing.assert_array_equal(model.beta, [0.3, 0.4])


@pytest.mark.parametrize("beta", [0.0, 1e-300, 1e-20, 0.1, 0.88, 5.0, 44.0, 50.0, 1e300])
@pytest.mark.parametrize("coupling", [1e-300, 0.3, 1.0, 1e300])
def test_probabilities_are_exact(beta, coupling):
    """To the last of 64 bits, whatever context of decimal arithmetic the caller has."""
    probability = bond_probability(beta, coupling)
    weights = [acceptance(beta, coupling, lost, q=2) for lost in range(5)]
    given = []
    model = Potts(SHAPE, beta=beta, coupling=coupling)

    class Engine:
        xp, rules, sweeps_one = np, ("metropolis",), False

        def update(self, words, new, step, probabilities, *others):
            given.append(probabilities.tolist())

        def offer(self, words, new, step, acceptance, rule):
            given.append(acceptance.tolist())

    model._state._engine = Engine()
    with decimal.localcontext(prec=3, traps=[decimal.Inexact, decimal.FloatOperation]):
        model.swendsen_wang(measure=False)
        model.metropolis(measure=False)
    assert given == [[probability], [weights]]


MANY = {
    "Potts": lambda **given: Potts((4, 4), **given),
    "Ising": lambda **given: models.Ising((4, 4), **given),
    "XY": lambda **given: models.XY((4, 4), **given),
    "Heisenberg": lambda **given: models.Heisenberg((4, 4, 4), **given),
    "Clock": lambda **given: models.Clock((4, 4), 5, **given),
    "Kawasaki": lambda **given: models.Kawasaki((4, 4), lattice="square", **given),
}


@pytest.mark.parametrize("name", MANY)
def test_there_are_as_many_replicas_as_temperatures(name):
    make = MANY[name]
    for values in ([1.0, 1.5, 2.0], (1.0, 1.5, 2.0), np.array([1.0, 1.5, 2.0])):
        for argument in ("temperature", "beta"):
            given, told = make(**{argument: values}), make(**{argument: values}, replicas=3)
            assert given.replicas == 3
            np.testing.assert_equal(given.parameters(), told.parameters())
            np.testing.assert_array_equal(getattr(given, argument), values)
    for one in (1.5, [1.5], np.array(1.5), np.array([1.5])):
        assert make(temperature=one).replicas == 1
        assert np.ndim(make(temperature=one).beta) == 0
    with pytest.raises(ValueError, match="for each of 2 replicas"):
        make(temperature=[1.0, 1.5, 2.0], replicas=2)
    huge = np.broadcast_to(1.5, 2**40)
    with pytest.raises((ValueError, MemoryError)):
        make(temperature=huge)


def test_there_are_as_many_replicas_as_fractions():
    mixtures = models.Kawasaki((4, 4), lattice="square", temperature=2.0, fraction=[0.25, 0.5])
    assert mixtures.replicas == 2
