"""Streams of slabs, held against `label` and `component_statistics` of the whole volume."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import conncomp
from conncomp._core import native
from conncomp.chunked.streams import batches as module
from strategies import value_pool

EMPTY = "moments", "weighted_centroids"


def cut(volume, lengths, image=None):
    """Yield slabs of a volume, of these lengths over and over, and change them afterwards."""
    begin = turn = 0
    while begin < len(volume):
        end = min(begin + lengths[turn % len(lengths)], len(volume))
        slab = volume[begin:end].copy()
        yield slab if image is None else (slab, image[begin:end])
        slab[...] = 1
        begin, turn = end, turn + 1


def gathered(batches):
    """Return all batches as one table, in the order of labels."""
    batches = list(batches)
    assert all(len(batch.labels) and np.all(np.diff(batch.labels) > 0) for batch in batches)
    order = np.argsort(np.concatenate([batch.labels for batch in batches] or [np.empty(0, int)]))
    columns = {}
    for name in conncomp.results.ComponentStatistics.__dataclass_fields__:
        if name == "spacing":
            continue
        parts = [getattr(batch, name) for batch in batches]
        column = np.concatenate(parts) if parts else np.empty(0)
        columns[name] = column[order] if len(column) == len(order) else column
    return columns


def expected(volume, image=None, surfaces=False, spacing=None, **options):
    roots = conncomp.label(volume, numbering="roots", **options)
    labels = conncomp.label(volume, **options)
    table = conncomp.component_statistics(
        labels, image, surfaces=surfaces, spacing=spacing, background=0, moments=False
    )
    columns = {
        name: getattr(table, name)
        for name in conncomp.results.ComponentStatistics.__dataclass_fields__
        if name != "spacing"
    }
    return columns | {"labels": np.unique(roots[roots >= 0]).astype(np.int64)}


def check_equal(found, wanted, exact_sums=True):
    for name, column in wanted.items():
        if name in EMPTY:
            assert len(found[name]) == 0
        elif exact_sums or name not in ("sums", "means"):
            np.testing.assert_array_equal(found[name], column, name, strict=len(column) > 0)
        else:
            np.testing.assert_allclose(found[name], column, rtol=1e-12, atol=1e-300)


@st.composite
def streams(draw):
    ndim = draw(st.integers(1, 4))
    shape = tuple(draw(st.integers(1, [24, 9, 6, 4][ndim - 1])) for _ in range(ndim))
    dtype = np.dtype(draw(st.sampled_from(["b1", "u1", "i2", "f4", "f8", ">i4"])))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    pool = value_pool(dtype, rng, draw(st.integers(2, 4)))
    volume = rng.choice(pool, shape)
    options = {"periodic": tuple(draw(st.lists(st.booleans(), min_size=ndim, max_size=ndim)))}
    if draw(st.booleans()):
        options["connectivity"] = draw(st.integers(1, ndim))
    else:
        half = rng.random((3,) * ndim) < draw(st.sampled_from([0.1, 0.3, 0.6]))
        options["structure"] = half | np.flip(half)
    if draw(st.booleans()):
        options["background"] = pool[draw(st.integers(0, len(pool) - 1))].item()
    if dtype.kind != "b" and draw(st.booleans()):
        volume = rng.integers(0, 9, shape).astype(dtype)
        options["tolerance"] = draw(st.sampled_from([1, 2, 2.5]))
    if draw(st.integers(0, 4)) == 0:
        volume = np.ma.masked_array(volume, rng.random(shape) < 0.3)
    lengths = draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    return volume, lengths, options, rng


def image_for(shape, rng, kind):
    dtype = np.dtype(kind)
    if dtype.kind == "f":
        return rng.standard_normal(shape).astype(dtype)
    values = rng.integers(0, 250, shape)
    return (values - 120 if dtype.kind == "i" else values).astype(dtype)


@settings(max_examples=400)
@given(
    case=streams(),
    size=st.sampled_from([1, 5, 30, 1 << 22]),
    least=st.sampled_from([1, 2]),
    kind=st.sampled_from([None, "b1", "u1", "i2", "u8", "f4", "f8"]),
    surfaces=st.booleans(),
    spacing=st.sampled_from([None, 0.3]),
)
def test_streams_give_what_the_whole_volume_does(case, size, least, kind, surfaces, spacing):
    volume, lengths, options, rng = case
    image = None if kind is None else image_for(volume.shape, rng, kind)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PIECE", size)
        patch.setattr(module, "LEAST", least)
        batches = list(
            conncomp.stream_labels(
                cut(volume, lengths, image), surfaces=surfaces, spacing=spacing, **options
            )
        )
    wanted = expected(volume, image, surfaces, spacing, **options)
    if len(wanted["labels"]) == 0:
        assert batches == []
    else:
        check_equal(gathered(batches), wanted, kind not in ("f4", "f8"))


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("size", [1, 15, 16, 17, 1000, 300_000])
def test_runs_of_two_labels(dtype, size):
    rng = np.random.default_rng(size)
    often = rng.integers(1, 6, size)
    one, other = (np.repeat(rng.integers(0, 3, size), often)[:size].astype(dtype) for _ in "ab")
    runs = native.pair_runs(one, other).reshape(-1, 3)
    assert (runs > 0).all()
    both = (one > 0) & (other > 0)
    np.testing.assert_array_equal(np.repeat(runs[:, 0], runs[:, 2]), one[both])
    np.testing.assert_array_equal(np.repeat(runs[:, 1], runs[:, 2]), other[both])
    changes = np.flatnonzero(np.diff(one * 3 + other, prepend=-1))
    assert 0 <= len(runs) - np.count_nonzero(both[changes]) < 16  # where threads meet


def test_components_come_as_soon_as_they_are_finished(monkeypatch):
    monkeypatch.setattr(module, "PIECE", 1)
    asked = []

    def slabs():
        for row in [[1, 0, 1], [0, 0, 1], [2, 0, 1]]:
            asked.append(row)
            yield [row]

    batches = conncomp.stream_labels(slabs())
    assert asked == []
    first = next(batches)
    assert (first.labels.tolist(), len(asked)) == ([0], 2)
    assert [batch.labels.tolist() for batch in batches] == [[2, 6]]


def test_a_periodic_first_axis_keeps_what_reaches_the_first_slice(monkeypatch):
    monkeypatch.setattr(module, "PIECE", 1)
    ring = [[[1, 0, 2]], [[0, 0, 0]], [[1, 0, 0]]]
    batches = list(conncomp.stream_labels(ring, periodic=(True, False)))
    assert [batch.labels.tolist() for batch in batches] == [[0, 2]]
    assert batches[0].sizes.tolist() == [2, 1]


def test_nothing_gives_nothing():
    assert list(conncomp.stream_labels([])) == []
    assert list(conncomp.stream_labels([np.zeros((3, 4))])) == []


def test_slabs_of_any_kind():
    batch = next(conncomp.stream_labels([[1, 1], np.array([1, 0])]))
    assert batch.sizes.tolist() == [3]
    table = next(conncomp.stream_labels([([[1, 1]], [[0.5, 1]])], surfaces=True)).columns()
    assert table["surface_area"].tolist() == [6]
    assert table["intensity_mean"].tolist() == [0.75]


@pytest.mark.parametrize(
    ("slabs", "error", "words"),
    [
        (np.ones((3, 3)), TypeError, "slabs is a ndarray; it must be an iterable of slabs"),
        (5, TypeError, "slabs is a int"),
        ([[[1, 1]], [[1, 1, 1]]], ValueError, r"slabs\[1\] has shape \(1, 3\), but slabs\[0\]"),
        ([[[1]], [[1.5]]], ValueError, r"slabs\[1\] is of dtype float64, but slabs\[0\] of int64"),
        ([[1], [1j]], TypeError, r"slabs\[1\] is of dtype complex128"),
        ([np.zeros((0, 4))], ValueError, r"slabs\[0\] has shape \(0, 4\)"),
        ([1], ValueError, r"slabs\[0\] is a scalar"),
        ([([1], [1], [1])], ValueError, r"slabs\[0\] is a tuple of 3"),
        ([([1, 2], [1])], ValueError, r"slabs\[0\] has an image of shape \(1,\)"),
        ([([1], [1]), [1]], ValueError, r"only one of slabs\[0\] and slabs\[1\] has an image"),
        ([([1], [1]), ([1], [1.0])], ValueError, r"slabs\[1\] is of dtype float64"),
        ([([1], np.ma.masked_array([1], [True]))], ValueError, r"slabs\[0\]\[1\], an image, has"),
        (["ab"], TypeError, r"slabs\[0\]"),
    ],
)
def test_bad_slabs(slabs, error, words):
    with pytest.raises(error, match=words):
        list(conncomp.stream_labels(slabs))


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"connectivity": 1, "structure": np.ones((3, 3), int)}, ValueError, "exclude each other"),
        ({"structure": np.ones((3, 3, 3), int)}, ValueError, "structure has shape"),
    ],
)
def test_bad_arguments(options, error, words):
    with pytest.raises(error, match=words):
        list(conncomp.stream_labels([[[1, 2]]], **options))


def test_sums_that_do_not_fit_are_named():
    large = np.full((1, 2), np.iinfo(np.int64).max // 2)
    with pytest.raises(OverflowError, match="the sum of image"):
        list(conncomp.stream_labels([(np.ones((2, 2), bool), np.repeat(large, 2, 0))]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PIECE", 1)
        patch.setattr(module, "LEAST", 1)
        slabs = [(np.ones((1, 2), bool), large)] * 2
        with pytest.raises(OverflowError, match="values of the image"):
            list(conncomp.stream_labels(slabs))
