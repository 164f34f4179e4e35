"""`stream_labels`: components of a volume that comes slab by slab, measured as they finish."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arguments import as_bool
from conncomp._arrays import as_numpy_and_mask, check_kind
from conncomp._containers import function_for, laid_beside, spacing_of
from conncomp.chunked.rows import RowTable, statistics_of
from conncomp.chunked.streams.open_components import OpenComponents, Slab
from conncomp.components._labels import check_spacing
from conncomp.components.statistics import ComponentStatistics
from conncomp.grid._arguments import question_of_image

PIECE = 1 << 24  # elements; of fewer, calls and slices between pieces take a larger share of time
LEAST = 2  # slices of a piece: each is labelled with one slice more

Slabs = Iterable[ArrayLike | tuple[ArrayLike, ArrayLike]]


def stream_labels(
    slabs: Slabs,
    background: float | None = None,
    connectivity: float | None = None,
    *,
    structure: ArrayLike | None = None,
    tolerance: float = 0,
    periodic: bool | Sequence[bool] = False,
    surfaces: bool = False,
    spacing: float | Sequence[float] | None = None,
) -> Iterator[ComponentStatistics]:
    """Measure the connected regions of a volume that comes slab by slab.

    The volume is read once, and can be of any length: memory holds about a slab, its labels, and a
    row for each open component, which reaches the last slice so far [1]_.

    Parameters
    ----------
    slabs : iterable of array_like, or of tuples of two
        Consecutive slices of the volume along its first axis, any number at once, of one dtype, in
        main memory. A tuple has the slab and, of the same shape, the image to measure intensities
        of. An array can be filled again for the next slab. Arrays of xarray are aligned with the
        first slab, by name and coordinate, but for coordinates along the first axis.
    background, connectivity, structure, tolerance, periodic
        As for `label`, of the whole volume: if its first axis is periodic, components that reach
        the first slice are open until the end.
    surfaces : bool, optional
        Whether to count ``faces``.
    spacing : number or sequence of numbers, optional
        The distance of neighbouring elements along each axis, as for `component_statistics`; by
        default that of slabs that are images of SimpleITK or ITK.

    Returns
    -------
    iterator of ComponentStatistics
        Batches of finished components. Rows are those of `component_statistics` of the whole,
        without second moments and weighted centroids; sums of floating-point images may differ in
        their last digits. ``labels`` are those of ``label(volume, numbering="roots")``, the
        smallest flat C-order index of the component, and order a batch.

    Raises
    ------
    TypeError
        If `slabs` is an array and no iterable of slabs, or a slab is not of real numbers or lies on
        a GPU.
    ValueError
        If a slab has no elements, or another dtype or shape along the other axes than the first
        one, or an argument does not fit, as for `label` and `component_statistics`.
    OverflowError
        If the sum of coordinates, or of integers of an image, over a component needs more than 64
        bits.

    See Also
    --------
    label : Of an array in memory.
    component_statistics : What is measured, of labels in memory.

    Notes
    -----
    Errors that depend on the number of axes are raised with the first batch. Slabs are cut or
    joined to pieces of about sixteen million elements, or of two slices if these are larger.

    References
    ----------
    .. [1] M. Isenburg, J. Shewchuk, "Streaming connected component computation for trillion voxel
       images", Workshop on Massive Data Algorithmics, 2009.

    Examples
    --------
    >>> import conncomp
    >>> first = [[1, 1, 0, 2],
    ...          [0, 0, 0, 2]]
    >>> second = [[1, 0, 2, 0]]
    >>> for batch in conncomp.stream_labels([first, second]):
    ...     print(batch.labels, batch.sizes, batch.bounding_boxes[:, 0].tolist())
    [0] [2] [[0, 1]]
    [3 8] [3 1] [[0, 3], [2, 3]]

    Several batches of a volume with intensities:

    >>> import numpy as np
    >>> image = np.array([[9, 8, 1, 7], [1, 2, 1, 6], [5, 1, 8, 0]])
    >>> slabs = ((image[z : z + 1] > 4, image[z : z + 1]) for z in range(3))
    >>> batches = list(conncomp.stream_labels(slabs, connectivity=1))
    >>> sum(len(batch.labels) for batch in batches), max(batch.means.max() for batch in batches)
    (4, np.float64(8.5))
    """
    is_array = hasattr(slabs, "__array__") or hasattr(slabs, "toarray")
    if is_array or not isinstance(slabs, Iterable):
        told = f"slabs is a {type(slabs).__name__}; it must be an iterable of slabs"
        examples = "[volume] or (volume[z : z + 64] for z in range(0, len(volume), 64))"
        raise TypeError(f"{told}, such as {examples}")
    asked = {"background": background, "connectivity": connectivity, "structure": structure}
    asked |= {"tolerance": tolerance, "periodic": periodic}
    return measure_slabs(slabs, asked, as_bool("surfaces", surfaces), spacing, PIECE)


def measure_slabs(
    slabs: Slabs, asked: Mapping[str, Any], surfaces: bool, spacing: Any, size: int | None
) -> Iterator[ComponentStatistics]:
    """Yield rows of finished components; slabs make pieces of a size, or stay if that is None."""
    components: OpenComponents | None = None
    known = list[tuple[str, Any]]()
    for piece in _pieces_of(iter(_noted(slabs, known) if spacing is None else slabs), size):
        lengths = check_spacing(known[0][1] if known else spacing, piece.values.ndim)
        if components is None:
            components = OpenComponents(question_of_image(piece.values, **asked), surfaces)
        yield from _batch(components.add(piece), lengths)
    if components is not None:
        yield from _batch(components.finish(), lengths)


def _noted(slabs: Slabs, known: list[tuple[str, Any]]) -> Iterator[Any]:
    """Yield slabs, and note the spacing of the first, which that of the others must be."""
    for number, slab in enumerate(slabs):
        name = f"slabs[{number}]"
        known.append((name, spacing_of((name, slab))))
        spacing_of(*known)
        del known[1:]
        yield slab


def _batch(table: RowTable, spacing: tuple[float, ...]) -> Iterator[ComponentStatistics]:
    if table.rows:
        table = table.take(np.argsort(table["root"]))
        batch = np.empty((table.rows, 0), np.int64)
        yield statistics_of(table, spacing, labels=table["root"], batch=batch)


def _pieces_of(slabs: Iterator[Any], size: int | None) -> Iterator[Slab]:
    """Yield the slices of all slabs, as many at once as have `size` elements, fewer at the end.

    There are `LEAST` or more, but at the end. Each piece begins with the last slice of the one
    before. Without a size, slabs are yielded as they come, after the two slices where two of them
    meet. What has to wait is copied, as the same array may be filled again.
    """
    waiting, ahead = list[Slab](), 0
    for slab in _checked(slabs):
        length = max(LEAST, size // prod(slab.values.shape[1:])) if size else 1
        begin = 0
        if waiting:
            begin = min(len(slab), length + ahead - _slices(waiting))
            waiting.append(slab.part(0, begin))
            if _slices(waiting) < length + ahead:
                waiting[-1] = waiting[-1].copy()
                continue
            yield _joined(waiting, ahead)
            ahead = 1
        if size is None:
            length = max(1, len(slab) - begin)
        while len(slab) - begin >= length:
            yield slab.part(begin - ahead, begin + length, ahead)
            begin, ahead = begin + length, 1
        waiting = [slab.part(begin - ahead, len(slab)).copy()]
    if _slices(waiting) > ahead:
        yield _joined(waiting, ahead)


def _slices(parts: list[Slab]) -> int:
    return sum(len(part.values) for part in parts)


def _joined(parts: list[Slab], ahead: int) -> Slab:
    if len(parts) == 1:
        return replace(parts[0], ahead=ahead)
    values = [part.values for part in parts]
    masked = any(isinstance(array, np.ma.MaskedArray) for array in values)
    images = [part.image for part in parts if part.image is not None]
    image = np.concatenate(images) if images else None
    return Slab((np.ma.concatenate if masked else np.concatenate)(values), image, ahead)


def _checked(slabs: Iterator[Any]) -> Iterator[Slab]:
    first, axes = None, None
    for number, given in enumerate(slabs):
        slab = _as_slab(given, f"slabs[{number}]", axes)
        if first is None:
            first, array = slab, given[0] if isinstance(given, tuple) else given
            axes = None if function_for(array, "in_order") is None else array[:0].copy()
        _check_alike(slab, first, f"slabs[{number}]")
        yield slab


def _as_slab(given: Any, name: str, axes: Any) -> Slab:
    """Return a slab, with its axes in the order of those of an array of xarray if there is one."""
    in_order = function_for(axes, "in_order")
    if not isinstance(given, tuple):
        named = given if in_order is None else in_order(axes, given, name, "slabs[0]", 1)
        return Slab(_as_values(named, name), None)
    if len(given) != 2:
        flaw = f"{name} is a tuple of {len(given)}; a slab is an array"
        raise ValueError(f"{flaw}, or a tuple of an array and the image to measure")
    named, image = given
    if in_order is not None:
        named = in_order(axes, named, f"{name}[0]", "slabs[0]", 1)
    values = _as_values(named, f"{name}[0]")
    image = _as_values(laid_beside(named, image, f"{name}[1]", f"{name}[0]"), f"{name}[1]")
    if isinstance(image, np.ma.MaskedArray):
        raise ValueError(f"{name}[1], an image, has masked elements; mask those of the slab")
    if image.shape != values.shape:
        told = f"{name} has an image of shape {image.shape}"
        raise ValueError(f"{told}; it must have that of the slab, {values.shape}")
    return Slab(values, image)


def _as_values(given: Any, name: str) -> NDArray[Any]:
    values, mask = as_numpy_and_mask(given, name)
    check_kind(values, "biuf", given, name, "of bool, integer or floating dtype")
    if values.ndim == 0:
        raise ValueError(f"{name} is a scalar; it must have one dimension or more")
    if values.size == 0:
        raise ValueError(f"{name} has shape {values.shape}; it must have a slice or more")
    return values if mask is None else np.ma.masked_array(values, mask)


def _check_alike(slab: Slab, first: Slab, name: str) -> None:
    if slab.values.shape[1:] != first.values.shape[1:]:
        flaw = f"{name} has shape {slab.values.shape}, but slabs[0] {first.values.shape}"
        raise ValueError(f"{flaw}; all axes but the first must be of the same length")
    if (slab.image is None) != (first.image is None):
        raise ValueError(f"only one of slabs[0] and {name} has an image; all must, or none")
    for array, model in ((slab.values, first.values), (slab.image, first.image)):
        if array is not None and model is not None and array.dtype != model.dtype:
            told = f"{name} is of dtype {array.dtype}, but slabs[0] of {model.dtype}"
            raise ValueError(f"{told}; they must be of one dtype")
