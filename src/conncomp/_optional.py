"""Packages of the extras."""

from __future__ import annotations

from importlib import import_module
from typing import Any

PURPOSES = {
    "io": "this file format",
    "models": "this part of conncomp.models",
    "cli": "a display of progress",
    "tables": "this table",
    "networkx": "this file format",
    "plots": "this plot",
}


def optional(name: str, extra: str = "io") -> Any:
    """Import a module of an extra."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        package = {"PIL": "pillow"}.get(top := name.partition(".")[0], top)
        purpose = PURPOSES[extra]
        raise ImportError(f"{purpose} needs {package}: pip install 'conncomp[{extra}]'") from error
