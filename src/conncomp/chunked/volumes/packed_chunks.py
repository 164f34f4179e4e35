"""What packed chunks of Zarr say of their sizes, which is checked before they are unpacked.

Blosc reads as many bytes as a chunk says that it has, whether they are there or not, and all ways
of packing make room for as many as a chunk says that it holds.

https://github.com/Blosc/c-blosc/blob/main/README_CHUNK_FORMAT.rst, RFC 8878 (Zstandard)
"""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from conncomp.chunked.volumes.volume import Place

# A chunk is not unpacked to more than so many times what its values take, and so many bytes more:
# filters may widen values, and some ways of packing add to them.
WIDENED, ADDED = 16, 1 << 16
HEAD = 18  # bytes that tell sizes
ZSTD = 0xFD2FB528


def check_chunks(array: Any, folder: str, place: Place) -> None:
    """Raise ValueError if a chunk of a part of an array lies about its size.

    Parameters
    ----------
    array : zarr.Array
    folder : str
        Where the chunks lie.
    place : tuple of slice
    """
    metadata = array.metadata
    sharding = metadata.codecs[-1] if metadata.zarr_format == 3 else None
    if not hasattr(sharding, "index_codecs"):
        sharding = None
    packing = _packing(metadata if sharding is None else sharding)
    if packing not in ("blosc", "lz4", "zstd"):
        return
    most = WIDENED * math.prod(array.chunks) * np.dtype(array.dtype).itemsize + ADDED
    stored = array.shards or array.chunks
    indices = (
        range(part.start // n, -(-part.stop // n)) for part, n in zip(place, stored, strict=True)
    )
    for index in product(*indices):
        key = metadata.encode_chunk_key(index)
        try:
            descriptor = os.open(os.path.join(folder, *key.split("/")), os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:  # all of one value
            continue
        try:
            size = os.fstat(descriptor).st_size
            chunks = [(0, size)]
            if sharding is not None:
                count = math.prod(array.shards) // math.prod(array.chunks)
                chunks = list(_chunks_of_shard(descriptor, size, count, sharding))
            for begin, length in chunks:
                try:
                    _check(packing, os.pread(descriptor, HEAD, begin), length, most)
                except struct.error:
                    raise ValueError(f"{key} is cut short, at byte {begin}") from None
                except ValueError as error:
                    raise ValueError(f"{key}, at byte {begin}, {error}") from None
        finally:
            os.close(descriptor)


def _packing(codecs: Any) -> str:
    """Return what chunks are packed by at last."""
    if hasattr(codecs, "compressor"):
        return "" if codecs.compressor is None else str(codecs.compressor.codec_id)
    return str(codecs.codecs[-1].to_dict()["name"]).removeprefix("numcodecs.")


def _chunks_of_shard(
    descriptor: int, size: int, count: int, sharding: Any
) -> Iterator[tuple[int, int]]:
    """Yield where the chunks of a shard begin, and their lengths."""
    names = [str(codec.to_dict()["name"]) for codec in sharding.index_codecs]
    if names not in (["bytes"], ["bytes", "crc32c"]):
        raise ValueError(f"has shards whose index is packed by {', '.join(names)}")
    length = 16 * count + (4 if "crc32c" in names else 0)
    if length > size:
        raise ValueError(f"has a shard of {size} bytes, and its index has {length}")
    begin = size - length if sharding.index_location.value == "end" else 0
    entries = np.frombuffer(os.pread(descriptor, 16 * count, begin), "<u8").reshape(-1, 2)
    for offset, packed in entries.tolist():
        if offset == packed == 2**64 - 1:  # all of one value
            continue
        if offset + packed > size:
            raise ValueError(f"has a shard of {size} bytes, with a chunk to byte {offset + packed}")
        yield offset, packed


def _check(packing: str, head: bytes, length: int, most: int) -> None:
    """Raise ValueError if a chunk of some length says what it cannot hold."""
    head = head[:length]
    holds: int | None
    if packing == "blosc":
        holds, _, packed = struct.unpack_from("<III", head, 4)
        if packed > length or packed < 16:
            raise ValueError(f"says that it is of {packed} bytes, but is of {length}")
    elif packing == "lz4":
        (holds,) = struct.unpack_from("<I", head)
    else:
        holds = _zstd_size(head)
    if holds is not None and holds > most:
        raise ValueError(f"says that it holds {holds} bytes, more than {most}")


def _zstd_size(head: bytes) -> int | None:
    """Return how many bytes a frame of Zstandard says that it holds; None if it does not."""
    magic, descriptor = struct.unpack_from("<IB", head)
    if magic != ZSTD:
        return None  # which is an error of the library's
    is_single = bool(descriptor & 32)
    at = 5 + (not is_single) + (0, 1, 2, 4)[descriptor & 3]
    form = (("B" if is_single else ""), "H", "I", "Q")[descriptor >> 6]
    if not form:
        return None
    (size,) = struct.unpack_from(f"<{form}", head, at)
    return int(size) + (256 if form == "H" else 0)
