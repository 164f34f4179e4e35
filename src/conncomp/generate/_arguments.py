"""Checks of arguments that the generators share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from conncomp._arguments import (
    INT32_MAX,
    MOST_LENGTHS,
    as_integer,
    as_number,
    as_sequence,
    check_choice,
    shown,
)
from conncomp.graph.inputs.parts import MOST_VERTICES
from conncomp.kernels.cuda import launcher

MOST = MOST_VERTICES  # elements, edges or vertices


def array_library(device: str | None) -> Any:
    """Return NumPy, or CuPy for "cuda"; raise if there is no such device or no CuPy."""
    check_choice("device", device, (None, "cpu", "cuda"))
    return launcher.import_cupy() if device == "cuda" else np


def check_int(name: str, value: int, low: int, high: int | None = None) -> int:
    """Return an integer from `low` to `high`, by default `MOST`; raise for others."""
    number = as_integer(name, value)
    if not low <= number <= (MOST if high is None else high):
        one_end = f"at least {low}" if number < low else f"at most {MOST}"
        wanted = one_end if high is None else f"from {low} to {high}"
        raise ValueError(f"{name}={shown(number)} must be {wanted}")
    return number


def check_seed(seed: int) -> int:
    """Return `seed`, an integer of 64 bits; raise for others."""
    return check_int("seed", seed, 0, 2**64 - 1)


def check_real(name: str, value: float, low: float, high: float = math.inf) -> float:
    """Return a float in [low, high]; raise for others."""
    number = as_number(name, value)
    if not (low <= number <= high and math.isfinite(number)):
        wanted = f"at least {low}" if high == math.inf else f"from {low} to {high}"
        raise ValueError(f"{name}={number} must be {wanted}")
    return number


def check_shape(
    shape: int | Sequence[int], ndim: int | None = None, shortest: int = 1
) -> tuple[int, ...]:
    """Return `shape` as a tuple of `ndim` lengths of at least `shortest`; raise for others."""
    several = isinstance(shape, Sequence)
    lengths = tuple(as_sequence("shape", shape, MOST_LENGTHS)) if several else (shape,)
    if not lengths or (ndim is not None and len(lengths) != ndim):
        wanted = "at least one length" if ndim is None else f"{ndim} lengths"
        raise ValueError(f"shape={shown(shape)} must have {wanted}")
    checked = tuple(check_int(f"shape[{k}]", n, shortest) for k, n in enumerate(lengths))
    if math.prod(checked) > MOST:
        raise ValueError(f"shape={shown(shape)} must have at most {MOST} elements")
    return checked


def index_dtype(count: int) -> np.dtype[Any]:
    """Return int32 if indices below `count` fit, as in all the library, or int64."""
    return np.dtype(np.int32 if count - 1 <= INT32_MAX else np.int64)
