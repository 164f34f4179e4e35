"""Pictures of PNG that are stored plainly: grey ones of 8 or 16 bits, and 8-bit colours.

DEFLATE is undone by ISA-L, or by Python's zlib where that is not installed, and the filters of
lines by native code: together a third, or half, of what Pillow takes. All other pictures, and all
that is damaged, are Pillow's, and so are errors.
"""

from __future__ import annotations

import zlib
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from conncomp._core import native

SIGNATURE = b"\x89PNG\r\n\x1a\n"
HEADER = 13  # bytes of IHDR
# Values of a pixel, by the kind of its colours and the bits of a value.
PLAIN = {(0, 8): 1, (0, 16): 1, (2, 8): 3, (6, 8): 4}
# What changes no value. Of other chunks, as palettes, transparency and animations, Pillow knows.
UNCHANGING = frozenset(b"bKGD cHRM eXIf gAMA hIST iCCP iTXt pHYs sBIT sRGB tEXt tIME zTXt".split())


def _unpacker() -> Any:
    """Return what undoes DEFLATE, a module as zlib is."""
    try:
        from isal import isal_zlib
    except ImportError:
        return zlib
    return isal_zlib


def read_plain_png(file: IO[bytes], size: int, most_values: int) -> NDArray[Any] | None:
    """Return a picture of so many values or fewer; None if it is not stored plainly."""
    chunks = _chunks(memoryview(file.read(size)))
    if chunks is None:
        return None
    header, packed = chunks
    width, height = (int.from_bytes(header[k : k + 4], "big") for k in (0, 4))
    bits, colours, *rules = header[8:]
    channels = PLAIN.get((colours, bits), 0)
    if rules != [0, 0, 0] or not 0 < width * height * channels <= most_values:
        return None
    step = channels * bits // 8
    count = height * (width * step + 1)
    unpacking = _unpacker().decompressobj()
    try:
        lines = unpacking.decompress(b"".join(packed), count + 1)
    except Exception:  # of whichever module
        return None
    if len(lines) != count or not unpacking.eof:
        return None
    image = np.empty(height * width * step, np.uint8)
    if not native.write_png_lines(np.frombuffer(lines, np.uint8), height, step, image):
        return None
    if bits == 16:
        return image.view(">u2").astype(np.uint16).reshape(height, width)
    return image.reshape((height, width) if channels == 1 else (height, width, channels))


def _chunks(content: memoryview) -> tuple[bytes, list[memoryview]] | None:
    """Return the header and the parts of the values; None if anything else may change these."""
    header, packed, begin = None, [], len(SIGNATURE)
    while begin + 12 <= len(content):
        end = begin + 8 + int.from_bytes(content[begin : begin + 4], "big")
        kind = bytes(content[begin + 4 : begin + 8])
        if end + 4 > len(content) or (header is None) != (kind == b"IHDR"):
            return None
        body = content[begin + 8 : end]
        if kind == b"IDAT":
            packed.append(body)
        elif zlib.crc32(content[begin + 4 : end]) != int.from_bytes(content[end : end + 4], "big"):
            return None
        elif kind == b"IHDR":
            header = bytes(body)
        elif kind == b"IEND":
            return (header or b"", packed) if header and len(header) == HEADER and packed else None
        elif kind not in UNCHANGING:
            return None
        begin = end + 4
    return None
