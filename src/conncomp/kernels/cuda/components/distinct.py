"""Which labels there are, and a number for each, on the GPU: drives ``distinct.cuh``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from conncomp.kernels.cuda.launcher import COUNT, INDEX_TYPES, Gpu, ctype, first_entry, launch

FILE = "cuda/components/distinct.cuh"
THREADS = 256
# A table has a slot for so many elements of an array, so that it is small beside that; and at least
# so many slots for a label.
ELEMENTS_PER_SLOT, SLOTS_PER_LABEL, FEWEST_BITS = 16, 2, 12


def distinct_labels(gpu: Gpu, labels: Any, bits: int | None = None) -> Any:
    """Return the labels that there are, ascending; where they are many, by sorting all.

    It waits for the GPU.

    Parameters
    ----------
    gpu : Gpu
    labels : contiguous array of integers of 32 or 64 bits, not empty
    bits : int, optional
        Of the number of slots of the table.
    """
    xp, signed = gpu.xp, _signed(labels)
    if bits is None:
        bits = _bits_for(labels.size // ELEMENTS_PER_SLOT)
    (collect,) = gpu.load(FILE, _names(signed.dtype))
    keys, full = _table(xp, signed, bits), xp.zeros(1, COUNT)
    launch(
        collect, (gpu.blocks(labels.size, THREADS), THREADS), labels.size, signed, bits, keys, full
    )
    if first_entry(full):
        return xp.unique(labels)
    keys = xp.concatenate([labels[:1], keys[keys != signed[:1]].view(labels.dtype)])
    return xp.sort(keys)


def translate_labels(
    gpu: Gpu, labels: Any, distinct: Any, numbers: Any, bits: int | None = None
) -> Any:
    """Return the number of each label.

    It waits for the GPU.

    Parameters
    ----------
    gpu, labels, bits
        As for `distinct_labels`.
    distinct : array of the dtype of `labels`
        As `distinct_labels` returns it.
    numbers : array of int32 or int64
        Of each of these.
    """
    xp = gpu.xp
    if bits is None:
        bits = _bits_for(SLOTS_PER_LABEL * len(distinct))
    if len(distinct) * ELEMENTS_PER_SLOT <= labels.size:
        signed, known = _signed(labels), _signed(distinct)
        list_numbers, translate = gpu.load(FILE, _names_of_numbers(signed.dtype, numbers.dtype))
        keys, full = _table(xp, known, bits), xp.zeros(1, COUNT)
        values = xp.empty(len(keys), numbers.dtype)
        out = xp.empty(labels.shape, numbers.dtype)
        grid = gpu.blocks(len(known), THREADS), THREADS
        launch(list_numbers, grid, len(known), known, numbers, bits, keys, values, full)
        grid = gpu.blocks(labels.size, THREADS), THREADS
        launch(translate, grid, labels.size, signed, known, numbers, bits, keys, values, out)
        if not first_entry(full):
            return out
    return numbers[xp.searchsorted(distinct, labels)]


def _signed(labels: Any) -> Any:
    """Return the same bits as signed integers, which kernels take."""
    return labels.view(labels.dtype.str.replace("u", "i"))


def _bits_for(slots: int) -> int:
    return max(FEWEST_BITS, slots.bit_length())


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
    for label, number in product(INDEX_TYPES, repeat=2):
        yield FILE, _names_of_numbers(label, number)
