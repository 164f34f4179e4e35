"""Components of arrays by any link rule, from an explicit list of all linked pairs.

Every item, element and step is visited in plain Python; integers are compared as Python's, which do
not overflow, and floating-point numbers in float64. Roots are flat C-order indices within the item.
"""

from itertools import product

import numpy as np

from reference import components_by_search, is_background, wrapping_axes


def label_by_links(
    image,
    background=0,
    connectivity=None,
    periodic=False,
    structure=None,
    tolerance=0,
    batch_axes=0,
):
    """Return the roots of an array; arguments as those of `conncomp.label`."""
    roots = np.full(image.shape, -1, np.int64)
    ndim = image.ndim - batch_axes
    structure = _structure_of(connectivity, ndim) if structure is None else np.asarray(structure)
    steps = [tuple(at) for at in (np.argwhere(structure) - 1).tolist() if any(at)]
    for item in np.ndindex(image.shape[:batch_axes]):
        values = image[item].ravel().tolist()
        foreground = [not is_background(value, image.dtype, background) for value in values]
        pairs = [
            (i, j)
            for i, j in _pairs(image.shape[batch_axes:], steps, periodic)
            if foreground[i] and foreground[j] and _linked(values[i], values[j], tolerance)
        ]
        of_item = components_by_search(len(values), pairs)
        roots[item] = np.where(foreground, of_item, -1).reshape(image.shape[batch_axes:])
    return roots


def label_bonds_by_links(bonds, periodic=False, packed=False, batch_axes=0):
    """Return the roots of lattices of shape (*batch, *item).

    Parameters
    ----------
    bonds : ndarray
        Of bool and shape (axes of an item, *batch, *item): whether a site is joined to the next one
        along each axis. If `packed`, of uint8 and shape (*batch, *item), with a bit for each axis.
    """
    shape = bonds.shape if packed else bonds.shape[1:]
    lattice = shape[batch_axes:]
    roots = np.empty(shape, np.int64)
    units = [tuple(int(k == axis) for k in range(len(lattice))) for axis in range(len(lattice))]
    for item in np.ndindex(shape[:batch_axes]):
        pairs = []
        for axis, unit in enumerate(units):
            joined = (bonds[item] >> axis & 1 if packed else bonds[(axis, *item)]).ravel().tolist()
            pairs += [(i, j) for i, j in _pairs(lattice, [unit], periodic) if joined[i]]
        roots[item] = components_by_search(int(np.prod(lattice)), pairs).reshape(lattice)
    return roots


def _structure_of(connectivity, ndim):
    """Return the structuring element whose steps move along up to `connectivity` axes."""
    moves = [sum(map(abs, step)) for step in product((-1, 0, 1), repeat=ndim)]
    return np.reshape(moves, (3,) * ndim) <= (connectivity or ndim)


def _pairs(shape, steps, periodic):
    """Yield the flat indices of each element and of its neighbour by each step."""
    closed = wrapping_axes(len(shape), periodic)
    strides = [int(np.prod(shape[k + 1 :])) for k in range(len(shape))]
    for i, position in enumerate(np.ndindex(*shape)):
        for step in steps:
            j = 0
            for x, move, length, wraps, stride in zip(
                position, step, shape, closed, strides, strict=True
            ):
                to = x + move
                if wraps:
                    to %= length
                elif not 0 <= to < length:
                    break
                j += to * stride
            else:
                yield i, j


def _linked(a, b, tolerance):
    """Whether two values in the foreground are equal, or differ by `tolerance` at most."""
    if isinstance(a, float):
        a, b = np.float64(a), np.float64(b)
        with np.errstate(invalid="ignore", over="ignore"):
            return bool(a == b or (tolerance > 0 and np.abs(a - b) <= tolerance))
    return abs(int(a) - int(b)) <= tolerance
