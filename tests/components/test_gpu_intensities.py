"""Intensities, surfaces and axes: a GPU, or the host executor, equals the CPU to the bit."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import conncomp
from changing_memory import ChangingGpu, change_between_launches, written_by_another_thread
from conncomp.components._labels import check_items
from conncomp.components.columns import measuring
from conncomp.components.columns.intensities import check_image
from conncomp.kernels.cuda.components.configurations import count_faces
from conncomp.kernels.cuda.components.runs import find_runs
from host_cupy import HostCuPyGpu, place_on, place_on_host

# Each pair of types is compiled: of labels, and of images.
PAIRS = [("i4", "?"), ("i4", "f2"), ("i8", "f8"), ("i8", "i8")]

cupy = pytest.fixture(place_on_host)


def check(cupy, labels, image, placed=None, **options):
    """Compare all columns of arrays and of copies of them on the GPU."""
    on_device = placed or (cupy.asarray(labels), cupy.asarray(image))
    result = conncomp.component_statistics(*on_device, surfaces=True, **options)
    expected = conncomp.component_statistics(labels, image, surfaces=True, **options)
    assert result.spacing == expected.spacing
    for name in [field.name for field in fields(expected)] + ["volumes", "surface_areas"]:
        if name == "spacing":
            continue
        column, in_memory = getattr(result, name), getattr(expected, name)
        assert isinstance(column, cupy.ndarray), name
        np.testing.assert_array_equal(column.get(), in_memory, strict=True, err_msg=name)
        if in_memory.dtype.kind == "f":
            known = ~np.isnan(in_memory)
            assert np.signbit(column.get()[known]).tolist() == np.signbit(in_memory[known]).tolist()


def image_of(random, shape, dtype):
    """Return values of many magnitudes, some of which are not finite, or all that integers have."""
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            image = random.standard_normal(shape) * 10 ** random.uniform(-6, 4, shape)
            image = image.astype(dtype)
        odd = random.choice([np.nan, -np.nan, np.inf, -np.inf, -0.0], shape)
        return np.where(random.random(shape) < 0.01, odd, image).astype(dtype)
    if dtype.kind == "b":
        return random.random(shape) < 0.5
    bits = random.integers(0, 2**64, shape, np.uint64)
    if dtype.itemsize == 8:
        bits >>= np.uint64(18)  # sums fit
    return bits.astype(dtype)


@st.composite
def labelled_images(draw):
    """Draw labels and an image."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    shape = draw(st.lists(st.integers(0, 9), min_size=1, max_size=4))
    shape[-1] *= draw(st.sampled_from([1, 20]))
    labels = random.integers(0, draw(st.integers(1, 12)), shape)
    labels[random.random(shape) < draw(st.sampled_from([0, 0.6, 0.95]))] = 7
    index, dtype = draw(st.sampled_from(PAIRS))
    return labels.astype(index), image_of(random, shape, np.dtype(dtype))


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(labelled_images(), st.sampled_from([0, None]), st.integers(0, 3), st.booleans())
def test_equals_the_cpu(cupy, case, background, axes, spaced):
    labels, image = case
    axes = min(axes, labels.ndim - 1)
    spacing = (0.3, 7, 1e-3, 2)[: labels.ndim - axes] if spaced else None
    check(cupy, labels, image, background=background, batch_axes=axes, spacing=spacing)


def noise(shape, index="i4", dtype="f4"):
    random = np.random.default_rng(5)
    labels = random.integers(0, 300, shape)
    labels[random.random(shape) < 0.6] = 7
    return labels.astype(index), image_of(random, shape, np.dtype(dtype))


@pytest.mark.parametrize("seed", range(3))
def test_interleavings(cupy, monkeypatch, seed):
    gpu = HostCuPyGpu(cupy, seed=seed, multiprocessors=1, resident_threads=512)
    place_on(monkeypatch, gpu)
    labels, image = noise((90, 71))
    check(cupy, labels, image)
    check(cupy, labels.T, image.T, (cupy.asarray(labels).T, cupy.asarray(image).T))


def test_many_axes(cupy):
    """More sums than a warp has lanes."""
    check(cupy, *noise((2,) * 5 + (1,) * 28 + (3, 2)))


def test_roots(cupy):
    image = noise((40, 60))[1]
    roots = conncomp.label(image > 0, connectivity=1, numbering="roots")
    check(cupy, roots, image, background=-1)


