import tracemalloc
from itertools import product

import numpy as np
import pytest

import conncomp
from conncomp.components import colouring
from conncomp.components.colouring import COMMON, _oklab, palette


def close_pairs(shape):
    """All pairs of elements at most 2 apart along every axis."""
    for place in np.ndindex(shape):
        for step in product(range(-2, 3), repeat=len(shape)):
            neighbour = tuple(a + b for a, b in zip(place, step, strict=True))
            if all(0 <= k < n for k, n in zip(neighbour, shape, strict=True)):
                yield place, neighbour


def check(labels, background=0):
    colours = conncomp.colour_components(labels, background=background)
    assert colours.shape == (*labels.shape, 3)
    assert colours.dtype == np.uint8
    np.testing.assert_array_equal(colours.any(axis=-1), labels != background)
    colour_of = {}
    for place in np.ndindex(labels.shape):
        assert colour_of.setdefault(labels[place], tuple(colours[place])) == tuple(colours[place])
    for place, neighbour in close_pairs(labels.shape):
        if labels[place] != labels[neighbour]:
            assert tuple(colours[place]) != tuple(colours[neighbour])
    return colour_of


@pytest.mark.parametrize("density", [0.2, 0.35, 0.5, 1.0])
@pytest.mark.parametrize("shape", [(24, 31), (1, 40), (40, 1), (40,), (6, 7, 8), (3, 2, 4, 3)])
def test_neighbours_differ(shape, density):
    image = np.random.default_rng(1).random(shape)
    check(conncomp.label(image < density, connectivity=1))


def test_bars_side_by_side():
    """What is new along a bar is all that it sees of one that begins later."""
    labels = np.zeros((200, 40), int)
    for row, (begin, length) in enumerate(np.random.default_rng(8).integers(1, 20, (200, 2))):
        labels[row, begin : begin + length] = row + 1
    check(labels)
    check(labels.reshape(20, 10, 40)[:, :2])


def test_many_components():
    check(np.random.default_rng(2).permutation(40 * 50).reshape(40, 50))


def test_other_backgrounds():
    labels = np.random.default_rng(3).integers(-1, 30, (15, 15))
    check(labels, background=-1)
    check(labels + 1, background=None)


def test_more_colours_than_the_common_ones():
    labels = np.concatenate([[a, b] for a in range(1, 31) for b in range(1, 31)])
    assert len(set(check(labels).values())) == 30


def test_more_colours_than_a_word_has():
    labels = np.concatenate([[a, b] for a in range(150) for b in range(a)]).reshape(-1, 2)
    colours = conncomp.colour_components(labels, background=None).reshape(-1, 3)
    assert len(np.unique(colours, axis=0)) == 150


def test_too_many_colours(monkeypatch):
    monkeypatch.setattr(colouring, "MOST", 64)
    labels = np.concatenate([[a, b] for a in range(65) for b in range(a)]).reshape(-1, 2)
    conncomp.colour_components(labels % 64, background=None)
    with pytest.raises(ValueError, match="more than 64 colours"):
        conncomp.colour_components(labels, background=None)


@pytest.mark.parametrize("values", [3, 200])
def test_memory_is_that_of_the_picture(values):
    image = np.random.default_rng(6).integers(0, values, (400, 400))
    labels = conncomp.label(image)
    tracemalloc.start()
    try:
        conncomp.colour_components(labels)
        assert tracemalloc.get_traced_memory()[1] < 160 * labels.size
    finally:
        tracemalloc.stop()


def test_labels_that_are_large_and_few():
    colour_of = check(np.array([[0, 1 << 23, 5], [9, 0, 1 << 23]]))
    assert len(colour_of) == 4
    colour_of = check(np.array([[-1, 1 << 23, 0]]), background=-1)
    assert colour_of[0] != (0, 0, 0)


def test_palette_is_well_separated():
    seen = _oklab(np.concatenate([np.zeros((1, 3), np.uint8), palette(COMMON)]))
    apart = np.linalg.norm(seen[:, None] - seen, axis=-1)
    assert apart[np.triu_indices(COMMON + 1, 1)].min() > 0.15
    assert len(np.unique(palette(3000), axis=0)) == 3000
    with pytest.raises(ValueError, match="100000 colours"):
        palette(100_000)


def test_nothing():
    assert conncomp.colour_components(np.zeros((0, 3), int)).shape == (0, 3, 3)
    assert not conncomp.colour_components(np.zeros((2, 3), int)).any()
    assert not conncomp.colour_components(np.full((2, 3), -1), background=-1).any()


def test_many_axes():
    """Those of length 1 do not count; more than five would need more than 3000 neighbours each."""
    labels = np.arange(1, 9).reshape(1, 2, 1, 2, 1, 1, 2, 1)
    painted = conncomp.colour_components(labels)
    assert painted.shape == (*labels.shape, 3)
    assert len(np.unique(painted.reshape(-1, 3), axis=0)) == 8
    assert conncomp.colour_components(np.ones((2,) * 5, int)).shape == (2, 2, 2, 2, 2, 3)
    with pytest.raises(ValueError, match="labels has 20 axes that are longer than 1"):
        conncomp.colour_components(np.ones((2,) * 20, int))


def test_backgrounds_are_those_of_the_other_tools():
    with pytest.raises(ValueError, match="background has to be given"):
        conncomp.colour_components(np.array([0, 0, 1]))
    masked = np.ma.array([[1, 2]], mask=[[0, 1]])
    assert conncomp.colour_components(masked).any(axis=-1).tolist() == [[True, False]]
