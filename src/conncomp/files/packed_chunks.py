"""Check the sizes that packed chunks of Zarr claim, before they are unpacked.

All codecs allocate, and Blosc also reads, as many bytes as a chunk claims. Only the last codec's
header can be checked, so no other one may follow these, except for a checksum. Formats: c-blosc's
README_CHUNK_FORMAT.rst, RFC 8878 (Zstandard).
"""

from __future__ import annotations

import math
import os
import struct
from itertools import product
from stat import S_ISREG
from typing import Any, NamedTuple

import numpy as np

from conncomp.files.access import opened
from conncomp.files.parts import check_place

# A chunk may unpack to `WIDENED` times the size of its values, plus `ADDED` bytes, by filters and
# codecs.
WIDENED, ADDED = 16, 1 << 16
HEAD = 18  # bytes that hold all sizes
ZSTD = 0xFD2FB528
# Zstandard blocks have at least this many bytes on average, except for `MORE_BLOCKS` of them.
SMALLEST_BLOCK, MORE_BLOCKS = 1 << 10, 64

SHARDS, CHECKSUM = "sharding_indexed", "crc32c"
CHECKSUM_BYTES = 4
# Codecs that allocate what chunks claim, or look for parts where chunks say.
TELLING = {"blosc", "lz4", "zstd", SHARDS}
TYPES = ("dtype", "astype", "encode_dtype", "decode_dtype")  # options of filters


class Codec(NamedTuple):
    """One step of packing."""

    name: str  # without the prefix of numcodecs
    config: dict[str, Any]
    is_standard: bool  # whether it is one of Zarr 3 itself


def codecs_of(packing: Any) -> list[Codec]:
    """Return the codecs of a Zarr array, of a shard or its index, in the order of packing."""
    if hasattr(packing, "compressor"):
        steps = [*(packing.filters or ()), packing.compressor]
        configs = [step.get_config() for step in steps if step is not None]
        return [Codec(str(config["id"]), config, False) for config in configs]
    steps = getattr(packing, "codecs", packing)
    made = []
    for told in (step.to_dict() for step in steps):
        full = str(told["name"])
        name = full.removeprefix("numcodecs.")
        made.append(Codec(name, dict(told.get("configuration") or {}), name == full))
    return made


def check_codecs(codecs: list[Codec]) -> None:
    """Raise ValueError unless claimed sizes can be checked, and types are numbers."""
    outer = _without_checksum(codecs)
    for codec in codecs:
        if codec.name in TELLING and codec is not outer[-1]:
            last = codecs[-1].name if codec is not codecs[-1] else CHECKSUM
            told = f"is packed by {codec.name} and then by {last}: sizes cannot be checked"
            raise ValueError(f"{told}; use zstd")
        for key in TYPES:
            if codec.config.get(key) is not None:
                _check_type(codec, key)


def _without_checksum(codecs: list[Codec]) -> list[Codec]:
    """Return codecs without the checksum that Zarr 3 itself appends to a chunk."""
    if codecs and codecs[-1].name == CHECKSUM and codecs[-1].is_standard:
        return codecs[:-1]
    return codecs


def _check_type(codec: Codec, key: str) -> None:
    told = codec.config[key]
    try:
        is_number = np.dtype(told).kind in "biuf"
    except Exception:  # whatever NumPy makes of it
        is_number = False
    if not is_number:
        raise ValueError(f"has a filter {codec.name} whose {key} is {str(told)[:50]!r}, no number")


