"""The only stage where items are not cut: a chunk of whole items, which no other one touches."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp.chunked.labelling import label_values, on_host
from conncomp.chunked.rules import Rules
from conncomp.chunked.selection import Selected, Selection, select_items
from conncomp.grid.question import Numbering


class Alone(NamedTuple):
    """A chunk of whole items, which no other one touches."""

    labels: NDArray[Any]
    counts: NDArray[np.int64]
    selected: Selected | None = None


def label_items(
    rules: Rules,
    numbering: Numbering,
    dtype: np.dtype[Any],
    values: NDArray[Any],
    selection: Selection | None = None,
) -> Alone:
    """Label a chunk of whole items."""
    labels, counts = label_values(rules, values, numbering=numbering, dtype=dtype)
    counts = on_host(counts) if rules.batch_axes else np.array([int(counts)])
    if selection is None:
        return Alone(labels, counts)
    selected = select_items(rules, selection, -1 if numbering == "roots" else 0, labels)
    return Alone(selected.labels, counts, selected)


def labels_of(alone: Alone, out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Return the labels of a chunk of whole items, in `out` if that is given."""
    if out is None:
        return alone.labels
    out[...] = alone.labels
    return out
