"""Exact results for the plots of a model: curves and transitions; and the Nishimori line.

Energies are derivatives of ln Z, of which one of two integrals is done,

    ln Z of a cell = ... + 1/2 mean over theta of ln(a + sqrt(a^2 - b^2)),

with a and b as `_INTEGRANDS` has them: L. Onsager, Phys. Rev. 65, 117 (1944), of the square lattice
(eq. 108), R. M. F. Houtappel, Physica 16, 425 (1950), of the triangular and the honeycomb one. A
kagome lattice is a honeycomb with other couplings by decoration and the star-triangle
transformation: K. Kano, S. Naya, Prog. Theor. Phys. 10, 158 (1953). Magnetisations are those of
C. N. Yang, Phys. Rev. 85, 808 (1952), R. B. Potts, Phys. Rev. 88, 352 (1952), of the triangular
lattice, and S. Naya, Prog. Theor. Phys. 11, 53 (1954), of the honeycomb.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import pi
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from conncomp.cli._picture import Curve, Known
from conncomp.models import Potts
from conncomp.models.lattices import CRITICAL as OF_ISING
from conncomp.models.places import HYPERCUBIC
from conncomp.models.protocol import Floats
from conncomp.models.vectors.model import CRITICAL

ENERGY_OF_BOND = "energy a bond"
ENERGY, MAGNETISATION, HELICITY = "energy a site", "magnetisation", "helicity modulus"
BONDS = {"square": 2.0, "triangular": 3.0, "honeycomb": 1.5, "kagome": 2.0}  # a site
_ANGLES = 1 << 13  # of the integral; so many that it is right to 1e-7 at the critical point
_COLDEST = 18.0  # beta J at which all is as it is at 0, to double precision
SITES = {"square": 1, "triangular": 1, "honeycomb": 2, "kagome": 3}  # of a cell


def known_of(parameters: Mapping[str, Any]) -> Known:
    """Return what is known of an infinite lattice, for a model with these parameters."""
    if parameters.get("field"):
        return Known({}, None)
    lattice = parameters.get("lattice") or HYPERCUBIC[len(parameters["shape"]) - 1]
    temperature = _transition(parameters, lattice)
    name = "T_KT" if parameters["model"] == "XY" and lattice == "square" else "T_c"
    transition = None if temperature is None else (name, temperature)
    return Known(_curves(parameters, lattice), transition)


def known_of_glass(positive: float | None, is_whole: bool) -> Known:
    """Return what is known of a ±J glass, of which this share of the couplings is positive."""
    if positive is None or not is_whole or not 0.5 < positive < 1:
        return Known({}, None)
    temperature = nishimori_temperature(positive)
    points = {ENERGY_OF_BOND: (temperature, 1 - 2 * positive)}
    return Known({}, ("Nishimori line", temperature), points)


def _transition(parameters: Mapping[str, Any], lattice: str) -> float | None:
    """Return where the model has its transition; None where nobody knows."""
    model, coupling = parameters["model"], float(parameters["coupling"])
    if coupling < 0:
        return None
    if model == "Potts":
        named = None if lattice in HYPERCUBIC else lattice
        try:
            axes = len(parameters["shape"])
            return coupling / Potts.critical_beta(parameters["q"], axes, lattice=named)
        except ValueError:
            return None
    kind = model, parameters.get("q", parameters.get("n", 0))
    known = (OF_ISING if model == "Ising" else CRITICAL.get(kind, {})).get(lattice)
    return None if known is None else coupling * known


def _curves(parameters: Mapping[str, Any], lattice: str) -> dict[str, Curve]:
    model, coupling = parameters["model"], parameters["coupling"]
    if model == "XY" and lattice == "square" and coupling > 0:
        return {HELICITY: ("2T/π", universal_jump)}
    two_states = model == "Potts" and parameters["q"] == 2
    if not (model == "Ising" or two_states) or lattice not in SITES:
        return {}
    # Of two states -J delta is -J/2 s s' - J/2.
    strength = coupling / 2 if two_states else coupling
    offset = strength * BONDS[lattice] if two_states else 0.0
    curves: dict[str, Curve] = {
        ENERGY: ("exact", lambda t: ising_energy(lattice, t, strength) - offset)
    }
    if coupling > 0 and lattice != "kagome":
        curves[MAGNETISATION] = "exact", partial(ising_magnetisation, lattice, coupling=strength)
    return curves


def ising_energy(lattice: str, temperature: ArrayLike, coupling: float = 1.0) -> Floats:
    """Return the energy a site of the Ising model on an infinite lattice of `SITES`."""
    return coupling * -_slope(lattice, _couplings(temperature, coupling)) / SITES[lattice]


def ising_magnetisation(lattice: str, temperature: ArrayLike, coupling: float = 1.0) -> Floats:
    """Return the spontaneous magnetisation a site of a ferromagnet on one of `_MAGNETISED`."""
    x = np.exp(-2 * _couplings(temperature, coupling))
    with np.errstate(divide="ignore"):
        eighth = 1 - _MAGNETISED[lattice](x)
    below = np.asarray(temperature) < OF_ISING[lattice] * coupling
    return np.where(below, np.maximum(eighth, 0) ** (1 / 8), 0.0)


def nishimori_temperature(positive: float) -> float:
    """Return T of the Nishimori line of a ±J glass of this share of positive couplings, J = 1.

    There ``tanh(1 / T) = 2 p - 1``, and a bond's mean energy is -(2 p - 1) on any lattice: H.
    Nishimori, Prog. Theor. Phys. 66, 1169 (1981). Above p = 1/2, and below 1.
    """
    return 1 / float(np.arctanh(2 * positive - 1))


def universal_jump(temperature: ArrayLike) -> Floats:
    """Return 2 T / pi: D. R. Nelson, J. M. Kosterlitz, Phys. Rev. Lett. 39, 1201 (1977)."""
    return 2 / pi * np.asarray(temperature, np.float64)


def _couplings(temperature: ArrayLike, coupling: float) -> Floats:
    with np.errstate(divide="ignore"):
        couplings = coupling / np.asarray(temperature, np.float64)
    return np.clip(couplings, -_COLDEST, _COLDEST)


def _square(c: Floats, s: Floats, cosine: Floats) -> tuple[Floats, ...]:
    return c**2 - s * cosine, 4 * c * s - 2 * c * cosine, s, 2 * c


def _triangular(c: Floats, s: Floats, cosine: Floats) -> tuple[Floats, ...]:
    half = np.sqrt(2 * (1 + cosine))  # twice the cosine of half the angle
    a, slope = c**3 + s**3 - s * cosine, 6 * c**2 * s + 6 * s**2 * c - 2 * c * cosine
    return a, slope, s * half, 2 * c * half


def _honeycomb(c: Floats, s: Floats, cosine: Floats) -> tuple[Floats, ...]:
    half = np.sqrt(2 * (1 + cosine))
    a, slope = c**3 + 1 - s**2 * cosine, 6 * c**2 * s - 4 * s * c * cosine
    return a, slope, s**2 * half, 4 * s * c * half


# a, its derivative by the coupling, b and its derivative, given cosh and sinh of twice that.
_INTEGRANDS = {"square": _square, "triangular": _triangular, "honeycomb": _honeycomb}
# What the eighth power of the magnetisation is less than 1, given exp(-2 K).
_MAGNETISED: dict[str, Callable[[Floats], Floats]] = {
    "square": lambda x: (2 * x / (1 - x**2)) ** 4,
    "triangular": lambda x: 16 * x**6 / ((1 + 3 * x**2) * (1 - x**2) ** 3),
    "honeycomb": lambda x: 16 * x**3 * (1 + x**3) / ((1 - x) * (1 - x**2)) ** 3,
}


def _slope(lattice: str, couplings: Floats) -> Floats:
    """Return the derivative of ln Z of a cell by the coupling."""
    if lattice == "kagome":
        grown = np.exp(4 * couplings)
        decorated = (grown + 1) / 2  # cosh of twice the coupling of a star
        of_honeycomb = _slope("honeycomb", np.log(decorated) / 2)
        of_stars = 2 + 4 * grown / (grown + 3)
        return np.asarray((of_honeycomb + 3) * grown / decorated - of_stars, np.float64)
    k = couplings[..., None]
    cosine = np.cos(2 * pi * (np.arange(_ANGLES) + 0.5) / _ANGLES)
    a, of_a, b, of_b = _INTEGRANDS[lattice](np.cosh(2 * k), np.sinh(2 * k), cosine)
    root = np.sqrt(np.maximum(a * a - b * b, 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        of_root = np.where(root > 0, (a * of_a - b * of_b) / root, 0)
    return np.asarray(((of_a + of_root) / (a + root)).mean(axis=-1) / 2, np.float64)
