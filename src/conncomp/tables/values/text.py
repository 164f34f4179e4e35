"""Text and bytes as ends and bytes, which kernels take, and back."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp.tables.values.objects import objects

# What is given to a kernel for a column: words, or ends of bytes and bytes.
Keys = tuple[NDArray[Any], ...]

NO_BYTES = np.zeros(1, np.int64), np.empty(0, np.uint8)


def buffers_of(piece: Any) -> Keys:
    """Return an Arrow array of large strings or binary as ends and bytes."""
    _, ends, data = piece.buffers()
    if ends is None or len(piece) == 0:
        return NO_BYTES
    offsets = np.frombuffer(ends, np.int64)[piece.offset : piece.offset + len(piece) + 1]
    return offsets, np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)


def encode(piece: NDArray[Any]) -> Keys:
    """Return text or bytes as ends and bytes of UTF-8: those of fixed width without NULs behind."""
    if piece.dtype.kind == "O":
        return _encode_objects(piece.tolist())
    if piece.dtype.kind == "U":
        points = np.ascontiguousarray(piece).astype(piece.dtype.newbyteorder("="), copy=False)
        letters = points.view(np.uint32).reshape(len(piece), -1)
        if letters.size and letters.max() < 128:
            rows = letters.astype(np.uint8)
        else:
            piece = _in_utf8(np.char.encode, piece) if letters.size else piece.astype("S1")
            rows = np.ascontiguousarray(piece).view(np.uint8).reshape(len(piece), -1)
    else:
        rows = np.ascontiguousarray(piece).view(np.uint8).reshape(len(piece), -1)
    width = rows.shape[1]
    # The place behind the last byte that is not zero.
    lengths = np.where(rows[:, ::-1].any(axis=1), width - (rows[:, ::-1] != 0).argmax(axis=1), 0)
    ends = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(lengths, out=ends[1:])
    return ends, rows[np.arange(width) < lengths[:, None]]


def _encode_objects(values: list[Any]) -> Keys:
    """Return text or bytes of Python as ends and bytes: all of them, NULs behind, too."""
    if values and isinstance(values[0], str):
        joined = "".join(values)
        if not joined.isascii():
            values = [_in_utf8(str.encode, value) for value in values]
        data = joined.encode() if joined.isascii() else b"".join(values)
    else:
        data = b"".join(values)
    ends = np.zeros(len(values) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, values), np.int64, len(values)), out=ends[1:])
    return ends, np.frombuffer(data, np.uint8)


def _in_utf8(encoded: Callable[[Any, str], Any], text: Any) -> Any:
    """Encode text; an error says what to do about text that is no Unicode."""
    try:
        return encoded(text, "utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"an id is no text of Unicode ({error}); pass bytes, for example of os.fsencode"
        ) from error


# Text and bytes are of fixed width unless that takes more than so many bytes for each they have.
MOST_PADDING = 8


def decode(ends: NDArray[Any], data: NDArray[Any], text: bool) -> NDArray[Any]:
    """Return text or bytes in fixed width; as objects where NULs or long ones forbid it."""
    lengths = np.diff(ends)
    width = int(lengths.max(initial=1)) or 1
    last = data[ends[1:][lengths > 0] - 1]
    if (last == 0).any() or width * len(lengths) > MOST_PADDING * (len(data) + 16 * len(lengths)):
        whole, places = data.tobytes(), pairwise(ends.tolist())
        parts = [whole[begin:end] for begin, end in places]
        return objects([part.decode() for part in parts] if text else parts)
    rows = np.zeros((len(lengths), width), np.uint8)
    rows[np.arange(width) < lengths[:, None]] = data
    if not text:
        return rows.view(f"S{width}").reshape(-1)
    if data.size == 0 or data.max() < 128:
        return rows.astype(np.uint32).view(f"U{width}").reshape(-1)
    return np.char.decode(rows.view(f"S{width}").reshape(-1), "utf-8")
