"""The three stages of all chunks, by whatever engine calls functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp.chunked.faces import Report, linked_roots
from conncomp.chunked.labelling import (
    ChunkLabels,
    ChunkRuns,
    chunk_runs,
    label_chunk,
    label_values,
    on_host,
    report_chunk,
)
from conncomp.chunked.layout import Index, Layout
from conncomp.chunked.numbering import Indices, Numbers, count_final_roots, published_numbers
from conncomp.chunked.relabelling import (
    numbers_of_chunk,
    place_runs,
    relabel_chunk,
    relabel_runs,
    roots_of_chunk,
)
from conncomp.chunked.rules import Rules
from conncomp.chunked.selection import (
    Selected,
    Selection,
    choose_all,
    select,
    select_items,
    with_sizes,
)
from conncomp.chunked.tree import Call, Part, Tree
from conncomp.chunked.union import Linked, Open, Table
from conncomp.grid.runs import Placed
from conncomp.kernels.neighbourhood import Step


@dataclass(frozen=True)
class Labelled:
    """A chunk after the first stage; its runs are kept if they take no more memory than the values.

    They stay in the process that made them.
    """

    report: Report
    runs: ChunkRuns | None

    def __reduce__(self) -> Any:
        """Return what another process knows of it."""
        return (Labelled, (self.report, None))


def label_and_report(
    rules: Rules,
    start: Index,
    sides: int,
    keep: bool,
    values: Any,
    selection: Selection | None = None,
) -> Report | Labelled:
    """Do the first stage of a chunk, and keep its runs or not; what is selected has none."""
    if selection is not None:
        labels = label_chunk(rules, values)
        report = report_chunk(rules, start, sides, values, labels)
        return with_sizes(report, rules, start, labels, selection)
    runs = chunk_runs(rules, values)
    labelled = label_chunk(rules, values) if runs is None else runs
    report = report_chunk(rules, start, sides, values, labelled)
    small = runs is not None and runs.runs.nbytes <= values.nbytes
    return Labelled(report, runs) if keep and small else report


def report_of(first: Report | Labelled) -> Report:
    """Return the report of a chunk, of what the first stage returned."""
    return first.report if isinstance(first, Labelled) else first


def link(
    rules: Rules,
    directions: tuple[Step, ...],
    first: Report | Labelled,
    *others: Report | Labelled,
) -> Linked:
    """Return what a union has to know of a chunk, given its neighbours in some directions."""
    report = report_of(first)
    pairs = [
        linked_roots(rules, direction, report, report_of(other))
        for direction, other in zip(directions, others, strict=True)
    ]
    own = Open(report.roots, report.roots, report.touched)
    return Linked(own, np.concatenate([np.zeros((2, 0), np.int64), *pairs], axis=1))


def link_all(
    call: Call, layout: Layout, rules: Rules, labelled: Mapping[Index, Any]
) -> dict[Index, Any]:
    """Return a `Linked` of each chunk."""
    linked, distinct = {}, dict[tuple[Step, ...], tuple[Step, ...]]()
    leading = rules.directions
    for index in layout.indices():
        found = layout.neighbours(index, leading)
        directions = tuple(direction for direction, _ in found)
        directions = distinct.setdefault(directions, directions)  # of many chunks, kept once
        others = [labelled[other] for _, other in found]
        linked[index] = call("link", index, link, rules, directions, labelled[index], *others)
    return linked


def count(first: Report | Labelled, tables: list[Table], place: int) -> Indices:
    """Return how many roots of the whole array a chunk has in each segment."""
    return count_final_roots(report_of(first), tables[place])


def publish(
    first: Report | Labelled, tables: list[Table], table: int, bases: list[Indices], base: int
) -> Numbers:
    """Return the numbers of the roots of the whole array on faces of a chunk."""
    report = report_of(first)
    counts = count_final_roots(report, tables[table])
    return published_numbers(report, tables[table], counts, bases[base])


def relabel(
    rules: Rules,
    start: Index,
    values: Any,
    before: Report | Labelled,
    tables: list[Any],
    place: int,
    *known: Any,
    out: NDArray[Any] | None = None,
) -> NDArray[Any] | Selected | Placed:
    """Do the third stage of a chunk, in a new array or in `out`.

    Runs that were kept are not written to `out` yet, but later with those beside them. What was
    before is what the first stage returned. The table of the chunk is at a place of a list; where
    labels are to be consecutive it is beside numbers of others, and then known is, by a list and a
    place again, how many roots are before the segments of the chunk. At the end is what `select`
    takes at its own.
    """
    consecutive, dtype = rules.question.consecutive, rules.label_type
    chosen = known[2:] if consecutive else known
    report, labelled = _labelled_again(rules, values, before, bool(chosen))
    if consecutive:
        table, numbers = tables[place]
        counts = count_final_roots(report, table)
        of_labels = numbers_of_chunk(report, table, counts, known[0][known[1]], numbers)
    else:
        table = tables[place]
        of_labels = roots_of_chunk(rules, start, labelled, report, table)
    if chosen:
        assert isinstance(labelled, ChunkLabels)
        return select(labelled, report, table, of_labels, *chosen)
    if isinstance(labelled, ChunkLabels):
        return _relabelled(labelled.labels, of_labels, dtype, out)
    # Of runs that are in memory anyway, and go to one array, all are written together.
    kept = isinstance(before, Labelled) and before.runs is labelled
    if kept and out is not None:
        return place_runs(labelled, of_labels, dtype, out)
    return relabel_runs(labelled, of_labels, dtype, out)


def _labelled_again(
    rules: Rules, values: Any, before: Report | Labelled, chosen: bool
) -> tuple[Report, ChunkLabels | ChunkRuns]:
    """Return the report of a chunk, and its runs, or its labels where these are looked at."""
    kept = before if isinstance(before, Labelled) else Labelled(before, None)
    if chosen:
        return kept.report, label_chunk(rules, values)
    runs = kept.runs or chunk_runs(rules, values)
    return kept.report, label_chunk(rules, values) if runs is None else runs


def _relabelled(
    labels: Any, of_labels: Any, dtype: np.dtype[Any], out: NDArray[Any] | None
) -> NDArray[Any]:
    """Replace the labels of a chunk by others, in place unless they go to an array that is given.

    Memory that is touched for the first time takes longer than all else.
    """
    if out is None and isinstance(labels, np.ndarray) and labels.dtype == dtype:
        out = labels
    relabelled: NDArray[Any] = relabel_chunk(labels, of_labels, dtype, out)
    return relabelled


class Alone(NamedTuple):
    """A chunk of whole items, which no other one touches."""

    labels: NDArray[Any]
    counts: NDArray[np.int64]
    selected: Selected | None = None


def label_items(rules: Rules, values: NDArray[Any], selection: Selection | None = None) -> Alone:
    """Do the only stage of a chunk of whole items."""
    labels, counts = label_values(rules, values, alone=True)
    counts = on_host(counts) if rules.batch_axes else np.array([int(counts)])
    if selection is None:
        return Alone(labels, counts)
    selected = select_items(rules, selection, labels)
    return Alone(selected.labels, counts, selected)


def labels_of(alone: Alone, out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Return the labels of a chunk of whole items, in `out` if that is given."""
    if out is None:
        return alone.labels
    out[...] = alone.labels
    return out


