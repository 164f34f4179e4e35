"""Contacts of components on the GPU: drives ``contacts.cuh``."""

from __future__ import annotations

from typing import Any

from conncomp._arguments import INDEX_TYPES, INT32_MAX
from conncomp.kernels.cuda.components.rows import (
    FACTOR,
    HASH,
    TABLE,
    extent_of,
    label_rows,
    lengths_on,
)
from conncomp.kernels.cuda.launcher import COUNT, THREADS, Gpu, Templates, first_entry, launch
from conncomp.kernels.cuda.structs import Struct

KERNELS = Templates("cuda/components/contacts.cuh", "count_contacts", indices="label place")
SPAN = 2048  # elements of a block
# The first table has a slot per `ELEMENTS_PER_SLOT`; each next one has `GROWTH_BITS` more bits.
ELEMENTS_PER_SLOT, GROWTH_BITS, FEWEST_BITS = 4, 2, 12

STEPS = Struct("ContactSteps", "steps", ("count kinds periodic", COUNT))
COUNTS = Struct("KeyCounts", ("table", TABLE.dtype), "counts full")


def find_contacts(
    gpu: Gpu,
    labels: Any,
    background: int,
    rows: int,
    shape: tuple[int, ...],
    periodic: int,
    steps: Any,
    kinds: int,
) -> tuple[Any, Any]:
    """Return a key for each pair of labels that touch and each kind of contact, and its count.

    Keys, int64, are ``(first * rows + second) * kinds + kind``, in any order; counts are int64.
    Labels are contiguous and below `rows`, ``rows**2 * kinds`` is below 2**63; see `label_rows`.
    `shape` has the number of items and the lengths of axes, of which `periodic` has a bit each;
    `steps`, int64, (steps, 4), are `PackedStep`. It waits for the GPU.
    """
    xp = gpu.xp
    bits = max(FEWEST_BITS, (labels.size // ELEMENTS_PER_SLOT).bit_length())
    count = KERNELS.one(gpu, labels.dtype, INDEX_TYPES[labels.size > INT32_MAX])
    lengths, packed = lengths_on(gpu, *shape), xp.asarray(steps)
    grid = gpu.grid(labels.size, each=SPAN // THREADS)
    described = label_rows(gpu, labels, background, rows)
    extent, key_hash = extent_of(gpu, lengths), HASH.pack({"factor": FACTOR})
    to_neighbours = STEPS.of(gpu, steps=packed, count=len(steps), kinds=kinds, periodic=periodic)
    while True:
        keys, counts = xp.full(1 << bits, -1, COUNT), xp.zeros(1 << bits, COUNT)
        full = xp.zeros(1, COUNT)
        table = TABLE.of(gpu, hash=key_hash, bits=bits, empty=-1, slots=keys)
        counted = COUNTS.of(gpu, table=table, counts=counts, full=full)
        launch(count, grid, described, extent, to_neighbours, counted)
        if not first_entry(full):
            break
        bits += GROWTH_BITS
    present = xp.flatnonzero(keys >= 0)
    return keys[present], counts[present]
