"""Targets for arrays and lattices: labels, windings, percolation."""

from functools import partial

import numpy as np
from scipy import ndimage

import conncomp

from ..reference import (
    are_linked,
    is_background,
    label_by_bonds,
    label_by_flood_fill,
    list_offsets,
    number_items,
    wrapping_axes,
)
from ..winding_search import bond_windings, search
from . import draws
from .target import assert_same


def label(choices):
    image = draws.array(choices)
    batch_axes = choices.below(image.ndim) if choices.flag() else 0
    neighbours = _neighbours(choices, image, image.ndim - batch_axes)
    numbering = choices.pick(["consecutive", "roots"])
    before, numbers = np.ma.getdata(image).tobytes(), []

    def call(**options):
        labels, num = conncomp.label(
            image, return_num=True, batch_axes=batch_axes, numbering=numbering, **neighbours,
            **options,
        )  # fmt: skip
        numbers.append(num)
        return labels

    algorithm = choices.pick(["auto", "runs", "raster-scan", "label-equivalence"])
    roots = label_by_flood_fill(image, batch_axes=batch_axes, **neighbours)
    labels, counts = number_items(roots, batch_axes)
    expected, lowest = (roots, -1) if numbering == "roots" else (labels, 0)
    dtype, has_out = choices.pick(draws.LABEL_TYPES), choices.flag()
    draws.check_labels(partial(call, algorithm=algorithm), expected, dtype, has_out, lowest)
    assert np.ma.getdata(image).tobytes() == before
    for num in numbers:
        np.testing.assert_array_equal(num, counts)
    plain = neighbours["structure"] is None and not batch_axes
    plain &= not np.any(neighbours["periodic"]) and not np.ma.isMaskedArray(image)
    if image.dtype.kind == "b" and not neighbours["background"] and plain and image.size:
        reach = neighbours["connectivity"] or image.ndim
        within = ndimage.generate_binary_structure(image.ndim, reach)
        assert ndimage.label(image, within)[1] == counts


def _neighbours(choices, image, ndim):
    """Return the arguments of `conncomp.label` that say what is connected."""
    structure, tolerance = None, 0
    connectivity = choices.pick([None, *range(1, ndim + 1)])
    if choices.flag():
        connectivity, structure = None, draws.structure(choices, ndim)
    if image.dtype.kind != "b" and choices.flag():
        tolerance = choices.pick([1, 2, 0.5, 127, 255, 2**16, 2**63, 2**64 - 1, np.inf])
    return {
        "background": choices.pick([None, 0, 1, -1, 2.5, np.nan, 10**30]),
        "connectivity": connectivity,
        "structure": structure,
        "tolerance": tolerance,
        "periodic": draws.periodic(choices, ndim),
    }


def label_bonds(choices):
    given, bonds, batch_axes = _bonds(choices, 1000)
    periodic = draws.periodic(choices, len(bonds))
    numbering = choices.pick(["consecutive", "roots"])
    numbers, options = [], {"periodic": periodic, "batch_axes": batch_axes, "numbering": numbering}

    def call(**others):
        labels, num = conncomp.label_bonds(given, return_num=True, **options, **others)
        numbers.append(num)
        return labels

    roots = label_by_bonds(bonds, periodic, batch_axes)
    labels, counts = number_items(roots, batch_axes)
    expected, lowest = (roots, -1) if numbering == "roots" else (labels, 0)
    algorithm = choices.pick(["auto", "runs", "raster-scan", "label-equivalence"])
    dtype, has_out = choices.pick(draws.LABEL_TYPES), choices.flag()
    draws.check_labels(partial(call, algorithm=algorithm), expected, dtype, has_out, lowest)
    for num in numbers:
        np.testing.assert_array_equal(num, counts)


