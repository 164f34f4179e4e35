"""Contacts of components: which touch, in how many places and over which area."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arguments import check_dimensions
from conncomp._array_storage import few_on_host, new_array
from conncomp._containers import spacing_of
from conncomp._core import native
from conncomp.components._labels import (
    Background,
    Items,
    Labels,
    Shape,
    check_items,
    check_spacing,
    items_of_rows,
    library_at,
    where_labels_lie,
)
from conncomp.components.selection import assign_rows
from conncomp.graph.graph import Graph
from conncomp.grid._arguments import check_neighbourhood
from conncomp.kernels.cuda.components import contacts as on_gpu
from conncomp.kernels.cuda.launcher import current_gpu
from conncomp.kernels.neighbourhood import Neighbourhood, steps_along

KEY_BITS = 63  # of a pair of labels and a kind of contact


@dataclass(frozen=True)
class Contacts:
    """What `contacts` returns: a row for each of n pairs of labels that touch.

    Rows are in the order of `pairs`, with batch axes in the order of items first.

    Attributes
    ----------
    pairs : ndarray of int64, shape (n, 2)
        The smaller label, and the larger one.
    counts : ndarray of int64, shape (n,)
        How many contacts there are: two elements, one of each label, that are neighbours, and a
        step from one to the other.
    areas : ndarray of float64, shape (n,)
        The area of the faces between the two; 0 where they touch along edges or at corners only. In
        two dimensions it is the length of the edges between pixels, in one the number of contacts.
    batch : ndarray of int64, shape (n, batch_axes)
        The item that the pair is of, as indices along the batch axes.
    """

    pairs: NDArray[np.int64]
    counts: NDArray[np.int64]
    areas: NDArray[np.float64]
    batch: NDArray[np.int64]


@where_labels_lie
def contacts(
    labels: ArrayLike,
    *,
    connectivity: float | None = None,
    spacing: float | Sequence[float] | None = None,
    periodic: bool | Sequence[bool] = False,
    background: Background = "auto",
    batch_axes: int = 0,
) -> Contacts:
    """Find the pairs of labels that touch, and the area between them.

    Parameters
    ----------
    labels : array_like of int
        One dimension or more, as for `component_sizes`.
    connectivity : int, optional
        Along how many axes elements that touch may differ, as for `label`.
    spacing : number or sequence of numbers, optional
        How far apart elements are, along all axes or each; by default as an image of SimpleITK or
        ITK says, and else 1. A face is as large as the product of those of the other axes.
    periodic : bool or sequence of bool, optional
        Which axes close on themselves, as for `label`. Each step is a contact, wherever it leads
        around such an axis: two elements along one of length 2 touch twice, and neighbours across
        one of length 1 touch straight and along both diagonals. An array that is repeated along
        periodic axes has so many times the contacts.
    background, batch_axes
        As for `component_sizes`. Nothing touches the background, or across items.

    Returns
    -------
    Contacts
        In arrays of the library of `labels`, where that lies. Contacts and faces are counted in
        integers, so that the result is the same for any number of threads and on a GPU.

    Raises
    ------
    TypeError, ValueError, MemoryError
        As for `component_sizes`; and if `labels` has no dimension, `connectivity` or `spacing` does
        not fit, or so many periodic axes have length 1 that contacts are too many for int64.

    See Also
    --------
    region_adjacency : The same pairs as the edges of a graph, without areas.

    Notes
    -----
    ``areas`` are what ``cc3d.contacts`` returns by default, and ``counts`` what it is to return
    with ``surface_area=False``. Version 4.1.1 of it counts some corners too often.

    Examples
    --------
    >>> import conncomp
    >>> labels = [[1, 1, 2], [1, 3, 2], [0, 3, 3]]
    >>> touching = conncomp.contacts(labels, connectivity=1, spacing=(1, 0.5))
    >>> touching.pairs
    array([[1, 2],
           [1, 3],
           [2, 3]])
    >>> touching.areas, touching.counts
    (array([1. , 1.5, 1.5]), array([1, 2, 2]))
    """
    spacing = spacing_of(("labels", labels)) if spacing is None else spacing
    items, neighbourhood = check_touching(labels, connectivity, periodic, background, batch_axes)
    lengths = check_spacing(spacing, len(items.shape))
    steps = contact_steps(neighbourhood, items.shape)
    pairs, kinds = count_contacts(*items.numbered, steps)
    face = [prod(lengths[:axis] + lengths[axis + 1 :]) for axis in steps.axes]
    counts, areas = _weighed(kinds, face, steps.times)
    batch, first = items_of_rows(items, pairs[:, 0])
    if items.batch:
        pairs = pairs - (pairs[:, 0] - first)[:, None]  # without the rows of the items before
    return Contacts(*map(items.xp.asarray, (pairs, counts, areas, batch)))


def region_adjacency(
    labels: ArrayLike,
    *,
    connectivity: float | None = None,
    periodic: bool | Sequence[bool] = False,
    background: Background = "auto",
    batch_axes: int = 0,
) -> Graph:
    """Return the graph whose vertices are labels, with an edge between any two that touch.

    Parameters
    ----------
    labels, connectivity, periodic, background, batch_axes
        As for `contacts`.

    Returns
    -------
    Graph
        It has ``labels.max() + 1`` vertices, as labels are numbers of vertices; the background and
        numbers that do not occur have no edge. With batch axes each item has so many, one item
        after another: an entry for each vertex is ``values.reshape(*batch, -1)[item][label]``. Arc
        i leads from the first label of pair i of `contacts` to the second, arc n + i
        back, so that ``numpy.tile(areas, 2)`` are weights of the arcs.

    Examples
    --------
    >>> import conncomp
    >>> graph = conncomp.region_adjacency([[1, 1, 2], [1, 3, 2], [4, 3, 3]], connectivity=1)
    >>> graph
    Graph(num_vertices=5, num_arcs=10)
    >>> conncomp.connected_components(graph, return_labels=False)
    2
    """
    src, dst, vertices = _arcs(labels, connectivity, periodic, background, batch_axes)
    return Graph.from_edges(src, dst, int(vertices[0]))


def _weighed(kinds: Any, face: list[float], times: Shape) -> tuple[Any, Any]:
    """Return counts and areas of each pair by its contacts; the first kinds are faces."""
    xp, length = library_at(kinds), len(kinds)
    if xp is np:
        counts, areas = new_array(np, (length,), np.int64), new_array(np, (length,), np.float64)
        native.weigh_contacts(kinds.reshape(-1), list(times), face, counts, areas)
        return counts, areas
    return sums_of_kinds(kinds.T, face, times, xp.zeros(length, np.int64), xp.zeros(length))


def sums_of_kinds(kinds: Any, face: Any, times: Any, *totals: Any) -> tuple[Any, Any]:
    """Return totals, counts and areas, with what contacts add; the first kinds are faces."""
    counts, areas = totals
    for column, area in zip(kinds, face, strict=False):
        areas = areas + column * area
    for column, many in zip(kinds, times, strict=True):
        counts = counts + column * many
    return counts, areas


@where_labels_lie
def _arcs(labels: ArrayLike, *neighbours: Any) -> tuple[Any, Any, Any]:
    """Return the ends of arcs, and the number of vertices as an array."""
    items, neighbourhood = check_touching(labels, *neighbours)
    steps = contact_steps(neighbourhood, items.shape, one_kind=True)
    pairs, _ = count_contacts(*items.numbered, steps)
    arcs = library_at(pairs).concatenate([pairs, pairs[:, ::-1]]).astype(items.labels.dtype)
    src, dst = (items.xp.asarray(arcs[:, end].copy()) for end in (0, 1))
    return src, dst, items.xp.full(1, items.all_rows)


def check_touching(
    labels: Any, connectivity: float | None, periodic: Any, background: Background, batch_axes: int
) -> tuple[Items, Neighbourhood]:
    """Check labels, of one axis or more, and say which elements of an item are neighbours."""
    items = check_items(labels, background, batch_axes)
    return items, neighbourhood_in(items.shape, bool(items.batch), connectivity, periodic)


def neighbourhood_in(
    shape: Shape, is_item: bool, connectivity: float | None, periodic: Any = False
) -> Neighbourhood:
    """Check which elements of labels, or of an item of these, are neighbours."""
    check_dimensions(len(shape))
    name = "an item of labels" if is_item else "labels"
    return check_neighbourhood(connectivity, None, periodic, shape, name)


class ContactSteps(NamedTuple):
    """Backward steps of a neighbourhood in an item, without its axes of length 1.

    `axes` are those that are longer, and `shape` their lengths. Steps are `packed`, int64 of shape
    (steps, 4), as `ContactStep` in ``cpu/components/contacts.h``, with an axis of items ahead;
    `periodic` has bits of axes. For each kind of contacts `times` is how many steps in the whole
    item a step here stands for. Kinds are faces, by axis, and others, by this number; or one.
    """

    axes: Shape
    shape: Shape
    packed: NDArray[np.int64]
    periodic: int
    times: Shape

    @property
    def kinds(self) -> int:
        """The number of kinds of contacts."""
        return len(self.times)


@lru_cache(maxsize=256)
def contact_steps(
    neighbourhood: Neighbourhood, shape: Shape, one_kind: bool = False
) -> ContactSteps:
    """Return the steps of a neighbourhood in an item of `shape`."""
    axes = tuple(k for k, length in enumerate(shape) if length > 1)
    lengths = tuple(shape[k] for k in axes)
    steps = steps_along(neighbourhood, axes)
    moves = steps.packed.astype(np.int64)
    strides = np.array([prod(lengths[k + 1 :]) for k in range(len(axes))], np.int64)
    bits = np.array([2 << k for k in range(len(axes))], np.int64)
    num_moves = np.abs(moves).sum(axis=1)
    most = max(num_moves, default=0)
    times_of_moves = [_repetitions(neighbourhood, shape, count) for count in range(most + 1)]
    times_aslant = sorted(set(times_of_moves[2:]))
    aslant = [len(axes) + times_aslant.index(times) for times in times_of_moves[2:]]
    kind = np.array([0, 0, *aslant])[num_moves]
    kind[num_moves == 1] = np.nonzero(moves[num_moves == 1])[1]
    times = (*times_of_moves[1:2] * len(axes), *times_aslant)
    columns = moves @ strides, (moves < 0) @ bits, (moves > 0) @ bits, kind * (not one_kind)
    packed = np.stack(columns, axis=1)
    closed = sum(2 << k for k, is_closed in enumerate(steps.periodic) if is_closed)
    return ContactSteps(axes, lengths, packed, closed, (1,) if one_kind else times)


def _repetitions(neighbourhood: Neighbourhood, shape: Shape, moves: int) -> int:
    """Return how many steps do what one along `moves` axes does."""
    reach: Any = neighbourhood.connectivity
    axes = zip(shape, neighbourhood.periodic, strict=True)
    around = sum(length == 1 and is_closed for length, is_closed in axes)
    return sum(comb(around, more) << more for more in range(min(reach - moves, around) + 1))


def count_contacts(
    labels: Labels, background: int, rows: int, items: int, steps: ContactSteps
) -> tuple[Any, Any]:
    """Return pairs of labels that touch, ascending, and how often, for each kind of contact.

    Labels are as `Items` has them. Pairs are of shape (n, 2), and counts of (n, steps.kinds); few
    are in main memory. Raise ValueError if labels are too large for keys, beyond 2**31 or so.
    """
    if rows * rows * steps.kinds > 1 << KEY_BITS:
        told = f"labels holds {rows - 1} once the components of all items are numbered"
        remedy = "renumber it first, with conncomp.relabel_consecutive(labels), or take fewer items"
        raise ValueError(f"{told}, too large for pairs of them; {remedy}")
    if max(steps.times, default=1) * labels.size * len(steps.packed) > np.iinfo(np.int64).max:
        told = "periodic closes so many axes of length 1 that contacts are too many for int64"
        raise ValueError(f"{told}; leave these axes of labels out")
    xp, shape = library_at(labels), (items, *steps.shape)
    if labels.size == 0 or not len(steps.packed):
        return xp.empty((0, 2), np.int64), xp.empty((0, steps.kinds), np.int64)
    problem = shape, steps.periodic, steps.packed, steps.kinds
    if xp is not np:
        keys, times = on_gpu.find_contacts(current_gpu(), labels, background, rows, *problem)
        return pairs_of_keys(few_on_host(keys), few_on_host(times), rows, steps.kinds)
    contacts_of_kinds = native.find_contacts(labels.reshape(-1), *problem, background, rows)
    pairs = new_array(np, (contacts_of_kinds.pairs, 2), np.int64)
    counts = new_array(np, (contacts_of_kinds.pairs, steps.kinds), np.int64)
    contacts_of_kinds.write(pairs.reshape(-1), counts.reshape(-1))
    return pairs, counts


def pairs_of_keys(keys: Any, counts: Any, rows: int, kinds: int) -> tuple[Any, Any]:
    """Return pairs, ascending, and the counts of each pair side by side, from `find_contacts`."""
    xp = library_at(keys)
    order = xp.argsort(keys)
    keys, counts = keys[order], counts[order]
    pair = keys // kinds
    begins = xp.ones(len(keys), bool)
    begins[1:] = pair[1:] != pair[:-1]
    place = xp.cumsum(begins, dtype=np.int64) - 1
    distinct = pair[xp.flatnonzero(begins)]
    pairs = xp.stack([distinct // rows, distinct % rows], axis=-1)
    by_kind = xp.zeros(len(distinct) * kinds, np.int64)
    assign_rows(by_kind, place * kinds + keys - pair * kinds, counts)
    return pairs, by_kind.reshape(len(distinct), kinds)
