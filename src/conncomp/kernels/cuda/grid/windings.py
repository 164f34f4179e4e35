"""Windings of the components of arrays on a GPU: drives ``windings.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from conncomp.gpu import Workspace
from conncomp.kernels.cuda.grid.image import rule_of, rules
from conncomp.kernels.cuda.launcher import INDEX_TYPES, Gpu, ctype, launch
from conncomp.kernels.links import Links
from conncomp.kernels.seams import HOOK, LATTICE, SEAMS, Seams, SeamTables

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
    struct = np.zeros((), _WINDINGS)
    for name, table in tables._asdict().items():
        struct[name] = gpu.address(table)
    struct["slots"] = seams.slots
    windings = struct[()]
    boxes = gpu.xp.asarray(seams.boxes.view(np.int64))
    collect_windings(gpu, values, links, seams, boxes, labels, windings)
    tell, ask = gpu.load(FILE, _ABOUT_SMALLEST)
    by_slot = gpu.blocks(seams.slots, THREADS), THREADS
    launch(tell, by_slot, windings)
    launch(ask, by_slot, windings)


def collect_windings(
    gpu: Gpu, values: Any, links: Links, seams: Seams, boxes: Any, labels: Any, windings: Any
) -> None:
    """Let tables know which open components are connected, and their closed paths.

    Parameters
    ----------
    gpu, values, links, seams, labels
        As of `find_windings`; labels from 1 on need not be consecutive.
    boxes : array of int64
        Those of `seams`, where `values` are.
    windings : numpy.void
        ``SeamWindings``, of tables that know nothing.
    """
    rule = rule_of(links)
    unite, close = gpu.load(FILE, _names(rule.name, labels.dtype))
    array = np.array(
        (seams.struct, gpu.address(boxes), rule.struct, gpu.address(values), gpu.address(labels)),
        _array_of(rule.struct.dtype),
    )[()]
    by_link = gpu.blocks(seams.links, THREADS), THREADS
    launch(unite, by_link, array, windings)
    launch(close, by_link, array, windings)


def cleared_windings(gpu: Gpu, seams: Seams, workspace: Workspace) -> Any:
    """Return ``SeamWindings`` of tables in a workspace, which know nothing and do not ask."""
    counts = {
        "key": (seams.slots, np.dtype("i8")),
        "link": (seams.slots, np.dtype("i4")),
        "hook": (seams.links * HOOK, np.dtype("i4")),
        "lattice_of": (seams.slots, np.dtype("i4")),
        "lattices": (seams.lattices * LATTICE, np.dtype("i8")),
        "made": (1, np.dtype("i4")),
    }
    constants = {"slots": seams.slots}
    _, windings = workspace.take_struct(gpu, _WINDINGS, tuple(counts), constants, *counts.values())
    (clear,) = gpu.load(FILE, _CLEAR)
    launch(clear, (gpu.blocks(seams.slots, THREADS), THREADS), windings)
    return windings


@cache
def _array_of(rule: np.dtype[Any]) -> np.dtype[Any]:
    """Return ``SeamArray`` of ``core/seams.h``."""
    fields = [("seams", SEAMS), ("box", "i8"), ("rule", rule), ("values", "i8"), ("labels", "i8")]
    return np.dtype(fields, align=True)


@cache
def _names(rule: str, index: np.dtype[Any]) -> tuple[str, ...]:
    types = f"{rule}, {ctype(index)}"
    return f"unite_seams<{types}>", f"close_seams<{types}>"


_ABOUT_SMALLEST, _CLEAR = ("tell_smallest", "ask_smallest"), ("clear_seams",)


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that windings load."""
    yield FILE, _ABOUT_SMALLEST
    yield FILE, _CLEAR
    for links in rules():
        for index in INDEX_TYPES:
            yield FILE, _names(rule_of(links).name, index)
