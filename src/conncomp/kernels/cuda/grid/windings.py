"""Windings of the components of arrays on a GPU: drives ``windings.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp.kernels.cuda.grid.image import rule_of, rules
from conncomp.kernels.cuda.launcher import INDEX_TYPES, Gpu, ctype, launch
from conncomp.kernels.links import Links
from conncomp.kernels.seams import (
    MOST_CLOSED,
    SEAMS,
    Seams,
    SeamTables,
    Windings,
    number_windings,
)

FILE = "cuda/grid/windings.cuh"
THREADS = 256
# The integers of a ``ListedWinding``, and how many are read before it is known how many there are.
LISTED, READ_AT_ONCE = 1 + MOST_CLOSED**2, 32

# ``SeamWindings`` of ``core / seams.h``.
_WINDINGS = np.dtype(
    [
        (name, "i8")
        for name in ("key", "slots", "link", "hook", "lattice_of", "lattices", "made", "smallest")
    ]
)


def find_windings(
    gpu: Gpu, values: Any, links: Links, seams: Seams, labels: Any, open_counts: Any
) -> Windings:
    """Return the windings of the components of an array.

    Parameters
    ----------
    gpu : Gpu
    values : array
    links : Links
    seams : Seams
        With a link at least.
    labels : array of int32 or int64
        Consecutive ones of the items, labelled with all axes open.
    open_counts : array of int64, shape (items,)
        How many components each item has.
    """
    rule = rule_of(links)
    clear, unite, close, tell, collect, count = gpu.load(FILE, _names(rule.name, labels.dtype))
    tables = SeamTables.of(gpu.xp, seams)
    windings = windings_struct(gpu, seams, tables)
    boxes = gpu.xp.asarray(seams.boxes.view(np.int64))
    array = np.array(
        (seams.struct, gpu.address(boxes), rule.struct, gpu.address(values), gpu.address(labels)),
        _array_of(rule.struct.dtype),
    )[()]
    by_link = gpu.blocks(seams.links, THREADS), THREADS
    by_slot = gpu.blocks(max(seams.slots, seams.lattices), THREADS), THREADS
    # How many are listed, the counts, and what is listed, so that the host reads all at once.
    items, head = len(open_counts), 1 + len(open_counts)
    of_host = gpu.xp.empty(head + seams.lattices * LISTED, np.int64)
    listed, counts, bases = of_host, of_host[1:], of_host[head:]
    launch(clear, by_slot, windings, seams.lattices, listed)
    launch(unite, by_link, array, windings)
    launch(close, by_link, array, windings)
    launch(tell, by_slot, windings)
    launch(collect, by_slot, windings, open_counts, items, listed, counts, bases)
    read = _as_numpy(gpu, of_host[: head + READ_AT_ONCE * LISTED])
    if read[0] > READ_AT_ONCE:
        read = _as_numpy(gpu, of_host[: head + int(read[0]) * LISTED])
    components = read[head : head + int(read[0]) * LISTED].reshape(-1, LISTED)

    def left_out_below(bounds: NDArray[np.int64]) -> NDArray[np.int64]:
        between = np.zeros(len(bounds) + 1, np.int64)
        counted = gpu.xp.asarray(np.concatenate([bounds, between]))
        launch(count, by_slot, windings, counted, len(bounds), counted[len(bounds) :])
        return np.cumsum(_as_numpy(gpu, counted[len(bounds) : -1]))

    return number_windings(components[:, 0], components[:, 1:], read[1:head], left_out_below)


def _as_numpy(gpu: Gpu, array: Any) -> NDArray[Any]:
    copied: NDArray[Any] = array if gpu.xp is np else gpu.xp.asnumpy(array)
    return copied


def windings_struct(gpu: Gpu, seams: Seams, tables: SeamTables) -> Any:
    """Return ``SeamWindings`` of ``core/seams.h``."""
    struct = np.zeros((), _WINDINGS)
    for name, array in tables._asdict().items():
        struct[name] = gpu.address(array)
    struct["slots"] = seams.slots
    return struct[()]


@cache
def _array_of(rule: np.dtype[Any]) -> np.dtype[Any]:
    """Return ``SeamArray`` of ``core/seams.h``."""
    fields = [("seams", SEAMS), ("box", "i8"), ("rule", rule), ("values", "i8"), ("labels", "i8")]
    return np.dtype(fields, align=True)


@cache
def _names(rule: str, index: np.dtype[Any]) -> tuple[str, ...]:
    types = f"{rule}, {ctype(index)}"
    of_links = f"unite_seams<{types}>", f"close_seams<{types}>"
    return "clear_seams", *of_links, "tell_smallest", "list_windings", "count_left_out"


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `find_windings` can load."""
    for links in rules():
        for index in INDEX_TYPES:
            yield FILE, _names(rule_of(links).name, index)
