"""Colours for components, over shades of an image, so that one can look at them."""

from __future__ import annotations

import math
from functools import cache
from itertools import product
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arguments import as_bool, as_number, as_sequence, check_dimensions, shown
from conncomp._arrays import as_numpy, check_kind, in_library, library_of, on_gpu
from conncomp._containers import laid_beside
from conncomp._core import native
from conncomp.components._labels import Background, Items, Labels, check_items

REACH = 2  # components this close, along every axis, get different colours
MOST_AXES = 5  # as an element has 5 to the power of the axes within reach
# Colours that are handed out first; more are mixed where a component's neighbours have all.
COMMON = 12
# Colours are bits of a word; those beyond are chosen in further passes, up to as many as differ.
WORD, MOST = 64, 3000
# Elements that are mixed, and made shades, at once, so that they stay in a cache.
BLOCK, SHADES = 1 << 14, 1 << 16
OPAQUE = 256  # parts of opacity, so that mixtures of bytes fit into 16 bits

ValueRange = tuple[float, float] | None


def colour_components(
    labels: ArrayLike,
    image: ArrayLike | None = None,
    *,
    alpha: float | None = None,
    boundaries: bool = False,
    value_range: tuple[float, float] | None = None,
    background: Background = "auto",
    batch_axes: int = 0,
) -> NDArray[np.uint8]:
    """Paint components so that those that touch or nearly touch have clearly different colours.

    Parameters
    ----------
    labels : array_like of int
        One dimension or more, of which up to 5 are longer than 1, but for batch axes.
    image : array_like of bool, int or float, optional
        What to paint over, instead of black: in grey, of the shape of `labels`, or in colour, of
        shape ``(*labels.shape, 3)``. Arrays of xarray are aligned as by `component_statistics`.
    alpha : float, optional
        How much of a component's colour is in the mixture with `image`, or with black, from 0 to 1.
        Default: 0.4 with an image, 1 without.
    boundaries : bool, optional
        Whether elements of a component that have a neighbour of another label, along an axis, are
        painted fully. With ``alpha=0`` there are these outlines only.
    value_range : tuple of float, optional
        The values of `image` that are black and white, as are those beyond; ``(0, 255)`` takes
        bytes as they are. Default: the smallest and the largest finite value of each item. Not a
        number is black.
    background, batch_axes
        As for `component_sizes`. Each item is painted as it would be alone.

    Returns
    -------
    ndarray of uint8, shape ``(*labels.shape, 3)``
        Red, green and blue, in an array of the library of `labels`. The background is black, or as
        it is in `image`. Components with elements at most 2 apart along every axis differ.

    Raises
    ------
    TypeError, ValueError, MemoryError
        As for `component_sizes`; and if `labels` has no dimension or too many, another argument
        does not fit, or more than 3000 colours would be needed.

    Notes
    -----
    Takes time in proportion to the elements times those at most 2 apart: 24 in two dimensions, 124
    in three. Of components that prefer a colour, the one with more elements close to others has it,
    and those after it take another one that none of their neighbours has.

    Examples
    --------
    >>> import conncomp
    >>> labels = [[1, 0, 2, 2], [1, 0, 0, 0]]
    >>> picture = conncomp.colour_components(labels)
    >>> picture.shape, bool((picture[0, 0] == picture[0, 2]).all())
    ((2, 4, 3), False)
    >>> image = [[0.5, 1.0, 0.5, 0.5], [0.5, 0.0, 0.0, 0.0]]
    >>> conncomp.colour_components(labels, image, alpha=0.25)[:, 1]
    array([[255, 255, 255],
           [  0,   0,   0]], dtype=uint8)
    """
    if on_gpu(labels):
        as_numpy(labels, "labels")  # which says what to do
    outlined = as_bool("boundaries", boundaries)
    share = as_number("alpha", (1.0 if image is None else 0.4) if alpha is None else alpha)
    if not 0 <= share <= 1:
        raise ValueError(f"alpha={shown(alpha)} must be from 0, transparent, to 1, opaque")
    opacity = round(share * OPAQUE)
    image = laid_beside(labels, image, "image")
    values = check_value_range(value_range, image)
    items = check_items(labels, background, batch_axes)
    check_dimensions(len(items.shape))
    lengths = [length for length in items.shape if length != 1] or [1]
    if len(lengths) > MOST_AXES:
        told = f"labels has {len(lengths)} axes that are longer than 1"
        raise ValueError(f"{told}; colours are for up to {MOST_AXES}, for example a slice of it")
    base = None if image is None else check_image(image, items.batch + items.shape)
    components, table = _colours(items, lengths)
    picture = np.take(table, components.reshape(-1), axis=0)
    if base is not None or opacity < OPAQUE:
        painted = components != len(table) - 1
        shares = np.where(painted, np.uint16(opacity), np.uint16(0))
        if outlined:
            shares[_boundaries(components) & painted] = OPAQUE
        _mix(picture, _shades(base, values, items), shares.reshape(-1))
    painting = picture.reshape((*items.batch, *items.shape, 3))
    return cast("NDArray[np.uint8]", in_library(painting, library_of(labels)))


