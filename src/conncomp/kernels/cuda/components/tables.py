"""Tables of labels, and their elements, on the GPU: drives ``tables.cuh``."""

from __future__ import annotations

from typing import Any

from conncomp.kernels.cuda.launcher import COUNT, DeviceArray, DType, Gpu, Templates, launch

FILE = "cuda/components/tables.cuh"
KERNELS = Templates(FILE, "count_labels", "replace_labels", indices="label")
COMBINE = Templates(FILE, "combine_labels", indices="label combined")
MEMBERS = Templates(
    FILE,
    "pack_labels<{label}>",
    "begin_labels<>",
    "place_members<{index}>",
    "end_labels<>",
    indices="label index",
)
# Whole arrays would take 16 bytes an element to sort; a part and what it takes fit into the caches.
PART = 1 << 22
ROWS = 4


def combine_labels(
    gpu: Gpu, labels: DeviceArray, length: int, background: int, rows: int, out: DeviceArray
) -> None:
    """Fill `out`, which may be `labels`, with item * rows + label, or background.

    Items have `length` labels; see `count_labels`.
    """
    if labels.size:
        combine = COMBINE.one(gpu, labels.dtype, out.dtype)
        empty = labels.dtype.type(background)
        launch(combine, gpu.grid(labels.size), labels.size, labels, length, empty, rows, out)


def count_labels(gpu: Gpu, labels: DeviceArray, background: int, rows: int) -> Any:
    """Return int64, (rows,): how many elements have each label but the background.

    Labels are contiguous, int32 or int64; `background` is as for `label_rows`.
    """
    count, *_ = KERNELS.load(gpu, labels.dtype)
    sizes = gpu.xp.zeros(rows, COUNT)
    if rows:
        grid = gpu.grid(labels.size, each=ROWS)
        launch(count, grid, labels.size, labels, labels.dtype.type(background), rows, sizes)
    return sizes


def places_of(gpu: Gpu, components: DeviceArray, rows: int) -> DeviceArray:
    """Return int64, (rows,): each label's place, from 1, among ascending components, or 0."""
    places: DeviceArray = gpu.xp.zeros(rows, COUNT)
    places[components] = gpu.xp.arange(1, len(components) + 1, dtype=COUNT)
    return places


def replace_labels(gpu: Gpu, labels: DeviceArray, background: int, table: DeviceArray) -> Any:
    """Return labels with each but the background replaced by its row of `table`.

    Labels without a row, which the caller has excluded, become background. The table has the dtype
    of `labels`; see `count_labels`.
    """
    *_, replace = KERNELS.load(gpu, labels.dtype)
    out = gpu.xp.empty(labels.shape, labels.dtype)
    if labels.size:
        empty = labels.dtype.type(background)
        launch(replace, gpu.grid(labels.size), labels.size, labels, empty, len(table), table, out)
    return out


def list_members(
    gpu: Gpu, labels: Any, background: int, sizes: Any, length: int, index: DType, part: int = PART
) -> tuple[Any, Any]:
    """Return where the elements of each label begin, and the elements, ascending for each label.

    Elements, of the dtype `index`, count within items of `length`. `labels` are one-dimensional,
    `sizes` those of `count_labels`; labels are sorted part by part. It waits for the GPU.
    """
    xp, empty = gpu.xp, labels.dtype.type(background)
    indptr = xp.zeros(len(sizes) + 1, COUNT)
    if not len(sizes):
        return indptr, xp.empty(0, index)
    indptr[1:] = xp.cumsum(sizes)
    next_place = indptr[:-1].copy()
    indices = xp.empty(int(indptr[-1]), index)
    memory = xp.empty(min(part, len(labels)), COUNT)
    pack, begin_labels, place, end_labels = MEMBERS.load(gpu, labels.dtype, index)
    for begin in range(0, len(labels), part):
        piece = labels[begin : begin + part]
        keys, grid = memory[: len(piece)], gpu.grid(len(piece))
        launch(pack, grid, len(piece), piece, empty, len(sizes), keys)
        keys.sort()
        launch(begin_labels, grid, len(piece), keys, next_place)
        launch(place, grid, len(piece), begin, length, keys, next_place, len(indices), indices)
        launch(end_labels, grid, len(piece), keys, next_place)
    return indptr, indices
