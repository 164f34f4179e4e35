"""Tiles, labelled and then consolidated, on the GPU: drives ``tiles.cuh``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

import numpy as np

from conncomp.kernels import layout
from conncomp.kernels.cuda.core.sweeps import LAST_CHANGE, sweep_until_settled
from conncomp.kernels.cuda.grid.image import RULE_NAMES, Image
from conncomp.kernels.cuda.launcher import WARP, DeviceArray, DType, Gpu, Templates, launch
from conncomp.kernels.cuda.workspace import Workspace

FILE = "cuda/papers/tiles.cuh"
START_BLOCK = 32, 8

RANKS = (2, 3)
LOCAL = {"self-labelling": "local_self_label", "bfs": "local_bfs", "union-find": "local_union_find"}
MERGE = "sewing", "relaxation"
_SITES = "<{rule}, {rank}, {index}>"
_KERNELS = {
    way: Templates(
        FILE,
        f"start_labels{_SITES}",
        f"{{local}}{_SITES}",
        *names,
        rule=RULE_NAMES,
        rank=RANKS,
        local=LOCAL,
        indices="index",
    )
    for way, *names in (
        ("sewing", f"sew{_SITES}", "flatten_tiles<{index}>"),
        ("relaxation", f"prepare_relax{_SITES}", "relax<{index}>", "flatten_tiles<{index}>"),
        ("by size", "plant_trees<{index}>", f"sew_by_size{_SITES}", "collect_trees<{index}>"),
    )
}
TILES = (4, 8, 16, 32, 64)
OPTIONS = {
    "local": tuple(LOCAL),
    "merge": MERGE,
    "tile": (None, *TILES),
    "sites": (None, 4, 1, "column"),
    "trees": (None, "size", "index"),
    "paths": (None, "kept", "compressed"),
}
# ``Jump`` of ``core/union_find.h``, in sewing by index.
JUMPS = {None: np.int32(4), "kept": np.int32(3), "compressed": np.int32(1)}
DEFAULT_TILE = {2: 16, 3: 8}

# What shared memory has room for, 48 KiB in each of the three ways; and its bytes a site.
MAX_SITES, MAX_THREADS = 4096, 1024
SITE_BYTES = {"bfs": 8, "union-find": 10, "self-labelling": 6}

_SEAMS = {rank: layout(("first spacing", "i8"), ("planes", ("i8", (rank,)))) for rank in RANKS}


def fill_roots(
    gpu: Gpu,
    image: Image,
    roots: DeviceArray,
    workspace: Workspace,
    *,
    local: str = "self-labelling",
    merge: str = "sewing",
    tile: int | None = None,
    sites: int | str | None = None,
    trees: str | None = None,
    paths: str | None = None,
) -> None:
    """Fill `roots` with the root of each site's component.

    Only ``merge="relaxation"`` waits for the GPU; "sewing" can be captured in a CUDA graph. Images
    have up to three axes longer than 1.
    """
    side = tile or DEFAULT_TILE[image.rank]
    threads = WARP if local != "self-labelling" else _threads(side, image.rank, sites)
    log = side.bit_length() - 1
    sewing = "by size" if merge == "sewing" and trees == "size" else merge
    kinds = image.rule_name, image.rank, local, roots.dtype
    start, label, *across, flatten = _KERNELS[sewing].load(gpu, *kinds)

    grid, rule, values = image.grid, image.rule, image.values
    columns, rows = map(np.int32, START_BLOCK)
    by_block = image.blocks(gpu, *START_BLOCK, prod(START_BLOCK))
    last_change, *memory = _take_memory(gpu, image, roots.dtype, workspace, side, sewing)
    launch(start, by_block, grid, rule, columns, rows, values, roots, last_change)

    by_tile = image.blocks(gpu, side, side, threads)
    variant: list[np.bool_] = []
    if local == "self-labelling":
        variant = [np.bool_(sites in (None, 4))]
    elif local == "union-find":
        variant = [np.bool_(trees != "index"), np.bool_(paths == "compressed")]
    shared = side**image.rank * SITE_BYTES[local]
    launch(label, by_tile, grid, rule, np.int32(log), *variant, values, roots, shared=shared)

    by_site = gpu.grid(image.size)
    if sewing == "sewing":
        _sew(gpu, image, roots, side, across[0], JUMPS[paths])
    elif sewing == "by size":
        plant, sew = across
        launch(plant, by_site, image.size, roots, *memory)
        compresses = np.bool_(paths == "compressed")
        for group, seams in _levels(image, side):
            groups = image.items * prod(-(-length // group) for length in image.shape)
            by_group = gpu.blocks(groups, 1), WARP
            launch(sew, by_group, grid, rule, seams, group, compresses, values, *memory, roots)
    elif memory:
        _relax(gpu, image, roots, side, across, last_change, *memory)
    launch(flatten, by_site, image.size, *(memory if sewing == "by size" else ()), roots)


def _take_memory(
    gpu: Gpu, image: Image, index: DType, workspace: Workspace, side: int, sewing: str
) -> tuple[Any, ...]:
    """Return the number of the last change, and a forest or pairs if consolidation needs them."""
    count = 0
    if sewing == "by size":
        count = image.size
    elif sewing == "relaxation":
        count = 2 * _seam_sites(image, _planes(image, side)) * _crossing_neighbours(image)
    return workspace.take(gpu, LAST_CHANGE, *([(count, index)] if count else []))


def _sew(gpu: Gpu, image: Image, roots: DeviceArray, side: int, sew: Any, jump: Any) -> None:
    """Unite trees by index, all bonds of a level at once."""
    for _, seams in _levels(image, side):
        by_site = gpu.grid(_seam_sites(image, tuple(seams["planes"])))
        launch(sew, by_site, image.grid, image.rule, seams, jump, image.values, roots)


def _relax(
    gpu: Gpu, image: Image, roots: Any, side: int, kernels: Any, last_change: Any, pairs: Any
) -> None:
    """Lower labels at the ends of bonds between tiles until none changes."""
    prepare, relax = kernels
    planes, neighbours = _planes(image, side), _crossing_neighbours(image)
    total = _seam_sites(image, planes)
    seams, each = _seams(image, side - 1, side, planes), np.int32(neighbours)
    by_site, grid, rule, values = gpu.grid(total), image.grid, image.rule, image.values
    launch(prepare, by_site, grid, rule, seams, each, total, values, roots, pairs)
    count = total * neighbours
    by_pair = gpu.grid(count)

    def sweep(number: int) -> None:
        launch(relax, by_pair, count, pairs, roots, last_change, number)

    sweep_until_settled(sweep, last_change)


def waits(options: Mapping[str, Any]) -> bool:
    """Whether `fill_roots` waits for the GPU."""
    return bool(options["merge"] == "relaxation")


def check(image: Image, *, local: str, merge: str, tile: Any, sites: Any, **of_trees: Any) -> None:
    """Raise ValueError unless an array and its tiles fit."""
    if image.rank not in RANKS:
        raise ValueError(
            "algorithm='tiles' labels arrays of up to three axes that are longer than 1; image "
            f"has shape {image.values.shape}; use algorithm='auto'"
        )
    side = tile or DEFAULT_TILE[image.rank]
    total = side**image.rank
    if total > MAX_SITES:
        raise ValueError(
            f"tile={side} makes {total} sites in {image.rank} dimensions; shared memory has room "
            f"for {MAX_SITES}; use a shorter one"
        )
    if local != "self-labelling" and sites is not None:
        raise ValueError(
            f"sites={sites!r} is for local='self-labelling', not {local!r}; leave it out"
        )
    for name, given in of_trees.items():
        if given is not None and local != "union-find" and merge != "sewing":
            raise ValueError(
                f"{name}={given!r} is for local='union-find' or merge='sewing', not {local!r} and "
                f"{merge!r}; leave it out"
            )
    threads = _threads(side, image.rank, sites)
    if local == "self-labelling" and threads > MAX_THREADS:
        raise ValueError(
            f"sites={sites} and tile={side} make {threads} threads a block; there may be "
            f"{MAX_THREADS}; use more sites for each, or a shorter tile"
        )


def _threads(side: int, rank: int, sites: int | str | None) -> int:
    """Return the threads of a block that labels a tile by self-labelling."""
    of_thread = side if sites == "column" else int(sites or 4)
    total: int = side**rank
    return total // of_thread


def _crossing_neighbours(image: Image) -> int:
    """Return the most neighbours that a site has in one direction along an axis."""
    backward = image.geometry.steps.backward
    return max(sum(step[k] != 0 for step in backward) for k in range(image.rank))


def _planes(image: Image, side: int) -> tuple[int, ...]:
    """Return the numbers of planes between tiles, or where they close, across each axis."""
    return tuple(
        -(-length // side) - (not closed)
        for length, closed in zip(image.shape, image.geometry.steps.periodic, strict=True)
    )


def _levels(image: Image, side: int) -> Iterator[tuple[int, Any]]:
    """Yield the sides of a group and the seams, for each level of sewing."""
    while side < max(image.shape):
        planes = tuple(-(-length // side) // 2 for length in image.shape)
        yield 2 * side, _seams(image, side - 1, 2 * side, planes)
        side *= 2
    closed = tuple(map(int, image.geometry.steps.periodic))
    if any(closed):
        whole = max(image.shape)
        yield whole, _seams(image, whole, 1, closed)


def _seam_sites(image: Image, planes: tuple[int, ...]) -> int:
    return sum(n * (image.size // length) for n, length in zip(planes, image.shape, strict=True))


def _seams(image: Image, first: int, spacing: int, planes: tuple[int, ...]) -> Any:
    """Return ``Seams<rank>`` of ``tiles.cuh``."""
    return np.array((first, spacing, planes), _SEAMS[image.rank])[()]
