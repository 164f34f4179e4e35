"""A fifth model is a folder: what the base gives it, and an exact mean."""

import copy
import pickle
from math import tanh

import h5py
import numpy as np
import pytest

from conncomp.models import Model, ModelState, autocorrelation_time, simulate
from models.alarms import FALSE_ALARM, of_mean
from models.paramagnet import Magnetisations, Paramagnet

SHAPE, H = (5, 8), 0.3


def test_mean_is_the_exact_one():
    run = simulate(Paramagnet(SHAPE, H, seed=1), 4000, thermalise=1)
    assert isinstance(run.series, Magnetisations)
    samples = run.series.magnetisation
    variance = (1 - tanh(H) ** 2) / 40
    assert of_mean(samples, tanh(H), variance) > FALSE_ALARM
    [(h, mean)] = run.summarise()
    assert h == H
    assert mean.value == pytest.approx(samples.mean())
    assert mean.error == pytest.approx((variance / 4000) ** 0.5, rel=0.1)
    assert autocorrelation_time(samples).value == pytest.approx(0.5, abs=0.1)


def test_it_is_a_model():
    model = Paramagnet(SHAPE, H, seed=3)
    assert isinstance(model, Model)
    assert model.parameters() == {
        "model": "Paramagnet",
        "shape": [5, 8],
        "h": H,
        "seed": 3,
        "replicas": 1,
        "first_replica": 0,
    }
    model.step(3)
    labels, number = model.labels(return_num=True)
    assert labels.shape == SHAPE
    assert number == model.measure().components
    assert np.count_nonzero(labels) == (model.measure().magnetisation + 1) * 20


def test_an_update_measures_the_state_that_it_finds():
    for replicas in (None, 3):
        model, run = Paramagnet(SHAPE, H, replicas=replicas), []
        series = simulate(
            model, 4, watch=lambda model, run=run: run.append(model.measure().records)
        ).series
        np.testing.assert_array_equal(series.records, run)
        assert series.records.shape == ((4, 2) if replicas is None else (4, 3, 2))
        assert not series.records[0].any()
        assert model.updates == 4


def test_a_replica_is_the_same_alone():
    together, alone = Paramagnet(SHAPE, H, replicas=3), Paramagnet(SHAPE, H, first_replica=2)
    for model in (together, alone):
        model.step(5)
    np.testing.assert_array_equal(together.labels()[2], alone.labels())


def test_simulation_goes_on_from_a_checkpoint(tmp_path):
    path, whole, parts = (tmp_path / name for name in ("run.checkpoint", "whole.h5", "parts.h5"))
    simulate(Paramagnet(SHAPE, H), 20, thermalise=3, output=whole)
    simulate(Paramagnet(SHAPE, H), 7, thermalise=3, checkpoint=path)
    simulate(Paramagnet(SHAPE, H), 20, thermalise=3, checkpoint=path, output=parts)
    assert parts.read_bytes() == whole.read_bytes()
    with h5py.File(whole) as archive:
        assert set(archive) == {"magnetisation", "components", "updates"}
        assert archive.attrs["model"] == "Paramagnet"
    with pytest.raises(ValueError, match=r"another simulation, whose h is 0\.3, not 0\.4"):
        simulate(Paramagnet(SHAPE, 0.4), 20, thermalise=3, checkpoint=path)


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))]
)
def test_copies_go_on_apart(copied):
    model, twin = (Paramagnet(SHAPE, H, replicas=2, seed=4) for _ in range(2))
    for each in (model, twin):
        each.step(2)
    made = copied(model)
    made.step(3)
    np.testing.assert_array_equal(model.labels(), twin.labels())
    twin.step(3)
    np.testing.assert_array_equal(made.labels(), twin.labels())
    assert made.updates == 5


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (ModelState(1, ()), "the state has 0 arrays; one of a Paramagnet model has one"),
        (ModelState(1, (np.zeros(3),)), r"uint8 of shape \(1, 5, 8\)"),
        (ModelState(1, (np.full((1, *SHAPE), 2, np.uint8),)), "spins must be 0 or 1"),
        (ModelState(-1, (np.zeros((1, *SHAPE), np.uint8),)), "updates=-1 must be from 0"),
    ],
)
def test_what_is_no_state_is_refused(state, message):
    model = Paramagnet(SHAPE, H)
    model.step(2)
    before = model.labels()
    with pytest.raises(ValueError, match=message):
        model.restore(state)
    assert model.updates == 2
    np.testing.assert_array_equal(model.labels(), before)


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda: Paramagnet(SHAPE, np.inf), ValueError, "h=inf must be finite"),
        (lambda: Paramagnet(SHAPE, H, replicas=0), ValueError, "replicas=0 must be from 1"),
        (lambda: Paramagnet(SHAPE, H).step(-1), ValueError, "n=-1 must be from 0"),
        (
            lambda: simulate(Paramagnet(SHAPE, H), 3, clusters=True),
            TypeError,
            "'clusters'; updates of Paramagnet take none of their own",
        ),
    ],
)
def test_bad_arguments(function, error, message):
    with pytest.raises(error, match=message):
        function()
