"""The number of threads, and facts about the installation and the machine."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from conncomp._arguments import as_integer
from conncomp._core import BUILDS, instruction_set, is_built, native, obstacle

# Packages that conncomp needs, those of its extras, and those whose arrays and graphs it takes.
PACKAGES = {
    "needed": ("numpy", "scipy"),
    "cuda": ("cupy-cuda12x", "cupy-cuda13x", "nvidia-cuda-nvrtc-cu12", "nvidia-cuda-nvrtc"),
    "io": ("pillow", "tifffile"),
    "models": ("h5py",),
    "cli": ("click", "rich", "matplotlib"),
    "peers": (
        *("networkx", "scikit-image", "connected-components-3d", "opencv-python-headless"),
        *("igraph", "rustworkx", "networkit", "kornia-rs"),
    ),
    "arrays": ("torch", "jax", "numba", "dask", "xarray"),
}


def set_num_threads(n: int) -> None:
    """Set the number of threads that later calls use.

    Parameters
    ----------
    n : int
        From 1 to 4096. Until this is called, ``OMP_NUM_THREADS`` or else the number of processors
        decides.

    Raises
    ------
    TypeError, ValueError
        If `n` is not an integer, or too small or too large.

    Examples
    --------
    >>> import conncomp
    >>> before = conncomp.get_num_threads()
    >>> conncomp.set_num_threads(2)
    >>> conncomp.get_num_threads()
    2
    >>> conncomp.set_num_threads(before)
    """
    count = as_integer("n", n)
    if not 1 <= count <= 4096:
        raise ValueError(f"n={count} threads; use a number from 1 to 4096")
    native.set_num_threads(count)


def get_num_threads() -> int:
    """Return the number of threads that calls use, as an int.

    Examples
    --------
    >>> import conncomp
    >>> conncomp.get_num_threads() >= 1
    True
    """
    return int(native.get_num_threads())


@contextmanager
def working_threads(count: int) -> Iterator[None]:
    """Use a number of threads for a while."""
    before = get_num_threads()
    set_num_threads(count)
    try:
        yield
    finally:
        set_num_threads(before)


def config() -> dict[str, str | int | None]:
    """Return what `show_config` prints: facts by name; of packages None if one is not installed."""
    # Imported here, as it needs modules that nothing else does, and an import is to be quick.
    from conncomp._system import gpu_facts, machine_facts, variables

    return {
        "conncomp": _version("conncomp"),
        "location": str(Path(__file__).parent),
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        **machine_facts(),
        **_native_facts(),
        "threads": get_num_threads(),
        **gpu_facts(),
        **{package: _version(package) for group in PACKAGES.values() for package in group},
        **variables(),
    }


def _version(package: str) -> str | None:
    import importlib.metadata  # slow, and seldom needed

    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _native_facts() -> dict[str, str]:
    """Return which build of the core is loaded, and why not another one."""
    asked = "as CONNCOMP_CPU asks for it" if os.environ.get("CONNCOMP_CPU") else "as the best one"
    states = {name: obstacle(name, native.supports, is_built) for name in BUILDS}
    return {
        "instruction set": instruction_set,
        **{f"build {name}": flaw or "could be loaded" for name, flaw in states.items()},
        f"build {instruction_set}": f"loaded, {asked}",
        "extension": Path(native.__file__).name,
        "compiler": native.compiler(),
    }


def show_config() -> None:
    """Print what a bug report needs: what was built, and what was found on this machine.

    The GPU is asked for in a process of its own; what is missing, broken or does not answer is
    said in place of a value.

    Examples
    --------
    >>> import conncomp
    >>> conncomp.show_config()  # doctest: +ELLIPSIS
    conncomp ...
    """
    for name, value in config().items():
        print(f"{name:<24} {'not installed' if value is None else value}")
