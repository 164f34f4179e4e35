"""Colours for components, so that one can look at them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arrays import as_numpy, on_gpu
from conncomp.components._labels import Background, Labels, check_items

# Components this close to each other, along every axis, get different colours.
REACH = 2
# An element has so many others close to it along each axis, to the power of the axes.
MOST_AXES = 5
# Colours that are handed out first; more are mixed where a component's neighbours have all.
COMMON = 12
# Colours are bits of a word; those beyond are chosen in further passes, up to as many as differ.
WORD, MOST = 64, 3000
# Elements that are looked at together, so that they stay in a cache.
BLOCK = 1 << 14


def colour_components(
    labels: ArrayLike, *, background: Background = "auto", batch_axes: int = 0
) -> NDArray[np.uint8]:
    """Paint components so that those that touch or nearly touch have clearly different colours.

    Parameters
    ----------
    labels : array_like of int
        One dimension or more, of which up to 5 are longer than 1, but for batch axes.
    background : {0, -1, None}, optional
        The label that is no component: 0 for `label`, -1 for its roots, None for none. Has to be
        given for labels of one axis, as for `component_sizes`; masked labels are background.
    batch_axes : int, optional
        How many axes ahead are those of a batch of items, as for `component_sizes`. Each item is
        painted as it would be alone.

    Returns
    -------
    ndarray of uint8, shape ``(*labels.shape, 3)``
        Red, green and blue. The background is black, each component of one colour, and
        components with elements at most 2 apart along every axis differ.

    Raises
    ------
    TypeError
        If `labels` is not of integers, or `batch_axes` is not an integer.
    ValueError
        If it has no dimension or too many, a label is negative, `batch_axes` leaves no axis to the
        items, or more than 3000 colours would be needed.

    Notes
    -----
    In rounds, each of which takes time and memory in proportion to the elements of components that
    have no colour yet: all of these choose one that no neighbour has, and of neighbours that choose
    the same one, the larger keeps it.

    Examples
    --------
    >>> import conncomp
    >>> image = conncomp.colour_components([[1, 0, 2, 2], [1, 0, 0, 0]])
    >>> image.shape
    (2, 4, 3)
    >>> bool((image[0, 0] == image[0, 2]).all())
    False
    """
    if on_gpu(labels):
        as_numpy(labels, "labels")  # which says what to do
    items = check_items(labels, background, batch_axes)
    if not items.shape:
        raise ValueError("labels is a scalar; it must have one dimension or more")
    lengths = [length for length in items.shape if length != 1] or [1]
    if len(lengths) > MOST_AXES:
        raise ValueError(
            f"labels has {len(lengths)} axes that are longer than 1; colours are for up to "
            f"{MOST_AXES}, for example a slice of it"
        )
    array = items.labels.reshape(items.count, *lengths)
    painted = array != items.background
    rows = items.all_rows
    distinct = np.arange(rows)
    if rows > array.size:  # tables are to be no larger than the picture
        distinct, array = np.unique(array, return_inverse=True)
        array, rows = array.reshape(painted.shape), len(distinct)
    numbers = _choose(np.where(painted, array, rows), _draw(distinct % max(items.rows, 1)))
    colours = palette(int(numbers.max()) + 1)[numbers[array]]
    colours[~painted] = 0
    return colours.reshape((*items.batch, *items.shape, 3))


def _draw(labels: Labels) -> NDArray[np.int64]:
    """Return a random number of 32 bits for each label, which is always the same.

    Different labels below 2**32 get different numbers: each step of this, the last of MurmurHash3,
    can be undone. One more follows, for the background.
    """
    words = np.append(labels, 0).astype(np.uint32)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        words ^= words >> np.uint32(shift)
        words *= np.uint32(factor)
    return words.astype(np.int64)


def _choose(components: Labels, drawn: NDArray[np.int64]) -> Labels:
    """Return the number of a colour for each component, so that neighbours differ.

    The first axis is that of items. The background is the component of the last row of `drawn`,
    and has no neighbours.
    """
    rows = len(drawn) - 1
    margin = np.pad(
        components, [(0, 0), *[(REACH, REACH)] * (components.ndim - 1)], constant_values=rows
    )
    steps, flat = _steps(margin), margin.ravel()
    places = _contacts(flat, steps, rows)
    places = places[np.argsort(flat[places], kind="stable")]
    # Equal sizes are put in a random order, which is always the same.
    rank = (np.bincount(flat[places], minlength=rows + 1) << 32) + drawn
    numbers = drawn % COMMON
    first = 0
    while len(places):
        if first >= MOST:
            raise ValueError(f"more than {MOST} colours that differ are needed")
        places = _choose_of_word(flat, steps, places, rank, drawn, numbers, first)
        first += WORD
    return numbers


def _steps(margin: Labels) -> list[int]:
    """Return how far apart in memory elements of an item are that are close to each other."""
    strides = [stride // margin.itemsize for stride in margin.strides[1:]]
    reach = range(-REACH, REACH + 1)
    offsets = product(reach, repeat=len(strides))
    return [sum(np.multiply(o, strides)) for o in offsets if any(o)]


def _contacts(flat: Labels, steps: list[int], rows: int) -> Labels:
    """Return where components, which `rows` is not, have elements that are close to another one."""
    places = np.flatnonzero(flat != rows)
    components = flat[places]
    close = np.zeros(len(places), bool)
    for part, neighbours in _neighbours(flat, steps, places):
        close[part] |= (neighbours != components[part]) & (neighbours != rows)
    return places[close]


def _neighbours(flat: Labels, steps: list[int], places: Labels) -> Iterator[tuple[slice, Labels]]:
    """Give, part by part of the places and step by step, the components of what is close."""
    for start in range(0, len(places), BLOCK):
        part = slice(start, start + BLOCK)
        for step in steps:
            yield part, flat[places[part] + step]


def _choose_of_word(
    flat: Labels,
    steps: list[int],
    places: Labels,
    rank: Labels,
    drawn: Labels,
    numbers: Labels,
    first: int,
) -> Labels:
    """Choose among the colours of a word; return the places of components that need others.

    Parameters
    ----------
    flat : ndarray
        The component of each element.
    steps : list of int
        From an element to those close to it.
    places : ndarray
        Where elements of components without a colour are; those of each follow each other.
    rank, drawn : ndarray
        For each component: which of two keeps a colour, and where among colours it begins to look.
    numbers : ndarray
        For each component, its colour, which is written.
    first : int
        The number of the word's first colour.
    """
    bits = np.zeros(len(numbers), np.uint64)
    postponed = [places[:0]]
    turn = 0
    while len(places):
        component_of_place = flat[places]
        begins = np.flatnonzero(np.diff(component_of_place, prepend=-1))
        components = component_of_place[begins]
        taken = np.zeros(len(places), np.uint64)
        for part, neighbours in _neighbours(flat, steps, places):
            taken[part] |= bits[neighbours]
        free = ~np.bitwise_or.reduceat(taken, begins)
        bits[components] = _pick(free, drawn[components] + turn, COMMON if first == 0 else WORD)
        chosen, own_rank = bits[component_of_place], rank[component_of_place]
        beaten = np.zeros(len(places), bool)
        for part, neighbours in _neighbours(flat, steps, places):
            same = bits[neighbours] == chosen[part]
            beaten[part] |= same & (rank[neighbours] > own_rank[part])
        loses = np.logical_or.reduceat(beaten, begins) & (free != 0)
        bits[components[loses]] = 0
        numbers[components] = first + np.frexp(bits[components].astype(np.float64))[1] - 1
        lengths = np.diff(begins, append=len(places))
        postponed.append(places[np.repeat(free == 0, lengths)])
        places = places[np.repeat(loses, lengths)]
        turn += 1
    return np.concatenate(postponed)


def _pick(free: NDArray[np.uint64], begin: Labels, width: int) -> NDArray[np.uint64]:
    """Return one bit of each word, at `begin` or later in turn, among as few as have one."""
    chosen = np.zeros_like(free)
    while not chosen.all() and width <= WORD:
        start = (begin % width).astype(np.uint64)
        window = free & np.uint64(2**width - 1)
        later = window >> start << start
        window = np.where(later, later, window)
        chosen = np.where(chosen, chosen, window & -window)
        width = min(width + width // 3, WORD) if width < WORD else WORD + 1
    return chosen


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