class Result(NamedTuple):
    """What an engine returned for all chunks."""

    labels: dict[Index, Any]  # by the index of each chunk
    # of the items of a block, in C order, by its index along the batch axes; none if not asked
    counts: dict[Index, Any]


def label_all(
    call: Call,
    layout: Layout,
    rules: Rules,
    values: Mapping[Index, Any],
    again_of: Mapping[Index, Any] | None = None,
    selection: Selection | None = None,
) -> Result:
    """Label all chunks of an array as `label` labels the array.

    The engine, `call`, is given what stands for the values of each chunk; the third stage, which
    labels chunks once more, takes them of `again_of`. If that is None it keeps `values` until then,
    with runs that were found. Where some components are selected, labels are `Selected`.
    """
    chosen = () if selection is None else (selection,)
    if not layout.crossed:
        return _label_alone(call, layout, rules, values, chosen)
    starts = {index: layout.start(index) for index in layout.indices()}
    again, keep = (values, True) if again_of is None else (again_of, False)
    before = {}
    for index, start in starts.items():
        given = rules, start, layout.sides(index), keep, values[index], *chosen
        before[index] = call("label", index, label_and_report, *given)
    linked = link_all(call, layout, rules, before)
    result, question = Result({}, {}), rules.question
    for block in product(*map(range, layout.counts[: layout.batch_axes])):
        tree = Tree(layout, block)
        tree.unite(call, linked)
        kept: dict[Index, tuple[Any, ...]] = {}
        if selection is not None:
            kept = choose_all(call, tree, rules, selection, before)
        tables, bases = tree.parts(), dict[Index, Part]()
        if question.consecutive or question.counted:
            counts = {
                index: call("count", index, count, before[index], *table)
                for index, table in tables.items()
            }
            bases, result.counts[block] = tree.count_before(call, counts)
        if question.consecutive:
            published = {
                index: call("publish", index, publish, before[index], *table, *bases[index])
                for index, table in tables.items()
            }
            tables = tree.exchange(call, published)
        name = "numbers" if question.consecutive else "roots"
        for index, table in tables.items():
            of_chunk = (*table, *bases[index]) if question.consecutive else table
            given = rules, starts[index], again[index], before[index], *of_chunk
            result.labels[index] = call(name, index, relabel, *given, *kept.get(index, ()))
    return result


def _label_alone(
    call: Call, layout: Layout, rules: Rules, values: Mapping[Index, Any], chosen: tuple[Any, ...]
) -> Result:
    """Do what `label_all` does where items are not cut."""
    result = Result({}, {})
    for index in layout.indices():
        alone = call("alone", index, label_items, rules, values[index], *chosen)
        result.labels[index] = call("labels", index, labels_of, alone)
        result.counts[index[: layout.batch_axes]] = call("counts", index, getattr, alone, "counts")
    return result
