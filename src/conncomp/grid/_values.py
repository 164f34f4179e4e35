"""Values of arrays and lattices of bonds as kernels read them, and their link rules."""

from __future__ import annotations

import math
import sys
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import as_batch_axes, shown
from conncomp._array_storage import converted, native_layout
from conncomp._arrays import check_kind
from conncomp.kernels.cuda.grid.image import steps_evenly
from conncomp.kernels.links import Links, bonds_of_axes, values_within

# Of a lattice of bonds: the most axes longer than 1; and bits of a byte, one for each axis.
MOST_BOND_AXES, BITS = 6, 8

Values = tuple[NDArray[Any], NDArray[Any] | None]  # an array, and its background or None


def describe_values(
    image: NDArray[Any],
    background: float | None = None,
    mask: NDArray[np.bool_] | None = None,
    tolerance: float = 0,
) -> tuple[NDArray[Any], Links]:
    """Return an array as a kernel reads it, and the rule that links its elements.

    `image` is of bool, integer or floating dtype; the caller has checked background and tolerance.
    The array returned has the background's value where `mask` is True.
    """
    value, limit, links = comparison_of(image.dtype, background, tolerance)
    if mask is None and image.dtype.itemsize <= 8:
        return native_layout(image) if isinstance(image, np.ndarray) else image, links
    if image.dtype.itemsize > 8:  # long double has no kernel
        image, value = (_rounded if limit else _numbered)(image, value)
    if mask is not None:
        if value is None:
            image, value = _with_spare_value(image)
        else:
            image = image.copy(order="K")
        image[mask] = value
    return native_layout(image), _links(image.dtype, value, limit)


def check_rule(dtype: np.dtype[Any], background: Any, tolerance: Any) -> None:
    """Raise unless background (or None) and tolerance are numbers that fit values of a dtype."""
    hashable = isinstance(background, _NUMBERS) and isinstance(tolerance, _NUMBERS)
    (comparison_of if hashable else comparison_of.__wrapped__)(dtype, background, tolerance)


_NUMBERS = (type(None), bool, int, float, np.generic)
_REAL = (int, float, np.integer, np.floating)


# By type, too: True equals 1, but is no tolerance.
@lru_cache(maxsize=256, typed=True)
def comparison_of(
    dtype: np.dtype[Any], background: float | None, tolerance: float
) -> tuple[NDArray[Any] | None, float, Links]:
    """Return the background, of the dtype, shape (), or None; the tolerance; and the link rule."""
    if background is not None and not isinstance(background, (*_REAL, np.bool_)):
        raise TypeError(f"background={shown(background)} must be a real number")
    value, limit = _as_value(background or 0, dtype), _check_tolerance(tolerance, dtype)
    return value, limit, _links(dtype, value, limit)


def _links(dtype: np.dtype[Any], value: NDArray[Any] | None, limit: float) -> Links:
    value_type = f"{'f' if dtype.kind == 'f' else 'u'}{dtype.itemsize}"
    return values_within(value_type, None if value is None else value.tobytes(), limit, dtype)


def _check_tolerance(tolerance: float, dtype: np.dtype[Any]) -> float:
    """Return the tolerance as a number of Python; for an integer dtype, its whole part."""
    if isinstance(tolerance, bool) or not isinstance(tolerance, _REAL):
        raise TypeError(f"tolerance={shown(tolerance)} must be a real number, 0 or more")
    if not tolerance >= 0:
        raise ValueError(f"tolerance={shown(tolerance)} must be 0 or more")
    if tolerance == 0:
        return 0
    if dtype.kind == "b":
        raise ValueError(
            f"tolerance={shown(tolerance)} is for numbers, but label_image is of dtype bool, whose "
            "values are equal or not; leave it out"
        )
    if dtype.kind != "f" and tolerance != math.inf:
        return int(tolerance)
    try:
        return float(tolerance)
    except OverflowError:  # an int beyond every float; infinities are still farther away
        return sys.float_info.max


def _as_value(number: float, dtype: np.dtype[Any]) -> NDArray[Any] | None:
    """Return `number` as an array of the dtype, shape (), or None if no value equals it."""
    if isinstance(number, np.generic):
        number = number.item()  # Python's numbers compare exactly
    if dtype.kind == "f":
        try:
            with np.errstate(over="ignore"):
                value = np.asarray(number).astype(dtype.newbyteorder("="))
        except OverflowError:  # an int beyond every float
            return None
        return None if np.isinf(value) and abs(number) != np.inf else value
    if number != number or abs(number) == np.inf or number != int(number):
        return None
    low, high = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    if not low <= number <= high:
        return None
    return np.asarray(int(number)).astype(dtype.newbyteorder("="))


