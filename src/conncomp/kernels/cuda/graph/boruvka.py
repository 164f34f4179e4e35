"""Spanning forests on the GPU: drives ``boruvka.cuh``."""

from __future__ import annotations

import secrets
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from conncomp._arguments import INDEX_TYPES, INT32_MAX
from conncomp.kernels.cuda.launcher import (
    COUNT,
    THREADS,
    DType,
    Gpu,
    Module,
    Templates,
    ctype,
    first_entry,
    launch,
)
from conncomp.kernels.cuda.structs import Struct
from conncomp.kernels.cuda.workspace import Workspace
from conncomp.kernels.graph import GraphArrays, WeightBits, WeightOrder

FILE = "cuda/graph/boruvka.cuh"
SPAN, SAMPLES, GUESSERS, ARCS_OF_WORD = 4096, 1024, 256, 32
MOST_CHUNKS = 1024
COUNTERS_BYTES, BYTE, BITS = 3 * 128, np.dtype(np.uint8), np.dtype(np.uint32)
KEY_TYPES = np.dtype(np.uint32), np.dtype(np.uint64)
# With fewer edges per vertex all are taken at once: where keys are numbers of arcs, and elsewhere.
ALL_IN_ORDER, ALL_LIGHT = 3, 1.75
NUMBERED_AT_ONCE, SEEN_AT_ONCE, ROWS_OF_THREAD = 4, 8, 2
ALL_KEYS, KEYS_TO_LIMIT, KEYS_ABOVE_LIMIT = range(3)
SETTLING_THREADS = 1024  # of one block on each multiprocessor
OUTSIDE_THREADS = 128
# From how many vertices on rows are far apart, and after how many steps a future link is listed.
FAR, NOWHERE, MOST_STEPS = 1 << 18, 1 << 62, 128

WEIGHTS = Templates(FILE, "weigh_both_ways", bits=KEY_TYPES, indices="pointer vertex")

MEMORY = Struct(
    "ForestMemory<int32_t, uint32_t>",
    "first_parent tree parent chosen least other_least list other_list counters trees limit "
    "imbalance disorder giant first links",
)
ROWS = Struct("ForestRows<int32_t, int32_t>", "indptr indices", ("vertices", COUNT))
LIST = Struct("ForestList<int32_t>", "src dst", ("vertices", COUNT))
ORDERS = {
    kind: Struct(f"WeightOrder<{ctype(kind)}>", ("minus_zero negative sign", kind))
    for kind in KEY_TYPES
}
ARC_NUMBERS = Struct("ArcNumbers<uint32_t>")
RANKED_ARCS = Struct("RankedArcs<uint32_t>", "rank order")
PACKED_WEIGHTS = Struct("PackedWeights", "weights", ("order", ORDERS[BITS].dtype))


def _packed(order: WeightOrder, dtype: DType) -> np.void:
    """Return the masks of weights as kernels take them."""
    return ORDERS[dtype].pack(order._asdict())


class _Keys(NamedTuple):
    """The maker of keys of arcs in ``boruvka.cuh``, by its name in C++, and their type."""

    name: str
    dtype: DType


NUMBERS, RANKS = (
    {key: _Keys(f"conncomp::{name}<{ctype(key)}>", key) for key in KEY_TYPES}
    for name in ("ArcNumbers", "RankedArcs")
)
PACKED = _Keys("conncomp::PackedWeights", KEY_TYPES[1])
_NUMBERS, _WEIGHTS = tuple(NUMBERS.values()), (*RANKS.values(), PACKED)

