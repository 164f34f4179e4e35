"""Columns on a GPU are those on the CPU: exactly where they are of integers, or else nearly so."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import conncomp
from changing_memory import written_by_another_thread
from conncomp.components.columns.properties import PROPERTIES
from conncomp.kernels.cuda import recordings
from conncomp.kernels.cuda.components import configurations, measures, moments
from conncomp.kernels.cuda.components.runs import find_runs
from host_cuda.host_gpu import HostGpu
from host_cupy import place_on_host

LAZY = [name for name, entry in PROPERTIES.items() if entry.is_lazy]
# Sums of floating-point numbers, in any order; roots and powers, and roots of what may be 0, as
# variances along three axes. All others are the same to the bit.
NEAR = ("centroid_weighted", "moments_weighted", "intensity_std")
POWERS = ("moments_normalized", "moments_hu")
ROOTS = ("axis_major", "axis_minor", "inertia_tensor_eigvals")

cupy = pytest.fixture(place_on_host)


def check(cupy, labels, image=None, properties="all", **options):
    """Compare columns of arrays and of copies of them on the GPU; return their names."""
    on_device = [None if array is None else cupy.asarray(array) for array in (labels, image)]
    found = conncomp.component_statistics(*on_device, properties=properties, **options)
    names = list(found.properties)
    expected = conncomp.component_statistics(labels, image, properties=names, **options)
    scale = 1 if image is None else float(np.abs(image).max(initial=1)) * max(labels.shape) ** 9
    columns = found.columns()
    for name, column in expected.columns().items():
        assert isinstance(columns[name], cupy.ndarray)
        value = columns[name].get()
        if name.startswith(NEAR):
            close = {"rtol": 1e-9, "atol": 1e-13 * scale}
            if "normalized" in name or "hu" in name:
                close["atol"] = 1e-6
            np.testing.assert_allclose(value, column, err_msg=name, **close)
        elif name.startswith(POWERS):
            np.testing.assert_allclose(value, column, rtol=1e-12, atol=1e-13, err_msg=name)
        elif name.startswith(ROOTS) and found.centroids.shape[1] == 3:
            power = 2 if name.startswith("axis") else 1
            least = 1e-13 * max(labels.shape) ** 2 * max(found.spacing) ** 2
            squares = value**power, column**power
            np.testing.assert_allclose(*squares, rtol=1e-12, atol=least, err_msg=name)
        else:
            np.testing.assert_array_equal(value, column, strict=True, err_msg=name)
    return names


def blobs(seed, shape, most=6, dtype="i4"):
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, most, [-(-length // 3) for length in shape])
    for axis in range(len(shape)):
        labels = labels.repeat(3, axis=axis)
    labels = labels[tuple(map(slice, shape))].copy()
    labels[generator.random(shape) < 0.1] = 1
    return labels.astype(dtype), generator.random(shape) + 0.5


@pytest.mark.parametrize("dtype", ["i4", "i8"])
@pytest.mark.parametrize("shape", [(21, 70), (5, 6, 40), (2, 3, 2, 5), (90,), (1, 7), (2, 1, 5)])
def test_all_columns(cupy, shape, dtype):
    labels, image = blobs(0, shape, dtype=dtype)
    names = check(cupy, labels, image, background=0)
    there = conncomp.component_statistics(labels, image, properties="all", background=0)
    assert {*there.properties} == {*names}


@pytest.mark.parametrize("background", [0, -1, None])
@pytest.mark.parametrize("axes", [0, 1])
def test_items_backgrounds_and_spacing(cupy, background, axes):
    labels, image = blobs(1, (2, 9, 33), most=40)
    labels = labels - (background == -1)
    options = {"background": background, "batch_axes": axes, "spacing": (2, 0.5, 3)[axes:]}
    check(cupy, labels, np.stack([image, image * 2], axis=-1), **options)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 2**32), st.sampled_from([(7, 66), (33, 3), (5, 4, 35)]))
def test_noise(cupy, seed, shape):
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, generator.integers(2, 9), shape).astype("i4")
    image = generator.integers(-5, 9, shape).astype("i2")
    names = ["moments", "moments_central", "euler_number", "perimeter_crofton", "intensity_std"]
    names = [name for name in names if len(shape) == 2 or name != "perimeter_crofton"]
    check(cupy, labels, image, [*names, *["perimeter", "moments_hu"][: 2 * (len(shape) == 2)]])


@pytest.mark.parametrize("shape", [(7, 66), (4, 3, 35)])
def test_one_noise(cupy, shape):
    labels, image = blobs(3, shape)
    names = ["moments_central", "euler_number", "intensity_std", "moments_weighted"]
    check(cupy, labels, image, [*names, *["perimeter"] * (len(shape) == 2)])


def test_moments_of_more_than_64_bits(cupy):
    labels = np.zeros((3, 1 << 15), np.int32)
    labels[[0, 2], [0, -1]] = 1
    labels[1] = 2
    check(cupy, labels, properties=["moments", "moments_central", "moments_normalized"])


@pytest.mark.parametrize("shape", [(21, 70), (6, 5, 41), (3, 130)])
def test_later_calls_of_a_kind(cupy, monkeypatch, shape):
    """Other labels, images and numbers of components, by recorded launches."""
    made = [blobs(seed, shape, most=most) for seed, most in enumerate((6, 40, 2))]
    values = np.random.default_rng(4).integers(1, 250, shape)
    for dtype in ("u2", "i2", "i4", "f8"):
        for labels, _ in made:
            image = values.astype(dtype) if dtype != "i4" else labels
            check(cupy, labels, image)
            if dtype[0] != "u":
                check(cupy, labels, image - 99, ["intensity_std", "centroid_weighted_local"])
    for labels, _ in made[:2]:
        placed = cupy.asarray(labels)
        itself = conncomp.component_statistics(placed, placed, properties=["intensity_max"])
        np.testing.assert_array_equal(itself["intensity_max"].get(), itself["label"].get())
    (kept,) = measures._recorded.values()
    launches = set(kept._calls)
    monkeypatch.setattr(recordings, "recorded_launches", lambda: 1 / 0)
    check(cupy, *blobs(7, shape))
    assert set(kept._calls) == launches


def test_labels_that_begin_anywhere(cupy):
    labels, _ = blobs(2, (7, 70))
    placed = cupy.asarray(np.concatenate([[9], labels.ravel()]).astype(np.int32))
    found = conncomp.component_statistics(placed[1:].reshape(7, 70), properties=["moments"])
    expected = conncomp.component_statistics(labels, properties=["moments"])
    np.testing.assert_array_equal(found["moments"].get(), expected["moments"])


def test_quantiles(cupy):
    labels, image = blobs(5, (40, 50), most=30)
    names = [f"intensity_quantile-{fraction}" for fraction in (0, 0.1, 0.5, 0.77, 1)]
    for dtype in ("u1", "i2", "i4", "u8", "i8", "f4", "f8"):
        check(cupy, labels, (image * 100 - (60 if dtype[0] != "u" else 0)).astype(dtype), names)
    image[::7, ::5], image[1::9, ::4] = np.nan, -np.nan
    check(cupy, labels, np.stack([image, -image], axis=-1), [*names, "intensity_median"])


def test_no_components(cupy):
    for shape in ((4, 5), (0, 3), (2, 0, 3)):
        names = check(cupy, np.zeros(shape, np.int32), np.zeros(shape))
        assert "moments" in names


@pytest.mark.parametrize("shape", [(21, 70), (4, 5, 40), (3, 9, 11)])
def test_columns_of_arrays(cupy, shape):
    labels, image = blobs(6, shape, most=9)
    axes = int(shape[-1] == 11)
    options = {"properties": LAZY, "background": 0, "batch_axes": axes}
    placed = cupy.asarray(labels), cupy.asarray(image)
    found = conncomp.component_statistics(*placed, **options)
    placed[0].host[...] = 0  # entries are of what was measured
    placed[1].host[...] = 0
    expected = conncomp.component_statistics(labels, image, **options)
    for name in LAZY:
        assert len(found[name]) == len(expected[name]) > 3
        for entry, wanted in zip(found[name], expected[name], strict=True):
            np.testing.assert_array_equal(entry, wanted, strict=name != "slice", err_msg=name)


def test_runs_that_lie_elsewhere_are_of_nothing():
    """What labels that change meanwhile may leave in memory (contract 5)."""
    entries = np.array([7 << 5 | 1, 2 << 5 | 2, 2**64 - 1, 95 << 5 | 6, 89 << 5], np.uint64)
    sort = conncomp._core.native.sort_runs
    for ends, wanted in [([2, 5], [5, 1]), ([2, 99], [5, 1]), ([2, -7], [5, 0]), ([], [])]:
        runs = sort((9, 10), 90, np.array(ends, np.int64), entries)
        assert [len(runs.indices(row)) for row in range(len(ends))] == wanted


def test_components_too_large_for_128_bits(cupy, monkeypatch):
    from conncomp.components.columns import accumulators

    monkeypatch.setattr(accumulators, "MOST_BITS", 10)
    with pytest.raises(ValueError, match=r"labels has a component so large .* as NumPy arrays"):
        check(cupy, np.ones((9, 9), np.int32), properties=["moments"])


def measure_all(gpu, labels, image):
    """Return what the drivers make of labels below 9."""
    listed = find_runs(gpu, labels, 0, 9, labels.shape[-1])
    given = moments.LabelledComponents(labels, 0, 9, labels.shape, listed)
    count = listed.count
    boxes = np.stack([np.zeros(labels.ndim, int), np.array(labels.shape)], axis=-1)
    boxes = np.repeat(boxes[None], count, axis=0)
    return (
        *moments.element_moments(gpu, given, boxes),
        moments.weighted_moments(gpu, given, image, boxes),
        moments.squared_deviations(gpu, given, image, np.ones(count)),
        configurations.count_configurations(gpu, given),
        *([configurations.count_borders(gpu, given)] if labels.ndim == 2 else []),
    )


@pytest.mark.parametrize("shape", [(30, 70), (6, 7, 40)])
def test_labels_that_change_meanwhile(shape):
    """Labels beyond all rows are not looked up (contract 5)."""
    generator = np.random.default_rng(0)
    image = generator.random(shape)
    labels = generator.integers(0, 9, shape).astype(np.int32)
    changes = [labels.copy(), np.full_like(labels, 2**30), np.full_like(labels, -7)]
    with written_by_another_thread((labels, changes)), np.errstate(all="ignore"):
        for _ in range(3):
            measure_all(HostGpu(), labels, image)
