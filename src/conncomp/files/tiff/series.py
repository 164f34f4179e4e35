"""Read TIFF by tifffile, after checks that bound its time and memory."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._optional import optional
from conncomp._terminal import printable
from conncomp.files.access import too_large
from conncomp.files.scales import Content, Scale, scale_of, unit_of
from conncomp.files.tiff import ome
from conncomp.files.tiff.directories import bits_of, open_tiff
from conncomp.files.tiff.ome import MISFIT, OmeImage
from conncomp.files.tiff.ome_sets import (
    OmeSet,
    check_own_description,
    description_of_ome,
    open_companion,
)

# Bytes to read at once: Python handles signals in between.
READ = 1 << 26


@contextmanager
def open_images(file: IO[bytes], folder: str | None, companion: bool) -> Iterator[Images]:
    """Open TIFF, perhaps of a set in its folder, or a `companion` with OME-XML only."""
    if companion:
        yield open_companion(file, folder)
    else:
        with open_tiff(file) as tiff:
            yield OpenTiff(tiff, file, folder)


class OpenTiff:
    """An open TIFF file; its `count` series are images of OME, or pages of one shape."""

    def __init__(self, tiff: Any, file: IO[bytes], folder: str | None) -> None:
        self._tiff, self._size = tiff, os.fstat(file.fileno()).st_size
        description = description_of_ome(tiff)
        check_own_description(description, folder)
        self._images = ome.ome_images(description)
        self.count = len(self._images) or len(tiff.series)
        if self.count == 0:
            raise ValueError("holds no page")
        self._set = None
        self._others = ome.other_holders(description, self._images)
        if folder is not None and any(other is not None for other in self._others):
            self._set = OmeSet(folder, description, os.path.basename(file.name))

    def read(self, series: int) -> Content:
        """Return a series, with axes and scale."""
        tiff, images = self._tiff, self._images
        if not 0 <= series < self.count:
            raise ValueError(f"has {self.count} series: there is no series={series}")
        if self._set is not None and self._others[series] is not None:
            return self._set.read(series)
        chosen = _checked_series(tiff, images, self._size, series)
        page = chosen.keyframe
        axes, array = chosen.axes, np.asarray(chosen.asarray())
        scale = None
        if images:
            axes, array = _in_ome_order(images[series], axes, array)
            scale = ome.scale_of_ome(images[series], axes)
        elif tiff.is_imagej:
            scale = _scale_of_imagej(tiff, page, axes)
        channels = max(axes.find("S"), axes.find("C"))
        return Content(array, None if channels < 0 else channels, axes, scale)


Images = OmeSet | OpenTiff


def _series_of_image(tiff: Any, images: Sequence[OmeImage], number: int) -> Any:
    elsewhere = ome.other_holders(tiff.pages[0].description, images)
    if (other := elsewhere[number]) is not None:
        raise ValueError(f"has OME metadata of planes in {printable(other)!r}; {MISFIT}")
    if len(images) == 1 and "Z" in tiff.pages[0].axes:
        return tiff.series[0]  # a page of several planes
    places: Sequence[int] = ()
    held, known, end = len(tiff.pages), set[int](), 0
    for image, other in zip(images[: number + 1], elsewhere, strict=False):
        if other is not None:
            continue
        begin, samples = ome.begin_of_ome(image, end), 1
        if begin < held and image.attributes.get("SizeC") != "1":  # pages take a while to open
            samples = max(1, tiff.pages[begin].samplesperpixel)
        places = ome.pages_of_ome(image, ome.lengths_of_ome(image, samples), end, held)
        if not known.isdisjoint(places):
            raise ValueError(f"has OME metadata of images that have a page in common; {MISFIT}")
        known.update(places)
        end = max(end, max(places) + 1)
    count = len(places)
    if len(images) == 1 and places == list(range(count)):
        return tiff.series[0]
    pages = [tiff.pages[k] for k in places]
    head = pages[0]
    if any((page.shape, page.dtype) != (head.shape, head.dtype) for page in pages):
        raise ValueError(f"has planes of several shapes or types in its series {number}")
    shape = head.shape if count == 1 else (count, *head.shape)
    axes = head.axes if count == 1 else f"Q{head.axes}"
    return optional("tifffile").TiffPageSeries(pages, shape, head.dtype, axes, parent=tiff)


class Series(NamedTuple):
    """A volume in an open file, of which slices along the first axis are read."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    read: Callable[[int, int], NDArray[Any]]  # from one to before another; the next may overwrite
    axes: str = ""  # a letter for each; nothing if the file does not tell
    begin: int | None = None  # where the values begin, if they follow each other in the file


