"""Colours for components, so that one can look at them."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arrays import as_numpy
from conncomp.components._labels import Labels, check_labels

# Components this close to each other, along every axis, get different colours.
REACH = 2
# Colours that are handed out in turn; more are mixed only where a component's neighbours have all.
COMMON = 12


def colour_components(labels: ArrayLike, *, background: int | None = 0) -> NDArray[np.uint8]:
    """Paint components so that those that touch or nearly touch have clearly different colours.

    Parameters
    ----------
    labels : array_like of int
        One dimension or more.
    background : {0, -1, None}, optional
        The label that is no component: 0 for `label`, -1 for its roots, None for none.

    Returns
    -------
    ndarray of uint8, shape ``(*labels.shape, 3)``
        Red, green and blue. The background is black, each component of one colour, and
        components with elements at most 2 apart along every axis differ.

    Raises
    ------
    TypeError
        If `labels` is not of integers.
    ValueError
        If it has no dimension, a label is negative, or more than 3000 colours would be needed.

    Notes
    -----
    Greedy: the component with the most neighbours chooses first.

    Examples
    --------
    >>> import conncomp
    >>> image = conncomp.colour_components([[1, 0, 2, 2], [1, 0, 0, 0]])
    >>> image.shape
    (2, 4, 3)
    >>> bool((image[0, 0] == image[0, 2]).all())
    False
    """
    array, ground, rows = check_labels(as_numpy(labels, "labels"), background)
    if array.ndim == 0:
        raise ValueError("labels is a scalar; it must have one dimension or more")
    numbers = _choose(*_neighbours(array, ground, rows))
    table = palette(int(numbers.max(initial=-1)) + 1)[numbers]
    colours = table[array]
    colours[array == ground] = 0
    return colours


def _neighbours(labels: Labels, ground: int, rows: int) -> tuple[Labels, Labels]:
    """Return the graph of components that are close to each other, as compressed sparse rows."""
    pairs = [np.empty(0, np.int64)]
    for offset in product(range(-REACH, REACH + 1), repeat=labels.ndim):
        if offset <= (0,) * labels.ndim:  # the opposite offset meets the same pairs
            continue
        here, there = (
            labels[
                tuple(
                    slice(max(-k, 0), max(n - k, 0))
                    for k, n in zip(step, labels.shape, strict=True)
                )
            ]
            for step in (offset, tuple(-k for k in offset))
        )
        close = (here != there) & (here != ground) & (there != ground)
        a, b = here[close].astype(np.int64), there[close].astype(np.int64)
        pairs.append(np.unique(np.minimum(a, b) * rows + np.maximum(a, b)))
    a, b = np.divmod(np.unique(np.concatenate(pairs)), max(rows, 1))
    src, dst = np.concatenate([a, b]), np.concatenate([b, a])
    indptr = np.searchsorted(np.sort(src), np.arange(rows + 1))
    return indptr, dst[np.argsort(src, kind="stable")]


def _choose(indptr: Labels, indices: Labels) -> Labels:
    """Return the number of a colour for each vertex of a graph, so that neighbours differ."""
    order = np.argsort(-np.diff(indptr), kind="stable").tolist()
    starts, neighbours = indptr.tolist(), indices.tolist()
    chosen = [0] * len(order)  # as sets of bits
    for vertex in order:
        taken = 0
        for neighbour in neighbours[starts[vertex] : starts[vertex + 1]]:
            taken |= chosen[neighbour]
        free = ~taken & ((1 << COMMON) - 1)
        in_turn = free >> vertex % COMMON << vertex % COMMON
        choice = in_turn or free or ~taken
        chosen[vertex] = choice & -choice
    return np.array([colour.bit_length() - 1 for colour in chosen], np.int64)


def palette(count: int) -> NDArray[np.uint8]:
    """Return colours that are each as far as can be from those before it and from black.

    Parameters
    ----------
    count : int

    Returns
    -------
    ndarray of uint8, shape (count, 3)

    Raises
    ------
    ValueError
        If there are not so many.

    Examples
    --------
    >>> palette(2)
    array([[225, 255,  75],
           [120,  75, 210]], dtype=uint8)
    """
    steps = np.linspace(0, 255, 18).astype(np.uint8)
    candidates = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(-1, 3)
    perceived = _oklab(candidates)
    # Neither too dark for a black background, nor so vivid that it hurts.
    mild = (abs(perceived[:, 0] - 0.725) < 0.225) & (np.hypot(*perceived[:, 1:].T) < 0.2)
    candidates, perceived = candidates[mild], perceived[mild]
    if count > len(candidates):
        raise ValueError(f"{count} colours that differ are needed; there are {len(candidates)}")
    distance = np.linalg.norm(perceived, axis=1)
    picked = []
    for _ in range(count):
        picked.append(int(distance.argmax()))
        distance = np.minimum(distance, np.linalg.norm(perceived - perceived[picked[-1]], axis=1))
    colours: NDArray[np.uint8] = candidates[picked]
    return colours


def _oklab(colours: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Convert sRGB to Oklab, where distances are about those that one sees; black is zero."""
    # https://bottosson.github.io/posts/oklab/
    value = colours / 255
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    cones = linear @ np.array(
        [
            [0.4122214708, 0.2119034982, 0.0883024619],
            [0.5363325363, 0.6806995451, 0.2817188376],
            [0.0514459929, 0.1073969566, 0.6299787005],
        ]
    )
    lab: NDArray[np.float64] = np.cbrt(cones) @ np.array(
        [
            [0.2104542553, 1.9779984951, 0.0259040371],
            [0.7936177850, -2.4285922050, 0.7827717662],
            [-0.0040720468, 0.4505937099, -0.8086757660],
        ]
    )
    return lab
