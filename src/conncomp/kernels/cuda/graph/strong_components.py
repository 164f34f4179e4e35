"""Strong components: drives ``strong_components.cuh``, ``pivot.cuh`` and ``chains.cuh``."""

from __future__ import annotations

from math import sqrt
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from conncomp.kernels.cuda.graph import blocked_afforest, edges
from conncomp.kernels.cuda.graph.edges import list_arcs, vertex_dtype
from conncomp.kernels.cuda.launcher import (
    COUNT,
    WARP,
    DeviceArray,
    Gpu,
    Templates,
    first_entry,
    launch,
)
from conncomp.kernels.cuda.structs import Struct
from conncomp.kernels.cuda.workspace import PlacedStruct, Workspace
from conncomp.kernels.graph import Ends, GraphArrays, Indices

FILE, FILE_OF_PIVOT = "cuda/graph/strong_components.cuh", "cuda/graph/pivot.cuh"
KERNELS = Templates(FILE, "strong_components", indices="vertex index")
PIVOT = Templates(FILE_OF_PIVOT, "choose_pivot", indices="pointer vertex")
CHAINS = Templates("cuda/graph/chains.cuh", "contract_chains", indices="pointer vertex")
CUTS = Templates(FILE, "cut_arcs", indices="vertex")
THREADS, MOST_BLOCKS_TOGETHER, SMALLEST_SHARE = 512, 3, 4096
VERTICES_OF_WORD = 16
STATE_BYTES, BYTE = 128, np.dtype(np.uint8)
BITS = np.dtype(np.uint32)

ARCS = Struct("ArcList<const int32_t>", "sources targets", ("count", COUNT))
LIMITS = Struct(
    "SampleLimits", ("least_hub long_arc least_chained most_of_chains most_ends", COUNT)
)
_LISTS = "spare_sources", "spare_targets", "next_sources", "next_targets"
MEMORY = Struct(
    "StrongMemory<int32_t>",
    f"{' '.join(_LISTS)} row_ends bits words_of_searches signatures sums_of_blocks state",
)
# How often blocks that sweep over arcs meet before they turn to vertices: more often in graphs of
# few arcs, which are mostly paths.
ARC_BARRIERS, PATH_DEGREE = (3, 6), 1.125
# A search for a giant pays where the longest sampled row is so many standard deviations of random
# graphs above the mean.
DEVIATIONS = 2.5
# Arcs are long that lead as far as one of so many parts of the vertices.
PARTS = 64
# Chains are contracted in graphs of so many vertices at least, with fewer arcs per vertex than
# meshes have. Smaller graphs take less time than compiling the kernel.
LEAST_CHAINED, CHAIN_DEGREE = 1 << 15, 1.75
# And so many of the 4,096 sampled arcs at most lead to a vertex without arcs out; more do in random
# graphs, which are trimmed.
MOST_ENDS = 64
# First steps, as in arc_lists.cuh.
CUT_ARCS, CONTRACT_CHAINS = 1, 2


