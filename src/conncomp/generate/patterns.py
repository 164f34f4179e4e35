"""Patterns that are hard to label, each in a way of its own: curves, a maze, rings, a comb."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from conncomp.generate._arguments import array_library, check_int, check_shape
from conncomp.generate._edges import hilbert_path, spanning_tree
from conncomp.generate.images import Image, Shape

__all__ = ["all_equal", "checkerboard", "comb", "hilbert_curve", "maze", "rings", "spiral"]


def spiral(size: int, *, device: str | None = None) -> Image:
    """Make Hawick's spiral: two arms, both one pixel wide, wound around each other.

    The arms are 1 and 2: one component each, with connectivity 1 as well as 2. The first begins in
    the corner.

    Parameters
    ----------
    size : int
        Of both axes; at least 2.
    device
        As for `random_array`.

    Examples
    --------
    >>> from conncomp import generate
    >>> generate.patterns.spiral(7)
    array([[1, 1, 1, 1, 1, 1, 1],
           [2, 2, 2, 2, 2, 2, 1],
           [1, 1, 1, 1, 1, 2, 1],
           [1, 2, 2, 2, 1, 2, 1],
           [1, 2, 1, 1, 1, 2, 1],
           [1, 2, 2, 2, 2, 2, 1],
           [1, 1, 1, 1, 1, 1, 1]], dtype=uint8)
    """
    n = check_int("size", size, 2, 1 << 28)
    xp = array_library(device)
    image: Image = (1 + _depth(xp, (n, n)) % 2).astype(np.uint8)
    # One pixel a ring, exchanged below the diagonal, turns rings into arms: it leaves its own ring
    # open, and leads the one around it to the one within.
    turn = xp.arange(1, n // 2 + 1)
    image[turn, turn - 1] = 3 - image[turn, turn - 1]
    return image


def rings(shape: Shape, *, device: str | None = None) -> Image:
    """Make concentric square rings, or boxes, one element thick and one apart.

    Each ring is one component, with any connectivity.

    Parameters
    ----------
    shape, device
        As for `random_array`.

    Examples
    --------
    >>> from conncomp import generate
    >>> generate.patterns.rings((5, 6))
    array([[1, 1, 1, 1, 1, 1],
           [1, 0, 0, 0, 0, 1],
           [1, 0, 1, 1, 0, 1],
           [1, 0, 0, 0, 0, 1],
           [1, 1, 1, 1, 1, 1]], dtype=uint8)
    """
    even = _depth(array_library(device), check_shape(shape)) % 2 == 0
    return cast(Image, even.astype(np.uint8))


def _depth(xp: Any, shape: tuple[int, ...]) -> NDArray[np.int32]:
    """Return how many steps each element is from the border of the array."""
    ways = (xp.arange(length, dtype=np.int32) for length in shape)
    near = (xp.minimum(along, along[::-1]) for along in ways)
    return cast("NDArray[np.int32]", reduce(xp.minimum, xp.ix_(*near)))


def maze(shape: Sequence[int], *, seed: int = 0, device: str | None = None) -> Image:
    """Make a perfect maze: between any two places there is exactly one way.

    Ways are 1: one component with connectivity 1, and a tree. Walls are 0.

    Parameters
    ----------
    shape : sequence of two int
        At least 3 each. Walls between places are one pixel wide; where a length is even, the last
        wall is two.
    seed, device
        As for `random_array`; made on the CPU and moved.

    Examples
    --------
    >>> from conncomp import generate
    >>> for row in generate.patterns.maze((7, 15)):
    ...     print("".join("# "[pixel] for pixel in row))
    ###############
    #       #     #
    # ####### #####
    # #           #
    # # ######### #
    #   #         #
    ###############
    """
    rows, columns = check_shape(shape, 2, shortest=3)
    xp = array_library(device)
    image = np.zeros((rows, columns), np.uint8)
    tree = spanning_tree((rows - 1) // 2, (columns - 1) // 2, seed)
    image[1:-1:2, 1:-1:2] = 1
    inside = image[1 : 1 + 2 * tree.shape[0], 1 : 1 + 2 * tree.shape[1]]
    inside[::2, 1::2] = tree[:, :, 0]
    inside[1::2, ::2] = tree[:, :, 1]
    return cast(Image, xp.asarray(image))


def comb(shape: Shape, *, device: str | None = None) -> Image:
    """Make a comb: teeth along the first axis, one element thick and one apart, and a back.

    It is one component with any connectivity.

    Parameters
    ----------
    shape, device
        As for `random_array`.

    Examples
    --------
    >>> from conncomp import generate
    >>> generate.patterns.comb((3, 5))
    array([[1, 0, 1, 0, 1],
           [1, 0, 1, 0, 1],
           [1, 1, 1, 1, 1]], dtype=uint8)
    """
    image: Image = array_library(device).zeros(check_shape(shape), np.uint8)
    image[(slice(None), *[slice(None, None, 2)] * (image.ndim - 1))] = 1
    image[-1] = 1
    return image


def hilbert_curve(order: int, *, device: str | None = None) -> Image:
    """Draw the Hilbert curve, one pixel wide, in ``2**(order + 1) - 1`` rows and columns.

    It is one component with any connectivity.

    Parameters
    ----------
    order : int
        From 0 to 15.
    device
        As for `random_array`.

    Examples
    --------
    >>> from conncomp import generate
    >>> generate.patterns.hilbert_curve(2)
    array([[1, 0, 1, 1, 1, 1, 1],
           [1, 0, 1, 0, 0, 0, 1],
           [1, 1, 1, 0, 1, 1, 1],
           [0, 0, 0, 0, 1, 0, 0],
           [1, 1, 1, 0, 1, 1, 1],
           [1, 0, 1, 0, 0, 0, 1],
           [1, 0, 1, 1, 1, 1, 1]], dtype=uint8)
    """
    xp = array_library(device)
    x, y = hilbert_path(xp, check_int("order", order, 0, 15))
    side = (2 << order) - 1
    image: Image = xp.zeros((side, side), np.uint8)
    image[2 * x, 2 * y] = 1
    image[x[1:] + x[:-1], y[1:] + y[:-1]] = 1
    return image


def checkerboard(shape: Shape, *, device: str | None = None) -> Image:
    """Make a checkerboard: 1 where the coordinates add up to an even number.

    With connectivity 1 each element of 1 is a component; with 2 and more they are one, if several
    axes are longer than 1.

    Parameters
    ----------
    shape, device
        As for `random_array`.

    Examples
    --------
    >>> from conncomp import generate
    >>> generate.patterns.checkerboard((3, 4))
    array([[1, 0, 1, 0],
           [0, 1, 0, 1],
           [1, 0, 1, 0]], dtype=uint8)
    """
    xp = array_library(device)
    image: Image = xp.ones((), np.uint8)
    for length in check_shape(shape):
        image = image[..., None] ^ (xp.arange(length) % 2).astype(np.uint8)
    return image


def all_equal(shape: Shape, value: int = 1, *, device: str | None = None) -> Image:
    """Make an array of one value.

    Parameters
    ----------
    shape, device
        As for `random_array`.
    value : int, optional
        From 0 to 255.

    Examples
    --------
    >>> from conncomp import generate
    >>> generate.patterns.all_equal((1, 3))
    array([[1, 1, 1]], dtype=uint8)
    """
    lengths, number = check_shape(shape), check_int("value", value, 0, 255)
    return cast(Image, array_library(device).full(lengths, number, np.uint8))
