"""Tables of results, of the library that the input was of."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from conncomp._arrays import in_library, on_gpu
from conncomp._optional import optional
from conncomp.tables.columns import is_array
from conncomp.tables.ids import UUID_NAME
from conncomp.tables.values.objects import objects

# Libraries of arrays, of which tables are dicts.
ARRAY_LIBRARIES = ("numpy", "builtins", "collections", "cupy", "jax", "numba", "torch")


def has_arrow_columns(library: str) -> bool:
    """Whether tables of a library, in main memory, are made of columns of Arrow."""
    return library not in ARRAY_LIBRARIES


def as_table(columns: dict[str, Any], library: str) -> Any:
    """Return columns as a table: a dict of arrays, or of cuDF, pandas, Polars or Arrow."""
    if library == "cudf":
        return sys.modules["cudf"].DataFrame(columns)
    if library in ARRAY_LIBRARIES or all(map(on_gpu, columns.values())):
        return {name: in_library(_as_array(values), library) for name, values in columns.items()}
    if library == "pandas":
        return optional("pandas").DataFrame(
            {name: _as_pandas(values) for name, values in columns.items()}
        )
    table = optional("pyarrow").table(columns)
    return sys.modules["polars"].from_arrow(table) if library == "polars" else table


def _as_array(values: Any) -> Any:
    if is_array(values):
        return values
    types = optional("pyarrow").types
    if isinstance(values.type, optional("pyarrow").BaseExtensionType) or getattr(
        values.type, "tz", None
    ):  # of which NumPy has no type
        return objects(values.to_pylist())
    if not (values.null_count and types.is_integer(values.type)):
        return values.to_numpy(zero_copy_only=False)
    # Floats, which Arrow and pandas make of integers with nulls, do not have all of 64 bits.
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
