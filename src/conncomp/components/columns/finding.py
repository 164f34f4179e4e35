"""Which components there are, on a GPU without a word from the host where that is possible."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from conncomp._arrays import on_gpu, placed
from conncomp.components._labels import Background, Items, check_background, check_items
from conncomp.components.measuring import Places
from conncomp.kernels.cuda.components.measures import RepeatedRuns, start_runs
from conncomp.kernels.cuda.components.runs import ComponentRuns
from conncomp.kernels.cuda.launcher import current_gpu


def items_at_start(
    labels: Any, background: Background, batch_axes: int
) -> tuple[Items, RepeatedRuns | None]:
    """Return the items of labels, and what has started to find their runs on a GPU, if anything.

    Then nobody knows yet how many rows there are.
    """
    started = None
    if on_gpu(labels):
        allowed = partial(check_background, background)
        started = start_runs(current_gpu(), labels, batch_axes, allowed)
    if started is None:
        return check_items(labels, background, batch_axes), None
    batch, shape = labels.shape[:batch_axes], labels.shape[batch_axes:]
    return Items(labels, -1, 0, batch, shape, labels.dtype), started


def items_and_runs(
    items: Items,
    started: RepeatedRuns | None,
    labels: Any,
    background: Background,
    batch_axes: int,
) -> tuple[Items, ComponentRuns | None]:
    """Return items of as many rows as there are, and their runs, if these are found already."""
    if started is None:
        return items, None
    finished = started.finish(labels)
    if finished is None:
        return check_items(labels, background, batch_axes), None
    array, empty, rows, runs = finished
    return replace(items, labels=array, background=empty, rows=rows), runs


def scale(xp: Any, lengths: tuple[float, ...], places: Places, brightness: Any) -> None:
    """Let centroids and covariances be in units of the spacing."""
    factors = placed(xp, np.array(lengths))
    for column in (places.centroids, *(columns[-1] for columns in brightness)):
        column *= factors
    places.covariances[...] *= placed(xp, np.outer(lengths, lengths))
