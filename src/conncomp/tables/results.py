"""Tables of results, of the library that the input was of."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from conncomp._optional import optional


def as_table(columns: dict[str, Any], library: str) -> Any:
    """Return columns as a table: a dict for NumPy, else of pandas, Polars or Arrow."""
    if library in ("numpy", "builtins"):
        return {name: _as_numpy(values) for name, values in columns.items()}
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


def _as_numpy(values: Any) -> Any:
    return values if isinstance(values, np.ndarray) else values.to_numpy(zero_copy_only=False)
