"""Values of images within components, against whole numbers and fractions of Python's."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from skimage.measure import regionprops_table

import conncomp
from changing_memory import written_by_another_thread

COLUMNS = ("sums", "means", "minima", "maxima", "weighted_centroids")
IMAGE_TYPES = ["?", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", ">i2", ">f8"]
GIVEN_SUMS = {"b": np.int64, "i": np.int64, "u": np.uint64, "f": np.float64}


@st.composite
def labelled_images(draw):
    """Draw labels, an image, a background and batch axes."""
    shape = draw(
        st.one_of(
            hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=4),
            st.tuples(st.integers(1, 3), st.integers(60, 200)),
        )
    )
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    labels = random.integers(0, draw(st.integers(1, 6)), shape, endpoint=True)
    labels[random.random(shape) < draw(st.sampled_from([0, 0.5, 0.95]))] = draw(st.integers(0, 2))
    labels = (labels * draw(st.sampled_from([1, 1, 1000]))).astype(draw(st.sampled_from("ilH")))
    dtype = np.dtype(draw(st.sampled_from(IMAGE_TYPES)))
    limits = {}
    if dtype.kind in "iu" and dtype.itemsize == 8:  # sums fit
        low, high = np.iinfo(dtype).min >> 13, np.iinfo(dtype).max >> 13
        limits = {"elements": st.integers(low, high)}
    image = draw(hnp.arrays(dtype, shape, **limits))
    if draw(st.booleans()):
        labels, image = labels.T, image.T
    background = draw(st.sampled_from([0, None]))
    return labels, image, background, draw(st.integers(0, labels.ndim - 1))


def quotient(total, weight):
    """Return a quotient as floating-point numbers have it."""
    return total / weight if weight else math.copysign(math.inf, total) if total else math.nan


def measured(places, values):
    """Return a row of each column, of values at places, a list of coordinates for each axis."""
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        with np.errstate(invalid="ignore"):
            total = (values.astype(float) / 2 / len(values)).sum()  # no finite ones overflow
        return total, total, values.min(), values.max(), [math.nan] * len(places)
    exact = [Fraction(value) for value in values.tolist()]
    total = sum(exact)
    weighted = [sum(value * x for value, x in zip(exact, along, strict=True)) for along in places]
    means = total / len(exact)
    centroids = [quotient(along, total) for along in weighted]
    return total, means, values.min(), values.max(), centroids


def assert_close(value, exact, magnitude):
    """Compare with what is exact, but for some roundings and units of a sum."""
    if isinstance(exact, Fraction):
        slack = abs(exact) / 2**51 + magnitude / 2**60 + Fraction(1, 2**1073)
        assert math.isinf(value) or abs(Fraction(value) - exact) <= slack
        assert math.isfinite(value) or abs(exact) >= 2**1023
    else:
        np.testing.assert_array_equal(value, exact)


@settings(max_examples=120)
@given(labelled_images())
def test_intensities(case):
    labels, image, background, axes = case
    statistics = conncomp.component_statistics(
        labels, image, background=background, batch_axes=axes
    )
    plain = conncomp.component_statistics(labels, background=background, batch_axes=axes)
    np.testing.assert_array_equal(statistics.moments, plain.moments)
    native = image.dtype.newbyteorder("=")
    assert statistics.minima.dtype == statistics.maxima.dtype == native
    assert statistics.sums.dtype == GIVEN_SUMS[native.kind]
    assert statistics.means.dtype == statistics.weighted_centroids.dtype == np.float64
    assert statistics.weighted_centroids.shape == statistics.centroids.shape
    for row, label in enumerate(statistics.labels):
        item = tuple(statistics.batch[row])
        at = np.nonzero(labels[item] == label)
        values = image[item][at]
        total, mean, low, high, centroids = measured([along.tolist() for along in at], values)
        largest = np.abs(values.astype(float)).max()
        magnitude = Fraction(largest) if np.isfinite(largest) else 0
        if native.kind != "f":
            assert int(statistics.sums[row]) == total
        # Each value has half a unit of its own.
        assert_close(float(statistics.sums[row]), total, magnitude * len(values))
        assert_close(statistics.means[row], mean, magnitude)
        assert math.isfinite(statistics.means[row]) == bool(np.isfinite(values).all())
        np.testing.assert_array_equal(statistics.minima[row], low)
        np.testing.assert_array_equal(statistics.maxima[row], high)
        for k, centroid in enumerate(centroids):
            place = statistics.weighted_centroids[row, k]
            if not isinstance(centroid, Fraction):
                np.testing.assert_array_equal(place, centroid)
            elif abs(total) * 2**40 > magnitude:  # else all digits may cancel
                slack = Fraction(max(abs(place), 1)) / 2**50
                units = magnitude * len(values) * max(labels.shape) / 2**60
                assert abs(Fraction(place) - centroid) <= slack + units / abs(total)


def test_values_that_float64_would_lose():
    """Large values that cancel, and small ones beside them, in every order."""
    random = np.random.default_rng(1)
    values = np.r_[1e16, -1e16, np.full(1000, 1e-3), 1e15 * random.standard_normal(500)]
    sums = set()
    for _ in range(5):
        random.shuffle(values)
        statistics = conncomp.component_statistics(np.ones(len(values), int), values, background=0)
        sums.add(float(statistics.sums[0]))
    assert sums == {math.fsum(values)}


def test_components_have_units_of_their_own():
    labels = np.repeat([1, 2, 3], 4)
    image = np.repeat([3.4e38, 1e-30, 1e-3], 4).astype(np.float32)
    statistics = conncomp.component_statistics(labels, image, background=0)
    np.testing.assert_array_equal(statistics.means, image[::4].astype(float))
    np.testing.assert_array_equal(statistics.weighted_centroids[:, 0], [1.5, 5.5, 9.5])


@pytest.mark.parametrize("sign", [1, -1])
def test_smallest_and_largest_numbers(sign):
    tiny, huge = np.finfo(float).smallest_subnormal, np.finfo(float).max
    labels = np.repeat([1, 2, 3, 4, 5], [3, 2, 2, 1, 2])
    image = sign * np.array([tiny, 5 * tiny, tiny, huge, huge, huge, -huge / 2, huge, 0, -0.0])
    statistics = conncomp.component_statistics(labels, image, background=0)
    expected = [7 * tiny, math.inf, huge / 2, huge, 0]
    np.testing.assert_array_equal(statistics.sums, sign * np.array(expected))
    means = [2 * tiny, huge, huge / 4, huge, 0]
    np.testing.assert_array_equal(statistics.means, sign * np.array(means))
    np.testing.assert_array_equal(statistics.weighted_centroids[[0, 1, 3], 0], [1, 3.5, 7])
    assert np.isnan(statistics.weighted_centroids[4, 0])
    assert np.signbit(statistics.minima[4])
    assert not np.signbit(statistics.maxima[4])


@pytest.mark.parametrize("sign", [1, -1])
def test_means_of_sums_that_are_infinite(sign):
    huge = np.finfo(float).max
    random = np.random.default_rng(6)
    parts = [np.full(300, 8.3e305), np.full(1000, huge), random.uniform(huge / 2, huge, 999)]
    parts.append(np.r_[[huge] * 70, [-huge] * 61, [1e300] * 8])
    labels = np.repeat([1, 2, 3, 4], [len(part) for part in parts])
    image = sign * np.concatenate(parts)
    statistics = conncomp.component_statistics(labels, image, background=0)
    np.testing.assert_array_equal(statistics.sums, [sign * math.inf] * 4)
    for mean, part in zip(statistics.means.tolist(), parts, strict=True):
        exact = sign * sum(map(Fraction, part.tolist())) / len(part)
        assert_close(mean, exact, Fraction(huge))
        assert math.isfinite(mean)


def test_numbers_that_are_not_finite():
    nan, inf = math.nan, math.inf
    labels = np.repeat(np.arange(1, 7), 2)
    image = np.array([nan, 1, 1, -nan, inf, 1, -inf, 1, inf, -inf, inf, nan])
    statistics = conncomp.component_statistics(labels, image, background=0)
    np.testing.assert_array_equal(statistics.sums, [nan, nan, inf, -inf, nan, nan])
    np.testing.assert_array_equal(statistics.means, statistics.sums)
    np.testing.assert_array_equal(statistics.minima, [nan, nan, 1, -inf, -inf, nan])
    np.testing.assert_array_equal(statistics.maxima, [nan, nan, inf, 1, inf, nan])
    assert np.isnan(statistics.weighted_centroids).all()


@pytest.mark.parametrize("dtype", ["?", "u1", "i2", "i4", "u8", "f4", "f8"])
def test_threads_and_roots(dtype):
    """Bits are those of one thread, and of labels far apart."""
    random = np.random.default_rng(2)
    mask = random.random((50, 90, 100)) < 0.4
    values = random.standard_normal(mask.shape) * 10 ** random.uniform(0, 2, mask.shape)
    image = (abs(values) if dtype == "u8" else values).astype(dtype)
    labels = conncomp.label(mask, connectivity=1)
    roots = conncomp.label(mask, connectivity=1, numbering="roots")
    labels[20:] += (labels[20:] > 0) * 3  # components that reach far, and gaps
    many = [(labels, 0), (roots, -1), (random.integers(0, 3, mask.shape), None)]
    for each, background in many:
        conncomp.set_num_threads(1)
        options = {"background": background, "surfaces": True}
        plain = conncomp.component_statistics(each, image, **options)
        for threads in (2, 5):
            conncomp.set_num_threads(threads)
            statistics = conncomp.component_statistics(each, image, **options)
            for name in (*COLUMNS, "faces"):
                column = getattr(plain, name)
                assert getattr(statistics, name).tobytes() == column.tobytes()


def test_long_rows_of_narrow_integers():
    """Sums of products that 64 bits do not hold."""
    count = (1 << 24) + 3
    image = np.full(count, 65535, np.uint16)
    image[: count // 2] = 0
    statistics = conncomp.component_statistics(np.ones(count, np.int32), image, background=0)
    assert int(statistics.sums[0]) == 65535 * (count - count // 2)
    assert statistics.weighted_centroids[0, 0] == (count // 2 + count - 1) / 2


def test_sums_that_do_not_fit():
    labels = np.array([1, 1, 2])
    image = np.array([2**63 - 1, 1, 5])
    with pytest.raises(OverflowError, match=r"image, of int64.*image\.astype\(float\)"):
        conncomp.component_statistics(labels, image, background=0)
    fine = conncomp.component_statistics(labels, image.astype(np.uint64), background=0)
    assert fine.sums.tolist() == [2**63, 5]
    with pytest.raises(OverflowError, match="does not fit into int64"):
        conncomp.component_statistics(labels, -image - 1, background=0)
    lowest = np.array([-(2**63), 2**63 - 1, 5])
    assert conncomp.component_statistics(labels, lowest, background=0).sums.tolist() == [-1, 5]


def test_against_scikit_image():
    random = np.random.default_rng(3)
    for shape, spacing in (((60, 70), (0.5, 2.0)), ((12, 20, 15), (3.0, 1.0, 0.25))):
        ndim = len(shape)
        labels = conncomp.label(random.random(shape) < 0.3)
        image = random.random(shape)
        statistics = conncomp.component_statistics(labels, image, spacing=spacing)
        names = "area", "centroid", "centroid_weighted", "intensity_mean", "intensity_min"
        names += ("intensity_max", "bbox", "label", "inertia_tensor_eigvals")
        table = regionprops_table(labels, image, names, spacing=spacing)
        columns = statistics.columns()
        np.testing.assert_array_equal(columns["label"], table["label"])
        np.testing.assert_allclose(columns["area"], table["area"])
        for name in ("intensity_mean", "intensity_min", "intensity_max"):
            np.testing.assert_allclose(columns[name], table[name], rtol=1e-12)
        for k in range(ndim):
            np.testing.assert_allclose(columns[f"centroid-{k}"], table[f"centroid-{k}"])
            np.testing.assert_allclose(
                columns[f"centroid_weighted-{k}"], table[f"centroid_weighted-{k}"], rtol=1e-9
            )
            for place in (f"bbox-{k}", f"bbox-{ndim + k}"):
                np.testing.assert_array_equal(columns[place], table[place])


@pytest.mark.parametrize(
    ("image", "error", "message"),
    [
        (np.zeros((2, 2)), ValueError, r"image has shape \(2, 2\); .* that of labels, \(2, 3\)"),
        (np.zeros((2, 3), complex), TypeError, "image is of dtype complex128; it must be of bool"),
        (np.zeros((2, 3), np.longdouble), TypeError, "of 64 bits or fewer"),
        (np.zeros((2, 3), "m8[s]"), TypeError, "image is of dtype"),
        (np.ma.masked_equal([[1, 2, 3]] * 2, 2), ValueError, r"masked_array\(labels, image.mask\)"),
    ],
)
def test_bad_images(image, error, message):
    with pytest.raises(error, match=message):
        conncomp.component_statistics(np.ones((2, 3), int), image)


def test_images_that_are_not_asked_for_or_empty():
    without = conncomp.component_statistics(np.ones((2, 3), int))
    assert [getattr(without, name).shape for name in COLUMNS] == [(0,)] * 4 + [(0, 2)]
    nothing = conncomp.component_statistics(np.zeros((2, 0, 3), int), np.zeros((2, 0, 3), "i2"))
    assert nothing.sums.dtype == np.int64
    assert nothing.minima.dtype == np.int16
    assert nothing.weighted_centroids.shape == (0, 3)
    image = np.ma.masked_array([[1, 2, 3]], mask=False)
    assert conncomp.component_statistics([[1, 1, 1]], image).sums.tolist() == [6]


def test_values_that_another_thread_changes():
    """What a call returns is then undefined; it ends, and the next one is right."""
    conncomp.set_num_threads(2)
    random = np.random.default_rng(3)
    labels = random.integers(0, 3000, (200, 400)).astype(np.int32)
    few = random.integers(0, 3, labels.shape).astype(np.int32)
    image = random.random(labels.shape)
    odd = np.where(image < 0.5, np.nan, 1e300)
    expected = conncomp.component_statistics(few, image, surfaces=True)
    changed_labels, changed_image = labels.copy(), image.copy()
    changes = (changed_labels, [labels, few]), (changed_image, [image, odd, -odd])
    with written_by_another_thread(*changes):
        for background in list(product((0, -1), range(50))):
            conncomp.component_statistics(
                changed_labels, changed_image, surfaces=True, background=background[0]
            )
    statistics = conncomp.component_statistics(few, image, surfaces=True)
    for name in (*COLUMNS, "faces"):
        np.testing.assert_array_equal(getattr(statistics, name), getattr(expected, name))


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int8, np.uint16, np.int16])
def test_long_stretches_of_narrow_values(dtype):
    random = np.random.default_rng(5)
    for length in (7, 31, 33, 64, 65, 200):
        runs = random.integers(0, 4, (3, length)), random.integers(1, 70, (3, length))
        pairs = zip(*runs, strict=True)
        labels = np.stack([np.repeat(*pair)[:length] for pair in pairs])
        low, high = (0, 1) if dtype is bool else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        for values in (random.integers(low, high + 1, labels.shape), np.full(labels.shape, high)):
            table = conncomp.component_statistics(labels, values.astype(dtype), background=0)
            for row, label in enumerate(table.labels):
                chosen, places = values[labels == label], np.argwhere(labels == label)
                assert table.sums[row] == chosen.sum()
                assert (table.minima[row], table.maxima[row]) == (chosen.min(), chosen.max())
                if chosen.sum():
                    centroid = chosen @ places / chosen.sum()
                    np.testing.assert_allclose(table.weighted_centroids[row], centroid, atol=1e-9)
