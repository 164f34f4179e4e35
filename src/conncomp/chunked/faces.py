"""The second stage, between two chunks: which of their components are linked over faces."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._core import native
from conncomp.chunked.rules import Rules
from conncomp.kernels.links import Links
from conncomp.kernels.neighbourhood import Step


class Face(NamedTuple):
    """One side of a chunk; arrays lack the axis that leads to it.

    What the link rule compares are values, or for bonds whether there is one to the next chunk; one
    entry without axes for all foreground, if that is of one value; or None.
    """

    ids: NDArray[np.int32]  # which component of the report, -1 for the background
    compared: NDArray[Any] | None


class Report(NamedTuple):
    """What other chunks have to know of one. Arrays of components have those on faces, in order."""

    roots: NDArray[np.int64]  # flat index in the whole array of the first element in this chunk
    labels: NDArray[np.int64]  # in this chunk
    segments: NDArray[np.int64]  # where that element lies, as segment_axis says
    touched: NDArray[np.uint64]  # bits of sides, as of Layout.sides
    faces: dict[int, Face]  # beyond which there is another chunk, by the number of their bit
    counts: NDArray[np.int64]  # of components, on faces or not, that begin in each segment
    sizes: NDArray[np.int64] = np.zeros(0, np.int64)  # of parts in the chunk; empty unless wanted
    # components on no face that may be among the largest of all; empty unless wanted
    inner_roots: NDArray[np.int64] = np.zeros(0, np.int64)
    inner_sizes: NDArray[np.int64] = np.zeros(0, np.int64)


def linked_roots(rules: Rules, direction: Step, one: Report, other: Report) -> NDArray[np.int64]:
    """Return distinct pairs of roots that links between two neighbouring chunks unite, as two rows.

    The direction, of `Rules.directions`, leads from the first chunk to the other one.
    """
    first = next(j for j, move in enumerate(direction) if move)
    bit = 2 * first + (direction[first] > 0)
    here = _part(rules, direction, one.faces[bit])
    there = _part(rules, tuple(-move for move in direction), other.faces[bit ^ 1])
    here = Face(here.ids + np.int32(1), here.compared)  # 0 is background, from here on
    there = Face(there.ids + np.int32(1), there.compared)
    here, there = _with_one_value(rules.links, here, there)
    others = len(other.roots) + 1
    codes = []
    for step in rules.moves[direction]:
        near, far = _neighbours(rules, direction, step, here, there)
        ids = near.ids
        if near.compared is not None or far.compared is not None:
            ids = np.where(_are_linked(rules.links, near.compared, far.compared), ids, np.int32(0))
        runs = native.pair_runs(ids.reshape(-1), far.ids.reshape(-1)).reshape(-1, 3)
        codes.append(runs[:, 0] * others + runs[:, 1])
    pairs = np.unique(np.concatenate(codes))
    return np.stack([one.roots[pairs // others - 1], other.roots[pairs % others - 1]])


def _with_one_value(links: Links, here: Face, there: Face) -> tuple[Face, Face]:
    """Return two faces of which values are compared here, if each is of one, or else of all places.

    What is not linked becomes background.
    """
    one, other = here.compared, there.compared
    if one is None or other is None:  # nothing is, or bonds
        return here, there
    if one.ndim == other.ndim == 0:
        linked = bool(_are_linked(links, one, other))
        return Face(here.ids * np.int32(linked), None), there._replace(compared=None)
    return (
        here._replace(compared=np.broadcast_to(one, here.ids.shape)),
        there._replace(compared=np.broadcast_to(other, there.ids.shape)),
    )


def _part(rules: Rules, direction: Step, face: Face) -> Face:
    """Return the part of a face that is next to the chunk in some direction.

    Its axes are those along which the direction does not lead.
    """
    moves = dict(zip(rules.crossed, direction, strict=True))
    over = [axis for axis, move in moves.items() if move]
    places: tuple[Any, ...] = tuple(
        (0 if moves[axis] < 0 else -1) if axis in over else slice(None)
        for axis in range(len(rules.shape))
        if axis != over[0]
    )
    places += (...,)  # so that what is left of no axis is an array, too
    compared = face.compared
    if compared is not None and compared.ndim == face.ids.ndim:
        compared = compared[places]
    return Face(face.ids[places], compared)


def _neighbours(
    rules: Rules, direction: Step, step: Step, here: Face, there: Face
) -> tuple[Face, Face]:
    """Return the elements from which a step leads to the other chunk, and where it leads."""
    over = {axis for axis, move in zip(rules.crossed, direction, strict=True) if move}
    within = [(axis, step[axis]) for axis in range(len(step)) if axis not in over]
    near, far, turned, turns = [], [], [], []
    for k, (axis, move) in enumerate(within):
        if move and axis >= rules.batch_axes and rules.closed[axis - rules.batch_axes]:
            turned.append(k)
            turns.append(-move)
            move = 0
        near.append(slice(max(-move, 0), -move if move > 0 else None))
        far.append(slice(max(move, 0), move if move < 0 else None))

    def reached(array: NDArray[Any] | None) -> NDArray[Any] | None:
        if array is None:
            return None
        return (np.roll(array, turns, turned) if turned else array)[tuple(far)]

    compared = None if here.compared is None else here.compared[tuple(near)]
    ids: Any = reached(there.ids)
    return Face(here.ids[tuple(near)], compared), Face(ids, reached(there.compared))


def _are_linked(links: Links, near: Any, far: Any) -> Any:
    """Return which elements are linked to those in the same places of another chunk, if both are.

    Arrays are what the link rule compares, as kernels do; of bonds the chunk that is first has
    them.
    """
    if links.rule == "bonds":
        return far if near is None else near
    if links.rule == "equal":
        return near == far
    with np.errstate(invalid="ignore", over="ignore"):
        if near.dtype.kind == "f":
            near, far = near.astype(np.float64), far.astype(np.float64)
            return (near == far) | (abs(near - far) <= links.limit)
        unsigned = np.dtype(f"u{near.dtype.itemsize}")
        high, low = np.maximum(near, far), np.minimum(near, far)
        # Unsigned numbers wrap around to the difference, which always fits.
        return high.astype(unsigned) - low.astype(unsigned) <= unsigned.type(links.limit)
