"""Components of a graph that grows, on the GPU: drives ``incremental.cuh``."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np

from conncomp._arguments import INDEX_TYPES
from conncomp.kernels.cuda.launcher import COUNT, THREADS, WARP, Gpu, Templates, ctype, launch
from conncomp.kernels.cuda.workspace import Workspace

KERNELS = Templates(
    "cuda/graph/incremental.cuh",
    "check_vertices<{vertex}>",
    "unite_batch",
    *(f"shorten_united<{probes}, {{vertex}}, {{index}}>" for probes in ("true", "false")),
    "compare_roots list_roots",
    *(f"copy_roots<{{index}}, {ctype(label)}>" for label in INDEX_TYPES),
    indices="vertex index",
)
VERTICES_AT_ONCE = 4
# Paths differ in length: blocks that are done make room for others, so many times at the most.
ROUNDS = 32
WORDS = np.dtype(np.uint32)
# The arguments that hold vertices, by the numbers that kernels know them by.
ARGUMENTS = ("src", "dst", "u", "v", "vertices")
# The first fields of the struct Refusal, and how many calls follow.
REFUSAL, REMAINDERS = ("call", "argument", "place", "value"), 64


class GrowingForest:
    """The forest, the number of its trees, and what was refused: all on the GPU.

    No method waits for the GPU. Calls on several streams may unite at once; the caller orders them
    where an answer must include a batch. `deep` is the number of the last call that made long
    paths; of several at once one may be forgotten, whose paths stay long until they are walked.
    """

    def __init__(self, gpu: Gpu, vertices: int, index: np.dtype[Any]) -> None:
        self.parent = gpu.xp.arange(vertices, dtype=index)
        self.components = gpu.xp.full(1, vertices, COUNT)
        self.refusal = gpu.xp.zeros(len(REFUSAL) + REMAINDERS, COUNT)
        self.deep = gpu.xp.zeros(1, COUNT)
        self._calls = count(1)

    def grow(self, gpu: Gpu, vertices: int) -> None:
        """Add vertices, each a component, until there are so many."""
        known = len(self.parent)
        if vertices > known:
            more = gpu.xp.arange(known, vertices, dtype=self.parent.dtype)
            self.parent = gpu.xp.concatenate([self.parent, more])
            self.components += vertices - known

    def unite(self, gpu: Gpu, src: Any, dst: Any, workspace: Workspace) -> Any:
        """Unite the ends of edges, or nothing if one is no vertex.

        Return uint32 in `workspace`: a bit per edge, lowest first, set if it united two trees.
        """
        edges, vertices, call = len(src), len(self.parent), next(self._calls)
        (united,) = workspace.take(gpu, (-(-edges // WARP), WORDS))
        if edges == 0:
            return united
        check, unite, *_ = KERNELS.load(gpu, src.dtype, self.parent.dtype)
        grid = gpu.grid(edges, each=VERTICES_AT_ONCE)
        first = ARGUMENTS.index("src")  # and `dst` follows
        launch(check, grid, edges, vertices, call, first, src, dst, self.refusal)
        if vertices == 0:
            return united
        batch = edges, vertices, call, src, dst, self.parent, self.refusal, united
        launch(unite, _grid(gpu, edges), *batch, self.components)
        self.shorten(gpu, call, src, dst, united)
        return united

    def shorten(self, gpu: Gpu, call: int, src: Any, dst: Any, united: Any) -> None:
        """Shorten long paths of the edges whose bit in `united` is set."""
        _, _, probe, shorten, *_ = KERNELS.load(gpu, src.dtype, self.parent.dtype)
        batch = len(src), len(self.parent), call, src, dst, self.parent, self.refusal, united
        for kernel in (probe, shorten):
            launch(kernel, _grid(gpu, len(src)), *batch, self.deep)

    def compare_roots(self, gpu: Gpu, u: Any, v: Any, connected: Any) -> None:
        """Fill `connected` with whether ``u[i]`` and ``v[i]`` are."""
        if len(u):
            *_, compare, _, _, _ = KERNELS.load(gpu, u.dtype, self.parent.dtype)
            ends = len(u), len(self.parent), next(self._calls), ARGUMENTS.index("u"), u, v
            launch(compare, _grid(gpu, len(u)), *ends, self.parent, connected, self.refusal)

    def list_roots(self, gpu: Gpu, vertices: Any, roots: Any) -> None:
        """Fill `roots`, of the dtype of the parents, with the roots of `vertices`."""
        number = len(vertices)
        if number:
            *_, find, _, _ = KERNELS.load(gpu, vertices.dtype, self.parent.dtype)
            call, argument = next(self._calls), ARGUMENTS.index("vertices")
            wanted = number, len(self.parent), call, argument, vertices
            launch(find, _grid(gpu, number), *wanted, self.parent, roots, self.refusal)

    def copy_roots(self, gpu: Gpu, labels: Any) -> None:
        """Fill `labels`, of int32 or int64, with the root of every vertex."""
        vertices = len(self.parent)
        if vertices:
            copies = KERNELS.load(gpu, *(self.parent.dtype,) * 2)[-2:]
            grid = _grid(gpu, -(-vertices // VERTICES_AT_ONCE))
            launch(copies[INDEX_TYPES.index(labels.dtype)], grid, vertices, self.parent, labels)


def _grid(gpu: Gpu, threads: int) -> tuple[int, int]:
    """Return the blocks, and the threads of each, of a kernel that follows paths."""
    return min(-(-threads // THREADS), ROUNDS * gpu.blocks(threads, THREADS)), THREADS