def test_sums_that_do_not_fit(cupy):
    labels, image = cupy.asarray(np.array([1, 1])), cupy.asarray(np.array([2**63 - 1, 1]))
    with pytest.raises(OverflowError, match="image, of int64"):
        conncomp.component_statistics(labels, image, background=0)


def test_means_of_sums_that_are_infinite(cupy):
    image = np.random.default_rng(6).uniform(2.0**1023, np.finfo(float).max, (30, 40))
    labels = np.repeat([1, 2, 3], 10)[:, np.newaxis] * np.ones((1, 40), int)
    image[10:20] *= -1
    check(cupy, labels, image)
    statistics = conncomp.component_statistics(cupy.asarray(labels), cupy.asarray(image))
    np.testing.assert_array_equal(statistics.sums.get(), [np.inf, -np.inf, np.inf])
    assert (abs(statistics.means.get()) >= 2.0**1023).all()
    assert np.isfinite(statistics.means.get()).all()


def test_principal_axes_and_tables(cupy):
    labels = noise((20, 21))[0]
    on_device = conncomp.component_statistics(cupy.asarray(labels), surfaces=True)
    in_memory = conncomp.component_statistics(labels, surfaces=True)
    pairs = zip(on_device.principal_axes(), in_memory.principal_axes(), strict=True)
    for column, expected in pairs:
        assert isinstance(column, cupy.ndarray)
        np.testing.assert_allclose(column.get(), expected)
    assert all(isinstance(column, cupy.ndarray) for column in on_device.columns().values())
    assert on_device.to_pandas().equals(in_memory.to_pandas())
    assert on_device.to_arrow() == in_memory.to_arrow()


def test_image_and_labels_in_different_places(cupy):
    labels = np.ones((2, 3), int)
    for first, second, message in (
        (labels, cupy.asarray(labels), "image lies in GPU memory, but labels in main memory"),
        (cupy.asarray(labels), labels, "image lies in main memory, but labels in GPU memory"),
    ):
        with pytest.raises(TypeError, match=message):
            conncomp.component_statistics(first, second)


SHAPE = (40, 33)


def measure(gpu, labels, image, known):
    """Measure an image, with runs found now, and faces of components that were found before."""
    rows, count = known[0], int(known[0][-1]) + 1
    task = gpu, labels, 0, count
    runs = find_runs(*task, SHAPE[-1])
    boxes = np.zeros((len(runs.components), 2, 2), np.int64)
    sizes = np.ones(len(runs.components), np.int64)
    items = check_items(np.ones(SHAPE, np.int32), 0, 0)
    described = check_image(image, items)
    columns = [np.empty(len(sizes), described.sums), np.empty(len(sizes))]
    columns += [np.empty(len(sizes), image.dtype), np.empty(len(sizes), image.dtype)]
    columns.append(np.empty((len(sizes), 2)))
    if len(sizes):
        values = described.values, described.bits
        measuring.measure_intensities(gpu, runs, SHAPE, *values, sizes, boxes, *columns)
    count_faces(*task, SHAPE, rows, np.zeros((len(rows), 2), np.int64))


@pytest.mark.parametrize("during", [False, True])
def test_labels_that_change(during):
    """Any answer, but no access out of bounds, which AddressSanitizer finds."""
    labels, image = noise(SHAPE)
    right = 2 * (labels % 20)
    statistics = conncomp.component_statistics(right)
    known = statistics.labels, statistics.sizes, statistics.bounding_boxes
    wrong = [right + 1, right * 0 - 5, right * 0 + 2**30, np.minimum(right, 1)]
    array = right.copy()
    if during:
        with written_by_another_thread((array, [right, *wrong])):
            for seed in range(3):
                measure(ChangingGpu(seed=seed), array, image, known)
        return
    change_between_launches(lambda gpu: measure(gpu, array, image, known), array, wrong)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8"])
@pytest.mark.parametrize("index", ["i4", "i8"])
def test_on_gpu(index, dtype):
    import cupy

    labels, image = noise((90, 71, 12), index, dtype)
    check(cupy, labels, image)
    check(cupy, labels, image, batch_axes=1, background=None, spacing=(2, 0.3))
    lengths, directions = conncomp.component_statistics(cupy.asarray(labels)).principal_axes()
    expected = conncomp.component_statistics(labels).principal_axes()
    np.testing.assert_allclose(lengths.get(), expected[0], atol=1e-9)
    assert directions.shape == expected[1].shape
