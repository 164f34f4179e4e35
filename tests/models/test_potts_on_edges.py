"""The Potts model on any lattice and graph, and in fields: distribution, trajectories, errors."""

from itertools import product
from math import log, sqrt

import numpy as np
import pytest

import conncomp
from conncomp import Graph
from conncomp.kernels.edges import WHOLE
from conncomp.models import Ising, Potts, parallel_tempering, simulate
from models import alarms
from models.edges_reference import ReferenceStates, check_updates, on_host

pytestmark = pytest.mark.usefixtures("restore_threads")
DEVICES = ["cpu", "cuda"]
RNG = np.random.default_rng(3)
GRAPH = Graph.from_edges([0, 1, 2, 2, 3], [1, 2, 0, 3, 4])


def acting(model):
    """Return couplings and fields as the kernels have them."""
    edges, unit = model._edges, model._edges.scale / WHOLE
    couplings = np.full(edges.bonds, WHOLE) if edges.couplings is None else edges.couplings
    fields = np.zeros(edges.sites) if edges.fields is None else edges.fields
    return unit * couplings, unit * fields


def exact(model, q):
    """Return the means of energy and squared magnetisation by enumeration of all states."""
    couplings, fields = acting(model)
    states = np.array(list(product(range(q), repeat=model.sites)))
    u, v = model.edges.T
    energies = -((states[:, u] == states[:, v]) @ couplings + (states == 0) @ fields)
    shares = np.stack([(states == k).mean(axis=1) for k in range(q)])
    squares = (q * (shares**2).sum(axis=0) - 1) / (q - 1)
    weights = np.exp(-model._betas[0] * (energies - energies.min()))
    weights /= weights.sum()
    return energies @ weights, squares @ weights, shares @ weights


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


@pytest.mark.parametrize("update", ["swendsen-wang", "wolff"])
@pytest.mark.parametrize("case", SMALL)
def test_means_are_those_of_enumeration(update, case):
    shape, q, arguments = SMALL[case]
    model = Potts(shape, q, **arguments, replicas=285, seed=3)
    run = simulate(model, 20, thermalise=40, update=update)
    energy, squared, shares = exact(model, q)
    series, mean = run.series, run.series.energy.mean(axis=0)
    assert alarms.of_mean(mean, energy) > alarms.FALSE_ALARM
    assert alarms.of_mean(series.squared_magnetisation.mean(axis=0), squared) > alarms.FALSE_ALARM
    counts = series.state_counts.mean(axis=0) / model.sites
    for state in range(q):
        assert alarms.of_mean(counts[:, state], shares[state]) > alarms.FALSE_ALARM
    assert mean.std() / sqrt(500) < 0.05 * abs(energy)


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
    model = Potts(shape, q, **arguments, replicas=2, first_replica=3, seed=7, device=device)
    couplings, fields = acting(model)
    start = on_host(model.spins).reshape(2, -1)
    references = [
        ReferenceStates(q, model.edges, couplings, fields, model.beta[k], 7, 3 + k, start[k])
        for k in range(2)
    ]
    measured = not fields.any()
    check_updates(model, references, measured)


def test_two_states_are_the_ising_model():
    """With twice the inverse temperature, and fields of 2 h, at the same energies."""
    field = RNG.normal(size=(4, 6))
    ising = Ising((4, 6), lattice="triangular", beta=0.2, field=field, replicas=300, seed=1)
    potts = Potts((4, 6), beta=0.4, lattice="triangular", field=field, replicas=300, seed=2)
    runs = [simulate(model, 20, thermalise=30).series for model in (ising, potts)]
    # s s' = 2 delta - 1, and the field's part likewise.
    means = [runs[0].energy.mean(axis=0), 2 * runs[1].energy.mean(axis=0) + 72 + field.sum()]
    error = sqrt(sum(mean.var() for mean in means) / 300)
    assert abs(means[0].mean() - means[1].mean()) < 5 * error
    assert error < 0.02 * abs(means[0].mean())


def test_a_field_changes_the_engine_and_not_the_first_spins():
    plain, tied = Potts((7, 70), 3, seed=2), Potts((7, 70), 3, seed=2, field=0.1)
    np.testing.assert_array_equal(plain.spins, tied.spins)
    expected = plain.energy() - 0.1 * (plain.spins == 0).sum()
    assert tied.energy() == pytest.approx(expected, rel=1e-7)
    assert tied.beta == plain.beta
    assert Potts((7, 70), 3, seed=2, field=0.0).parameters() == plain.parameters()


def test_critical_points():
    """F. Y. Wu, Rev. Mod. Phys. 54, 235 (1982): those of two states are the Ising model's."""
    for lattice in ("triangular", "honeycomb"):
        expected = 2 / Ising.critical_temperature(lattice)
        assert Potts.critical_beta(2, lattice=lattice) == pytest.approx(expected, rel=1e-14)
        assert Potts((4, 4), 2, lattice=lattice).beta == pytest.approx(expected)
    # sqrt(3) of the square lattice is between the others.
    betas = [Potts.critical_beta(3, lattice=lattice) for lattice in ("triangular", "honeycomb")]
    assert betas[0] < log(1 + sqrt(3)) < betas[1]