def _colours(items: Items, lengths: list[int]) -> tuple[Labels, NDArray[np.uint8]]:
    """Return each element's row, (items, *lengths), of a table of colours; the last is black."""
    array = items.labels.reshape(items.count, *lengths)
    painted = array != items.background
    rows = items.all_rows
    distinct = np.arange(rows)
    if rows > array.size:  # tables are to be no larger than the picture
        distinct, array = np.unique(array, return_inverse=True)
        array, rows = array.reshape(painted.shape), len(distinct)
    components = np.where(painted, array, rows)
    numbers = _choose(components, _draw(distinct % max(items.rows, 1)))
    table = palette(int(numbers.max()) + 1)[numbers]
    table[rows] = 0
    return components, table


def _boundaries(components: Labels) -> NDArray[np.bool_]:
    """Return which elements have a neighbour of another component, along an axis, in the item."""
    differ = np.zeros(components.shape, bool)
    for axis in range(1, components.ndim):
        ahead = (slice(None),) * axis
        here, there = (*ahead, slice(None, -1)), (*ahead, slice(1, None))
        step = components[here] != components[there]
        differ[here] |= step
        differ[there] |= step
    return differ


def _shades(image: NDArray[Any] | None, value_range: ValueRange, items: Items) -> NDArray[np.uint8]:
    """Return an image, black if it is None, as bytes of shape (elements, 1 or 3)."""
    if image is None:
        return np.broadcast_to(np.uint8(0), (items.labels.size, 1))
    channels = 1 if image.ndim == items.labels.ndim else 3
    given = image.reshape(items.count, items.length, channels)
    shades = np.empty(given.shape, np.uint8)
    for item in range(items.count):
        shades[item] = as_shades(given[item], value_range)
    return shades.reshape(-1, channels)


