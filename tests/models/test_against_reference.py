"""The Potts model of every device against the reference, bit for bit."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import conncomp
from conncomp.kernels.cuda.models import words
from conncomp.kernels.cuda.models.clusters import LabelFinder
from conncomp.models import Potts
from models.devices import DEVICES, on_host
from models.potts_reference import CLUSTERS, COUNTS, ReferencePotts, check_state, check_update

LABELLINGS = {"cpu": ["auto", "serial"], "cuda": ["auto"]}
STATES = [2, 3, 4, 5, 17, 255]
MOST_REPLICAS = 1 << 24


@st.composite
def shapes(draw):
    """Draw lengths, those of the last axis around the ends of words now and then."""
    ndim = draw(st.integers(1, 4))
    longest = [0, 40, 9, 5, 4][ndim]
    lengths = draw(st.lists(st.integers(1, longest), min_size=ndim, max_size=ndim))
    if draw(st.integers(0, 3)) == 0:
        lengths = [min(length, 3) for length in lengths]
        lengths[-1] = draw(st.sampled_from([63, 64, 65, 70, 127, 128, 129]))
    return tuple(lengths)


@st.composite
def models(draw):
    """Draw the arguments of a model; replicas are a number."""
    shape, q = draw(shapes()), draw(st.sampled_from(STATES))
    replicas = draw(st.integers(1, 3))
    beta = st.one_of(st.sampled_from([0.0, 0.3, 0.9, 1.4, 60.0]), st.floats(0, 3))
    start = draw(st.sampled_from(["hot", "cold", "array", "arrays"]))
    if start.startswith("array"):
        rng = np.random.default_rng(draw(st.integers(0, 99)))
        dtype = draw(st.sampled_from(["u1", "i8", ">i4"]))
        start_shape = shape if start == "array" else (replicas, *shape)
        start = rng.integers(0, q, start_shape).astype(dtype)
    return {
        "shape": shape,
        "q": q,
        "beta": draw(st.one_of(beta, st.lists(beta, min_size=replicas, max_size=replicas))),
        "coupling": draw(st.sampled_from([1.0, 0.4, 3.0])),
        "periodic": draw(st.one_of(st.booleans(), st.tuples(*[st.booleans()] * len(shape)))),
        "replicas": replicas,
        "seed": draw(st.one_of(st.integers(0, 9), st.integers(0, 2**64 - 1))),
        "start": start,
        "first_replica": draw(st.sampled_from([0, 1, 1000, MOST_REPLICAS - replicas])),
    }


@st.composite
def updates(draw, shape):
    """Draw the name of an update and its arguments."""
    name = draw(st.sampled_from(["swendsen_wang", "wolff", "few_cluster", "metropolis"]))
    arguments = {}
    if name != "metropolis":
        arguments["clusters"] = draw(st.booleans())
        arguments["wrapping"] = draw(st.booleans())
    if name == "few_cluster":
        arguments["tile"] = tuple(
            draw(st.sampled_from([edge for edge in range(1, n + 1) if n % edge == 0]))
            for n in shape
        )
        arguments["p_flip"] = draw(st.sampled_from([1e-5, 0.2, 0.5, 0.9, 1 - 2**-53]))
    return name, draw(st.integers(1, 3)), arguments


@pytest.mark.parametrize("device", DEVICES)
@given(data=st.data(), arguments=models(), threads=st.sampled_from([1, 2, 3]))
@settings(max_examples=250)
def test_equals_reference(device, data, arguments, threads):
    conncomp.set_num_threads(threads)
    labelling = data.draw(st.sampled_from(LABELLINGS[device]))
    model = Potts(**arguments, device=device, labelling=labelling)
    reference = ReferencePotts(**arguments)
    check_state(model, reference)
    for update in data.draw(st.lists(updates(arguments["shape"]), min_size=1, max_size=4)):
        check_update(model, reference, update)
    check_state(model, reference)


ALL_UPDATES = [
    ("swendsen_wang", 2, {"clusters": True}),
    ("wolff", 3, {}),
    ("metropolis", 2, {}),
    ("swendsen_wang", 1, {}),
    ("few_cluster", 2, {"p_flip": 0.6}),
    ("wolff", 1, {"clusters": True}),
    ("few_cluster", 1, {"p_flip": 0.9, "clusters": True}),
    ("swendsen_wang", 1, {"wrapping": True}),
    ("wolff", 1, {"wrapping": True, "clusters": True}),
]


def with_tile(tile):
    """Yield all updates, with a tile where one is to be given."""
    for name, number, options in ALL_UPDATES:
        yield name, number, {**options, "tile": tile} if name == "few_cluster" else options


@cache
def all_updates_of_the_reference(tile, **arguments):
    """Return records of each update, and the spins after it; they are the same for all devices."""
    reference = ReferencePotts(**arguments)
    return [
        (getattr(reference, name)(number, **options), reference.spins.copy())
        for name, number, options in with_tile(tile)
    ]


@pytest.mark.soak
@pytest.mark.parametrize(
    ("shape", "q", "periodic", "tile"),
    [
        ((5000,), 2, True, (50,)),
        ((70, 130), 2, True, (10, 13)),
        ((70, 130), 3, (True, False), (35, 26)),
        ((64, 64), 4, True, (16, 8)),
        ((1, 2000), 2, True, (1, 1)),
        ((2000, 1), 3, True, (4, 1)),
        ((17, 16, 15), 2, True, (1, 4, 5)),
        ((6, 7, 66), 5, (False, True, True), (3, 1, 11)),
        ((5, 4, 3, 65), 2, True, (5, 2, 3, 13)),
    ],
)
@pytest.mark.parametrize("device", DEVICES)
def test_lattices_of_many_words(device, shape, q, periodic, tile):
    critical = [1.5, 0.88, 0.45, 0.3][len(shape) - 1] * (1 + (q > 2) * 0.2)
    arguments = {"shape": shape, "q": q, "beta": critical, "periodic": periodic, "seed": 1}
    wanted = all_updates_of_the_reference(tile, **arguments)
    of_threads = [(1, "serial"), (2, "auto"), (3, "auto")] if device == "cpu" else [(1, "auto")]
    models = [
        (threads, Potts(**arguments, replicas=1, device=device, labelling=labelling))
        for threads, labelling in of_threads
    ]
    for (name, number, options), (records, spins) in zip(with_tile(tile), wanted, strict=True):
        for threads, model in models:
            conncomp.set_num_threads(threads)
            measured = getattr(model, name)(number, **options)
            np.testing.assert_array_equal(measured.records, records)
            np.testing.assert_array_equal(on_host(model.spins), spins)


@pytest.mark.parametrize("device", ["cuda"])
@pytest.mark.parametrize("most", [0, 1 << 20], ids=["bricks", "sites"])
@pytest.mark.parametrize("shape", [(20, 36), (150,), (4, 5, 20)])
def test_clusters_of_bricks_and_of_sites(device, most, shape, monkeypatch):
    """Updates of one kind several times, as their launches are kept."""
    monkeypatch.setattr(words, "MOST_OF_MULTIPROCESSOR", most)
    for q, replicas in (2, 3), (3, 1):
        arguments = {"shape": shape, "q": q, "beta": 0.6, "replicas": replicas, "seed": 5}
        model, expected = Potts(**arguments, device=device), Potts(**arguments)
        for options in ({}, {"measure": False}, {"clusters": True}, {"wrapping": True}, {}):
            for update in ("swendsen_wang", "swendsen_wang", "wolff"):
                got, wanted = (getattr(m, update)(3, **options) for m in (model, expected))
                if wanted is not None:
                    np.testing.assert_array_equal(got.records, wanted.records)
                np.testing.assert_array_equal(on_host(model.spins), expected.spins)
        if shape == (20, 36):
            by_labels = any(isinstance(way, LabelFinder) for way in model._engine._finders)
            assert by_labels == (most > 0)


@pytest.mark.parametrize("device", DEVICES)
def test_what_is_measured_changes_no_spins(device):
    measured, unmeasured = (Potts((40, 66), 3, 1.0, seed=4, device=device) for _ in range(2))
    for name, number, options in ALL_UPDATES:
        if name == "few_cluster":
            options = {**options, "tile": 2}
        for _ in range(number):
            getattr(measured, name)(**options)
        measures = "clusters", "wrapping"
        options = {key: value for key, value in options.items() if key not in measures}
        assert getattr(unmeasured, name)(number, measure=False, **options) is None
        np.testing.assert_array_equal(on_host(measured.spins), on_host(unmeasured.spins))
    assert measured.updates == unmeasured.updates


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("q", [2, 5])
def test_measurements_are_of_the_spins(device, q):
    """Observables as computed from spins and labels by NumPy."""
    model = Potts((30, 70), q, 0.95, coupling=1.5, seed=5, device=device)
    model.swendsen_wang(20, measure=False)
    spins, labels = on_host(model.spins), on_host(model.labels())
    bonds, energy, magnetisation = on_host(model.bonds()), model.energy(), model.magnetisation()
    measured = model.swendsen_wang(1, clusters=True)
    satisfied = sum((spins == np.roll(spins, -1, axis)).sum() for axis in (0, 1))
    rho = np.bincount(spins.ravel(), minlength=q) / spins.size
    sizes = np.bincount(labels.ravel())[1:] / spins.size
    assert measured.satisfied_bonds[0] == satisfied
    assert measured.energy[0] == energy == -1.5 * satisfied
    assert measured.active_bonds[0] == bonds.sum()
    assert measured.magnetisation[0] == magnetisation
    if q == 2:
        assert magnetisation == pytest.approx((1 - 2.0 * spins).mean())
    else:
        assert magnetisation == pytest.approx((q * rho.max() - 1) / (q - 1))
    squared = (q * (rho**2).sum() - 1) / (q - 1)
    assert measured.squared_magnetisation[0] == pytest.approx(squared)
    assert measured.fourth_magnetisation[0] == pytest.approx(squared**2)
    assert measured.clusters[0] == len(sizes)
    assert measured.largest_cluster[0] == round(sizes.max() * spins.size)
    s2, s4 = (sizes**2).sum(), (sizes**4).sum()
    assert measured.improved_squared_magnetisation[0] == pytest.approx(s2)
    assert measured.improved_fourth_magnetisation[0] == pytest.approx(
        ((q + 1) * s2**2 - 2 * s4) / (q - 1)
    )
    assert len(measured.records) == 1


def test_improved_estimators_are_means_over_the_states_of_clusters():
    """The formula for m^4, by all states that some clusters can take."""
    sizes = [5, 3, 3, 1]
    for q in (2, 3, 4):
        states = np.indices((q,) * len(sizes)).reshape(len(sizes), -1)
        counts = np.stack([np.array(sizes) @ (states == state) for state in range(q)], axis=1)
        squared = (q * ((counts / 12) ** 2).sum(axis=1) - 1) / (q - 1)
        record = [0] * (COUNTS + q)
        record[CLUSTERS : CLUSTERS + 2] = len(sizes), max(sizes)
        record[4], record[7] = sum(n**2 for n in sizes), sum(n**4 for n in sizes)
        lattice = Potts((3, 4), q).lattice
        measured = conncomp.models.results.Measurements(np.array([record]), lattice, 1.0, True)
        assert measured.improved_squared_magnetisation[0] == pytest.approx(squared.mean())
        assert measured.improved_fourth_magnetisation[0] == pytest.approx((squared**2).mean())
