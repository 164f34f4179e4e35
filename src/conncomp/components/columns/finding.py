"""Which components there are, on a GPU without a word from the host where that is possible.

And what is little beside it: the units of where they lie, and their faces.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from conncomp._arrays import as_cupy, on_gpu, placed
from conncomp._core import native
from conncomp.components._labels import Background, Items, check_background, check_items
from conncomp.components.columns.intensities import is_narrow, room_of
from conncomp.components.columns.measuring import Places
from conncomp.components.columns.properties import OF_PLACES, OF_SUMS
from conncomp.kernels.cuda.components.configurations import count_faces
from conncomp.kernels.cuda.components.measures import RepeatedRuns, Sums, start_runs
from conncomp.kernels.cuda.components.runs import ComponentRuns
from conncomp.kernels.cuda.launcher import current_gpu


def items_at_start(
    labels: Any,
    background: Background,
    batch_axes: int,
    largest: int | None,
    sums: Sums | None = None,
) -> tuple[Items, RepeatedRuns | None]:
    """Return items, without rows yet, and what has started to find runs or `sums` on a GPU."""
    started = None
    if on_gpu(labels):
        allowed = partial(check_background, background)
        started = start_runs(current_gpu(), labels, batch_axes, allowed, sums)
    if started is None:
        return check_items(labels, background, batch_axes, largest=largest), None
    batch, shape = labels.shape[:batch_axes], labels.shape[batch_axes:]
    return Items(labels, -1, 0, batch, shape, labels.dtype), started


def sums_wanted(labels: Any, image: Any, properties: Any) -> Sums | None:
    """Return what is to be added up of labels on a GPU, if properties ask for no more than that."""
    if properties is not None:
        if not isinstance(properties, (list, tuple)):
            return None
        names = {name if isinstance(name, str) else "" for name in properties}
        if not names <= OF_SUMS:
            return None
        image = None if names <= OF_PLACES else image
    if image is None:
        return Sums(None)
    if not on_gpu(image) or image.shape != labels.shape or image.size == 0:
        return None
    values = as_cupy(image)
    if values.dtype.kind == "b":
        values = values.view(np.uint8)
    is_known = values.dtype == np.float32 or is_narrow(values.dtype, room_of(labels.shape))
    is_itself = is_known and values.flags.c_contiguous
    return Sums(values) if is_itself and values.data.ptr != labels.data.ptr else None


def items_and_runs(
    items: Items,
    started: RepeatedRuns | None,
    labels: Any,
    background: Background,
    batch_axes: int,
    presuming: bool = False,
) -> tuple[Items, ComponentRuns | None]:
    """Return items with their rows, `presuming` as many as in the last calls, and their runs."""
    if started is None:
        return items, None
    finished = started.finish(labels, presuming)
    if finished is None:
        return check_items(labels, background, batch_axes), None
    array, empty, rows, runs = finished
    return Items(array, empty, rows, items.batch, items.shape, items.dtype), runs


def scale(xp: Any, lengths: tuple[float, ...], places: Places, brightness: Any) -> None:
    """Let centroids and covariances be in units of the spacing."""
    factors = placed(xp, np.array(lengths))
    for column in (places.centroids, *(columns[-1] for columns in brightness)):
        column *= factors
    places.covariances[...] *= placed(xp, np.outer(lengths, lengths))


def faces_of(items: Items, rows: Any) -> Any:
    """Return how many faces the components of rows have along each axis."""
    faces = items.xp.zeros((len(rows), len(items.shape)), np.int64)
    if not len(rows):
        return faces
    if items.xp is np:
        native.count_faces(
            items.labels.reshape(-1), items.shape, items.background, rows, faces.reshape(-1)
        )
    else:
        count_faces(current_gpu(), *items.described, rows, faces)
    return faces
