"""Clusters of spins, and of percolation, as bits: drives ``bricks.cuh`` and ``percolation.cuh``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from conncomp.kernels.cuda.grid import tiled_bricks
from conncomp.kernels.cuda.grid.image import Geometry, geometry_of
from conncomp.kernels.cuda.launcher import DeviceArray, Kernel, Module, Templates, launch
from conncomp.kernels.cuda.models.replicas import ClusterWindings, Replicas
from conncomp.kernels.cuda.workspace import Part, Workspace
from conncomp.kernels.lattice import BITS, WORD, Lattice
from conncomp.kernels.links import Links, bonds_of_axes
from conncomp.kernels.neighbourhood import Neighbourhood

FILE, WINDINGS_FILE = "cuda/models/bricks.cuh", "cuda/models/brick_windings.cuh"
# Two bricks of four sites share the bytes of their rows, and so the lanes beside each other.
LEAST_ROW = 8


def tasks_of(file: str, words: str | None, sums: str, flips: bool = False) -> dict[str, Templates]:
    """Return the kernels of a file for each task of `BrickClusters`, by the kind of a plan.

    They read `words`, a name of ``Words``, or bonds of cells where that is None, and sum sizes as
    `sums`, a type of C++. If it `flips`, clusters get new states or labels.
    """
    by_words = words is not None
    of_axes = (1,) if by_words else (1, 3)
    kinds = {kind: (axes, kind) for axes in of_axes for kind in tiled_bricks.GIVEN[axes]}
    tiles = "{kind[1].tiles}, {kind[1].label}"
    joined, summed = f"{{kind[1].links}}, {tiles}", f"{tiles}, conncomp::{sums}"
    link = f"link_words<{tiles}, conncomp::Words::{words}>"
    tasks: dict[str, tuple[str, ...]] = {
        "find": (
            link if by_words else f"link_cells<{tiles}>",
            f"label_tiles<{joined}>",
            f"join_links<{joined}>",
        ),
        "measure": (f"measure_tiles<{summed}>", f"join_sizes<{tiles}>", f"sum_sizes<{summed}>"),
    }
    if flips:
        tasks["flip"] = "toss_coins<>", f"flip_bricks<{tiles}, {{kind[0]}}>"
    if by_words:  # sites of cells are labelled as a graph's
        if flips:
            tasks["label"] = (f"write_labels<{{kind[1].links}}, false, {tiles}>",)
        leaving = f"join_links<{joined}, conncomp::Leaving::kWithinArray>"
        tasks["windings"] = leaving, f"unite_seams_of_bricks<{tiles}>", f"join_seams<{tiles}>"
    return {
        task: Templates(WINDINGS_FILE if task == "windings" else file, *names, kind=kinds)
        for task, names in tasks.items()
    }


OF_SPINS = tasks_of(FILE, "kBonds", "SizeSums", flips=True)
DRAW = Templates("cuda/models/percolation.cuh", "draw_configurations")
OF_SITES, OF_BONDS = (tasks_of(DRAW.file, of, "PercolationSums") for of in ("kSites", "kBonds"))


def takes(lattice: Lattice, replicas: int) -> bool:
    """Whether `BrickClusters` takes lattices, and these fill their tiles well enough."""
    has_bricks = lattice.ndim in tiled_bricks.LINKED and 1 not in lattice.shape
    if not has_bricks or lattice.shape[-1] < LEAST_ROW:
        return False
    return tiled_bricks.can_label(*_described(lattice, replicas))


class BrickClusters:
    """Finds the clusters of bonds as components of bricks, on lattices that `takes` takes.

    The `described` neighbours of sites are by default those along axes. The kernel that links takes
    the structs `beside` after configurations. An update needs about `memory` bytes besides spins
    and bonds, of a `workspace` that is free afterwards.
    """

    def __init__(
        self,
        replicas: Replicas,
        tasks: Mapping[str, Templates] = OF_SPINS,
        *,
        workspace: Workspace | None = None,
        described: tuple[Geometry, Links] | None = None,
        beside: tuple[np.void, ...] = (),
    ) -> None:
        self._replicas, self._tasks = replicas, tasks
        self._workspace, self._beside = workspace or Workspace(), beside
        described = described or _described(replicas.lattice, replicas.count)
        bits = 3 + replicas.lattice.ndim + tiled_bricks.FIRST_DIGITS
        self.memory = replicas.sites * replicas.index.itemsize + replicas.sites // 8 * bits
        # Sizes need to know where roots of tiles are, as numbers of components do.
        kind = *described, replicas.index, replicas.gpu.multiprocessors
        self._plan = tiled_bricks.plan_of(*kind, False)
        self._plan_of_sizes = tiled_bricks.plan_of(*kind, True)

    def find(
        self, bonds: Any, records: Any, sizes: bool = True, windings: ClusterWindings | None = None
    ) -> _Components:
        """Find the clusters of `bonds`, as ``activate_bonds`` writes them, or what kernels read.

        Their `sizes`, and `windings` by tables, go into ``Records``.
        """
        gpu, lattice = self._replicas.gpu, self._replicas.lattice
        plan = self._plan_of_sizes if sizes else self._plan
        sites = self._replicas.sites
        coin_words = -(-lattice.sites // WORD) * self._replicas.count
        beside: dict[str, Part] = {
            **plan.by_word,
            "entries": (sites, self._replicas.index),
            "coins": (coin_words if lattice.states == 2 else 0, BITS),
            "size": (sites if sizes else 0, self._replicas.index),
        }
        memory = self._workspace.take_struct(gpu, tiled_bricks.TABLE, plan.table, beside)
        table = memory.struct
        entries, coins, size = memory["entries"], memory["coins"], memory["size"]
        tiles, struct = plan.tiles, self._replicas.struct(0)
        by_brick = gpu.grid(plan.bricks, tiled_bricks.LINK_THREADS)
        link, label, join = self._load("find")
        launch(link, by_brick, tiles, struct, bonds, *self._beside, table)
        tile = plan.by_tile
        launch(label, tile, tiles, plan.rule, bonds, entries, table, shared=plan.shared)
        if sizes:
            size_bytes = 2 * plan.shared  # four bytes a node
            measured = tiles, struct, bonds, entries, table, size, records
            measure, join_sizes, sum_sizes = self._load("measure")
            launch(measure, tile, *measured, shared=size_bytes)
        if windings is not None:
            join, _, _ = self._load("windings")
        if windings is not None or plan.joins:
            launch(join, plan.by_border, tiles, plan.tile_count, plan.border, bonds, entries, table)
        if windings is not None:
            self._record_windings(windings, records, entries, table)
        if sizes:
            launch(join_sizes, by_brick, tiles, entries, table, size)
            launch(sum_sizes, tile, *measured)
        return _Components(entries, coins, table)

    def modules(self, measures: bool) -> list[Module]:
        """Return the modules that `find` and `flip` load."""
        tasks = ("find", "measure", "flip") if measures else ("find", "flip")
        return [self._tasks[task].module(self._plan.kind) for task in tasks]

    def _load(self, task: str) -> tuple[Kernel, ...]:
        # They are compiled together when the task's turn comes.
        return self._tasks[task].load(self._replicas.gpu, self._plan.kind)

    def _record_windings(
        self, tables: ClusterWindings, records: np.void, entries: DeviceArray, table: np.void
    ) -> None:
        """Record windings, before what is linked over the ends of axes is joined."""
        _, unite, join_seams = self._load("windings")
        seams = tables.seams
        by_link = self._replicas.gpu.grid(seams.links)
        of_seams = self._plan.tiles, seams.struct, tables.boxes, entries, table
        tables.record(records, lambda windings: launch(unite, by_link, *of_seams, windings))
        launch(join_seams, by_link, *of_seams)

    def flip(self, components: _Components, number: int, new: DeviceArray) -> None:
        """Give each cluster a new state, those of update `number`, in the spins `new`."""
        lattice, plan, struct = self._replicas.lattice, self._plan, self._replicas.struct(number)
        toss, flip = self._load("flip")
        entries, coins, table = components
        if lattice.states == 2:
            launch(toss, self._replicas.grid, struct, coins)
        else:
            coins = None
        shared = BITS.itemsize * lattice.planes * plan.by_tile[1]
        launch(flip, plan.by_tile, plan.tiles, struct, coins, entries, table, new, shared=shared)

    def label(self, components: _Components) -> Any:
        """Return the label of each site, its cluster's smallest site in the replica."""
        plan, (write,) = self._plan, self._load("label")
        of_labels = None, components.entries, components.table, plan.columns, None, None
        launch(write, plan.by_tile, plan.tiles, *of_labels)
        return components.entries


class _Components(NamedTuple):
    """The clusters of bonds: entries at their first sites, room for coins, ``BrickTable``."""

    entries: Any
    coins: Any
    table: Any


@lru_cache(maxsize=64)
def _described(lattice: Lattice, replicas: int) -> tuple[Geometry, Links]:
    geometry = packed_geometry(lattice, replicas, Neighbourhood(1, None, lattice.periodic))
    return geometry, bonds_of_axes(lattice.ndim)


def packed_geometry(lattice: Lattice, replicas: int, neighbourhood: Neighbourhood) -> Geometry:
    """Return the geometry of bytes of the sites of replicas, one after another."""
    shape = replicas, *lattice.shape
    strides = tuple(prod(shape[k + 1 :]) for k in range(len(shape)))
    return geometry_of(shape, strides, 1, neighbourhood, 1)
