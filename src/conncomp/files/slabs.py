"""Read volumes slab by slab: .npy, TIFF, and raw files, which hold nothing but values."""

from __future__ import annotations

import math
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp.files.access import StrPath, as_path, naming
from conncomp.files.images import SIGNATURE, kind_of, read_header
from conncomp.files.tiff.series import Series, flat_series, open_series


class Raw(NamedTuple):
    """The shape and the type of the values in a raw file, in C order."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


def parse_raw(text: str) -> Raw:
    """Return the shape and dtype that describe a raw file.

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
def open_slabs(path: StrPath, raw: Raw | None = None) -> Iterator[Series]:
    """Open .npy in C order, the first series of TIFF, or a raw file."""
    path = as_path(path)
    with open(path, "rb", buffering=0) as file:
        with naming(path):
            content = _open(file, raw)
            if not content.shape:
                raise ValueError("holds a single number, not a volume")

        def read(begin: int, end: int) -> NDArray[Any]:
            with naming(path):
                return content.read(begin, end)

        yield content._replace(read=read)


def _open(file: IO[bytes], raw: Raw | None) -> Series:
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        raise ValueError("is no regular file, of which slabs can be read")
    if raw is not None:
        size = os.fstat(file.fileno()).st_size
        needed = math.prod(raw.shape) * raw.dtype.itemsize
        if needed != size:
            told = f"is of {size} bytes"
            raise ValueError(f"{told}, but shape {raw.shape} of {raw.dtype} takes {needed}")
        return flat_series(file, 0, raw.shape, raw.dtype)
    return sliced(file, ", of which slabs are not read; save it as .npy")


def sliced(file: IO[bytes], remedy: str) -> Series:
    """Return slices of .npy in C order, or of TIFF; an error of other kinds ends with a remedy."""
    kind = kind_of(file.read(SIGNATURE))
    file.seek(0)
    if kind.name == ".npy":
        header = read_header(file, os.fstat(file.fileno()).st_size)
        if header.order == "F" and len(header.shape) > 1:
            raise ValueError("is in Fortran order; save numpy.ascontiguousarray(array)")
        return flat_series(file, header.begin, header.shape, header.dtype)
    if kind.name == "TIFF":
        return open_series(file)
    raise ValueError(f"is of the kind {kind.name}{remedy}")
