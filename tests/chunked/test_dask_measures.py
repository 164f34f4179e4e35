"""Statistics and contacts of labels in Dask arrays, against those of the same labels in memory."""

import dataclasses

import dask
import dask.array as da
import numpy as np
import pytest

import conncomp
from chunked_cases import cut, random_labels

LABELS = np.array([[1, 1, 0, 2], [1, 3, 3, 2], [0, 3, 2, 2]])


def assert_same(lazy, want, seed, rounded):
    """Hold what a lazy result computes to against one in memory; some columns to 1e-9."""
    (given,) = dask.compute(lazy, scheduler="sync")
    assert type(given) is type(want)
    for name in (field.name for field in dataclasses.fields(want)):
        array, expected, said = (getattr(each, name) for each in (given, want, lazy))
        if name in ("spacing", "components"):
            assert array == expected
            continue
        assert (said.dtype, said.shape[1:]) == (expected.dtype, expected.shape[1:]), name
        if said.ndim and not np.isnan(said.shape[0]):
            assert said.shape[0] == len(expected), name
        assert (array.dtype, array.shape) == (expected.dtype, expected.shape), (seed, name)
        if name == "weighted_centroids" and len(array):
            near = abs(want.sums.astype(float)) > 1e-6  # values that add up to 0 have none
            array, expected = array[near], expected[near]
        apart = 1e-9 if name in rounded and expected.dtype.kind == "f" else 0
        message = f"{name} of {seed}"
        np.testing.assert_allclose(array, expected, rtol=apart, atol=apart, err_msg=message)


@pytest.mark.parametrize("part", range(4))
def test_statistics(part):
    """Integers, and centroids, are exact; the last digits of other columns depend on chunks."""
    for seed in range(60 * part, 60 * part + 60):
        labels, chunks, known = random_labels(seed)
        rng = np.random.default_rng(seed)
        dtype = rng.choice(["b1", "u1", "i1", "i4", "i8", "u4", "f2", "f4", "f8"])
        values = rng.integers(-50, 50, labels.shape)
        image = values.astype(dtype) if dtype != "f8" else values / 3
        spacing = [None, [0.5, 2, 1.5, 3][: labels.ndim - known["batch_axes"]]][rng.integers(2)]
        moments, surfaces, bright = map(bool, rng.integers(2, size=3))
        known |= {"moments": moments, "surfaces": surfaces, "spacing": spacing}
        of_chunks = da.from_array(image, tuple(cut(rng, length, 3) for length in labels.shape))
        want = conncomp.component_statistics(labels, image if bright else None, **known)
        given = conncomp.component_statistics(
            da.from_array(labels, chunks), of_chunks if bright else None, **known
        )
        rounded = {"moments", "weighted_centroids"} | ({"centroids"} if spacing else set())
        assert_same(given, want, seed, rounded | ({"sums", "means"} if dtype[0] == "f" else set()))


@pytest.mark.parametrize("part", range(4))
def test_contacts(part):
    for seed in range(60 * part, 60 * part + 60):
        labels, chunks, known = random_labels(seed)
        rng = np.random.default_rng(seed)
        axes = labels.ndim - known["batch_axes"]
        known["periodic"] = [bool(rng.integers(2)) for _ in range(axes)]
        known["connectivity"] = int(rng.integers(1, axes + 1))
        known["spacing"] = [None, [0.5, 2, 1.5, 3][:axes]][rng.integers(2)]
        given = conncomp.contacts(da.from_array(labels, chunks), **known)
        assert_same(given, conncomp.contacts(labels, **known), seed, set())


def second_labels(labels, seed):
    """Return other labels of the same elements: some the same, some of any number."""
    rng = np.random.default_rng(seed)
    other = rng.integers(0, rng.choice([2, 9, 200]), labels.shape).astype("i8")
    return np.where(rng.random(labels.shape) < 0.5, np.maximum(np.ma.getdata(labels), 0), other)


