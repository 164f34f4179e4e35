"""Spanning forests on the GPU: drives ``boruvka.cuh``."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from conncomp._arguments import INT32_MAX
from conncomp.gpu import Workspace
from conncomp.kernels.cuda.launcher import COUNT, INDEX_TYPES, Gpu, ctype, first_entry, launch

FILE = "cuda/graph/boruvka.cuh"
THREADS, SPAN, SAMPLES, GUESSERS, ARCS_OF_WORD = 256, 4096, 1024, 256, 32
MOST_CHUNKS = 1024
COUNTERS_BYTES, BYTE, BITS = 3 * 128, np.dtype(np.uint8), np.dtype(np.uint32)
KEY_TYPES = np.dtype(np.uint32), np.dtype(np.uint64)
# For fewer than how many edges a vertex all are gone through at once.
ALL_LIGHT = 3
ALL_KEYS, KEYS_TO_LIMIT, KEYS_ABOVE_LIMIT = range(3)
BLOCKS_TOGETHER = 6  # of a multiprocessor, that settle edges


class WeightBits(NamedTuple):
    """Weights as kernels order them.

    Attributes
    ----------
    bits : array of uint32 or uint64, shape (num_arcs,)
    order : tuple of int
        The masks of ``core/weight_order.h``.
    """

    bits: Any
    order: tuple[int, int, int]


class _Keys(NamedTuple):
    """What makes the keys of arcs: a struct of ``boruvka.cuh``, and what it is made of."""

    name: str
    dtype: np.dtype[Any]
    arguments: tuple[Any, ...]


def forest_arcs(gpu: Gpu, graph: Any, weights: WeightBits | None, workspace: Workspace) -> Any:
    """Return the arcs of the spanning forest of least weight, and of least numbers.

    It waits for the GPU.

    Parameters
    ----------
    gpu : Gpu
    graph : Graph
        On this GPU.
    weights : WeightBits or None
        None if all arcs weigh the same.
    workspace : Workspace

    Returns
    -------
    array of int32 or int64
        In ascending order.
    """
    xp, count = gpu.xp, graph.num_vertices
    is_list = graph._arcs is not None
    first, second = graph._arcs if is_list else graph._csr
    arcs = len(second)
    index = INDEX_TYPES[count > INT32_MAX]
    number = INDEX_TYPES[arcs > INT32_MAX]
    keys = _keys_of(xp, weights, arcs)
    words = -(-arcs // ARCS_OF_WORD)
    chunk = max(1, -(-words // MOST_CHUNKS))
    symmetric = bool(graph._symmetric) and not is_list
    edge_bytes = keys.dtype.itemsize + 2 * index.itemsize
    edge_bytes += -edge_bytes % max(keys.dtype.itemsize, index.itemsize)
    parent, ends, giant, *pairs, chosen, of_chunk, limit, imbalance, disorder, counters, total = (
        workspace.take(
            gpu,
            (count, index),
            (count if symmetric else 0, index),
            (1, index),
            *2 * ((count, keys.dtype),),
            *2 * ((arcs * edge_bytes, BYTE),),
            (words, BITS),
            (MOST_CHUNKS, COUNT),
            (1, keys.dtype),
            *2 * ((1, KEY_TYPES[1]),),
            (COUNTERS_BYTES, BYTE),
            (1, COUNT),
        )
    )
    least, lists = pairs[:2], pairs[2:]
    names = _names(is_list, first.dtype, second.dtype, index, keys.name, keys.dtype, number)
    start, guess, list_edges, settle, flatten, count_chosen, list_chosen = gpu.load(FILE, names)
    by_vertex = gpu.blocks(max(count, words), THREADS), THREADS
    by_span = gpu.blocks(-(-arcs // SPAN) * THREADS, THREADS), THREADS
    together = min(by_vertex[0], _blocks(gpu)), THREADS
    launch(start, by_vertex, count, words, parent, least[0], chosen, counters, total)
    imbalance.fill(0 if symmetric else 1)
    if symmetric:
        names = _names_of_rows(first.dtype, second.dtype, index, keys.name, keys.dtype)
        descents, choose_first, unite_first, guess_giant, list_outside = gpu.load(FILE, names)
        disorder.fill(0)
        launch(descents, by_vertex, count, arcs, first, second, disorder)
        if weights is not None:
            _weigh_both_ways(gpu, by_span, count, arcs, first, second, weights, imbalance)
        rows = count, first, second, *keys.arguments
        launch(choose_first, by_vertex, *rows, imbalance, disorder, ends)
        launch(unite_first, by_vertex, *rows, ends, parent, chosen)
        launch(flatten, by_vertex, count, parent, total)
    edges = arcs // 2 if symmetric else arcs
    has_phases = edges > ALL_LIGHT * count and arcs > SAMPLES
    if has_phases:
        trees = total if symmetric else xp.full(1, count, COUNT)
        launch(guess, (1, SAMPLES), arcs, edges, trees, *keys.arguments, limit)
    for key_range in (KEYS_TO_LIMIT, KEYS_ABOVE_LIMIT) if has_phases else (ALL_KEYS,):
        if key_range == KEYS_ABOVE_LIMIT:
            launch(flatten, by_vertex, count, parent, total)
        graph_and_keys = count, arcs, first, second, *keys.arguments
        known, results = (imbalance, disorder), (parent, least[0], lists[0], counters)
        launch(list_edges, by_span, *graph_and_keys, key_range, limit, *known, *results)
        if key_range == KEYS_ABOVE_LIMIT and symmetric:
            launch(guess_giant, (1, GUESSERS), count, parent, giant)
            launch(list_outside, by_span, *graph_and_keys, limit, *known, giant, *results)
        forest = parent, chosen, counters
        launch(gpu.together(settle), together, count, *keys.arguments, *lists, *least, *forest)
    total.fill(0)
    chunks = max(1, -(-words // chunk)), THREADS
    launch(count_chosen, chunks, words, chunk, chosen, of_chunk, total)
    chosen_arcs = xp.empty(first_entry(total), number)
    launch(list_chosen, chunks, words, chunk, chosen, of_chunk, chosen_arcs)
    return chosen_arcs


def _blocks(gpu: Gpu) -> int:
    """Return how many blocks run at the same time."""
    of_multiprocessor = gpu.resident_threads // gpu.multiprocessors // THREADS
    return gpu.multiprocessors * max(1, min(BLOCKS_TOGETHER, of_multiprocessor))


def _weigh_both_ways(
    gpu: Gpu,
    grid: tuple[int, int],
    count: int,
    arcs: int,
    indptr: Any,
    indices: Any,
    weights: WeightBits,
    imbalance: Any,
) -> None:
    """Add to `imbalance` what is 0 if arcs weigh the same both ways, but by a rare chance."""
    dtype = weights.bits.dtype
    (weigh,) = gpu.load(FILE, _names_of_weights(dtype, indptr.dtype, indices.dtype))
    masks = (dtype.type(mask) for mask in weights.order)
    key = np.uint64(secrets.randbits(64))
    launch(weigh, grid, count, arcs, indptr, indices, weights.bits, *masks, key, imbalance)


def _keys_of(xp: Any, weights: WeightBits | None, arcs: int) -> _Keys:
    """Return the keys of the arcs; to rank them takes memory and a sort."""
    number = KEY_TYPES[arcs > INT32_MAX]
    masks: tuple[Any, ...] = tuple(np.uint64(0) for _ in range(3))
    if weights is None:
        return _Keys("ArcNumbers", number, (None, None, *masks))
    if weights.bits.dtype == KEY_TYPES[0] and arcs <= INT32_MAX:
        masks = tuple(map(np.uint64, weights.order))
        return _Keys("PackedWeights", KEY_TYPES[1], (weights.bits, None, *masks))
    order = _order_of(xp, weights)
    rank = xp.empty(arcs, number)
    rank[order] = xp.arange(arcs, dtype=number)
    return _Keys("RankedArcs", number, (rank, order.astype(number), *masks))


def _order_of(xp: Any, weights: WeightBits) -> Any:
    """Return the arcs from the lightest to the heaviest, those of equal weight by number."""
    bits, dtype = weights.bits, weights.bits.dtype.type
    minus_zero, negative, sign = map(dtype, weights.order)
    plain = xp.where(bits == minus_zero, dtype(0), bits)
    is_negative = (plain >> dtype(8 * plain.dtype.itemsize - 1)).astype(bool)
    ordered = plain ^ xp.where(is_negative, negative, dtype(0)) ^ sign
    return xp.argsort(ordered, kind="stable")


@cache
def _names(
    is_list: bool,
    first: np.dtype[Any],
    second: np.dtype[Any],
    index: np.dtype[Any],
    keys: str,
    key: np.dtype[Any],
    number: np.dtype[Any],
) -> tuple[str, ...]:
    kind = _kind(keys, key)
    ends = f"{ctype(first)}, {ctype(second)}"
    arcs = f"conncomp::ForestList<{ctype(first)}>" if is_list else f"conncomp::ForestRows<{ends}>"
    return (
        f"start_forest<{ctype(index)}, {ctype(key)}>",
        f"guess_limit<{kind}>",
        f"list_edges_of_forest<{arcs}, {kind}, {ctype(index)}, {ends}>",
        f"settle_edges<{kind}, {ctype(index)}>",
        f"ecl_finish<3, {ctype(index)}>",
        f"count_chosen<{ctype(number)}>",
        f"list_chosen<{ctype(number)}>",
    )


def _kind(keys: str, key: np.dtype[Any]) -> str:
    return f"conncomp::{keys}" + ("" if keys == "PackedWeights" else f"<{ctype(key)}>")


@cache
def _names_of_rows(
    pointer: np.dtype[Any],
    vertex: np.dtype[Any],
    index: np.dtype[Any],
    keys: str,
    key: np.dtype[Any],
) -> tuple[str, ...]:
    types = f"{ctype(pointer)}, {ctype(vertex)}"
    return (
        f"count_descents<{types}>",
        f"choose_first<{_kind(keys, key)}, {types}, {ctype(index)}>",
        f"unite_first<{_kind(keys, key)}, {types}, {ctype(index)}>",
        f"guess_giant_of_forest<{ctype(index)}>",
        f"list_edges_outside<{_kind(keys, key)}, {types}, {ctype(index)}>",
    )


@cache
def _names_of_weights(
    bits: np.dtype[Any], pointer: np.dtype[Any], vertex: np.dtype[Any]
) -> tuple[str, ...]:
    return (f"weigh_both_ways<{ctype(bits)}, {ctype(pointer)}, {ctype(vertex)}>",)


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that `forest_arcs` can load."""
    kinds = [(name, key) for name in ("ArcNumbers", "RankedArcs") for key in KEY_TYPES]
    kinds.append(("PackedWeights", KEY_TYPES[1]))
    for types in product(INDEX_TYPES, INDEX_TYPES, INDEX_TYPES, kinds, INDEX_TYPES):
        first, second, index, (keys, key), number = types
        yield FILE, _names(False, first, second, index, keys, key, number)
        yield FILE, _names_of_rows(first, second, index, keys, key)
        if first == second:
            yield FILE, _names(True, first, second, index, keys, key, number)
    for bits, pointer, vertex in product(KEY_TYPES, INDEX_TYPES, INDEX_TYPES):
        yield FILE, _names_of_weights(bits, pointer, vertex)
