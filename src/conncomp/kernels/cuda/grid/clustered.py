"""The default for small items on GPUs that have clusters of blocks: drives ``clustered.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from conncomp.kernels.cuda.grid.image import Geometry, Image, grid_of, rule_kinds, rule_of, rules
from conncomp.kernels.cuda.grid.tiling import as_rows
from conncomp.kernels.cuda.launcher import COUNT, INDEX_TYPES, WARP, Gpu, ctype, launch
from conncomp.kernels.cuda.workspace import Workspace

FILE = "cuda/grid/clustered.cuh"
THREADS = 1024
# How many blocks a cluster may have.
BLOCKS = (16, 8, 4, 2, 1)
# Elements a thread: with more, others are faster.
MOST_ROUNDS = 16
LEAST_SIZE = 512  # of an item: with fewer elements most threads are idle
RESERVED = 1024  # bytes of a multiprocessor's shared memory that no block gets
SITE_OF_BONDS = 8  # bytes of ``Bonds::Site``


def takes(gpu: Gpu, image: Image) -> bool:
    """Whether `fill_labels` can label an array, and well."""
    return gpu.has_clusters and _choose_blocks(*_kind(gpu, image)) is not None


def fill_labels(
    gpu: Gpu, image: Image, labels: Any, workspace: Workspace, consecutive: bool
) -> Any:
    """Fill `labels` with roots, or with consecutive labels, as `tiled_bricks.fill_labels` does."""
    plan = plan_of(*_kind(gpu, image), image.rule_name, labels.dtype, consecutive)
    (label,) = gpu.load(FILE, plan.names)
    (components,) = workspace.take(gpu, (image.items, COUNT))
    arrays = image.values, labels, components
    launch(
        gpu.in_clusters(label, plan.blocks),
        plan.grid,
        *(plan.geometry, image.rule, np.int32(plan.rounds)),
        *arrays,
        shared=plan.shared,
    )
    return components


class _Plan(NamedTuple):
    """What depends on the kind of an array only, and is kept for the next one of that kind.

    Attributes
    ----------
    names : tuple of str
        Of the kernel.
    geometry : numpy.void
        ``Grid<rank>``.
    blocks, rounds : int
        Of a cluster, and the elements of a thread.
    grid : tuple of int
        All blocks, and their threads.
    shared : int
        The bytes of shared memory of a block.
    """

    names: tuple[str, ...]
    geometry: Any
    blocks: int
    rounds: int
    grid: tuple[int, int]
    shared: int


def _kind(gpu: Gpu, image: Image) -> tuple[Geometry, int, int, int]:
    """Return what blocks are chosen by: items, bytes of a site, and what the GPU has."""
    is_by_bonds = image.links.rule == "bonds"
    site = SITE_OF_BONDS if is_by_bonds else np.dtype(image.links.value_type).itemsize
    return as_rows(image.geometry), site, gpu.multiprocessors, gpu.shared_memory - RESERVED


def slab_bytes(rounds: int, site: int) -> int:
    """Return the shared memory of a block, as ``Slab`` lays it out."""
    elements, words = rounds * THREADS, rounds * THREADS // WARP
    return elements * (site + 4 + 2) + 4 * (4 * words + 1)


@lru_cache(maxsize=1024)
def _choose_blocks(
    geometry: Geometry, site: int, multiprocessors: int, shared: int
) -> tuple[int, int] | None:
    """Return how many blocks a cluster has, and how many elements a thread, or None.

    As many blocks as can run at once, if all have something to do; more where the memory calls for
    it.
    """
    size, items = geometry.item_size, geometry.items
    if size < LEAST_SIZE:
        return None
    fitting = []
    for blocks in BLOCKS:
        rounds = -(-size // (blocks * THREADS))
        if (blocks - 1) * rounds * THREADS < size and slab_bytes(rounds, site) <= shared:
            fitting.append((blocks, rounds))
    at_once = [choice for choice in fitting if choice[0] * items <= multiprocessors]
    chosen = (at_once or fitting[-1:] or [None])[0]
    return chosen if chosen is not None and chosen[1] <= MOST_ROUNDS else None


@lru_cache(maxsize=1024)
def plan_of(
    geometry: Geometry,
    site: int,
    multiprocessors: int,
    shared: int,
    rule: str,
    index: np.dtype[Any],
    consecutive: bool,
) -> _Plan:
    """Return how `fill_labels` labels arrays of a kind."""
    chosen = _choose_blocks(geometry, site, multiprocessors, shared)
    assert chosen is not None
    blocks, rounds = chosen
    return _Plan(
        _names(rule, blocks, len(geometry.shape), index, consecutive),
        grid_of(geometry),
        blocks,
        rounds,
        (geometry.items * blocks, THREADS),
        slab_bytes(rounds, site),
    )


def _names(rule: str, blocks: int, rank: int, index: Any, consecutive: bool) -> tuple[str, ...]:
    kinds = f"{blocks}, {THREADS}, {str(consecutive).lower()}, {rank}, {ctype(index)}"
    return (f"label_items<{rule}, {kinds}>",)


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `fill_labels` can load."""
    kinds = [*rule_kinds(), *((rule_of(links).name, 1) for links in rules())]
    for (rule, rank), blocks, index, consecutive in product(
        kinds, BLOCKS, INDEX_TYPES, (False, True)
    ):
        yield FILE, _names(rule, blocks, rank, index, consecutive)
