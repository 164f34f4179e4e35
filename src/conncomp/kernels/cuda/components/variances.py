"""Variances of components along their principal axes on the GPU: drives ``variances.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from conncomp.kernels.cuda.components.runs import FEW_AXES, ComponentRuns
from conncomp.kernels.cuda.launcher import Gpu, launch

FILE = "cuda/components/variances.cuh"


def principal_variances(gpu: Gpu, runs: ComponentRuns, covariances: Any) -> tuple[Any, Any]:
    """Return the eigenvalues of covariances and of inertia tensors, the largest first.

    Parameters
    ----------
    gpu : Gpu
    runs : ComponentRuns
    covariances : contiguous array of float64, shape (n, ndim, ndim)
        Of one component at least, and as many axes as there are in `FEW_AXES`.

    Returns
    -------
    variances, moments_of_inertia : array of float64, shape (n, ndim)
    """
    (write,) = gpu.load(FILE, _names(covariances.shape[1]))
    columns = [gpu.xp.empty(covariances.shape[:2]) for _ in range(2)]

    def launches(*arrays: Any) -> None:
        launch(write, runs.by_row, runs.state, *arrays)

    runs.launch("variances", launches, covariances, *columns)
    variances, moments_of_inertia = columns
    return variances, moments_of_inertia


@cache
def _names(axes: int) -> tuple[str, ...]:
    return (f"write_variances<{axes}>",)


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that the function here can load."""
    for axes in FEW_AXES:
        yield FILE, _names(axes)
