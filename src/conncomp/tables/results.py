"""Tables of results, of the library that the input was of."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from conncomp._arrays import in_library, on_gpu
from conncomp._optional import optional
from conncomp.tables.columns import is_array

# Libraries of arrays, of which tables are dicts.
ARRAY_LIBRARIES = ("numpy", "builtins", "cupy", "jax", "numba", "torch")


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
        pandas = optional("pandas")
        return pandas.DataFrame(
            {
                name: values if isinstance(values, np.ndarray) else values.to_pandas()
                for name, values in columns.items()
            }
        )
    table = optional("pyarrow").table(columns)
    return sys.modules["polars"].from_arrow(table) if library == "polars" else table


def _as_array(values: Any) -> Any:
    return values if is_array(values) else values.to_numpy(zero_copy_only=False)