def check_chunks(array: Any, folder: str, place: tuple[slice, ...]) -> None:
    """Raise ValueError if a chunk in a part of a Zarr array claims a wrong size."""
    metadata = array.metadata
    sharding = metadata.codecs[-1] if metadata.zarr_format == 3 else None
    if not hasattr(sharding, "index_codecs"):
        sharding = None
    codecs = codecs_of(metadata if sharding is None else sharding)
    outer = _without_checksum(codecs)
    ahead = CHECKSUM_BYTES * (len(codecs) - len(outer))
    packing = outer[-1].name if outer else ""
    most = WIDENED * math.prod(array.chunks) * np.dtype(array.dtype).itemsize + ADDED
    stored = array.shards or array.chunks
    pairs = zip(place, stored, strict=True)
    indices = (range(part.start // n, -(-part.stop // n)) for part, n in pairs)
    for index in product(*indices):
        key = metadata.encode_chunk_key(index)
        path = os.path.join(folder, *key.split("/"))
        check_place(folder, path)
        try:
            is_file = S_ISREG(os.stat(path).st_mode)
        except FileNotFoundError:  # all of one value
            continue
        if not is_file:
            raise ValueError(f"{key} is no file")
        if packing not in TELLING and sharding is None:
            continue
        with opened(path) as descriptor:
            size = os.fstat(descriptor).st_size
            chunks = [(0, size)]
            if sharding is not None:
                count = math.prod(array.shards) // math.prod(array.chunks)
                chunks = _chunks_of_shard(descriptor, size, count, sharding)
            for begin, length in chunks:
                try:
                    _check(packing, _Part(descriptor, begin, length - ahead), most)
                except struct.error:
                    raise ValueError(f"{key} is cut short, at byte {begin}") from None
                except ValueError as error:
                    raise ValueError(f"{key}, at byte {begin}, {error}") from None


class _Part(NamedTuple):
    descriptor: int
    begin: int
    length: int

    def read(self, at: int, count: int) -> bytes:
        """Return `count` bytes, or fewer at the end of the part."""
        count = max(0, min(count, self.length - at))
        return os.pread(self.descriptor, count, self.begin + at)


def _chunks_of_shard(descriptor: int, size: int, count: int, shard: Any) -> list[tuple[int, int]]:
    length = 16 * count + CHECKSUM_BYTES * (len(shard.index_codecs) - 1)
    if length > size:
        raise ValueError(f"has a shard of {size} bytes, and its index has {length}")
    begin = size - length if shard.index_location.value == "end" else 0
    entries = np.frombuffer(os.pread(descriptor, 16 * count, begin), "<u8").reshape(-1, 2)
    # Chunks of a single value are not stored.
    chunks = [(at, packed) for at, packed in entries.tolist() if not at == packed == 2**64 - 1]
    end = max(map(sum, chunks), default=0)
    if end > size:
        raise ValueError(f"has a shard of {size} bytes, with a chunk to byte {end}")
    return chunks


def _check(packing: str, part: _Part, most: int) -> None:
    head = part.read(0, HEAD)
    holds: int | None = None
    if packing == "blosc":
        holds, _, packed = struct.unpack_from("<III", head, 4)
        if packed > part.length or packed < 16:
            raise ValueError(f"says that it is of {packed} bytes, but is of {part.length}")
    elif packing == "lz4":
        (holds,) = struct.unpack_from("<I", head)
    elif packing == "zstd":
        holds, begin = _zstd_size(head)
        _check_frame(part, begin, bool(head[4] & 4), most)
    if holds is not None and holds > most:
        raise ValueError(f"says that it holds {holds} bytes, more than {most}")


def _zstd_size(head: bytes) -> tuple[int | None, int]:
    """Return the size that a Zstandard frame claims, or None, and where its blocks begin."""
    magic, descriptor = struct.unpack_from("<IB", head)
    if magic != ZSTD:
        raise ValueError("is no frame of Zstandard")
    is_single = bool(descriptor & 32)
    at = 5 + (not is_single) + (0, 1, 2, 4)[descriptor & 3]
    form = (("B" if is_single else ""), "H", "I", "Q")[descriptor >> 6]
    if not form:
        return None, at
    (size,) = struct.unpack_from(f"<{form}", head, at)
    return int(size) + (256 if form == "H" else 0), at + struct.calcsize(f"<{form}")


def _check_frame(part: _Part, at: int, has_checksum: bool, most: int) -> None:
    """Raise ValueError unless a chunk is one Zstandard frame: a second one has its own size."""
    for _ in range(most // SMALLEST_BLOCK + MORE_BLOCKS):
        header = int.from_bytes(struct.unpack("3s", part.read(at, 3))[0], "little")
        is_last, kind, size = header & 1, header >> 1 & 3, header >> 3
        at += 3 + (1 if kind == 1 else size)
        if is_last:
            break
    else:
        raise ValueError("has too many blocks of Zstandard")
    at += 4 if has_checksum else 0
    if at != part.length:
        raise ValueError(f"has {part.length} bytes, and its frame of Zstandard {at}")
