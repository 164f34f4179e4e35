"""Which labels there are, and a number for each, on the GPU: drives ``distinct.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from conncomp.kernels.cuda.core.key_table import FACTOR, HASH
from conncomp.kernels.cuda.launcher import COUNT, INDEX_TYPES, Gpu, ctype, first_entry, launch
from conncomp.kernels.cuda.structs import POINTER, Struct

FILE = "cuda/components/distinct.cuh"
THREADS = 256
# Labels are few if each occurs so often on average. A table has two slots for each of as many.
ELEMENTS_PER_LABEL, FEWEST_BITS = 8, 12

NUMBERS = Struct(
    "NumberTable<int32_t, int32_t>",
    hash=HASH.dtype,
    bits=np.dtype(np.int32),
    labels=POINTER,
    numbers=POINTER,
    first_label=POINTER,
    first_number=POINTER,
)


def distinct_labels(gpu: Gpu, labels: Any, bits: int | None = None) -> Any:
    """Return the labels that there are, ascending, or None if they are too many for a hash table.

    It waits for the GPU.

    Parameters
    ----------
    gpu : Gpu
    labels : contiguous array of integers of 32 or 64 bits, not empty
    bits : int, optional
        Of the number of slots of the table.
    """
    xp, signed = gpu.xp, as_signed(labels)
    if bits is None:
        bits = _bits_for(labels.size // ELEMENTS_PER_LABEL)
    (collect,) = gpu.load(FILE, _names(signed.dtype))
    keys, full = _table(xp, signed, bits), xp.zeros(1, COUNT)
    grid = gpu.blocks(labels.size, THREADS), THREADS
    launch(collect, grid, labels.size, signed, FACTOR, bits, keys, full)
    if first_entry(full):
        return None
    keys = keys[xp.flatnonzero(keys != signed[:1])]
    return xp.sort(xp.concatenate([labels[:1], keys.view(labels.dtype)]))


def translate_labels(
    gpu: Gpu, labels: Any, distinct: Any, numbers: Any, bits: int | None = None
) -> Any:
    """Return the number of each label, or None if they are too many for a hash table.

    It waits for the GPU.

    Parameters
    ----------
    gpu, labels, bits
        As for `distinct_labels`.
    distinct : array of the dtype of `labels`
        The labels that there are, in any order.
    numbers : array of int32 or int64
        Of each of these.
    """
    if len(distinct) > max(1, labels.size // ELEMENTS_PER_LABEL):
        return None
    xp, signed, known = gpu.xp, as_signed(labels), as_signed(distinct)
    if bits is None:
        bits = _bits_for(len(distinct))
    list_numbers, translate = gpu.load(FILE, _names_of_numbers(signed.dtype, numbers.dtype))
    keys, full = _table(xp, known, bits), xp.zeros(1, COUNT)
    values = xp.empty(len(keys), numbers.dtype)
    table = NUMBERS.of(
        gpu,
        hash=HASH.pack({"factor": FACTOR}),
        bits=bits,
        labels=keys,
        numbers=values,
        first_label=known,
        first_number=numbers,
    )
    out = xp.empty(labels.shape, numbers.dtype)
    grid = gpu.blocks(len(known), THREADS), THREADS
    launch(list_numbers, grid, len(known), known, numbers, table, full)
    grid = gpu.blocks(labels.size, THREADS), THREADS
    launch(translate, grid, labels.size, signed, table, out)
    return None if first_entry(full) else out


def as_signed(labels: Any) -> Any:
    """Return the same bits as signed integers, which kernels take."""
    return labels.view(labels.dtype.str.replace("u", "i"))


def _bits_for(labels: int) -> int:
    return max(FEWEST_BITS, (2 * labels).bit_length())


def _table(xp: Any, labels: Any, bits: int) -> Any:
    """Return slots that are empty, which the first label says."""
    keys = xp.empty(1 << bits, labels.dtype)
    keys[...] = labels[:1]
    return keys


@cache
def _names(label: np.dtype[Any]) -> tuple[str, ...]:
    return (f"collect_labels<{ctype(label)}>",)


@cache
def _names_of_numbers(label: np.dtype[Any], number: np.dtype[Any]) -> tuple[str, ...]:
    types = f"{ctype(label)}, {ctype(number)}"
    return f"list_numbers<{types}>", f"translate_labels<{types}>"


def specialisations() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every (file, names) that the functions here can load."""
    for label in INDEX_TYPES:
        yield FILE, _names(label)
    for types in product(INDEX_TYPES, repeat=2):
        yield FILE, _names_of_numbers(*types)
