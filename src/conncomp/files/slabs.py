"""Volumes in files, read slab by slab: .npy, TIFF, and files of nothing but values."""

from __future__ import annotations

import math
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp.files.access import StrPath, as_path, naming
from conncomp.files.images import SIGNATURE, Kind, kind_of, read_header
from conncomp.files.tiff.series import open_series

# Bytes that are read at once: a signal is heard in between.
READ = 1 << 26


class Raw(NamedTuple):
    """What a file of nothing but values holds, in C order."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


@dataclass(frozen=True)
class SlabFile:
    """A volume in a file that is open."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    read: Callable[[int, int], NDArray[Any]]  # slices, which the next call may overwrite
    axes: str = ""  # a letter for each; nothing if the file does not tell

    def slabs(self, length: int) -> Iterator[NDArray[Any]]:
        """Yield all slices, so many at once."""
        for begin in range(0, self.shape[0], length):
            yield self.read(begin, min(begin + length, self.shape[0]))


def parse_raw(text: str) -> Raw:
    """Return shape and dtype of a file of values.

    >>> parse_raw("512,2048,2048:uint16")
    Raw(shape=(512, 2048, 2048), dtype=dtype('uint16'))
    """
    match = re.fullmatch(r"(\d{1,18}(?:,\d{1,18})*):([<>|=]?[a-z]+\d{0,2})", text.replace(" ", ""))
    dtype = None
    with suppress(TypeError):
        dtype = match and np.dtype(match[2])
    if match is None or dtype is None or dtype.kind not in "biuf":
        raise ValueError(f"raw={text!r} is no shape and dtype such as 512,2048,2048:uint16")
    return Raw(tuple(map(int, match[1].split(","))), dtype)


@contextmanager
def open_slabs(path: StrPath, raw: Raw | None = None) -> Iterator[SlabFile]:
    """Open .npy in C order, the first series of TIFF or raw values, to read slab by slab."""
    path = as_path(path)
    with open(path, "rb", buffering=0) as file:
        with naming(path):
            content = _open(file, raw)
            shape, dtype = content.shape, content.dtype
            if not shape:
                raise ValueError("holds a single number, not a volume")

        def read(begin: int, end: int) -> NDArray[Any]:
            with naming(path):
                return content.read(begin, end)

        yield SlabFile(shape, dtype, read, content.axes)


def _open(file: IO[bytes], raw: Raw | None) -> SlabFile:
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        raise ValueError("is no regular file, of which slabs can be read")
    size = os.fstat(file.fileno()).st_size
    if raw is not None:
        needed = math.prod(raw.shape) * raw.dtype.itemsize
        if needed != size:
            raise ValueError(
                f"is of {size} bytes, but shape {raw.shape} and dtype {raw.dtype} take {needed}"
            )
        return _flat(file, 0, raw.shape, raw.dtype)
    kind: Kind = kind_of(file.read(SIGNATURE))
    file.seek(0)
    if kind.name == ".npy":
        shape, fortran_order, dtype, begin = read_header(file, size)
        if fortran_order and len(shape) > 1:
            raise ValueError(
                "is in Fortran order, so that slices of the first axis are scattered; save "
                "numpy.ascontiguousarray(array)"
            )
        return _flat(file, begin, shape, dtype)
    if kind.name == "TIFF":
        series = open_series(file)
        if series.read is not None:
            return SlabFile(series.shape, series.dtype, series.read, series.axes)
        flat = _flat(file, series.begin or 0, series.shape, series.dtype)
        return replace(flat, axes=series.axes)
    raise ValueError(f"is of the kind {kind.name}, of which slabs are not read; save it as .npy")


def _flat(file: IO[bytes], offset: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> SlabFile:
    plane = math.prod(shape[1:])
    memory = np.empty(0, dtype)

    def read(begin: int, end: int) -> NDArray[Any]:
        nonlocal memory
        count = (end - begin) * plane
        if len(memory) < count:
            memory = np.empty(count, dtype)
        target = memory[:count].view(np.uint8).data
        file.seek(offset + begin * plane * dtype.itemsize)
        done = 0
        while done < len(target):
            step = file.readinto(target[done : done + READ])  # type: ignore[attr-defined]
            if not step:
                raise ValueError(f"cut short: it ends in slices {begin} to {end - 1}")
            done += step
        return memory[:count].reshape(end - begin, *shape[1:])

    return SlabFile(shape, dtype, read)
