"""Windings of the components of arrays on a GPU: drives ``windings.cuh``."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp.kernels import layout
from conncomp.kernels.cuda.grid.image import RULE_NAMES, rule_of
from conncomp.kernels.cuda.launcher import COUNT, DeviceArray, DType, Gpu, Templates, launch
from conncomp.kernels.cuda.structs import Struct
from conncomp.kernels.cuda.workspace import Fields, Workspace
from conncomp.kernels.links import Links
from conncomp.kernels.seams import (
    HOOK,
    LATTICE,
    MOST_CLOSED,
    SEAMS,
    Seams,
    Windings,
    number_windings,
)

FILE = "cuda/grid/windings.cuh"
_CLEAR, _CLOSE, _MARK = (
    Templates(FILE, kernel) for kernel in ("clear_seams", "close_seams", "mark_axes")
)
_ABOUT_SMALLEST = Templates(FILE, "tell_smallest", "list_windings", "count_left_out")
_UNITE = Templates(FILE, "unite_seams", rule=RULE_NAMES, indices="index")
# The integers of a ``ListedWinding``, and how many are read before it is known how many there are.
LISTED, READ_AT_ONCE = 1 + MOST_CLOSED**2, 32
SEAM_LINK = 3  # the integers of a ``SeamLink``, of 32 bits

# The type of numbers of slots and links, and ``SeamWindings`` of ``core/wrapping/windings.h``.
_NUMBER = np.dtype(np.int32)
_WINDINGS = Struct(
    "SeamWindings",
    "table.key",
    ("table.slots", COUNT),
    "forest.link forest.hook lattices.number_at_root lattices.lattice lattices.count smallest kept",
)


def find_windings(
    gpu: Gpu, values: DeviceArray, links: Links, seams: Seams, labels: DeviceArray, open_counts: Any
) -> Windings:
    """Return the windings of the components of an array, with at least one link in `seams`.

    `labels` are consecutive ones of the items with all axes open, of `open_counts` components.
    """
    tell, collect, count = _ABOUT_SMALLEST.load(gpu)
    boxes = gpu.xp.asarray(seams.boxes.view(np.int64))
    workspace = Workspace()  # that of the caller may have the counts
    windings = cleared_windings(gpu, seams, workspace, asks=True)
    unite_windings(gpu, values, links, seams, boxes, labels, windings)
    close_windings(gpu, seams, windings)
    by_slot = gpu.grid(seams.slots)
    # How many lattices there are, counts, and lattices, so that the host reads all at once.
    head = 1 + len(open_counts)
    read_by_host = gpu.xp.empty(head + seams.lattices * LISTED, np.int64)
    lattices = read_by_host[head:]
    launch(tell, by_slot, windings)
    launch(collect, by_slot, windings, open_counts, len(open_counts), read_by_host, lattices)
    read = as_numpy(gpu, read_by_host[: head + READ_AT_ONCE * LISTED])
    if read[0] > READ_AT_ONCE:
        read = as_numpy(gpu, read_by_host[: head + int(read[0]) * LISTED])
    components = read[head : head + int(read[0]) * LISTED].reshape(-1, LISTED)

    def left_out_below(bounds: NDArray[np.int64]) -> NDArray[np.int64]:
        counted = gpu.xp.asarray(np.concatenate([bounds, np.zeros(len(bounds) + 1, np.int64)]))
        launch(count, by_slot, windings, counted, len(bounds), counted[len(bounds) :])
        return np.cumsum(as_numpy(gpu, counted[len(bounds) : -1]))

    return number_windings(components[:, 0], components[:, 1:], read[1:head], left_out_below)


def place_windings(gpu: Gpu, windings: Windings) -> tuple[Any, Any, Any, Any]:
    """Return axes, rows, bases and counts on the GPU, copied in one piece.

    `axes` is bool, (components, ndim): along which axes each component closes on itself.
    """
    rows, bases, counts = windings.rows, windings.bases, windings.counts
    count, ndim = bases.shape[:2]
    axes = gpu.xp.zeros((int(counts.sum()), ndim), bool)
    placed = gpu.xp.asarray(np.concatenate([rows, bases.reshape(-1), counts]))
    of_rows, of_bases = placed[:count], placed[count : count + bases.size]
    if count:
        launch(_MARK.one(gpu), gpu.grid(count * ndim), of_rows, count, of_bases, ndim, axes)
    return axes, of_rows, of_bases.reshape(bases.shape), placed[count + bases.size :]


def as_numpy(gpu: Gpu, array: Any) -> NDArray[Any]:
    """Return an array of a GPU in main memory; itself on the host executor."""
    copied: NDArray[Any] = array if gpu.xp is np else gpu.xp.asnumpy(array)
    return copied


def unite_windings(
    gpu: Gpu, values: Any, links: Links, seams: Seams, boxes: Any, labels: Any, windings: Any
) -> None:
    """Unite what the links over the ends of axes connect, in tables that know nothing.

    Labels from 1 on need not be consecutive; `boxes` are those of `seams`, where `values` are.
    """
    rule = rule_of(links)
    array = np.array(
        (seams.struct, gpu.address(boxes), rule.struct, gpu.address(values), gpu.address(labels)),
        _array_of(rule.struct.dtype),
    )[()]
    launch(_UNITE.one(gpu, rule.name, labels.dtype), gpu.grid(seams.links), array, windings)


def close_windings(gpu: Gpu, seams: Seams, windings: Any) -> None:
    """Add the closed paths of the links to tables, once all are united."""
    launch(_CLOSE.one(gpu), gpu.grid(seams.links), windings, seams.links)


def cleared_windings(gpu: Gpu, seams: Seams, workspace: Workspace, asks: bool = False) -> Any:
    """Return ``SeamWindings`` of tables in a workspace, which know nothing.

    With `asks`, they also have room for what is smallest.
    """
    tables: Fields = {
        "table.key": (seams.slots, COUNT),
        "table.slots": seams.slots,
        "forest.link": (seams.slots, _NUMBER),
        "forest.hook": (seams.links * HOOK, _NUMBER),
        "lattices.number_at_root": (seams.slots, _NUMBER),
        "lattices.lattice": (seams.lattices * LATTICE, COUNT),
        "lattices.count": (1, _NUMBER),
        "smallest": (seams.slots, COUNT) if asks else None,
        "kept": (seams.links * SEAM_LINK, _NUMBER),
    }
    windings = workspace.take_struct(gpu, _WINDINGS, tables).struct
    launch(_CLEAR.one(gpu), gpu.grid(seams.slots), windings)
    return windings


@cache
def _array_of(rule: DType) -> DType:
    """Return ``SeamArray`` of ``core/wrapping/seams.h``."""
    return layout(("seams", SEAMS), ("box", "i8"), ("rule", rule), ("values labels", "i8"))
