"""`KeptRuns`: what is written from runs is what `label` says, wherever it goes."""

import itertools

import numpy as np
import pytest

import conncomp
from chunked_cases import random_bonds, random_case
from conncomp.grid._arguments import question_of_bonds, question_of_image
from conncomp.grid.array import read
from conncomp.grid.runs import KeptRuns, Placed, write_together

LONG = np.random.default_rng(0).random((3, 4, 150)) < 0.4  # rows of several words


def runs_of(image, **arguments):
    """Return the runs of an image, given arguments of `label`."""
    return KeptRuns(read(question_of_image(image, **arguments), image))


def check(runs, want, random):
    """Hold runs against consecutive labels."""
    numbers = np.arange(want.max() + 1, dtype=np.int32)
    np.testing.assert_array_equal(runs.write(numbers), want)
    flat = want.reshape(-1)
    np.testing.assert_array_equal(runs.roots, [np.argmax(flat == k) for k in numbers[1:]])
    for axis, last in itertools.product(range(want.ndim), (False, True)):
        side = np.take(want, -1 if last else 0, axis)
        np.testing.assert_array_equal(runs.side(axis, last), side)
    # Any table, to a part of a larger array whose axes are in another order, some of them reversed.
    table = random.integers(-5, 2**31, len(numbers), endpoint=False).astype(np.int32)
    order = random.permutation(want.ndim)
    larger = np.full([2 * want.shape[k] + 1 for k in order], 7, np.int32)
    part = larger[tuple(slice(1, None, 2) for _ in order)].transpose(np.argsort(order))
    part = part[tuple(slice(None, None, step) for step in random.choice([-1, 1], want.ndim))]
    assert runs.write(table, part) is part
    np.testing.assert_array_equal(part, table[want])
    assert (larger == 7).sum() >= larger.size - want.size


@pytest.mark.parametrize("part", range(4))
def test_images(part):
    for seed in range(5000 + 50 * part, 5050 + 50 * part):
        image, _, arguments = random_case(seed)
        if arguments.pop("batch_axes", 0):
            continue
        runs = runs_of(image, **arguments)
        check(runs, conncomp.label(image, **arguments), np.random.default_rng(seed))


@pytest.mark.parametrize("connectivity", [1, 2, 3])
@pytest.mark.parametrize("values", [LONG, LONG * 3.5, LONG.astype("u1") + LONG[::-1]])
def test_long_rows(values, connectivity):
    for order in itertools.permutations(range(3)):
        image = values.transpose(order)
        want = conncomp.label(image, connectivity=connectivity)
        check(runs_of(image, connectivity=connectivity), want, np.random.default_rng(0))


def test_bonds():
    for seed in range(500, 540):
        bonds, _, arguments = random_bonds(seed)
        if arguments.pop("batch_axes", 0):
            continue
        runs = KeptRuns(read(question_of_bonds(bonds, **arguments), bonds))
        check(runs, conncomp.label_bonds(bonds, **arguments), np.random.default_rng(seed))


@pytest.mark.parametrize("seed", range(6))
def test_parts_of_an_array_together(seed):
    """Of any lengths, whose values and labels have their axes in any order."""
    random = np.random.default_rng(seed)
    shape = ([400, 50, 90], [70, 60, 3], [5, 9, 800], [90_000], [300, 300], [3, 40, 70, 20])[seed]
    image = random.random(shape) < random.choice([0.1, 0.5, 0.9])
    order = random.permutation(len(shape))
    labels = np.full([shape[k] for k in order], 7, np.int32).transpose(np.argsort(order))
    want, parts = np.full(shape, 7, np.int32), []
    ends = [np.unique([0, *random.integers(0, n, 2), n]) for n in shape]
    for place in itertools.product(*(map(slice, axis[:-1], axis[1:]) for axis in ends)):
        values = np.asarray(image[place], order=random.choice(["C", "F", "K"]))
        runs = runs_of(values)
        table = random.integers(-5, 2**31, len(runs.roots) + 1, endpoint=False).astype(np.int32)
        runs.write(table, want[place])
        parts.append(Placed(runs, table, labels[place]))
    write_together(parts)
    np.testing.assert_array_equal(labels, want)


def test_what_does_not_fit_is_refused():
    runs = runs_of(LONG)
    table = np.arange(len(runs.roots) + 1, dtype=np.int32)
    for wrong, out in (
        (table[:-1], None),
        (table, np.zeros(LONG.shape)),
        (table, np.zeros((3, 4, 149), np.int32)),
    ):
        with pytest.raises(ValueError, match="not that of these runs"):
            runs.write(wrong, out)
    with pytest.raises(ValueError, match="not that of these runs"):
        write_together([Placed(runs, table, np.zeros((3, 4, 149), np.int32))])
    write_together([])


def test_memory_is_that_of_bits_and_runs():
    """An eighth of a byte an element and what bundles take, and four bytes a run."""
    runs = runs_of(np.ones((64, 64, 640), bool))
    assert runs.nbytes < 0.18 * 64 * 64 * 640
