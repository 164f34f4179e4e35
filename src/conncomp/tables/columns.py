"""Columns and tables of any library, as pieces of NumPy arrays or Arrow arrays without nulls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import shown
from conncomp._arrays import library_of, on_gpu
from conncomp._optional import optional

PURPOSE = "a column that is no array of NumPy"


def arrow() -> Any:
    """Return pyarrow."""
    return optional("pyarrow", PURPOSE)


class Column:
    """A column of ids or of weights.

    Parameters
    ----------
    values : array or pyarrow.ChunkedArray
        One-dimensional; of NumPy one of its own types, not of Python objects.
    name : str
        What errors call it.
    mask : ndarray of bool, optional
        Of a masked array of NumPy: where it is null.
    """

    def __init__(self, values: Any, name: str, mask: NDArray[np.bool_] | None = None) -> None:
        self.values = values
        self.name = name
        self._mask = mask
        self.is_numpy = isinstance(values, np.ndarray)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def type(self) -> Any:
        """A dtype of NumPy, or a type of Arrow, without a dictionary."""
        if self.is_numpy:
            return self.values.dtype
        kind = self.values.type
        if not arrow().types.is_dictionary(kind):
            return kind
        # Views cannot be taken by their indices.
        wide = {"string_view": arrow().large_string(), "binary_view": arrow().large_binary()}
        return wide.get(str(kind.value_type), kind.value_type)

    def piece(self, begin: int, count: int) -> Any:
        """Return rows as a NumPy array, or as an Arrow array that has no dictionary."""
        part = self.values[begin : begin + count]
        if self.is_numpy:
            return part
        if part.type != self.type:
            chunks = [chunk.dictionary.cast(self.type).take(chunk.indices) for chunk in part.chunks]
            part = arrow().chunked_array(chunks, self.type)
        part = without_views(part)
        whole = part.combine_chunks() if part.num_chunks != 1 else part.chunk(0)
        # Of some versions, what combines is chunked still.
        return whole if isinstance(whole, arrow().Array) else arrow().concat_arrays(whole.chunks)

    def nulls(self, begin: int, piece: Any) -> NDArray[np.bool_] | None:
        """Return where rows are null, from row `begin` on; None if none is."""
        if not self.is_numpy:
            where = null_places(piece)
        elif self._mask is not None:
            where = self._mask[begin : begin + len(piece)]
        elif piece.dtype.kind in "mM":
            where = np.isnat(piece)
        elif piece.dtype.kind == "f":
            where = np.isnan(piece)
        else:
            return None
        return where if where is not None and where.any() else None


def without_views(values: Any) -> Any:
    """Return an array of Arrow with large strings or binary for views, of which none are taken."""
    wide = {"string_view": arrow().large_string(), "binary_view": arrow().large_binary()}
    kind = str(values.type)
    return values.cast(wide[kind]) if kind in wide else values


def null_places(piece: Any) -> NDArray[np.bool_] | None:
    """Return where an Arrow array, or a field of its structs, is null or not a number."""
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
        return Column(_one_axis(given.data, name), name, mask if mask.any() else None)
    if isinstance(given, np.ndarray) and given.dtype.kind in "iubfmMSU":
        return Column(_one_axis(np.asarray(given), name), name)
    if isinstance(given, (list, range)):
        values = np.asarray(given) if given and not _has_none(given) else None
        if values is not None and values.dtype.kind in "iubmMSU" and _all_alike(given):
            return Column(_one_axis(values, name), name)
    if isinstance(given, (str, bytes, Mapping)) or np.isscalar(given):
        raise TypeError(f"{name}={shown(given)} must be a column, such as an array")
    if on_gpu(given):
        raise TypeError(
            f"{name} lies in GPU memory ({type(given).__module__}.{type(given).__qualname__}); "
            "copy it to main memory first"
        )
    return Column(_chunked(given, name), name)


def _has_none(given: Any) -> bool:
    return any(value is None for value in given)


def _all_alike(given: Any) -> bool:
    """Whether NumPy made no strings of numbers, say."""
    return len({type(value) for value in given}) <= 1


def _one_axis(values: NDArray[Any], name: str) -> NDArray[Any]:
    if values.ndim != 1:
        raise ValueError(f"{name} has shape {values.shape}; it must have one dimension")
    return values


def _chunked(given: Any, name: str) -> Any:
    """Return a column as a chunked array of Arrow."""
    pa = arrow()
    try:
        if isinstance(given, pa.ChunkedArray):
            return given
        if isinstance(given, pa.Array):
            return pa.chunked_array([given])
        if hasattr(given, "__arrow_c_stream__") or hasattr(given, "__arrow_c_array__"):
            made = pa.chunked_array(given) if hasattr(given, "__arrow_c_stream__") else None
            return pa.chunked_array([pa.array(given)]) if made is None else made
        values = given
        if isinstance(given, np.ndarray):
            _one_axis(given, name)
            values = given.tolist() if given.dtype.kind == "T" else given
        elif not (isinstance(given, (list, tuple)) or library_of(given) == "pandas"):
            values = np.asarray(given)
        made = pa.array(values, from_pandas=True)
        return made if isinstance(made, pa.ChunkedArray) else pa.chunked_array([made])
    except MemoryError:
        raise
    except Exception as error:  # whatever a foreign class raises
        raise TypeError(
            f"{name}, a {type(given).__name__} of {library_of(given)}, is no column of values of "
            f"one type: {error}"
        ) from error


class Table:
    """A table of any library, of which columns are asked for by name."""

    def __init__(self, given: Any, name: str) -> None:
        self._name = name
        self.given = given
        structured = isinstance(given, np.ndarray) and given.dtype.names is not None
        if isinstance(given, Mapping) or structured:
            self._columns: Any = given
            self._names = list(given.dtype.names if structured else given)
        elif library_of(given) == "pandas" and hasattr(given, "columns"):
            self._columns, self._names = given, list(given.columns)
        else:
            self._columns = _arrow_table(given, name)
            self._names = list(self._columns.column_names)

    def column(self, wanted: Any, name: str) -> Any:
        """Return the column that an argument called `name` names."""
        if self._names.count(wanted) != 1:
            problem = "has no column" if wanted not in self._names else "has more than one column"
            raise ValueError(
                f"{name}={shown(wanted)}: {self._name} {problem} of that name; it has "
                f"{', '.join(map(repr, self._names[:20]))}"
            )
        return self._columns[wanted]


def _arrow_table(given: Any, name: str) -> Any:
    pa = arrow()
    if isinstance(given, pa.Table):
        return given
    if hasattr(given, "__arrow_c_stream__") or hasattr(given, "__arrow_c_array__"):
        return pa.table(given)
    if hasattr(given, "fetch_arrow_table"):  # older relations of DuckDB
        return given.fetch_arrow_table()
    hint = "; collect it first, by its .collect()" if hasattr(given, "collect") else ""
    raise TypeError(
        f"{name} is a {type(given).__name__} of {library_of(given)}; it must be a table, with "
        f"__arrow_c_stream__, or a dict of columns{hint}"
    )
