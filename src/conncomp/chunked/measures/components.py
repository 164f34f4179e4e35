"""What one does with labels in chunks: count, select and renumber components.

A chunk has few of the labels of the array: each is listed with its number of elements, lists are
merged in a tree, and chunks look up what they have in the list of all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._arrays import on_host
from conncomp.chunked.relabelling import relabel_chunk
from conncomp.components.renumbering import relabel_consecutive
from conncomp.components.sizes import component_sizes

Selection = Callable[["Sizes"], NDArray[np.bool_]]


class Sizes(NamedTuple):
    """The labels that occur, ascending, and how many elements have each; 0 for the background."""

    labels: NDArray[Any]
    sizes: NDArray[np.int64]


def sizes_of_chunk(background: int | None, lowest: int | None, labels: Any) -> Sizes:
    """Count the elements of the labels of a chunk; masked ones count as background.

    A ValueError says that a label is below `lowest`.
    """
    numbers, old = _numbered(labels)
    counts = on_host(component_sizes(numbers, background=None))
    if np.ma.is_masked(labels):
        counts = np.bincount(numbers[~np.ma.getmaskarray(labels)], minlength=len(old))
    kept = counts > 0
    if background is not None:
        counts[old == background] = 0
    if lowest is not None and kept.any() and old[kept].min() < lowest:
        raise ValueError(f"labels holds {old[kept].min()}; labels are not negative")
    return Sizes(old[kept], counts[kept])


def _numbered(labels: Any) -> tuple[Any, NDArray[Any]]:
    """Return numbers from 0 for the labels of a chunk, where they lie, and the labels of these."""
    given = labels.data if isinstance(labels, np.ma.MaskedArray) else labels
    numbers, old = relabel_consecutive(given, return_labels=True, background=None)
    return numbers, on_host(old)


def merged_sizes(*parts: Sizes) -> Sizes:
    """Return the sizes in several parts together."""
    labels = np.concatenate([part.labels for part in parts])
    sizes = np.concatenate([part.sizes for part in parts])
    distinct, place = np.unique(labels, return_inverse=True)
    total = np.zeros(len(distinct), np.int64)
    np.add.at(total, place.reshape(-1), sizes)
    return Sizes(distinct, total)


def rows_of(most: int, sizes: Sizes) -> int:
    """Return how many rows a table of all labels has; raise ValueError if more than `most`."""
    rows = int(sizes.labels[-1]) + 1 if len(sizes.labels) else 0
    if rows > most:
        raise ValueError(
            f"labels holds {rows - 1}, too large for its elements; renumber it first, with "
            "conncomp.relabel_consecutive(labels)"
        )
    return rows


def selected(choose: Selection, most: int, sizes: Sizes) -> NDArray[Any]:
    """Return the labels that are chosen of all, ascending."""
    rows_of(most, sizes)
    components = without_background(sizes)
    labels: NDArray[Any] = components.labels[choose(components)]
    return labels


def without_background(sizes: Sizes) -> Sizes:
    """Return the sizes of components alone."""
    return Sizes(*(column[sizes.sizes > 0] for column in sizes))


class Largest(NamedTuple):
    """Chooses so many components, of equally large ones those with the smallest label."""

    components: int

    def __call__(self, sizes: Sizes) -> NDArray[np.bool_]:
        """Return which are chosen."""
        chosen = np.zeros(len(sizes.labels), bool)
        chosen[np.argsort(-sizes.sizes, kind="stable")[: self.components]] = True
        return chosen


class Between(NamedTuple):
    """Chooses components from a size up to another one, or all others."""

    least: int
    most: int | None
    inverted: bool

    def __call__(self, sizes: Sizes) -> NDArray[np.bool_]:
        """Return which are chosen."""
        chosen: NDArray[np.bool_] = sizes.sizes >= self.least
        if self.most is not None:
            chosen &= sizes.sizes <= self.most
        return ~chosen if self.inverted else chosen


def keep_labels(background: int, dtype: np.dtype[Any], labels: Any, kept: NDArray[Any]) -> Any:
    """Return the labels of a chunk that are among those kept, and background elsewhere."""
    numbers, old = _numbered(labels)
    table = np.where(np.isin(old, kept), old.astype(np.int64), background)
    return _looked_up(labels, numbers, table, background, dtype)


def renumber_labels(
    background: int, first: int, dtype: np.dtype[Any], labels: Any, sizes: Sizes
) -> Any:
    """Return which places the labels of a chunk have among all; the background stays."""
    numbers, old = _numbered(labels)
    sizes = without_background(sizes)
    place = np.searchsorted(sizes.labels, old)
    known = np.zeros(len(old), bool)
    inside = place < len(sizes.labels)
    known[inside] = sizes.labels[place[inside]] == old[inside]
    table = np.where(known, place + first, background).astype(np.int64)
    return _looked_up(labels, numbers, table, background, dtype)


def _looked_up(
    labels: Any, numbers: Any, table: NDArray[np.int64], background: int, dtype: np.dtype[Any]
) -> Any:
    if not numbers.size:
        return numbers.astype(dtype)
    result = relabel_chunk(numbers, table, dtype)
    if np.ma.is_masked(labels):
        result[np.ma.getmaskarray(labels)] = background
    return result
