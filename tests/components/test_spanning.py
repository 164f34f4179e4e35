"""Which faces components join, against a look at each label."""

import numpy as np
import pytest

import conncomp
from host_cupy import place_on_host


@pytest.mark.parametrize("seed", range(30))
def test_spans(seed):
    random = np.random.default_rng(seed)
    shape = tuple(random.integers(1, 8, random.integers(1, 5)).tolist())
    image = random.random(shape) < 0.6
    labels = conncomp.label(image, connectivity=1)
    spans = conncomp.component_spans(labels, background=0)
    assert spans.shape == (labels.max() + 1, len(shape))
    assert not spans[0].any()
    for number in range(1, len(spans)):
        for axis, length in enumerate(shape):
            first, last = (np.any(labels.take(k, axis) == number) for k in (0, length - 1))
            assert spans[number, axis] == (first and last)
    for axis in range(len(shape)):
        assert conncomp.percolates(image, axis, connectivity=1) == spans[:, axis].any()
        assert conncomp.percolates(image, axis - len(shape), connectivity=1) == spans[:, axis].any()
        wrapping = conncomp.component_wrapping(image, connectivity=1)
        wraps = conncomp.percolates(image, axis, connectivity=1, periodic=True)
        assert wraps == wrapping.axes[:, axis].any()


def test_batches():
    random = np.random.default_rng(1)
    images = random.random((3, 2, 6, 5)) < 0.6
    labels = conncomp.label(images, batch_axes=2)
    spans = conncomp.component_spans(labels, batch_axes=2)
    for n in np.ndindex(3, 2):
        alone = conncomp.component_spans(labels[n])
        np.testing.assert_array_equal(spans[n][: len(alone)], alone)
        assert not spans[n][len(alone) :].any()


@pytest.mark.parametrize("shape", [(0,), (0, 3), (4, 0, 2)])
def test_empty(shape):
    spans = conncomp.component_spans(np.zeros(shape, int), background=0)
    assert spans.shape[1] == len(shape)
    assert not spans.any()
    assert not conncomp.percolates(np.zeros(shape), 0)


def test_errors():
    with pytest.raises(ValueError, match="labels is a scalar"):
        conncomp.component_spans(3, background=0)
    with pytest.raises(ValueError, match="axis=2 must be one of the 2 axes"):
        conncomp.percolates(np.ones((2, 2)), 2)
    with pytest.raises(TypeError, match="axis"):
        conncomp.percolates(np.ones((2, 2)), 0.5)


def test_percolates_where_the_image_lies(monkeypatch):
    cupy = place_on_host(monkeypatch)
    random = np.random.default_rng(0)
    for image in (random.random((2, 9, 7)) < 0.4, np.zeros((3, 4), bool), np.eye(5, dtype=bool)):
        for axis in range(image.ndim):
            expected = conncomp.percolates(image, axis)
            assert conncomp.percolates(cupy.asarray(image), axis) is expected
            assert conncomp.percolates(image, axis, device="cuda") is expected
