"""`component_statistics` of labels in chunks: rows of each chunk's components, joined.

Integer sums are added up; second moments are moved to the centroid of the whole (Chan, Golub,
LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances", 1979). Faces
between elements of one component in two chunks are counted by both, and taken off once more here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import as_bool, check_dimensions
from conncomp._arrays import as_cupy, on_gpu
from conncomp.chunked.labelling import side_of, unmasked
from conncomp.chunked.layout import Index
from conncomp.chunked.measures import columns_of, kind_of_chunks, layers_of, refuse
from conncomp.chunked.measures.label_chunks import (
    Integers,
    Labelling,
    Labels,
    Layers,
    Numbered,
    items_along,
    number_chunk,
    preceding,
    rows_of_items,
)
from conncomp.chunked.rows import LARGEST_SUM, RowTable, statistics_of, table_of
from conncomp.components import statistics
from conncomp.components._labels import check_spacing
from conncomp.components.columns.intensities import check_values
from conncomp.components.statistics import ComponentStatistics, Reals


class Wanted(NamedTuple):
    """Whether to measure more of labels than sizes, bounding boxes and centroids."""

    moments: bool
    surfaces: bool


def component_statistics(
    labels: Any, image: Any, *, moments: bool, surfaces: bool, spacing: Any, **options: Any
) -> Any:
    """Measure lazy columns; `properties` and `classes` are for labels in memory, and refused."""
    refuse(properties=options.pop("properties"), classes=options.pop("classes"))
    wanted = Wanted(as_bool("moments", moments), as_bool("surfaces", surfaces))
    kind = kind_of_chunks(labels)
    array = kind.checked(labels)
    values = None if image is None else kind.beside("image", image, array, check_values)
    if not array.size:
        of_none = partial(statistics.component_statistics, surfaces=surfaces, spacing=spacing)
        none = None if values is None else np.zeros(array.shape, values.dtype)
        return kind.of_no_element(of_none, array, none, **options)
    background, batch_axes = options["background"], options["batch_axes"]
    chunks = kind(array, background, batch_axes, "statistics", wanted, spacing, values)
    labelling, layout = chunks.labelling, chunks.layout
    ndim = len(array.shape) - labelling.batch_axes
    check_dimensions(ndim)
    lengths = check_spacing(spacing, ndim)
    layers = layers_of(chunks, layout) if wanted.surfaces else {}

    def rows_of(index: Index, items: Integers) -> Any:
        before = preceding(layout, index, 1) if layers else {}
        start, axes = layout.start(index)[labelling.batch_axes :], tuple(k for (k,) in before)
        chunk = chunks.chunk(index)
        value = None if values is None else chunks.chunk_beside(values, index)
        others = (layers[other] for other in before.values())
        measure = partial(measure_chunk, labelling, wanted, items)
        return chunks.call("measured", index, measure, start, axes, chunk, value, *others)

    made = partial(as_statistics, chunks.batch, lengths)
    one = np.ones((1,) * len(array.shape), np.int64)
    value = None if values is None else one.astype(values.dtype)
    sample = measure_chunk(labelling, wanted, np.zeros(1, np.int64), (0,) * ndim, (), one, value)
    columns = columns_of(chunks, rows_of, joined_rows, made, sample)
    return ComponentStatistics(**columns, spacing=lengths)


def measure_chunk(
    labelling: Labelling,
    wanted: Wanted,
    items: Integers,
    start: Sequence[int],
    axes: Sequence[int],
    labels: Labels,
    image: NDArray[Any] | None = None,
    *preceding: Layers,
) -> RowTable:
    """Measure a row for each component of each item of a chunk, whose first element is at `start`.

    To count faces, `preceding` are the `last_layers` of the chunks before this one along `axes`.
    """
    batch = labelling.batch_axes
    if prod(labels.shape) * max(labels.shape[batch:]) >= LARGEST_SUM:
        raise ValueError(f"chunks of shape {labels.shape} are too large for exact sums")
    numbered = number_chunk(labelling, labels)
    placed = as_cupy(image) if on_gpu(image) else image
    measure = partial(statistics.component_statistics, background=numbered.empty, batch_axes=batch)
    measured = measure(numbered.numbers, placed, moments=wanted.moments, surfaces=wanted.surfaces)
    columns: dict[str, Any] = {name: unmasked(column) for name, column in vars(measured).items()}
    measured = replace(measured, **columns)
    place, ahead = rows_of_items(measured.batch, labels.shape), np.array(start, np.int64)
    known = {"item": items[place], "label": numbered.old[place, measured.labels]}
    table = table_of(measured, ahead, wanted.surfaces, image is not None, **known)
    if wanted.moments:
        table["scatter"] = measured.moments * measured.sizes[:, None, None]
    if wanted.surfaces:
        rows = np.zeros(numbered.old.shape, np.int64)
        rows[place, measured.labels] = np.arange(table.rows)
        for axis, layers in zip(axes, preceding, strict=True):
            shared = _rows_shared(numbered, axis, layers[axis], rows)
            counts = np.bincount(shared, minlength=table.rows)
            table["faces"][:, axis - batch] -= 2 * counts
    if image is not None:
        with np.errstate(invalid="ignore", over="ignore"):  # of infinities and NaN
            products = _moments(numbered, image, batch, measured)
            table |= {"mean": measured.means, "product": products + ahead * measured.means[:, None]}
    return table


def _rows_shared(numbered: Numbered, axis: int, layer: Labels, rows: Integers) -> Integers:
    """Return the row of each face that is shared with the chunk that precedes along an axis."""
    items, first = len(numbered.old), unmasked(side_of(numbered.numbers, axis, False))
    first, layer = first.reshape(items, -1), layer.reshape(items, -1)
    place, at = np.nonzero(first != numbered.empty)
    numbers = first[place, at]
    same = numbered.old[place, numbers] == layer[place, at]
    return np.asarray(rows[place[same], numbers[same]])


def _moments(numbered: Numbered, image: Labels, batch: int, measured: ComponentStatistics) -> Reals:
    """Return means of value times coordinate, for each row and axis of the chunk."""
    products: Reals = measured.means[:, None] * measured.weighted_centroids
    lost = np.isfinite(measured.means) & ~np.isfinite(products).all(axis=1)
    if not lost.any():
        return products
    # Values that add up to 0 have no centroid, but may have one together with other chunks.
    numbers, values = unmasked(numbered.numbers), unmasked(image).astype(np.float64)
    for axis in range(batch, numbers.ndim):
        places = np.arange(numbers.shape[axis]).reshape(-1, *(1,) * (numbers.ndim - axis - 1))
        again = statistics.component_statistics(
            numbers, values * places, moments=False, background=numbered.empty, batch_axes=batch
        )
        products[lost, axis - batch] = again.means[lost]
    return products


def joined_rows(*tables: RowTable) -> RowTable:
    """Return the rows of several tables, one for each component of each item, in this order."""
    return tables[0].followed_by(*tables[1:]).joined_by("item", "label")


def as_statistics(batch: Index, spacing: tuple[float, ...], table: RowTable) -> ComponentStatistics:
    """Return the rows of all chunks as `component_statistics` does, with lengths of spacing."""
    scale, sizes = np.array(spacing), table["size"]
    more = {"labels": table["label"], "batch": items_along(table["item"], batch)}
    if "scatter" in table:
        more["moments"] = table["scatter"] / sizes[:, None, None] * np.outer(scale, scale)
    if "total" in table:
        totals = table["total"]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            means = np.where(np.isfinite(totals), totals / sizes, table["mean"])
            centroids = table["product"] / means[:, None] * scale
        more |= {"means": means, "weighted_centroids": centroids}
    return statistics_of(table, spacing, **more)
