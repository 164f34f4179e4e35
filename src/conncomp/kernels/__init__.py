"""The kernels in C++ and CUDA C++, and beside each CUDA kernel the Python that drives it."""

from typing import Any

import numpy as np


def layout(*fields: tuple[str, Any]) -> np.dtype[Any]:
    """Return the layout of a struct in C++, given names between spaces and their type."""
    return np.dtype([(name, kind) for names, kind in fields for name in names.split()], align=True)
