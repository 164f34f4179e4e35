"""Hooking after Soman and Wang: drives ``soman.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from math import inf
from typing import Any

import numpy as np

from conncomp.kernels.cuda.core.sweeps import LAST_CHANGE, sweep_until_settled
from conncomp.kernels.cuda.graph.edges import list_edges, memory_for_edges
from conncomp.kernels.cuda.launcher import COUNT, INDEX_TYPES, Gpu, ctype, first_entry, launch
from conncomp.kernels.cuda.workspace import Workspace

FILE = "cuda/papers/soman.cuh"
THREADS = 256
BYTE = np.dtype(np.uint8)
OPTIONS = {
    "jump": ("sweep", "end"),
    "hook": ("roots", "soman", "wang"),
    "writes": ("any", "outermost"),
}
HOOKS = {"roots": "kRoots", "soman": "kParents", "wang": "kEnds"}
# What hooks as printed is given up after so many sweeps and one a vertex, or so many in all.
SWEEPS_OF_FEW, MOST_SWEEPS = 64, 4096


def fill_roots(
    gpu: Gpu,
    graph: Any,
    roots: Any,
    workspace: Workspace,
    *,
    jump: str = "sweep",
    hook: str = "roots",
    writes: str = "any",
) -> Any:
    """Fill `roots` with the smallest vertex of each vertex's component.

    It waits for the GPU.

    Parameters
    ----------
    gpu : Gpu
    graph : Graph
        On this GPU. Of rows, a list of edges is made in `workspace`.
    roots : array, shape (num_vertices,)
    workspace : Workspace
    jump : {"sweep", "end"}, optional
        When pointers are jumped: after every sweep, or once at the end, as by Wang.
    hook : {"roots", "soman", "wang"}, optional
        Which entries an edge stores to: that of a root, of a parent, or of a parent and the end
        below it.
    writes : {"any", "outermost"}, optional
        Which of several stores to an entry wins.

    Returns
    -------
    array of int64, shape (1,)
        The number of components, in `workspace`.

    Raises
    ------
    RuntimeError
        If `hook` is not "roots" and `jump` is "end", and parents lead round in a circle or hooking
        does not end.
    """
    *memory, marked, components, last_change = workspace.take(
        gpu, *memory_for_edges(graph), (graph.num_arcs, BYTE), (1, COUNT), LAST_CHANGE
    )
    src, dst = list_edges(gpu, graph, *memory)
    edges = memory[-1]
    names = _names(src.dtype, roots.dtype, jump == "end", hook, writes)
    start, hooks, point, check, send_back, lower, finish = gpu.load(FILE, names)
    count = graph.num_vertices
    by_vertex = gpu.blocks(count, THREADS), THREADS
    by_edge = gpu.blocks(len(src), THREADS), THREADS
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


@cache
def _names(
    vertex: np.dtype[Any], index: np.dtype[Any], at_end: bool, hook: str, writes: str
) -> tuple[str, ...]:
    follows = str(at_end and hook == "roots").lower()
    rule = f"conncomp::Hook::{HOOKS[hook]}, {follows}, {str(writes == 'outermost').lower()}"
    return (
        f"start_alone<{ctype(index)}>",
        f"soman_hook<{rule}, {ctype(vertex)}, {ctype(index)}>",
        f"soman_jump<{ctype(index)}>",
        f"soman_check<{ctype(index)}>",
        f"soman_send_back<{ctype(vertex)}, {ctype(index)}>",
        f"soman_lower<{ctype(index)}>",
        f"soman_finish<{ctype(index)}>",
    )


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `fill_roots` can load."""
    hooks, writes = OPTIONS["hook"], OPTIONS["writes"]
    for way in product(INDEX_TYPES, INDEX_TYPES, (False, True), hooks, writes):
        yield FILE, _names(*way)
