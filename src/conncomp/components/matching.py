"""Overlaps of the components of two labellings of the same elements.

One labelling is a second layer upon the other, with numbers of its own. Elements of a pair of
labels that overlap are then neighbours across the layers, which `count_contacts` counts in one
pass. Cost: that, a copy of both labellings, and the sizes of their components.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arguments import INT32_MAX, as_number, check_dimensions, named_elsewhere
from conncomp._array_storage import on_host
from conncomp._arrays import as_cupy, on_gpu
from conncomp._containers import laid_beside
from conncomp.components._columns import Columns
from conncomp.components._labels import (
    Background,
    Items,
    check_items,
    check_place,
    items_of_rows,
    library_at,
    where_labels_lie,
)
from conncomp.components.sizes import count_rows
from conncomp.components.touching import ContactSteps, count_contacts


class MatchScores(NamedTuple):
    """How well labels agree, of `Matches.scores`.

    Attributes
    ----------
    true_positives : int
        Pairs of components that are matched, each of one at most.
    false_positives, false_negatives : int
        Components of the second labelling, and of the first, that are not.
    precision, recall, f1, accuracy : float
        True positives over all components of the second labelling; of the first; twice those over
        the components of both; over all but for matched ones counted once. 0 where there are none.
    """

    true_positives: int
    false_positives: int
    false_negatives: int
    precision: float
    recall: float
    f1: float
    accuracy: float


@dataclass(frozen=True)
class Matches(Columns):
    """What `match_labels` returns: a row for each of n pairs of components that overlap.

    Rows are in the order of `pairs`, with batch axes in the order of items first.

    Attributes
    ----------
    pairs : ndarray of int64, shape (n, 2)
        The label in the first labelling, and that in the second.
    intersections, unions : ndarray of int64, shape (n,)
        How many elements both have, and how many one of them or both.
    ious : ndarray of float64, shape (n,)
        Intersections over unions.
    batch : ndarray of int64, shape (n, batch_axes)
        The item that the pair is of, as indices along the batch axes.
    components : tuple of two int
        How many components the labellings have, of which some may overlap none.
    """

    pairs: NDArray[np.int64]
    intersections: NDArray[np.int64]
    unions: NDArray[np.int64]
    ious: NDArray[np.float64]
    batch: NDArray[np.int64]
    components: tuple[int, int]

    def columns(self) -> dict[str, Any]:
        """Return a table: arrays of one axis, a row each pair, by the names of the columns.

        Examples
        --------
        >>> import conncomp
        >>> conncomp.match_labels([[1, 1, 0]], [[0, 3, 3]]).columns()["iou"]
        array([0.33333333])
        """
        table = {"label_a": self.pairs[:, 0], "label_b": self.pairs[:, 1]}
        table |= {f"batch-{k}": self.batch[:, k] for k in range(self.batch.shape[1])}
        table |= {"intersection": self.intersections, "union": self.unions}
        return table | {"iou": self.ious}

    def scores(self, threshold: float = 0.5) -> MatchScores:
        """Score the second labelling, as predicted, against the first one, as true.

        Parameters
        ----------
        threshold : float, optional
            From 0 to 1: how large the intersection over union of a pair has to be, so that the
            pair may be matched. As many pairs are as can be, each component with one at most.

        Returns
        -------
        MatchScores
            The counts and ratios of StarDist's ``matching``, of all items together.

        Raises
        ------
        TypeError, ValueError
            If `threshold` is not a number from 0 to 1.

        Examples
        --------
        >>> import conncomp
        >>> true = [[1, 1, 1, 0, 2, 2, 0, 3]]
        >>> conncomp.match_labels(true, [[1, 1, 0, 0, 0, 2, 2, 0]]).scores(0.6)
        MatchScores(true_positives=1, false_positives=1, false_negatives=2, precision=0.5,
                    recall=0.3333333333333333, f1=0.4, accuracy=0.25)
        """
        least = as_number("threshold", threshold)
        if not 0 <= least <= 1:
            raise ValueError(f"threshold={threshold} must be from 0 to 1")
        matched = self._most_pairs(least)
        true, predicted = map(int, self.components)
        counts, total = (matched, predicted - matched, true - matched), true + predicted
        shares = matched / max(predicted, 1), matched / max(true, 1)
        f1, accuracy = 2 * matched / max(total, 1), matched / max(total - matched, 1)
        return MatchScores(*counts, *shares, f1, accuracy)

    def _most_pairs(self, least: float) -> int:
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import maximum_bipartite_matching

        columns = self._columns_in_memory()
        near = columns["iou"] >= least
        batch = [columns[f"batch-{k}"][near] for k in range(self.batch.shape[1])]
        sides = []
        for side in ("label_a", "label_b"):
            known = np.stack([*batch, columns[side][near]])
            place = np.unique(known, axis=1, return_inverse=True)[1]
            sides.append(place.reshape(-1).astype(np.int32))  # which SciPy 1.13 wants
        if not len(sides[0]):
            return 0
        graph = csr_array((np.ones(len(sides[0]), bool), tuple(sides)))
        return int(np.count_nonzero(maximum_bipartite_matching(graph) >= 0))


@named_elsewhere(threshold="match_labels(...).scores(threshold=) takes it")
def match_labels(
    labels_a: ArrayLike,
    labels_b: ArrayLike,
    *,
    background: Background = "auto",
    batch_axes: int = 0,
) -> Matches:
    """Find the pairs of components of two labellings that overlap, and how far.

    To evaluate a segmentation, or to follow components from one frame to the next.

    Parameters
    ----------
    labels_a, labels_b : array_like of int
        Labels of one shape and one dimension or more, both in main memory or on a GPU, as for
        `component_sizes`. If the first is a Dask array or is in files, so may be the second, in
        any chunks. Arrays of xarray are aligned as by `component_statistics`.
    background, batch_axes
        As for `component_sizes`, of both. Nothing overlaps across items.

    Returns
    -------
    Matches
        In arrays of the library of `labels_a`, where that lies; of labels in files in main memory,
        of Dask arrays in these, for ``dask.compute``. Pairs without a common element have no row.

    Raises
    ------
    TypeError, ValueError, MemoryError
        As for `component_sizes`; and if labels lie in different memories, are of different shapes,
        or have no dimension.

    See Also
    --------
    contacts : Which components of one labelling touch.

    Examples
    --------
    >>> import conncomp
    >>> before = [[1, 1, 0, 2, 2], [1, 1, 0, 2, 2]]
    >>> after = [[0, 4, 4, 0, 7], [0, 4, 4, 0, 7]]
    >>> matches = conncomp.match_labels(before, after)
    >>> matches.pairs
    array([[1, 4],
           [2, 7]])
    >>> matches.intersections, matches.ious
    (array([2, 2]), array([0.33333333, 0.5       ]))
    """
    labels_b = laid_beside(labels_a, labels_b, "labels_b", "labels_a")
    return _match_labels(labels_a, labels_b, background=background, batch_axes=batch_axes)


@where_labels_lie
def _match_labels(
    labels_a: ArrayLike, labels_b: ArrayLike, *, background: Background, batch_axes: int
) -> Matches:
    check_place(labels_b, on_gpu(labels_a), "labels_b", "labels_a")
    if on_gpu(labels_b):
        labels_b = as_cupy(labels_b)
    first = check_items(labels_a, background, batch_axes, "labels_a")
    check_dimensions(len(first.shape), "labels_a")
    second = check_items(labels_b, background, batch_axes, "labels_b")
    check_second_shape(second.labels.shape, first.labels.shape)
    # From an element of the second layer to that of the first, so many before.
    step = np.array([[-first.length, 2, 0, 0]], np.int64)
    steps = ContactSteps((0, 1), (2, first.length), step, 0, (1,))
    pairs, counts = count_contacts(*_layers(first, second), steps)
    sizes = [count_rows(side) for side in (first, second)]
    present = tuple(int((size > 0).sum()) for size in sizes)
    xp, intersections = library_at(pairs), counts[:, 0]
    rows_a, rows_b = pairs[:, 0], pairs[:, 1] - first.all_rows
    if xp is not first.xp:  # few pairs
        sizes = [on_host(size) for size in sizes]
    unions = sizes[0][rows_a] + sizes[1][rows_b] - intersections
    batch, label_a = items_of_rows(first, rows_a)
    _, label_b = items_of_rows(second, rows_b)
    labels = xp.stack([label_a, label_b], axis=1)
    columns = labels, intersections, unions, intersections / unions, batch
    attributes: list[Any] = [*map(first.xp.asarray, columns), present]
    return Matches(*attributes)


def check_second_shape(other: tuple[int, ...], shape: tuple[int, ...]) -> None:
    """Raise ValueError unless labels_b are of the shape of labels_a."""
    if other != shape:
        raise ValueError(f"labels_b has shape {other}; it must have that of labels_a, {shape}")


def _layers(first: Items, second: Items) -> tuple[Any, int, int, int]:
    """Return what `count_contacts` takes: both layers of each item, the second above."""
    xp, rows = first.xp, first.all_rows + second.all_rows
    dtype = np.dtype(np.int64 if rows > INT32_MAX else np.int32)
    layers = xp.empty((first.count, 2, first.length), dtype)
    layers[:, 0] = first.labels.reshape(first.count, first.length)
    below = second.labels.reshape(second.count, second.length)
    xp.add(below, dtype.type(first.all_rows), out=layers[:, 1])
    layers[:, 1][below == second.background] = second.background
    return layers, first.background, rows, first.count
