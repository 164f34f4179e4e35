"""Couplings and fields that are drawn: numbers by (seed, sample), the same on every machine.

Normal ones are made by rational functions of the quantile [1]_ and a logarithm of additions,
multiplications and divisions, which IEEE 754 rounds alike everywhere, as it does not exponentials
and logarithms.

.. [1] M. J. Wichura, Algorithm AS 241, Applied Statistics 37, 477 (1988): PPND16.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import as_number, check_choice, check_range, shown
from conncomp.generate.random import MASK, philox
from conncomp.models._arguments import MOST_REPLICAS, MOST_SEED, as_tuple, room_for
from conncomp.models.protocol import Floats

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


def check_distribution(name: str, kind: Any, positive: Any, dilution: Any) -> Distribution:
    """Return what these arguments say, of which `kind` has this name; None is the default."""
    check_choice(name, kind, KINDS)
    if positive is not None and kind != "pm":
        raise ValueError(f'positive={shown(positive)} is for {name}="pm"; leave it out')
    above = 0.5 if positive is None else as_number("positive", positive)
    absent = 0.0 if dilution is None else as_number("dilution", dilution)
    if not 0 <= above <= 1:
        raise ValueError(f"positive={shown(positive)} must be from 0 to 1")
    if not 0 <= absent < 1:
        raise ValueError(f"dilution={shown(dilution)} must be 0 or more, and below 1")
    return Distribution(kind, above, absent)


def random_couplings(
    size: int | Sequence[int],
    kind: str = "pm",
    *,
    seed: int = 0,
    sample: int = 0,
    positive: float | None = None,
    dilution: float = 0.0,
) -> Floats:
    """Draw couplings, float64: ±1, of a normal distribution, or diluted ones.

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
    drawn = check_distribution("kind", kind, positive, as_number("dilution", dilution))
    return _of_sample(size, drawn, COUPLING, seed, sample)


def random_fields(
    size: int | Sequence[int], kind: str = "gaussian", *, seed: int = 0, sample: int = 0
) -> Floats:
    """Draw fields of strength 1, float64: of a normal distribution, or ±1.

    They do not depend on `random_couplings`.

    Parameters
    ----------
    size : int or sequence of int
        How many, or the shape of an array of them, such as that of a model's spins.
    kind : {"gaussian", "pm"}, optional
    seed, sample : int, optional
        As of `random_couplings`.

    Examples
    --------
    The Ising model in a random field:

    >>> from conncomp.models import Ising, random_fields
    >>> field = 0.5 * random_fields((12, 12, 12), seed=1, sample=2)
    >>> model = Ising((12, 12, 12), lattice="cubic", temperature=3.0, field=field, seed=1)
    >>> model.step(10)
    """
    return _of_sample(size, check_distribution("kind", kind, None, None), FIELD, seed, sample)


def draw_numbers(index: NDArray[np.uint64], drawn: Distribution, purpose: int, seed: int) -> Floats:
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
) -> Floats:
    lengths = as_tuple(size, name="size")
    shape = tuple(check_range("size", length, 0, MOST_DRAWN - 1) for length in lengths)
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


def _unit_interval(low: NDArray[np.uint32], high: NDArray[np.uint32]) -> Floats:
    """Return numbers above 0 and below 1: the middles of 2**52 intervals."""
    bits = np.asarray(low, np.uint64) | np.asarray(high, np.uint64) << np.uint64(32)
    return ((bits >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


_MIDDLE = (
    (3.3871328727963666080, 1.3314166789178437745e2, 1.9715909503065514427e3,
     1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
     3.3430575583588128105e4, 2.5090809287301226727e3),
    (1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
     2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4,
     5.2264952788528545610e3),
)  # fmt: skip
_NEAR = (
    (1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550,
     3.64784832476320460504, 1.27045825245236838258, 2.41780725177450611770e-1,
     2.27238449892691845833e-2, 7.74545014278341407640e-4),
    (1.0, 2.05319162663775882187, 1.67638483018380384940, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
     1.05075007164441684324e-9),
)  # fmt: skip
_FAR = (
    (6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580,
     2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
     2.71155556874348757815e-5, 2.01033439929228813265e-7),
    (1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
     2.04426310338993978564e-15),
)  # fmt: skip
_LN_TWO = 0.6931471805599453


def normal_quantile(p: Floats) -> Floats:
    """Return the quantiles of the normal distribution of mean 0 and variance 1, 0 < p < 1."""
    centred = p - 0.5
    r = 0.180625 - centred * centred
    quantile: Floats = centred * _ratio(_MIDDLE, r)
    tail = np.abs(centred) > 0.425
    r = np.sqrt(-_logarithm(np.minimum(p, 1 - p)[tail]))
    magnitude = np.where(r <= 5, _ratio(_NEAR, r - 1.6), _ratio(_FAR, r - 5))
    quantile[tail] = np.where(centred[tail] < 0, -magnitude, magnitude)
    return quantile


def _ratio(polynomials: tuple[tuple[float, ...], ...], x: Floats) -> Any:
    above, below = (np.polyval(coefficients[::-1], x) for coefficients in polynomials)
    return np.asarray(above / below, np.float64)


def _logarithm(x: Floats) -> Floats:
    """Return ln x by 2 artanh((m - 1) / (m + 1)), m from 0.5 to 1, to about 15 digits."""
    mantissa, power = np.frexp(x)
    z = (mantissa - 1) / (mantissa + 1)
    coefficients = [1 / (2 * k + 1) for k in reversed(range(18))]
    return np.asarray(2 * z * np.polyval(coefficients, z * z) + power * _LN_TWO)
