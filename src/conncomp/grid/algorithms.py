"""The algorithms for arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conncomp._algorithms import Algorithm, Specialisations, always_waits, table_of
from conncomp.gpu import Workspace
from conncomp.grid import runs, scans
from conncomp.kernels.cuda.core import numbering
from conncomp.kernels.cuda.core.numbering import count_roots, number_roots, place_roots_within_items
from conncomp.kernels.cuda.grid import (
    item_runs,
    run_tiles,
    tiled_bricks,
    tiled_elements,
    tiled_quads,
)
from conncomp.kernels.cuda.grid.image import Image
from conncomp.kernels.cuda.launcher import Gpu
from conncomp.kernels.cuda.papers import hawick_arrays as hawick
from conncomp.kernels.cuda.papers import tiles

HAWICK = "Hawick, Leist, Playne 2010"
MADDIX = "Maddix 2014"
WEIGEL = "Weigel 2011"


def _fill_by_default(
    gpu: Gpu, image: Image, labels: Any, workspace: Workspace, consecutive: bool, counted: bool
) -> Any:
    described = image.geometry, image.links
    is_small = image.size <= tiled_quads.MOST * gpu.multiprocessors
    default: Any = tiled_elements
    if takes_by_bricks(gpu, image):
        default = run_tiles if run_tiles.takes(*described, labels.dtype) else tiled_bricks
    if is_small and tiled_quads.takes(*described):
        default = tiled_quads
    many = not is_small or image.items >= item_runs.LEAST_ITEMS * gpu.multiprocessors
    if consecutive and many and item_runs.takes(*described, gpu.shared_memory):
        default = item_runs
    return default.fill_labels(gpu, image, labels, workspace, consecutive)


def takes_by_bricks(gpu: Gpu, image: Image) -> bool:
    """Whether the default labels an array by bricks."""
    small = image.size <= tiled_elements.MOST * gpu.multiprocessors
    return not small and tiled_bricks.takes(image.geometry, image.links)


def _numbering(fill_roots: Callable[..., object]) -> Callable[..., Any]:
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


def _of_paper(
    name: str,
    fill_roots: Callable[..., object],
    specialisations: Callable[[], Specialisations],
    source: str,
    **traits: Any,
) -> Algorithm:
    """Return a paper's algorithm; it waits unless told else."""
    return Algorithm(
        name,
        "cuda",
        _numbering(fill_roots),
        source=source,
        specialisations=(specialisations, numbering.specialisations),
        **{"waits": always_waits, **traits},
    )


# A problem is an `Array` on the CPU, and an `Image` on a GPU.
ALGORITHMS = table_of(
    Algorithm("auto", "cpu", runs.fill_labels),
    Algorithm("runs", "cpu", runs.fill_labels),
    Algorithm("raster-scan", "cpu", scans.fill_by_raster_scans, HAWICK, waits=always_waits),
    Algorithm(
        "label-equivalence",
        "cpu",
        scans.fill_by_equivalence,
        f"{HAWICK}; {MADDIX}",
        waits=always_waits,
    ),
    Algorithm(
        "tiles",
        "cpu",
        scans.fill_by_tiles,
        WEIGEL,
        scans.TILE_OPTIONS,
        waits=always_waits,
        check=scans.check_tiles,
    ),
    Algorithm(
        "auto",
        "cuda",
        _fill_by_default,
        specialisations=(
            tiled_bricks.specialisations,
            tiled_elements.specialisations,
            tiled_quads.specialisations,
            item_runs.specialisations,
            run_tiles.specialisations,
        ),
    ),
    _of_paper(
        "label-equivalence",
        hawick.fill_by_equivalence,
        hawick.EQUIVALENCE.modules,
        f"{HAWICK}; {MADDIX}",
        options=hawick.EQUIVALENCE_OPTIONS,
        check=hawick.check_cells,
    ),
    _of_paper(
        "neighbour-propagation",
        hawick.fill_by_neighbours,
        hawick.BY_NEIGHBOURS.modules,
        f"{HAWICK}; {MADDIX}",
        options=hawick.NEIGHBOUR_OPTIONS,
    ),
    _of_paper(
        "local-propagation",
        hawick.fill_in_blocks,
        hawick.IN_BLOCKS.modules,
        f"{HAWICK}; {MADDIX}",
        options=hawick.BLOCK_OPTIONS,
        check=hawick.check_cells,
    ),
    _of_paper(
        "directional-propagation",
        hawick.fill_along_rows,
        hawick.ALONG_ROWS.modules,
        HAWICK,
    ),
    _of_paper(
        "tiles",
        tiles.fill_roots,
        tiles.specialisations,
        WEIGEL,
        options=tiles.OPTIONS,
        waits=tiles.waits,
        check=tiles.check,
    ),
)
