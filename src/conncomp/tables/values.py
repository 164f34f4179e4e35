"""Convert ids that are Python objects to arrays that hold them exactly.

Values of one kind compare by value, as in Python. Values of two kinds raise an error, except
integers among floats or decimals, which must be exact.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from itertools import pairwise
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import shown
from conncomp._optional import optional

# The types of each kind of objects. The first kind with a base class of a type is its kind.
KINDS: dict[str, tuple[type, ...]] = {
    "datetime": (np.datetime64, dt.datetime),
    "duration": (np.timedelta64, dt.timedelta),
    "date": (dt.date,),
    "time": (dt.time,),
    "boolean": (bool, np.bool_),
    "integer": (int, np.integer),
    "float": (float, np.floating),
    "decimal": (Decimal,),
    "text": (str,),
    "bytes": (bytes, bytearray),
    "UUID": (UUID,),
}
REMEDY = "convert the ids to strings or decimals"
NULLS = ("NoneType", "NAType", "NaTType")  # None, and those of pandas
MAY_BE_NAN = (float, np.floating, Decimal, np.datetime64, np.timedelta64)
UUID_NAME = "extension<arrow.uuid>"  # as Arrow calls the type
UUID_TYPE = np.dtype("V16")  # marks UUIDs; no user's column has it
DTYPES: dict[str, Any] = {"text": np.dtype("U"), "bytes": np.dtype("S"), "UUID": UUID_TYPE}


# An array of NumPy, with text and bytes as Python objects, or of Arrow; the mask of its nulls, and
# the type of its ids, where the array does not have these.
Held = tuple[Any, NDArray[np.bool_] | None, np.dtype[Any] | None]


def held(values: list[Any], name: str) -> Held:
    """Return objects as an array; raise if none holds them exactly."""
    kinds = set(map(type, values))
    if kinds == {float}:  # whose NaNs any column knows
        return np.array(values), None, None
    missing = np.zeros(len(values), bool)
    if any(kind.__name__ in NULLS or issubclass(kind, MAY_BE_NAN) for kind in kinds):
        missing = np.fromiter(map(_is_null, values), bool, len(values))
    if missing.all():
        return optional("pyarrow").nulls(len(values)), None, None
    rows = np.flatnonzero(~missing).tolist()
    present = [values[row] for row in rows]
    kind = _kind_of(present, rows, name)
    if kind in ARROW:
        pa = optional("pyarrow")
        places = np.cumsum(~missing) - 1
        return ARROW[kind](pa, present).take(pa.array(places, mask=missing)), None, None
    made = NUMPY[kind](present, rows, name)
    spread = np.zeros(len(values), made.dtype)
    spread[~missing] = made
    return spread, missing, DTYPES.get(kind)


def _is_null(value: Any) -> bool:
    kind = type(value)
    if kind.__name__ in NULLS:
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    return issubclass(kind, MAY_BE_NAN) and bool(value != value)


def _kind_of(values: list[Any], rows: list[int], name: str) -> str:
    of_type = {
        type_: next((kind for kind, bases in KINDS.items() if issubclass(type_, bases)), "")
        for type_ in set(map(type, values))
    }
    kinds = set(of_type.values())
    if kinds in ({"integer", "float"}, {"integer", "decimal"}):
        kinds.remove("integer")
    if len(kinds) == 1 and not kinds & {"", "datetime", "time"}:
        return kinds.pop()
    first: dict[str, str] = {}
    for row, value in zip(rows, values, strict=True):
        if not (kind := of_type[type(value)]):
            raise TypeError(
                f"{name} holds {shown(value)} of type {type(value).__name__} at row {row}, which "
                "cannot be compared as an id; use numbers, text, bytes, UUIDs, decimals or dates"
            )
        if getattr(value, "tzinfo", None) is not None:
            kind += " with a time zone"
        if kind not in first:
            first[kind] = f"{kind} ({shown(value)}) at row {row}"
    if told := first.get("time with a time zone"):
        raise TypeError(f"{name} holds a {told}; convert it to a time of UTC without one")
    if len(first) > 1:
        types = " and ".join(first.values())
        raise TypeError(f"{name} is no column of values of one type: it has {types}; convert them")
    return next(iter(first))


def _integers(values: list[Any], rows: list[int], name: str) -> NDArray[Any]:
    if len(set(map(type, values))) == 1 and isinstance(values[0], np.integer):
        return np.array(values)
    plain = list(map(int, values))
    low, high = min(plain), max(plain)
    if low < -(2**63) or high >= 2**64:
        far = low if low < -(2**63) else high
        row = rows[plain.index(far)]
        raise ValueError(f"{name} holds {shown(far)} at row {row}, beyond 64 bits; {REMEDY}")
    if low < 0 and high >= 2**63:
        mix = "mixes negative integers with values of 2**63 or more"
        raise ValueError(f"{name} {mix}, which no 64-bit integer type can hold; {REMEDY}")
    return np.array(plain, np.int64 if high < 2**63 else np.uint64)


def _floats(values: list[Any], rows: list[int], name: str) -> NDArray[Any]:
    if all(isinstance(value, (float, np.floating)) for value in values):
        return np.array(values)
    for row, value in zip(rows, values, strict=True):
        if abs(value) > 2**53 and isinstance(value, (int, np.integer)):
            what = f"{name} holds {shown(value)} at row {row} among floats, which may not hold it"
            raise ValueError(f"{what}; {REMEDY}")
    return np.array(list(map(float, values)))


def _times(values: list[Any], rows: list[int], name: str) -> NDArray[Any]:
    """Return datetimes, or durations, of NumPy, pandas and Python, each of its own unit."""
    scalars = [_scalar(value, name) for value in values]
    made = np.array(scalars, np.result_type(*{scalar.dtype for scalar in scalars}))
    if len({scalar.dtype for scalar in scalars}) > 1 and any(
        new.astype(old.dtype) != old for new, old in zip(made, scalars, strict=True)
    ):
        raise ValueError(f"{name} has times of several units, which {made.dtype} cannot hold")
    return made


def _scalar(value: Any, name: str) -> Any:
    if isinstance(value, np.generic):
        return value
    for convert in ("to_datetime64", "to_timedelta64"):  # of pandas, with nanoseconds
        if hasattr(value, convert):
            return getattr(value, convert)()
    if isinstance(value, dt.datetime):
        return np.datetime64(value, "us")
    count = value // dt.timedelta(microseconds=1)
    if abs(count) >= 2**63:
        raise ValueError(f"{name} holds {value}, which does not fit 64 bits of microseconds")
    return np.timedelta64(count, "us")


def _zoned(pa: Any, values: list[Any]) -> Any:
    unit = "ns" if any(getattr(value, "nanosecond", 0) for value in values) else "us"
    return pa.array(values, pa.timestamp(unit, pa.array(values[:1]).type.tz))


def objects(values: list[Any]) -> NDArray[Any]:
    """Return an array of Python objects."""
    made = np.empty(len(values), object)
    made[:] = values
    return made


NUMPY: dict[str, Any] = {
    **dict.fromkeys(("datetime", "duration"), _times),
    "date": lambda values, rows, name: np.array(values, "M8[D]"),
    "boolean": lambda values, rows, name: np.array(values, bool),
    "integer": _integers,
    "float": _floats,
    **dict.fromkeys(("text", "bytes"), lambda values, rows, name: objects(values)),
    "UUID": lambda values, rows, name: np.frombuffer(b"".join(v.bytes for v in values), UUID_TYPE),
}
ARROW: dict[str, Any] = {
    "datetime with a time zone": _zoned,
    "time": lambda pa, values: pa.array(values, pa.time64("us")),
    "decimal": lambda pa, values: pa.array([Decimal(f"{value}") for value in values]),
}


# The keys of a column: words, or the ends of byte strings and their bytes.
Keys = tuple[NDArray[Any], ...]

NO_BYTES = np.zeros(1, np.int64), np.empty(0, np.uint8)


def buffers_of(piece: Any) -> Keys:
    """Return an Arrow array of large strings or large binary as keys."""
    _, ends, data = piece.buffers()
    if ends is None or len(piece) == 0:
        return NO_BYTES
    offsets = np.frombuffer(ends, np.int64)[piece.offset : piece.offset + len(piece) + 1]
    return offsets, np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)


def encode(piece: NDArray[Any]) -> Keys:
    """Return text or bytes as keys in UTF-8; fixed width loses the NULs at the end."""
    kind, width = piece.dtype.kind, piece.dtype.itemsize
    if kind == "O" or not piece.nbytes:
        return _encode_objects(piece.tolist())
    rows = np.ascontiguousarray(piece).view(np.uint8).reshape(len(piece), width)
    if kind == "U":
        letters = rows.view(f"{piece.dtype.byteorder}u4")
        if letters.max() >= 128:
            return _encode_objects(piece.tolist())
        rows, width = letters.astype(np.uint8), letters.shape[1]
    # The end of the last byte that is not zero.
    lengths = np.where(rows[:, ::-1].any(axis=1), width - (rows[:, ::-1] != 0).argmax(axis=1), 0)
    return _ends(lengths), rows[np.arange(width) < lengths[:, None]]


def _encode_objects(values: list[Any]) -> Keys:
    """Return text or bytes of Python as keys, with the NULs at the end."""
    if values and isinstance(values[0], str):
        joined = "".join(values)
        if not joined.isascii():
            values = list(map(_in_utf8, values))
        data = joined.encode() if joined.isascii() else b"".join(values)
    else:
        data = b"".join(values)
    lengths = np.fromiter(map(len, values), np.int64, len(values))
    return _ends(lengths), np.frombuffer(data, np.uint8)


def _ends(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths)])


def _in_utf8(text: str) -> bytes:
    """Encode text, or raise an error with a remedy."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"an id is no Unicode ({error}); pass bytes, as of os.fsencode") from error


# Results have fixed width unless that takes more than 8 times the bytes of the values.
MOST_PADDING = 8


def decode(ends: NDArray[Any], data: NDArray[Any], text: bool) -> NDArray[Any]:
    """Return text or bytes in fixed width, or as objects if NULs or long values forbid it."""
    lengths = np.diff(ends)
    width = int(lengths.max(initial=1))
    last = data[ends[1:][lengths > 0] - 1]
    if (last == 0).any() or width * len(lengths) > MOST_PADDING * (len(data) + 16 * len(lengths)):
        whole = data.tobytes()
        parts = [whole[begin:end] for begin, end in pairwise(ends.tolist())]
        return objects([part.decode() for part in parts] if text else parts)
    rows = np.zeros((len(lengths), width), np.uint8)
    rows[np.arange(width) < lengths[:, None]] = data
    if not text:
        return rows.view(f"S{width}").reshape(-1)
    if data.size == 0 or data.max() < 128:
        return rows.astype(np.uint32).view(f"U{width}").reshape(-1)
    return np.char.decode(rows.view(f"S{width}").reshape(-1), "utf-8")
