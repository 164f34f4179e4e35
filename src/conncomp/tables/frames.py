"""Tables of any library: their columns by name, and tables made of results."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from conncomp._arguments import shown
from conncomp._arrays import in_library, library_of, on_gpu
from conncomp._optional import optional
from conncomp.tables.columns import arrow, is_array
from conncomp.tables.values import UUID_NAME, objects


def library_of_side(given: Any) -> str:
    """Return the library of a column, or of the first one of several."""
    return library_of(given[0] if isinstance(given, tuple) and given else given)


def library_of_table(table: Any, columns: Any) -> str:
    """Return the library of a table, or of some columns of a dict."""
    library = library_of(table)
    return library_of_side(columns) if library == "builtins" else library


def by_part(name: str, values: list[Any]) -> dict[str, Any]:
    """Return columns of ids by name; the names of several are numbered."""
    if len(values) == 1:
        return {name: values[0]}
    return {f"{name}_{k}": column for k, column in enumerate(values)}


class Table:
    """A table of any library, whose columns are found by name."""

    def __init__(self, given: Any, name: str) -> None:
        self._name, self.given = name, given
        structured = isinstance(given, np.ndarray) and given.dtype.names is not None
        if isinstance(given, Mapping) or structured:
            self._columns: Any = given
            self._names = list(given.dtype.names if structured else given)
        elif library_of(given) in ("pandas", "cudf") and hasattr(given, "columns"):
            self._columns, self._names = given, list(given.columns)
        else:
            self._columns = _arrow_table(given, name)
            self._names = list(self._columns.column_names)

    def column(self, wanted: Any, name: str) -> Any:
        """Return the column that an argument called `name` names."""
        if not isinstance(wanted, Hashable):
            raise TypeError(f"{name}={shown(wanted)} must be the name of a column, or several")
        if self._names.count(wanted) != 1:
            problem = "has no column" if wanted not in self._names else "has more than one column"
            have = ", ".join(map(repr, self._names[:20]))
            told = f"{name}={shown(wanted)}: {self._name} {problem} of that name"
            raise ValueError(f"{told}; it has {have}")
        return self._columns[wanted]

    def columns(self, wanted: Any, name: str) -> Any:
        """Return the column of a name, or of several names a tuple."""
        if isinstance(wanted, (tuple, list)):
            if not wanted:
                raise ValueError(f"{name}={wanted!r} must name a column of {self._name}")
            return tuple(self.column(part, name) for part in wanted)
        return self.column(wanted, name)


def _arrow_table(given: Any, name: str) -> Any:
    pa = arrow()
    if isinstance(given, pa.Table):
        return given
    if hasattr(given, "__arrow_c_stream__") or hasattr(given, "__arrow_c_array__"):
        try:
            return pa.table(given)
        except MemoryError:
            raise
        except Exception as error:  # whatever a foreign class raises
            raise TypeError(
                f"{name}, a {type(given).__name__} of {library_of(given)}, has a column of a type "
                f"that Arrow does not have; select the columns of pairs, or cast them: {error}"
            ) from error
    if hasattr(given, "fetch_arrow_table"):  # older relations of DuckDB
        return given.fetch_arrow_table()
    hint = "; collect it first, by its .collect()" if hasattr(given, "collect") else ""
    raise TypeError(
        f"{name} is a {type(given).__name__} of {library_of(given)}; it must be a table, with "
        f"__arrow_c_stream__, or a dict of columns{hint}"
    )


# Results are dicts of arrays for these libraries, and Arrow tables for others.
ARRAY_LIBRARIES = ("numpy", "builtins", "collections", "cupy", "jax", "numba", "torch")


def as_table(columns: dict[str, Any], library: str) -> Any:
    """Return columns as a dict of arrays, or a table of cuDF, pandas, Polars or Arrow."""
    if library == "cudf":
        return sys.modules["cudf"].DataFrame(columns)
    if library in ARRAY_LIBRARIES or all(map(on_gpu, columns.values())):
        return {name: in_library(_as_array(values), library) for name, values in columns.items()}
    if library == "pandas":
        columns = {name: _as_pandas(values) for name, values in columns.items()}
        return optional("pandas").DataFrame(columns)
    table = optional("pyarrow").table(columns)
    return sys.modules["polars"].from_arrow(table) if library == "polars" else table


def _as_array(values: Any) -> Any:
    if is_array(values):
        return values
    pa, kind = optional("pyarrow"), values.type
    # NumPy has no type of these.
    if isinstance(kind, pa.BaseExtensionType) or getattr(kind, "tz", None):
        return objects(values.to_pylist())
    if not (values.null_count and pa.types.is_integer(kind)):
        return values.to_numpy(zero_copy_only=False)
    # Arrow and pandas convert integers with nulls to floats, which lose bits.
    numbers = values.fill_null(0).to_numpy(zero_copy_only=False)
    return np.ma.MaskedArray(numbers.copy(), values.is_null().to_numpy(zero_copy_only=False))


def _as_pandas(values: Any) -> Any:
    if isinstance(values, np.ndarray):
        return values
    if str(values.type) == UUID_NAME:
        return _as_array(values)
    if not (values.null_count and optional("pyarrow").types.is_integer(values.type)):
        return values.to_pandas()
    numbers = _as_array(values)
    return optional("pandas").arrays.IntegerArray(numbers.data, numbers.mask)
