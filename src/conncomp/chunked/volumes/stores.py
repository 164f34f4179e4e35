"""Volumes in files by chunks: Zarr and .npy, read and written at any place."""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from conncomp._optional import optional
from conncomp.chunked.layout import Layout
from conncomp.files.access import naming
from conncomp.files.images import read_header

Place = tuple[slice, ...]
# Elements of a chunk of a .npy file, which has none of its own.
NPY_CHUNK = 1 << 24
# Bytes of one element that are allocated for a chunk of Zarr, at most: its header may lie.
LARGEST_CHUNK = 1 << 34


class Volume(Protocol):
    """An array in files."""

    path: str

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the array."""

    @property
    def chunks(self) -> tuple[int, ...]:
        """The shape of what is read and written at once."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """That of the array."""

    def read(self, place: Place) -> NDArray[Any]:
        """Return a part."""

    def identity(self) -> str:
        """Return what is another one when files were changed."""


@dataclass
class ZarrVolume:
    """An array of Zarr, of version 2 or 3."""

    path: str
    array: Any

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the array."""
        return tuple(self.array.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """That of the array."""
        dtype: np.dtype[Any] = np.dtype(self.array.dtype)
        return dtype

    @property
    def chunks(self) -> tuple[int, ...]:
        """What can be written at once: shards, where there are any."""
        return tuple(getattr(self.array, "shards", None) or self.array.chunks)

    def read(self, place: Place) -> NDArray[Any]:
        """Return a part; an error names the volume and the place."""
        begins = tuple(part.start for part in place)
        with naming(self.path):
            try:
                values = np.asarray(self.array[place])
            except MemoryError:
                raise
            except Exception as error:
                reason = f"the chunk at {begins} cannot be read: {error}"
                raise ValueError(reason) from error
        wanted = tuple(part.stop - part.start for part in place)
        if values.shape != wanted or values.dtype != self.dtype:
            raise ValueError(f"{self.path}: the chunk at {begins} is of shape {values.shape}")
        return values

    def identity(self) -> str:
        """Return what names, sizes and times of all files make."""
        return _digest(_states(Path(self.path)))


@dataclass
class NpyVolume:
    """A .npy file in C order."""

    path: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    begin: int

    @property
    def chunks(self) -> tuple[int, ...]:
        """Slices of the first axis, as many as have about `NPY_CHUNK` elements."""
        plane = math.prod(self.shape[1:])
        return (max(1, min(self.shape[0], NPY_CHUNK // max(plane, 1))), *self.shape[1:])

    def read(self, place: Place) -> NDArray[Any]:
        """Return some slices."""
        begin, end = place[0].start, place[0].stop
        plane = math.prod(self.shape[1:])
        with open(self.path, "rb") as file, naming(self.path):
            file.seek(self.begin + begin * plane * self.dtype.itemsize)
            values = np.fromfile(file, self.dtype, (end - begin) * plane)
            if len(values) < (end - begin) * plane:
                raise ValueError(f"cut short: it ends in slices {begin} to {end - 1}")
        return values.reshape(end - begin, *self.shape[1:])

    def identity(self) -> str:
        """Return what size and time of the file make."""
        return _digest(_states(Path(self.path)))


def open_volume(path: str) -> Volume:
    """Open a volume to be read.

    Raises
    ------
    ValueError
        If it is neither an array of Zarr nor a .npy file in C order, or damaged.
    """
    if not os.path.isdir(path):
        with open(path, "rb") as file, naming(path):
            shape, fortran_order, dtype, begin = read_header(file, os.fstat(file.fileno()).st_size)
            if fortran_order and len(shape) > 1:
                raise ValueError("is in Fortran order; save numpy.ascontiguousarray(array)")
        volume: Volume = NpyVolume(path, shape, dtype, begin)
    else:
        zarr = optional("zarr")
        with naming(path):
            opened = zarr.open(path, mode="r")
            if not hasattr(opened, "shape"):
                names = ", ".join(sorted(str(name) for name in list(opened))[:8])
                raise ValueError(f"is a group of Zarr, not an array; give one of {names}")
        volume = ZarrVolume(path, opened)
    if volume.dtype.kind not in "biuf":
        raise ValueError(f"{path}: holds values of dtype {volume.dtype}, not real numbers")
    if not volume.shape or 0 in volume.shape:
        raise ValueError(f"{path}: has shape {volume.shape}; it must have an element or more")
    if math.prod(volume.chunks) * volume.dtype.itemsize > LARGEST_CHUNK:
        raise ValueError(f"{path}: has chunks of shape {volume.chunks}, too large to be read")
    return volume


def is_npy(path: str) -> bool:
    """Say whether a volume of that name is a .npy file."""
    return path.lower().endswith(".npy")


def create_volume(path: str, source: Volume, dtype: np.dtype[Any]) -> None:
    """Make an empty volume for labels, in chunks as those of the source."""
    if is_npy(path):
        with open(path, "wb") as file:
            np.lib.format.write_array_header_2_0(
                file, {"descr": dtype.str, "fortran_order": False, "shape": source.shape}
            )
            file.truncate(file.tell() + math.prod(source.shape) * dtype.itemsize)
        return
    array = getattr(source, "array", None)
    version = 3 if array is None else int(array.metadata.zarr_format)
    inner = source.chunks if array is None else tuple(array.chunks)
    shards = {} if inner == source.chunks else {"shards": source.chunks}
    optional("zarr").create_array(
        store=path, shape=source.shape, chunks=inner, dtype=dtype, zarr_format=version, **shards
    )


def writer_of(path: str) -> Any:
    """Return a function that writes a part of a volume that was made, by its place."""
    if is_npy(path):

        def write_slices(place: Place, values: NDArray[Any]) -> None:
            mapped = np.lib.format.open_memmap(path, mode="r+")
            mapped[place] = values
            mapped.flush()

        return write_slices
    array = optional("zarr").open_array(path, mode="r+")

    def write(place: Place, values: NDArray[Any]) -> None:
        array[place] = values

    return write


def place_of(layout: Layout, index: tuple[int, ...]) -> Place:
    """Return where a chunk lies."""
    begin, shape = layout.start(index), layout.chunk_shape(index)
    return tuple(slice(a, a + n) for a, n in zip(begin, shape, strict=True))


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _states(path: Path) -> Iterator[list[Any]]:
    """Yield name, size and time of a file, or of all files of a folder."""
    names = sorted(path.rglob("*")) if path.is_dir() else [path]
    for name in names:
        if name.is_file():
            state = name.stat()
            yield [str(name.relative_to(path)), state.st_size, state.st_mtime_ns]


def _digest(parts: Iterator[list[Any]]) -> str:
    digest = sha256()
    for part in parts:
        digest.update(json.dumps(part).encode())
    return digest.hexdigest()