def _where_equal(image: NDArray[Any], value: NDArray[Any]) -> Any:
    """Return a bool array: which elements equal the background, where NaN stands for all NaNs."""
    return np.isnan(image) if np.isnan(value) else image == value


def _numbered(image: NDArray[Any], value: NDArray[Any] | None) -> Values:
    """Replace each value by a number, int64; return these, and the background's number."""
    numbers = np.unique(image, return_inverse=True, equal_nan=False)[1] + 1
    numbers = numbers.reshape(image.shape)
    if value is None:
        return numbers, None
    numbers[_where_equal(image, value)] = 0
    return numbers, np.zeros((), numbers.dtype)


def _rounded(image: NDArray[Any], value: NDArray[Any] | None) -> Values:
    """Return the array as float64, and the background as float64, shape ()."""
    with np.errstate(over="ignore"):
        values = converted(image, np.dtype(np.float64))
    if value is None:
        return values, None
    # A value that is not the background may be rounded to the background's number.
    values, spare = _with_spare_value(values)
    values[_where_equal(image, value)] = spare
    return values, spare


def _with_spare_value(image: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return a copy of an array, perhaps of a wider dtype, and a value that it does not hold."""
    kind, itemsize = image.dtype.kind, image.dtype.itemsize
    if itemsize < 8:
        wide = np.dtype(np.uint8 if kind == "b" else f"{kind}{2 * itemsize}")
        spare = np.nextafter(wide.type(1), wide.type(2)) if kind == "f" else np.iinfo(wide).max
        return converted(image, wide), np.asarray(spare, wide)
    present = np.unique(image)
    candidates = np.arange(len(present) + 1).astype(image.dtype.newbyteorder("="))
    return image.copy(order="K"), np.setdiff1d(candidates, present)[:1].reshape(())


def lattice_of(bonds: Any, batch_axes: int, given: object = None) -> tuple[tuple[int, ...], int]:
    """Return the shape of a lattice of bonds, and its number of batch axes."""
    wanted = "of bool, with a plane for each axis of the lattice, or of uint8, with a bit for each"
    check_kind(bonds, "bu", given, "bonds", wanted)
    if bonds.dtype.itemsize > 1:
        raise TypeError(f"bonds is of dtype {bonds.dtype}; it must be {wanted}")
    planes = bonds.dtype == bool
    if planes and len(bonds.shape) < 2:
        raise ValueError(
            f"bonds has shape {bonds.shape}; bonds of bool must have the shape (ndim, *shape), for "
            "one axis (1, length)"
        )
    shape = bonds.shape[1:] if planes else bonds.shape
    batch = as_batch_axes(batch_axes, len(shape), "the lattice of bonds", scalars=False)
    ndim = len(shape) - batch
    if planes and bonds.shape[0] != ndim:
        raise ValueError(
            f"bonds has shape {bonds.shape} with {bonds.shape[0]} planes, but a lattice of shape "
            f"{shape[batch:]} has {ndim} axes; bonds of bool must have the shape "
            "(ndim, *batch shape, *shape), and bonds of uint8 hold a bit for each axis"
        )
    if not planes and ndim > BITS:
        raise ValueError(
            f"bonds has {BITS} bits a site, but the lattice has {ndim} axes; use bonds of bool"
        )
    longer = sum(length > 1 for length in shape[batch:])
    if longer > MOST_BOND_AXES:
        raise ValueError(
            f"bonds has shape {bonds.shape}: the lattice has {longer} axes that are longer than 1, "
            f"and may have up to {MOST_BOND_AXES}"
        )
    return shape, batch


def with_even_items(bonds: Any, batch: int) -> Any:
    """Return the bonds, copied unless their items lie at equal distances in memory."""
    ahead = slice(1, 1 + batch) if bonds.dtype == bool else slice(batch)
    even = steps_evenly(bonds.shape[ahead], bonds.strides[ahead])
    return bonds if even else bonds.copy(order="C")


def describe_bonds(bonds: Any, batch_axes: int) -> tuple[Any, Links]:
    """Return the bonds as uint8, shape of the lattice (bool: the first plane), and the rule."""
    if bonds.dtype == bool:
        planes = bonds.view("u1")
        steps = (k * bonds.strides[0] for k in range(len(bonds)))
        return planes[0], Links("bonds", "u1", bonds=tuple((step, 255) for step in steps))
    return bonds, bonds_of_axes(bonds.ndim - batch_axes)
