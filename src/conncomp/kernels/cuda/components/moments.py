"""Moments of components, and variances along principal axes, on the GPU: drives ``moments.cuh``."""

from __future__ import annotations

from typing import Any, NamedTuple

from conncomp.kernels.cuda.components.intensities import VALUE_TYPES
from conncomp.kernels.cuda.components.rows import extent_of, label_rows, lengths_on
from conncomp.kernels.cuda.components.runs import FEW_AXES, ComponentRuns
from conncomp.kernels.cuda.components.tables import places_of
from conncomp.kernels.cuda.launcher import COUNT, DeviceArray, Gpu, Templates, launch
from conncomp.kernels.cuda.structs import Struct

FILE = "cuda/components/moments.cuh"
POWERS, MOST_AXES = 4, 4
ADD = Templates(FILE, "add_small_moments", "add_moments")
OF_VALUES = Templates(
    FILE, "add_weighted_moments", "add_squares<{value}>", value=VALUE_TYPES, rows=(1, POWERS)
)
OF_AXES = Templates(FILE, "centre_moments_of_rows normalize_moments", axes=range(1, MOST_AXES + 1))
VARIANCES = Templates(FILE, "write_variances", axes=FEW_AXES)
BOXES = Struct("Boxes", "entries", ("ndim", COUNT))


class LabelledComponents(NamedTuple):
    """Labels below `rows`, and the runs of those that occur, for kernels that measure columns."""

    labels: Any
    background: int  # as for `label_rows`
    rows: int
    shape: tuple[int, ...]  # of an item
    runs: ComponentRuns

    def described(self, gpu: Gpu, lengths: Any) -> tuple[Any, ...]:
        """Return ``LabelRows``, the ``Extent`` of an item, and `places_of` the components."""
        labels = label_rows(gpu, self.labels, self.background, self.rows)
        return labels, extent_of(gpu, lengths), places_of(gpu, self.runs.components, self.rows)


def element_moments(gpu: Gpu, given: LabelledComponents, boxes: DeviceArray) -> tuple[Any, Any]:
    """Return moments about the first coordinates of boxes, and about centroids.

    There are up to four axes; moments are float64, (n, 4, ..., 4), `boxes` int64, (n, ndim, 2).
    """
    xp, ndim, runs, rows = gpu.xp, len(given.shape), given.runs, given.runs.count
    add_small, add = ADD.load(gpu)
    centre, _ = OF_AXES.load(gpu, ndim)
    raw, central = (xp.empty((rows, *(POWERS,) * ndim)) for _ in range(2))
    if not rows:
        return raw, central
    lengths, turns = _lengths(gpu, given.shape), POWERS ** (ndim - 1)

    memory = xp.zeros(1 + rows * POWERS**ndim * 2, COUNT)
    has_wide, table = memory[:1], memory[1:]

    def launches() -> None:
        where = BOXES.of(gpu, entries=boxes, ndim=ndim)
        extent = extent_of(gpu, lengths)
        if ndim > 1:
            few = runs.in_turns(turns // POWERS)
            launch(add_small, few, runs.record, extent, where, table, has_wide)
            launch(add, runs.in_few_turns(turns), runs.record, extent, where, table, has_wide)
        else:
            launch(add, runs.in_turns(turns), runs.record, extent, where, table, None)
        launch(centre, runs.by_row, runs.state, where, table, raw, central)

    runs.launch("moments", launches, has_wide, table, boxes, raw, central, memory=lengths)
    return raw, central


def weighted_moments(
    gpu: Gpu, given: LabelledComponents, values: DeviceArray, boxes: DeviceArray, about: Any = None
) -> Any:
    """Return moments weighted by values, about the first coordinates of boxes.

    Sums are of float64, whose last digits may differ from call to call. Values are one of
    `VALUE_TYPES`, contiguous, as many as labels. If moments `about` are given, the result is about
    the centroids that follow from them. Shapes are those of `element_moments`.
    """
    xp, ndim, runs, rows = gpu.xp, len(given.shape), given.runs, given.runs.count
    add, _ = OF_VALUES.load(gpu, values.dtype, POWERS if ndim > 1 else 1)
    table = xp.zeros((rows, *(POWERS,) * ndim))
    if not rows:
        return table
    lengths, turns = _lengths(gpu, given.shape), POWERS ** max(ndim - 2, 0)

    def launches() -> None:
        where, extent = BOXES.of(gpu, entries=boxes, ndim=ndim), extent_of(gpu, lengths)
        launch(add, runs.in_turns(turns), runs.record, extent, values, where, about, table)

    purpose = "weighted moments", values.dtype, about is None
    runs.launch(purpose, launches, values, boxes, table, about, memory=lengths)
    return table


def normalized_moments(gpu: Gpu, given: LabelledComponents, central: DeviceArray) -> Any:
    """Return central moments over powers of the size, in elements; NaN below order 2."""
    runs, out = given.runs, gpu.xp.empty_like(central)
    _, normalize = OF_AXES.load(gpu, len(given.shape))
    if central.size:
        runs.launch_by_row("normalized", normalize, central, out)
    return out


def squared_deviations(gpu: Gpu, given: LabelledComponents, values: DeviceArray, means: Any) -> Any:
    """Return float64, (n,): sums of squared deviations from means; see `weighted_moments`."""
    runs = given.runs
    _, add = OF_VALUES.load(gpu, values.dtype, POWERS if len(given.shape) > 1 else 1)
    sums = gpu.xp.zeros(runs.count)

    def launches() -> None:
        launch(add, runs.in_turns(1), runs.record, values, means, sums)

    if sums.size:
        runs.launch(("squares", values.dtype), launches, values, means, sums)
    return sums


def _lengths(gpu: Gpu, shape: tuple[int, ...]) -> Any:
    """Return int64, (4,): the lengths of axes; those ahead of an item's are 1."""
    return lengths_on(gpu, *(1,) * (MOST_AXES - len(shape)), *shape)


def principal_variances(gpu: Gpu, runs: ComponentRuns, covariances: DeviceArray) -> tuple[Any, Any]:
    """Return the eigenvalues of covariances and of inertia tensors, the largest first.

    Both are float64, (n, ndim). Covariances, contiguous float64, (n, ndim, ndim), are of at least
    one component; ndim is one of `FEW_AXES`.
    """
    write = VARIANCES.one(gpu, covariances.shape[1])
    variances, inertia = (gpu.xp.empty(covariances.shape[:2]) for _ in range(2))
    runs.launch_by_row("variances", write, covariances, variances, inertia)
    return variances, inertia
