"""Read pictures by those readers of Pillow that start no other program.

Plain PNG (grey of 8 or 16 bits, and 8-bit colours) is read here, in a third to half of Pillow's
time: ISA-L, or else zlib, undoes DEFLATE, and native code the filters of lines. Pillow reads all
other files, and damaged ones, and raises the errors.
"""

from __future__ import annotations

import os
import sys
import zlib
from contextlib import suppress
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from conncomp._core import native
from conncomp._optional import optional
from conncomp.files.access import Bounded
from conncomp.files.scales import Content

# The most values that one byte of a file can hold: a forged size must not allocate more. PNG has up
# to 8 pixels per byte before DEFLATE; JPEG needs a bit per 64 pixels.
VALUES_PER_BYTE = {"Png": 8 * 1032, "Jpeg": 1032, "Gif": 4096, "Bmp": 1032, "WebP": 8192, "Ppm": 8}
SMALL_PICTURE = 1 << 26  # values that are always decoded


def read_picture(file: IO[bytes], reader: str) -> Content:
    """Return a picture, or all its frames in one array."""
    # `PIL.Image.open` would try all formats, PostScript too, and has one limit of pixels for all.
    plugin = optional(f"PIL.{reader}ImagePlugin")
    size = os.fstat(file.fileno()).st_size
    most_values = max(SMALL_PICTURE, VALUES_PER_BYTE[reader] * size)
    if reader == "Png":
        plain = read_plain_png(file, size, most_values)
        if plain is not None:
            return Content(plain, 2 if plain.ndim == 3 else None)
    with getattr(plugin, f"{reader}ImageFile")(Bounded(file.fileno())) as picture:
        frames = getattr(picture, "n_frames", 1)
        values = frames * picture.width * picture.height * len(picture.getbands())
        if values > most_values:
            said = f"{frames} frames of {picture.width} x {picture.height} pixels"
            raise ValueError(f"says that it has {said}, but is of {size} bytes")
        planes = []
        for frame in range(frames):
            if frame:
                picture.seek(frame)
            plane = _unfold_palette(picture)
            shared = frames > 1 and not plane.flags.writeable  # with the next frame
            planes.append(plane.copy() if shared else plane)
    if len({plane.shape for plane in planes}) > 1:  # some frames are grey, others are not
        planes = [_as_colour(plane) for plane in planes]
    array = planes[0] if frames == 1 else np.stack(planes)
    is_colour = planes[0].ndim == 3
    axes = "TYX" + "S" * is_colour if frames > 1 else ""
    return Content(array, array.ndim - 1 if is_colour else None, axes)


def _unfold_palette(picture: Any) -> NDArray[Any]:
    """Return the current frame, with palettes as colours, or as grey if all colours are grey."""
    if picture.mode not in ("P", "PA") and picture.format != "GIF":
        return _values_of(picture)
    colours = np.array(picture.convert("RGBA"))
    if (colours[..., 3] != 0xFF).any():
        return colours
    if (colours[..., :1] == colours[..., 1:3]).all():
        return colours[..., 0].copy()
    return colours[..., :3].copy()


def _values_of(picture: Any) -> NDArray[Any]:
    """Return the values of a frame, which Pillow copies three times.

    If pyarrow is in use, grey frames come through Arrow, read-only and without a copy.
    """
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and picture.mode == "L" and hasattr(picture, "__arrow_c_array__"):
        picture.load()
        with suppress(ValueError):
            values: NDArray[Any] = arrow.array(picture).to_numpy()
            return values.reshape(picture.height, picture.width)
    return np.array(picture)


def _as_colour(plane: NDArray[Any]) -> NDArray[Any]:
    if plane.ndim == 2:
        plane = np.repeat(plane[..., None], 3, axis=2)
    if plane.shape[2] == 3:
        plane = np.concatenate([plane, np.full_like(plane[..., :1], 0xFF)], axis=2)
    return plane


SIGNATURE = b"\x89PNG\r\n\x1a\n"
HEADER = 13  # bytes of IHDR
# Values per pixel, by colour type and bits per value.
PLAIN = {(0, 8): 1, (0, 16): 1, (2, 8): 3, (6, 8): 4}
# Chunks that change no value. Pillow reads files with others: palettes, transparency, animations.
UNCHANGING = frozenset(b"bKGD cHRM eXIf gAMA hIST iCCP iTXt pHYs sBIT sRGB tEXt tIME zTXt".split())


def _unpacker() -> Any:
    try:
        from isal import isal_zlib
    except ImportError:
        return zlib
    return isal_zlib


def read_plain_png(file: IO[bytes], size: int, most_values: int) -> NDArray[Any] | None:
    """Return a plain picture of at most `most_values`; None if Pillow must read it."""
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
    """Return the header and the packed values; None if another chunk may change these."""
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
