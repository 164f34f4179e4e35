"""Functions of labels in chunks, of Dask or in files: the kinds of these, and shared steps.

Calls come here by a name in text, where a search for references ends:

    components/statistics.py   `component_statistics` asks `function_for` (_containers.py)
    functions.py               has it, from statistics.py, contacts.py or overlaps.py, or its own
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from conncomp._arguments import shown
from conncomp.chunked.layout import Layout
from conncomp.chunked.measures.label_chunks import last_layers
from conncomp.chunked.tree import Function, OfChunks
from conncomp.components._labels import check_labels
from conncomp.components.matching import check_second_shape

if TYPE_CHECKING:
    from conncomp.chunked.measures.dask_labels import DaskLabels
    from conncomp.chunked.measures.volume_labels import VolumeLabels

    Chunks = DaskLabels | VolumeLabels


def kind_of_chunks(labels: Any) -> type[Chunks]:
    """Return the kind of labels in chunks; Dask is imported for its own arrays only."""
    lazy = hasattr(type(labels), "__dask_graph__")
    module = import_module(f"conncomp.chunked.measures.{'dask' if lazy else 'volume'}_labels")
    kind: type[Chunks] = module.DaskLabels if lazy else module.VolumeLabels
    return kind


def unless_empty(of_memory: Function, of_chunks: Function) -> Any:
    """Return a function of labels in chunks; of no elements, the one in memory is asked."""

    def function(labels: Any, *arguments: Any, **options: Any) -> Any:
        kind = kind_of_chunks(labels)
        given = kind.checked(labels)
        if not given.size:
            return kind.of_no_element(of_memory, given, *arguments, **options)
        return of_chunks(given, *arguments, **options)

    return function


def layers_of(chunks: Chunks, layout: Layout) -> OfChunks:
    """Return the last layers of each chunk along the axes that a layout crosses."""
    if not layout.crossed:
        return {}
    taken = partial(last_layers, layout.crossed, chunks.labelling.empty)
    return {index: chunks.layers(index, taken) for index in layout.indices()}


def columns_of(
    chunks: Chunks, rows_of: Function, join: Function, made: Function, sample: Any
) -> dict[str, Any]:
    """Return the fields that ``made(rows)`` has of all chunks' joined rows, as of the `sample`.

    `rows_of` takes the index of a chunk and the numbers of its items.
    """
    blocks = ((block, chunks.items(block)) for block in chunks.blocks())
    parts = [rows_of(index, items) for block, items in blocks for index in chunks.indices(block)]
    table = chunks.merged("rows", (), parts, join)
    return chunks.fields("column", chunks.call("made", (), made, table), made(sample))


def refuse(**of_memory: Any) -> None:
    """Raise ValueError if an option is given that is for labels in memory."""
    for name, value in of_memory.items():
        if value is not None:
            remedy = "leave it out for labels in chunks, or take them into memory first"
            raise ValueError(f"{name}={shown(value)} is for labels in memory; {remedy}")


def check_second(array: Any, given: Any, shape: tuple[int, ...]) -> None:
    """Raise TypeError or ValueError unless labels are integers, and of the shape of the first."""
    check_labels(array, given, "labels_b")
    check_second_shape(array.shape, shape)