# Arcs are a list or rows, of two types; kernels that link trees are for keys that `_are_linked`.
_ARCS = {(True, kind, kind): f"conncomp::ForestList<{ctype(kind)}>" for kind in INDEX_TYPES} | {
    (False, *types): f"conncomp::ForestRows<{', '.join(map(ctype, types))}>"
    for types in product(INDEX_TYPES, repeat=2)
}
_LINKED = "conncomp::ArcNumbers<uint32_t>"
_OF_ROWS = "<{keys.name}, {pointer}, {vertex}, {index}>"
KERNELS = Templates(
    FILE,
    "start_forest<{index}, {keys.dtype}_t>",
    "guess_limit<{keys.name}>",
    "list_edges_of_forest<{arcs}, {keys.name}, {index}>",
    "settle_edges<{keys.name}, {index}>",
    "number_trees<{index}, {keys.dtype}_t>",
    "find_trees<{keys.name}, {index}>",
    "find_roots<{index}, {keys.dtype}_t>",
    "find_trees_again<{index}, {keys.dtype}_t>",
    "count_chosen<{number}>",
    "list_chosen<{number}>",
    arcs=_ARCS,
    keys=(*_NUMBERS, *_WEIGHTS),
    indices="index number",
)
LINKS = Templates(FILE, f"link_edges<{{arcs}}, {_LINKED}>", arcs=_ARCS)
# By whether there are weights.
OF_ROWS = {
    weighted: Templates(
        FILE,
        *start,
        "guess_giant_of_forest<{vertex}, {index}, {keys.dtype}_t>",
        f"list_edges_outside{_OF_ROWS}",
        f"list_edges_of_hubs{_OF_ROWS}",
        keys=keys,
        indices="pointer vertex index",
    )
    for weighted, keys, *start in (
        (False, _NUMBERS, "count_descents<{pointer}, {vertex}>", f"unite_in_order{_OF_ROWS}"),
        (True, _WEIGHTS, f"choose_first{_OF_ROWS}", f"unite_first{_OF_ROWS}"),
    )
}
LINKS_OF_ROWS = Templates(
    FILE, f"link_short_rows<{_LINKED}, {{pointer}}, {{vertex}}>", indices="pointer vertex"
)


def forest_arcs(
    gpu: Gpu, graph: GraphArrays, weights: WeightBits | None, workspace: Workspace
) -> Any:
    """Return the arcs of the spanning forest of least weight and numbers, ascending.

    It waits for the GPU, and notes in the graph whether its rows are sorted.
    """
    task = ForestTask(gpu, graph, weights, workspace)
    arcs = room_for_forest(gpu, graph)
    task.find(arcs)
    found = as_many(arcs, first_entry(task.total))
    if weights is None and task.is_symmetric and graph.sorted_rows is None:
        graph.sorted_rows = first_entry(task.memory["disorder"]) == 0
    return found


def room_for_forest(gpu: Gpu, graph: GraphArrays) -> Any:
    """Return an array for as many arcs as a forest may have."""
    most = min(graph.num_vertices, graph.num_arcs)
    return gpu.xp.empty(most, INDEX_TYPES[graph.num_arcs > INT32_MAX])


def as_many(arcs: Any, number: int) -> Any:
    """Return the first arcs of an array, with little unused memory."""
    number = min(number, len(arcs))
    return arcs[:number] if 2 * number >= len(arcs) else arcs[:number].copy()


