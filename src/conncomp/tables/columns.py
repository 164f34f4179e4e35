"""Columns of any library, read as pieces without nulls."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import as_sequence, shown
from conncomp._arrays import OBJECT_BYTES, as_cupy, library_of, on_gpu
from conncomp._memory import check_memory
from conncomp._optional import optional
from conncomp.tables.values import held

PURPOSE = "a column that is no array of NumPy"
NUMBERS = "must be integers, floats or booleans"
# Rows that are turned into keys at once, in main memory and on a GPU.
PIECE_ROWS, GPU_PIECE_ROWS = 1 << 20, 1 << 26


def arrow() -> Any:
    """Return pyarrow."""
    return optional("pyarrow", PURPOSE)


class Column:
    """A column of ids or weights, of NumPy, CuPy or Arrow; errors call it `name`.

    Text and bytes may be Python objects; `dtype` is then "U" or "S". `mask` marks rows that are
    null, where the values cannot.
    """

    def __init__(self, values: Any, name: str, mask: Any = None, dtype: Any = None) -> None:
        self.values, self.name, self._mask, self._dtype = values, name, mask, dtype
        self.is_array = is_array(values)
        self.on_gpu = self.is_array and on_gpu(values)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def type(self) -> Any:
        """A dtype of NumPy, or a type of Arrow, without a dictionary."""
        if self.is_array:
            return self.values.dtype if self._dtype is None else self._dtype
        kind = self.values.type
        is_dictionary = arrow().types.is_dictionary(kind)
        return _without_view(kind.value_type) if is_dictionary else kind

    def piece(self, begin: int, count: int) -> Any:
        """Return rows as a NumPy array, or as an Arrow array that has no dictionary."""
        part = self.values[begin : begin + count]
        if self.is_array:
            return part
        if part.type != self.type:
            chunks = [chunk.dictionary.cast(self.type).take(chunk.indices) for chunk in part.chunks]
            part = arrow().chunked_array(chunks, self.type)
        part = without_views(part)
        whole = part.combine_chunks() if part.num_chunks != 1 else part.chunk(0)
        # In some versions of pyarrow, `combine_chunks` returns chunks.
        return whole if isinstance(whole, arrow().Array) else arrow().concat_arrays(whole.chunks)

    def nulls(self, begin: int, piece: Any) -> Any:
        """Return where rows of a piece from `begin` on are null; None if none is."""
        if not self.is_array:
            where = null_places(piece)
        elif self._mask is not None:
            where = self._mask[begin : begin + len(piece)]
        elif piece.dtype.kind in "mM":
            where = np.isnat(piece)
        elif piece.dtype.kind == "f":
            where = piece != piece  # of CuPy, too
        else:
            return None
        return where if where is not None and where.any() else None


def is_array(values: Any) -> bool:
    """Whether values are an array of NumPy or CuPy, and not of Arrow."""
    return hasattr(values, "dtype")


def _without_view(kind: Any) -> Any:
    """Return a type that has `take`, which Arrow lacks for views."""
    wide = {"string_view": arrow().large_string(), "binary_view": arrow().large_binary()}
    return wide.get(str(kind), kind)


def without_views(values: Any) -> Any:
    """Return an Arrow array that has `take`."""
    return values.cast(_without_view(values.type))


def null_places(piece: Any) -> NDArray[np.bool_] | None:
    """Return where an Arrow array, or a field of its structs, is null or NaN."""
    pa = arrow()
    compute = optional("pyarrow.compute", PURPOSE)
    if pa.types.is_struct(piece.type):
        places = [null_places(field) for field in piece.flatten()]
        found = [place for place in places if place is not None]
        return np.logical_or.reduce(found) if found else None
    floating = pa.types.is_floating(piece.type)
    if piece.null_count == 0 and not floating and not pa.types.is_null(piece.type):
        return None
    nulls = compute.is_null(piece, nan_is_null=floating)
    return cast("NDArray[np.bool_]", nulls.to_numpy(zero_copy_only=False))


def as_column(given: Any, name: str) -> Column:
    """Return a column of any library; an error names it."""
    if isinstance(given, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(given)
        if given.dtype.kind == "O":
            plain = zip(given.data.tolist(), mask.tolist(), strict=True)
            return as_column([None if gone else value for value, gone in plain], name)
        return Column(_one_axis(given.data, name), name, mask if mask.any() else None)
    if isinstance(given, np.ndarray) and given.dtype.kind in "iubfmMSU":
        return Column(_one_axis(np.asarray(given), name), name)
    if isinstance(given, (str, bytes, bytearray, Mapping)) or np.isscalar(given):
        raise TypeError(f"{name}={shown(given)} must be a column, such as an array")
    if library_of(given) == "cudf":
        return _column_of_cudf(given, name)
    if on_gpu(given):
        return _column_on_gpu(given, name)
    try:
        objects = _objects_of(given, name)
        if objects is None:
            return _column_of_others(given, name)
        values, *nulls_and_type = held(objects, name)
        values = values if is_array(values) else arrow().chunked_array([values])
        return Column(values, name, *nulls_and_type)
    except Exception as error:  # whatever a foreign class raises
        is_ours = type(error) in (TypeError, ValueError) and str(error).startswith(name)
        if is_ours or isinstance(error, (MemoryError, ImportError)):
            raise
        told = f"{name}, a {type(given).__name__} of {library_of(given)}, is no column of values"
        raise TypeError(f"{told} of one type: {error}") from error


def _objects_of(given: Any, name: str) -> list[Any] | None:
    """Return the values of a list, object array or sequence; None for other columns."""
    if isinstance(given, np.ndarray):
        return _one_axis(given, name).tolist() if given.dtype.kind in "OT" else None
    if library_of(given) == "pandas":
        dtype = getattr(given, "dtype", None)
        categories = getattr(dtype, "categories", None)
        kind = dtype if categories is None else categories.dtype
        return given.astype(object).tolist() if kind == np.dtype(object) else None
    protocols = "__array__", "__arrow_c_stream__", "__arrow_c_array__", "__dlpack__"
    if not hasattr(given, "__getitem__") or any(hasattr(given, one) for one in protocols):
        return None
    known = as_sequence(name, given, sys.maxsize)
    if not isinstance(known, list):
        check_memory(f"{name}, a sequence of {len(known)} entries,", OBJECT_BYTES * len(known))
    return list(known)


def _column_on_gpu(given: Any, name: str, mask: Any = None) -> Column:
    values = as_cupy(given)
    if values.dtype.kind not in "iubf" or values.dtype.itemsize > 8:
        told = f"{name} lies in GPU memory and is of type {values.dtype}; ids there {NUMBERS}"
        raise TypeError(f"{told}: copy others to main memory first")
    return Column(_one_axis(values, name), name, mask)


def _column_of_cudf(given: Any, name: str) -> Column:
    if getattr(given.dtype, "kind", "O") not in "iubf":
        told = f"{name}, a column of cuDF, is of type {given.dtype}; ids on a GPU {NUMBERS}"
        raise TypeError(f"{told}: copy others to main memory first, by their .to_arrow()")
    if not given.has_nulls:
        return _column_on_gpu(given.values, name)
    return _column_on_gpu(given.fillna(0).values, name, as_cupy(given.isna().values))


def _one_axis(values: Any, name: str) -> Any:
    if values.ndim != 1:
        raise ValueError(f"{name} has shape {values.shape}; it must have one dimension")
    return values


def _column_of_others(given: Any, name: str) -> Column:
    """Convert a column of another library to Arrow or NumPy."""
    pa = arrow()
    if isinstance(given, pa.ChunkedArray):
        return Column(given, name)
    if hasattr(given, "__arrow_c_stream__"):
        return Column(pa.chunked_array(given), name)
    if not hasattr(given, "__arrow_c_array__") and library_of(given) != "pandas":
        given = np.asarray(given)
        if given.dtype.kind in "iubfmMSUOT":
            return as_column(given, name)
    made = pa.array(_one_axis(given, name) if is_array(given) else given, from_pandas=True)
    return Column(made if isinstance(made, pa.ChunkedArray) else pa.chunked_array([made]), name)


def as_columns(given: Any, name: str) -> list[Column]:
    """Return the column, or columns, of one side."""
    if isinstance(given, tuple):
        if not given:
            raise ValueError(f"{name}=() must have a column")
        return [as_column(part, f"{name}[{k}]") for k, part in enumerate(given)]
    if isinstance(given, list) and any(issubclass(kind, Mapping) for kind in set(map(type, given))):
        return _fields_of(given, name)
    column = as_column(given, name)
    if not column.is_array and arrow().types.is_struct(column.type):
        if not column.type.num_fields:
            raise TypeError(f"{name} is a struct without fields, which have no values to compare")
        # `flatten` makes the fields of a null struct null.
        return [Column(field, f"{name}[{k}]") for k, field in enumerate(column.values.flatten())]
    return [column]


def _fields_of(rows: list[Any], name: str) -> list[Column]:
    present = [row for row in rows if row is not None]
    if not all(isinstance(row, Mapping) for row in present):
        raise TypeError(f"{name} is no column of values of one type: it mixes dicts with others")
    fields = dict.fromkeys(field for row in present for field in row)
    if not fields:
        raise TypeError(f"{name} is a struct without fields, which have no values to compare")
    known = [{} if row is None else row for row in rows]
    return [as_column([row.get(k) for row in known], f"{name}[{k!r}]") for k in fields]


def as_weights(given: Any) -> Column:
    """Return a column of weights; raise TypeError if they are no numbers."""
    column = as_column(given, "weights")
    if column.is_array:
        good = column.type.kind in "iuf"
    else:
        types = arrow().types
        kinds = types.is_integer, types.is_floating, types.is_decimal, types.is_null
        good = any(is_one(column.type) for is_one in kinds)
    if not good:
        raise TypeError(f"weights are of type {column.type}; they must be numbers")
    return column


def weight_type(weights: Column) -> np.dtype[Any]:
    """Return the type of floating weights, and float64 for other numbers."""
    if weights.is_array:
        small = weights.type.kind == "f" and weights.type.itemsize < 8
        return np.dtype(weights.type.newbyteorder("=") if small else np.float64)
    names = {"float": np.float32, "halffloat": np.float16}  # as Arrow calls them
    return np.dtype(names.get(str(weights.type), np.float64))


def as_doubles(piece: Any) -> Any:
    """Return a piece of weights as the kernels take them."""
    if not is_array(piece):
        piece = piece.cast(arrow().float64()).to_numpy(zero_copy_only=False)
    return piece.astype(np.float64, order="C", copy=False)


def pieces_of(columns: list[Column], nulls: str, on_gpu: bool = False) -> Iterator[list[Any]]:
    """Yield the rows of all columns piece by piece, without nulls."""
    rows = GPU_PIECE_ROWS if on_gpu else PIECE_ROWS
    for begin in range(0, len(columns[0]), rows):
        yield rows_without_nulls(columns, begin, rows, nulls)


def rows_without_nulls(
    columns: list[Column], begin: int, rows: int, nulls: str, first_row: int = 0
) -> list[Any]:
    """Return rows of all columns from `begin` on, without nulls.

    Unless `nulls` is "drop", a null raises ValueError, which counts rows from `first_row`, and
    suggests to drop it if `nulls` is "raise".
    """
    pieces = [column.piece(begin, rows) for column in columns]
    missing = None
    for column, piece in zip(columns, pieces, strict=True):
        where = column.nulls(begin, piece)
        if where is None:
            continue
        if nulls != "drop":
            row = first_row + begin + int(where.argmax())
            remedy = "nulls='drop' leaves out such rows" if nulls == "raise" else "leave out nulls"
            raise ValueError(f"{column.name} is null at row {row}; {remedy}")
        missing = where if missing is None else missing | where
    if missing is None:
        return pieces
    kept = ~missing
    return [one[kept] if is_array(one) else one.filter(arrow().array(kept)) for one in pieces]


def check_lengths(columns: list[Column]) -> None:
    """Raise ValueError if columns differ in length."""
    if len({len(column) for column in columns}) > 1:
        lengths = ", ".join(f"{column.name} {len(column)}" for column in columns)
        raise ValueError(f"columns differ in length: {lengths}")
