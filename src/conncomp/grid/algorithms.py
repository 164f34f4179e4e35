"""The algorithms for arrays, and which of them "auto" is."""

from __future__ import annotations

from functools import partial
from typing import Any, Protocol

from conncomp._algorithms import Algorithm, Fill, Task, always_waits, paper_on_gpu, table_of
from conncomp.grid import on_cpu
from conncomp.kernels.cuda.grid import (
    item_runs,
    run_tiles,
    tiled_bricks,
    tiled_elements,
    tiled_quads,
)
from conncomp.kernels.cuda.grid.image import Image
from conncomp.kernels.cuda.launcher import DeviceArray, DType, Gpu
from conncomp.kernels.cuda.papers import hawick_arrays as hawick
from conncomp.kernels.cuda.papers import tiles
from conncomp.kernels.cuda.workspace import Workspace

HAWICK = "Hawick, Leist, Playne 2010"
BOTH = f"{HAWICK}; Maddix 2014"
WEIGEL = "Weigel 2011"


class GridDriver(Protocol):
    """A module that labels arrays on a GPU where ``algorithm="auto"``."""

    def takes(self, gpu: Gpu, image: Image, index: DType, consecutive: bool) -> bool:
        """Whether it labels an array, if none before it does."""

    def fill_labels(
        self, gpu: Gpu, image: Image, labels: DeviceArray, workspace: Workspace, consecutive: bool
    ) -> Any:
        """Fill `labels`, of type `index`; return how many components each item has."""


# The first driver that takes an array labels it. The comments name a section of
# benchmarks/notes-grid-gpu.md and its times on an H200.
DEFAULTS_ON_GPU: tuple[GridDriver, ...] = (
    # "A block an item": 64 masks of 256² in 15.9 µs for 39; of fewer, quads are faster.
    item_runs,
    # "A thread 2 x 2 elements": 1080p in 22.6 to 38 µs for 33.4 to 54.1; 2048² by bricks.
    tiled_quads,
    # "Volumes along faces by runs": 512³ at 30 % in 0.77 ms for 1.83; no row is slower.
    run_tiles,
    # "Bricks of 64 elements"; it leaves some images to row_tiles and bundle_tiles itself.
    tiled_bricks,
    # "Small arrays": 256² in 14 to 23 µs for 29 to 50; it takes all arrays.
    tiled_elements,
)


def _fill_by_default(image: Image, task: Task) -> Any:
    gpu, labels, consecutive = task.gpu, task.labels, task.consecutive
    index = labels.dtype
    driver = next(d for d in DEFAULTS_ON_GPU if d.takes(gpu, image, index, consecutive))
    return driver.fill_labels(gpu, image, labels, task.workspace, consecutive)


def _paper_on_cpu(name: str, fill: Fill, source: str, **traits: Any) -> Algorithm:
    return Algorithm(name, "cpu", fill, source, waits=always_waits, **traits)


_paper_on_gpu = partial(paper_on_gpu, first=1)

# A problem is an `Array` on the CPU, and an `Image` on a GPU.
ALGORITHMS = table_of(
    # `repeated.py` calls the same kernel itself (`native.ImageKind`) where it keeps the call.
    Algorithm("auto", "cpu", on_cpu.fill_by_runs),
    Algorithm("runs", "cpu", on_cpu.fill_by_runs),
    _paper_on_cpu("raster-scan", on_cpu.fill_by_raster_scans, HAWICK),
    _paper_on_cpu("label-equivalence", on_cpu.fill_by_equivalence, BOTH),
    _paper_on_cpu(
        "tiles", on_cpu.fill_by_tiles, WEIGEL, options=on_cpu.TILE_OPTIONS, check=on_cpu.check_tiles
    ),
    Algorithm("auto", "cuda", _fill_by_default),
    _paper_on_gpu(
        "label-equivalence",
        hawick.fill_by_equivalence,
        BOTH,
        options=hawick.EQUIVALENCE_OPTIONS,
        check=hawick.check_cells,
    ),
    _paper_on_gpu(
        "neighbour-propagation", hawick.fill_by_neighbours, BOTH, options=hawick.NEIGHBOUR_OPTIONS
    ),
    _paper_on_gpu(
        "local-propagation",
        hawick.fill_in_blocks,
        BOTH,
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
