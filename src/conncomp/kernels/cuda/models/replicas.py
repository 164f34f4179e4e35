"""Lattices of one shape side by side, as the kernels of this folder take them; their engines."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from math import prod
from typing import Any, Literal

import numpy as np

from conncomp._arguments import INT32_MAX
from conncomp.kernels import layout
from conncomp.kernels.cuda.grid import windings
from conncomp.kernels.cuda.launcher import WARP, Gpu, Kernel, Templates, every, launch
from conncomp.kernels.cuda.structs import Struct
from conncomp.kernels.cuda.workspace import Workspace
from conncomp.kernels.lattice import LATTICE, MOST_AXES, Lattice
from conncomp.kernels.neighbourhood import Neighbourhood
from conncomp.kernels.seams import MOST_CLOSED, seams_of
from conncomp.kernels.updates import Drawn, Flips

SPINS, CLUSTERS = "cuda/models/spins.cuh", "cuda/models/clusters.cuh"
_FLAGS = (False, True)
_OFFER = Templates(SPINS, "offer_flips", axes=range(1, MOST_AXES + 1), whole=_FLAGS)
_RECORD = Templates(windings.FILE, "record_windings")
# Kernels of words and of their clusters, each of which is compiled when its turn comes.
KERNELS = {
    **{
        name: Templates(SPINS, name)
        for name in ("start_spins", "activate_bonds", "count_states", "update_class")
    },
    **{
        name: Templates(CLUSTERS, name, indices="index")
        for name in ("choose_clusters", "clear_sizes", "measure_clusters", "sum_clusters")
    },
    "spread_bonds": Templates(CLUSTERS, "spread_bonds"),
    "flip_clusters": Templates(
        CLUSTERS, "flip_clusters<{index}, {settled}>", settled=_FLAGS, indices="index"
    ),
}
specialisations = every(_OFFER, _RECORD, *KERNELS.values())
THREADS = 128
# How many blocks a multiprocessor gets, so that all of them end at about the same time.
BLOCKS_OF_MULTIPROCESSOR = 64

# ``Replicas`` and ``Records`` of ``spins.cuh``.
_STRUCT = layout(
    ("lattice", LATTICE), ("axes parts", "i4"), ("first", "i8"), ("seed", "u8"), ("step", "u4")
)
_RECORDS = np.dtype([("record", "u8"), ("length", "i8")])

# ``ClosedAxes`` of ``cuda/grid/windings.cuh``.
_CLOSED_AXES = np.dtype([("axis", "i4", MOST_CLOSED)])

# Fields of ``Updates`` of ``spins.cuh``, and its counters of blocks that wait for each other.
OF_UPDATES = ("count every before", "i4"), ("record_stride", "i8")
UPDATES = Struct("Updates", *OF_UPDATES)
_COUNTER, _COUNTER_STRIDE = np.dtype("u4"), 32


def check_room(gpu: Gpu, what: str, num_bytes: int) -> None:
    """Raise MemoryError unless something fits the memory of a GPU."""
    available = gpu.free_memory()
    if num_bytes > available:
        raise MemoryError(
            f"{what} take {num_bytes} bytes on the GPU, which has {available} free; choose fewer, "
            "or smaller ones"
        )


def records_of(gpu: Gpu, records: Any) -> Any:
    """Return ``Records`` of an array, whose last axis has the fields, or of None."""
    if records is None:
        return np.zeros((), _RECORDS)[()]
    return np.array((gpu.address(records), records.shape[-1]), _RECORDS)[()]


Over = Literal["words", "pairs", "bonds", "sites"]

# ``kPairs`` of ``core/metropolis.h``, of words that follow each other.
PAIRS = 16


class Replicas:
    """Lattices of one shape, and which random numbers are theirs: of a seed, from a number on.

    A replica has planes of `bonds` for so many `axes`, by default the lattice's. Kernels that go
    through words, a thread each, have the `grid`.
    """

    def __init__(self, gpu: Gpu, drawn: Drawn, lattice: Lattice, axes: int | None = None) -> None:
        self.gpu, self.lattice, self.count = gpu, lattice, drawn.replicas
        count, axes = drawn.replicas, axes or lattice.ndim
        self.bonds = lattice.words_of(count, axes)
        wanted = -(-gpu.multiprocessors * BLOCKS_OF_MULTIPROCESSOR // count)

        def parts(threads: int, most: int) -> int:
            return max(1, min(-(-threads // THREADS), most))

        self._parts: dict[Over, int] = {
            "words": parts(lattice.words, wanted),
            "pairs": parts(-(-lattice.words // (2 * PAIRS)) * PAIRS, wanted),
            "bonds": axes * parts(lattice.words, -(-wanted // axes)),
            "sites": parts(lattice.words * WARP, wanted),
        }
        named = drawn.first_replica, drawn.seed
        self._struct = np.array((lattice.struct, axes, 0, *named, 0), _STRUCT)
        self.grid = self.grid_over("words")

    def grid_over(self, what: Over) -> tuple[int, int]:
        """Return blocks and threads of a kernel over words, pairs or bonds of them, or sites."""
        return self.count * self._parts[what], THREADS

    def struct(self, number: int, over: Over = "words") -> Any:
        """Return ``Replicas`` for an update, of a kernel over that."""
        self._struct["step"], self._struct["parts"] = number, self._parts[over]
        return self._struct[()]

    def launch(self, kernel: Kernel, number: int, *arguments: Any, over: Over = "words") -> None:
        """Launch a kernel over that, on ``Replicas`` for an update and what comes after these."""
        launch(kernel, self.grid_over(over), self.struct(number, over), *arguments)

    def struct_in_parts(self, number: int, parts: int) -> Any:
        """Return ``Replicas`` for an update, of a kernel with so many blocks a replica: a copy."""
        struct = self.struct(number).copy()
        struct["parts"] = parts
        return struct


def of_updates(numbers: range, records: Any, every: int, before: int) -> dict[str, int]:
    """Return the values of `OF_UPDATES`, of updates that one launch makes.

    Each `every`-th of these `numbers` adds to records, of shape (rows, replicas, fields), a row
    each. The first row is of the last update that measured, if updates have been made `before`
    these since.
    """
    stride = 0 if records is None else records[:1].size
    often = min(every, INT32_MAX)  # which is further apart than updates of a launch are
    return {"count": len(numbers), "every": often, "before": before, "record_stride": stride}


def starting_together(gpu: Gpu, kernel: Kernel, parts: int) -> Kernel:
    """Return a kernel whose blocks, if there are `parts` of a replica, wait for each other.

    Whatever other streams do, they start together.
    """
    return kernel if parts == 1 else gpu.together(kernel)


class Sweeps:
    """Many updates in a launch, which so many `parts` of a replica make, blocks, in a `box` each.

    Others have `_launch`, of the flips, ``Replicas``, what `_updates` returns, by what bonds are
    drawn, the spins and ``Records``.
    """

    most_updates = 256
    _launch: Callable[..., None]

    def __init__(self, replicas: Replicas, parts: int = 1, box: Any = None) -> None:
        self._replicas, self._parts, self._box = replicas, parts, box
        self._workspace = Workspace()
        # Of the blocks of each replica that wait for each other: a single one never waits.
        counters = _COUNTER_STRIDE * replicas.count if parts > 1 else 0
        self._arrived = replicas.gpu.xp.zeros(counters, _COUNTER)

    def makes(self, one: bool, measures: bool) -> bool:
        """Whether these are updates of one cluster, or of all, and measure clusters, or do not."""
        return not (one or measures)

    def sweep(
        self, spins: Any, numbers: range, strengths: Any, flips: Flips, every: int, before: int
    ) -> None:
        """Make updates of these numbers, at most `most_updates`, where spins are.

        `strengths` are by what bonds are drawn. For the records of `flips` see `of_updates`.
        """
        replicas, records = self._replicas, records_of(self._replicas.gpu, flips.record)
        updates = self._updates(flips, of_updates(numbers, flips.record, every, before))
        struct = replicas.struct_in_parts(numbers.start, self._parts)
        self._arrived[...] = 0
        self._launch(flips, struct, *updates, strengths, spins, records)

    def _updates(self, flips: Flips, counted: dict[str, int]) -> tuple[Any, ...]:
        """Return ``Updates``, of the values of `OF_UPDATES`, and the box."""
        return UPDATES.of(self._replicas.gpu, **counted), self._box


def offering_kernel(gpu: Gpu, lattice: Lattice) -> tuple[Kernel, Over]:
    """Return the kernel that offers the sites of a class other states, and what it goes over."""
    if lattice.states > 2:
        return KERNELS["update_class"].one(gpu), "words"
    axes = [k for k, length in enumerate(lattice.shape) if length > 1]
    whole = bool(axes) and all(lattice.periodic[k] for k in axes)
    return _OFFER.one(gpu, max(len(axes), 1), whole), "pairs"


class GpuSpins:
    """What engines of spins on a GPU share: replicas, and words of `bonds` that an update draws.

    Others have `_draw`, of spins, an update's number, by what bonds are drawn, memory for these or
    None, and a record or None, to which it adds what the spins tell. `_launch` takes kernels that
    were given, by name. What engines are asked for, ``kernels/updates.py`` says.
    """

    winds, sweeps_one, counts_apart = False, False, False
    rules: tuple[str, ...] = ()
    _draw: Callable[..., None]

    def __init__(
        self, replicas: Replicas, kernels: Iterable[Kernel] = (), bonds: tuple[Any, ...] = ()
    ) -> None:
        self.gpu, self.xp, self.replicas = replicas.gpu, replicas.gpu.xp, replicas
        self._bonds, self._workspace = bonds or replicas.bonds, Workspace()
        self._kernels = {kernel.name: kernel for kernel in kernels}

    def _launch(self, name: str, over: Over, number: int, *arguments: Any) -> None:
        self.replicas.launch(self._kernels[name], number, *arguments, over=over)

    @cached_property
    def sweeps(self) -> Sweeps | None:
        """What makes many updates at once, if anything does."""
        return None

    def start(self, words: Any) -> None:
        """Fill words, which are 0, with random spins."""
        self.replicas.launch(KERNELS["start_spins"].one(self.gpu), 0, words)

    def count(self, spins: Any, record: Any) -> None:
        """Add what the spins tell to a record."""
        self._draw(spins, 0, None, None, record)

    def bonds(self, spins: Any, number: int, strengths: Any) -> Any:
        """Return the bonds that the update of this number makes active."""
        bonds = self.xp.empty(*self._bonds)
        self._draw(spins, number, strengths, bonds, None)
        return bonds


class ClusterWindings:
    """Tables of the windings of clusters, in memory that is taken once.

    An axis at least is periodic. In the `field` of a record are the axes along which clusters close
    on themselves, a bit for each, and behind it the highest rank of a cluster. `seams` are the
    links over the ends of axes, of an item a replica, and `boxes` theirs, on the GPU.
    """

    def __init__(self, replicas: Replicas, field: int) -> None:
        self._gpu, self._field, self._workspace = replicas.gpu, np.int32(field), Workspace()
        lattice = replicas.lattice
        strides = tuple(prod(lattice.shape[k + 1 :]) for k in range(lattice.ndim))
        neighbourhood = Neighbourhood(1, None, lattice.periodic)
        self.seams = seams_of(lattice.shape, strides, neighbourhood, replicas.count, lattice.sites)
        self.boxes = self._gpu.xp.asarray(self.seams.boxes.view(np.int64))
        closed = [*np.flatnonzero(lattice.periodic), *[0] * MOST_CLOSED][:MOST_CLOSED]
        self._closed = np.array((closed,), _CLOSED_AXES)[()]

    def record(self, records: Any, unite: Callable[[Any], None]) -> None:
        """Fill two fields of records, which are 0, by ``SeamWindings`` that `unite` is given."""
        tables = windings.cleared_windings(self._gpu, self.seams, self._workspace)
        unite(tables)
        windings.close_windings(self._gpu, self.seams, tables)
        by_slot = self._gpu.grid(self.seams.slots)
        launch(_RECORD.one(self._gpu), by_slot, tables, self._closed, records, self._field)
