"""Rows of what is measured of one chunk: components, contacts and overlaps; and joined ones.

A chunk is measured alone, in memory, and integer sums are added up; second moments are moved to the
centroid of the whole (Chan, Golub, LeVeque, "Updating formulae and a pairwise algorithm for
computing sample variances", 1979). Faces between elements of one component in two chunks are
counted by both, and taken off once more here.

Neighbours differ by one at most along each axis, so both are in the chunk that has the larger
coordinate along each axis, or in a layer before it. A chunk counts what touches in itself and in
these layers, and takes off, by inclusion and exclusion, what is in the layers alone: each contact
counts once, also over the ends of periodic axes. Overlaps need no neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._arrays import as_cupy, on_gpu
from conncomp.chunked.labelling import side_of, unmasked
from conncomp.chunked.layout import Index, Layout
from conncomp.chunked.rows import LARGEST_SUM, RowTable, statistics_of, table_of
from conncomp.components._labels import check_items, library_at
from conncomp.components.matching import match_labels
from conncomp.components.renumbering import relabel_consecutive
from conncomp.components.sizes import component_sizes
from conncomp.components.statistics import ComponentStatistics, component_statistics
from conncomp.components.touching import Contacts, contact_steps, count_contacts
from conncomp.kernels.neighbourhood import Neighbourhood

Integers = NDArray[np.int64]
Layers = dict[int, NDArray[Any]]
INT64_MAX = int(np.iinfo(np.int64).max)


class Labelling(NamedTuple):
    """What labels of an array in chunks mean: the label that is no component, if there is one."""

    background: int | None
    batch_axes: int

    @property
    def empty(self) -> int:
        """What stands for no component: the background, or -1 if there is none."""
        return -1 if self.background is None else self.background


class Wanted(NamedTuple):
    """What is measured beside sizes, bounding boxes and centroids."""

    moments: bool
    surfaces: bool
    image: bool


class Numbered(NamedTuple):
    """Labels of a chunk, renumbered within each item."""

    numbers: Any  # where the labels lie
    old: NDArray[np.int64]  # the label of each number, a row for each item
    empty: int  # what stands for no component among numbers


def number_chunk(labelling: Labelling, labels: Any, name: str = "labels") -> Numbered:
    """Renumber the labels of a chunk; raise ValueError if one is negative or not of int64."""
    background, batch = labelling.background, labelling.batch_axes
    given = as_cupy(labels) if on_gpu(labels) else labels
    known: dict[str, Any] = {"background": background, "batch_axes": batch}
    numbers, old = relabel_consecutive(given, return_labels=True, **known)
    old = unmasked(old).reshape(prod(labels.shape[:batch]), -1)
    if old.size and old.min() < 0:
        raise ValueError(f"{name} holds {old.min()}; labels are not negative")
    check_fits(old, name)
    return Numbered(numbers, old.astype(np.int64), labelling.empty)


def measure_chunk(
    labelling: Labelling,
    wanted: Wanted,
    items: NDArray[np.int64],
    start: Sequence[int],
    axes: Sequence[int],
    labels: Any,
    image: Any = None,
    *preceding: Layers,
) -> RowTable:
    """Measure a row for each component of each item of a chunk, whose first element is at `start`.

    To count faces, `preceding` are the `last_layers` of the chunks before this one along `axes`.
    """
    batch = labelling.batch_axes
    if prod(labels.shape) * max(labels.shape[batch:]) >= LARGEST_SUM:
        raise ValueError(f"chunks of shape {labels.shape} are too large for exact sums")
    numbered = number_chunk(labelling, labels)
    asked: dict[str, Any] = {"moments": wanted.moments, "surfaces": wanted.surfaces}
    asked |= {"background": numbered.empty, "batch_axes": batch}
    placed = as_cupy(image) if on_gpu(image) else image
    measured = component_statistics(numbered.numbers, placed, **asked)
    held = SimpleNamespace(**{name: unmasked(column) for name, column in vars(measured).items()})
    place, ahead = _places(held.batch, labels.shape), np.array(start, np.int64)
    known = {"item": items[place], "label": numbered.old[place, held.labels]}
    table = table_of(held, ahead, wanted.surfaces, image is not None, **known)
    if wanted.moments:
        table["scatter"] = held.moments * held.sizes[:, None, None]
    if wanted.surfaces:
        rows = np.zeros(numbered.old.shape, np.int64)
        rows[place, held.labels] = np.arange(table.rows)
        for axis, layers in zip(axes, preceding, strict=True):
            first = side_of(numbered.numbers, axis, False)
            shared = _shared(first, layers[axis], numbered, rows, table.rows)
            table["faces"][:, axis - batch] -= 2 * shared
    if image is not None:
        with np.errstate(invalid="ignore", over="ignore"):  # of infinities and NaN
            products = _products(numbered, image, batch, held)
            table |= {"mean": held.means, "product": products + ahead * held.means[:, None]}
    return table


def _places(batch: Integers, shape: Sequence[int]) -> Integers:
    """Return the place among the items of a chunk of what is at these indices along batch axes."""
    place = np.zeros(len(batch), np.int64)
    for k, length in zip(batch.T, shape, strict=False):
        place = place * length + k
    return place


def joined_rows(*tables: RowTable) -> RowTable:
    """Return the rows of several tables, one for each component of each item, in this order."""
    return tables[0].followed_by(*tables[1:]).joined_by("item", "label")


def as_statistics(
    wanted: Wanted, batch: tuple[int, ...], spacing: tuple[float, ...], table: RowTable
) -> ComponentStatistics:
    """Return the rows of all chunks as `component_statistics` does, with lengths of spacing."""
    scale, sizes = np.array(spacing), table["size"]
    more = {"labels": table["label"], "batch": items_along(table["item"], batch)}
    if wanted.moments:
        more["moments"] = table["scatter"] / sizes[:, None, None] * np.outer(scale, scale)
    if wanted.image:
        totals = table["total"]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            means = np.where(np.isfinite(totals), totals / sizes, table["mean"])
            centroids = table["product"] / means[:, None] * scale
        more |= {"means": means, "weighted_centroids": centroids}
    return statistics_of(table, spacing, **more)


def items_along(items: NDArray[np.int64], batch: tuple[int, ...]) -> NDArray[np.int64]:
    """Return the numbers of items as indices along the batch axes."""
    if not batch:
        return np.empty((len(items), 0), np.int64)
    return np.stack(np.unravel_index(items, batch), axis=-1).astype(np.int64)


def _shared(first: Any, layer: Any, numbered: Numbered, rows: Integers, count: int) -> Integers:
    """Return how many faces each row has in common with the chunk that precedes along an axis."""
    items = len(numbered.old)
    first, layer = unmasked(first).reshape(items, -1), layer.reshape(items, -1)
    place, at = np.nonzero(first != numbered.empty)
    numbers = first[place, at]
    same = numbered.old[place, numbers] == layer[place, at]
    return np.bincount(rows[place[same], numbers[same]], minlength=count)


def _products(numbered: Numbered, image: Any, batch: int, held: Any) -> NDArray[np.float64]:
    """Return means of value times coordinate, for each row and axis of the chunk."""
    products: NDArray[np.float64] = held.means[:, None] * held.weighted_centroids
    lost = np.isfinite(held.means) & ~np.isfinite(products).all(axis=1)
    if not lost.any():
        return products
    # Values that add up to 0 have no centroid, but may have one together with other chunks.
    numbers, values = unmasked(numbered.numbers), unmasked(image).astype(np.float64)
    known: dict[str, Any] = {"background": numbered.empty, "batch_axes": batch, "moments": False}
    for axis in range(batch, numbers.ndim):
        places = np.arange(numbers.shape[axis]).reshape(-1, *(1,) * (numbers.ndim - axis - 1))
        again = component_statistics(numbers, values * places, **known)
        products[lost, axis - batch] = again.means[lost]
    return products


def last_layers(axes: Sequence[int], empty: int, labels: Any) -> Layers:
    """Return the last layer of a chunk along each of some axes, without the axis."""
    whole = without_mask(empty, labels)
    # Copies, as a view would keep the whole chunk in memory.
    return {axis: np.array(unmasked(side_of(whole, axis, True))) for axis in axes}


def without_mask(empty: int, labels: Any) -> Any:
    """Return labels as an array of NumPy or CuPy, with a value for masked elements."""
    if on_gpu(labels):
        return as_cupy(labels)
    if not isinstance(labels, np.ma.MaskedArray):
        return labels
    check_fits(labels.compressed())
    filled: Any = labels.astype(np.int64)
    return filled.filled(empty)


def check_fits(labels: NDArray[Any], name: str = "labels") -> None:
    """Raise ValueError if one of some labels is too large for int64, which those of rows are."""
    if labels.dtype.kind == "u" and labels.size and labels.max() > INT64_MAX:
        raise ValueError(
            f"{name} holds {labels.max()}, too large for int64; renumber it first, with "
            f"conncomp.relabel_consecutive({name})"
        )


def preceding(layout: Layout, index: Index, most: int) -> dict[Index, Index]:
    """Return the chunks that precede one along up to `most` axes at once, by these axes."""
    all_moves = product((0, -1), repeat=len(layout.crossed))
    moves = tuple(each for each in all_moves if 0 < -sum(each) <= most)
    return {
        tuple(axis for axis, move in zip(layout.crossed, each, strict=True) if move): other
        for each, other in layout.neighbours(index, moves)
    }


def with_layers(empty: int, labels: Any, parts: dict[Index, Layers]) -> Any:
    """Return a chunk behind one layer of each chunk that precedes along axes; masked is `empty`."""
    whole = without_mask(empty, labels)
    if not parts:
        return whole
    more = {axes[0] for axes in parts if len(axes) == 1}
    begins = tuple(int(axis in more) for axis in range(whole.ndim))
    shape = tuple(map(sum, zip(begins, whole.shape, strict=True)))
    extended = library_at(whole).empty(shape, whole.dtype)
    extended[tuple(slice(begin, None) for begin in begins)] = whole
    for axes, layers in parts.items():
        place = tuple(0 if k in axes else slice(begin, None) for k, begin in enumerate(begins))
        others = (k for k in range(whole.ndim) if k != axes[0])
        inside = tuple(-1 if k in axes else slice(None) for k in others)
        extended[place] = library_at(whole).asarray(layers[axes[0]][inside])
    return extended


def touch_chunk(
    labelling: Labelling,
    neighbourhood: Neighbourhood,
    items: NDArray[np.int64],
    ways: Sequence[Index],
    labels: Any,
    *layers: Layers,
) -> RowTable:
    """Count contacts, and faces across each axis, whose larger coordinates lie in a chunk.

    A pair of labels in an item has a row. Axes of one chunk may be periodic; `layers` are the
    `last_layers` of the chunks that precede along axes, the `ways`.
    """
    batch, empty = labelling.batch_axes, labelling.empty
    if labelling.background is None and labels.min() < 0:
        raise ValueError(f"labels holds {labels.min()}; labels are not negative")
    whole = with_layers(empty, labels, dict(zip(ways, layers, strict=True)))
    numbered = number_chunk(labelling._replace(background=empty), whole)
    more = [axes[0] for axes in ways if len(axes) == 1]
    tables = []
    for taken in product((False, True), repeat=len(more)):
        of_layers = {axis for axis, is_taken in zip(more, taken, strict=True) if is_taken}
        places = tuple(slice(1 if k in of_layers else None) for k in range(whole.ndim))
        table = _count(numbered.numbers[places], numbered.empty, neighbourhood, batch)
        sign = -1 if len(of_layers) % 2 else 1
        table |= {name: sign * table[name] for name in ("contacts", "faces")}
        table |= {name: numbered.old[table["item"], table[name]] for name in ("label", "other")}
        table["item"] = items[table["item"]]
        tables.append(table)
    table = joined_contacts(*tables)
    return table.take(table["contacts"] > 0)


def joined_contacts(*tables: RowTable) -> RowTable:
    """Return the rows of several tables, one for each pair of each item, in this order."""
    return tables[0].followed_by(*tables[1:]).joined_by("item", "label", "other")


def as_contacts(batch: Index, spacing: tuple[float, ...], table: RowTable) -> Contacts:
    """Return rows as `contacts` does, given the lengths of the batch axes."""
    areas = np.zeros(table.rows)
    for axis in range(len(spacing)):
        areas += table["faces"][:, axis] * prod(spacing[:axis] + spacing[axis + 1 :])
    pairs = np.stack([table["label"], table["other"]], axis=-1)
    return Contacts(pairs, table["contacts"], areas, items_along(table["item"], batch))


def _count(labels: Any, background: int, neighbourhood: Neighbourhood, batch: int) -> RowTable:
    """Count the contacts in a part of a chunk; labels are in the order of what they were."""
    items = check_items(labels, background, batch)
    steps = contact_steps(neighbourhood, items.shape)
    pairs, kinds = count_contacts(*items.numbered, steps)
    pairs, kinds, rows = unmasked(pairs), unmasked(kinds), max(items.rows, 1)
    faces = np.zeros((len(pairs), len(items.shape)), np.int64)
    faces[:, list(steps.axes)] = kinds[:, : len(steps.axes)]
    contacts = kinds @ np.array(steps.times, np.int64)
    item, first, second = pairs[:, 0] // rows, pairs[:, 0] % rows, pairs[:, 1] % rows
    return RowTable(item=item, label=first, other=second, contacts=contacts, faces=faces)


class Overlaps(NamedTuple):
    """What two labellings have in common."""

    pairs: RowTable  # a row for each pair of labels of each item that overlap
    first: RowTable  # a row for each component of a labelling
    second: RowTable


def overlaps_of_chunk(labelling: Labelling, items: Integers, first: Any, second: Any) -> Overlaps:
    """Count what components of two labellings have in common in a chunk."""
    batch = labelling.batch_axes
    here = number_chunk(labelling, first, "labels_a")
    there = number_chunk(labelling, second, "labels_b")
    known: dict[str, Any] = {"background": labelling.empty, "batch_axes": batch}
    matches = match_labels(here.numbers, there.numbers, **known)
    pairs, place = unmasked(matches.pairs), _places(unmasked(matches.batch), first.shape)
    label, other = here.old[place, pairs[:, 0]], there.old[place, pairs[:, 1]]
    table = RowTable(
        item=items[place], label=label, other=other, size=unmasked(matches.intersections)
    )
    return Overlaps(table, *(_sizes(labelling, items, side) for side in (here, there)))


def joined_overlaps(*parts: Overlaps) -> Overlaps:
    """Return the overlaps of several chunks as one, in the order of items and labels."""
    pairs, *sides = zip(*parts, strict=True)
    return Overlaps(joined_contacts(*pairs), *(joined_rows(*side) for side in sides))


def as_columns(batch: tuple[int, ...], overlaps: Overlaps) -> SimpleNamespace:
    """Return the attributes of `Matches`, given the lengths of the batch axes."""
    pairs = overlaps.pairs
    sides = (overlaps.first, pairs["label"]), (overlaps.second, pairs["other"])
    sizes = [side["size"][_rows_of(side, pairs["item"], labels)] for side, labels in sides]
    unions = sizes[0] + sizes[1] - pairs["size"]
    return SimpleNamespace(
        pairs=np.stack([pairs["label"], pairs["other"]], axis=1),
        intersections=pairs["size"],
        unions=unions,
        ious=pairs["size"] / unions,
        batch=items_along(pairs["item"], batch),
        first=np.int64(overlaps.first.rows),
        second=np.int64(overlaps.second.rows),
    )


def _sizes(labelling: Labelling, items: Integers, side: Numbered) -> RowTable:
    known: dict[str, Any] = {"background": labelling.empty, "batch_axes": labelling.batch_axes}
    sizes = unmasked(component_sizes(side.numbers, **known)).reshape(len(items), -1)
    place, number = np.nonzero(sizes)
    return RowTable(item=items[place], label=side.old[place, number], size=sizes[place, number])


def _rows_of(table: RowTable, items: Integers, labels: Integers) -> Integers:
    """Return the rows of some labels of items in the table, which is in their order."""
    pairs = zip((table["item"], table["label"]), (items, labels), strict=True)
    order = np.lexsort([np.concatenate(pair) for pair in pairs][::-1])
    of_known = order < table.rows
    rows = np.empty(len(items), np.int64)
    # A label that is wanted comes after the one that is known, as the sort is stable.
    rows[order[~of_known] - table.rows] = (np.cumsum(of_known) - 1)[~of_known]
    return rows
