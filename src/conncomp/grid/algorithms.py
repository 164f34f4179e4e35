"""The algorithms for arrays, and which of them "auto" is."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from conncomp._algorithms import Algorithm, Task, always_waits, paper_on_gpu, table_of
from conncomp.grid import runs
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


class Default(NamedTuple):
    """A driver that labels arrays where ``algorithm="auto"``, and which tasks suit it."""

    driver: Any
    suits: Callable[[Image, Task], bool]


def takes_by_bricks(gpu: Gpu, image: Image) -> bool:
    """Whether an array is large enough for bricks, and they can label it."""
    large = image.size > tiled_elements.MOST * gpu.multiprocessors
    return large and tiled_bricks.takes(image.geometry, image.links)


def _is_small(gpu: Gpu, image: Image) -> bool:
    return image.size <= tiled_quads.MOST * gpu.multiprocessors


# The first driver that suits an array labels it. The comments name a section of
# benchmarks/notes-grid-gpu.md and its times on an H200. On a CPU runs label all arrays.
DEFAULTS_ON_GPU = (
    # "A block an item": 64 masks of 256² in 15.9 µs for 39; of fewer, quads are faster.
    Default(
        item_runs,
        lambda image, task: (
            task.consecutive
            and not (
                _is_small(task.gpu, image)
                and image.items < item_runs.LEAST_ITEMS * task.gpu.multiprocessors
            )
            and item_runs.takes(image.geometry, image.links, task.gpu.shared_memory)
        ),
    ),
    # "A thread 2 x 2 elements": 1080p in 22.6 to 38 µs for 33.4 to 54.1; 2048² by bricks.
    Default(
        tiled_quads,
        lambda image, task: (
            _is_small(task.gpu, image) and tiled_quads.takes(image.geometry, image.links)
        ),
    ),
    # "Volumes along faces by runs": 512³ at 30 % in 0.77 ms for 1.83; no row is slower.
    Default(
        run_tiles,
        lambda image, task: (
            takes_by_bricks(task.gpu, image)
            and run_tiles.takes(image.geometry, image.links, task.labels.dtype)
        ),
    ),
    # "Bricks of 64 elements"; it leaves some images to row_tiles and bundle_tiles itself.
    Default(tiled_bricks, lambda image, task: takes_by_bricks(task.gpu, image)),
    # "Small arrays": 256² in 14 to 23 µs for 29 to 50; it takes all arrays.
    Default(tiled_elements, lambda *_: True),
)


def _fill_by_default(image: Image, task: Task) -> Any:
    driver = next(default.driver for default in DEFAULTS_ON_GPU if default.suits(image, task))
    return driver.fill_labels(task.gpu, image, task.labels, task.workspace, task.consecutive)


def _paper_on_cpu(name: str, fill: Callable[..., Any], source: str, **traits: Any) -> Algorithm:
    return Algorithm(name, "cpu", fill, source, waits=always_waits, **traits)


_paper_on_gpu = partial(paper_on_gpu, first=1)

# A problem is an `Array` on the CPU, and an `Image` on a GPU.
ALGORITHMS = table_of(
    Algorithm("auto", "cpu", runs.fill_by_runs),
    Algorithm("runs", "cpu", runs.fill_by_runs),
    _paper_on_cpu("raster-scan", runs.fill_by_raster_scans, HAWICK),
    _paper_on_cpu("label-equivalence", runs.fill_by_equivalence, f"{HAWICK}; {MADDIX}"),
    _paper_on_cpu(
        "tiles", runs.fill_by_tiles, WEIGEL, options=runs.TILE_OPTIONS, check=runs.check_tiles
    ),
    Algorithm("auto", "cuda", _fill_by_default),
    _paper_on_gpu(
        "label-equivalence",
        hawick.fill_by_equivalence,
        f"{HAWICK}; {MADDIX}",
        options=hawick.EQUIVALENCE_OPTIONS,
        check=hawick.check_cells,
    ),
    _paper_on_gpu(
        "neighbour-propagation",
        hawick.fill_by_neighbours,
        f"{HAWICK}; {MADDIX}",
        options=hawick.NEIGHBOUR_OPTIONS,
    ),
    _paper_on_gpu(
        "local-propagation",
        hawick.fill_in_blocks,
        f"{HAWICK}; {MADDIX}",
        options=hawick.BLOCK_OPTIONS,
        check=hawick.check_cells,
    ),
    _paper_on_gpu("directional-propagation", hawick.fill_along_rows, HAWICK),
    _paper_on_gpu(
        "tiles",
        tiles.fill_roots,
        WEIGEL,
        options=tiles.OPTIONS,
        waits=tiles.waits,
        check=tiles.check,
    ),
)
