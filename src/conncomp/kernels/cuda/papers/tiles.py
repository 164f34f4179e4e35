"""Tiles, labelled and then consolidated, on the GPU: drives ``tiles.cuh``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from conncomp.kernels.cuda.core.sweeps import LAST_CHANGE, sweep_until_settled
from conncomp.kernels.cuda.grid.image import Image, rule_kinds
from conncomp.kernels.cuda.launcher import INDEX_TYPES, WARP, Gpu, ctype, launch
from conncomp.kernels.cuda.workspace import Workspace

FILE = "cuda/papers/tiles.cuh"
THREADS, START_BLOCK = 256, (32, 8)

RANKS = (2, 3)
LOCAL = {
    "self-labelling": "local_self_label",
    "bfs": "local_bfs",
    "union-find": "local_union_find",
}
MERGE = {"sewing": ("sew",), "relaxation": ("prepare_relax", "relax")}
TILES = (4, 8, 16, 32, 64)
OPTIONS = {
    "local": tuple(LOCAL),
    "merge": tuple(MERGE),
    "tile": (None, *TILES),
    "sites": (None, 4, 1, "column"),
}
DEFAULT_TILE = {2: 16, 3: 8}

# What shared memory has room for, 48 KiB in each of the three ways; and its bytes a site.
MAX_SITES, MAX_THREADS = 4096, 1024
SITE_BYTES = {"bfs": 8, "union-find": 10, "self-labelling": 6}

_SEAMS = {
    rank: np.dtype([("first", "i8"), ("spacing", "i8"), ("planes", "i8", (rank,))])
    for rank in RANKS
}


def fill_roots(
    gpu: Gpu,
    image: Image,
    roots: Any,
    workspace: Workspace,
    *,
    local: str = "self-labelling",
    merge: str = "sewing",
    tile: int | None = None,
    sites: int | str | None = None,
) -> int:
    """Fill `roots` with the smallest index of each element's component, -1 for background.

    With ``merge="sewing"`` it never waits for the GPU and can be captured in a CUDA graph; with
    "relaxation" it waits.

    Parameters
    ----------
    gpu : Gpu
    image : Image
        Of up to three axes that are longer than 1.
    roots : array, shape (image.size,)
    workspace : Workspace
    local : {"self-labelling", "bfs", "union-find"}, optional
        How tiles are labelled.
    merge : {"sewing", "relaxation"}, optional
        How they are consolidated.
    tile : {4, 8, 16, 32, 64}, optional
        The sites along each side of a tile; by default 16, in three dimensions 8, and up to 16
        there.
    sites : {4, 1, "column"}, optional
        How many sites are a thread's, for "self-labelling"; with 1, a tile has up to 1024.

    Returns
    -------
    int
        How many sweeps of relaxation have changed a label.
    """
    side = tile or DEFAULT_TILE[image.rank]
    threads = WARP if local != "self-labelling" else _threads(side, image.rank, sites)
    log = side.bit_length() - 1
    names = _names(image.rule_name, image.rank, roots.dtype, local, merge)
    start, label, *across, flatten = gpu.load(FILE, names)

    # Planes between tiles across each axis, and where the axis closes.
    planes = tuple(
        -(-length // side) - (not closed)
        for length, closed in zip(image.shape, image.geometry.steps.periodic, strict=True)
    )
    neighbours = _crossing_neighbours(image)
    total = _seam_sites(image, planes)
    count = total * neighbours if merge == "relaxation" else 0
    parts = (LAST_CHANGE, (2 * count, roots.dtype))
    last_change, *pairs = workspace.take(gpu, *parts[: 2 if count else 1])

    width, height = START_BLOCK
    described = image.grid, image.rule
    shape = np.int32(width), np.int32(height)
    by_block = image.blocks(gpu, width, height, width * height)
    launch(start, by_block, *described, *shape, image.values, roots, last_change)

    by_tile = image.blocks(gpu, side, side, threads)
    square = (sites in (None, 4),) if local == "self-labelling" else ()
    arguments = np.int32(log), *square, image.values, roots
    launch(label, by_tile, *described, *arguments, shared=side**image.rank * SITE_BYTES[local])

    relaxations = 0
    if merge == "sewing":
        for first, spacing, crossed in _levels(image, side):
            by_site = gpu.blocks(_seam_sites(image, crossed), THREADS), THREADS
            seams = _seams(image, first, spacing, crossed)
            launch(across[0], by_site, *described, seams, image.values, roots)
    elif count:
        prepare, relax = across
        by_site = gpu.blocks(total, THREADS), THREADS
        seams = _seams(image, side - 1, side, planes), np.int32(neighbours), total
        launch(prepare, by_site, *described, *seams, image.values, roots, *pairs)
        by_pair = gpu.blocks(count, THREADS), THREADS

        def sweep(number: int) -> None:
            launch(relax, by_pair, count, *pairs, roots, last_change, number)

        relaxations = sweep_until_settled(sweep, last_change)
    launch(flatten, (gpu.blocks(image.size, THREADS), THREADS), image.size, roots)
    return relaxations


def waits(options: Mapping[str, Any]) -> bool:
    """Whether `fill_roots` waits for the GPU."""
    return bool(options["merge"] == "relaxation")


def check(
    image: Image, *, local: str, merge: str, tile: int | None, sites: int | str | None
) -> None:
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
    """Return how many neighbours a site has in one direction along an axis, at most."""
    backward = image.geometry.steps.backward
    return max(sum(step[k] != 0 for step in backward) for k in range(image.rank))


def _levels(image: Image, side: int) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """Yield the seams of each level of sewing, as first, spacing and the numbers of planes."""
    while side < max(image.shape):
        planes = tuple(-(-length // side) // 2 for length in image.shape)
        yield side - 1, 2 * side, planes
        side *= 2
    if any(image.geometry.steps.periodic):
        yield max(image.shape), 1, tuple(int(closed) for closed in image.geometry.steps.periodic)


def _seam_sites(image: Image, planes: tuple[int, ...]) -> int:
    return sum(
        count * (image.size // length) for count, length in zip(planes, image.shape, strict=True)
    )


def _seams(image: Image, first: int, spacing: int, planes: tuple[int, ...]) -> Any:
    """Return ``Seams<rank>`` of ``tiles.cuh``."""
    return np.array((first, spacing, planes), _SEAMS[image.rank])[()]


@cache
def _names(rule: str, rank: int, index: np.dtype[Any], local: str, merge: str) -> tuple[str, ...]:
    types = f"{rule}, {rank}, {ctype(index)}"
    only_index = {"relax"}
    return (
        f"start_labels<{types}>",
        f"{LOCAL[local]}<{types}>",
        *(f"{name}<{ctype(index) if name in only_index else types}>" for name in MERGE[merge]),
        f"flatten_tiles<{ctype(index)}>",
    )


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `fill_roots` can load."""
    for rule, rank in rule_kinds():
        if rank in RANKS:
            for way in product(INDEX_TYPES, LOCAL, MERGE):
                yield FILE, _names(rule, rank, *way)
