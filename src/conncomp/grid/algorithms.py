"""The algorithms for arrays, and which of them "auto" is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from conncomp._algorithms import Algorithm, always_waits, table_of
from conncomp.grid import runs
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
from conncomp.kernels.cuda.workspace import Workspace

HAWICK = "Hawick, Leist, Playne 2010"
MADDIX = "Maddix 2014"
WEIGEL = "Weigel 2011"


class Default(NamedTuple):
    """A driver that labels arrays where ``algorithm="auto"``, which arrays suit it, and why."""

    driver: Any
    suits: Callable[[Gpu, Image, np.dtype[Any], bool], bool]  # the last: consecutive labels
    reason: str  # times on an H200, by the section of benchmarks/notes-grid-gpu.md


def takes_by_bricks(gpu: Gpu, image: Image) -> bool:
    """Whether an array is large enough for bricks, and they can label it."""
    large = image.size > tiled_elements.MOST * gpu.multiprocessors
    return large and tiled_bricks.takes(image.geometry, image.links)


def _is_small(gpu: Gpu, image: Image) -> bool:
    return image.size <= tiled_quads.MOST * gpu.multiprocessors


# The first one that an array suits labels it. On a CPU runs label all arrays.
DEFAULTS_ON_GPU = (
    Default(
        item_runs,
        lambda gpu, image, _, consecutive: (
            consecutive
            and not (
                _is_small(gpu, image) and image.items < item_runs.LEAST_ITEMS * gpu.multiprocessors
            )
            and item_runs.takes(image.geometry, image.links, gpu.shared_memory)
        ),
        '"A block an item": 64 masks of 256² in 15.9 µs for 39; of fewer, quads are faster',
    ),
    Default(
        tiled_quads,
        lambda gpu, image, *_: (
            _is_small(gpu, image) and tiled_quads.takes(image.geometry, image.links)
        ),
        '"A thread 2 x 2 elements": 1080p in 22.6 to 38 µs for 33.4 to 54.1; 2048² by bricks',
    ),
    Default(
        run_tiles,
        lambda gpu, image, index, _: (
            takes_by_bricks(gpu, image) and run_tiles.takes(image.geometry, image.links, index)
        ),
        '"Volumes along faces by runs": 512³ at 30 % in 0.77 ms for 1.83; no row is slower',
    ),
    Default(
        tiled_bricks,
        lambda gpu, image, *_: takes_by_bricks(gpu, image),
        '"Bricks of 64 elements"; it leaves some images to row_tiles and bundle_tiles itself',
    ),
    Default(
        tiled_elements,
        lambda *_: True,
        '"Small arrays": 256² in 14 to 23 µs for 29 to 50; it takes all arrays',
    ),
)


def _fill_by_default(
    gpu: Gpu, image: Image, labels: Any, workspace: Workspace, consecutive: bool, counted: bool
) -> Any:
    task = gpu, image, labels.dtype, consecutive
    driver = next(default.driver for default in DEFAULTS_ON_GPU if default.suits(*task))
    return driver.fill_labels(gpu, image, labels, workspace, consecutive)


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


def _on_cpu(name: str, fill: Callable[..., Any], source: str, **traits: Any) -> Algorithm:
    return Algorithm(name, "cpu", fill, source, waits=always_waits, **traits)


def _on_gpu(name: str, fill_roots: Callable[..., object], source: str, **traits: Any) -> Algorithm:
    """Return a paper's algorithm on a GPU; it waits unless told else."""
    traits = {"waits": always_waits, **traits}
    return Algorithm(name, "cuda", _numbering(fill_roots), source, **traits)


# A problem is an `Array` on the CPU, and an `Image` on a GPU.
ALGORITHMS = table_of(
    Algorithm("auto", "cpu", runs.fill_by_runs),
    Algorithm("runs", "cpu", runs.fill_by_runs),
    _on_cpu("raster-scan", runs.fill_by_raster_scans, HAWICK),
    _on_cpu("label-equivalence", runs.fill_by_equivalence, f"{HAWICK}; {MADDIX}"),
    _on_cpu("tiles", runs.fill_by_tiles, WEIGEL, options=runs.TILE_OPTIONS, check=runs.check_tiles),
    Algorithm("auto", "cuda", _fill_by_default),
    _on_gpu(
        "label-equivalence",
        hawick.fill_by_equivalence,
        f"{HAWICK}; {MADDIX}",
        options=hawick.EQUIVALENCE_OPTIONS,
        check=hawick.check_cells,
    ),
    _on_gpu(
        "neighbour-propagation",
        hawick.fill_by_neighbours,
        f"{HAWICK}; {MADDIX}",
        options=hawick.NEIGHBOUR_OPTIONS,
    ),
    _on_gpu(
        "local-propagation",
        hawick.fill_in_blocks,
        f"{HAWICK}; {MADDIX}",
        options=hawick.BLOCK_OPTIONS,
        check=hawick.check_cells,
    ),
    _on_gpu("directional-propagation", hawick.fill_along_rows, HAWICK),
    _on_gpu(
        "tiles",
        tiles.fill_roots,
        WEIGEL,
        options=tiles.OPTIONS,
        waits=tiles.waits,
        check=tiles.check,
    ),
)
