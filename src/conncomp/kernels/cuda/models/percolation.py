"""Percolation on a GPU: drives ``percolation.cuh``."""

from __future__ import annotations

from collections.abc import Iterator

from conncomp.kernels.cuda.models import bricks

FILE = "cuda/models/percolation.cuh"
OF_SITES = bricks.Kernels(FILE, "kSites", "PercolationSums")
OF_BONDS = bricks.Kernels(FILE, "kBonds", "PercolationSums")


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that percolation loads."""
    yield FILE, ("draw_configurations<>",)
    for kernels in (OF_SITES, OF_BONDS):
        yield from bricks.specialisations(kernels)
