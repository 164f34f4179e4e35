"""Contacts of the components of one chunk with those beside them, and of all.

How: neighbours differ by one at most along each axis, so both are in the chunk that has the
larger coordinate along each axis, or in a layer before it. A chunk counts what touches in itself
and in these layers, and takes off, by inclusion and exclusion, what is in the layers alone. So each
contact counts once, also over the ends of periodic axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp.chunked.labelling import on_host
from conncomp.chunked.layout import Index
from conncomp.chunked.measures.layers import Layers, with_layers
from conncomp.chunked.measures.measuring import Labelling, items_along, number_chunk
from conncomp.chunked.rows import Table
from conncomp.components._labels import check_items
from conncomp.components.touching import Contacts, contact_steps, count_contacts
from conncomp.kernels.neighbourhood import Neighbourhood


def touch_chunk(
    labelling: Labelling,
    neighbourhood: Neighbourhood,
    items: NDArray[np.int64],
    ways: Sequence[Index],
    labels: Any,
    *layers: Layers,
) -> Table:
    """Count contacts, and faces across each axis, whose larger coordinates lie in a chunk.

    There is a row for each pair of labels in each item. Axes of one chunk may be periodic; `layers`
    are the `last_layers` of the chunks that precede along some axes, the `ways`.
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
        places = tuple(
            slice(1) if axis in of_layers else slice(None) for axis in range(numbered.numbers.ndim)
        )
        table = _count(numbered.numbers[places], numbered.empty, neighbourhood, batch)
        if len(of_layers) % 2:
            table["contacts"], table["faces"] = -table["contacts"], -table["faces"]
        table["label"] = numbered.old[table["item"], table["label"]]
        table["other"] = numbered.old[table["item"], table["other"]]
        table["item"] = items[table["item"]]
        tables.append(table)
    table = joined_contacts(*tables)
    return table.take(table["contacts"] > 0)


def joined_contacts(*tables: Table) -> Table:
    """Return the rows of several tables, one for each pair of each item, in this order."""
    return tables[0].followed_by(*tables[1:]).joined_by("item", "label", "other")


def as_contacts(batch: Index, spacing: tuple[float, ...], table: Table) -> Contacts:
    """Return rows as `contacts` does, given the lengths of the batch axes."""
    areas = np.zeros(table.rows)
    for axis in range(len(spacing)):
        areas += table["faces"][:, axis] * prod(spacing[:axis] + spacing[axis + 1 :])
    pairs = np.stack([table["label"], table["other"]], axis=-1)
    return Contacts(pairs, table["contacts"], areas, items_along(table["item"], batch))


def _count(labels: Any, background: int, neighbourhood: Neighbourhood, batch: int) -> Table:
    """Count the contacts in a part of a chunk; labels are in the order of what they were."""
    items = check_items(labels, background, batch)
    steps = contact_steps(neighbourhood, items.shape)
    pairs, kinds = count_contacts(
        items.labels, items.background, items.all_rows, items.count, steps
    )
    pairs, kinds, rows = on_host(pairs), on_host(kinds), max(items.rows, 1)
    faces = np.zeros((len(pairs), len(items.shape)), np.int64)
    faces[:, list(steps.axes)] = kinds[:, : len(steps.axes)]
    contacts = kinds @ np.array(steps.times, np.int64)
    item, first, second = pairs[:, 0] // rows, pairs[:, 0] % rows, pairs[:, 1] % rows
    return Table(item=item, label=first, other=second, contacts=contacts, faces=faces)
