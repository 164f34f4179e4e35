"""`contacts` of labels in chunks: the pairs of labels that touch in each chunk, joined.

Neighbours differ by one at most along each axis, so both are in the chunk that has the larger
coordinate along each axis, or in a layer before it. A chunk counts the contacts in itself and in
these layers, and subtracts, by inclusion and exclusion, those in the layers alone: each contact
counts once, also over the ends of periodic axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product
from math import prod
from typing import Any

import numpy as np

from conncomp.chunked.labelling import unmasked
from conncomp.chunked.layout import Index, Layout
from conncomp.chunked.measures import columns_of, kind_of_chunks, layers_of, unless_empty
from conncomp.chunked.measures.label_chunks import (
    Integers,
    Labelling,
    Labels,
    Layers,
    items_along,
    number_chunk,
    preceding,
    without_mask,
)
from conncomp.chunked.rows import RowTable
from conncomp.components import touching
from conncomp.components._labels import check_items, check_spacing, library_at
from conncomp.components.touching import (
    Contacts,
    contact_steps,
    count_contacts,
    neighbourhood_in,
)
from conncomp.kernels.neighbourhood import Neighbourhood


def _contacts(
    array: Any, *, connectivity: Any, spacing: Any, periodic: Any, background: Any, batch_axes: int
) -> Contacts:
    token = "contacts", connectivity, spacing, periodic
    chunks = kind_of_chunks(array)(array, background, batch_axes, *token)
    labelling, batch = chunks.labelling, chunks.labelling.batch_axes
    shape = array.shape[batch:]
    neighbourhood = neighbourhood_in(shape, bool(batch), connectivity, periodic)
    lengths = check_spacing(spacing, len(shape))
    layout = Layout(chunks.layout.lengths, (False,) * batch + neighbourhood.periodic, batch)
    axes = enumerate(neighbourhood.periodic, batch)
    closed = tuple(is_closed and axis not in layout.crossed for axis, is_closed in axes)
    within = neighbourhood._replace(periodic=closed)
    layers = layers_of(chunks, layout)

    def rows_of(index: Index, items: Integers) -> Any:
        before = preceding(layout, index, len(layout.crossed))
        others = (layers[other] for other in before.values())
        touch = partial(touch_chunk, labelling, within, items)
        return chunks.call("touched", index, touch, tuple(before), chunks.chunk(index), *others)

    made = partial(as_contacts, chunks.batch, lengths)
    pair = np.array([1, 2]).reshape((1,) * batch + (2,) + (1,) * (len(shape) - 1))
    sample = touch_chunk(labelling, within, np.zeros(1, np.int64), (), pair)
    return Contacts(**columns_of(chunks, rows_of, joined_pairs, made, sample))


contacts = unless_empty(touching.contacts, _contacts)


def touch_chunk(
    labelling: Labelling,
    neighbourhood: Neighbourhood,
    items: Integers,
    ways: Sequence[Index],
    labels: Labels,
    *layers: Layers,
) -> RowTable:
    """Count contacts, and faces across each axis, whose larger coordinates lie in a chunk.

    A pair of labels in an item has a row. Axes of one chunk may be periodic; `layers` are the
    `last_layers` of the chunks that precede along axes, the `ways`.
    """
    batch, empty = labelling.batch_axes, labelling.empty
    if labelling.background is None and labels.min() < 0:
        raise ValueError(f"labels holds {labels.min()}; labels are not negative")
    whole = _with_layers(empty, labels, dict(zip(ways, layers, strict=True)))
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
    table = joined_pairs(*tables)
    return table.take(table["contacts"] > 0)


def _with_layers(empty: int, labels: Labels, parts: dict[Index, Layers]) -> Labels:
    """Return a chunk behind a layer of each chunk that precedes; masked is `empty`."""
    whole: Labels = without_mask(empty, labels)
    if not parts:
        return whole
    more = {axes[0] for axes in parts if len(axes) == 1}
    begins = tuple(int(axis in more) for axis in range(whole.ndim))
    shape = tuple(map(sum, zip(begins, whole.shape, strict=True)))
    extended: Labels = library_at(whole).empty(shape, whole.dtype)
    extended[tuple(slice(begin, None) for begin in begins)] = whole
    for axes, layers in parts.items():
        place = tuple(0 if k in axes else slice(begin, None) for k, begin in enumerate(begins))
        others = (k for k in range(whole.ndim) if k != axes[0])
        inside = tuple(-1 if k in axes else slice(None) for k in others)
        extended[place] = library_at(whole).asarray(layers[axes[0]][inside])
    return extended


def _count(labels: Labels, background: int, neighbourhood: Neighbourhood, batch: int) -> RowTable:
    """Count the contacts in a part of a chunk; labels are in the order of what they were."""
    items = check_items(labels, background, batch)
    steps = contact_steps(neighbourhood, items.shape)
    pairs, kinds = map(unmasked, count_contacts(*items.numbered, steps))
    rows = max(items.rows, 1)
    faces = np.zeros((len(pairs), len(items.shape)), np.int64)
    faces[:, list(steps.axes)] = kinds[:, : len(steps.axes)]
    contacts = kinds @ np.array(steps.times, np.int64)
    item, first, second = pairs[:, 0] // rows, pairs[:, 0] % rows, pairs[:, 1] % rows
    return RowTable(item=item, label=first, other=second, contacts=contacts, faces=faces)


def joined_pairs(*tables: RowTable) -> RowTable:
    """Return the rows of several tables, one for each pair of each item, in this order."""
    return tables[0].followed_by(*tables[1:]).joined_by("item", "label", "other")


def as_contacts(batch: Index, spacing: tuple[float, ...], table: RowTable) -> Contacts:
    """Return rows as `contacts` does, given the lengths of the batch axes."""
    areas = np.zeros(table.rows)
    for axis in range(len(spacing)):
        areas += table["faces"][:, axis] * prod(spacing[:axis] + spacing[axis + 1 :])
    pairs = np.stack([table["label"], table["other"]], axis=-1)
    return Contacts(pairs, table["contacts"], areas, items_along(table["item"], batch))