def _mix(picture: NDArray[np.uint8], shades: NDArray[np.uint8], shares: NDArray[np.uint16]) -> None:
    """Mix colours of a picture with shades: of each element, `shares` parts of `OPAQUE` stay."""
    for start in range(0, len(shares), BLOCK):
        part = slice(start, start + BLOCK)
        share = shares[part, None]
        mixed = picture[part] * share + shades[part] * (OPAQUE - share)
        picture[part] = (mixed + OPAQUE // 2) // OPAQUE


def _draw(labels: Labels) -> NDArray[np.int64]:
    """Return a number of 32 bits for each label below 2**32, and the background.

    Different labels have different ones: each step, the last of MurmurHash3, can be undone.
    """
    words = np.append(labels, 0).astype(np.uint32)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        words ^= words >> np.uint32(shift)
        words *= np.uint32(factor)
    return words.astype(np.int64)


def _choose(components: Labels, drawn: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of a colour for each component, so that neighbours within an item differ.

    The background, of the last row of `drawn`, has no neighbours.
    """
    rows = len(drawn) - 1
    widths = [(0, 0), *[(REACH, REACH)] * (components.ndim - 1)]
    margin = np.pad(components, widths, constant_values=rows)
    flat = margin.reshape(-1)
    strides = [stride // margin.itemsize for stride in margin.strides[1:]]
    # Where the elements of each component are, one after another, and where they begin.
    shown = np.where(_is_close(flat, strides, rows), flat, flat.dtype.type(rows))
    begins, places = native.members(shown, len(flat), rows, rows, True)
    steps, leading = _steps(strides)
    sizes = np.diff(begins)
    order = np.empty(rows, np.int64)
    native.sort_by_size(sizes, 1, order)
    order = order[: np.count_nonzero(sizes)]
    numbers, first = drawn % COMMON, 0
    graph = flat, steps, leading, begins, places, drawn
    while len(order):
        if first >= MOST:
            raise ValueError(f"more than {MOST} colours that differ are needed")
        common = COMMON if first == 0 else WORD
        waiting = native.choose_colours(*graph, first, common, order, numbers)
        order, first = order[:waiting], first + WORD
    return numbers


def _is_close(components: Labels, strides: list[int], rows: int) -> Any:
    """Return which elements of the foreground have one of another component close to them.

    There the smallest or the largest component that is close is another one.
    """
    foreground = components != rows
    smallest, largest = components, np.where(foreground, components, components.dtype.type(-1))
    for stride in strides:
        smallest = _over_reach(np.minimum, smallest, stride)
        largest = _over_reach(np.maximum, largest, stride)
    return ((smallest != components) | (largest != components)) & foreground


def _over_reach(function: np.ufunc, values: Labels, stride: int) -> Labels:
    for _ in range(REACH):
        wider = values.copy()
        function(wider[stride:], values[:-stride], out=wider[stride:])
        function(wider[:-stride], values[stride:], out=wider[:-stride])
        values = wider
    return values


def _steps(strides: list[int]) -> tuple[list[int], int]:
    """Return steps in memory to close elements, and how many, the first, lead farthest."""
    reach = range(-REACH, REACH + 1)
    offsets = [offset for offset in product(reach, repeat=len(strides)) if any(offset)]
    offsets.sort(key=lambda offset: offset[-1], reverse=True)
    leading = sum(offset[-1] == REACH for offset in offsets)
    return [int(np.dot(offset, strides)) for offset in offsets], leading


def palette(count: int) -> Any:
    """Return colours, uint8 of shape (count, 3), each as far as can be from those before and black.

    >>> palette(2)
    array([[225, 255,  75],
           [120,  75, 210]], dtype=uint8)
    """
    candidates, perceived = _mild_colours()
    if count > len(candidates):
        raise ValueError(f"{count} colours that differ are needed; there are {len(candidates)}")
    distance = np.linalg.norm(perceived, axis=1)
    picked = []
    for _ in range(count):
        picked.append(int(distance.argmax()))
        distance = np.minimum(distance, np.linalg.norm(perceived - perceived[picked[-1]], axis=1))
    return candidates[picked]


@cache
def _mild_colours() -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    steps = np.linspace(0, 255, 18).astype(np.uint8)
    candidates = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(-1, 3)
    perceived = _oklab(candidates)
    # Neither too dark for a black background, nor so vivid that it hurts.
    mild = (abs(perceived[:, 0] - 0.725) < 0.225) & (np.hypot(*perceived[:, 1:].T) < 0.2)
    return candidates[mild], perceived[mild]


def _oklab(colours: NDArray[np.uint8]) -> Any:
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
    return np.cbrt(cones) @ np.array(
        [
            [0.2104542553, 1.9779984951, 0.0259040371],
            [0.7936177850, -2.4285922050, 0.7827717662],
            [-0.0040720468, 0.4505937099, -0.8086757660],
        ]
    )


def check_image(image: ArrayLike, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return an image that goes with labels of `shape`, in grey or with three colours last."""
    array = as_numpy(image, "image")
    check_kind(array, "biuf", image, "image", "of real numbers")
    if array.shape in (shape, (*shape, 3)):
        return array
    remedy = "; leave out the opacity, as image[..., :3]" if array.shape == (*shape, 4) else ""
    told = f"image has shape {array.shape}; with labels of shape {shape} it must be of {shape}"
    raise ValueError(f"{told}, in grey, or {(*shape, 3)}, in colour{remedy}")


def check_value_range(value_range: Any, image: Any) -> ValueRange:
    """Return the values that are black and white of an image; errors name the argument."""
    if value_range is None:
        return None
    told = f"value_range={shown(value_range)} must be two"
    try:
        low, high = as_sequence("value_range", value_range)
    except (TypeError, ValueError):
        raise TypeError(f"{told} numbers: of black and of white") from None
    low, high = as_number("value_range", low), as_number("value_range", high)
    if not -math.inf < low < high < math.inf:
        raise ValueError(f"{told} finite numbers, the smaller one first")
    if image is None:
        raise ValueError(f"value_range={low, high} is of an image, and there is none; give image=")
    return low, high


def as_shades(image: NDArray[Any], value_range: ValueRange) -> NDArray[np.uint8]:
    """Return an image as bytes, from black, or NaN, to white; by default by its finite range."""
    if image.dtype == np.bool_:
        image = image.view(np.uint8)
    if value_range is None:
        value_range = _extremes(image)
    if image.dtype == np.uint8 and value_range == (0, 255):
        return image
    # Halves, whose difference is finite.
    low, high = value_range[0] / 2, value_range[1] / 2
    span = high - low or math.inf
    flat = image.reshape(-1)
    shades = np.empty(flat.shape, np.uint8)
    for start in range(0, len(flat), SHADES):
        part = slice(start, start + SHADES)
        values = _as_floats(flat[part]) / 2
        with np.errstate(invalid="ignore", over="ignore"):  # of infinities, and of vast values
            values -= low
            values /= span
            values *= 255
        shades[part] = np.nan_to_num(np.rint(values, out=values), copy=False).clip(0, 255)
    return shades.reshape(image.shape)


def _as_floats(values: NDArray[Any]) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):  # long doubles beyond the range are infinite
        return values.astype(np.float64)


def _extremes(image: NDArray[Any]) -> tuple[float, float]:
    """Return the smallest and the largest finite value, or 0 and 0 if there is none."""
    if image.dtype.kind == "f":
        image = _as_floats(image)
        finite = np.isfinite(image)
        if not finite.any():
            return 0.0, 0.0
        image = image if finite.all() else image[finite]
    return (float(image.min()), float(image.max())) if image.size else (0.0, 0.0)
