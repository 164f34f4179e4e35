"""The probability that a lattice wraps at the percolation threshold."""

from __future__ import annotations

from conncomp._arguments import as_number, shown
from conncomp.kernels.cells import CellLattice
from conncomp.kernels.lattice import Lattice
from conncomp.models.percolation.lattices import SQUARE

# Of the square torus in the limit of many sites, by the formula of H. T. Pinson, J. Stat. Phys. 75,
# 1167 (1994); see also R. M. Ziff, C. D. Lorenz, P. Kleban, Physica A 266, 17 (1999).
BALANCE = "balance"
WRAPPING_AT_THRESHOLD = {
    "any": 0.690473724570,
    "axis": 0.521058289249,
    "all": 0.351642853927,
    "cross": 0.309526275430,
}


def crossing_at_threshold(
    lattice: Lattice | CellLattice, geometry: str, event: str, crossing: float | None
) -> float:
    """Return the wrapping probability at p_c: what is given, or else known."""
    if event == BALANCE:
        if lattice.ndim != 2 or not all(lattice.periodic) or crossing is not None:
            raise ValueError(
                'event="balance" is for two periodic axes, and without crossing, which is 1/2'
            )
        return 0.5
    if crossing is None:
        square = lattice.ndim == 2 and len(set(lattice.shape)) == 1
        if not square or not all(lattice.periodic) or geometry != SQUARE:
            raise ValueError(
                "crossing=None is known for two periodic axes of equal length of a square "
                'lattice only; give the wrapping probability at p_c, or take event="balance" in '
                "two dimensions"
            )
        return WRAPPING_AT_THRESHOLD[event]
    value = as_number("crossing", crossing)
    if not 0 < value < 1:
        raise ValueError(f"crossing={shown(crossing)} must be above 0 and below 1")
    return value
