"""Couplings and fields that are drawn: numbers by (seed, sample), the same on every machine."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import as_number, check_choice, check_range, shown
from conncomp.generate.random import MASK, philox
from conncomp.models._arguments import MOST_REPLICAS, MOST_SEED, as_tuple
from conncomp.models._memory import room_for
from conncomp.models.disorder.quantiles import normal_quantile

KINDS = ("pm", "gaussian")
COUPLING, FIELD = 26, 28  # purposes of random numbers: ``kernels/core/spins.h``
SAMPLE_SHIFT = 40  # where an index has the sample
MOST_DRAWN = 1 << SAMPLE_SHIFT
PIECE = 1 << 16  # numbers drawn at once, as some ten arrays of words are made of each


class Distribution(NamedTuple):
    """Numbers of `KINDS`: which share of "pm" is positive, and which share of all is 0."""

    kind: str
    positive: float
    dilution: float


def random_couplings(
    size: int | Sequence[int],
    kind: str = "pm",
    *,
    seed: int = 0,
    sample: int = 0,
    positive: float | None = None,
    dilution: float = 0.0,
) -> NDArray[np.float64]:
    """Draw couplings: ±1, of a normal distribution, or diluted ones.

    Each is a function of its place in C order, of the seed and of the sample alone. Those of
    `SpinGlass` of one axis are the same.

    Parameters
    ----------
    size : int or sequence of int
        How many, such as ``len(model.edges)``; or the shape of an array of them.
    kind : {"pm", "gaussian"}, optional
        ±1, or normal numbers of mean 0 and variance 1.
    seed : int, optional
        0 to 2**64 - 1.
    sample : int, optional
        0 to 2**24 - 1.
    positive : float, optional
        Which share of the numbers of "pm" is 1: all of 1.0, a diluted ferromagnet; by default one
        half. Not for others.
    dilution : float, optional
        With which probability a number is 0, 0 or more and below 1.

    Returns
    -------
    ndarray of float64
        Of that shape.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind, or out of its range.
    MemoryError
        If there is no room for so many numbers.

    Examples
    --------
    An Ising model on a diluted triangular lattice:

    >>> from conncomp.models import Ising, random_couplings
    >>> bonds = len(Ising((16, 16), lattice="triangular", temperature=2.0).edges)
    >>> couplings = random_couplings(bonds, positive=1.0, dilution=0.2, seed=1, sample=3)
    >>> model = Ising((16, 16), lattice="triangular", temperature=2.0, coupling=couplings)
    >>> round(float((couplings == 0).mean()), 1)
    0.2
    """
    check_choice("kind", kind, KINDS)
    if positive is not None and kind != "pm":
        raise ValueError(f'positive={shown(positive)} is for kind="pm"; leave it out')
    shares = _share("positive", 0.5 if positive is None else positive), _share("dilution", dilution)
    if shares[1] == 1:
        raise ValueError(f"dilution={shown(dilution)} must be below 1")
    return _of_sample(size, Distribution(kind, *shares), COUPLING, seed, sample)


def random_fields(
    size: int | Sequence[int], kind: str = "gaussian", *, seed: int = 0, sample: int = 0
) -> NDArray[np.float64]:
    """Draw fields: of a normal distribution, or ±1. They do not depend on `random_couplings`.

    Parameters
    ----------
    size : int or sequence of int
        How many, or the shape of an array of them, such as that of a model's spins.
    kind : {"gaussian", "pm"}, optional
    seed, sample : int, optional
        As of `random_couplings`.

    Returns
    -------
    ndarray of float64
        Of that shape; times the strength of the field, it is what models take as ``field``.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind, or out of its range.
    MemoryError
        If there is no room for so many numbers.

    Examples
    --------
    The Ising model in a random field:

    >>> from conncomp.models import Ising, random_fields
    >>> field = 0.5 * random_fields((12, 12, 12), seed=1, sample=2)
    >>> model = Ising((12, 12, 12), lattice="cubic", temperature=3.0, field=field, seed=1)
    >>> model.step(10)
    """
    check_choice("kind", kind, KINDS)
    return _of_sample(size, Distribution(kind, 0.5, 0.0), FIELD, seed, sample)


def draw_numbers(
    index: NDArray[np.uint64], drawn: Distribution, purpose: int, seed: int
) -> NDArray[np.float64]:
    """Draw numbers by index, which has the sample in the bits from `SAMPLE_SHIFT` on.

    Block (index, step 0, purpose) has two numbers of 64 bits: the number's place among all of its
    kind, and whether it is 0: below `dilution`.
    """
    counter = index & np.uint64(MASK), index >> np.uint64(32), 0, purpose
    low, high, low_absent, high_absent = philox(seed, counter)
    value = _unit_interval(low, high)
    if drawn.kind == "pm":
        numbers = np.where(value < 1 - drawn.positive, -1.0, 1.0)
    else:
        numbers = normal_quantile(value)
    if drawn.dilution:
        numbers[_unit_interval(low_absent, high_absent) < drawn.dilution] = 0
    return numbers


def _of_sample(
    size: int | Sequence[int], drawn: Distribution, purpose: int, seed: int, sample: int
) -> NDArray[np.float64]:
    shape = tuple(
        check_range("size", length, 0, MOST_DRAWN - 1) for length in as_tuple(size, name="size")
    )
    count = prod(shape)
    if count >= MOST_DRAWN:
        raise ValueError(f"size={shown(size)} must be fewer than 2**40 numbers")
    of_sample = check_range("sample", sample, 0, MOST_REPLICAS - 1) << SAMPLE_SHIFT
    checked = check_range("seed", seed, 0, MOST_SEED)
    with room_for(f"size={shown(size)}, that is {count} numbers,", 8 * count):
        numbers = np.empty(count)
    for begin in range(0, count, PIECE):
        end = min(begin + PIECE, count)
        index = np.arange(begin, end, dtype=np.uint64) | np.uint64(of_sample)
        numbers[begin:end] = draw_numbers(index, drawn, purpose, checked)
    return numbers.reshape(shape)


def _share(name: str, given: float) -> float:
    number = as_number(name, given)
    if not 0 <= number <= 1:
        raise ValueError(f"{name}={shown(given)} must be 0 to 1")
    return number


def _unit_interval(low: NDArray[np.uint32], high: NDArray[np.uint32]) -> NDArray[np.float64]:
    """Return numbers above 0 and below 1: the middles of 2**52 intervals."""
    bits = np.asarray(low, np.uint64) | np.asarray(high, np.uint64) << np.uint64(32)
    return ((bits >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
