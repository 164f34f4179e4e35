"""Where models of vectors have their transitions, for a coupling of 1.

XY on the square lattice, of Kosterlitz and Thouless: 1 / 1.1199(1), M. Hasenbusch, J. Phys. A 38,
5869 (2005). On the cubic one K_c = 0.4541659(10) of XY and 0.693003(2) of Heisenberg: Y. Deng,
H. W. J. Bloete, M. P. Nightingale, Phys. Rev. E 72, 016128 (2005); 0.935856(2) of four components:
Y. Deng, Phys. Rev. E 73, 056116 (2006). Clocks of two to four hours are Ising and Potts models.
"""

from __future__ import annotations

from math import log, sqrt

KNOWN = {
    "XY": {"square": 1 / 1.1199, "cubic": 1 / 0.4541659},
    "Heisenberg": {"cubic": 1 / 0.693003},
}
_ISING = 2 / log(1 + sqrt(2))
_CLOCKS = {2: _ISING, 3: 1.5 / log(1 + sqrt(3)), 4: _ISING / 2}


def critical_temperatures(model: str, states: int = 0) -> dict[str, float]:
    """Return critical temperatures by lattice, of a model and its hours or components."""
    if model == "Clock":
        return {"square": _CLOCKS[states]} if states in _CLOCKS else {}
    if model == "ON":
        return {"cubic": 1 / 0.935856} if states == 4 else {}
    return KNOWN.get(model, {})
