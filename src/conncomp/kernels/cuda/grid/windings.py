"""Windings of the components of arrays on a GPU: drives ``windings.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from conncomp.kernels.cuda.grid.image import rule_of, rules
from conncomp.kernels.cuda.launcher import INDEX_TYPES, Gpu, ctype, launch
from conncomp.kernels.links import Links
from conncomp.kernels.seams import SEAMS, Seams, SeamTables

FILE = "cuda/grid/windings.cuh"
THREADS = 256

# ``SeamWindings`` of ``core / seams.h``.
_WINDINGS = np.dtype(
    [
        (name, "i8")
        for name in ("key", "slots", "link", "hook", "lattice_of", "lattices", "made", "smallest")
    ]
)


def find_windings(
    gpu: Gpu, values: Any, links: Links, seams: Seams, labels: Any, tables: SeamTables
) -> None:
    """Fill `tables`, which are new.

    Parameters
    ----------
    gpu : Gpu
    values : array
    links : Links
    seams : Seams
    labels : array of int32 or int64
        Consecutive ones of the items, labelled with all axes open.
    tables : SeamTables
    """
    rule = rule_of(links)
    unite, close, tell, ask = gpu.load(FILE, _names(rule.name, labels.dtype))
    windings = windings_struct(gpu, seams, tables)
    boxes = gpu.xp.asarray(seams.boxes.view(np.int64))
    array = np.array(
        (seams.struct, gpu.address(boxes), rule.struct, gpu.address(values), gpu.address(labels)),
        _array_of(rule.struct.dtype),
    )[()]
    by_link = gpu.blocks(seams.links, THREADS), THREADS
    by_slot = gpu.blocks(seams.slots, THREADS), THREADS
    launch(unite, by_link, array, windings)
    launch(close, by_link, array, windings)
    launch(tell, by_slot, windings)
    launch(ask, by_slot, windings)


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
    return f"unite_seams<{types}>", f"close_seams<{types}>", "tell_smallest", "ask_smallest"


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `find_windings` can load."""
    for links in rules():
        for index in INDEX_TYPES:
            yield FILE, _names(rule_of(links).name, index)
