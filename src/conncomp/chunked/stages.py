"""The three stages of all chunks, by whatever engine calls functions.

    labelling.py    label_and_report    a chunk's values -> a report of its faces
    union.py        link                reports of neighbours -> roots that are one
    tree.py         Tree.unite          these, of all chunks -> what each root has become
    numbering.py    final_roots         -> which roots of a chunk are gone; counts of the others
                    publish             -> numbers of its own, which the tree exchanges
    relabelling.py  relabel             a chunk's values again -> labels as the whole array has them

Where some components are selected, `selection.py` has the first and the last function. Chunks of
whole items need none of this: `label_items` is their only stage. Engines tell stages by these
functions; names are for people.
"""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp.chunked.labelling import label_and_report, label_values, unmasked
from conncomp.chunked.layout import Index, Layout
from conncomp.chunked.numbering import FinalRoots, final_roots, publish
from conncomp.chunked.relabelling import relabel
from conncomp.chunked.rules import Rules
from conncomp.chunked.selection import (
    Selected,
    Selection,
    choose_all,
    label_and_count,
    relabel_selected,
    select_items,
)
from conncomp.chunked.tree import Call, Deferred, Entry, OfChunks, Tree
from conncomp.chunked.union import crossings_of, link
from conncomp.kernels.neighbourhood import Step

COUNTS = FinalRoots._fields.index("counts")


class Result(NamedTuple):
    """The results of an engine for all chunks."""

    labels: dict[Index, Deferred]  # by the index of each chunk
    # of the items of a block, in C order, by its index along the batch axes; none if not asked
    counts: dict[Index, Deferred]


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
    if not layout.crossed:
        return _label_alone(call, layout, rules, values, selection)
    starts = {index: layout.start(index) for index in layout.indices()}
    first: Any = label_and_report if selection is None else label_and_count
    keep_or_selection = again_of is None if selection is None else selection
    reports = {}
    for index, start in starts.items():
        sides, value = layout.sides(index), values[index]
        reports[index] = call("label", index, first, rules, start, sides, keep_or_selection, value)
    linked = _link_all(call, layout, rules, reports)
    result, question = Result({}, {}), rules.question
    name = "numbers" if question.consecutive else "roots"
    for block in product(*map(range, layout.counts[: layout.batch_axes])):
        tree = Tree(call, layout, block)
        tables = tree.unite(linked).items()
        final: dict[Index, Deferred] = dict(tables)
        if question.consecutive or question.counted or selection:  # else roots are looked up
            final = {k: call("count", k, final_roots, reports[k], table) for k, table in tables}
        before, numbers = dict[Index, Entry](), dict[Index, Entry]()
        if question.consecutive or question.counted:
            counts = {index: Entry(of_chunk, COUNTS) for index, of_chunk in final.items()}
            before, result.counts[block] = tree.count_before(counts)
        if question.consecutive:
            parts = final.items()
            own = {k: call("publish", k, publish, reports[k], each, before[k]) for k, each in parts}
            numbers = tree.exchange(own)
        chosen = choose_all(call, tree, rules, selection, reports, final) if selection else {}
        last: Any = relabel_selected if selection else relabel
        for index, of_chunk in final.items():
            value, ahead = (again_of or values)[index], before[index] if numbers else None
            known = of_chunk, ahead, numbers.get(index), *([chosen[index]] if selection else ())
            given = rules, starts[index], value, reports[index], *known
            result.labels[index] = call(name, index, last, *given)
    return result


def _link_all(call: Call, layout: Layout, rules: Rules, reports: OfChunks) -> OfChunks:
    linked, distinct = {}, dict[tuple[Step, ...], tuple[Step, ...]]()
    leading = tuple(crossings_of(rules))
    for index in layout.indices():
        found = layout.neighbours(index, leading)
        directions = tuple(direction for direction, _ in found)
        directions = distinct.setdefault(directions, directions)  # of many chunks, kept once
        others = [reports[other] for _, other in found]
        linked[index] = call("link", index, link, rules, directions, reports[index], *others)
    return linked


class Alone(NamedTuple):
    """A chunk of whole items, which no other one touches."""

    labels: NDArray[Any] | Selected
    counts: NDArray[np.int64]


def _label_alone(
    call: Call, layout: Layout, rules: Rules, values: OfChunks, selection: Selection | None
) -> Result:
    result = Result({}, {})
    for index in layout.indices():
        alone = call("alone", index, label_items, rules, values[index], selection)
        result.labels[index] = call("labels", index, labels_of, alone)
        result.counts[index[: layout.batch_axes]] = call("counts", index, counts_of, alone)
    return result


def label_items(rules: Rules, values: NDArray[Any], selection: Selection | None = None) -> Alone:
    """Do the only stage of a chunk of whole items."""
    labels, counts = label_values(rules, values, alone=True)
    counts = unmasked(counts) if rules.question.batch_axes else np.array([int(counts)])
    if selection is not None:
        labels = select_items(rules, selection, labels)
    return Alone(labels, counts)


def labels_of(alone: Alone, out: NDArray[Any] | None = None) -> NDArray[Any] | Selected:
    """Return the labels of a chunk of whole items, in `out` if that is given."""
    if out is None:
        return alone.labels
    out[...] = alone.labels
    return out


def counts_of(alone: Alone) -> NDArray[np.int64]:
    """Return how many components items of a chunk have."""
    return alone.counts
