"""Columns, tables and images of other libraries: what NumPy would lose of them.

That is which values are null, and how far apart pixels are. None of these libraries is imported:
who passes one of their objects has imported it.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

TABLES = "pandas", "polars", "pyarrow"
IMAGES = "SimpleITK", "itk"

# `function_for` finds `label`, `component_statistics`, ... of arrays of Dask, with names of axes or
# in files: functions of the same names in these modules, by library, imported by name from below.
ROOMS = {
    "dask": (
        "conncomp.chunked.dask_arrays",
        "conncomp.chunked.measures.functions",
        "conncomp.tables.dask_frames",
    ),
    "xarray": ("conncomp.chunked.of_xarray",),
    "conncomp": ("conncomp.chunked.measures.functions",),
}

Values = tuple[Any, Any]  # an array, and where its values are null


def is_of(value: object, *libraries: str) -> bool:
    """Whether a value's class, or one that it inherits from, is of one of these modules."""
    its_type: Any = type(value)
    return _inherits_from(its_type, libraries)


# Small graphs are asked for six libraries in each call.
@lru_cache(maxsize=256)
def _inherits_from(its_type: Any, libraries: tuple[str, ...]) -> bool:
    heads = tuple(f"{library}." for library in libraries)
    return any(f"{base.__module__}.".startswith(heads) for base in its_type.__mro__)


def held_by_names(array: Any) -> Any:
    """Return the array that an object of xarray holds; return any other object unchanged."""
    has_names = is_of(array, "xarray") and hasattr(type(array), "data")
    return array.data if has_names else array


def values_and_nulls(given: Any) -> Values | None:
    """Return values of a column or table, 0 where null, and where; None if none can be null."""
    if is_of(given, "pandas"):
        return _of_pandas(given)
    if is_of(given, "polars"):
        return _of_polars(given)
    return _of_arrow(given) if is_of(given, "pyarrow") else None


def _of_columns(columns: Any) -> Values:
    read = [values_and_nulls(column) or (np.asarray(column), False) for column in columns]
    hidden = [np.broadcast_to(nulls, values.shape) for values, nulls in read]
    return np.stack([values for values, _ in read], axis=1), np.stack(hidden, axis=1)


def _of_pandas(given: Any) -> Values | None:
    if hasattr(given, "columns") and hasattr(given, "dtypes"):
        if len(given.columns) == 0 or all(isinstance(each, np.dtype) for each in given.dtypes):
            return None
        return _of_columns(given.iloc[:, k] for k in range(len(given.columns)))
    dtype = getattr(given, "dtype", None)
    if dtype is None or isinstance(dtype, np.dtype) or not hasattr(given, "isna"):
        return None
    numbers = getattr(dtype, "numpy_dtype", None)
    hidden = np.asarray(given.isna())
    if numbers is not None and np.dtype(numbers).kind in "biuf":
        zero = np.zeros((), numbers).item()
        return given.to_numpy(dtype=numbers, na_value=zero), hidden
    if hidden.any():
        raise TypeError(f"it is of {dtype}, and has nulls; make numbers of it by .astype('Int64')")
    return None


def _of_polars(given: Any) -> Values | None:
    if hasattr(given, "get_columns"):
        return _of_columns(given.get_columns()) if given.width else None
    dtype = getattr(given, "dtype", None)
    if dtype is None or not hasattr(given, "is_null"):
        return None
    shape = (len(given), *(dtype.shape if hasattr(dtype, "shape") else ()))
    while hasattr(given.dtype, "shape"):  # arrays of one shape
        given = given.explode()
    if not given.null_count():
        return given.to_numpy().reshape(shape), False
    filled = given.fill_null(False if str(given.dtype) == "Boolean" else 0).to_numpy()
    return filled.reshape(shape), given.is_null().to_numpy().reshape(shape)


def _of_arrow(given: Any) -> Values | None:
    if hasattr(given, "num_columns"):
        return _of_columns(given.columns) if given.num_columns else None
    if not hasattr(given, "null_count"):
        return None
    if hasattr(given.type, "run_end_type"):
        given = import_module("pyarrow.compute").run_end_decode(given)
    elif hasattr(given.type, "value_type"):  # of a dictionary
        given = given.cast(given.type.value_type)
    if str(given.type) == "null":
        return np.zeros(len(given), np.int8), True
    if not given.null_count:
        return np.asarray(given), False
    zero = sys.modules["pyarrow"].scalar(0, "int8").cast(given.type)
    return np.asarray(given.fill_null(zero)), np.asarray(given.is_null())


class AxisLengths(tuple[float, ...]):
    """The distances of neighbouring elements along each axis of an array, batch axes too."""


def spacing_of(*given: tuple[str, Any]) -> AxisLengths | None:
    """Return the spacing, along axes of arrays, of images of SimpleITK or ITK among arguments.

    None without any. A list has that of its images. ValueError where two differ.
    """
    known: list[tuple[str, AxisLengths]] = []
    for name, image in given:
        lengths = None if image is None else _lengths_of(name, image)
        known += [] if lengths is None else [(name, lengths)]
    for name, lengths in known[1:]:
        if not np.allclose(known[0][1], lengths, rtol=1e-6, atol=0):
            told = f"{known[0][0]} has the spacing {tuple(known[0][1])}"
            raise ValueError(f"{told}, and {name} {tuple(lengths)}; give spacing=")
    return known[0][1] if known else None


def _lengths_of(name: str, image: Any) -> AxisLengths | None:
    if isinstance(image, AxisLengths):
        return image
    if isinstance(image, (list, tuple)) and image and is_of(image[0], *IMAGES):
        images = ((f"{name}[{k}]", each) for k, each in enumerate(image) if is_of(each, *IMAGES))
        return spacing_of(*images)
    if is_of(image, *IMAGES) and hasattr(image, "GetSpacing"):
        return AxisLengths(float(length) for length in tuple(image.GetSpacing())[::-1])
    return None


def function_for(array: object, name: str) -> Any:
    """Return the function of this name for an array of Dask, xarray or a file, or None."""
    kind: Any = type(array)
    if not _is_taken_elsewhere(kind):
        return None
    libraries = (base.__module__.partition(".")[0] for base in kind.__mro__)
    rooms = next((ROOMS[library] for library in libraries if library in ROOMS), ())
    functions = (getattr(import_module(room), name, None) for room in rooms)
    return next((function for function in functions if function is not None), None)


def laid_beside(labels: Any, other: Any, name: str, of: str = "labels") -> Any:
    """Return `other` with its axes in the order of those of `labels`, if both name their axes."""
    lay = function_for(labels, "lay_beside")
    return other if lay is None else lay(labels, other, name, of)


@lru_cache(maxsize=256)
def _is_taken_elsewhere(kind: type) -> bool:
    return hasattr(kind, "__dask_graph__") or kind.__module__.startswith("conncomp.chunked.")
