"""Images of any real dtype as bytes, from black to white."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arguments import as_number, as_sequence, shown
from conncomp._arrays import as_numpy, check_kind

ValueRange = tuple[float, float] | None

# Elements that are converted at once, so that they stay in a cache.
BLOCK = 1 << 16


def check_image(image: ArrayLike, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return an image that goes with labels of `shape`, in grey or with three colours last."""
    array = as_numpy(image, "image")
    check_kind(array, "biuf", image, "image", "of real numbers")
    if array.shape in (shape, (*shape, 3)):
        return array
    remedy = "; leave out the opacity, as image[..., :3]" if array.shape == (*shape, 4) else ""
    raise ValueError(
        f"image has shape {array.shape}; with labels of shape {shape} it must be of {shape}, in "
        f"grey, or {(*shape, 3)}, in colour{remedy}"
    )


def check_value_range(value_range: Any, image: Any) -> ValueRange:
    """Return the values that are black and white of an image; errors name the argument."""
    if value_range is None:
        return None
    try:
        low, high = as_sequence("value_range", value_range)
    except (TypeError, ValueError):
        raise TypeError(
            f"value_range={shown(value_range)} must be two numbers: of black and of white"
        ) from None
    low, high = as_number("value_range", low), as_number("value_range", high)
    if not -math.inf < low < high < math.inf:
        raise ValueError(
            f"value_range={shown(value_range)} must be two finite numbers, the smaller one first"
        )
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
    for start in range(0, len(flat), BLOCK):
        part = slice(start, start + BLOCK)
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
