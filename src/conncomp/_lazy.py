"""Arrays that are computed later, in files or with names of axes, and the rooms that take them.

Functions of arrays lie below these rooms, so that one is imported by its name when the first of
its arrays is given.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import Any

# By library, the modules that have a function for each that takes its arrays, of the same name.
ROOMS = {
    "dask": (
        "conncomp.chunked.dask_arrays",
        "conncomp.chunked.measures.functions",
        "conncomp.tables.dask_frames",
    ),
    "xarray": ("conncomp.chunked.of_xarray",),
    "conncomp": ("conncomp.chunked.measures.functions",),
}


def function_for(array: object, name: str) -> Any:
    """Return the function of this name for arrays of Dask, xarray or files; None for others."""
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
