"""Long rows whose elements do not lie one after the other: they are gathered by stretches."""

import numpy as np
import pytest

import conncomp

STRETCH = 1 << 14  # ``kStretch``
LENGTHS = [STRETCH - 1, STRETCH, STRETCH + 1, STRETCH + 2, 3 * STRETCH + 70]
# Runs that go over the end of a stretch, or end there, or begin.
VALUES = [(2, 0.5), (2, 0.01), (3, 0.02), (200, 0.5)]


def random_rows(rows, length, values, changes):
    """Return rows of random values, each of which is that of the element before or another."""
    random = np.random.default_rng([rows, length, values])
    new = random.random((rows, length)) < changes
    drawn = random.integers(0, values, (rows, length), np.int16)
    last = np.maximum.accumulate(np.where(new, np.arange(length), 0), axis=1)
    return np.take_along_axis(drawn, last, axis=1)


def spread(array):
    """Return views with the same values, whose rows are not contiguous."""
    yield np.asfortranarray(array)
    yield np.repeat(array, 3, axis=-1)[..., ::3]
    yield np.ascontiguousarray(array[..., ::-1])[..., ::-1]


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize(("values", "changes"), VALUES)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"connectivity": 1},
        {"periodic": True},
        {"background": None, "periodic": True},
        {"tolerance": 1, "connectivity": 1},
        {"tolerance": 1, "periodic": True},
        {"structure": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "periodic": (False, True)},
        {"batch_axes": 1},
    ],
    ids=str,
)
def test_labels_are_those_of_contiguous_rows(length, values, changes, options):
    array = random_rows(3, length, values, changes)
    wanted, num = conncomp.label(array, **options, return_num=True)
    for view in spread(array):
        labels, found = conncomp.label(view, **options, return_num=True)
        np.testing.assert_array_equal(found, num)
        np.testing.assert_array_equal(labels, wanted)
        if not ({"structure", "batch_axes"} & {*options} or "periodic" in options):
            turned = conncomp.label(view.T, **options, numbering="roots")
            assert len(np.unique(turned[turned >= 0])) == num


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("periodic", [False, True])
def test_bonds_are_those_of_contiguous_rows(length, periodic):
    random = np.random.default_rng(length)
    bonds = random.random((2, 3, length)) < 0.6
    wanted = conncomp.label_bonds(bonds, periodic=periodic)
    for view in spread(bonds):
        np.testing.assert_array_equal(conncomp.label_bonds(view, periodic=periodic), wanted)
