"""Threads, and what was built and found."""

from __future__ import annotations

import platform

from conncomp._arguments import as_integer
from conncomp._core import instruction_set, native
from conncomp.kernels.cuda.launcher import import_cupy

OPTIONAL = {
    "cuda": ("cupy-cuda12x", "cupy-cuda13x"),
    "io": ("pillow", "tifffile"),
    "models": ("emcee", "h5py"),
    "cli": ("click", "rich", "matplotlib"),
    "peers": (
        "networkx",
        "scikit-image",
        "connected-components-3d",
        "opencv-python-headless",
        "igraph",
        "rustworkx",
        "networkit",
        "kornia-rs",
    ),
}


def set_num_threads(n: int) -> None:
    """Set the number of threads that later calls use.

    Parameters
    ----------
    n : int
        At least 1. Until this is called, ``OMP_NUM_THREADS`` or else the number of processors
        decides.

    Raises
    ------
    TypeError
        If `n` is not an integer.
    ValueError
        If `n` is below 1 or above 4096.

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
    """Return the number of threads that calls use.

    Returns
    -------
    int
        See `set_num_threads`.

    Examples
    --------
    >>> import conncomp
    >>> conncomp.get_num_threads() >= 1
    True
    """
    return int(native.get_num_threads())


def config() -> dict[str, object]:
    """Return what `show_config` prints."""
    import importlib.metadata  # slow, and seldom needed

    facts: dict[str, object] = {
        "conncomp": importlib.metadata.version("conncomp"),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "compiler": native.compiler(),
        "instruction set": instruction_set,
        "threads": get_num_threads(),
        "gpu": gpu_name(),
    }
    for package in ("numpy", "scipy", *(p for group in OPTIONAL.values() for p in group)):
        try:
            facts[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            facts[package] = None
    return facts


def gpu_name() -> str:
    """Return the name of the current CUDA device, or what is missing to use one."""
    try:
        cupy = import_cupy()
        device = cupy.cuda.runtime.getDevice()
        return str(cupy.cuda.runtime.getDeviceProperties(device)["name"].decode())
    except (ImportError, RuntimeError) as error:
        return str(error)


def show_config() -> None:
    """Print what was built and which optional packages were found.

    Examples
    --------
    >>> import conncomp
    >>> conncomp.show_config()  # doctest: +ELLIPSIS
    conncomp ...
    """
    for name, value in config().items():
        print(f"{name:<24} {'not installed' if value is None else value}")
