"""Arrays of Zarr, of versions 2 and 3, by zarr, which is given only what it unpacks safely."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._optional import optional
from conncomp.chunked.volumes.volume import (
    MOST_BLOCKS,
    Place,
    Volume,
    check_part,
    identity_of,
    inner_path,
    reading,
)
from conncomp.files import packed_chunks
from conncomp.files.access import naming
from conncomp.files.parts import check_place
from conncomp.files.scales import Scale, letters_of

# Codecs that may unpack values. Others may be programs, as pickles are.
CODECS = {
    *("adler32", "astype", "bitround", "blosc", "bytes", "bz2", "crc32", "crc32c", "delta"),
    *("endian", "fixedscaleoffset", "fletcher32", "gzip", "lz4", "lzma", "packbits", "quantize"),
    *("sharding_indexed", "shuffle", "transpose", "zlib", "zstd"),
}
ARRAY_DIMENSIONS = "_ARRAY_DIMENSIONS"  # of xarray, in version 2 of Zarr
METADATA = ("zarr.json", ".zarray", ".zgroup")
SHOWN = 8  # names in a group, by an error


def is_zarr(path: str) -> bool:
    """Say whether a folder is an array or a group of Zarr."""
    return any(os.path.isfile(os.path.join(path, name)) for name in METADATA)


@dataclass
class ZarrVolume(Volume):
    """An array of Zarr, or one channel of it."""

    path: str  # of the folder that was given
    key: str | None  # of the array in it
    array: Any
    place: str  # the array's folder
    axes: str = ""
    # an axis, which stays of length 1, and which place along it is taken
    channel: tuple[int, int] | None = None
    multiscale: Any = None  # of the image of OME-Zarr that the array belongs to
    level: int = 0  # which resolution of the image it is

    def __post_init__(self) -> None:
        self.shape = self.one_channel(tuple(self.array.shape))
        self.dtype = np.dtype(self.array.dtype)
        # What can be written at once: shards, where there are any.
        self.chunks = self.one_channel(tuple(self.array.shards or self.array.chunks))

    def one_channel(self, lengths: tuple[int, ...]) -> tuple[int, ...]:
        """Return the lengths of axes, 1 for that of the channels if one is chosen."""
        if self.channel is None:
            return lengths
        axis = self.channel[0]
        return (*lengths[:axis], 1, *lengths[axis + 1 :])

    def read(self, place: Place) -> NDArray[Any]:
        """Return a part; an error names the volume and the place."""
        stored = list(place)
        if self.channel is not None:
            axis, k = self.channel
            stored[axis] = slice(k, k + 1)
        begins = tuple(part.start for part in stored)
        with reading(self.path, f"the chunk at {begins}"):
            packed_chunks.check_chunks(self.array, self.place, tuple(stored))
            values = np.asarray(self.array[tuple(stored)])
        check_part(self.path, place, values, self.dtype)
        return values

    def scale(self) -> Scale | None:
        """Return the scale that an image of OME-Zarr tells."""
        return None if self.multiscale is None else self.multiscale.scale(self.level)

    def identity(self) -> str:
        """Return what names, sizes and times of all files of the array make."""
        return identity_of(self.place, self.key, self.channel)


def open_node(path: str, key: str | None) -> tuple[Any, str]:
    """Open an array or a group, to be read; return it, and its folder."""
    zarr = optional("zarr")
    with naming(path):
        place = path if key is None else inner_path(path, key)
        if not is_zarr(place):
            known = listed_names(zarr.open(path, mode="r"))
            raise ValueError(f"holds no array key={key!r}; choose one of it by key= ({known})")
        check_metadata(path, place)
        return zarr.open(place, mode="r"), place


def check_metadata(path: str, place: str) -> None:
    """Raise ValueError if what tells of an array in a folder is linked."""
    for name in (*METADATA, ".zattrs", ".zmetadata"):
        check_place(path, os.path.join(place, name))


def axes_of_array(array: Any) -> str:
    """Return a letter for each axis of an array that names its dimensions; nothing of others."""
    names = getattr(array.metadata, "dimension_names", None) or array.attrs.get(ARRAY_DIMENSIONS)
    if not isinstance(names, list | tuple) or len(names) != array.ndim:
        return ""
    return letters_of([name if isinstance(name, str) else "" for name in names])


def listed_names(group: Any) -> str:
    """Return the first names in a group, for an error."""
    names = [] if hasattr(group, "shape") else sorted(str(name) for name in list(group))
    return ", ".join(map(repr, names[:SHOWN])) or "there is none"


def check_array(path: str, array: Any) -> None:
    """Raise ValueError unless an array can be read, and none of it is unpacked by a program."""
    metadata = array.metadata
    with naming(path):
        outer = packed_chunks.codecs_of(metadata)
        _check_codecs(outer)
        if type(metadata.chunk_grid).__name__ != "RegularChunkGrid":
            raise ValueError("has chunks of several sizes, which are not read; rechunk it")
        if outer[-1:] and outer[-1].name == packed_chunks.SHARDS:
            _check_shards(metadata.codecs[-1])
            inner = math.prod(array.shards) // max(1, math.prod(array.chunks))
            if inner > MOST_BLOCKS:
                raise ValueError(f"says that it has shards of {inner} chunks; rechunk it")


def _check_codecs(codecs: list[packed_chunks.Codec]) -> None:
    for codec in codecs:
        if codec.name not in CODECS:
            raise ValueError(f"is packed by {codec.name}, which is not read; pack it by zstd")
    packed_chunks.check_codecs(codecs)


def _check_shards(sharding: Any) -> None:
    inner, index = packed_chunks.codecs_of(sharding), packed_chunks.codecs_of(sharding.index_codecs)
    if any(codec.name == packed_chunks.SHARDS for codec in inner):
        raise ValueError("has shards in shards, which are not read; rechunk it")
    _check_codecs(inner)
    names = [codec.name for codec in index]
    if names not in (["bytes"], ["bytes", packed_chunks.CHECKSUM]):
        raise ValueError(f"has shards whose index is packed by {', '.join(names)}")
