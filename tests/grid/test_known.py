"""Images of a kind that `label` has met on the CPU: their labels are those of a flood fill."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conncomp import label
from conncomp.grid import repeated
from reference import consecutive, label_by_flood_fill
from strategies import LAYOUTS, lay_out

DTYPES = [np.bool_, np.uint8, np.int16, np.float16, np.float32, np.int64, np.float64, ">i4"]
SHAPES = [(1,), (70,), (9, 13), (3, 65), (4, 5, 6), (1, 7, 1), (2, 2, 3, 3)]


@pytest.fixture(autouse=True)
def kinds(monkeypatch):
    kept = {}
    monkeypatch.setattr(repeated, "_on_cpu", kept)
    return kept


@given(
    shape=st.sampled_from(SHAPES),
    dtype=st.sampled_from(DTYPES),
    layout=st.sampled_from(LAYOUTS),
    background=st.sampled_from([None, 0, 1, -1, 300, 0.0, 0.5, float("nan")]),
    reach=st.sampled_from([None, 1, 2]),
    periodic=st.booleans(),
    numbering=st.sampled_from(["consecutive", "roots"]),
    with_out=st.booleans(),
    return_num=st.booleans(),
    batch_axes=st.sampled_from([0, 0, 1, 2]),
    seed=st.integers(0, 2**32),
)
@settings(max_examples=300)
def test_later_images_equal_a_flood_fill(
    shape,
    dtype,
    layout,
    background,
    reach,
    periodic,
    numbering,
    with_out,
    return_num,
    batch_axes,
    seed,
):
    random = np.random.default_rng(seed)
    batch = min(batch_axes, len(shape) - 1)
    axes = len(shape) - batch
    connectivity = None if reach is None else min(reach, axes)
    for _ in range(3):
        image = lay_out(random.integers(0, 3, shape).astype(dtype), layout)
        out = np.full(shape, 7, np.int32) if with_out else None
        answer = label(
            image,
            background,
            return_num,
            connectivity,
            periodic=periodic,
            batch_axes=batch,
            numbering=numbering,
            out=out,
        )
        labels, num = answer if return_num else (answer, None)
        closed = (periodic,) * axes
        counts = np.zeros(shape[:batch], np.int64)
        for place in np.ndindex(shape[:batch]):
            roots = label_by_flood_fill(image[place], background, connectivity or axes, closed)
            expected = roots if numbering == "roots" else consecutive(roots, first=1)
            np.testing.assert_array_equal(labels[place], expected)
            counts[place] = len(np.unique(roots[roots >= 0]))
        assert labels.dtype == np.int32
        assert not with_out or labels is out
        assert (num is not None) == return_num
        if return_num and batch:
            np.testing.assert_array_equal(num, counts)
            assert num.dtype == np.int64
            assert num.shape == counts.shape
        elif return_num:
            assert type(num) is int
            assert num == counts


def test_counts_of_items_are_of_numpy_s_int64():
    """Print ``array([2, 1])``, as those of C++'s long long would not."""
    for _ in range(2):
        _, counts = label(np.array([[1, 0, 1], [1, 1, 0]]), batch_axes=1, return_num=True)
        assert counts.dtype is np.dtype(np.int64)


def test_tolerances_tell_kinds_apart(kinds):
    image = np.array([[0, 1, 2, 4, 5, 8]], np.uint8)
    for _ in range(2):
        for tolerance, expected in ((0, [0, 1, 2, 3, 4, 5]), (1, [0, 1, 1, 2, 2, 3])):
            assert label(image, tolerance=tolerance)[0].tolist() == expected
    assert len(kinds) == 2


