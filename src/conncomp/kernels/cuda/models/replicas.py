"""Lattices of one shape side by side, as the kernels of this folder take them, and engines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from functools import cached_property
from math import prod
from typing import Any, Literal

import numpy as np

from conncomp._arguments import INDEX_TYPES, INT32_MAX
from conncomp.kernels.cuda.grid import windings
from conncomp.kernels.cuda.launcher import WARP, DeviceArray, Gpu, Kernel, Templates, launch
from conncomp.kernels.cuda.structs import Struct
from conncomp.kernels.cuda.workspace import Workspace
from conncomp.kernels.lattice import LATTICE, Lattice
from conncomp.kernels.neighbourhood import Neighbourhood
from conncomp.kernels.seams import MOST_CLOSED, seams_of
from conncomp.kernels.updates import Drawn, Flips

_START = Templates("cuda/models/spins.cuh", "start_spins")
_RECORD = Templates(windings.FILE, "record_windings")
THREADS = 128
BLOCKS_OF_MULTIPROCESSOR = 64  # so that all end at about the same time

REPLICAS = Struct(
    *("Replicas", ("lattice", LATTICE)),
    *(("axes parts", "i4"), ("first", "i8"), ("seed", "u8"), ("step", "u4")),
)
RECORDS = Struct("Records", "record", ("length", "i8"))

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


def records_of(gpu: Gpu, records: DeviceArray | None) -> np.void:
    """Return ``Records`` of an array, whose last axis has the fields, or of None."""
    return RECORDS.of(gpu, record=records, length=0 if records is None else records.shape[-1])


# The loop of a kernel, or how many blocks share a replica.
Over = Literal["words", "pairs", "bonds", "sites"] | int

# ``kPairs`` of ``core/metropolis.h``, of words that follow each other.
PAIRS = 16


class Replicas:
    """Lattices of one shape side by side, which draw numbers by a seed and their own number.

    `bonds` are the shape and type of planes of bonds, one for each of `axes`, by default the
    lattice's. `grid` has a thread for each word. `index` is the type that numbers all `sites`.
    """

    def __init__(self, gpu: Gpu, drawn: Drawn, lattice: Lattice, axes: int | None = None) -> None:
        self.gpu, self.lattice, self.count = gpu, lattice, drawn.replicas
        count, axes = drawn.replicas, axes or lattice.ndim
        self.bonds, self.sites = lattice.words_of(count, axes), count * lattice.sites
        self.index = INDEX_TYPES[self.sites >= 1 << 31]
        wanted = -(-gpu.multiprocessors * BLOCKS_OF_MULTIPROCESSOR // count)

        def parts(threads: int, most: int) -> int:
            return max(1, min(-(-threads // THREADS), most))

        self._parts: dict[str, int] = {
            "words": parts(lattice.words, wanted),
            "pairs": parts(-(-lattice.words // (2 * PAIRS)) * PAIRS, wanted),
            "bonds": axes * parts(lattice.words, -(-wanted // axes)),
            "sites": parts(lattice.words * WARP, wanted),
        }
        first, seed = drawn.first_replica, drawn.seed
        self._fields = {"lattice": lattice.struct, "axes": axes, "first": first, "seed": seed}
        self.grid = self.count * self._parts["words"], THREADS

    def struct(self, number: int, over: Over = "words") -> np.void:
        """Return ``Replicas`` for an update, and a kernel that goes over these."""
        parts = over if isinstance(over, int) else self._parts[over]
        return REPLICAS.pack({**self._fields, "parts": parts, "step": number})

    def launch(self, kernel: Kernel, number: int, *arguments: Any, over: Over = "words") -> None:
        """Launch a kernel on ``Replicas`` for an update, and the other arguments."""
        parts = over if isinstance(over, int) else self._parts[over]
        launch(kernel, (self.count * parts, THREADS), self.struct(number, parts), *arguments)


def starting_together(gpu: Gpu, kernel: Kernel, parts: int) -> Kernel:
    """Return a kernel whose blocks, if there are `parts` of a replica, wait for each other.

    They start together, whatever other streams do.
    """
    return kernel if parts == 1 else gpu.together(kernel)


class Sweeps(ABC):
    """Makes many updates in one launch; `parts` blocks share a replica."""

    most_updates = 256

    def __init__(self, replicas: Replicas, parts: int = 1) -> None:
        self._replicas, self._parts = replicas, parts
        self._workspace = Workspace()
        # Of the blocks of each replica that wait for each other: a single one never waits.
        counters = _COUNTER_STRIDE * replicas.count if parts > 1 else 0
        self._arrived = replicas.gpu.xp.zeros(counters, _COUNTER)

    def makes(self, one: bool, measures: bool) -> bool:
        """Whether it makes updates that flip `one` cluster, or measure clusters."""
        return not (one or measures)

    def sweep(
        self, spins: Any, numbers: range, strengths: Any, flips: Flips, every: int, before: int
    ) -> None:
        """Make updates of these numbers, at most `most_updates`, in place.

        Each `every`-th adds to a row of the records of `flips`, (rows, replicas, fields). The first
        row is that of the last update that measured, if `before` updates came after it.
        """
        stride = 0 if flips.record is None else flips.record[:1].size
        often = min(every, INT32_MAX)  # which is further apart than updates of a launch are
        updates = {"count": len(numbers), "every": often, "before": before, "record_stride": stride}
        struct = self._replicas.struct(numbers.start, self._parts)
        self._arrived[...] = 0
        self._launch(struct, updates, strengths, spins, flips)

    @abstractmethod
    def _launch(self, struct: Any, updates: Any, strengths: Any, spins: Any, flips: Flips) -> None:
        """Launch the kernel, given ``Replicas`` and the values of `OF_UPDATES`."""


class GpuSpins(ABC):
    """A `SpinEngine` of replicas, whose `bonds` have this shape and dtype."""

    winds, sweeps_one, counts_apart = False, False, False
    rules: tuple[str, ...] = ()
    offer: Any = None

    def __init__(
        self, replicas: Replicas, kernels: Iterable[Kernel] = (), bonds: tuple[Any, ...] = ()
    ) -> None:
        self.gpu, self.xp, self.replicas = replicas.gpu, replicas.gpu.xp, replicas
        self._bonds, self._workspace = bonds or replicas.bonds, Workspace()
        self._kernels = {kernel.name: kernel for kernel in kernels}

    def _launch(self, name: str, number: int, *arguments: Any, over: Over = "sites") -> None:
        """Launch one of the given kernels, by name."""
        self.replicas.launch(self._kernels[name], number, *arguments, over=over)

    @cached_property
    def sweeps(self) -> Sweeps | None:
        """Makes many updates at once, if anything does."""
        return None

    @abstractmethod
    def _draw(self, spins: Any, number: int, strengths: Any, bonds: Any, record: Any) -> None:
        """Draw an update's bonds, unless these are None, and count the spins."""

    def start(self, spins: DeviceArray) -> None:
        """Fill spins, which are 0, with random ones."""
        self.replicas.launch(_START.one(self.gpu), 0, spins)

    def count(self, spins: DeviceArray, record: DeviceArray) -> None:
        """Add what the spins tell to a record."""
        self._draw(spins, 0, None, None, record)

    def bonds(self, spins: DeviceArray, number: int, strengths: DeviceArray) -> Any:
        """Return the bonds that the update of this number makes active."""
        bonds = self.xp.empty(*self._bonds)
        self._draw(spins, number, strengths, bonds, None)
        return bonds


class ClusterWindings:
    """Tables of the windings of clusters, in memory that is taken once.

    At least one axis is periodic. The `field` of a record has a bit for each axis along which a
    cluster closes on itself, and the next one the highest rank. `seams` are the links over the ends
    of axes, an item for each replica; their `boxes` are on the GPU.
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

    def record(self, records: np.void, unite: Callable[[Any], None]) -> None:
        """Fill two fields of records, which are 0, by ``SeamWindings`` that `unite` is given."""
        tables = windings.cleared_windings(self._gpu, self.seams, self._workspace)
        unite(tables)
        windings.close_windings(self._gpu, self.seams, tables)
        by_slot = self._gpu.grid(self.seams.slots)
        launch(_RECORD.one(self._gpu), by_slot, tables, self._closed, records, self._field)
