"""Hooking after Soman and Wang: drives ``soman.cuh``."""

from __future__ import annotations

from itertools import product
from math import inf
from typing import Any

import numpy as np

from conncomp.kernels.cuda.core.sweeps import LAST_CHANGE, sweep_until_settled
from conncomp.kernels.cuda.graph.edges import list_edges, memory_for_edges
from conncomp.kernels.cuda.launcher import COUNT, DeviceArray, Gpu, Templates, first_entry, launch
from conncomp.kernels.cuda.workspace import Workspace

FILE = "cuda/papers/soman.cuh"
BYTE = np.dtype(np.uint8)
OPTIONS = {
    "jump": ("sweep", "end"),
    "hook": ("roots", "soman", "wang"),
    "writes": ("any", "outermost"),
}
HOOKS = {"roots": "kRoots", "soman": "kParents", "wang": "kEnds"}
KERNELS = Templates(
    FILE,
    "start_alone<{index}>",
    "soman_hook<conncomp::Hook::{hook}, {outermost}, {vertex}, {index}>",
    "soman_jump<{index}>",
    "soman_check<{index}>",
    "soman_send_back<{vertex}, {index}>",
    "soman_lower<{index}>",
    "soman_finish<{index}>",
    # And whether pointers are followed to their ends, which are jumped only once.
    hook={
        (hook, jump): f"{HOOKS[hook]}, {str(hook == 'roots' and jump == 'end').lower()}"
        for hook, jump in product(HOOKS, OPTIONS["jump"])
    },
    outermost=(False, True),
    indices="vertex index",
)
# What hooks as printed is given up after so many sweeps and one a vertex, or so many in all.
SWEEPS_OF_FEW, MOST_SWEEPS = 64, 4096


def fill_roots(
    gpu: Gpu,
    graph: Any,
    roots: DeviceArray,
    workspace: Workspace,
    *,
    jump: str = "sweep",
    hook: str = "roots",
    writes: str = "any",
) -> Any:
    """Fill `roots`, listing edges first where there are rows.

    Raise RuntimeError if `hook` is not "roots" and `jump` is "end", and parents lead round in a
    circle or hooking does not end.
    """
    parts = *memory_for_edges(graph), (graph.num_arcs, BYTE), (1, COUNT), LAST_CHANGE
    *memory, marked, components, last_change = workspace.take(gpu, *parts)
    src, dst = list_edges(gpu, graph, *memory)
    edges = memory[-1]
    start, hooks, point, check, send_back, lower, finish = KERNELS.load(
        gpu, (hook, jump), writes == "outermost", src.dtype, roots.dtype
    )
    count = graph.num_vertices
    by_vertex, by_edge = gpu.grid(count), gpu.grid(len(src))
    may_circle = hook != "roots" and jump == "end"
    limit = min(MOST_SWEEPS, SWEEPS_OF_FEW + count) if may_circle else inf
    sweeps = 0

    def check_circles() -> None:
        components.fill(0)
        launch(check, by_vertex, count, roots, components)
        circling = first_entry(components)
        components.fill(0)
        if circling:
            raise RuntimeError(_no_end(hook, f"parents of {circling} vertices form circles"))

    def sweep(number: int) -> None:
        nonlocal sweeps
        if sweeps == limit:
            check_circles()
            raise RuntimeError(_no_end(hook, "edges are left that are never marked"))
        sweeps += 1
        launch(hooks, by_edge, edges, src, dst, marked, roots, last_change, number)
        if jump == "sweep":
            launch(point, by_vertex, count, roots, last_change, number)

    marked.fill(0)
    launch(start, by_vertex, count, roots, components, last_change)
    while hooking := sweep_until_settled(sweep, last_change):
        if may_circle:
            check_circles()
        if jump == "end":
            launch(point, by_vertex, count, roots, last_change, hooking - 1)
        if hook == "roots":
            break
        last_change.fill(-2)
        launch(send_back, by_edge, edges, src, dst, marked, roots, last_change)
    launch(lower, by_vertex, count, roots)
    launch(finish, by_vertex, count, roots, components)
    return components


def _no_end(hook: str, what: str) -> str:
    return (
        f"hook={hook!r} with jump='end' comes to no end: {what}; use jump='sweep', or hook='roots'"
    )
