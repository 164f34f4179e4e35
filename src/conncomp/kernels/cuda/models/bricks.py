"""Clusters of spins, and of percolation, as bits: drives ``bricks.cuh`` and ``percolation.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import chain
from math import prod
from typing import Any, NamedTuple

from conncomp.kernels.cuda.grid import tiled_bricks
from conncomp.kernels.cuda.grid.image import Geometry, geometry_of
from conncomp.kernels.cuda.launcher import Kernel, Module, Templates, launch
from conncomp.kernels.cuda.models.replicas import ClusterWindings, Replicas
from conncomp.kernels.cuda.workspace import Part, Workspace
from conncomp.kernels.lattice import BITS, WORD, Lattice
from conncomp.kernels.links import Links, bonds_of_axes
from conncomp.kernels.neighbourhood import Neighbourhood

FILE, WINDINGS_FILE = "cuda/models/bricks.cuh", "cuda/models/brick_windings.cuh"
# Two bricks of four sites share the bytes of their rows, and so the lanes beside each other.
LEAST_ROW = 8


class Kernels(NamedTuple):
    """Which kernels of a file read configurations and sum up sizes.

    A configuration is `words`, a name of ``Words``, or None where cells have bonds; `sums` is a C++
    type. Whether it `flips` is whether clusters get new states or labels.
    """

    file: str
    words: str | None
    sums: str
    flips: bool = False


OF_SPINS = Kernels(FILE, "kBonds", "SizeSums", flips=True)
DRAW = Templates("cuda/models/percolation.cuh", "draw_configurations")
OF_SITES, OF_BONDS = (Kernels(DRAW.file, of, "PercolationSums") for of in ("kSites", "kBonds"))


def takes(lattice: Lattice, replicas: int) -> bool:
    """Whether `BrickClusters` takes lattices, and these fill their tiles well enough."""
    has_bricks = lattice.ndim in tiled_bricks.LINKED and 1 not in lattice.shape
    if not has_bricks or lattice.shape[-1] < LEAST_ROW:
        return False
    return tiled_bricks.can_label(*_described(lattice, replicas))


class BrickClusters:
    """The clusters of bonds, as components of bricks and of tiles, of lattices that `takes` takes.

    An `index` holds the numbers of sites in all replicas; `described` are their neighbours, by
    default those along axes; the kernel that links takes what is `beside` after configurations.
    After an update none of the `workspace` is needed.
    """

    def __init__(
        self,
        replicas: Replicas,
        index: Any,
        kernels: Kernels = OF_SPINS,
        *,
        described: tuple[Geometry, Links] | None = None,
        beside: tuple[Any, ...] = (),
    ) -> None:
        self._replicas, self._index, self._tasks = replicas, index, _tasks(kernels)
        self.workspace, self._beside = Workspace(), beside
        described = described or _described(replicas.lattice, replicas.count)
        multiprocessors = replicas.gpu.multiprocessors
        # Sizes need to know where roots of tiles are, as numbers of components do.
        self._plan = tiled_bricks.plan_of(*described, index, multiprocessors, False)
        self._plan_of_sizes = tiled_bricks.plan_of(*described, index, multiprocessors, True)

    def find(
        self, bonds: Any, sizes: Any = None, windings: tuple[ClusterWindings, Any] | None = None
    ) -> _Components:
        """Find the clusters of `bonds`, as ``activate_bonds`` writes them, or what kernels read.

        Their `sizes` and `windings`, with tables, go into ``Records``, if these are given.
        """
        gpu, lattice = self._replicas.gpu, self._replicas.lattice
        plan = self._plan if sizes is None else self._plan_of_sizes
        sites = lattice.sites * self._replicas.count
        coin_words = -(-lattice.sites // WORD) * self._replicas.count
        beside: dict[str, Part] = {
            **plan.by_word,
            "entries": (sites, self._index),
            "coins": (coin_words if lattice.states == 2 else 0, BITS),
            "size": (0 if sizes is None else sites, self._index),
        }
        memory = self.workspace.take_struct(gpu, tiled_bricks.TABLE, plan.table, beside)
        table = memory.struct
        entries, coins, size = memory["entries"], memory["coins"], memory["size"]
        components = _Components(entries, coins, table)
        tiles, struct = plan.tiles, self._replicas.struct(0)
        by_brick = gpu.grid(plan.bricks, tiled_bricks.LINK_THREADS)
        link, label, join = self._load("find")
        launch(link, by_brick, tiles, struct, bonds, *self._beside, table)
        tile = plan.by_tile
        launch(label, tile, tiles, plan.rule, bonds, entries, table, shared=plan.shared)
        if sizes is not None:
            size_bytes = 2 * plan.shared  # four bytes a node
            measured = tiles, struct, bonds, entries, table, size, sizes
            measure, join_sizes, sum_sizes = self._load("measure")
            launch(measure, tile, *measured, shared=size_bytes)
        joined = plan.by_border, tiles, plan.tile_count, plan.border, bonds, entries, table
        if windings is not None:
            self._join_winding(joined, components, *windings)
        elif plan.joins:
            launch(join, *joined)
        if sizes is not None:
            launch(join_sizes, by_brick, tiles, entries, table, size)
            launch(sum_sizes, tile, *measured)
        return components

    def modules(self, measures: bool) -> list[Module]:
        """Return the modules that `find`, with or without sizes, and `flip` load."""
        tasks = ("find", "measure", "flip") if measures else ("find", "flip")
        return [self._tasks[task].module(self._plan.kind) for task in tasks]

    def _load(self, task: str) -> tuple[Kernel, ...]:
        # They are compiled together when the task's turn comes.
        return self._tasks[task].load(self._replicas.gpu, self._plan.kind)

    def _join_winding(
        self, joined: Any, components: _Components, tables: ClusterWindings, records: Any
    ) -> None:
        """Join tiles, and record windings before what is linked over the ends of axes is joined."""
        gpu, seams = self._replicas.gpu, tables.seams
        within, unite, join_seams = self._load("windings")
        by_link = gpu.grid(seams.links)
        entries, table = components.entries, components.table
        of_seams = by_link, self._plan.tiles, seams.struct, tables.boxes, entries, table

        launch(within, *joined)
        tables.record(records, lambda windings: launch(unite, *of_seams, windings))
        launch(join_seams, *of_seams)

    def flip(self, components: _Components, number: int, new: Any) -> None:
        """Give each cluster a new state, those of update `number`, in the spins `new`."""
        lattice, plan, struct = self._replicas.lattice, self._plan, self._replicas.struct(number)
        toss, flip = self._load("flip")
        coins = None
        if lattice.states == 2:
            coins = components.coins
            launch(toss, self._replicas.grid, struct, coins)
        shared = BITS.itemsize * lattice.planes * plan.by_tile[1]
        arguments = plan.tiles, struct, coins, components.entries, components.table, new
        launch(flip, plan.by_tile, *arguments, shared=shared)

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


def memory(lattice: Lattice, replicas: int, index: Any) -> int:
    """Return how many bytes an update takes but for spins and bonds, about."""
    sites = lattice.sites * replicas
    bits = 3 + lattice.ndim + tiled_bricks.FIRST_DIGITS
    return int(sites * index.itemsize + sites // 8 * bits)


@lru_cache(maxsize=64)
def _described(lattice: Lattice, replicas: int) -> tuple[Geometry, Links]:
    geometry = packed_geometry(lattice, replicas, Neighbourhood(1, None, lattice.periodic))
    return geometry, bonds_of_axes(lattice.ndim)


def packed_geometry(lattice: Lattice, replicas: int, neighbourhood: Neighbourhood) -> Geometry:
    """Return the geometry of bytes of the sites of replicas, one after another."""
    shape = replicas, *lattice.shape
    strides = tuple(prod(shape[k + 1 :]) for k in range(len(shape)))
    return geometry_of(shape, strides, 1, neighbourhood, 1)


@cache
def _tasks(of: Kernels) -> dict[str, Templates]:
    """Return the kernels of each task, for the kind of a plan."""
    by_words = of.words is not None
    kinds = {
        kind: (axes, kind)
        for axes in ((1,) if by_words else (1, 3))
        for kind in tiled_bricks.GIVEN[axes]
    }
    tiles = "{kind[1].tiles}, {kind[1].label}"
    joined, summed = f"{{kind[1].links}}, {tiles}", f"{tiles}, conncomp::{of.sums}"
    words = f"link_words<{tiles}, conncomp::Words::{of.words}>"
    tasks: dict[str, tuple[str, ...]] = {
        "find": (
            words if by_words else f"link_cells<{tiles}>",
            f"label_tiles<{joined}>",
            f"join_links<{joined}>",
        ),
        "measure": (f"measure_tiles<{summed}>", f"join_sizes<{tiles}>", f"sum_sizes<{summed}>"),
    }
    if of.flips:
        tasks["flip"] = "toss_coins<>", f"flip_bricks<{tiles}, {{kind[0]}}>"
    if by_words:  # sites of cells are labelled as a graph's
        if of.flips:
            tasks["label"] = (f"write_labels<{{kind[1].links}}, false, {tiles}>",)
        leaving = f"join_links<{joined}, conncomp::Leaving::kWithinArray>"
        tasks["windings"] = leaving, f"unite_seams_of_bricks<{tiles}>", f"join_seams<{tiles}>"
    return {
        task: Templates(WINDINGS_FILE if task == "windings" else of.file, *names, kind=kinds)
        for task, names in tasks.items()
    }


def modules_of(of: Kernels) -> Iterator[Module]:
    """Yield every module that `BrickClusters` can load for its kernels."""
    return chain.from_iterable(task.modules() for task in _tasks(of).values())


def specialisations() -> Iterator[Module]:
    """Yield every module for spins and percolation."""
    yield from DRAW.modules()
    for kernels in (OF_SPINS, OF_SITES, OF_BONDS):
        yield from modules_of(kernels)
