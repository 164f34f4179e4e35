"""Targets for the functions that take labels."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
from scipy import ndimage

import conncomp

from ..contacts_reference import contacts_by_loops
from ..reference import label_by_flood_fill
from . import draws
from .label_tools_reference import (
    by_size,
    close_labels,
    components_of,
    exact_moments,
    faces,
    filled,
    items_of,
    places,
    renamed,
    rows_of,
    spans,
    without_mask,
)
from .target import assert_refused, assert_same


def tables(choices):
    """Compare sizes, members, histograms and spans, which are tables by label."""
    given, background, axes = draws.labels(choices)
    options = draws.options_of(choices, given, background, axes)
    batch, rows = given.shape[:axes], rows_of(given)
    sizes = np.zeros((*batch, rows), np.int64)
    spanned = np.zeros((*batch, rows, given.ndim - axes), bool)
    histograms = {index: Counter() for index in items_of(given, axes)}
    indptr, indices = conncomp.component_members(given, **options)
    assert indptr.shape == (*batch, rows + 1)
    listed = 0
    for index in items_of(given, axes):
        found = places(given[index], background)
        for label, at in found.items():
            sizes[(*index, label)] = len(at)
            histograms[index][len(at)] += 1
            begin, end = indptr[index][label : label + 2]
            np.testing.assert_array_equal(indices[begin:end], at)
            listed += len(at)
        for label, along in spans(given[index], background).items():
            spanned[(*index, label)] = along
    np.testing.assert_array_equal(np.diff(indptr, axis=-1), sizes)
    assert len(indices) == listed
    np.testing.assert_array_equal(conncomp.component_sizes(given, **options), sizes, strict=True)
    np.testing.assert_array_equal(conncomp.component_spans(given, **options), spanned, strict=True)
    occurring = sorted(set().union(*histograms.values()))
    counts = [[histograms[index][size] for size in occurring] for index in histograms]
    counts = np.reshape(np.array(counts, np.int64), (*batch, len(occurring)))
    assert_same(conncomp.size_histogram(given, **options), (occurring, counts))


def selection(choices):
    """Compare labels of which some are kept, or that are renumbered."""
    given, background, axes = draws.labels(choices)
    options = draws.options_of(choices, given, background, axes)
    first = int(background == 0)

    def check(labels, names):
        assert labels.dtype in (np.int32, np.int64)
        np.testing.assert_array_equal(labels, renamed(given, background, axes, names))

    k = choices.below(5)
    kept = conncomp.largest_components(given, k, **options)
    check(kept, lambda found: {label: label for label in by_size(found)[:k]})
    ordered = conncomp.sort_by_size(given, **options)
    check(ordered, lambda found: {label: i for i, label in enumerate(by_size(found), first)})
    low, high = choices.pick([None, 0, 1, 2, 10, 2**70]), choices.pick([None, 0, 1, 3, -1, 2**70])
    sizes = {"min_size": low, "max_size": high, "invert": choices.flag()}
    if low is None and high is None:
        assert_refused(ValueError, conncomp.remove_small_components, given, **sizes, **options)
        return
    check(
        conncomp.remove_small_components(given, **sizes, **options),
        lambda found: {label: label for label, at in found.items() if _stays(len(at), **sizes)},
    )
    _check_parts_of_masks(choices, given, axes, sizes, k)


def _stays(size, min_size, max_size, invert):
    fits = size >= (min_size or 0) and size <= (math.inf if max_size is None else max_size)
    return fits != invert


def _check_parts_of_masks(choices, given, axes, sizes, k):
    """Compare components chosen from a mask, which are found first: by size, and the largest."""
    mask = np.ma.array(np.ma.getdata(given) > 1, mask=np.ma.getmask(given))
    given = mask if np.ma.isMaskedArray(given) else np.ma.getdata(mask)
    connectivity = choices.pick([None, *range(1, mask.ndim - axes + 1)])
    kept = conncomp.remove_small_components(
        given, connectivity=connectivity, batch_axes=axes, **sizes
    )
    largest = conncomp.largest_components(given, k, connectivity=connectivity, batch_axes=axes)
    assert kept.dtype == largest.dtype == bool
    roots = label_by_flood_fill(mask, connectivity=connectivity, batch_axes=axes)
    stay = renamed(
        roots,
        -1,
        axes,
        lambda found: {root: 1 for root, at in found.items() if _stays(len(at), **sizes)},
    )
    np.testing.assert_array_equal(kept, stay == 1)
    first = renamed(roots, -1, axes, lambda found: dict.fromkeys(by_size(found)[:k], 1))
    np.testing.assert_array_equal(largest, first == 1)


def relabelling(choices):
    """Compare consecutive numbers, of labels that may be of any size and negative."""
    given, background, axes = draws.labels(choices)
    if choices.flag():
        limits = np.iinfo(given.dtype)
        native = given.dtype.newbyteorder("=")
        some = choices.generator().integers(limits.min, limits.max, 5, native, endpoint=True)
        which = np.ma.getdata(given) % 7
        values = np.where(which < 5, some[which % 5], 0).astype(given.dtype)
        values = draws.laid_out(choices, values)
        given = np.ma.array(values, mask=given.mask) if np.ma.isMaskedArray(given) else values
    options = draws.options_of(choices, given, background, axes)
    first = int(background == 0)

    def names(found):
        return {label: number for number, label in enumerate(sorted(found), first)}

    numbers = conncomp.relabel_consecutive(given, **options)
    expected = renamed(given, background, axes, names)
    np.testing.assert_array_equal(numbers, expected)
    again, old = conncomp.relabel_consecutive(given, return_labels=True, **options)
    np.testing.assert_array_equal(again, expected)
    assert old.dtype == given.dtype
    table = np.zeros((*given.shape[:axes], max(1 + expected.max(initial=-1), first)), given.dtype)
    for index in items_of(given, axes):
        for label, number in names(places(given[index], background)).items():
            table[(*index, number)] = label
    np.testing.assert_array_equal(old, table)


IMAGE_TYPES = ["u1", "f8", "?", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", ">i2", ">f8"]


def statistics(choices):
    """Compare the statistics of components, and the components one by one."""
    given, background, axes = draws.labels(choices, 200)
    options = draws.options_of(choices, given, background, axes)
    ndim = given.ndim - axes
    image = None
    if choices.flag():
        image = _image(choices, given.shape)
    spacing = choices.pick([None, 2.0, [choices.pick([1.0, 0.5, 3.0]) for _ in range(ndim)]])
    moments, surfaces = choices.flag(), choices.flag()
    found = conncomp.component_statistics(
        given, image, moments=moments, surfaces=surfaces, spacing=spacing, **options
    )
    lengths = np.broadcast_to(1.0 if spacing is None else spacing, ndim)
    walked = list(conncomp.iterate_components(given, **options))
    expected = list(components_of(given, axes, background))
    for row, (index, label, inside) in enumerate(expected):
        points = np.argwhere(inside)
        box = np.stack([points.min(0), points.max(0) + 1], axis=1)
        assert_same(
            (found.labels[row], found.sizes[row], found.bounding_boxes[row], found.batch[row]),
            (label, len(points), box, index),
        )
        slices = tuple(slice(a, b) for a, b in box.tolist())
        assert found.slices(row) == slices
        means, covariances = exact_moments(points)
        _assert_near(found.centroids[row], np.array(means, float) * lengths)
        _assert_near(found.volumes[row], len(points) * math.prod(lengths))
        if moments:
            scale = np.outer(lengths, lengths)
            _assert_near(found.moments[row], np.array(covariances, float) * scale)
        if surfaces:
            counted = faces(given[index], inside)
            np.testing.assert_array_equal(found.faces[row], counted)
            areas = [n * math.prod(np.delete(lengths, k)) for k, n in enumerate(counted)]
            _assert_near(found.surface_areas[row], sum(areas))
        if image is not None:
            _check_intensities(found, row, points, image[index][inside], lengths)
        _check_component(walked[row], index, label, inside[slices], slices, image)
    count = len(expected)
    assert len(found.labels) == len(walked) == count
    assert len(found.moments) == (count if moments else 0)
    assert len(found.faces) == (count if surfaces else 0)
    assert len(found.sums) == (0 if image is None else count)
    if moments:
        _check_principal_axes(found)
    table = found.columns()
    assert all(len(column) == count for column in table.values())
    assert_same((table["label"], table["num_pixels"]), (found.labels, found.sizes))


def _image(choices, shape):
    """Return values to measure: of any type, with sums that fit, not all finite now and then."""
    dtype, rng = np.dtype(choices.pick(IMAGE_TYPES)), choices.generator()
    if dtype.kind == "f":
        values = rng.standard_normal(shape) * choices.pick([1, 100, 1e-3])
        if choices.below(4) == 1:
            values[rng.random(shape) < 0.05] = choices.pick([np.nan, np.inf, -np.inf])
        return draws.laid_out(choices, values.astype(dtype))
    limits = np.array([0, 1]) if dtype.kind == "b" else np.iinfo(dtype)
    low, high = (0, 1) if dtype.kind == "b" else (limits.min, limits.max)
    if dtype.itemsize == 8:
        low, high = low >> 13, high >> 13
    values = rng.integers(low, high, shape, np.int64 if low < 0 else np.uint64, endpoint=True)
    return draws.laid_out(choices, values.astype(dtype))


def _check_intensities(found, row, points, values, lengths):
    """Compare what was measured of the values of an image in a component."""
    sums, means = found.sums[row], found.means[row]
    if not np.isfinite(values).all():
        total = values.astype(float).sum()
        np.testing.assert_array_equal((sums, means), (total, total))
        np.testing.assert_array_equal(found.minima[row], values.min())
        np.testing.assert_array_equal(found.maxima[row], values.max())
        return
    exact = [Fraction(value) for value in values.tolist()]
    total, largest = sum(exact), max(map(abs, exact))
    assert_same((found.minima[row], found.maxima[row]), (values.min(), values.max()))
    if values.dtype.kind == "f":
        assert abs(Fraction(float(sums)) - total) <= abs(total) / 2**50 + largest / 2**40
    else:
        assert int(sums) == total
    slack = largest / 2**40
    assert abs(Fraction(float(means)) - total / len(exact)) <= abs(total) / 2**50 + slack
    if abs(total) * 2**20 > largest:  # else digits cancel
        weighted = [
            float(sum(x * value for x, value in zip(column, exact, strict=True)) / total) * length
            for column, length in zip(points.T.tolist(), lengths, strict=True)
        ]
        np.testing.assert_allclose(found.weighted_centroids[row], weighted, rtol=1e-6, atol=1e-6)


def _check_component(component, index, label, inside, slices, image):
    assert (component.batch, component.label, component.slices) == (index, label, slices)
    assert component.size == inside.sum()
    np.testing.assert_array_equal(component.mask, inside)
    if image is not None:
        expected = np.where(inside, image[index][slices], np.zeros((), image.dtype))
        np.testing.assert_array_equal(component.crop(image), expected)


def _check_principal_axes(found):
    """Lengths descend and are those of the moments; directions are orthonormal, and diagonalise."""
    lengths, directions = found.principal_axes()
    ndim = lengths.shape[1]
    for row, moments in enumerate(found.moments):
        variances = lengths[row] ** 2 / (4 * (ndim + 2))
        turned = directions[row] @ moments @ directions[row].T
        scale = max(1.0, np.abs(moments).max())
        np.testing.assert_allclose(turned, np.diag(variances), atol=1e-9 * scale)
        np.testing.assert_allclose(directions[row] @ directions[row].T, np.eye(ndim), atol=1e-9)
        assert (np.diff(lengths[row]) <= 1e-9 * scale).all()


def _assert_near(value, expected):
    np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-9)


def contacts(choices):
    """Compare who touches whom, as tables and as a graph."""
    given, background, axes = draws.labels(choices, 150)
    options = draws.options_of(choices, given, background, axes)
    ndim = given.ndim - axes
    neighbours = {
        "connectivity": choices.pick([None, *range(1, ndim + 1)]),
        "periodic": draws.periodic(choices, ndim),
    }
    spacing = choices.pick([None, 2.0, [choices.pick([1.0, 0.5, 3.0]) for _ in range(ndim)]])
    lengths = np.broadcast_to(1.0 if spacing is None else spacing, ndim)
    face = [math.prod(np.delete(lengths, axis)) for axis in range(ndim)]
    outside = -1 if background is None else background
    plain = without_mask(given, outside)
    rows = []
    for index in items_of(given, axes):
        counted = contacts_by_loops(plain[index], outside, **neighbours)
        rows += [
            (pair, count, float(np.dot(of_axes, face)), index)
            for pair, (count, *of_axes) in sorted(counted.items())
        ]
    touching = conncomp.contacts(given, spacing=spacing, **neighbours, **options)
    pairs = np.array([pair for pair, *_ in rows], np.int64).reshape(-1, 2)
    batch = np.array([index for *_, index in rows], np.int64).reshape(len(rows), axes)
    counts = [count for _, count, _, _ in rows]
    assert_same((touching.pairs, touching.counts, touching.batch), (pairs, counts, batch))
    _assert_near(touching.areas, [area for _, _, area, _ in rows])
    graph = conncomp.region_adjacency(given, **neighbours, **options)
    vertices = rows_of(given)
    number = {index: vertices * k for k, index in enumerate(items_of(given, axes))}
    assert graph.num_vertices == vertices * len(number)
    pairs += np.array([number[index] for *_, index in rows], np.int64).reshape(-1, 1)
    assert_same(graph.arrays[:2], np.concatenate([pairs, pairs[:, ::-1]]).T)


def match(choices):
    """Overlaps of two labellings are those that loops over elements count."""
    given, background, axes = draws.labels(choices, 300)
    options = draws.options_of(choices, given, background, axes)
    other = choices.generator().integers(0, choices.pick([1, 2, 5, 40]), given.shape)
    swapped = choices.flag()
    found = conncomp.match_labels(*((other, given) if swapped else (given, other)), **options)
    plain, expected, components = without_mask(given, background), [], np.zeros(2, int)
    for index in items_of(given, axes):
        sides = [places(labels[index], background) for labels in (plain, other)]
        components += [len(side) for side in sides]
        for a, b in ((a, b) for a in sides[0] for b in sides[1]):
            both = len({*sides[0][a]} & {*sides[1][b]})
            pair = (b, a) if swapped else (a, b)
            if both:
                either = len({*sides[0][a]} | {*sides[1][b]})
                expected.append((index, pair, both, either))
    expected.sort()
    rows = len(expected)
    assert_same(
        (found.pairs, found.intersections, found.unions, found.batch),
        (
            np.array([pair for _, pair, *_ in expected], np.int64).reshape(rows, 2),
            [both for *_, both, _ in expected],
            [either for *_, either in expected],
            np.array([index for index, *_ in expected], np.int64).reshape(rows, axes),
        ),
    )
    assert found.components == tuple(components[::-1] if swapped else components)


def holes(choices):
    given, background, axes = draws.labels(choices, 400)
    ndim = given.ndim - axes
    connectivity = choices.pick([None, *range(1, ndim + 1)])
    max_size = choices.pick([None, 0, 1, 2, 2**70])
    parts = {"connectivity": connectivity, "max_size": max_size}
    result = conncomp.fill_holes(
        given, **parts, **draws.options_of(choices, given, background, axes)
    )
    expected = np.zeros(given.shape, np.int64)
    for index in items_of(given, axes):
        expected[index] = filled(given[index], background, **parts)
    np.testing.assert_array_equal(result, expected)
    mask = np.ma.getdata(given) > 0
    result = conncomp.fill_holes(mask, **parts, batch_axes=axes)
    assert result.dtype == bool
    for index in items_of(given, axes):
        expected = filled(mask[index].astype(int), 0, **parts)
        np.testing.assert_array_equal(result[index], expected)
        if max_size is None:
            reach = ndim if (connectivity or ndim) == 1 else 1
            within = ndimage.generate_binary_structure(ndim, reach)
            expected = ndimage.binary_fill_holes(mask[index], within)
            np.testing.assert_array_equal(result[index], expected)


def colours(choices):
    """Components that are close have different colours; over an image they are mixed with it."""
    given, background, axes = draws.labels(choices, 100, 3)
    options = draws.options_of(choices, given, background, axes)
    picture = conncomp.colour_components(given, **options)
    assert (picture.dtype, picture.shape) == (np.uint8, (*given.shape, 3))
    outside = -1 if background is None else background
    plain = without_mask(given, outside)
    np.testing.assert_array_equal(picture.any(axis=-1), plain != outside)
    for index in items_of(given, axes):
        found = places(given[index], background)
        flat = picture[index].reshape(-1, 3)
        colour = {label: tuple(flat[at[0]].tolist()) for label, at in found.items()}
        for label, at in found.items():
            assert (flat[at] == colour[label]).all()
        for one, other in close_labels(plain[index]):
            assert outside in (one, other) or colour[one] != colour[other]
    _check_mixture(choices, plain, outside, axes, picture, options, given)


def _check_mixture(choices, plain, outside, axes, picture, options, given):
    """Compare a picture over an image with the mixture of the plain picture and the image."""
    rng = choices.generator()
    in_colour = choices.flag()
    image = rng.integers(0, 256, (*plain.shape, 3) if in_colour else plain.shape).astype("u1")
    alpha, outlined = choices.pick([None, 0, 1, 0.5]), choices.flag()
    painted = conncomp.colour_components(
        given, image, alpha=alpha, boundaries=outlined, value_range=(0, 255), **options
    )
    shades = image if in_colour else image[..., None]
    share = np.where(plain != outside, 0.4 if alpha is None else alpha, 0.0)
    if outlined:
        for axis in range(axes, plain.ndim):
            differ = np.diff(plain, axis=axis) != 0
            ends = [(0, 0)] * plain.ndim
            for side in ((0, 1), (1, 0)):
                ends[axis] = side
                share[np.pad(differ, ends) & (plain != outside)] = 1.0
    mixed = share[..., None] * picture + (1 - share[..., None]) * shades
    assert (np.abs(painted - mixed) <= 1).all()  # opacity is rounded
