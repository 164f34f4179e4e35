"""Packages that are installed with an extra only, and what errors say where one is missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# By module that may be missing: its package, the extra that brings it, the usual purpose.
PACKAGES = {
    "PIL": ("pillow", "io", "this file format"),
    "bioio": ("bioio", "bioio", "this file format"),
    "click": ("click", "cli", "this command"),
    "cupy": ("CuPy", "cuda13", "work on a GPU"),
    "distributed": ("distributed", "dask", "a cluster of Dask"),
    "h5py": ("h5py", "models", "this part of conncomp.models"),
    "jinja2": ("jinja2", "bench", "this command"),
    "magicgui": ("magicgui", "napari", "conncomp.napari"),
    "matplotlib": ("matplotlib", "plots", "this drawing"),
    "msgspec": ("msgspec", "bench", "this command"),
    "nibabel": ("nibabel", "measure", "a volume of NIfTI"),
    "nrrd": ("pynrrd", "measure", "a volume of NRRD"),
    "networkx": ("networkx", "networkx", "this backend"),
    "pandas": ("pandas", "tables", "this table"),
    "polars": ("polars", "tables", "this table"),
    "pymbar": ("pymbar", "analysis", "reweighting of several runs"),
    "pyarrow": ("pyarrow", "tables", "this table"),
    "rich": ("rich", "cli", "a display of progress"),
    "skimage": ("scikit-image", "measure", "this threshold"),
    "tifffile": ("tifffile", "io", "this file format"),
    "torch": ("PyTorch", "torch", "conncomp.torch"),
    "zarr": ("zarr", "zarr", "a volume in Zarr"),
}


def hint(module: str, purpose: str = "", extra: str = "") -> str:
    """Say what needs a module that is missing, and how to install it."""
    package, usual_extra, usual = PACKAGES[module.partition(".")[0]]
    return f"{purpose or usual} needs {package}: pip install 'conncomp[{extra or usual_extra}]'"


def optional(module: str, purpose: str = "", extra: str = "") -> Any:
    """Import a module of a package that may be missing; errors name the extra that has it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise ImportError(hint(module, purpose, extra)) from error
