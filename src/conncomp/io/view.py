"""`write_view` writes one HTML page that shows labels and needs no other file.

Each element stores the row of its component in a table, in few bytes; 0 is the background. Each
row of the volume is replaced by its difference to the row before, mostly zeros, which DEFLATE packs
and base64 turns into text. The script of the template beside this file undoes that by
`DecompressionStream`. Writing takes about a second per 20 million elements.
"""

from __future__ import annotations

import base64
import html
import json
import zlib
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arguments import as_integer, check_dimensions, shown
from conncomp._arrays import as_numpy, on_gpu
from conncomp._containers import laid_beside, spacing_of
from conncomp._terminal import printable
from conncomp.components import colour_components
from conncomp.components._labels import Background, check_items, check_spacing
from conncomp.components.colouring import as_shades, check_image, check_value_range
from conncomp.components.statistics import ComponentStatistics, component_statistics
from conncomp.files.access import StrPath, as_path, atomic_path

# The most bytes of a page, and of what it unpacks in the memory of a browser.
MOST_BYTES, MOST_UNPACKED = 50_000_000, 1 << 29
MOST_AXES = 3  # whose slices a page shows
BLOCK = 1 << 22  # bytes to pack at once

REMEDY = "show less by part=, for example every second element along each axis: ::2, ::2, ::2"


def write_view(
    path: StrPath,
    labels: ArrayLike,
    image: ArrayLike | None = None,
    *,
    part: Sequence[slice] | None = None,
    title: str | None = None,
    value_range: tuple[float, float] | None = None,
    background: Background = "auto",
    spacing: float | Sequence[float] | None = None,
    batch_axes: int = 0,
) -> None:
    """Write an HTML page to look at components with: slices, and what is known of each component.

    The page needs no other file and no network. It scrolls through slices along any axis, tells
    label, size, bounding box and centroid of the component that one points at, and zooms, on a
    phone too.

    Parameters
    ----------
    path : str or path-like
        The page, which appears only when it is complete.
    labels : array_like of int
        In main memory. Masked labels are background.
    image, value_range
        What lies below the colours, as for `colour_components`.
    part : sequence of slice, optional
        What to show of each axis, with steps above 0, as ``numpy.s_[:, ::2, ::2]``. Up to three
        axes are longer than 1 then. Components are measured in all of `labels`, and coordinates are
        those there.
    title : str, optional
        Default: the name of the file.
    background, batch_axes
        As for `component_sizes`.
    spacing : number or sequence of numbers, optional
        The distance of neighbouring elements along each axis, so that slices are shown in their
        true proportions. By default that of an image of SimpleITK or ITK, and else 1.

    Raises
    ------
    TypeError, ValueError
        As `component_statistics` and `colour_components`; if `part` is not of slices, or leaves
        nothing to show or more than three axes; if `title` is no string; or if the page would be
        larger than 50 MB, or take more than 512 MiB in a browser.
    OSError
        If the file cannot be written.

    See Also
    --------
    colour_components : The same colours as an array.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import conncomp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "labels.html")
    ...     conncomp.write_view(path, [[1, 1, 0], [0, 0, 2]])
    ...     path.read_text().startswith("<!DOCTYPE html>")
    True
    """
    if on_gpu(labels):
        as_numpy(labels, "labels")  # which says what to do
    path, values = as_path(path), check_value_range(value_range, image)
    if title is not None and not isinstance(title, str):
        raise TypeError(f"title={shown(title)} must be a string, the title of the page")
    image = laid_beside(labels, image, "image")
    items = check_items(labels, background, batch_axes)
    check_dimensions(len(items.shape))
    whole = items.batch + items.shape
    if spacing is None:
        spacing = spacing_of(("labels", labels), ("image", image))
    lengths = check_spacing(spacing, len(whole))
    base = None if image is None else check_image(image, whole)
    slices = _check_part(part, whole)
    axes = [
        {"begin": cut.start, "step": cut.step, "length": len(range(*cut.indices(length)))}
        for cut, length in zip(slices, whole, strict=True)
    ]
    shape = _shown_shape(axes)
    statistics = component_statistics(items.labels, moments=False, background=items.background)
    rows, visible = _rows(items.labels[slices].reshape(shape), items.background, items.all_rows)
    channels = 0 if base is None else 1 if base.ndim == len(whole) else 3
    unpacked = rows.nbytes + channels * rows.size
    if unpacked > MOST_UNPACKED:
        flaw = f"labels of shape {shape} would take {unpacked >> 20} MiB in a browser"
        raise ValueError(f"{flaw}, and at most {MOST_UNPACKED >> 20} are taken; {REMEDY}")
    data = {"rows": _packed_rows(rows), **_columns(statistics, visible, rows, items.rows)}
    if base is not None:
        shades = as_shades(base, values)[slices].reshape(*shape[:-1], -1)
        data["image"] = _packed_rows(shades)
    about = {
        "title": printable(PurePath(path).stem if title is None else title),
        **{"axes": axes, "shape": shape, "spacing": _proportions(axes, lengths)},
        **{"channels": channels, "components": len(visible), "bytes": rows.itemsize},
    }
    page = _page(about, data)
    if len(page) > MOST_BYTES:
        told = f"a page of labels of shape {shape} would have {len(page) / 1e6:.0f} MB"
        raise ValueError(f"{told}, and at most {MOST_BYTES / 1e6:.0f} are written; {REMEDY}")
    with atomic_path(path) as temporary:
        temporary.write_bytes(page)


