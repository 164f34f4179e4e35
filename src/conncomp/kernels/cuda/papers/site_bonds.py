"""Bonds activated site by site: the kernels of ``site_bonds.cuh``."""

from __future__ import annotations

from collections.abc import Iterator

FILE = "cuda/papers/site_bonds.cuh"

# The rows and columns of the sites that are a thread's, by what a user calls them.
SITES: dict[int | str, tuple[int, int]] = {1: (1, 1), 4: (2, 2), "column": (4, 1)}
ACTIVATION = (None, *SITES)


def kernel_of(activation: int | str) -> str:
    """Return the name of the kernel."""
    rows, columns = SITES[activation]
    return f"activate_sites<{rows}, {columns}>"


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that an engine can load."""
    for activation in SITES:
        yield FILE, (kernel_of(activation),)
