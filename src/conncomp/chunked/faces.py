"""The second stage, between two chunks: which of their components are linked over faces."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._core import native
from conncomp.chunked.rules import Crossing
from conncomp.grid.runs import KeptRuns
from conncomp.kernels.links import Links


class Face(NamedTuple):
    """One side of a chunk; arrays lack the axis that leads to it."""

    ids: NDArray[np.int32]  # which component of the report, -1 for the background
    # Values, or for bonds whether there is one to the next chunk; one entry without axes for all
    # foreground, if that is of one value; or None.
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
    runs: KeptRuns | None = None  # kept if they are no larger than the values, in this process

    def __reduce__(self) -> Any:
        return (Report, (*self[:-1], None))


def linked_roots(links: Links, crossing: Crossing, one: Report, other: Report) -> NDArray[np.int64]:
    """Return distinct pairs of roots that links between two chunks unite, as two rows."""
    faces = one.faces[crossing.bit], other.faces[crossing.bit ^ 1]
    sides = list(zip(faces, crossing.parts, strict=True))
    here, there = (face.ids[part] + np.int32(1) for face, part in sides)  # 0 is background now
    near, far = (
        face.compared
        if face.compared is None or face.compared.ndim < face.ids.ndim
        else face.compared[part]
        for face, part in sides
    )
    if near is not None and far is not None:
        if near.ndim == far.ndim == 0:
            here, near, far = here * np.int32(_are_linked(links, near, far)), None, None
        else:
            near, far = np.broadcast_to(near, here.shape), np.broadcast_to(far, there.shape)
    others = len(other.roots) + 1
    codes = []
    for step in crossing.steps:
        ids, reached, values = here[step.near], there, far
        if step.turned:
            reached = np.roll(there, step.turns, step.turned)
            values = None if far is None else np.roll(far, step.turns, step.turned)
        reached = reached[step.far]
        if near is not None or values is not None:
            own = None if near is None else near[step.near]
            linked = _are_linked(links, own, None if values is None else values[step.far])
            ids = np.where(linked, ids, np.int32(0))
        runs = native.pair_runs(ids.reshape(-1), reached.reshape(-1)).reshape(-1, 3)
        codes.append(runs[:, 0] * others + runs[:, 1])
    pairs = np.unique(np.concatenate(codes))
    return np.stack([one.roots[pairs // others - 1], other.roots[pairs % others - 1]])


def _are_linked(links: Links, near: Any, far: Any) -> Any:
    """Return which elements are linked to those in their places; the first chunk has bonds."""
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