def _bonds(choices, most):
    """Return bonds as they are given, as an array of bool, and how many axes are of a batch."""
    ndim = 1 + choices.below(4)
    lengths = draws.shape(choices, ndim, most)
    batch_axes = choices.below(ndim) if choices.flag() else 0
    axes = ndim - batch_axes
    bonds = choices.generator().random((axes, *lengths)) < choices.pick([0.5, 0.1, 0.4, 0.9])
    given = bonds = draws.laid_out(choices, bonds)
    if choices.flag():
        bits = 1 << np.arange(axes, dtype=np.uint8)
        given = draws.laid_out(choices, np.tensordot(bits, bonds.astype(np.uint8), 1))
        bonds = np.stack([given & bit for bit in bits]) > 0
    return given, bonds, batch_axes


def wrapping(choices):
    if choices.flag():
        _cluster_wrapping(choices)
        return
    ndim = 1 + choices.below(4)
    lengths = draws.shape(choices, ndim, 300 // 3 ** max(ndim - 2, 0))
    batch_axes = choices.below(ndim) if choices.flag() else 0
    values = choices.generator().integers(0, choices.pick([2, 3, 4]), lengths)
    dtype = np.dtype(choices.pick("?iqbBHfd"))
    image = draws.laid_out(choices, draws.any_order(choices, values.astype(dtype)))
    image = draws.masked(choices, image)
    neighbours = _neighbours(choices, image, ndim - batch_axes)
    found = conncomp.component_wrapping(image, batch_axes=batch_axes, **neighbours)
    items = [image[index] for index in np.ndindex(image.shape[:batch_axes])]
    bases = [image_windings(item, **neighbours) for item in items]
    _check_wrapping(found, bases, image.shape[:batch_axes], ndim - batch_axes)
    if not batch_axes:
        _check_percolation(choices, image, neighbours, np.array(bases[0]))


def image_windings(image, background, connectivity, structure, tolerance, periodic):
    """Return a basis of the windings of each component, by a search."""
    hidden, ndim = np.ma.getmaskarray(image), image.ndim
    values = np.asarray(image)
    numbers = dict(zip(np.ndindex(image.shape), values.ravel().tolist(), strict=True))
    return search(
        image.shape,
        list_offsets(ndim, connectivity, structure),
        wrapping_axes(ndim, periodic),
        lambda at: not hidden[at] and not is_background(numbers[at], values.dtype, background),
        lambda at, to, step: are_linked(numbers[at], numbers[to], tolerance),
    )


def _cluster_wrapping(choices):
    given, bonds, batch_axes = _bonds(choices, 300)
    ndim, batch = len(bonds), bonds.shape[1 : 1 + batch_axes]
    periodic = draws.periodic(choices, ndim)
    found = conncomp.cluster_wrapping(given, periodic=periodic, batch_axes=batch_axes)
    items = [bonds[(slice(None), *index)] for index in np.ndindex(batch)]
    _check_wrapping(found, [bond_windings(item, periodic) for item in items], batch, ndim)


def _check_wrapping(found, bases, batch, ndim):
    """Compare a `ComponentWrapping` with the bases of the components of each item."""
    np.testing.assert_array_equal(found.counts, np.reshape(list(map(len, bases)), batch))
    every = np.array([basis for of_item in bases for basis in of_item], np.int64)
    every = every.reshape(-1, ndim, ndim)
    wraps = np.flatnonzero(every.any((1, 2)))
    assert_same(
        (found.axes, found.vectors, found.rank, found.wrapping, found.bases),
        (every.any(1), every, every.any(2).sum(1), wraps, every[wraps]),
    )


def _check_percolation(choices, image, neighbours, bases):
    """Along an axis that closes a component wraps; along an open one it joins both faces."""
    axis = choices.below(image.ndim)
    if wrapping_axes(image.ndim, neighbours["periodic"])[axis]:
        expected = bool(len(bases)) and bool(bases[:, :, axis].any())
    else:
        roots = np.moveaxis(label_by_flood_fill(image, **neighbours), axis, 0)
        ends = [set(roots[side].ravel().tolist()) - {-1} for side in (0, -1)] if len(roots) else []
        expected = bool(ends) and bool(ends[0] & ends[1])
    number = axis - image.ndim if choices.flag() else axis
    assert conncomp.percolates(image, number, **neighbours) is expected
