"""The labels that occur, and a number for each, on the GPU: drives ``distinct.cuh``."""

from __future__ import annotations

from typing import Any

from conncomp.kernels.cuda.components.rows import FACTOR, HASH
from conncomp.kernels.cuda.launcher import COUNT, DeviceArray, Gpu, Templates, first_entry, launch
from conncomp.kernels.cuda.structs import Struct

FILE = "cuda/components/distinct.cuh"
COLLECT = Templates(FILE, "collect_labels", indices="label")
TRANSLATE = Templates(FILE, "list_numbers", "translate_labels", indices="label number")
# Labels are few if each occurs so often on average. A table has two slots for each of them.
ELEMENTS_PER_LABEL, FEWEST_BITS = 8, 12

NUMBERS = Struct(
    "NumberTable<int32_t, int32_t>",
    ("hash", HASH.dtype),
    ("bits", "i4"),
    "labels numbers first_label first_number",
)


def distinct_labels(gpu: Gpu, labels: DeviceArray, bits: int | None = None) -> Any:
    """Return the labels that occur, ascending, or None if they are too many for a hash table.

    Labels are integers of 32 or 64 bits, at least one, contiguous; the table has ``1 << bits``
    slots. It waits for the GPU.
    """
    xp, signed = gpu.xp, as_signed(labels)
    if bits is None:
        bits = _bits_for(labels.size // ELEMENTS_PER_LABEL)
    collect = COLLECT.one(gpu, signed.dtype)
    keys, full = _table(xp, signed, bits), xp.zeros(1, COUNT)
    launch(collect, gpu.grid(labels.size), labels.size, signed, FACTOR, bits, keys, full)
    if first_entry(full):
        return None
    keys = keys[xp.flatnonzero(keys != signed[:1])]
    return xp.sort(xp.concatenate([labels[:1], keys.view(labels.dtype)]))


def translate_labels(
    gpu: Gpu, labels: DeviceArray, distinct: DeviceArray, numbers: Any, bits: int | None = None
) -> Any:
    """Return the number of each label, or None if they are too many for a hash table.

    `numbers`, int32 or int64, are those of the `distinct` labels, in any order. See
    `distinct_labels`.
    """
    if len(distinct) > max(1, labels.size // ELEMENTS_PER_LABEL):
        return None
    xp, signed, known = gpu.xp, as_signed(labels), as_signed(distinct)
    if bits is None:
        bits = _bits_for(len(distinct))
    list_numbers, translate = TRANSLATE.load(gpu, signed.dtype, numbers.dtype)
    keys, full = _table(xp, known, bits), xp.zeros(1, COUNT)
    slots = {"bits": bits, "labels": keys, "numbers": xp.empty(len(keys), numbers.dtype)}
    first = {"first_label": known, "first_number": numbers}
    table = NUMBERS.of(gpu, hash=HASH.pack({"factor": FACTOR}), **slots, **first)
    out = xp.empty(labels.shape, numbers.dtype)
    launch(list_numbers, gpu.grid(len(known)), len(known), known, numbers, table, full)
    launch(translate, gpu.grid(labels.size), labels.size, signed, table, out)
    return None if first_entry(full) else out


def as_signed(labels: DeviceArray) -> Any:
    """Return the labels' bits as signed integers, which kernels take."""
    return labels.view(labels.dtype.str.replace("u", "i"))


def _bits_for(labels: int) -> int:
    return max(FEWEST_BITS, (2 * labels).bit_length())


def _table(xp: Any, labels: DeviceArray, bits: int) -> Any:
    """Return ``1 << bits`` empty slots: the first label marks them."""
    keys = xp.empty(1 << bits, labels.dtype)
    keys[...] = labels[:1]
    return keys
