"""Lattices of one shape side by side, as the kernels of this folder take them."""

from __future__ import annotations

from collections.abc import Callable
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

SPINS, CLUSTERS = "cuda/models/spins.cuh", "cuda/models/clusters.cuh"
_START = Templates(SPINS, "start_spins")
_FLAGS = (False, True)
_OFFER = Templates(SPINS, "offer_flips", axes=range(1, MOST_AXES + 1), whole=_FLAGS)
_RECORD = Templates(windings.FILE, "record_windings")
specialisations = every(
    _START,
    _OFFER,
    _RECORD,
    Templates(SPINS, "activate_bonds count_states update_class"),
    Templates(
        CLUSTERS, "choose_clusters clear_sizes measure_clusters sum_clusters", indices="index"
    ),
    Templates(CLUSTERS, "spread_bonds"),
    Templates(CLUSTERS, "flip_clusters<{index}, {settled}>", settled=_FLAGS, indices="index"),
)
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

    A replica has planes of bonds for so many `axes`, by default the lattice's. Kernels that go
    through words, a thread each, have the `grid`.
    """

    def __init__(
        self, gpu: Gpu, lattice: Lattice, seed: int, first: int, count: int, axes: int | None = None
    ) -> None:
        self.gpu, self.lattice, self.count = gpu, lattice, count
        wanted = -(-gpu.multiprocessors * BLOCKS_OF_MULTIPROCESSOR // count)

        def parts(threads: int, most: int) -> int:
            return max(1, min(-(-threads // THREADS), most))

        axes = axes or lattice.ndim
        self._parts: dict[Over, int] = {
            "words": parts(lattice.words, wanted),
            "pairs": parts(-(-lattice.words // (2 * PAIRS)) * PAIRS, wanted),
            "bonds": axes * parts(lattice.words, -(-wanted // axes)),
            "sites": parts(lattice.words * WARP, wanted),
        }
        self._struct = np.zeros((), _STRUCT)
        self._struct["lattice"], self._struct["axes"] = lattice.struct, axes
        self._struct["first"], self._struct["seed"] = first, seed
        self.grid = self.grid_over("words")

    def grid_over(self, what: Over) -> tuple[int, int]:
        """Return blocks and threads of a kernel over words, pairs or bonds of them, or sites."""
        return self.count * self._parts[what], THREADS

    def struct(self, step: int, over: Over = "words") -> Any:
        """Return ``Replicas`` for an update, of a kernel over that."""
        self._struct["step"], self._struct["parts"] = step, self._parts[over]
        return self._struct[()]

    def launch(self, kernel: Kernel, step: int, *arguments: Any, over: Over = "words") -> None:
        """Launch a kernel over that, on ``Replicas`` for an update and what comes after these."""
        launch(kernel, self.grid_over(over), self.struct(step, over), *arguments)

    def struct_in_parts(self, step: int, parts: int) -> Any:
        """Return ``Replicas`` for an update, of a kernel with so many blocks a replica: a copy."""
        struct = self.struct(step).copy()
        struct["parts"] = parts
        return struct


def new_counters(gpu: Gpu, replicas: Replicas, parts: int) -> Any:
    """Return counters, all 0, of the blocks of each replica: none of one, which never waits."""
    return gpu.xp.zeros(_COUNTER_STRIDE * replicas.count if parts > 1 else 0, _COUNTER)


def of_updates(numbers: range, records: Any, every: int, before: int) -> dict[str, int]:
    """Return the values of `OF_UPDATES`, of updates that one launch makes.

    Each `every`-th of these `numbers` adds to records, of shape (rows, replicas, fields), a row
    each. The first row is of the last update that measured, if updates have been made `before`
    these since.
    """
    stride = 0 if records is None else records[:1].size
    often = min(every, INT32_MAX)  # which is further apart than updates of a launch are
    return {"count": len(numbers), "every": often, "before": before, "record_stride": stride}


class Sweeps:
    """Many updates in a launch, which blocks make in a `box` each, so many `parts` a replica.

    Others have `_launch`, of ``Replicas``, ``Updates``, the box, and what `sweep` is given.
    """

    most_updates = 256
    _launch: Callable[..., None]

    def __init__(self, replicas: Replicas, box: Any, parts: int = 1) -> None:
        self._replicas, self._box, self._parts = replicas, box, parts

    def sweep(
        self,
        words: Any,
        numbers: range,
        probabilities: Any,
        records: Any = None,
        *,
        every: int = 1,
        before: int = 0,
    ) -> None:
        """Make updates, at most `most_updates`, where spins are.

        Of bonds of each replica `probabilities` are given, times 2**64; for records see
        `of_updates`.
        """
        gpu = self._replicas.gpu
        updates = UPDATES.of(gpu, **of_updates(numbers, records, every, before))
        struct = self._replicas.struct_in_parts(numbers.start, self._parts)
        self._launch(struct, updates, self._box, probabilities, words, records_of(gpu, records))


def offering_kernel(lattice: Lattice) -> tuple[str, Over]:
    """Return the name of the kernel that offers the sites of a class other states, and its grid."""
    if lattice.states > 2:
        return "update_class<>", "words"
    axes = [k for k, length in enumerate(lattice.shape) if length > 1]
    whole = bool(axes) and all(lattice.periodic[k] for k in axes)
    _, (name,) = _OFFER.module(max(len(axes), 1), whole)
    return name, "pairs"


def start_spins(gpu: Gpu, rows: Replicas, words: Any) -> None:
    """Fill words of replicas, which are 0, with random spins."""
    rows.launch(_START.one(gpu), 0, words)


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
        closed = np.zeros((), _CLOSED_AXES)
        axes = np.flatnonzero(lattice.periodic)
        closed["axis"][: len(axes)] = axes
        self._closed = closed[()]

    def record(self, records: Any, unite: Callable[[Any], None]) -> None:
        """Fill two fields of records, which are 0, by ``SeamWindings`` that `unite` is given."""
        tables = windings.cleared_windings(self._gpu, self.seams, self._workspace)
        unite(tables)
        windings.close_windings(self._gpu, self.seams, tables)
        by_slot = self._gpu.grid(self.seams.slots)
        launch(_RECORD.one(self._gpu), by_slot, tables, self._closed, records, self._field)
