"""Quantiles of values within components on the GPU: drives ``quantiles.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from conncomp.kernels.cuda.components.intensities import VALUE_TYPES, value_type
from conncomp.kernels.cuda.components.runs import ComponentRuns
from conncomp.kernels.cuda.launcher import Gpu, launch

FILE = "cuda/components/quantiles.cuh"
KEY = np.dtype(np.uint64)


class SortedValues:
    """The values of an image within components, those of each together and sorted.

    Parameters
    ----------
    gpu : Gpu
    runs : ComponentRuns
        Of one component at least.
    values : contiguous array of one of `VALUE_TYPES`
        Of as many elements as labels.
    sizes : array of int64, shape (n,)
        Of the components.
    """

    def __init__(self, gpu: Gpu, runs: ComponentRuns, values: Any, sizes: Any) -> None:
        xp = gpu.xp
        self._gpu, self._runs, self._sizes = gpu, runs, sizes
        add, self._write = gpu.load(FILE, _names(values.dtype))
        self._ends = xp.cumsum(sizes) - sizes
        is_packed = values.dtype.itemsize < KEY.itemsize
        keys = xp.empty((1 if is_packed else 2, int(sizes.sum())), KEY)
        owners = None if is_packed else keys[1]
        launch(add, runs.in_turns(1), runs.record, values, self._ends, keys[0], owners)
        if is_packed:
            keys[0].sort()
        self._keys = keys[0] if is_packed else keys[0][xp.lexsort(keys)]

    def quantiles(self, fraction: float) -> Any:
        """Return the value below which a fraction of each component's values lie, as float64."""
        quantiles = self._gpu.xp.empty(len(self._sizes))
        given = self._runs.state, self._sizes, self._ends, self._keys, np.float64(fraction)
        launch(self._write, self._runs.by_row, *given, quantiles)
        return quantiles


@cache
def _names(value: np.dtype[Any]) -> tuple[str, ...]:
    return f"list_keys<{value_type(value)}>", f"write_quantiles<{value_type(value)}>"


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `SortedValues` can load."""
    for value in VALUE_TYPES:
        yield FILE, _names(value)
