"""Statistics and contacts of labels in chunks, by whatever engine calls."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from conncomp._arguments import as_bool, shown
from conncomp.chunked.layout import Index, Layout
from conncomp.chunked.measures.label_chunks import LabelChunks, check_image, kind_of_chunks
from conncomp.chunked.measures.layers import last_layers, preceding
from conncomp.chunked.measures.measuring import Wanted, as_statistics, joined_rows, measure_chunk
from conncomp.chunked.measures.touching import as_contacts, joined_contacts, touch_chunk
from conncomp.components import statistics, touching
from conncomp.components._labels import Background, check_dimensions, check_spacing
from conncomp.components.statistics import ComponentStatistics
from conncomp.components.touching import Contacts
from conncomp.grid._arguments import check_neighbourhood
from conncomp.kernels.neighbourhood import Neighbourhood


def component_statistics(
    labels: Any,
    image: Any = None,
    *,
    moments: bool = True,
    surfaces: bool = False,
    properties: object = None,
    classes: object = None,
    spacing: float | Sequence[float] | None = None,
    background: Background = "auto",
    batch_axes: int = 0,
) -> ComponentStatistics:
    """Do what `conncomp.component_statistics` does, but for `properties` and `classes`.

    Of Dask arrays how many rows there are is not known at first. Columns are Dask arrays, which
    ``dask.compute`` of the result computes together.
    """
    for name, asked in (("properties", properties), ("classes", classes)):
        if asked is not None:
            raise ValueError(
                f"{name}={shown(asked)} is for labels in memory; leave it out for labels in "
                "chunks, or take them into memory first"
            )
    wanted = Wanted(as_bool("moments", moments), as_bool("surfaces", surfaces), image is not None)
    kind = kind_of_chunks(labels)
    array = kind.checked(labels)
    values = None if image is None else kind.beside("image", image, array, check_image)
    if not array.size:
        known = {"background": background, "batch_axes": batch_axes, "spacing": spacing}
        none = None if values is None else np.zeros(array.shape, values.dtype)
        empty: ComponentStatistics = kind.of_no_element(
            statistics.component_statistics, array, none, surfaces=surfaces, **known
        )
        return empty
    given = kind(labels, background, batch_axes, "statistics", wanted, spacing, values)
    batch = given.labelling.batch_axes
    ndim = len(array.shape) - batch
    check_dimensions(ndim)
    lengths = check_spacing(spacing, ndim)
    layers = _layers(given, given.layout) if wanted.surfaces else {}
    tables = []
    for block in given.blocks():
        measure = partial(measure_chunk, given.labelling, wanted, given.items(block))
        for index in given.chunks(block):
            value = None if values is None else given.chunk_beside(values, index)
            before = preceding(given.layout, index, 1) if layers else {}
            tables.append(
                given.call(
                    "measured",
                    index,
                    measure,
                    given.layout.start(index)[batch:],
                    tuple(axis for (axis,) in before),
                    given.chunk(index),
                    value,
                    *(layers[other] for other in before.values()),
                )
            )
    table = given.merged("rows", (), tables, joined_rows)
    made = partial(as_statistics, wanted, given.batch, lengths, spacing is not None)
    measured_all = given.call("statistics", (), made, table)
    like, missing = _columns_like(wanted, ndim, batch, values)
    fields = given.fields("column", measured_all, like, missing)
    return ComponentStatistics(**fields, spacing=lengths)


def contacts(
    labels: Any,
    *,
    connectivity: float | None = None,
    spacing: float | Sequence[float] | None = None,
    periodic: bool | Sequence[bool] = False,
    background: Background = "auto",
    batch_axes: int = 0,
) -> Contacts:
    """Do what `conncomp.contacts` does; how many rows there are is not known at first.

    Columns are Dask arrays, as of `component_statistics`.
    """
    kind = kind_of_chunks(labels)
    if not kind.checked(labels).size:
        known: dict[str, Any] = {"background": background, "batch_axes": batch_axes}
        known |= {"connectivity": connectivity, "periodic": periodic, "spacing": spacing}
        nothing: Contacts = kind.of_no_element(touching.contacts, labels, **known)
        return nothing
    token = "contacts", connectivity, spacing, periodic
    given = kind(labels, background, batch_axes, *token)
    batch = given.labelling.batch_axes
    shape = given.array.shape[batch:]
    check_dimensions(len(shape))
    item = "an item of labels" if batch else "labels"
    neighbourhood = check_neighbourhood(connectivity, None, periodic, shape, item)
    lengths = check_spacing(spacing, len(shape))
    layout = Layout(given.layout.lengths, (False,) * batch + neighbourhood.periodic, batch)
    closed = tuple(
        is_closed and batch + k not in layout.crossed
        for k, is_closed in enumerate(neighbourhood.periodic)
    )
    within = Neighbourhood(neighbourhood.connectivity, None, closed)
    layers, tables = _layers(given, layout), []
    for block in given.blocks():
        touched = partial(touch_chunk, given.labelling, within, given.items(block))
        for index in given.chunks(block):
            before = preceding(layout, index, len(layout.crossed))
            others = (layers[other] for other in before.values())
            tables.append(
                given.call("touched", index, touched, tuple(before), given.chunk(index), *others)
            )
    table = given.merged("rows", (), tables, joined_contacts)
    made = given.call("contacts", (), partial(as_contacts, given.batch, lengths), table)
    like = {
        "pairs": np.empty((0, 2), np.int64),
        "counts": np.empty(0, np.int64),
        "areas": np.empty(0),
        "batch": np.empty((0, batch), np.int64),
    }
    return Contacts(**given.fields("column", made, like))


def _layers(given: LabelChunks, layout: Layout) -> dict[Index, Any]:
    """Return what stands for the last layers of each chunk, if there are several."""
    if not layout.crossed:
        return {}
    taken = partial(last_layers, layout.crossed, given.labelling.empty)
    return {
        index: given.call("layers", index, taken, given.chunk(index)) for index in layout.indices()
    }


def _columns_like(
    wanted: Wanted, ndim: int, batch: int, image: Any
) -> tuple[dict[str, Any], list[str]]:
    """Return arrays like the columns of statistics, and the names of those that have no rows."""
    whole, real = np.empty(0, np.int64), np.empty((0, ndim))
    values = np.empty(0, np.float64 if image is None else image.dtype)
    kinds = {"f": np.float64, "u": np.uint64}
    sums = np.empty(0, kinds.get(values.dtype.kind, np.int64))
    like = {
        "labels": whole,
        "sizes": whole,
        "bounding_boxes": np.empty((0, ndim, 2), np.int64),
        "centroids": real,
        "moments": np.empty((0, ndim, ndim)),
        "batch": np.empty((0, batch), np.int64),
        "sums": sums,
        "means": np.empty(0),
        "minima": values,
        "maxima": values,
        "weighted_centroids": real,
        "faces": np.empty((0, ndim), np.int64),
        "classes": whole,
    }
    missing = [] if wanted.image else ["sums", "means", "minima", "maxima", "weighted_centroids"]
    missing += [] if wanted.moments else ["moments"]
    missing += ["classes"] if wanted.surfaces else ["faces", "classes"]
    return like, missing
