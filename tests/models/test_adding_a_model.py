"""A fifth model is a folder: what the base gives it, and an exact mean."""

from math import tanh

import numpy as np
import pytest

from conncomp.models import autocorrelation_time, simulate
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
