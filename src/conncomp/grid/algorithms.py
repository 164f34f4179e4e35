"""The algorithms for arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conncomp._algorithms import Algorithm, Specialisations, always_waits, table_of
from conncomp.gpu import Workspace
from conncomp.grid import runs
from conncomp.kernels.cuda.core import numbering
from conncomp.kernels.cuda.core.numbering import count_roots, number_roots, place_roots_within_items
from conncomp.kernels.cuda.grid import tiled_bricks, tiled_elements
from conncomp.kernels.cuda.grid.image import Image
from conncomp.kernels.cuda.launcher import Gpu
from conncomp.kernels.cuda.papers import (
    blocks,
    directional_propagation,
    label_equivalence,
    local_propagation,
    neighbour_propagation,
    tiles,
)

HAWICK = "Hawick, Leist, Playne 2010"
MADDIX = "Maddix 2014"


def _fill_by_default(
    gpu: Gpu, image: Image, labels: Any, workspace: Workspace, consecutive: bool, counted: bool
) -> Any:
    small = image.size <= tiled_elements.MOST * gpu.multiprocessors
    default = tiled_elements if small or not tiled_bricks.takes(image) else tiled_bricks
    return default.fill_labels(gpu, image, labels, workspace, consecutive)


def _numbering(fill_roots: Callable[..., None]) -> Callable[..., Any]:
    """Return a `fill` of what fills roots that are indices in the whole array."""

    def fill(
        gpu: Gpu,
        image: Image,
        labels: Any,
        workspace: Workspace,
        consecutive: bool,
        counted: bool,
        **options: Any,
    ) -> Any:
        flat = labels.reshape(-1)
        fill_roots(gpu, image, flat, workspace, **options)
        if consecutive:
            return number_roots(gpu, flat, 1, workspace, image.items)
        counts = count_roots(gpu, flat, workspace, image.items) if counted else None
        place_roots_within_items(gpu, flat, image.items)
        return counts

    return fill


def _kernels(driver: Any) -> tuple[Callable[[], Specialisations], ...]:
    return driver.specialisations, numbering.specialisations


# A problem is an `Array` on the CPU, and an `Image` on a GPU.
ALGORITHMS = table_of(
    Algorithm("auto", "cpu", runs.fill_labels),
    Algorithm("runs", "cpu", runs.fill_labels),
    Algorithm(
        "auto",
        "cuda",
        _fill_by_default,
        specialisations=(tiled_bricks.specialisations, tiled_elements.specialisations),
    ),
    Algorithm(
        "label-equivalence",
        "cuda",
        _numbering(label_equivalence.fill_roots),
        source=f"{HAWICK}; {MADDIX}",
        options=label_equivalence.OPTIONS,
        waits=always_waits,
        check=blocks.check,
        specialisations=_kernels(label_equivalence),
    ),
    Algorithm(
        "neighbour-propagation",
        "cuda",
        _numbering(neighbour_propagation.fill_roots),
        source=f"{HAWICK}; {MADDIX}",
        options=neighbour_propagation.OPTIONS,
        waits=always_waits,
        specialisations=_kernels(neighbour_propagation),
    ),
    Algorithm(
        "local-propagation",
        "cuda",
        _numbering(local_propagation.fill_roots),
        source=f"{HAWICK}; {MADDIX}",
        options=local_propagation.OPTIONS,
        waits=always_waits,
        check=blocks.check,
        specialisations=_kernels(local_propagation),
    ),
    Algorithm(
        "directional-propagation",
        "cuda",
        _numbering(directional_propagation.fill_roots),
        source=HAWICK,
        waits=always_waits,
        specialisations=_kernels(directional_propagation),
    ),
    Algorithm(
        "tiles",
        "cuda",
        _numbering(tiles.fill_roots),
        source="Weigel 2011",
        options=tiles.OPTIONS,
        waits=tiles.waits,
        check=tiles.check,
        specialisations=_kernels(tiles),
    ),
)
