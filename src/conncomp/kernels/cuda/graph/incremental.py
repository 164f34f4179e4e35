"""Components of a graph that grows, on the GPU: drives ``incremental.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from conncomp.kernels.cuda.launcher import COUNT, INDEX_TYPES, WARP, Gpu, ctype, launch
from conncomp.kernels.cuda.workspace import Workspace

FILE = "cuda/graph/incremental.cuh"
THREADS, VERTICES_AT_ONCE = 256, 4
# Paths differ in length: blocks that are done make room for others, so many times at the most.
ROUNDS = 32
WORDS = np.dtype(np.uint32)
# Of the struct Refusal: its first fields, and how many calls follow.
REFUSAL, REMAINDERS = ("call", "argument", "place", "value"), 64


class GrowingForest:
    """The forest, the number of its trees, and what was refused: all on the GPU.

    No method waits for the GPU. Calls on several streams may unite at the same time; the caller
    orders them where an answer is to know of a batch.

    Attributes
    ----------
    parent : array of int32 or int64, shape (vertices,)
    components : array of int64, shape (1,)
    refusal : array of int64
        The struct of that name.
    deep : array of int64, shape (1,)
        The number of the last call that has made long paths. Of calls on several streams one may
        be forgotten, whose paths stay long until they are walked.

    Parameters
    ----------
    gpu : Gpu
    vertices : int
    index : dtype
        Of the parents: int32 or int64.
    """

    def __init__(self, gpu: Gpu, vertices: int, index: np.dtype[Any]) -> None:
        self.parent = gpu.xp.arange(vertices, dtype=index)
        self.components = gpu.xp.full(1, vertices, COUNT)
        self.refusal = gpu.xp.zeros(len(REFUSAL) + REMAINDERS, COUNT)
        self.deep = gpu.xp.zeros(1, COUNT)

    def grow(self, gpu: Gpu, vertices: int) -> None:
        """Add vertices, each a component, until there are so many."""
        known = len(self.parent)
        if vertices > known:
            more = gpu.xp.arange(known, vertices, dtype=self.parent.dtype)
            self.parent = gpu.xp.concatenate([self.parent, more])
            self.components += vertices - known

    def unite(
        self, gpu: Gpu, call: int, argument: int, src: Any, dst: Any, workspace: Workspace
    ) -> Any:
        """Unite the ends of edges, unless one is no vertex: then nothing is united.

        Parameters
        ----------
        gpu : Gpu
        call : int
            The number of the call, from 1; no other has it.
        argument : int
            The number of `src`, by which it is told in the refusal; `dst` has the next one.
        src, dst : array of int32 or int64, shape (edges,)
            Of one dtype.
        workspace : Workspace

        Returns
        -------
        array of uint32, shape (ceil(edges / 32),)
            In `workspace`: a bit for each edge, the lowest first, which says whether it has united
            two trees. Together these edges span the trees.
        """
        edges, vertices = len(src), len(self.parent)
        (united,) = workspace.take(gpu, (-(-edges // WARP), WORDS))
        if edges == 0:
            return united
        check, unite, *_ = self._load(gpu, src)
        grid = gpu.blocks(-(-edges // VERTICES_AT_ONCE), THREADS), THREADS
        launch(check, grid, edges, vertices, call, argument, src, dst, self.refusal)
        if vertices == 0:
            return united
        batch = edges, vertices, call, src, dst, self.parent, self.refusal, united
        launch(unite, _grid(gpu, edges), *batch, self.components)
        self.shorten(gpu, call, src, dst, united)
        return united

    def shorten(self, gpu: Gpu, call: int, src: Any, dst: Any, united: Any) -> None:
        """Shorten long paths of the edges whose bit in `united` is set; see `unite`."""
        _, _, probe, shorten, *_ = self._load(gpu, src)
        batch = len(src), len(self.parent), call, src, dst, self.parent, self.refusal, united
        for kernel in (probe, shorten):
            launch(kernel, _grid(gpu, len(src)), *batch, self.deep)

    def compare_roots(
        self, gpu: Gpu, call: int, argument: int, u: Any, v: Any, connected: Any
    ) -> None:
        """Fill `connected` with whether ``u[i]`` and ``v[i]`` are; for the others see `unite`."""
        if len(u):
            *_, compare, _, _, _ = self._load(gpu, u)
            grid = _grid(gpu, len(u))
            vertices = len(self.parent)
            pairs = call, argument, u, v
            launch(compare, grid, len(u), vertices, *pairs, self.parent, connected, self.refusal)

    def list_roots(self, gpu: Gpu, call: int, argument: int, wanted: Any, roots: Any) -> None:
        """Fill `roots`, of the dtype of the parents, with the roots of `wanted`; see `unite`."""
        if len(wanted):
            *_, find, _, _ = self._load(gpu, wanted)
            grid = _grid(gpu, len(wanted))
            counts = len(wanted), len(self.parent)
            launch(find, grid, *counts, call, argument, wanted, self.parent, roots, self.refusal)

    def copy_roots(self, gpu: Gpu, labels: Any) -> None:
        """Fill `labels`, of int32 or int64, with the root of every vertex."""
        vertices = len(self.parent)
        if vertices:
            copies = self._load(gpu, self.parent)[-2:]
            grid = _grid(gpu, -(-vertices // VERTICES_AT_ONCE))
            copy = copies[INDEX_TYPES.index(labels.dtype)]
            launch(copy, grid, vertices, self.parent, labels)

    def _load(self, gpu: Gpu, vertices: Any) -> Any:
        return gpu.load(FILE, _names(vertices.dtype, self.parent.dtype))


def _grid(gpu: Gpu, threads: int) -> tuple[int, int]:
    """Return the blocks, and the threads of each, of a kernel that follows paths."""
    return min(-(-threads // THREADS), ROUNDS * gpu.blocks(threads, THREADS)), THREADS


@cache
def _names(vertex: np.dtype[Any], index: np.dtype[Any]) -> tuple[str, ...]:
    types = f"{ctype(vertex)}, {ctype(index)}"
    return (
        f"check_vertices<{ctype(vertex)}>",
        f"unite_batch<{types}>",
        *(f"shorten_united<{probes}, {types}>" for probes in ("true", "false")),
        f"compare_roots<{types}>",
        f"list_roots<{types}>",
        *(f"copy_roots<{ctype(index)}, {ctype(label)}>" for label in INDEX_TYPES),
    )


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that a `GrowingForest` can load."""
    for vertex, index in product(INDEX_TYPES, repeat=2):
        yield FILE, _names(vertex, index)
