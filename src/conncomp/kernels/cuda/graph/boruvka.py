"""Spanning forests on the GPU: drives ``boruvka.cuh``."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, MutableMapping
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from conncomp._arguments import INT32_MAX
from conncomp.kernels.cuda.launcher import (
    COUNT,
    INDEX_TYPES,
    THREADS,
    Gpu,
    Templates,
    ctype,
    first_entry,
    launch,
)
from conncomp.kernels.cuda.structs import POINTER, Struct
from conncomp.kernels.cuda.workspace import Workspace

FILE = "cuda/graph/boruvka.cuh"
SPAN, SAMPLES, GUESSERS, ARCS_OF_WORD = 4096, 1024, 256, 32
MOST_CHUNKS = 1024
COUNTERS_BYTES, BYTE, BITS = 3 * 128, np.dtype(np.uint8), np.dtype(np.uint32)
KEY_TYPES = np.dtype(np.uint32), np.dtype(np.uint64)
# For fewer than how many edges a vertex all are gone through at once: where keys are the numbers of
# arcs, and elsewhere.
ALL_IN_ORDER, ALL_LIGHT = 3, 1.75
NUMBERED_AT_ONCE, SEEN_AT_ONCE, ROWS_OF_THREAD = 4, 8, 2
ALL_KEYS, KEYS_TO_LIMIT, KEYS_ABOVE_LIMIT = range(3)
SETTLING_THREADS = 1024  # of one block on each multiprocessor
OUTSIDE_THREADS = 128
# From how many vertices on a row is far from another one, and after how many steps an edge that is
# to be a link is listed.
FAR, NOWHERE, MOST_STEPS = 1 << 18, 1 << 62, 128

WEIGHTS = Templates(
    FILE, "weigh_both_ways<{bits}, {pointer}, {vertex}>", bits=KEY_TYPES, indices="pointer vertex"
)

MEMORY = Struct(
    "ForestMemory<int32_t, uint32_t>",
    "first_parent tree parent chosen least other_least list other_list counters trees limit "
    "imbalance disorder giant first links",
)
ROWS = Struct("ForestRows<int32_t, int32_t>", "indptr indices", vertices=COUNT)
LIST = Struct("ForestList<int32_t>", "src dst", vertices=COUNT)
ORDERS = {
    kind: Struct(f"WeightOrder<{ctype(kind)}>", minus_zero=kind, negative=kind, sign=kind)
    for kind in KEY_TYPES
}
ARC_NUMBERS = Struct("ArcNumbers<uint32_t>")
RANKED_ARCS = Struct("RankedArcs<uint32_t>", "rank order")
PACKED_WEIGHTS = Struct("PackedWeights", weights=POINTER, order=ORDERS[BITS].dtype)


class WeightBits(NamedTuple):
    """Weights as kernels order them: uint32 or uint64 of each arc, and the masks of their order.

    The masks, of ``core/fixed_point.h``, are the bits of minus zero, what is turned in negative
    numbers, and the sign.
    """

    bits: Any
    order: tuple[int, int, int]

    def struct(self) -> np.void:
        """Return the masks as kernels take them."""
        minus_zero, negative, sign = self.order
        masks = {"minus_zero": minus_zero, "negative": negative, "sign": sign}
        return ORDERS[self.bits.dtype].pack(masks)


class _KeyKind(NamedTuple):
    """A struct of ``boruvka.cuh`` that makes the keys of arcs, and their type."""

    struct: str
    dtype: np.dtype[Any]

    def ctype(self) -> str:
        types = "" if self.struct == "PackedWeights" else f"<{ctype(self.dtype)}>"
        return f"conncomp::{self.struct}{types}"


class _Keys(NamedTuple):
    """What makes the keys of arcs, and the arrays that it reads."""

    kind: _KeyKind
    struct: np.void
    arrays: tuple[Any, ...]


def forest_arcs(
    gpu: Gpu,
    graph: Any,
    weights: WeightBits | None,
    workspace: Workspace,
    are_sorted: MutableMapping[Any, bool] | None = None,
) -> Any:
    """Return the arcs of the spanning forest of least weight, and of least numbers, ascending.

    It waits for the GPU. Without weights all arcs weigh the same. `are_sorted` tells by graph
    whether its rows are sorted, once that has been looked up.
    """
    known = {} if are_sorted is None else are_sorted
    task = ForestTask(gpu, graph, weights, workspace, known.get(graph, False))
    arcs = room_for_forest(gpu, graph)
    task.find(arcs)
    found = as_many(arcs, first_entry(task.total))
    if weights is None and task.is_symmetric and graph not in known:
        known[graph] = task.has_sorted_rows()
    return found


def room_for_forest(gpu: Gpu, graph: Any) -> Any:
    """Return an array for as many arcs as a forest may have."""
    most = min(graph.num_vertices, graph.num_arcs)
    return gpu.xp.empty(most, INDEX_TYPES[graph.num_arcs > INT32_MAX])


def as_many(arcs: Any, number: int) -> Any:
    """Return the first arcs of an array, and little memory that is not used."""
    number = min(number, len(arcs))
    return arcs[:number] if 2 * number >= len(arcs) else arcs[:number].copy()


class ForestTask:
    """The steps of ``boruvka.cuh`` for one graph, and their memory, of a workspace."""

    def __init__(
        self,
        gpu: Gpu,
        graph: Any,
        weights: WeightBits | None,
        workspace: Workspace,
        is_sorted: bool = False,
    ) -> None:
        self.gpu, self.count, self.is_sorted = gpu, graph.num_vertices, is_sorted
        is_list = graph._arcs is not None
        self.ends = first, second = graph._arcs if is_list else graph._csr
        self.arcs = arcs = len(second)
        self.is_symmetric = bool(graph._symmetric) and not is_list
        self.graph = (
            LIST.of(gpu, src=first, dst=second, vertices=self.count)
            if is_list
            else ROWS.of(gpu, indptr=first, indices=second, vertices=self.count)
        )
        self.weights = weights
        self.keys: Any = _keys_of(gpu, weights, arcs)
        self.index, self.number = (INDEX_TYPES[n > INT32_MAX] for n in (self.count, arcs))
        self.words = -(-arcs // ARCS_OF_WORD)
        self.is_linked = _are_linked(self.keys.kind, self.index) and not self._are_many()
        self.far = FAR if self.is_linked else NOWHERE
        self.memory = workspace.take_struct(gpu, MEMORY, *self._parts())
        self.by_vertex = gpu.grid(max(self.count, self.words))
        self.by_span = gpu.grid(arcs, each=SPAN // THREADS)
        kind = self.keys.kind
        names = _names(is_list, first.dtype, second.dtype, self.index, kind, self.number)
        of_rows = _names_of_rows(first.dtype, second.dtype, self.index, kind)
        gpu.load_at_once([(FILE, names), *([(FILE, of_rows)] if self.is_symmetric else [])])
        self.kernels = gpu.load(FILE, names)
        self.kernels_of_rows = gpu.load(FILE, of_rows) if self.is_symmetric else ()

    def _edges(self) -> int:
        return self.arcs // 2 if self.is_symmetric else self.arcs

    def _are_many(self) -> bool:
        """Whether the arcs of some keys go first."""
        all_light = ALL_IN_ORDER if self.weights is None else ALL_LIGHT
        return self._edges() > all_light * self.count and self.arcs > SAMPLES

    def _parts(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what the memory points to, and what is beside it."""
        dtype = self.keys.kind.dtype
        edge_bytes = dtype.itemsize + 2 * self.index.itemsize
        edge_bytes += -edge_bytes % max(dtype.itemsize, self.index.itemsize)
        edges = self.arcs * edge_bytes, BYTE
        key, number = (self.count, dtype), (self.count, self.index)
        fields = {
            "first_parent": number,
            "tree": number,
            "parent": number,
            "chosen": (self.words, BITS),
            "least": key,
            "other_least": key,
            "list": edges,
            "other_list": edges,
            "counters": (COUNTERS_BYTES, BYTE),
            "trees": (1, COUNT),
            "limit": (1, dtype),
            "imbalance": (1, KEY_TYPES[1]),
            "disorder": (1, KEY_TYPES[1]),
            "giant": (1, self.index),
            "first": (2 * self.count, self.index) if self.is_linked else None,
            "links": (2 * self.count, KEY_TYPES[1]) if self.is_linked else None,
        }
        return fields, {"of_chunk": (MOST_CHUNKS, COUNT), "total": (1, COUNT)}

    @property
    def total(self) -> Any:
        """How many arcs are chosen."""
        return self.memory["total"]

    def find(self, arcs: Any) -> None:
        """Let an array begin with the arcs of the forest, and count them."""
        self.choose()
        bits = self.words, self._chunk(), self.memory["chosen"], self.memory["of_chunk"]
        launch(self.kernels[-2], self._by_chunk(), *bits, self.total)
        launch(self.kernels[-1], self._by_chunk(), *bits, len(arcs), arcs)

    def choose(self) -> None:
        """Set the bits of the arcs of the forest."""
        self.start()
        if self.is_symmetric:
            self.unite_by_rows()
        self.number_trees()
        if self._are_many():
            self.guess_limit()
            self.settle(KEYS_TO_LIMIT)
            self.settle(KEYS_ABOVE_LIMIT)
        else:
            self.settle(ALL_KEYS)

    def start(self) -> None:
        """Let each vertex be a tree."""
        imbalance = 0 if self.is_symmetric else 1
        # By rows in order each vertex is put somewhere at once.
        alone = 0 if self.is_symmetric and self.weights is None else self.count
        numbers = alone, self.words, imbalance
        launch(self.kernels[0], self.by_vertex, *numbers, self.memory.struct, self.total)

    def unite_by_rows(self) -> None:
        """Unite vertices with the ends of their least edges, if rows are known to show these."""
        memory, ends = self.memory, self.memory["parent"]
        known = memory["imbalance"], memory["disorder"]
        rows = self.count, *self.ends, self.keys.struct
        united = memory["first_parent"], memory["chosen"]
        if self.weights is None:
            descents, unite_in_order, *_ = self.kernels_of_rows
            if not self.is_sorted:
                launch(descents, self.by_vertex, self.count, self.arcs, *self.ends, known[1])
            launch(unite_in_order, self.by_vertex, *rows, self.far, memory.struct)
            return
        choose_first, unite_first, *_ = self.kernels_of_rows
        self._weigh_both_ways(self.weights, known)
        one_each = max(1, -(-self.count // THREADS)), THREADS
        launch(choose_first, one_each, *rows, *known, ends, memory["chosen"])
        launch(unite_first, one_each, *rows, ends, *united)

    def number_trees(self) -> None:
        """Give each vertex the number of its tree."""
        _, _, _, _, number, find, *_ = self.kernels
        grid = self.gpu.grid(self.count, each=NUMBERED_AT_ONCE)
        for kernel in (number, find):
            launch(kernel, grid, self.count, self.memory.struct)

    def guess_limit(self) -> None:
        """Choose a key below which there are few edges, but enough to join most vertices."""
        guess, trees, limit = self.kernels[1], self.memory["trees"], self.memory["limit"]
        numbers = self.count, self.arcs, self._edges()
        launch(guess, (1, SAMPLES), *numbers, trees, self.keys.struct, limit)

    def settle(self, key_range: int) -> None:
        """Go round by round through the edges of these keys."""
        _, _, list_edges, settle, _, _, find_roots, find_again, *_ = self.kernels
        graph, memory = (self.graph, self.arcs, self.keys.struct), self.memory.struct
        if key_range == KEYS_ABOVE_LIMIT:
            launch(find_roots, self.by_vertex, memory)
            launch(find_again, self.by_vertex, self.count, memory)
        if self.is_linked:
            self.link_trees()
        else:
            launch(list_edges, self.by_span, *graph, key_range, memory)
        if key_range == KEYS_ABOVE_LIMIT and self.is_symmetric:
            _, _, guess_giant, list_outside, list_of_hubs, *_ = self.kernels_of_rows
            numbers = self.count, self.arcs
            launch(guess_giant, (1, GUESSERS), *numbers, self.ends[1], memory)
            by_stretch = self.gpu.grid(self.count, OUTSIDE_THREADS, SEEN_AT_ONCE)
            launch(list_outside, by_stretch, *graph, memory)
            launch(list_of_hubs, self.by_span, *graph, memory)
        most = self.gpu.blocks_together(SETTLING_THREADS, 1)
        grid = max(1, min(-(-self.arcs // SETTLING_THREADS), most)), SETTLING_THREADS
        launch(self.gpu.together(settle), grid, self.arcs, self.keys.struct, memory)

    def link_trees(self) -> None:
        """Link trees by all edges; those that take long are listed."""
        memory, ways = self.memory.struct, (self.far, MOST_STEPS)
        if self.is_symmetric:
            blocks = max(1, -(-self.count // (ROWS_OF_THREAD * THREADS)))
            rows = self.graph, self.keys.struct, *ways
            launch(self.kernels_of_rows[-1], (blocks, THREADS), *rows, memory)
        arcs = self.graph, self.arcs, self.keys.struct, int(self.is_symmetric), *ways
        launch(self.kernels[-3], self.by_span, *arcs, memory)

    def has_sorted_rows(self) -> bool:
        """Whether each row of a symmetric graph has been found to be sorted."""
        return bool(first_entry(self.memory["disorder"]) == 0)

    def _chunk(self) -> int:
        return max(1, -(-self.words // MOST_CHUNKS))

    def _by_chunk(self) -> tuple[int, int]:
        return max(1, -(-self.words // self._chunk())), THREADS

    def _weigh_both_ways(self, weights: WeightBits, known: tuple[Any, Any]) -> None:
        """Add to the imbalance what is 0 if arcs weigh the same both ways, but by a rare chance."""
        dtype = weights.bits.dtype
        (weigh,) = WEIGHTS.load(self.gpu, dtype, *(end.dtype for end in self.ends))
        key = np.uint64(secrets.randbits(64))
        arcs = self.graph, self.arcs, weights.bits
        launch(weigh, self.by_span, *arcs, weights.struct(), key, *known)


def _keys_of(gpu: Gpu, weights: WeightBits | None, arcs: int) -> _Keys:
    """Return the keys of the arcs; to rank them takes memory and a sort."""
    xp, number = gpu.xp, KEY_TYPES[arcs > INT32_MAX]
    if weights is None:
        return _Keys(_KeyKind("ArcNumbers", number), ARC_NUMBERS.pack({}), ())
    if weights.bits.dtype == KEY_TYPES[0] and arcs <= INT32_MAX:
        packed = PACKED_WEIGHTS.of(gpu, weights=weights.bits, order=weights.struct())
        return _Keys(_KeyKind("PackedWeights", KEY_TYPES[1]), packed, (weights.bits,))
    order = _order_of(xp, weights)
    rank = xp.empty(arcs, number)
    rank[order] = xp.arange(arcs, dtype=number)
    arrays = rank, order.astype(number)
    ranked = RANKED_ARCS.of(gpu, rank=arrays[0], order=arrays[1])
    return _Keys(_KeyKind("RankedArcs", number), ranked, arrays)


def _order_of(xp: Any, weights: WeightBits) -> Any:
    """Return the arcs from the lightest to the heaviest, those of equal weight by number."""
    bits, dtype = weights.bits, weights.bits.dtype.type
    minus_zero, negative, sign = map(dtype, weights.order)
    plain = xp.where(bits == minus_zero, dtype(0), bits)
    is_negative = (plain >> dtype(8 * plain.dtype.itemsize - 1)).astype(bool)
    ordered = plain ^ xp.where(is_negative, negative, dtype(0)) ^ sign
    return xp.argsort(ordered, kind="stable")


def _are_linked(keys: _KeyKind, index: np.dtype[Any]) -> bool:
    """Whether a link of a tree, a key and a number, has 64 bits."""
    return keys.struct == "ArcNumbers" and (keys.dtype, index) == (KEY_TYPES[0], INDEX_TYPES[0])


@cache
def _names(
    is_list: bool,
    first: np.dtype[Any],
    second: np.dtype[Any],
    index: np.dtype[Any],
    keys: _KeyKind,
    number: np.dtype[Any],
) -> tuple[str, ...]:
    kind = keys.ctype()
    ends, tree = f"{ctype(first)}, {ctype(second)}", f"{ctype(index)}, {ctype(keys.dtype)}"
    arcs = f"conncomp::ForestList<{ctype(first)}>" if is_list else f"conncomp::ForestRows<{ends}>"
    links = (f"link_edges<{arcs}, {kind}>",)
    return (
        f"start_forest<{tree}>",
        f"guess_limit<{kind}>",
        f"list_edges_of_forest<{arcs}, {kind}, {ctype(index)}>",
        f"settle_edges<{kind}, {ctype(index)}>",
        f"number_trees<{tree}>",
        f"find_trees<{kind}, {ctype(index)}>",
        f"find_roots<{tree}>",
        f"find_trees_again<{tree}>",
        *(links if _are_linked(keys, index) else ()),
        f"count_chosen<{ctype(number)}>",
        f"list_chosen<{ctype(number)}>",
    )


@cache
def _names_of_rows(
    pointer: np.dtype[Any], vertex: np.dtype[Any], index: np.dtype[Any], keys: _KeyKind
) -> tuple[str, ...]:
    types = f"{ctype(pointer)}, {ctype(vertex)}"
    all_types = f"{keys.ctype()}, {types}, {ctype(index)}"
    in_order = f"count_descents<{types}>", f"unite_in_order<{all_types}>"
    by_weight = f"choose_first<{all_types}>", f"unite_first<{all_types}>"
    return (
        *(in_order if keys.struct == "ArcNumbers" else by_weight),
        f"guess_giant_of_forest<{ctype(vertex)}, {ctype(index)}, {ctype(keys.dtype)}>",
        f"list_edges_outside<{all_types}>",
        f"list_edges_of_hubs<{all_types}>",
        *([f"link_short_rows<{keys.ctype()}, {types}>"] if _are_linked(keys, index) else []),
    )


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `forest_arcs` can load."""
    kinds = [_KeyKind(name, key) for name in ("ArcNumbers", "RankedArcs") for key in KEY_TYPES]
    kinds.append(_KeyKind("PackedWeights", KEY_TYPES[1]))
    for types in product(INDEX_TYPES, INDEX_TYPES, INDEX_TYPES, kinds, INDEX_TYPES):
        first, second, index, keys, number = types
        yield FILE, _names(False, first, second, index, keys, number)
        yield FILE, _names_of_rows(first, second, index, keys)
        if first == second:
            yield FILE, _names(True, first, second, index, keys, number)
    yield from WEIGHTS.modules()
