"""Packages of the extra "io"."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def optional(name: str) -> Any:
    """Import a module of the extra "io"."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        package = {"PIL": "pillow"}.get(top := name.partition(".")[0], top)
        raise ImportError(
            f"this file format needs {package}: pip install 'conncomp[io]'"
        ) from error
