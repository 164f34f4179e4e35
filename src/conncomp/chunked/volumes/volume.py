"""Volumes in files: arrays that are read by places, and recognised again."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp.files.access import naming
from conncomp.files.scales import Scale, separate_axes

Place = tuple[slice, ...]
Shape = tuple[int, ...]

BLOCK = 1 << 21  # elements of a block, whole chunks that are read and labelled at once
SLAB = 1 << 24  # of what has no chunks of its own, but slices
MOST_BLOCKS = 1 << 20  # each takes some kilobytes, and a header may lie


class Volume:
    """An array in files."""

    path: str  # of the file or folder
    key: str | None  # which array of several it is
    axes: str  # a letter for each, such as "TZYX"; nothing if the files do not tell
    shape: Shape
    dtype: np.dtype[Any]
    chunks: Shape  # the shape of what is stored, and read, at once

    def read(self, place: Place) -> NDArray[Any]:
        """Return a part; called by several threads."""
        raise NotImplementedError

    def identity(self) -> str:
        """Return what is another one when files were changed."""
        return identity_of(self.path, *([] if self.key is None else [self.key]))

    def scale(self) -> Scale | None:
        """Return the scale of the axes, if the files tell it."""
        return None

    def close(self) -> None:
        """Close files that stay open."""


class PartOfVolume(Volume):
    """A volume that reads another one, and leaves that open; subclasses change what is read."""

    def __init__(self, volume: Volume) -> None:
        self.volume, self.path, self.key, self.axes = volume, volume.path, volume.key, volume.axes
        self.shape, self.dtype, self.chunks = volume.shape, volume.dtype, volume.chunks

    def read(self, place: Place) -> NDArray[Any]:
        """Return a part."""
        return self.volume.read(place)

    def identity(self) -> str:
        """Return that of the volume."""
        return self.volume.identity()


def block_shape(volume: Volume) -> Shape:
    """Return the shape of blocks of chunks: cubic, of `BLOCK` elements; small images together."""
    block = list(map(min, volume.chunks, volume.shape))
    separate = separate_axes(volume.axes)
    joined = [k for k in range(len(block)) if k not in separate]
    for chosen in (joined, reversed(separate)):
        growing = list(chosen)
        while growing:
            axis = min(growing, key=lambda k: block[k])
            if block[axis] >= volume.shape[axis] or 2 * math.prod(block) > BLOCK:
                growing.remove(axis)
            else:
                block[axis] = min(2 * block[axis], volume.shape[axis])
    return tuple(block)


def lengths_of(shape: Shape, block: Shape) -> tuple[Shape, ...]:
    """Return the lengths of the blocks of an array along each axis."""
    axes = zip(shape, block, strict=True)
    return tuple(tuple(min(step, n - k) for k in range(0, n, step)) for n, step in axes)


def counts_of(shape: Shape, block: Shape) -> list[int]:
    """Return how many blocks an array has along each axis."""
    return [-(-length // step) for length, step in zip(shape, block, strict=True)]


def check_volume(volume: Volume) -> None:
    """Raise ValueError unless a volume can be labelled, as far as its header tells."""
    path, shape, dtype = volume.path, volume.shape, volume.dtype
    if dtype.kind not in "biuf":
        raise ValueError(f"{path}: holds values of dtype {dtype}, not real numbers")
    if not shape or 0 in shape:
        raise ValueError(f"{path}: has shape {shape}; it must have an element or more")
    if min(volume.chunks) < 1:
        raise ValueError(f"{path}: says that it has chunks of shape {volume.chunks}")
    block = block_shape(volume)
    blocks = math.prod(counts_of(shape, block))
    if blocks > MOST_BLOCKS:
        told = f"{path}: says that it has shape {shape}, in {blocks} blocks of shape {block}; more"
        raise ValueError(f"{told} than {MOST_BLOCKS} are not labelled: rechunk it to larger chunks")


@contextmanager
def reading(path: str, what: str) -> Iterator[None]:
    """Let all errors but those of the system and of memory say what could not be read."""
    with naming(path):
        try:
            yield
        except (ImportError, MemoryError, OSError) as error:
            if isinstance(error, OSError) and (error.errno is None or error.filename is None):
                raise ValueError(f"{what} cannot be read: {error}") from error
            raise
        except Exception as error:
            raise ValueError(f"{what} cannot be read: {error}") from error


def check_part(path: str, place: Place, values: NDArray[Any], dtype: np.dtype[Any]) -> None:
    """Raise ValueError unless what was read has the right shape and dtype."""
    begins = tuple(part.start for part in place)
    wanted = tuple(part.stop - part.start for part in place)
    if values.shape != wanted or values.dtype != dtype:
        told = f"{path}: what was read at {begins} has shape {values.shape}"
        raise ValueError(f"{told} and dtype {values.dtype}, not {wanted} and {dtype}")


def identity_of(path: str, *facts: Any) -> str:
    """Return what names, sizes and times of a file, or a folder's files, make with facts."""
    folder, digest = Path(path), sha256()
    for name in sorted(folder.rglob("*")) if folder.is_dir() else [folder]:
        if name.is_file():
            state = name.stat()
            part = [str(name.relative_to(path)), state.st_size, state.st_mtime_ns]
            digest.update(json.dumps(part).encode())
    for fact in facts:
        digest.update(json.dumps([fact]).encode())
    return digest.hexdigest()


def inner_path(path: str, key: str) -> str:
    """Return the name of a folder within another one; raise ValueError if it lies outside."""
    parts = key.strip("/").split("/")
    if "" in parts or ".." in parts or "." in parts or os.path.isabs(os.path.join(*parts)):
        raise ValueError(f"{key!r} is no path within {path}")
    return os.path.join(path, *parts)
