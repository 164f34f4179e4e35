"""Ids of any type that can be equal, as keys of words or bytes, and back.

Types of one family compare: integers of any width, strings of any layout. `Ids` converts columns of
one family, and remembers their types for the column of distinct ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from conncomp.tables.columns import Column, arrow, is_array
from conncomp.tables.values import (
    NO_BYTES,
    UUID_NAME,
    UUID_TYPE,
    Keys,
    buffers_of,
    decode,
    encode,
    objects,
)

Words = NDArray[np.uint64]

UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}  # nanoseconds of each


class Family(NamedTuple):
    """The common ground of types whose values are compared."""

    name: str
    detail: Any = None  # such as the time zone of timestamps
    words: int = 1  # in a key; 0 for bytes


FAMILIES = {
    **{"i": Family("integer"), "u": Family("integer"), "b": Family("boolean")},
    **{"f": Family("floating"), "U": Family("string", words=0), "S": Family("binary", words=0)},
}


def family_of(kind: Any, column: Column) -> Family:
    """Return the family of a dtype or of a type of Arrow."""
    found = _family_of_dtype(kind) if isinstance(kind, np.dtype) else _family_of_arrow(kind)
    if found is None:
        raise TypeError(
            f"{column.name} is of type {kind}, whose values cannot be compared as ids; use numbers "
            "of at most 64 bits, text, binary, dates, times, decimals, UUIDs, or structs of these"
        )
    return found


def _family_of_dtype(dtype: np.dtype[Any]) -> Family | None:
    if dtype.kind in "mM":
        if dtype == np.dtype("M8[D]"):
            return Family("date")
        name, unit = "timestamp" if dtype.kind == "M" else "duration", np.datetime_data(dtype)[0]
        return Family(name, unit if _is_apart(dtype) else "None" if dtype.kind == "M" else None)
    if dtype == UUID_TYPE:
        return Family(UUID_NAME, "binary", 2)
    return None if dtype.kind == "f" and dtype.itemsize > 8 else FAMILIES.get(dtype.kind)


def _is_apart(dtype: np.dtype[Any]) -> bool:
    """Whether a unit is no whole nanoseconds, so that its times compare with that unit only."""
    unit = np.datetime_data(dtype)[0]
    return unit in ("ps", "fs", "as", "generic") or (dtype.kind == "m" and unit in "YM")


def _family_of_arrow(kind: Any) -> Family | None:
    pa = arrow()
    types = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        inner = _family_of_arrow(kind.storage_type)
        return None if inner is None else Family(f"{kind}", inner.name, inner.words)
    if types.is_null(kind):
        return Family("null")
    if types.is_timestamp(kind):
        return Family("timestamp", str(kind.tz))
    if types.is_decimal(kind):  # Arrow rescales by 38 digits at most, and crashes beyond
        near = abs(kind.scale - DECIMAL_SCALE) <= MOST_DIGITS
        return Family("decimal", words=2) if near else None
    if types.is_fixed_size_binary(kind):
        return Family("binary", 16, 2) if kind.byte_width == 16 else Family("binary", words=0)
    for name in ("integer", "boolean", "floating", "date", "time", "duration"):
        if getattr(types, f"is_{name}")(kind):
            return Family(name)
    for name in ("string", "binary"):
        if str(kind) in (name, f"large_{name}", f"{name}_view"):
            return Family(name, words=0)
    return None


class Ids:
    """Converts ids of one family to keys, and keys to ids."""

    def __init__(self, family: Family) -> None:
        self.family = family
        self.types: list[Any] = []  # the columns' so far
        self.negative = self.large = False  # whether integers are, noted once signs are mixed

    @property
    def mixed(self) -> bool:
        """Whether integers with a sign and without one have come."""
        return self.family.name == "integer" and len(set(map(_is_signed, self.types))) > 1

    def admit(self, columns: Sequence[Column], interned: Any) -> None:
        """Accept the types of columns, or raise; `interned` returns the keys so far."""
        were_mixed = self.mixed
        for column in columns:
            kind = column.type
            if kind not in self.types and str(kind) != "null":
                self._refuse_others(column, kind)
                self.types.append(kind)
        if self.mixed and not were_mixed:
            words, first = interned(), self.types[0]
            self._note_signs(words.view(np.int64 if _is_signed(first) else np.uint64), first)

    def _refuse_others(self, column: Column, kind: Any) -> None:
        family = family_of(kind, column)
        if family[:2] == self.family[:2]:
            return
        before = self.types[0] if self.types else self.family.name
        remedy = "cast one to the type of the other first"
        if {family.name, self.family.name} == {"timestamp"}:
            remedy = "their time zones or units differ; " + remedy
        raise TypeError(f"{column.name} has ids of {kind}, but there are ids of {before}; {remedy}")

    def _note_signs(self, values: NDArray[Any], kind: Any) -> None:
        if not len(values):
            return
        if _is_signed(kind):
            self.negative |= bool(values.min() < 0)
        else:
            self.large |= bool(values.max() > np.iinfo(np.int64).max)
        if self.negative and self.large:
            raise ValueError(
                f"ids of {' and '.join(map(str, self.types))} mix negative values with values of "
                "2**63 or more, which no 64-bit integer type can hold; cast to strings or decimals"
            )

    def keys(self, piece: Any, kind: Any) -> Keys:
        """Return the keys of a piece of a column that was admitted, without nulls."""
        if is_array(piece):
            return self._keys_of_array(piece)
        if str(kind) == "null":  # nothing is left without nulls
            return (np.empty((0, self.family.words), np.uint64),) if self.family.words else NO_BYTES
        return self._keys_of_arrow(piece, kind)

    def _keys_of_array(self, piece: Any) -> Keys:
        kind, name = piece.dtype, self.family.name
        if self.family.words == 0:
            return encode(piece)
        if name == "integer":
            if self.mixed:
                self._note_signs(piece, kind)
            wide = piece.astype(np.int64 if kind.kind == "i" else np.uint64, copy=False)
        elif name == "floating":
            wide = piece.astype(np.float64) + 0.0  # -0 becomes 0
        elif name in ("timestamp", "duration"):
            wide = self._in_nanoseconds(piece, kind)
        elif kind == UUID_TYPE:
            return (np.ascontiguousarray(piece).view(np.uint64).reshape(-1, 2),)
        else:  # dates and booleans
            wide = piece.astype(np.int64)
        return (one_word(wide),)

    def _in_nanoseconds(self, piece: NDArray[Any], kind: np.dtype[Any]) -> NDArray[Any]:
        """Return times in nanoseconds, by which most units are compared, or raise."""
        plain = piece.astype(kind.newbyteorder("="), copy=False)
        unit = np.datetime_data(kind)[0]
        if _is_apart(kind):
            return plain.astype(f"{kind.kind}8[{unit}]" if unit != "generic" else kind).view("i8")
        unit = unit if unit in UNITS else "s"
        whole = plain.astype(f"{kind.kind}8[{unit}]")
        if (whole.astype(plain.dtype) != plain).any():  # as NumPy wraps around
            raise ValueError(TOO_LONG.format(kind))
        return scaled(whole.view(np.int64), UNITS[unit], kind)

    def _keys_of_arrow(self, piece: Any, kind: Any) -> Keys:
        pa, name = arrow(), self.family.name
        if isinstance(piece, pa.ExtensionArray):
            plain_type = kind.storage_type
            return Ids(_family_of_arrow(plain_type) or self.family).keys(piece.storage, plain_type)
        if self.family.words != 1:
            wide = self._wide_type()
            try:
                piece = piece.cast(wide)
            except pa.ArrowInvalid as error:  # decimals
                told = f"ids of {kind} do not fit {wide} ({error}); cast them to strings"
                raise ValueError(told) from error
            return (two_words(piece),) if self.family.words else buffers_of(piece)
        if name in ("integer", "floating", "boolean"):
            return self._keys_of_array(piece.to_numpy(zero_copy_only=name != "boolean"))
        if name == "date":
            piece = piece.cast(pa.date32())
        whole = pa.int32() if piece.type.bit_width == 32 else pa.int64()
        plain = piece.view(whole).to_numpy().astype(np.int64, copy=False)
        return (one_word(scaled(plain, UNITS[getattr(kind, "unit", "ns")], kind)),)

    def _wide_type(self) -> Any:
        """Return the Arrow type that holds all values of the family."""
        pa = arrow()
        wide = {"string": pa.large_string(), "decimal": pa.decimal128(38, DECIMAL_SCALE)}
        return wide.get(self.family.name, pa.binary(16) if self.family.words else pa.large_binary())

    def values(self, keys: Keys, as_arrow: bool) -> Any:
        """Return the ids of keys, as an array of NumPy or of Arrow."""
        if not self.types:  # no column has come
            none = np.empty(0, np.int64)
            return arrow().array(none) if as_arrow else none
        as_arrow |= any(not isinstance(kind, np.dtype) for kind in self.types)
        return self._arrow_values(keys) if as_arrow else self._numpy_values(keys)

    def _numpy_values(self, keys: Keys) -> NDArray[Any]:
        name = self.family.name
        if self.family.words == 0:
            return decode(keys[0], keys[1], name == "string")
        if name == UUID_NAME:
            return objects([UUID(bytes=row.tobytes()) for row in keys[0]])
        words = keys[0].reshape(-1)
        if name == "integer":
            return self._integers(words)
        if name in ("boolean", "date"):
            return words.astype(np.bool_) if name == "boolean" else words.view("M8[D]")
        wanted = np.result_type(*self.types).newbyteorder("=")
        if name == "floating":
            return words.view(np.float64).astype(wanted, copy=False)
        unit = np.datetime_data(wanted)[0] if _is_apart(wanted) else "ns"
        exact = f"{wanted.kind}8" if unit == "generic" else f"{wanted.kind}8[{unit}]"
        return words.view(exact).astype(wanted)

    def _integers(self, words: Words) -> NDArray[Any]:
        """Return integers in the smallest type that holds all types so far."""
        dtypes = [k if isinstance(k, np.dtype) else k.to_pandas_dtype() for k in self.types]
        wanted = np.result_type(*dtypes).newbyteorder("=")
        if wanted.kind not in "iu":
            wanted = np.dtype(np.int64 if self.negative else np.uint64)
        return words.view(np.int64 if wanted.kind == "i" else np.uint64).astype(wanted, copy=False)

    def _arrow_values(self, keys: Keys) -> Any:
        pa = arrow()
        name, kinds = self.family.name, [_as_arrow_type(kind) for kind in self.types]
        same = kinds[0] if len(set(kinds)) == 1 else None
        if name == "null":
            return pa.nulls(0)
        if isinstance(same, pa.BaseExtensionType):
            inner = Ids(cast(Family, _family_of_arrow(same.storage_type)))
            inner.types = [same.storage_type]
            return pa.ExtensionArray.from_storage(same, inner._arrow_values(keys))
        if self.family.words != 1:
            count, buffers = len(keys[0]) - (self.family.words == 0), map(pa.py_buffer, keys)
            made = pa.Array.from_buffers(self._wide_type(), count, [None, *buffers])
            if name == "decimal":
                return made.cast(same or pa.decimal128(38, max(kind.scale for kind in kinds)))
            # Offsets of 32 bits are too narrow for long text.
            narrow = str(same) in ("string", "binary") and made.nbytes >= 2**31
            return made if self.family.words or same is None or narrow else made.cast(same)
        if name in ("integer", "boolean"):
            return pa.array(self._numpy_values(keys))
        words = keys[0].reshape(-1).view(np.int64)
        if name == "floating":
            return pa.array(words.view(np.float64)).cast(same or pa.float64())
        if name == "date":
            return pa.array(words.view("M8[D]")).cast(same or pa.date32())
        wanted = same or min(kinds, key=lambda kind: UNITS[kind.unit])
        fits = words // UNITS[wanted.unit]
        if name == "time" and wanted.bit_width == 32:
            fits = fits.astype(np.int32)
        return pa.array(fits).view(wanted)


# Decimals of any scale are compared with 18 digits after the point, of 38.
DECIMAL_SCALE, MOST_DIGITS = 18, 38

TOO_LONG = "ids of {} do not fit 64 bits of nanoseconds; cast them to dates or integers"


def _as_arrow_type(kind: Any) -> Any:
    if not isinstance(kind, np.dtype):
        return kind
    pa = arrow()
    if kind == UUID_TYPE:
        if not hasattr(pa, "uuid"):
            raise ImportError("UUIDs in this table need pyarrow 18 or later: update pyarrow")
        return pa.uuid()
    if kind.kind in "US":
        return pa.large_string() if kind.kind == "U" else pa.large_binary()
    if kind.kind in "mM" and _is_apart(kind):
        raise TypeError(f"ids of {kind} have no type in Arrow; cast them to integers")
    if kind.kind in "mM" and np.datetime_data(kind)[0] not in (*UNITS, "D"):
        return pa.timestamp("s") if kind.kind == "M" else pa.duration("s")
    return pa.from_numpy_dtype(kind.newbyteorder("="))


def _is_signed(kind: Any) -> bool:
    return str(kind.kind if isinstance(kind, np.dtype) else kind).startswith("i")


def one_word(wide: Any) -> Words:
    """Return values of 64 bits, of NumPy or CuPy, as keys of one word."""
    plain: Words = wide.astype(wide.dtype.newbyteorder("="), order="C", copy=False)
    return plain.view(np.uint64).reshape(-1, 1)


def two_words(piece: Any) -> Words:
    """Return an Arrow array of values of 128 bits as keys of two words."""
    data = piece.buffers()[1]
    words = np.frombuffer(data, np.uint64) if data is not None else np.empty(0, np.uint64)
    return words[2 * piece.offset : 2 * (piece.offset + len(piece))].reshape(-1, 2)


def scaled(plain: NDArray[np.int64], factor: int, kind: Any) -> NDArray[np.int64]:
    """Return times in nanoseconds; raise if one does not fit."""
    if factor > 1 and len(plain):
        most = np.iinfo(np.int64).max // factor
        if plain.max() > most or plain.min() < -most:
            raise ValueError(TOO_LONG.format(kind))
    return plain * factor
