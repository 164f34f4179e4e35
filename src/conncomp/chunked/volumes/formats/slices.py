"""Volumes as slices: .npy, TIFF, and folders of images, read some slices at once."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from threading import Lock
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from conncomp.chunked.volumes.volume import SLAB, Place, Shape, Volume, check_part, reading
from conncomp.files.access import naming
from conncomp.files.images import KINDS, read_content
from conncomp.files.parts import check_place
from conncomp.files.slabs import sliced
from conncomp.files.tiff.series import Series

SUFFIXES = {suffix: kind.name for kind in KINDS for suffix in kind.suffixes}


def slab(shape: Shape) -> Shape:
    """Return the shape of so many slices as have about `SLAB` elements."""
    most = max(1, SLAB // max(math.prod(shape[1:]), 1))
    return (*(max(1, min(length, most)) for length in shape[:1]), *shape[1:])


@dataclass
class Slices(Volume):
    """A volume of which some slices, along the first axis, are read at once."""

    path: str
    shape: Shape
    dtype: np.dtype[Any]
    slices: Callable[[int, int], NDArray[Any]]  # reads those from one to another
    axes: str = ""
    file: IO[bytes] | None = None
    key: str | None = None

    def __post_init__(self) -> None:
        self.chunks = slab(self.shape)

    def read(self, place: Place) -> NDArray[Any]:
        """Return a part of some slices; an error names the file and the slices."""
        begin, end = place[0].start, place[0].stop
        with reading(self.path, f"slices {begin} to {end - 1}"):
            values = self.slices(begin, end)
        whole = tuple(slice(0, length) for length in self.shape[1:])
        check_part(self.path, (place[0], *whole), values, self.dtype)
        return values[(slice(None), *place[1:])]

    def close(self) -> None:
        """Close what is open."""
        if self.file is not None:
            self.file.close()


def _flat_file(path: str, series: Series, ahead: int) -> Slices:
    plane, dtype = math.prod(series.shape[1:]), series.dtype

    def read(begin: int, end: int) -> NDArray[Any]:
        with open(path, "rb") as file:
            file.seek(ahead + begin * plane * dtype.itemsize)
            values = np.fromfile(file, dtype, (end - begin) * plane)
        if len(values) < (end - begin) * plane:
            raise ValueError("the file is cut short")
        return values.reshape(end - begin, *series.shape[1:])

    return Slices(path, series.shape, dtype, read, series.axes)


def _pages(path: str, series: Series, file: IO[bytes]) -> Slices:
    """Return the pages of a TIFF file, which are unpacked; one thread at a time reads."""
    lock = Lock()

    def read(begin: int, end: int) -> NDArray[Any]:
        with lock:
            return series.read(begin, end)

    return Slices(path, series.shape, series.dtype, read, series.axes, file)


def open_file(path: str) -> Slices:
    """Open a .npy file in C order, or a TIFF file."""
    with ExitStack() as files:
        file = files.enter_context(open(path, "rb"))
        with naming(path):
            series = sliced(file, "; give Zarr, HDF5, .npy, TIFF or a folder of slices")
            if series.begin is not None:
                return _flat_file(path, series, series.begin)
            files.pop_all()
            return _pages(path, series, file)


def open_folder(path: str) -> Slices:
    """Open a folder of images of one kind and size, none in colour, in the order of numbers."""
    with naming(path):
        names = sorted(os.listdir(path), key=natural_order)
        kinds = {name: SUFFIXES.get(os.path.splitext(name)[1].lower()) for name in names}
        images = tuple(name for name in names if kinds[name] and not name.startswith("."))
        if not images:
            flaw = "is neither an array of Zarr nor a folder of slices"
            raise ValueError(f"{flaw}, as it holds no images ({', '.join(sorted(SUFFIXES))})")
        several = sorted({str(kinds[name]) for name in images})
        if len(several) > 1:
            raise ValueError(f"holds images of the kinds {', '.join(several)}; leave one kind")
        first = _read_image(path, images[0])
        if first.ndim != 2:
            raise ValueError(f"{images[0]} has shape {first.shape}; a slice has two axes")

        shape, dtype = first.shape, first.dtype

    def read(begin: int, end: int) -> NDArray[Any]:
        slices = [_read_image(path, name) for name in images[begin:end]]
        for name, image in zip(images[begin:end], slices, strict=True):
            if image.shape != shape or image.dtype != dtype:
                told = f"{name} has shape {image.shape} and dtype {image.dtype}"
                raise ValueError(f"{told}, but {images[0]} has {shape} and {dtype}")
        return np.stack(slices)

    return Slices(path, (len(images), *shape), dtype, read)


def _read_image(folder: str, name: str) -> NDArray[Any]:
    path = os.path.join(folder, name)
    check_place(folder, path)
    image, channels, *_ = read_content(path).without_single_channel()
    if channels is not None:
        told = f"{name} is in colour or has several channels, of shape {image.shape}"
        raise ValueError(f"{told}; save one alone")
    return image


def natural_order(name: str) -> list[tuple[int, int, str]]:
    """Return what names are sorted by, so that ``slice10`` comes after ``slice9``.

    >>> sorted(["slice10.tif", "slice9.tif"], key=natural_order)
    ['slice9.tif', 'slice10.tif']
    """
    parts = []
    for part in re.split(r"(\d+)", name):
        number = -1
        with suppress(ValueError):  # of thousands of digits
            number = int(part) if part.isdecimal() else -1
        parts.append((int(number >= 0), number, part))
    return parts
