"""Every algorithm for arrays on the CPU: hard images, interrupts, limits, memory that changes."""

from dataclasses import replace
from time import perf_counter

import numpy as np
import pytest

from changing_memory import images, labels, written_by_another_thread
from conncomp import generate, label
from conncomp.kernels import time_limit
from cpu_cases import CASES, ON_CPU, takes
from hard_images import HARD_IMAGES, roots_of, settings_of
from interrupts import interrupted_after
from reference import consecutive, label_by_neighbour_pairs

SWEEPING = [name for name, each in ON_CPU.items() if each.waits(each.defaults)]


@pytest.mark.parametrize("name", HARD_IMAGES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_hard_images(case, name):
    image = HARD_IMAGES[name]
    if not takes(case, image.shape):
        with pytest.raises(ValueError, match=r"algorithm='tiles' .* has shape .* algorithm='auto'"):
            label(image, **case)
        return
    for connectivity, periodic in settings_of(image):
        task = {"connectivity": connectivity, "periodic": periodic, "numbering": "roots"}
        roots = label(image, **task, **case)
        np.testing.assert_array_equal(roots, roots_of(name, connectivity, periodic))


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint16])
def test_larger_images(case, dtype):
    image = np.random.default_rng(0).integers(0, 3, (150, 260))
    for connectivity in (1, 2):
        expected = label_by_neighbour_pairs(image, connectivity=connectivity, periodic=True)
        out = np.zeros(image.shape, dtype)
        task = {"periodic": True, "connectivity": connectivity, **case}
        assert label(image, out=out, **task) is out
        np.testing.assert_array_equal(out, consecutive(expected, first=1))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_many_neighbours(case):
    if not takes(case, (3,) * 7):
        pytest.skip("labels arrays of few axes")
    image = np.random.default_rng(0).random((3,) * 7) < 0.02
    expected = label(image, connectivity=6, periodic=True)
    found = label(image, connectivity=6, periodic=True, **case)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_no_elements(case):
    for shape in ((0,), (3, 0), (0, 3)):
        labels_, count = label(np.zeros(shape), return_num=True, **case)
        assert labels_.shape == shape
        assert count == 0


def test_an_interrupt_ends_raster_scans():
    image, start = generate.patterns.spiral(3000), perf_counter()
    with interrupted_after(0.3):
        label(image, algorithm="raster-scan")
    assert perf_counter() - start < 0.3 + 0.2


def test_a_time_limit_ends_what_sweeps():
    image = generate.patterns.spiral(3000)
    for seconds in (-1, 0.2):
        start = perf_counter()
        with time_limit(seconds), pytest.raises(TimeoutError, match="the time limit is over"):
            label(image, algorithm="raster-scan")
        assert perf_counter() - start < max(seconds, 0) + 0.3
    with time_limit(-1):
        label(image)


@pytest.mark.parametrize("numbering", ["roots", "consecutive"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_arrays_that_another_thread_writes_to(case, numbering):
    """Labels may be wrong, no more: the call ends, and the next one is right."""
    shape = (90, 130)
    values = list(images(shape).values())
    image, out = values[3].copy(), np.zeros(shape, np.int32)
    with written_by_another_thread((image, values), (out, list(labels(shape).values()))):
        for connectivity in (1, 2) * 10:
            task = {"connectivity": connectivity, "numbering": numbering}
            label(image, out=out, **case, **task)
            label(image, out=out, tolerance=1, **case, **task)
    expected = label(values[3], numbering=numbering)
    found = label(values[3], out=out, numbering=numbering, **case)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("algorithm", SWEEPING)
def test_algorithms_that_sweep_work_on_labels_of_their_own(algorithm, monkeypatch):
    filled, known = [], ON_CPU[algorithm]

    def fill(image, task, **options):
        filled.append(task.labels)
        return known.fill(image, task, **options)

    monkeypatch.setitem(ON_CPU, algorithm, replace(known, fill=fill))
    out = np.zeros((3, 4), np.int32)
    label(np.ones((3, 4)), out=out, algorithm=algorithm)
    assert not np.may_share_memory(filled[0], out)
    np.testing.assert_array_equal(out, 1)


def test_rows_that_are_reversed_in_an_array_with_far_strides():
    """Rows before the first ones along an axis are not read: they would be far outside."""
    far = np.zeros((2, 1 << 20, 3, 64), np.uint8)  # most of it is memory that is never touched
    far[:, :4] = np.random.default_rng(0).integers(1, 3, (2, 4, 3, 64))
    image = far[:, :4].transpose(1, 0, 2, 3)[..., ::-1]
    expected = label(image.copy(), numbering="roots")
    np.testing.assert_array_equal(label(image, numbering="roots"), expected)


@pytest.mark.parametrize("numbering", ["consecutive", "roots"])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize(
    ("shape", "batch_axes"),
    [((300, 200), 0), ((130, 67, 5), 0), ((70, 3, 140), 0), ((2, 90, 66), 1)],
)
def test_transposed_arrays(shape, batch_axes, dtype, numbering):
    """Labels go to memory in strips of rows, which end where a layer, a part or an array does."""
    rng = np.random.default_rng(len(shape))
    axes = (*range(batch_axes), *range(len(shape) - 1, batch_axes - 1, -1))  # its own inverse
    for image in (rng.random(shape) < 0.4, rng.integers(0, 3, shape, np.uint16)):
        view = np.ascontiguousarray(image.transpose(axes)).transpose(axes)
        for task in ({}, {"connectivity": 1, "periodic": True}):
            expected = label(image, numbering=numbering, batch_axes=batch_axes, **task)
            out = np.full(shape, 77, dtype)
            label(view, out=out, numbering=numbering, batch_axes=batch_axes, **task)
            np.testing.assert_array_equal(out, expected)
