"""Check the directories of a TIFF file before tifffile opens it."""

from __future__ import annotations

import os
import struct
from typing import IO, Any

import numpy as np

from conncomp._optional import optional

# Bytes that one byte can expand to, for each compression. Others, such as LZMA, have no bound.
EXPANSION = {1: 1, 5: 4096, 8: 1032, 32773: 128, 32946: 1032}
# Extensions of TIFF that tifffile may interpret; others refer to other files or hold XML.
INTERPRETED = frozenset({"shaped", "imagej", "lsm", "stk", "uniform"})
# Tags that point to more directories, and the formats of their values.
SUBDIRECTORIES = (330, 34665, 34853, 40965)
PLACES = {3: "H", 4: "I", 13: "I", 16: "Q", 18: "Q"}
TYPE_SIZES = np.array([0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8])
MOST_TAGS = 4096  # in a directory; to tifffile, more are damage


def open_tiff(file: IO[bytes]) -> Any:
    """Open a file after a check of its directories."""
    tifffile = optional("tifffile")
    check_directories(file, os.fstat(file.fileno()).st_size)
    file.seek(0)
    plain = {f"is_{kind}": False for kind in tifffile.TIFF.FILE_FLAGS if kind not in INTERPRETED}
    return tifffile.TiffFile(file, **plain)


def check_directories(file: IO[bytes], size: int) -> None:
    """Raise unless directories are complete, fit, and form no cycle, so that readers finish."""
    file.seek(0)
    header = file.read(16).ljust(16, b"\0")
    order = "<" if header[:2] == b"II" else ">"
    big = struct.unpack(order + "H", header[2:4])[0] == 43
    number, word = ("Q", "Q") if big else ("H", "I")
    size_of_word = 8 if big else 4
    formats = [f"{order}u2", f"{order}u2", f"{order}u{size_of_word}", f"V{size_of_word}"]
    entry = np.dtype({"names": ["code", "type", "count", "value"], "formats": formats})

    def read_bytes(length: int) -> bytes:
        data = file.read(length)
        if len(data) < length:
            raise ValueError("cut short: a directory of pages goes beyond the file's end")
        return data

    def read(form: str, count: int = 1) -> tuple[int, ...]:
        form = f"{order}{count}{form}"
        return struct.unpack(form, read_bytes(struct.calcsize(form)))

    file.seek(8 if big else 4)
    pending = [(read(word)[0], True)]
    seen: set[int] = set()
    # Directories of sound files do not overlap; several tags may share small values.
    room, room_for_values = size, 2.0 * size
    while pending:
        place, in_chain = pending.pop()
        if place == 0 or (place >= size and not in_chain):
            continue
        if place in seen:
            raise ValueError(f"its directories form a circle: two ways lead to that at {place}")
        seen.add(place)
        file.seek(place)
        (count,) = read(number)
        if count > MOST_TAGS:
            raise ValueError(f"has a directory of {count} tags at {place}; it is damaged")
        tags = np.frombuffer(read_bytes(count * entry.itemsize), entry)
        if in_chain:
            pending.append((read(word)[0], True))
        room -= tags.nbytes + 2
        lengths = TYPE_SIZES[np.where(tags["type"] < len(TYPE_SIZES), tags["type"], 0)]
        lengths = lengths * tags["count"].astype(np.float64)
        room_for_values -= lengths[lengths <= size].sum()
        if room < 0 or room_for_values < 0:
            raise ValueError(f"has directories or tags that overlap, in its {size} bytes")
        for k in np.flatnonzero(np.isin(tags["code"], SUBDIRECTORIES)):
            kind, length, value = int(tags["type"][k]), int(lengths[k]), tags["value"][k].tobytes()
            if kind not in PLACES or length > size:
                continue
            if length > len(value):
                file.seek(struct.unpack(order + word, value)[0])
                places = read(PLACES[kind], int(tags["count"][k]))
            else:
                places = struct.unpack(f"{order}{tags['count'][k]}{PLACES[kind]}", value[:length])
            pending += [(place, False) for place in places]


def bits_of(page: Any, size: int) -> tuple[int, int]:
    """Return the bits per value of a page, and the most bits that `size` bytes can hold."""
    if page.compression not in EXPANSION:
        name = getattr(page.compression, "name", page.compression)
        raise ValueError(f"is compressed by {name}, which is not read; save it with DEFLATE")
    if page.dtype is None:
        raise ValueError(f"holds values of {page.bitspersample} bits, which are not read")
    bits = min(page.bitspersample, 8 * page.dtype.itemsize)
    return bits, 8 * EXPANSION[page.compression] * size
