"""Labels arrays on the CPU by the papers' serial algorithms: drives ``kernels/cpu/papers``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._core import native
from conncomp.grid.runs import Array, fill_with
from conncomp.kernels.cuda.launcher import seconds_left


def _filling_with(kernel: Callable[..., None]) -> Callable[..., NDArray[np.int64]]:
    """Return a `fill` as of an `Algorithm`, which a `time_limit` ends."""

    def fill(
        gpu: None,
        array: Array,
        labels: NDArray[Any],
        workspace: None,
        consecutive: bool,
        counted: bool,
    ) -> NDArray[np.int64]:
        return fill_with(kernel, array, labels, consecutive, seconds_left())

    return fill


fill_by_raster_scans = _filling_with(native.label_by_raster_scans)
fill_by_equivalence = _filling_with(native.label_by_equivalence)
