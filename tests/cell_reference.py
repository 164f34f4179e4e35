"""The bonds of a lattice of unit cells, one after the other, by the cell's list."""

from itertools import product

import numpy as np


def bonds_of(cell, shape, borders):
    """Yield (site, other site, sign, kind's key, owner) for each bond of a lattice.

    The owner is the site from which the bond leads to an earlier row, or on along its own; the key
    is how many rows and sites it moves.
    """
    count = len(cell.sites)

    def number(at, site):
        return int(np.ravel_multi_index(at, shape)) * count + site

    for at in product(*map(range, shape)):
        for start, end, step in cell.bonds:
            there = [a + s for a, s in zip(at, step, strict=True)]
            left = [not 0 <= a < n for a, n in zip(there, shape, strict=True)]
            if any(out and border == "open" for out, border in zip(left, borders, strict=True)):
                continue
            turns = sum(
                out and border == "antiperiodic" for out, border in zip(left, borders, strict=True)
            )
            sites = (
                number(at, start),
                number([a % n for a, n in zip(there, shape, strict=True)], end),
            )
            rows, along = step[:-1], end - start + count * step[-1]
            if rows > (0,) * len(rows) or (not any(rows) and along < 0):
                rows, along, sites = tuple(-r for r in rows), -along, sites[::-1]
            yield (*sites, 1 - 2 * (turns % 2), (rows, along))
