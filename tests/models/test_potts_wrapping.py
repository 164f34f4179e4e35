"""How clusters of updates wrap: against other calls, all configurations, and the critical torus."""

from collections import Counter
from functools import cache
from math import log, sqrt

import numpy as np
import pytest

import conncomp
from conncomp.kernels import time_limit
from conncomp.kernels.lattice import Lattice
from conncomp.models import Potts, summarise
from conncomp.models.observables import series
from models import alarms
from models.devices import DEVICES, on_host
from models.percolation_reference import Torus, all_configurations
from models.torus import wrapping_at_criticality

SIGMAS = 4


def check_as_wrapping_tells(measured, wrapping):
    """Compare one update of several replicas with `Potts.wrapping` before it."""
    ends = np.cumsum(on_host(wrapping.counts))
    axes, rank = on_host(wrapping.axes), on_host(wrapping.rank)
    for replica, (begin, end) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
        of_replica = slice(begin, end)
        np.testing.assert_array_equal(measured.wraps[0, replica], axes[of_replica].any(axis=0))
        assert measured.rank[0, replica] == rank[of_replica].max()


@pytest.mark.soak(gate="values")
@pytest.mark.parametrize("update", ["swendsen_wang", "wolff"])
@pytest.mark.parametrize(
    ("shape", "q", "beta", "periodic"),
    [
        ((384, 384), 2, "critical", True),
        ((300, 420), 3, 1.02, (False, True)),
        ((40, 50, 60), 2, 0.446, True),
        ((9, 10, 11, 12), 2, 0.31, (True, False, True, True)),
        ((140_000,), 2, 12.0, True),
        ((2, 70_000), 2, 3.0, True),
        ((140_000, 1), 3, 8.0, True),
        ((64, 64), 2, 0.9, False),
    ],
)
def test_as_wrapping_tells(update, shape, q, beta, periodic):
    """Most of them are of several strips, which bonds over the ends lead out of."""
    conncomp.set_num_threads(3)
    model = Potts(shape, q, beta, periodic=periodic, replicas=2, seed=2)
    model.swendsen_wang(20, measure=False)
    seen = set()
    for number in range(30 if beta == "critical" else 12):
        wrapping = model.wrapping()
        measured = getattr(model, update)(wrapping=True, clusters=number % 2 == 0)
        check_as_wrapping_tells(measured, wrapping)
        seen |= set(measured.rank.ravel().tolist())
    if beta == "critical" and update == "swendsen_wang":
        assert seen == {0, 1, 2}


@pytest.mark.parametrize("device", ["cuda"])
@pytest.mark.parametrize("labelling", ["auto", pytest.param("tiles", marks=pytest.mark.soak)])
@pytest.mark.parametrize(
    ("shape", "beta", "periodic"),
    [
        ((40, 72), "critical", True),
        ((33, 65), 0.9, (True, False)),
        ((9, 14, 20), 0.45, True),
        ((3, 4, 5, 6), 0.33, True),
        ((1, 40), 3.0, True),
        ((3000,), 9.0, True),
        ((64, 32), 0.9, False),
    ],
)
def test_as_on_the_cpu(device, labelling, shape, beta, periodic):
    """By bricks, where they take a lattice, and by labels."""
    if labelling == "tiles" and len(shape) not in (2, 3):
        pytest.skip("tiles have two or three axes")
    arguments = {"beta": beta, "periodic": periodic, "replicas": 3, "seed": 5}
    arguments["start"] = "cold" if shape == (3000,) else "hot"
    on_cpu = Potts(shape, 2, **arguments)
    on_cpu.swendsen_wang(20, measure=False)
    on_gpu = Potts(shape, 2, **arguments, device=device, labelling=labelling)
    on_gpu.restore(on_cpu.state())
    some_wrap = False
    for update, clusters in ("swendsen_wang", False), ("swendsen_wang", True), ("wolff", False):
        wrapping = on_gpu.wrapping() if labelling == "auto" else on_cpu.wrapping()
        records = [
            getattr(model, update)(2, wrapping=True, clusters=clusters)
            for model in (on_cpu, on_gpu)
        ]
        check_as_wrapping_tells(records[1], wrapping)
        np.testing.assert_array_equal(records[1].records, records[0].records)
        np.testing.assert_array_equal(on_host(on_gpu.spins), on_cpu.spins)
        some_wrap |= records[0].wraps.any()
    assert some_wrap or periodic is False


# -------------------------------------------------------------------------- all configurations

TORI = [
    (Torus((2, 2), "bond"), 2),
    (Torus((2, 3), "bond"), 3),
    (Torus((3, 3), "bond", (False, True)), 2),
    (Torus((1, 5), "bond"), 2),
    (Torus((2, 1, 2), "bond"), 4),
    (Torus((5,), "bond"), 2),
]
configurations = cache(all_configurations)


@pytest.mark.soak
@pytest.mark.parametrize("update", ["swendsen_wang", "wolff"])
@pytest.mark.parametrize(("torus", "q"), TORI, ids=str)
def test_tori_wrap_as_often_as_all_configurations_say(update, torus, q):
    """The joint distribution of axes and rank, with the weights of Fortuin and Kasteleyn."""
    beta = log(1 + sqrt(q))
    p, bonds = 1 - np.exp(-beta), torus.elements
    weights = {}
    for facts in configurations(torus):
        weight = p**facts.occupied * (1 - p) ** (bonds - facts.occupied) * q**facts.clusters
        what = facts.wraps, facts.rank
        weights[what] = weights.get(what, 0) + weight
    model = Potts(torus.shape, q, beta, periodic=torus.closed, replicas=alarms.drawn(4_600), seed=9)
    run = getattr(model, update)
    run(60 if update == "swendsen_wang" else 100, measure=False)
    measured = run(1, wrapping=True)
    found = zip(map(tuple, measured.wraps[0].tolist()), measured.rank[0].tolist(), strict=True)
    observed = dict.fromkeys(weights, 0)
    for what in found:
        observed[what] += 1
    probabilities = np.array(list(weights.values())) / sum(weights.values())
    assert alarms.of_classes(np.array(list(observed.values())), probabilities) > alarms.FALSE_ALARM