@pytest.mark.parametrize("part", range(3))
def test_overlaps(part):
    """Of chunks that are alike or not, and of one array that is in memory."""
    for seed in range(part, 90, 3):
        labels, chunks, known = random_labels(seed)
        other = second_labels(labels, seed)
        want = conncomp.match_labels(labels, other, **known)
        rng = np.random.default_rng(seed)
        cuts = tuple(cut(rng, length, 3) for length in other.shape)
        second = (other, da.from_array(other, cuts), da.from_array(other, chunks))[part]
        given = conncomp.match_labels(da.from_array(labels, chunks), second, **known)
        assert_same(given, want, seed, set())


def test_scores_of_overlaps():
    given = conncomp.match_labels(da.from_array(LABELS, 2), LABELS % 3)
    with pytest.raises(TypeError, match=r"not computed yet; compute it with its \.compute\(\)"):
        given.scores()
    (computed,) = dask.compute(given)
    want = conncomp.match_labels(LABELS, LABELS % 3)
    assert computed.scores() == want.scores()
    assert computed.to_pandas().equals(want.to_pandas())


@pytest.mark.parametrize(
    ("first", "second", "error", "message"),
    [
        (LABELS, LABELS[:2], ValueError, r"labels_b has shape \(2, 4\); it must have that of lab"),
        (LABELS, LABELS / 2, TypeError, "labels_b is of dtype float64; it must be of integers"),
        (LABELS > 1, LABELS, TypeError, "labels_a is of dtype bool; it must be of integers"),
        (LABELS, LABELS - 2, ValueError, "labels_b holds -[12]; labels are not negative"),
        (LABELS - 2, LABELS, ValueError, "labels_a holds -[12]; labels are not negative"),
        (LABELS[0], LABELS[0], ValueError, "has one axis, so background has to be given"),
    ],
)
def test_overlaps_of_bad_labels(first, second, error, message):
    for other in (second, da.from_array(second, 1)):
        with pytest.raises(error, match=message):
            dask.compute(conncomp.match_labels(da.from_array(first, 2), other), scheduler="sync")


def test_overlaps_of_bad_items():
    """The argument is named as it is of labels in memory."""
    for labels in (LABELS, da.from_array(LABELS, 2)):
        with pytest.raises(ValueError, match="batch_axes=2 must be from 0 to 1: labels_a has 2"):
            conncomp.match_labels(labels, labels, batch_axes=2)


def test_overlaps_of_unknown_lengths():
    known = da.from_array(LABELS.ravel(), 3)
    with pytest.raises(ValueError, match="labels_b has chunks of unknown lengths"):
        conncomp.match_labels(known, known[known >= 0])


def test_values_that_add_up_to_nothing_in_a_chunk():
    labels, image = np.ones((1, 6), int), np.array([[1.0, -1, 3, 0, 0, 2]])
    want = conncomp.component_statistics(labels, image).weighted_centroids
    given = conncomp.component_statistics(da.from_array(labels, (1, 2)), image)
    np.testing.assert_allclose(given.weighted_centroids.compute(), want)


def test_sums_that_do_not_fit():
    labels, image = np.ones((1, 4), int), np.full((1, 4), 2**62)
    given = conncomp.component_statistics(da.from_array(labels, (1, 1)), image)
    with pytest.raises(OverflowError, match="values of the image over a component does not fit"):
        given.sums.compute()
    image[:, 1:] -= 2**62
    image[:, 1] = 2**62 - 1
    given = conncomp.component_statistics(da.from_array(labels, (1, 1)), image)
    assert given.sums.compute() == 2**63 - 1


def test_infinities_and_what_is_no_number():
    labels = np.repeat([[1, 2, 3, 4]], 4, axis=0)
    image = np.tile([1e308, np.nan, np.inf, 5.0], (4, 1))
    want = conncomp.component_statistics(labels, image)
    (given,) = dask.compute(conncomp.component_statistics(da.from_array(labels, (2, 3)), image))
    for name in ("sums", "means", "minima", "maxima"):
        np.testing.assert_allclose(getattr(given, name), getattr(want, name), err_msg=name)


