"""The three stages of all chunks, by whatever engine calls functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp.chunked.alone import label_items, labels_of
from conncomp.chunked.chunk_runs import ChunkRuns, chunk_runs
from conncomp.chunked.counting import count_before
from conncomp.chunked.engine import Call, Part
from conncomp.chunked.faces import Report, linked_roots
from conncomp.chunked.labelling import ChunkLabels, label_chunk, report_chunk
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
    with_sizes,
)
from conncomp.chunked.tree import Linked, Tree
from conncomp.chunked.union import Table, open_of
from conncomp.grid.kept_runs import Placed
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
    rules: Rules, start: Index, sides: int, values: Any, selection: Selection | None = None
) -> Labelled:
    """Do the first stage of a chunk; arguments are those of `report_chunk`, and what is kept."""
    if selection is not None:
        labels = label_chunk(rules, values)
        report = report_chunk(rules, start, sides, values, labels)
        return Labelled(with_sizes(report, rules, start, labels, selection), None)
    runs = chunk_runs(rules, values)
    labelled = label_chunk(rules, values) if runs is None else runs
    report = report_chunk(rules, start, sides, values, labelled)
    small = runs is not None and runs.runs.nbytes <= values.nbytes
    return Labelled(report, runs if small else None)


def report_only(
    rules: Rules, start: Index, sides: int, values: Any, selection: Selection | None = None
) -> Report:
    """Do the first stage of a chunk, of which no runs are kept."""
    return label_and_report(rules, start, sides, values, selection).report


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
    return Linked(open_of(report), np.concatenate([np.zeros((2, 0), np.int64), *pairs], axis=1))


def link_all(
    call: Call, layout: Layout, rules: Rules, labelled: Mapping[Index, Any]
) -> dict[Index, Any]:
    """Return a `Linked` of each chunk."""
    linked, distinct = {}, dict[tuple[Step, ...], tuple[Step, ...]]()
    for index in layout.indices():
        found = layout.neighbours(index, rules.directions)
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


def relabel_by_roots(
    rules: Rules,
    start: Index,
    dtype: np.dtype[Any],
    values: Any,
    before: Report | Labelled,
    *known: Any,
    out: NDArray[Any] | None = None,
) -> NDArray[Any] | Selected | Placed:
    """Do the third stage of a chunk, whose labels are to be roots, in a new array or in `out`.

    Runs that were kept are not written to `out` yet, but later with those beside them. What was
    before is what the first stage returned. What is known is the table of the chunk, as a list and
    a place in it, and what `select` takes at its end.
    """
    tables, place, *chosen = known
    report, labelled = _labelled_again(rules, values, before, bool(chosen))
    roots = roots_of_chunk(rules, start, labelled, report, tables[place])
    if isinstance(labelled, ChunkRuns):
        return _of_runs(before, labelled, roots, dtype, out)
    if chosen:
        return select(labelled, report, tables[place], roots, dtype, *chosen)
    return _relabelled(labelled.labels, roots, dtype, out)


def relabel_by_numbers(
    rules: Rules,
    dtype: np.dtype[Any],
    values: Any,
    before: Report | Labelled,
    *known: Any,
    out: NDArray[Any] | None = None,
) -> NDArray[Any] | Selected | Placed:
    """Do the third stage of a chunk, whose labels are to be consecutive.

    What was before is what the first stage returned. What is known, each as a list and a place in
    it, are how many roots are before the segments of the chunk, and its table with numbers of
    others; then what `select` takes at its end.
    """
    bases, base, tables, of_chunk, *chosen = known
    table, numbers = tables[of_chunk]
    report, labelled = _labelled_again(rules, values, before, bool(chosen))
    counts = count_final_roots(report, table)
    of_labels = numbers_of_chunk(report, table, counts, bases[base], numbers)
    if isinstance(labelled, ChunkRuns):
        return _of_runs(before, labelled, of_labels, dtype, out)
    if chosen:
        return select(labelled, report, table, of_labels, dtype, *chosen)
    return _relabelled(labelled.labels, of_labels, dtype, out)


def _labelled_again(
    rules: Rules, values: Any, before: Report | Labelled, chosen: bool
) -> tuple[Report, ChunkLabels | ChunkRuns]:
    """Return the report of a chunk, and its runs, or its labels where these are looked at."""
    kept = before if isinstance(before, Labelled) else Labelled(before, None)
    if chosen:
        return kept.report, label_chunk(rules, values)
    runs = kept.runs or chunk_runs(rules, values)
    return kept.report, label_chunk(rules, values) if runs is None else runs


def _of_runs(
    before: Report | Labelled,
    runs: ChunkRuns,
    of_labels: Indices,
    dtype: np.dtype[Any],
    out: NDArray[Any] | None,
) -> NDArray[Any] | Placed:
    """Relabel runs; or tell how to, if all of them are in memory anyway and go to one array."""
    kept = isinstance(before, Labelled) and before.runs is runs
    if kept and out is not None:
        return place_runs(runs, of_labels, dtype, out)
    return relabel_runs(runs, of_labels, dtype, out)


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


class Wanted(NamedTuple):
    """What labels are to be.

    Attributes
    ----------
    numbering : {"consecutive", "roots"}
    dtype : dtype
    selection : Selection or None
        What is kept; None for all.
    counted : bool
        Whether components are counted, even where they are not numbered.
    """

    numbering: Literal["consecutive", "roots"]
    dtype: np.dtype[Any]
    selection: Selection | None = None
    counted: bool = True

    @property
    def chosen(self) -> tuple[Selection, ...]:
        """The argument of functions that select, if there is one."""
        return () if self.selection is None else (self.selection,)


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
    numbering: Literal["consecutive", "roots"],
    dtype: np.dtype[Any],
    again_of: Mapping[Index, Any] | None = None,
    counted: bool = True,
) -> Result:
    """Label all chunks of an array as `label` labels the array.

    Parameters
    ----------
    call : callable
        The engine, as of ``engine.py``.
    layout : Layout
    rules : Rules
    values : mapping
        Of the index of each chunk to what stands for its values.
    numbering : {"consecutive", "roots"}
    dtype : dtype
        Of the labels.
    again_of : mapping, optional
        As `values`, for the third stage, which labels chunks once more; by default `values`, which
        an engine then keeps until then, with runs that were found.
    counted : bool, optional
        Whether components are counted, even where they are not numbered.
    """
    return label_wanted(
        call, layout, rules, values, Wanted(numbering, dtype, None, counted), again_of
    )


def label_wanted(
    call: Call,
    layout: Layout,
    rules: Rules,
    values: Mapping[Index, Any],
    wanted: Wanted,
    again_of: Mapping[Index, Any] | None = None,
) -> Result:
    """Do what `label_all` does; where some components are selected, labels are `Selected`."""
    if not layout.crossed:
        return _label_alone(call, layout, rules, values, wanted)
    starts = {index: layout.start(index) for index in layout.indices()}
    chosen, again = wanted.chosen, again_of
    first: Callable[..., Any] = report_only
    if again is None:
        again = values
        if wanted.selection is None:  # by which no runs are kept
            first = label_and_report
    before = {
        index: call(
            "label", index, first, rules, start, layout.sides(index), values[index], *chosen
        )
        for index, start in starts.items()
    }
    linked = link_all(call, layout, rules, before)
    result = Result({}, {})
    for block in product(*map(range, layout.counts[: layout.batch_axes])):
        tree = Tree(layout, block)
        tree.unite(call, linked)
        kept: dict[Index, tuple[Any, ...]] = {}
        if wanted.selection is not None:
            kept = choose_all(call, tree, rules, wanted.selection, before)
        if wanted.numbering == "roots":
            for index, table in tree.parts().items():
                of_chunk = again[index], before[index], *table, *kept.get(index, ())
                arguments = (rules, starts[index], wanted.dtype, *of_chunk)
                result.labels[index] = call("roots", index, relabel_by_roots, *arguments)
            if not wanted.counted:
                continue
        counts = {
            index: call("count", index, count, before[index], *table)
            for index, table in tree.parts().items()
        }
        bases, result.counts[block] = count_before(call, tree, counts)
        if wanted.numbering == "consecutive":
            arguments_of = _numbers_of_chunks(call, tree, before, bases)
            for index, known in arguments_of.items():
                of_chunk = again[index], before[index], *known, *kept.get(index, ())
                arguments = (rules, wanted.dtype, *of_chunk)
                result.labels[index] = call("numbers", index, relabel_by_numbers, *arguments)
    return result


def _numbers_of_chunks(
    call: Call, tree: Tree, before: Mapping[Index, Any], bases: Mapping[Index, Part]
) -> dict[Index, tuple[Any, ...]]:
    """Return for each chunk how many roots are before it, and its table with numbers of others."""
    published = {
        index: call("publish", index, publish, before[index], *table, *bases[index])
        for index, table in tree.parts().items()
    }
    known = tree.exchange(call, published)
    return {index: (*bases[index], *of_chunk) for index, of_chunk in known.items()}


def _label_alone(
    call: Call,
    layout: Layout,
    rules: Rules,
    values: Mapping[Index, Any],
    wanted: Wanted,
) -> Result:
    """Do what `label_wanted` does where items are not cut."""
    result = Result({}, {})
    for index in layout.indices():
        alone = call(
            "alone",
            index,
            label_items,
            rules,
            wanted.numbering,
            wanted.dtype,
            values[index],
            *wanted.chosen,
        )
        result.labels[index] = call("labels", index, labels_of, alone)
        result.counts[index[: layout.batch_axes]] = call("counts", index, getattr, alone, "counts")
    return result