# ---------------------------------------------------------------------------- the critical torus


def test_exact_probabilities_of_percolation():
    """For one state they are those of percolation, which have been published with nine digits."""
    known = {"axis": 0.521058290, "any": 0.690473725, "all": 0.351642855, "cross": 0.309526275}
    assert wrapping_at_criticality(1) == pytest.approx(known, abs=1.1e-9)


@pytest.mark.soak
@pytest.mark.parametrize(("q", "replicas", "most_error"), [(2, 500, 0.004), (3, 800, 0.008)])
def test_critical_torus(q, replicas, most_error):
    """As often as known exactly, within four standard errors."""
    model = Potts((64, 64), q, replicas=replicas, seed=17, start="cold")
    model.swendsen_wang(100, measure=False)
    series = model.swendsen_wang(200, wrapping=True)
    (summary,) = summarise(series, model.beta)
    exact, found = wrapping_at_criticality(q), summary.wrapping
    pairs = [(one, exact["axis"]) for one in found.along]
    pairs += [(found.any_axis, exact["any"]), (found.all_axes, exact["all"])]
    pairs.append((found.cross, exact["cross"]))
    for estimate, value in pairs:
        assert abs(estimate.value - value) < SIGMAS * estimate.error
        assert estimate.error < most_error


def test_summaries_have_wrapping_where_it_was_measured():
    model = Potts((8, 8), 2, [0.1, 3.0], replicas=2, seed=1, start="cold")
    assert all(one.wrapping is None for one in summarise(model.swendsen_wang(50), model.beta))
    hot, cold = (one.wrapping for one in summarise(model.wolff(50, wrapping=True), model.beta))
    for summary, share in (hot, 0.0), (cold, 1.0):
        estimates = (*summary.along, summary.any_axis, summary.all_axes, summary.cross)
        assert len(summary.along) == 2
        assert all(estimate.value == share for estimate in estimates)


# ---------------------------------------------------------------------------------- on the GPU


@pytest.mark.parametrize("device", ["cuda"])
@pytest.mark.parametrize("shape", [(20, 36), (3, 4, 5, 6)])
def test_an_update_takes_no_memory_and_asks_for_nothing(device, shape, monkeypatch):
    """From the second one on, kept or not; by bricks, wrapping takes five launches more."""
    model = Potts(shape, 2, 0.5, device=device)
    gpu, records = model._engine.gpu, model.new_records(6)
    load, launched = gpu.load, []

    def load_recorded(file, names):
        def recorded(kernel):
            def launch(*arguments, **options):
                launched.append(kernel.name)
                kernel.call(*arguments, **options)

            return kernel._replace(call=launch)

        return tuple(map(recorded, load(file, names)))

    of_updates = {}
    for wrapping in (False, True):
        update = model.updater(wrapping=wrapping)
        first, second, third = records[3 * wrapping : 3 * wrapping + 3]
        update(model.updates + 1, first)
        launched.clear()
        with monkeypatch.context() as patch:
            patch.setattr(NoMemory, "cuda", getattr(gpu.xp, "cuda", None), raising=False)
            patch.setattr(gpu, "xp", NoMemory)
            update(model.updates + 1, second)
            patch.setattr(gpu, "load", load_recorded)
            with time_limit(100):  # so that no launches are made that were kept
                update(model.updates + 1, third)
        of_updates[wrapping] = launched.copy()
    if len(shape) == 2:
        more = {"clear_seams", "unite_seams_of_bricks", "close_seams"}
        more |= {"record_windings", "join_seams"}
        assert Counter(of_updates[True]) - Counter(of_updates[False]) == Counter(more)


class NoMemory:
    """Stands where an array library was; whoever asks it for arrays gets AttributeError."""


# ---------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize("name", ["wraps", "rank"])
def test_wrapping_that_was_not_measured(name):
    with pytest.raises(ValueError, match="wrapping was not measured; update with wrapping=True"):
        getattr(Potts((4, 4)).swendsen_wang(clusters=True), name)


def test_wrapping_is_a_bool():
    with pytest.raises(TypeError, match=r"wrapping=.* must be True or False"):
        Potts((4, 4)).wolff(wrapping=np.arange(2))


@pytest.mark.parametrize("device", DEVICES)
def test_more_links_than_can_be_numbered(device, monkeypatch):
    monkeypatch.setattr(series, "MOST_LINKS", 39)
    model = Potts((4, 6), replicas=4, device=device)
    words = r"4 lattices of shape=\(4, 6\) have 40 links .* up to 39.* choose fewer replicas"
    with pytest.raises(ValueError, match=words):
        model.swendsen_wang(wrapping=True)
    assert model.updates == 0
    model.swendsen_wang()


def test_more_replicas_than_keys_tell_apart():
    lattice = Lattice((1, 8), (False, False), 2)
    series.check_wrapping(lattice, 1 << 23)
    with pytest.raises(ValueError, match="of up to 8388608 lattices"):
        series.check_wrapping(lattice, (1 << 23) + 1)
