"""Overlaps of two labellings, beside NumPy, scikit-image and an assignment problem's solution."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from skimage.metrics import contingency_table

import conncomp
from host_cupy import place_on_host

FIELDS = ("pairs", "intersections", "unions", "ious", "batch")


def match_by_numpy(a, b, background):
    """Return {pair: (intersection, union)}, by pairs of labels that are told apart by NumPy."""
    shared = (a != background) & (b != background)
    pairs, counts = np.unique(np.stack([a[shared], b[shared]]), axis=1, return_counts=True)
    return {
        (int(x), int(y)): (count, np.count_nonzero((a == x) | (b == y)))
        for (x, y), count in zip(pairs.T, counts.tolist(), strict=True)
    }


def check(found, expected):
    assert [*map(tuple, found.pairs.tolist())] == sorted(expected)
    values = [expected[pair] for pair in sorted(expected)]
    assert found.intersections.tolist() == [both for both, _ in values]
    assert found.unions.tolist() == [either for _, either in values]
    assert found.ious.tolist() == [both / either for both, either in values]


@settings(max_examples=80)
@given(
    st.integers(0, 2**32),
    st.lists(st.integers(1, 20), min_size=1, max_size=4),
    st.sampled_from([0, -1, None]),
    st.sampled_from(["u1", "i4", "i8"]),
    st.sampled_from([2, 4, 50]),
)
def test_pairs(seed, shape, background, dtype, most):
    generator = np.random.default_rng(seed)
    a, b = generator.integers(0, most, shape).astype(dtype), generator.integers(0, most, shape)
    found = conncomp.match_labels(a, b, background=background)
    check(found, match_by_numpy(a, b, -1 if background is None else background))
    table = np.asarray(contingency_table(a, b).todense())
    for pair, both in zip(found.pairs.tolist(), found.intersections.tolist(), strict=True):
        assert table[tuple(pair)] == both
    present = [{*side.ravel().tolist()} - {background} for side in (a, b)]
    assert found.components == tuple(map(len, present))


@pytest.mark.parametrize("shape", [(3, 20, 70), (2, 1, 5), (0, 4, 5), (2, 0, 5), (4, 3, 1)])
def test_items_are_apart(shape):
    generator = np.random.default_rng(0)
    a, b = generator.integers(0, 6, shape), generator.integers(0, 9, shape) * 5
    found = conncomp.match_labels(a, b, batch_axes=1)
    for item in range(shape[0]):
        rows = found.batch[:, 0] == item
        alone = conncomp.match_labels(a[item], b[item])
        for name in FIELDS[:-1]:
            np.testing.assert_array_equal(getattr(found, name)[rows], getattr(alone, name))
    assert list(found.columns()) == [
        *("label_a", "label_b", "batch-0", "intersection", "union", "iou")
    ]
    assert len(found.to_pandas()) == len(found.ious)


def scores_by_assignment(a, b, threshold):
    """Return true positives and the components that are not matched, as StarDist counts them."""
    table = np.asarray(contingency_table(a, b).todense(), float)
    counts = table.sum(axis=1)[:, None] + table.sum(axis=0) - table
    ious = np.divide(table, counts, out=np.zeros_like(table), where=counts > 0)[1:, 1:]
    ious = ious[np.isin(range(1, len(ious) + 1), a)][:, np.isin(range(1, ious.shape[1] + 1), b)]
    true, predicted = ious.shape
    most = min(true, predicted)
    costs = -(ious >= threshold).astype(float) - ious / (2 * max(most, 1))
    rows, columns = linear_sum_assignment(costs)
    matched = np.count_nonzero(ious[rows, columns] >= threshold)
    return matched, predicted - matched, true - matched


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.floats(0.01, 1))
def test_scores(seed, threshold):
    generator = np.random.default_rng(seed)
    a = generator.integers(0, 5, (4, 6)).repeat(3, axis=1)
    b = np.where(generator.random(a.shape) < 0.3, generator.integers(0, 8, a.shape), a)
    scores = conncomp.match_labels(a, b).scores(threshold)
    matched, wrong, missed = scores_by_assignment(a, b, threshold)
    assert scores[:3] == (matched, wrong, missed)
    assert scores.f1 == pytest.approx(2 * matched / max(2 * matched + wrong + missed, 1))
    assert scores.accuracy == pytest.approx(matched / max(matched + wrong + missed, 1))


def test_scores_of_equal_halves():
    """Both halves have a ratio of 1/2 with the whole, which is matched once."""
    scores = conncomp.match_labels([[1, 1]], [[1, 2]]).scores(0.5)
    assert scores == (1, 1, 0, 0.5, 1, 2 / 3, 0.5)
    nothing = conncomp.match_labels([[0]], [[0]]).scores()
    assert nothing == (0, 0, 0, 0, 0, 0, 0)


ERRORS = [
    (([[1, 2]], [[1], [2]]), {}, ValueError, "labels_b has shape (2, 1); it must have that of"),
    (([[1]], [[2**40]]), {}, ValueError, "labels_b holds 1099511627776, too large for its 1"),
    (([1], [1]), {}, ValueError, "background has to be given"),
    ((1, 1), {}, ValueError, "labels_a is a scalar"),
]


@pytest.mark.parametrize(("sides", "options", "error", "message"), ERRORS)
def test_errors(sides, options, error, message):
    with pytest.raises(error, match=re.escape(message)):
        conncomp.match_labels(*sides, **options)


@pytest.mark.parametrize("threshold", [1.5, -1])
def test_thresholds(threshold):
    with pytest.raises(ValueError, match="threshold"):
        conncomp.match_labels([[1]], [[1]]).scores(threshold)


def test_inputs_stay():
    a, b = np.array([[1, 2, 0]]), np.array([[3, 3, 3]])
    kept = a.copy(), b.copy()
    conncomp.match_labels(a, b)
    np.testing.assert_array_equal((a, b), kept)


@pytest.mark.parametrize("axes", [0, 1])
def test_gpu(monkeypatch, axes):
    cupy = place_on_host(monkeypatch)
    generator = np.random.default_rng(1)
    for most in (3, 900):
        a, b = (generator.integers(0, most, (3, 40, 33)).astype("i4") for _ in range(2))
        options = {"background": 0, "batch_axes": axes}
        found = conncomp.match_labels(cupy.asarray(a), cupy.asarray(b), **options)
        expected = conncomp.match_labels(a, b, **options)
        for name in FIELDS:
            np.testing.assert_array_equal(
                getattr(found, name).get(), getattr(expected, name), strict=True
            )
        assert found.components == expected.components
        assert found.scores(0.1) == expected.scores(0.1)
        with pytest.raises(TypeError, match="labels_b lies in main memory, but labels_a in GPU"):
            conncomp.match_labels(cupy.asarray(a), b, **options)