class ForestTask:
    """The steps of ``boruvka.cuh`` for one graph, and their memory, of a workspace."""

    def __init__(
        self, gpu: Gpu, graph: GraphArrays, weights: WeightBits | None, workspace: Workspace
    ) -> None:
        self.gpu, self.count, self.is_sorted = gpu, graph.num_vertices, bool(graph.sorted_rows)
        is_list = graph.arcs is not None
        self.ends = first, second = graph.lists
        self.arcs = arcs = len(second)
        self.is_symmetric = bool(graph.symmetric) and not is_list
        self.graph = (
            LIST.of(gpu, src=first, dst=second, vertices=self.count)
            if is_list
            else ROWS.of(gpu, indptr=first, indices=second, vertices=self.count)
        )
        self.weights = weights
        self.key_kind, self.keys, self.held = _keys_of(gpu, weights, arcs)
        self.index, self.number = (INDEX_TYPES[n > INT32_MAX] for n in (self.count, arcs))
        self.words = -(-arcs // ARCS_OF_WORD)
        self.is_linked = _are_linked(self.key_kind, self.index) and not self._are_many()
        self.far = FAR if self.is_linked else NOWHERE
        self.memory = workspace.take_struct(gpu, MEMORY, *self._parts())
        self.total = self.memory["total"]  # how many arcs are chosen
        self.by_vertex = gpu.grid(max(self.count, self.words))
        self.by_span = gpu.grid(arcs, each=SPAN // THREADS)
        modules = self._modules((is_list, first.dtype, second.dtype))
        gpu.load_at_once(modules)
        self.kernels = {made.name: made for module in modules for made in gpu.load(*module)}

    def _modules(self, arcs: tuple[bool, DType, DType]) -> list[Module]:
        """Return the modules of any arcs, and of symmetric rows; each compiles as one."""
        keys, index, (_, *types) = self.key_kind, self.index, arcs
        parts = [(KERNELS.module(arcs, keys, index, self.number), LINKS.module(arcs))]
        if self.is_symmetric:
            of_rows = OF_ROWS[self.weights is not None].module(keys, *types, index)
            parts.append((of_rows, LINKS_OF_ROWS.module(*types)))
        linked = _are_linked(keys, index)
        return [(FILE, first[1] + (links[1] if linked else ())) for first, links in parts]

    def _edges(self) -> int:
        return self.arcs // 2 if self.is_symmetric else self.arcs

    def _are_many(self) -> bool:
        """Whether the arcs of some keys go first."""
        all_light = ALL_IN_ORDER if self.weights is None else ALL_LIGHT
        return self._edges() > all_light * self.count and self.arcs > SAMPLES

    def _parts(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what the memory points to, and what is beside it."""
        dtype = self.key_kind.dtype
        edge_bytes = dtype.itemsize + 2 * self.index.itemsize
        edge_bytes += -edge_bytes % max(dtype.itemsize, self.index.itemsize)
        edges = self.arcs * edge_bytes, BYTE
        key, number = (self.count, dtype), (self.count, self.index)
        linked, sums = self.is_linked, (1, KEY_TYPES[1])
        fields = {
            **dict.fromkeys(("first_parent", "tree", "parent"), number),
            **dict.fromkeys(("least", "other_least"), key),
            **dict.fromkeys(("list", "other_list"), edges),
            **dict.fromkeys(("imbalance", "disorder"), sums),
            "chosen": (self.words, BITS),
            "counters": (COUNTERS_BYTES, BYTE),
            "trees": (1, COUNT),
            "limit": (1, dtype),
            "giant": (1, self.index),
            "first": (2 * self.count, self.index) if linked else None,
            "links": (2 * self.count, KEY_TYPES[1]) if linked else None,
        }
        return fields, {"of_chunk": (MOST_CHUNKS, COUNT), "total": (1, COUNT)}

    def find(self, arcs: Any) -> None:
        """Write the arcs of the forest to the start of an array, and count them."""
        self.choose()
        words, chosen, of_chunk = self.words, self.memory["chosen"], self.memory["of_chunk"]
        chunk = max(1, -(-words // MOST_CHUNKS))
        grid = max(1, -(-words // chunk)), THREADS
        self._launch("count_chosen", grid, words, chunk, chosen, of_chunk, self.total)
        self._launch("list_chosen", grid, words, chunk, chosen, of_chunk, len(arcs), arcs)

    def choose(self) -> None:
        """Set the bits of the arcs of the forest."""
        memory, trees = self.memory.struct, self.gpu.grid(self.count, each=NUMBERED_AT_ONCE)
        # By rows in order each vertex is put somewhere at once.
        alone = 0 if self.is_symmetric and self.weights is None else self.count
        one_way = int(not self.is_symmetric)
        self._launch("start_forest", self.by_vertex, alone, self.words, one_way, memory, self.total)
        if self.is_symmetric:
            self._unite_by_rows()
        self._launch("number_trees", trees, self.count, memory)
        self._launch("find_trees", trees, self.count, memory)
        if not self._are_many():
            return self._settle(ALL_KEYS)
        edges, number, limit = self._edges(), self.memory["trees"], self.memory["limit"]
        grid = 1, SAMPLES
        self._launch("guess_limit", grid, self.count, self.arcs, edges, number, self.keys, limit)
        self._settle(KEYS_TO_LIMIT)
        self._settle(KEYS_ABOVE_LIMIT)

    def _launch(self, name: str, grid: tuple[int, int], *arguments: Any) -> None:
        launch(self.kernels[name], grid, *arguments)

    def _unite_by_rows(self) -> None:
        """Unite vertices with the ends of their least edges, if the rows show these."""
        memory, ends, grid = self.memory, self.memory["parent"], self.by_vertex
        imbalance, disorder = memory["imbalance"], memory["disorder"]
        count, (indptr, indices), keys = self.count, self.ends, self.keys
        if self.weights is None:
            if not self.is_sorted:
                self._launch("count_descents", grid, count, self.arcs, indptr, indices, disorder)
            rest = keys, self.far, memory.struct
            return self._launch("unite_in_order", grid, count, indptr, indices, *rest)
        # The imbalance is 0 if arcs weigh the same both ways, or else by a rare chance.
        bits, random = self.weights.bits, np.uint64(secrets.randbits(64))
        order = _packed(self.weights.order, bits.dtype)
        weigh = WEIGHTS.one(self.gpu, bits.dtype, indptr.dtype, indices.dtype)
        flaws = imbalance, disorder
        launch(weigh, self.by_span, self.graph, self.arcs, bits, order, random, *flaws)
        one_each, chosen = (max(1, -(-count // THREADS)), THREADS), memory["chosen"]
        rows = count, indptr, indices, keys
        self._launch("choose_first", one_each, *rows, *flaws, ends, chosen)
        self._launch("unite_first", one_each, *rows, ends, memory["first_parent"], chosen)

    def _settle(self, key_range: int) -> None:
        """Go round by round through the edges of these keys."""
        graph, arcs, keys, memory = self.graph, self.arcs, self.keys, self.memory.struct
        if key_range == KEYS_ABOVE_LIMIT:
            self._launch("find_roots", self.by_vertex, memory)
            self._launch("find_trees_again", self.by_vertex, self.count, memory)
        if self.is_linked:
            self._link_trees()
        else:
            self._launch("list_edges_of_forest", self.by_span, graph, arcs, keys, key_range, memory)
        if key_range == KEYS_ABOVE_LIMIT and self.is_symmetric:
            grid = 1, GUESSERS
            self._launch("guess_giant_of_forest", grid, self.count, arcs, self.ends[1], memory)
            by_stretch = self.gpu.grid(self.count, OUTSIDE_THREADS, SEEN_AT_ONCE)
            self._launch("list_edges_outside", by_stretch, graph, arcs, keys, memory)
            self._launch("list_edges_of_hubs", self.by_span, graph, arcs, keys, memory)
        most = self.gpu.blocks_together(SETTLING_THREADS, 1)
        grid = max(1, min(-(-arcs // SETTLING_THREADS), most)), SETTLING_THREADS
        launch(self.gpu.together(self.kernels["settle_edges"]), grid, arcs, keys, memory)

    def _link_trees(self) -> None:
        """Link trees by all edges; those that take long are listed."""
        graph, keys, far, memory = self.graph, self.keys, self.far, self.memory.struct
        if self.is_symmetric:
            grid = max(1, -(-self.count // (ROWS_OF_THREAD * THREADS))), THREADS
            self._launch("link_short_rows", grid, graph, keys, far, MOST_STEPS, memory)
        once, grid = int(self.is_symmetric), self.by_span
        self._launch("link_edges", grid, graph, self.arcs, keys, once, far, MOST_STEPS, memory)


def _keys_of(gpu: Gpu, weights: WeightBits | None, arcs: int) -> tuple[_Keys, Any, Any]:
    """Return what makes keys of arcs, and the arrays that it reads; ranks take a sort."""
    xp, number = gpu.xp, KEY_TYPES[arcs > INT32_MAX]
    if weights is None:
        return NUMBERS[number], ARC_NUMBERS.pack({}), ()
    if weights.bits.dtype == KEY_TYPES[0] and arcs <= INT32_MAX:
        packed = PACKED_WEIGHTS.of(gpu, weights=weights.bits, order=_packed(weights.order, BITS))
        return PACKED, packed, (weights.bits,)
    order = _order_of(xp, weights)
    rank = xp.empty(arcs, number)
    rank[order] = xp.arange(arcs, dtype=number)
    order = order.astype(number)
    return RANKS[number], RANKED_ARCS.of(gpu, rank=rank, order=order), (rank, order)


def _order_of(xp: Any, weights: WeightBits) -> Any:
    """Return the arcs by weight, and by number where it is equal."""
    bits, dtype = weights.bits, weights.bits.dtype.type
    minus_zero, negative, sign = map(dtype, weights.order)
    plain = xp.where(bits == minus_zero, dtype(0), bits)
    is_negative = (plain >> dtype(8 * plain.dtype.itemsize - 1)).astype(bool)
    return xp.argsort(plain ^ xp.where(is_negative, negative, dtype(0)) ^ sign, kind="stable")


def _are_linked(keys: _Keys, index: DType) -> bool:
    """Whether a link of a tree, a key and a number, has 64 bits."""
    return (keys, index) == (NUMBERS[KEY_TYPES[0]], INDEX_TYPES[0])