def _check_part(part: Any, shape: tuple[int, ...]) -> tuple[slice, ...]:
    if part is None:
        part = (slice(None),) * len(shape)
    wanted = f"a slice for each axis of labels, of shape {shape}, as numpy.s_[:, ::2]"
    if not isinstance(part, (tuple, list)) or not all(isinstance(cut, slice) for cut in part):
        raise TypeError(f"part={shown(part)} must have {wanted}")
    if len(part) != len(shape):
        raise ValueError(f"part={shown(part)} must have {wanted}, and not {len(part)}")
    for cut in part:
        for bound in (cut.start, cut.stop, cut.step):
            if bound is not None:
                as_integer("part", bound)
        if cut.step is not None and cut.step < 1:
            raise ValueError(f"part={shown(part)} has the step {cut.step}; it must be 1 or more")
    return tuple(slice(*cut.indices(n)) for cut, n in zip(part, shape, strict=True))


def _shown_shape(axes: list[dict[str, int]]) -> tuple[int, ...]:
    lengths = [axis["length"] for axis in axes]
    if 0 in lengths:
        raise ValueError(f"there is nothing to show in a part of shape {tuple(lengths)}")
    longer = [length for length in lengths if length > 1]
    if len(longer) > MOST_AXES:
        told = f"what is to be shown, of shape {tuple(lengths)}, has {len(longer)} axes longer than"
        remedy = "choose one place of an axis by part=, for example 0:1, :, :, :"
        raise ValueError(f"{told} 1, and a page shows {MOST_AXES}; {remedy}")
    return (1,) * (MOST_AXES - len(longer)) + tuple(longer)


def _proportions(axes: list[dict[str, int]], spacing: Sequence[float]) -> list[float]:
    """Return the distances along the three axes, divided by the smallest."""
    pairs = zip(axes, spacing, strict=True)
    longer = [length * axis["step"] for axis, length in pairs if axis["length"] > 1]
    least = min(longer, default=1.0)
    return [1.0] * (MOST_AXES - len(longer)) + [length / least for length in longer]


def _rows(labels: NDArray[Any], background: int, count: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return each element's row, from 1, in the table of labels that occur, and these."""
    # The last row is for a background of -1.
    occurs = np.zeros(count + 1, np.bool_)
    occurs[labels] = True
    occurs[background] = False
    visible = np.flatnonzero(occurs)
    size = 1 if len(visible) < 1 << 8 else 2 if len(visible) < 1 << 16 else 4
    table = np.zeros(count + 1, f"<u{size}")
    table[visible] = np.arange(1, len(visible) + 1)
    return table[labels], visible


def _columns(
    statistics: ComponentStatistics, visible: NDArray[np.int64], rows: NDArray[Any], of_item: int
) -> dict[str, bytes]:
    """Return packed columns; each item has `of_item` labels."""
    at = np.searchsorted(statistics.labels, visible)
    colours = np.zeros((len(visible) + 1, 3), np.uint8)
    colours[rows] = colour_components(rows, background=0)
    measured = statistics.sizes, statistics.bounding_boxes, statistics.centroids
    numbers = [visible % max(of_item, 1), *(column[at] for column in measured)]
    named = zip(("labels", "sizes", "boxes", "centroids"), numbers, strict=True)
    columns = {"colours": colours} | {name: column.astype("<f8") for name, column in named}
    return {name: _packed(column.reshape(-1)) for name, column in columns.items()}


def _packed_rows(volume: NDArray[Any]) -> bytes:
    table = volume.reshape(-1, volume.shape[-1])
    differences = table.copy()
    differences[1:] -= table[:-1]
    return _packed(differences.reshape(-1))


def _packed(values: NDArray[Any]) -> bytes:
    """Return an array packed by zlib, as text."""
    packer, packed, size = zlib.compressobj(), [], 0
    data = values.view(np.uint8).data
    for start in range(0, len(data), BLOCK):
        packed.append(packer.compress(data[start : start + BLOCK]))
        size += len(packed[-1])
        if size > MOST_BYTES:
            told = f"a page of {values.nbytes >> 20} MiB of labels or of an image"
            raise ValueError(f"{told} would have more than {MOST_BYTES / 1e6:.0f} MB; {REMEDY}")
    return base64.b64encode(b"".join([*packed, packer.flush()]))


def _page(about: dict[str, Any], data: dict[str, bytes]) -> bytes:
    """Fill the template; no text of title and data can end their HTML elements."""
    template = Path(__file__).with_name("view.html").read_bytes()
    head, _, after = template.partition(b"<!-- title -->")
    body, _, end = after.partition(b"<!-- data -->")
    # Only "<" can begin the end of a script.
    text = json.dumps(about).replace("<", "\\u003c").encode("ascii")
    block = b'<script type="%b" id="%b">%b</script>\n'
    blocks = [block % (b"application/json", b"about", text)]
    blocks += [block % (b"text/plain", name.encode(), packed) for name, packed in data.items()]
    return b"".join([head, html.escape(about["title"]).encode(), body, *blocks, end])
