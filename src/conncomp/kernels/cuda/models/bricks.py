"""Swendsen-Wang updates of spins as bits: drives ``bricks.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from conncomp.gpu import Workspace
from conncomp.kernels.cuda.grid import tiled_bricks
from conncomp.kernels.cuda.grid.image import Geometry, geometry_of
from conncomp.kernels.cuda.launcher import launch
from conncomp.kernels.cuda.models.replicas import Replicas
from conncomp.kernels.lattice import BITS, WORD, Lattice
from conncomp.kernels.links import Links, joined_by_bonds
from conncomp.kernels.neighbourhood import Neighbourhood

FILE = "cuda/models/bricks.cuh"
# Two bricks of four sites share the bytes of their rows, and so the lanes beside each other.
LEAST_ROW = 8


def takes(lattice: Lattice, replicas: int) -> bool:
    """Whether `flip` takes lattices, and their tiles are filled well enough."""
    if (
        lattice.ndim not in tiled_bricks.LINKED
        or 1 in lattice.shape
        or lattice.shape[-1] < LEAST_ROW
    ):
        return False
    return tiled_bricks.takes(*_described(lattice, replicas))


def flip(
    replicas: Replicas, step: int, bonds: Any, index: Any, workspace: Workspace, new: Any
) -> None:
    """Give each cluster of a bond configuration a new state.

    Parameters
    ----------
    replicas : Replicas
    step : int
        Of the update.
    bonds : array of uint64
        The active bonds, as ``activate_bonds`` writes them.
    index : dtype
        Of entries: of as many as there are sites in all replicas.
    workspace : Workspace
    new : array of uint64
        The new spins.
    """
    gpu, lattice = replicas.gpu, replicas.lattice
    plan = _plan(lattice, replicas.count, index, gpu.multiprocessors)
    link, label, join, flip_bricks, toss = gpu.load(FILE, _names(plan.names))
    sites = lattice.sites * replicas.count
    coin_words = -(-lattice.sites // WORD) * replicas.count if lattice.states == 2 else 0
    (*_, entries, coins), table = tiled_bricks.take_table(
        workspace, gpu, plan, (sites, index), (coin_words, BITS)
    )
    tiles, struct = plan.tiles, replicas.struct(step)
    by_brick = gpu.blocks(plan.bricks, tiled_bricks.LINK_THREADS), tiled_bricks.LINK_THREADS
    launch(link, by_brick, tiles, struct, bonds, table)
    launch(label, plan.by_tile, tiles, plan.rule, bonds, entries, table, shared=plan.shared)
    if plan.joins:
        launch(join, plan.by_border, tiles, *plan.border, bonds, entries, table)
    if coin_words:
        launch(toss, replicas.grid, struct, coins)
    shared = BITS.itemsize * lattice.planes * plan.by_tile[1]
    by_coins = tiles, struct, coins if coin_words else None
    launch(flip_bricks, plan.by_tile, *by_coins, entries, table, new, shared=shared)


def memory(lattice: Lattice, replicas: int, index: Any) -> int:
    """Return how many bytes of a workspace `flip` takes, about."""
    sites = lattice.sites * replicas
    bits = 3 + lattice.ndim + tiled_bricks.FIRST_DIGITS
    return int(sites * index.itemsize + sites // 8 * bits)


@lru_cache(maxsize=64)
def _described(lattice: Lattice, replicas: int) -> tuple[Geometry, Links]:
    neighbourhood = Neighbourhood(1, None, lattice.periodic)
    strides, stride = [], 1
    for length in reversed((replicas, *lattice.shape)):
        strides.append(stride)
        stride *= length
    geometry = geometry_of(
        (replicas, *lattice.shape), tuple(reversed(strides)), 1, neighbourhood, 1
    )
    return geometry, joined_by_bonds(tuple((0, 1 << k) for k in range(lattice.ndim)))


@lru_cache(maxsize=64)
def _plan(lattice: Lattice, replicas: int, index: Any, multiprocessors: int) -> Any:
    return tiled_bricks.plan_of(*_described(lattice, replicas), index, multiprocessors, False)


def _names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of kernels, given those that label an array by bonds."""
    label, join, _ = names
    kinds = join.removeprefix("join_links<conncomp::GivenLinks<1>, ").removesuffix(">")
    return f"link_words<{kinds}>", label, join, f"flip_bricks<{kinds}>", "toss_coins"


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `flip` can load."""
    for _, names in tiled_bricks.specialisations():
        if len(names) == 3 and names[1].startswith("join_links<conncomp::GivenLinks<1>"):
            yield FILE, _names(names)