def flat_series(
    file: IO[bytes], begin: int, shape: tuple[int, ...], dtype: np.dtype[Any], axes: str = ""
) -> Series:
    """Return the slices of values that follow each other in a file."""
    plane = math.prod(shape[1:])
    memory = np.empty(0, dtype)

    def read(first: int, end: int) -> NDArray[Any]:
        nonlocal memory
        count = (end - first) * plane
        if len(memory) < count:
            memory = np.empty(count, dtype)
        target = memory[:count].view(np.uint8).data
        file.seek(begin + first * plane * dtype.itemsize)
        done = 0
        while done < len(target):
            step = file.readinto(target[done : done + READ])  # type: ignore[attr-defined]
            if not step:
                raise ValueError(f"cut short: it ends in slices {first} to {end - 1}")
            done += step
        return memory[:count].reshape(end - first, *shape[1:])

    return Series(shape, dtype, read, axes, begin)


def open_series(file: IO[bytes]) -> Series:
    """Open the first series of a TIFF file, without channels; the file must stay open."""
    tiff = open_tiff(file)
    size = os.fstat(file.fileno()).st_size
    images = ome.ome_images(description_of_ome(tiff))
    series = _checked_series(tiff, images, size)
    axes, page, shape = series.axes, series.keyframe, tuple(series.shape)
    if images:
        # An array of one value, as only the shape is wanted.
        axes, array = _in_ome_order(images[0], axes, np.broadcast_to(False, shape))
        shape = array.shape
    kept = [k for k, axis in enumerate(axes) if axis not in "CS" or shape[k] != 1]
    axes, shape = "".join(axes[k] for k in kept), tuple(shape[k] for k in kept)
    if "C" in axes or "S" in axes:
        raise ValueError(f"is in colour or has several channels, of shape {shape}; save one alone")
    if series.dataoffset is not None:
        dtype = series.dtype.newbyteorder(tiff.byteorder)
        if series.dataoffset + math.prod(shape) * dtype.itemsize > size:
            raise too_large(shape, dtype, size)
        return flat_series(file, series.dataoffset, shape, dtype, axes)
    if len(series.pages) == 1:
        whole = series.pages[0].asarray().reshape(shape)
        return Series(shape, whole.dtype, lambda begin, end: whole[begin:end], axes)
    pages = math.prod(shape[1:]) // math.prod(page.shape)  # of a slice
    if pages * math.prod(page.shape) != math.prod(shape[1:]) or pages == 0:
        raise ValueError(f"has pages of shape {page.shape}, which do not make up slices of {shape}")

    def read(begin: int, end: int) -> NDArray[Any]:
        chosen = series.pages[begin * pages : end * pages]
        return np.stack([part.asarray() for part in chosen]).reshape(end - begin, *shape[1:])

    return Series(shape, series.dtype, read, axes)


def _checked_series(tiff: Any, images: Sequence[OmeImage], size: int, number: int = 0) -> Any:
    if not (images or tiff.series):
        raise ValueError("holds no page")
    series = _series_of_image(tiff, images, number) if images else tiff.series[number]
    bits, most = bits_of(series.keyframe, size)
    if math.prod(series.shape) * bits > most:
        raise too_large(series.shape, series.dtype, size)
    if sum(sum(map(int, part.databytecounts)) for part in tiff.pages) > size:
        raise ValueError(f"says that it holds more strips than fit into its {size} bytes")
    return series


def _in_ome_order(image: OmeImage, axes: str, array: NDArray[Any]) -> tuple[str, NDArray[Any]]:
    """Shape pages by the axes of OME-XML (time, channel, depth), in its order."""
    lengths = ome.lengths_of_ome(image, array.shape[axes.index("S")] if "S" in axes else 1)
    pages = math.prod(lengths.values())
    plane = "".join(axis for axis in axes if axis in "YXS")
    held = math.prod(array.shape) // math.prod(array.shape[axes.index(a)] for a in plane)
    if held < pages or (held > 1 and len(axes) != len(plane) + 1):
        described = " x ".join(f"{length} {axis}" for axis, length in lengths.items())
        raise ValueError(f"has OME metadata of {described} planes, but holds {held}; {MISFIT}")
    kept = {axis: length for axis, length in lengths.items() if length > 1}
    shape = tuple(array.shape[axes.index(axis)] for axis in plane)
    array = array.reshape(held, *shape)[:pages]
    return "".join(kept) + plane, array.reshape(*kept.values(), *shape)


def _scale_of_imagej(tiff: Any, page: Any, axes: str) -> Scale | None:
    """Return the scale of ImageJ: elements per unit, and the distance of planes."""
    metadata = tiff.imagej_metadata or {}
    unit = unit_of(metadata.get("unit", ""))
    if not unit:
        return None
    lengths = {"Z": float(metadata.get("spacing", 1))}
    for axis, name in (("X", "XResolution"), ("Y", "YResolution")):
        tag = page.tags.get(name)
        count, units = tag.value if tag is not None else (1, 1)
        lengths[axis] = units / count if count else 0
    return scale_of([lengths.get(axis, 1.0) for axis in axes], unit)