def fill_roots(gpu: Gpu, graph: GraphArrays, roots: DeviceArray, workspace: Workspace) -> Any:
    """Fill `roots` with the smallest vertex of each vertex's strong component; return how many."""
    if graph.symmetric:
        return blocked_afforest.fill_roots(gpu, graph, roots, workspace)
    vertices, arcs, vertex = graph.num_vertices, graph.num_arcs, vertex_dtype(graph)
    most_blocks = gpu.blocks_together(THREADS, MOST_BLOCKS_TOGETHER)
    memory = workspace.take_struct(
        gpu,
        MEMORY,
        {
            **dict.fromkeys(_LISTS, (arcs, vertex)),
            "row_ends": (2 * (vertices + 1), COUNT),
            "bits": (-(-max(arcs, vertices) // WARP), BITS),
            "words_of_searches": (-(-vertices // VERTICES_OF_WORD), BITS),
            "signatures": (4 * vertices, vertex),
            "sums_of_blocks": (3 * most_blocks, COUNT),
            "state": (STATE_BYTES, BYTE),
        },
        {"components": (1, COUNT)},
    )
    components = memory["components"]
    grid = max(1, min(most_blocks, -(-max(arcs, vertices) // SMALLEST_SHARE))), THREADS
    # The first steps tell which kernels follow, while the longest is being compiled.
    with gpu.loading([KERNELS.module(vertex, roots.dtype)]):
        listed = _begin(gpu, graph, memory, grid)
    strong = KERNELS.one(gpu, vertex, roots.dtype)
    are_paths = bool(arcs <= PATH_DEGREE * vertices)
    options = ARC_BARRIERS[are_paths], np.bool_(are_paths), np.bool_(graph.csr is not None)
    launch(gpu.together(strong), grid, vertices, listed, *options, memory.struct, roots, components)
    return components


def _begin(gpu: Gpu, graph: GraphArrays, memory: PlacedStruct, grid: tuple[int, int]) -> Any:
    """Choose a pivot, and launch the kernels that a sample asks for; return ``ArcList``."""
    vertices, arcs, vertex = graph.num_vertices, graph.num_arcs, vertex_dtype(graph)
    indptr = None if graph.csr is None else graph.csr[0]
    pointer = COUNT if indptr is None else indptr.dtype
    lists = [] if indptr is None else [edges.ARCS.module(pointer, vertex)]
    gpu.load_together(FILE_OF_PIVOT, [PIVOT.module(pointer, vertex), *lists])
    choose = PIVOT.one(gpu, pointer, vertex)
    sources, targets = list_arcs(gpu, graph, memory["spare_sources"])
    listed = ARCS.of(gpu, sources=sources, targets=targets, count=arcs)
    limits = LIMITS.pack(
        {
            "least_hub": _least_hub(vertices, arcs),
            "long_arc": _long_arc(vertices),
            "least_chained": LEAST_CHAINED,
            "most_of_chains": int(CHAIN_DEGREE * vertices),
            "most_ends": MOST_ENDS,
        }
    )
    state, components = memory["state"], memory["components"]
    launch(choose, (1, THREADS), vertices, listed, indptr, limits, state, components)
    steps = _first_steps(gpu, graph, state)
    if steps & CONTRACT_CHAINS:
        contract = CHAINS.one(gpu, pointer, vertex)
        launch(gpu.together(contract), grid, vertices, listed, indptr, memory.struct)
    if steps & CUT_ARCS:
        launch(gpu.together(CUTS.one(gpu, vertex)), grid, vertices, listed, memory.struct)
    return listed


# The first steps that choose_pivot has found.
_steps_of_graphs: WeakKeyDictionary[GraphArrays, int] = WeakKeyDictionary()


def _first_steps(gpu: Gpu, graph: GraphArrays, state: Any) -> int:
    """Return which kernels are launched first: the sum of their numbers.

    They check themselves whether they have work, but asking the GPU once per graph may save
    compiling one. A captured call cannot ask.
    """
    steps = _steps_of_graphs.get(graph)
    if steps is None:
        if gpu.is_capturing(gpu.current_stream()):
            return CUT_ARCS | CONTRACT_CHAINS
        steps = _steps_of_graphs[graph] = first_entry(state[: COUNT.itemsize].view(COUNT))
    return steps


def _least_hub(vertices: int, arcs: int) -> int:
    """Return how long a row is that tells of a giant: meshes have none."""
    mean = arcs / max(vertices, 1)
    return int(mean + DEVIATIONS * sqrt(mean)) + 1


def _long_arc(vertices: int) -> int:
    """Return how far an arc leads over others where few of these would leave no cut."""
    return vertices // PARTS + 1


def condense(xp: Any, graph: GraphArrays, labels: Indices, count: int) -> Ends:
    """Return the rows of the distinct arcs between components, sorted; labels are consecutive."""
    src, dst = (labels[ends] for ends in graph.ends())
    between = src != dst
    keys = xp.unique(src[between].astype(np.int64) * count + dst[between])
    starts = xp.arange(count + 1, dtype=np.int64) * count
    return xp.searchsorted(keys, starts), (keys % max(count, 1)).astype(labels.dtype)
