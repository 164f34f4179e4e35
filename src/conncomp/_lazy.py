"""Arrays that are computed later, and the room that takes them.

Functions of arrays lie below that room. ``conncomp/__init__.py``, which lies above all, names it
here, and it is imported when the first such array is given.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# By library, the module with a function for each that takes its arrays, of the same name.
ROOMS: dict[str, str] = {}


def is_lazy(array: object) -> bool:
    """Whether `array` is a collection of Dask, which is not imported for that."""
    kind = type(array)
    return hasattr(kind, "__dask_graph__") and any(
        base.__module__.partition(".")[0] == "dask" for base in kind.__mro__
    )


def of_lazy(name: str) -> Any:
    """Return the function of a name that takes collections of Dask, or None if there is none."""
    return getattr(import_module(ROOMS["dask"]), name, None)
