"""The one random generator: Philox 4x32-10, keyed by seed and counted by index and purpose.

The i-th number drawn for a purpose is a function of (seed, purpose, i) alone: it does not depend on
how many are drawn, on the number of threads, or on the device. Numbers for different purposes are
independent of each other. Source: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel
random numbers: as easy as 1, 2, 3", SC 2011.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from conncomp._arguments import as_sequence, shown
from conncomp._arrays import as_numpy, check_kind, on_gpu
from conncomp._core import native
from conncomp.generate._arguments import array_library, check_int, check_seed, index_dtype

__all__ = ["Purpose", "integers", "permutation", "uniform", "uniform_bits"]

MASK = 0xFFFFFFFF

Stream = tuple[int, int, int]  # a seed, a purpose, and the index of the first number


class Purpose(IntEnum):
    """Purposes for which generators draw numbers."""

    OTHER = 0
    SHUFFLE = 1
    SOURCE = 2
    TARGET = 3
    TREE = 4
    SIZE = 5
    KEEP = 6
    COPY = 7
    PROTOTYPE = 8
    POINT = 9
    VALUE = 10


def uniform_bits(
    count: int,
    *,
    seed: int = 0,
    purpose: int = Purpose.OTHER,
    start: int = 0,
    dtype: DTypeLike = np.uint64,
    device: str | None = None,
) -> NDArray[Any]:
    """Draw random bits.

    Parameters
    ----------
    count : int
        How many numbers.
    seed : int, optional
        From 0 to 2**64 - 1.
    purpose : int, optional
        From 0 to 2**32 - 1; see `Purpose`.
    start : int, optional
        The index of the first number: ``start=k`` leaves out the first k.
    dtype : {uint64, uint32}, optional
        The two are cut from the same blocks of 128 bits, so they are not independent.
    device : {None, "cpu", "cuda"}, optional
        "cuda" gives a CuPy array, of the same numbers.

    Returns
    -------
    ndarray, shape (count,)

    Examples
    --------
    >>> from conncomp.generate import random
    >>> [hex(bits) for bits in random.uniform_bits(2)]
    ['0xe169c58d6627e8d5', '0x9b00dbd8bc57ac4c']
    >>> random.uniform_bits(3, start=1)[0] == random.uniform_bits(2)[1]
    np.True_
    """
    wanted = _check_dtype(dtype, np.uint64, np.uint32)
    stream = _check_stream(count, seed, purpose, start)
    xp = array_library(device)
    if device == "cuda":
        return _array_bits(xp, count, stream, wanted)
    out = np.empty(count, wanted)
    native.random_bits(*stream, out)
    return out


def uniform(
    count: int,
    *,
    seed: int = 0,
    purpose: int = Purpose.OTHER,
    start: int = 0,
    dtype: DTypeLike = np.float64,
    device: str | None = None,
) -> NDArray[Any]:
    """Draw numbers uniformly from [0, 1).

    Parameters
    ----------
    count, seed, purpose, start, device
        As for `uniform_bits`.
    dtype : {float64, float32}, optional
        Multiples of 2**-53 or of 2**-24.

    Examples
    --------
    >>> from conncomp.generate import random
    >>> random.uniform(3, seed=1).round(3)
    array([0.895, 0.711, 0.874])
    """
    wanted = _check_dtype(dtype, np.float64, np.float32)
    stream = _check_stream(count, seed, purpose, start)
    xp = array_library(device)
    if device == "cuda":
        if wanted == np.float64:
            return (_array_bits(xp, count, stream, np.uint64) >> 11) * 2.0**-53
        bits = _array_bits(xp, count, stream, np.uint32) >> 8
        return bits.astype(np.float32) * np.float32(2.0**-24)
    out = np.empty(count, wanted)
    native.random_uniform(*stream, out)
    return out


def integers(
    count: int,
    high: ArrayLike,
    *,
    seed: int = 0,
    purpose: int = Purpose.OTHER,
    start: int = 0,
    dtype: DTypeLike = np.int64,
    device: str | None = None,
) -> NDArray[Any]:
    """Draw integers uniformly from 0 to ``high - 1``.

    Parameters
    ----------
    count, seed, purpose, start, device
        As for `uniform_bits`.
    high : int, or array_like of int, shape (count,)
        At least 1. The probabilities of two results differ by 2**-64 at most.
    dtype : {int64, int32}, optional

    Examples
    --------
    >>> from conncomp.generate import random
    >>> random.integers(8, 6, seed=1)
    array([5, 4, 5, 3, 3, 5, 0, 0])
    """
    wanted = _check_dtype(dtype, np.int64, np.int32)
    stream = _check_stream(count, seed, purpose, start)
    xp = array_library(device)
    highs = xp.asarray(high if on_gpu(high) else as_numpy(high, "high"))
    check_kind(highs, "iu", high, "high", "integers")
    if highs.shape not in ((), (count,)):
        raise ValueError(f"high has shape {highs.shape}; it must be one number or {count} of them")
    if highs.size:
        low, top = int(highs.min()), int(highs.max())
        if low < 1 or top - 1 > np.iinfo(wanted).max:
            bad = low if low < 1 else top
            raise ValueError(f"high={bad} must be from 1 to {np.iinfo(wanted).max + 1}")
    if device == "cuda":
        bits = _array_bits(xp, count, stream, np.uint64)
        return _multiply_high(bits, highs.astype(np.uint64)).astype(wanted)
    out = np.empty(count, wanted)
    native.random_below(*stream, np.ascontiguousarray(highs.reshape(-1), np.int64), out)
    return out


def permutation(
    count: int, *, seed: int = 0, purpose: int = Purpose.SHUFFLE, device: str | None = None
) -> NDArray[Any]:
    """Draw a permutation of 0, 1, ..., ``count - 1``, of int32 where it fits.

    Unlike the other functions', its first entries depend on `count`.

    Parameters
    ----------
    count, seed, purpose, device
        As for `uniform_bits`.

    Examples
    --------
    >>> from conncomp.generate import random
    >>> random.permutation(6, seed=1)
    array([1, 0, 5, 4, 2, 3], dtype=int32)
    """
    keys = uniform_bits(count, seed=seed, purpose=purpose, device=device)
    # Each number rides in the low bits of its random key: no two are equal, and a plain sort does,
    # which is several times faster than argsort.
    low = max(int(count) - 1, 0).bit_length()
    keys >>= low
    keys <<= low
    keys |= array_library(device).arange(count, dtype=np.uint64)
    keys.sort()
    keys &= (1 << low) - 1
    return keys.astype(index_dtype(count))


def _check_dtype(dtype: DTypeLike, *choices: type[np.generic]) -> np.dtype[Any]:
    names = " or ".join(choice.__name__ for choice in choices)
    try:
        wanted = np.dtype(dtype)
    except Exception:  # of many types
        raise TypeError(f"dtype={shown(dtype)} must be {names}") from None
    if wanted not in choices:
        raise ValueError(f"dtype={wanted} must be {names}")
    return wanted


def _check_stream(count: int, seed: int, purpose: int, start: int) -> Stream:
    check_int("count", count, 0)
    key = check_seed(seed)
    purpose = check_int("purpose", purpose, 0, 2**32 - 1)
    return key, purpose, check_int("start", start, 0, 2**62)


def philox(seed: int, counter: tuple[Any, Any, Any, Any]) -> tuple[Any, Any, Any, Any]:
    """Return the four words of Philox for a seed below 2**64 and four words below 2**32.

    As ``philox`` in ``kernels/core/philox.h``. Words are ints or arrays of uint64, which hold their
    products; other arrays raise TypeError.
    """
    checked = check_seed(seed)
    if len(as_sequence("counter", counter)) != 4:
        raise ValueError(f"counter={shown(counter)} must have four words")
    return rounds_of_philox(checked, tuple(map(_as_word, range(4), counter)))


def _as_word(place: int, word: Any) -> Any:
    """Check a word of a counter."""
    if not getattr(word, "ndim", 0):
        return check_int(f"counter[{place}]", word, 0, MASK)
    if word.dtype != np.uint64:
        raise TypeError(f"counter[{place}] is of dtype {word.dtype}; it must be of uint64")
    if word.size and word.max() > MASK:
        raise ValueError(f"counter[{place}] holds {word.max()}; words must be below 2**32")
    return word


def rounds_of_philox(seed: int, counter: tuple[Any, ...]) -> tuple[Any, Any, Any, Any]:
    """Return the words of `philox` for checked arguments."""
    a, b, c, d = counter
    low, high = seed & MASK, seed >> 32
    for _ in range(10):
        first, second = a * 0xD2511F53, c * 0xCD9E8D57
        a, b = (second >> 32) ^ b ^ low, second & MASK
        c, d = (first >> 32) ^ d ^ high, first & MASK
        low, high = (low + 0x9E3779B9) & MASK, (high + 0xBB67AE85) & MASK
    return a, b, c, d


def _array_bits(xp: Any, count: int, stream: Stream, dtype: DTypeLike) -> NDArray[Any]:
    """Draw bits by arithmetic on arrays of the library `xp`."""
    seed, purpose, start = stream
    numbers = 16 // np.dtype(dtype).itemsize  # in a block
    blocks = xp.arange(start // numbers, -(-(start + count) // numbers), dtype=np.uint64)
    a, b, c, d = rounds_of_philox(seed, (blocks & MASK, blocks >> 32, 0, purpose))
    words = (a, b, c, d) if numbers == 4 else (a | b << 32, c | d << 32)
    flat: NDArray[Any] = xp.stack(words, axis=1).astype(dtype).reshape(-1)
    return flat[start % numbers :][:count]


def _multiply_high(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    x_low, x_high, y_low, y_high = x & MASK, x >> 32, y & MASK, y >> 32
    middle = x_high * y_low + (x_low * y_low >> 32)
    high: NDArray[Any] = x_high * y_high + (middle >> 32)
    high += x_low * y_high + (middle & MASK) >> 32
    return high