@pytest.mark.parametrize("device", ["cuda"])
def test_gpu_goes_as_the_cpu(device):
    models = [
        Potts((20, 70), 3, lattice="triangular", field=0.01, seed=5, device=d) for d in DEVICES
    ]
    for update in ("swendsen_wang", "wolff"):
        np.testing.assert_array_equal(*(getattr(model, update)(2).records for model in models))
    np.testing.assert_array_equal(*(on_host(model.spins) for model in models))


def test_threads_replicas_and_interruptions_change_nothing(tmp_path):
    def make(**options):
        return Potts((200, 300), 3, lattice="triangular", field=0.01, seed=5, **options)

    conncomp.set_num_threads(1)
    one = make()
    series = one.swendsen_wang(2), one.wolff()
    conncomp.set_num_threads(3)
    many = make(replicas=2)
    for of_many, of_one in zip((many.swendsen_wang(2), many.wolff()), series, strict=True):
        np.testing.assert_array_equal(of_many.records[:, 0], of_one.records)
    np.testing.assert_array_equal(many.spins[0], one.spins)

    def small(field=0.1):
        return Potts(GRAPH, 3, beta=[0.2, 0.4], field=field, replicas=2, seed=6)

    whole = simulate(small(), 12, thermalise=3)
    simulate(small(), 4, thermalise=3, checkpoint=tmp_path / "run")
    parts = simulate(small(), 12, thermalise=3, checkpoint=tmp_path / "run")
    np.testing.assert_array_equal(parts.series.records, whole.series.records)
    assert len(whole.summarise()) == 2
    with pytest.raises(ValueError, match=r"whose field is 0\.1, not 0\.2"):
        simulate(small(0.2), 12, thermalise=3, checkpoint=tmp_path / "run")


def test_tempering_in_a_field():
    model = Potts(GRAPH, 3, np.linspace(0.1, 1.2, 10), replicas=10, field=0.5, seed=1)
    tempering = parallel_tempering(model, 1500)
    assert (tempering.acceptance > 0.2).all()
    expected, _, _ = exact(Potts(GRAPH, 3, tempering.beta[5], field=0.5), 3)
    bins = tempering.series.energy[100:, 5].reshape(100, -1).mean(axis=1)
    assert alarms.of_mean(bins, expected) > alarms.FALSE_ALARM


def test_shapes_starts_and_labels():
    start = np.arange(24).reshape(2, 4, 3) % 5
    model = Potts((2, 4), 5, 40.0, lattice="kagome", start=start, temperature=None)
    np.testing.assert_array_equal(model.spins, start)
    assert model.coordinates.shape == (24, 2)
    assert Potts((2, 4), 5, 40.0, lattice="kagome", start="cold").labels(return_num=True)[1] == 1
    assert model.labels().shape == (2, 4, 3)
    assert Potts((8, 8), 3, temperature=2.0).beta == 0.5


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Potts(GRAPH, 3), "no critical temperature of a graph"),
        (lambda: Potts((3, 3), 3, lattice="kagome"), "of the lattice kagome is known here; give"),
        (lambda: Potts.critical_beta(3, lattice="kagome"), "lattice='kagome'"),
        (lambda: Potts((3, 3), 3, coupling=-1.0), "of coupling=-1 below 0 is known here; give"),
        (
            lambda: Potts((3, 3), 3, 1.0, coupling=-1.0).swendsen_wang(clusters=True),
            "leave it out with couplings below 0",
        ),
        (
            lambda: Potts((3, 3), 3, 1.0, coupling=-1.0).updater(update="few-cluster"),
            "'few-cluster' is for hyper",
        ),
        (lambda: Potts(GRAPH, 3, 1.0, field=np.nan), "field=nan must be finite"),
        (lambda: Potts(GRAPH, 3, 1.0, field=[1.0]), r"field has shape \(1,\)"),
        (lambda: Potts(GRAPH, 3, 1.0, temperature=1.0), "exclude each other"),
        (lambda: Potts(GRAPH, 3, temperature=0.0), "temperature=0.0 must be above 0"),
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
        (lambda: Potts(GRAPH, 3, 1.0).updater(update="warm"), "update='warm'"),
        (
            lambda: Potts(GRAPH, 3, 1.0).swendsen_wang(wrapping=True),
            "wrapping is measured on lattices",
        ),
        (lambda: Potts(GRAPH, 3, 1.0).wrapping(), "wrapping is for hypercubic"),
        (
            lambda: Potts((2, 2), field=1.0).swendsen_wang(clusters=True),
            "leave it out with a field",
        ),
        (lambda: Potts((2, 2), field=1.0).measure().satisfied_bonds, "couplings differ or sites"),
    ],
)
def test_bad_arguments(call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call()