def test_tables_of_computed_statistics():
    given = conncomp.component_statistics(da.from_array(LABELS, 2), surfaces=True)
    with pytest.raises(TypeError, match=r"not computed yet; compute it with its \.compute\(\)"):
        given.to_pandas()
    (computed,) = dask.compute(given)
    want = conncomp.component_statistics(LABELS, surfaces=True).to_pandas()
    np.testing.assert_allclose(computed.to_pandas(), want, rtol=1e-12)


@pytest.mark.parametrize("background", ["auto", -1, None])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("largest", [2**63, 2**64 - 1])
def test_labels_that_are_too_large_for_int64(background, masked, largest):
    labels = np.array([[0, largest, 2], [0, 1, 1]], np.uint64)
    if masked:
        labels = np.ma.masked_array(labels, [[False, False, True], [False, False, True]])
    lazy = da.from_array(labels, chunks=(1, 2))
    for measure in (conncomp.component_statistics, conncomp.contacts):
        with pytest.raises(ValueError, match=f"labels holds {largest}, too large for int64; renu"):
            dask.compute(measure(lazy, background=background), scheduler="sync")


def test_labels_up_to_the_largest_of_int64():
    labels = da.from_array(np.array([[0, 2**63 - 1], [0, 1]], np.uint64), chunks=1)
    (table,) = dask.compute(conncomp.component_statistics(labels), scheduler="sync")
    assert table.labels.tolist() == [1, 2**63 - 1]
    (touching,) = dask.compute(conncomp.contacts(labels), scheduler="sync")
    assert touching.pairs.tolist() == [[1, 2**63 - 1]]


@pytest.mark.parametrize(
    ("image", "error", "message"),
    [
        ([[], []], None, None),
        ([[], [], []], ValueError, r"image has shape \(3, 0\); it must have that of"),
        (np.zeros((2, 0), complex), TypeError, "image is of dtype complex128"),
    ],
)
def test_images_of_no_element(image, error, message):
    labels = np.zeros((2, 0), np.int32)
    lazy = da.from_array(labels)
    if error is None:
        want = conncomp.component_statistics(labels, np.array(image))
        assert_same(conncomp.component_statistics(lazy, image), want, 0, set())
    else:
        with pytest.raises(error, match=message):
            conncomp.component_statistics(lazy, image)


def test_no_element():
    labels = np.zeros((2, 0), np.int32)
    lazy = da.from_array(labels)
    assert_same(conncomp.contacts(lazy), conncomp.contacts(labels), 0, set())
    assert_same(
        conncomp.match_labels(lazy, labels), conncomp.match_labels(labels, labels), 0, set()
    )
    want = conncomp.component_statistics(labels, labels, surfaces=True)
    assert_same(conncomp.component_statistics(lazy, lazy, surfaces=True), want, 0, set())


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda a: conncomp.component_statistics(a, LABELS[:2]), ValueError, "image has shape"),
        (lambda a: conncomp.component_statistics(a, a * 1j), TypeError, "image is of dtype comp"),
        (lambda a: conncomp.component_statistics(a, spacing=0), ValueError, "must be positive"),
        (lambda a: conncomp.component_statistics(a / 2), TypeError, "labels is of dtype float64"),
        (lambda a: conncomp.component_statistics(-a).sizes.compute(), ValueError, "labels holds -"),
        (
            lambda a: conncomp.component_statistics(a, properties=["area"]),
            ValueError,
            r"properties=\['area'\] is for labels in memory; leave it out",
        ),
        (lambda a: conncomp.contacts(a, connectivity=3), ValueError, "connectivity=3 must be"),
        (lambda a: conncomp.contacts(-a, background=None).pairs.compute(), ValueError, "holds -"),
        (lambda a: conncomp.contacts(a[a > 0]), ValueError, "chunks of unknown lengths"),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call(da.from_array(LABELS, 2))
