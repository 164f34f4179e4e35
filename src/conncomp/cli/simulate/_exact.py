"""Exact results for the plots of a model: curves and transitions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from conncomp.cli._picture import Curve, Known
from conncomp.models import Potts, exact
from conncomp.models.lattices import CRITICAL as OF_ISING
from conncomp.models.places import HYPERCUBIC
from conncomp.models.vectors.model import CRITICAL

ENERGY_OF_BOND = "energy a bond"
ENERGY, MAGNETISATION, HELICITY = "energy a site", "magnetisation", "helicity modulus"
BONDS = {"square": 2.0, "triangular": 3.0, "honeycomb": 1.5, "kagome": 2.0}  # a site


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
    temperature = exact.nishimori_temperature(positive)
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
        return {HELICITY: ("2T/π", exact.universal_jump)}
    two_states = model == "Potts" and parameters["q"] == 2
    if not (model == "Ising" or two_states) or lattice not in exact.SITES:
        return {}
    # Of two states -J delta is -J/2 s s' - J/2.
    strength = coupling / 2 if two_states else coupling
    offset = strength * BONDS[lattice] if two_states else 0.0
    curves: dict[str, Curve] = {
        ENERGY: ("exact", lambda t: exact.ising_energy(lattice, t, strength) - offset)
    }
    if coupling > 0 and lattice != "kagome":
        magnetisation = partial(exact.ising_magnetisation, lattice, coupling=strength)
        curves[MAGNETISATION] = "exact", magnetisation
    return curves
