"""The three stages of all chunks, by whatever engine calls functions."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp.chunked import numbering
from conncomp.chunked.labelling import (
    ChunkLabels,
    chunk_runs,
    label_chunk,
    label_values,
    report_chunk,
    unmasked,
)
from conncomp.chunked.layout import Index, Layout
from conncomp.chunked.numbering import publish
from conncomp.chunked.relabelling import relabel_chunk, relabel_runs, roots_of_chunk
from conncomp.chunked.rules import Report, Rules, crossings_of, linked_roots
from conncomp.chunked.selection import (
    Selected,
    Selection,
    choose_all,
    select,
    select_items,
    with_sizes,
)
from conncomp.chunked.tree import Call, Part, Tree
from conncomp.chunked.union import Open, Table, Union
from conncomp.kernels.neighbourhood import Step

OfChunks = Mapping[Index, Any]


def label_and_report(
    rules: Rules, start: Index, sides: int, keep: bool, values: Any, chosen: Selection | None = None
) -> Report:
    """Do the first stage of a chunk, and keep its runs or not; what is selected has none."""
    runs = chunk_runs(rules, values) if chosen is None else None
    labelled = label_chunk(rules, values) if runs is None else runs
    report = report_chunk(rules, start, sides, values, labelled)
    if isinstance(labelled, ChunkLabels):
        return report if chosen is None else with_sizes(report, rules, start, labelled, chosen)
    return report._replace(runs=runs) if keep and labelled.nbytes <= values.nbytes else report


def link(rules: Rules, directions: tuple[Step, ...], report: Report, *others: Report) -> Union:
    """Return what a union has to know of a chunk, given its neighbours in some directions."""
    crossings = crossings_of(rules)
    ways = zip(directions, others, strict=True)
    pairs = [linked_roots(rules.links, crossings[way], report, other) for way, other in ways]
    own = Open(report.roots, report.roots, report.touched)
    return Union(own, np.concatenate([np.zeros((2, 0), np.int64), *pairs], axis=1))


def link_all(call: Call, layout: Layout, rules: Rules, labelled: OfChunks) -> dict[Index, Any]:
    """Return each chunk as a region of the tree."""
    linked, distinct = {}, dict[tuple[Step, ...], tuple[Step, ...]]()
    leading = tuple(crossings_of(rules))
    for index in layout.indices():
        found = layout.neighbours(index, leading)
        directions = tuple(direction for direction, _ in found)
        directions = distinct.setdefault(directions, directions)  # of many chunks, kept once
        others = [labelled[other] for _, other in found]
        linked[index] = call("link", index, link, rules, directions, labelled[index], *others)
    return linked


def count(report: Report, tables: list[Table], place: int) -> numbering.Indices:
    """Return how many roots of the whole array a chunk has in each segment."""
    return numbering.final_roots(report, tables[place]).counts


def relabel(
    rules: Rules, start: Index, values: Any, report: Report, *given: Any, out: Any = None
) -> Any:
    """Do the third stage of a chunk, in a new array or in `out`.

    Runs that the report kept are not written to `out` yet, but later with those beside them. The
    table of the chunk is at a place of a list; where labels are to be consecutive it is beside
    numbers of others, and then known is, by a list and a place again, how many roots are before the
    segments of the chunk. At the end is what `select` takes at its own.
    """
    tables, place, *known = given
    consecutive, dtype = rules.question.consecutive, rules.label_type
    chosen = known[2:] if consecutive else known
    runs: Any = None if chosen else report.runs or chunk_runs(rules, values)
    labelled = label_chunk(rules, values) if runs is None else runs
    if consecutive:
        table, numbers = tables[place]
        final = numbering.final_roots(report, table)
        of_labels = numbering.numbers_of_chunk(report, final, known[0][known[1]], numbers)
    else:
        table = tables[place]
        of_labels = roots_of_chunk(rules, start, labelled, report, table)
    if chosen:
        return select(labelled, report, table, of_labels, *chosen)
    if runs is not None:
        # Of runs that are in memory anyway, and go to one array, all are written together.
        return relabel_runs(runs, of_labels, dtype, out, late=report.runs is not None)
    labels = labelled.labels
    if out is None and isinstance(labels, np.ndarray) and labels.dtype == dtype:
        out = labels  # as memory that is touched for the first time takes longer than all else
    return relabel_chunk(labels, of_labels, dtype, out)


class Alone(NamedTuple):
    """A chunk of whole items, which no other one touches."""

    labels: NDArray[Any]
    counts: NDArray[np.int64]
    selected: Selected | None = None


def label_items(rules: Rules, values: NDArray[Any], selection: Selection | None = None) -> Alone:
    """Do the only stage of a chunk of whole items."""
    labels, counts = label_values(rules, values, alone=True)
    counts = unmasked(counts) if rules.question.batch_axes else np.array([int(counts)])
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
    values: OfChunks,
    again_of: OfChunks | None = None,
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
        tree = Tree(call, layout, block)
        tree.unite(linked)
        kept: dict[Index, tuple[Any, ...]] = {}
        if selection is not None:
            kept = choose_all(call, tree, rules, selection, before)
        tables, bases = tree.parts(), dict[Index, Part]()
        parts = tables.items()
        if question.consecutive or question.counted:
            counts = {k: call("count", k, count, before[k], *table) for k, table in parts}
            bases, result.counts[block] = tree.count_before(counts)
        if question.consecutive:
            told = {k: call("publish", k, publish, before[k], *one, *bases[k]) for k, one in parts}
            tables = tree.exchange(told)
        name = "numbers" if question.consecutive else "roots"
        for index, table in tables.items():
            of_chunk = (*table, *bases[index]) if question.consecutive else table
            given = rules, starts[index], again[index], before[index], *of_chunk
            result.labels[index] = call(name, index, relabel, *given, *kept.get(index, ()))
    return result


def _label_alone(call: Call, layout: Layout, rules: Rules, values: OfChunks, chosen: Any) -> Result:
    """Do what `label_all` does where items are not cut."""
    result = Result({}, {})
    for index in layout.indices():
        alone = call("alone", index, label_items, rules, values[index], *chosen)
        result.labels[index] = call("labels", index, labels_of, alone)
        result.counts[index[: layout.batch_axes]] = call("counts", index, getattr, alone, "counts")
    return result