def test_a_kind_is_kept_once_it_is_labelled(kinds):
    image = np.ones((4, 5), np.uint8)
    assert label(image).max() == 1
    assert len(kinds) == 1
    label(image[::-1])
    label(image, background=1)
    label(image.astype(bool))
    assert len(kinds) == 4


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"connectivity": "1"}, TypeError),
        ({"background": "1"}, TypeError),
        ({"batch_axes": False}, TypeError),
        ({"numbering": "none"}, ValueError),
        ({"connectivity": 3}, ValueError),
        ({"device": "gpu"}, ValueError),
        ({"out": np.zeros((4, 6), np.int32)}, ValueError),
        ({"out": np.zeros((4, 5), np.int8, order="F")}, ValueError),
        ({"out": np.zeros((4, 5), np.int32, order="F")}, ValueError),
        ({"out": np.zeros((4, 5, 1), np.int32)}, ValueError),
        ({"out": np.zeros((4, 10), np.int32)[:, ::2]}, ValueError),
        ({"out": np.zeros(81, np.uint8)[1:].view(np.int32).reshape(4, 5)}, ValueError),
        ({"out": np.zeros((4, 5), ">i4")}, ValueError),
        ({"out": np.broadcast_to(np.int32(0), (4, 5))}, ValueError),
        ({"out": [0]}, TypeError),
    ],
)
def test_a_later_call_is_refused_as_a_first_one(options, error):
    image = np.ones((4, 5), np.uint8)
    with pytest.raises(error) as first:
        label(image, **options)
    for plain in ({}, {"background": 1}, {"connectivity": 1}, {"periodic": True}):
        label(image, **plain)
    with pytest.raises(error) as later:
        label(image, **options)
    assert str(later.value) == str(first.value)


def test_out_of_other_types_and_of_the_image_itself():
    image = np.ones((4, 5), np.int32)
    label(image)
    wide = np.zeros((4, 5), np.int64)
    assert label(image, out=wide) is wide
    np.testing.assert_array_equal(wide, 1)
    memory = np.zeros((8, 5), np.int32)
    for shown, out in [(image, image), (memory[:4], memory[3:7]), (memory[5:1:-1], memory[:4])]:
        label(shown, out=np.zeros(shown.shape, np.int32))
        with pytest.raises(ValueError, match="shares memory"):
            label(shown, out=out)
    beside = memory[4:]
    assert label(memory[:4], out=beside) is beside


def test_an_image_that_has_got_another_layout_since_its_kind_was_asked_for(kinds):
    image, wider = np.ones((4, 5), np.uint8), np.ones((4, 7), np.uint8)[:, :5]
    label(image)
    ((kernel, *_),) = kinds.values()
    for other in (np.ones((5, 4), np.uint8), np.ones(20, np.uint8), wider, np.ones((4, 5), bool).T):
        assert kernel.label(other, np.zeros((4, 5), np.int32)) is None
    assert kernel.label(np.ones((4, 5), np.uint16), np.zeros((4, 5), np.int32)) is None
    assert kernel.label(image, np.zeros((4, 5), np.int32)) is not None


def test_images_that_lie_between_addresses_of_their_type(kinds):
    memory = np.zeros(8 * 20 + 1, np.uint8)
    image = memory[1:].view(np.float64).reshape(4, 5)
    image[1] = 1
    label(image.copy())
    np.testing.assert_array_equal(label(image)[1], 1)
    assert len(kinds) == 1
    # Kernels may read them by instructions that need their addresses.
    ((kernel, *_),) = kinds.values()
    assert kernel.label(image, np.zeros((4, 5), np.int32)) is None


def test_more_kinds_than_are_kept(monkeypatch, kinds):
    monkeypatch.setattr(repeated, "MOST_ON_CPU", 3)
    for length in range(1, 9):
        assert label(np.ones(length, np.uint8)).tolist() == [1] * length
        assert len(kinds) <= 3


def test_several_threads():
    images = [np.eye(k % 7 + 2, dtype=np.uint8) for k in range(50)]
    with ThreadPoolExecutor(4) as pool:
        for labels in pool.map(lambda image: label(image, connectivity=1), 4 * images):
            np.testing.assert_array_equal(np.diag(labels), np.arange(1, len(labels) + 1))
