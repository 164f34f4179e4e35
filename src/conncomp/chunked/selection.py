"""Selection of components by their sizes in the whole array, while labels are written.

A chunk knows the sizes of what is on none of its faces. Sizes of parts of components on faces are
summed up the tree of unions, and come back to the chunks that have parts:

    chunks a, b, c, d      sizes of parts on faces
    ab, cd                 sums of what became one; what is open still goes up
    abcd                   sums of these
    abcd -> ab -> a, b     sizes of whole components

Of the largest, each chunk tells as many as are wanted, and groups of chunks as many of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._array_storage import on_host
from conncomp.chunked.labelling import ChunkLabels, Report, label_chunk, report_chunk, root_indices
from conncomp.chunked.layout import Index
from conncomp.chunked.numbering import ByRoot, FinalRoots, Indices, look_up_numbers
from conncomp.chunked.relabelling import numbers_of_labels, relabel_chunk
from conncomp.chunked.rules import Rules
from conncomp.chunked.tree import Call, OfChunks, Tree, merged
from conncomp.chunked.union import GROUP
from conncomp.components.selection import largest_components, remove_small_components
from conncomp.components.sizes import component_sizes

DIGITS = 19  # that a size has at most


class Selection(NamedTuple):
    """The sizes and numbers of components that are kept."""

    least: int  # elements that a component has
    largest: int | None  # how many components of each item
    listed: int = 0  # by a summary of the sizes of all, which there is none of if that is 0


class Chosen(NamedTuple):
    """The components that stay, as a chunk gets them."""

    selection: Selection
    best: ByRoot | None  # the largest of each item, if only so many are kept
    totals: ByRoot  # sizes of whole components of which the chunk has parts on faces


class SizeSummary(NamedTuple):
    """The sizes of some components."""

    by_digits: Indices  # components of 1, 2, ... digits of size, and their elements
    largest: Indices  # rows of size, item and label: large, then early, then small ones first

    def numbers(self, items: Indices | None = None) -> tuple[int, ...]:
        """Return all numbers in a row; items may be renumbered."""
        largest = self.largest.copy()
        if items is not None:
            largest[:, 1] = items[largest[:, 1]]
        return (*self.by_digits.ravel().tolist(), *largest.ravel().tolist())


class Selected(NamedTuple):
    """Labels of a chunk, and what is known of components that begin in it."""

    labels: NDArray[Any]
    components: int  # that are kept
    elements: int  # of the chunk that are kept
    # of all that begin in it; items of a chunk of whole items are numbered within it
    summary: SizeSummary | None = None


def label_and_count(
    rules: Rules, start: Index, sides: int, selection: Selection, values: NDArray[Any]
) -> Report:
    """Do the first stage of a chunk, whose report has the sizes of components, too."""
    labelled = label_chunk(rules, values)
    sizes = sizes_of_labels(labelled)
    report = report_chunk(rules, start, sides, values, labelled)
    report = report._replace(sizes=sizes[report.labels])
    if selection.largest is None:
        return report
    inner = sizes >= selection.least
    inner[0] = False
    inner[report.labels] = False
    labels = np.flatnonzero(inner)
    if not rules.question.batch_axes:  # labels are in the order of roots
        labels = np.sort(labels[np.argsort(-sizes[labels], kind="stable")[: selection.largest]])
    roots = root_indices(rules.shape, start, labelled.labels.shape, labelled.first(labels))
    kept = largest_of(rules, selection, ByRoot(roots, sizes[labels]))
    return report._replace(inner_roots=kept.roots, inner_sizes=kept.numbers)


def sizes_of_labels(labelled: ChunkLabels) -> Indices:
    """Return how many elements each label of a chunk has, from 0 on."""
    return np.asarray(on_host(component_sizes(labelled.labels, background=None)), np.int64)


def largest_of(rules: Rules, selection: Selection, *parts: ByRoot) -> ByRoot:
    """Return the largest components of each item, of equal ones those of smaller roots."""
    roots, sizes = map(np.concatenate, zip(*parts, strict=True))
    items = roots // rules.item_size
    order = np.lexsort((roots, -sizes, items))
    of_items = items[order]
    assert selection.largest is not None
    rank = np.arange(len(order)) - np.searchsorted(of_items, of_items)
    best = order[rank < selection.largest]
    best = best[np.argsort(roots[best])]
    return ByRoot(roots[best], sizes[best])


def choose_all(
    call: Call, tree: Tree, rules: Rules, selection: Selection, reports: OfChunks, final: OfChunks
) -> OfChunks:
    """Return the `Chosen` for each chunk of a block."""
    sizes = {index: call("sizes", index, sizes_on_faces, reports[index]) for index in final}
    totals = tree.total(sizes)
    best = None
    if selection.largest is not None:
        named = partial(call, "candidates")
        parts = [
            named(index, candidates, rules, selection, reports[index], of_chunk, totals[index])
            for index, of_chunk in final.items()
        ]
        largest = partial(largest_of, rules, selection)
        best = merged(call, "best", tree.block, parts, largest, GROUP)
    choose = partial(call, "chosen")
    return {index: choose(index, Chosen, selection, best, each) for index, each in totals.items()}


def sizes_on_faces(report: Report) -> ByRoot:
    """Return the sizes of the parts that a chunk has of components on its faces."""
    return ByRoot(report.roots, report.sizes)


def candidates(
    rules: Rules, selection: Selection, report: Report, final: FinalRoots, totals: ByRoot
) -> ByRoot:
    """Return the components that begin in a chunk and may be among the largest."""
    own = report.roots[~final.gone]
    sizes = look_up_numbers(totals, own)
    large = sizes >= selection.least
    faces = ByRoot(own[large], sizes[large])
    return largest_of(rules, selection, faces, ByRoot(report.inner_roots, report.inner_sizes))


def relabel_selected(
    rules: Rules, start: Index, values: Any, report: Report, final: FinalRoots, *numbers: Any
) -> Selected:
    """Do the third stage; labels that the last argument, `Chosen`, leaves out become background."""
    *numbers_of_roots, (selection, best, totals) = numbers
    labelled = label_chunk(rules, values)
    of_labels = numbers_of_labels(rules, start, labelled, report, final, *numbers_of_roots)
    parts = sizes_of_labels(labelled)
    sizes = parts.copy()
    sizes[report.labels] = look_up_numbers(totals, final.roots)
    kept = sizes >= selection.least
    begins = np.arange(len(sizes)) > 0
    begins[report.labels[final.gone]] = False
    are_best = np.ones(len(sizes) - 1, bool)
    if best is not None or selection.listed:
        roots = root_indices(rules.shape, start, labelled.labels.shape, on_host(labelled.first()))
        roots[report.labels - 1] = final.roots
        if best is not None:
            are_best = np.isin(roots, best.roots)
            kept[1:] &= are_best
            if len(best.roots) < selection.listed:  # others are among the largest, too
                are_best[:] = True
    kept[0] = False
    summary = None
    if selection.listed:
        of_all = np.flatnonzero(begins)
        rows = sizes[of_all], roots[of_all - 1] // rules.item_size, of_labels[of_all]
        summary = summary_of(*rows, selection.listed, among=are_best[of_all - 1])
    of_labels[~kept] = of_labels[0]
    labels = relabel_chunk(labelled.labels, of_labels, rules.label_type)
    return Selected(labels, int(np.count_nonzero(begins & kept)), int(parts[kept].sum()), summary)


def select_items(rules: Rules, selection: Selection, labels: NDArray[Any]) -> Selected:
    """Keep components of a chunk of whole items."""
    background = 0 if rules.question.consecutive else -1
    options: dict[str, Any] = {"background": background, "batch_axes": rules.question.batch_axes}
    summary = None
    if selection.listed:
        of_items = component_sizes(labels, **options)
        rows = of_items.shape[-1]
        sizes = of_items.reshape(of_items.size // max(rows, 1), rows)
        items, numbers = np.nonzero(sizes)
        summary = summary_of(sizes[items, numbers], items, numbers, selection.listed)
    kept = remove_small_components(labels, min(selection.least, labels.size + 1), **options)
    if selection.largest is not None:
        kept = largest_components(kept, min(selection.largest, labels.size), **options)
    sizes = component_sizes(kept, **options)
    kept = kept.astype(labels.dtype, copy=False)
    return Selected(kept, int(np.count_nonzero(sizes)), int(sizes.sum()), summary)


def summary_of(
    sizes: Indices, items: Indices, labels: Indices, listed: int, among: Any = slice(None)
) -> SizeSummary:
    """Return a summary of components of sizes above 0, listing the largest `among` them."""
    digits = np.searchsorted(10 ** np.arange(DIGITS, dtype=np.int64), sizes, side="right") - 1
    by_digits = np.zeros((DIGITS, 2), np.int64)
    by_digits[:, 0] = np.bincount(digits, minlength=DIGITS)
    np.add.at(by_digits[:, 1], digits, sizes)
    return SizeSummary(by_digits, _largest(np.stack([sizes, items, labels], axis=1)[among], listed))


def from_numbers(numbers: Sequence[int]) -> SizeSummary:
    """Return the summary that has these numbers; too few raise ValueError."""
    whole = np.array(numbers, np.int64)
    return SizeSummary(whole[: 2 * DIGITS].reshape(DIGITS, 2), whole[2 * DIGITS :].reshape(-1, 3))


def merged_summaries(summaries: Sequence[SizeSummary], listed: int) -> SizeSummary:
    """Return the summary of what one or more summaries are of."""
    by_digits = np.sum([summary.by_digits for summary in summaries], axis=0)
    largest = np.concatenate([summary.largest for summary in summaries])
    return SizeSummary(by_digits, _largest(largest, listed))


def _largest(rows: Indices, listed: int) -> Indices:
    return np.asarray(rows[np.lexsort((rows[:, 2], rows[:, 1], -rows[:, 0]))[:listed]])
