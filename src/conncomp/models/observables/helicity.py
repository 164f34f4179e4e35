"""The helicity modulus on any lattice: how much free energy a slow twist takes.

What: of spins of n components, along Cartesian direction d, ``(2/n sum of J s_i.s_j d_ij^2 - beta
mean over k of (sum of J (s_i x s_j)_k d_ij)^2) / V``, where d_ij is how far a bond leads along d, k
are the planes of rotations, and V is the volume; on hypercubic lattices kernels of words measure
the same. How: bonds that lead equally far are a class, whose products and cross products are summed
as integers in units of 2**-28, the same on CPU and GPU. Cost: two random reads and a table's entry
a bond. Source: S. Teitel, C. Jayaprakash, Phys. Rev. B 27, 598 (1983).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp.kernels.edges import ANGLES, DIRECTIONS, UNIT_BITS
from conncomp.kernels.vector_spins import DIRECTION_BITS, MEASURE_BITS, TURN, numbers_of
from conncomp.models.places import check_lattice
from conncomp.models.spins.state import SpinState

TOGETHER = 1 << 22  # bonds of all replicas looked at together, to save memory


class Helicity:
    """The helicity modulus of an XY or Heisenberg model on a lattice."""

    def __init__(self, state: SpinState, clusters: bool) -> None:
        kind, xp = state.layout.kind, state.engine.xp
        if kind not in (ANGLES, DIRECTIONS):
            raise ValueError(
                "observe='helicity_modulus' is for XY and Heisenberg models, whose spins can be "
                f"twisted a little, and not the {state.name} model"
            )
        place, edges = check_lattice(state.place, "helicity_modulus"), state.all_bonds()
        self._state, self._kind = state, kind
        classes, displacements = place.displacements()
        u, v = map(xp.asarray, edges.ends)
        couplings = None if edges.couplings is None else xp.asarray(edges.couplings)
        self._bonds = []
        for number in range(len(displacements)):
            bonds = xp.asarray(np.flatnonzero(classes == number))
            of_class = None if couplings is None else couplings[bonds].astype(np.int64)
            self._bonds.append((u[bonds], v[bonds], of_class))
        if kind is ANGLES:
            turns = 2 * np.pi * np.arange(TURN) / TURN
            waves = np.ldexp(np.stack([np.cos(turns), np.sin(turns)]), MEASURE_BITS)
            self._table = xp.asarray(np.rint(waves).astype(np.int32))
        self.reader = Twists(displacements, place.volume, kind.components, edges.scale)

    def measure(self, record: Any, field: int) -> None:
        """Add, for each class of bonds, sums of products and of cross products."""
        spins = self._state.now
        flat = spins.reshape(len(spins), -1)
        each, together = 1 + self.reader.rotations, max(1, TOGETHER // len(flat))
        for number, (u, v, couplings) in enumerate(self._bonds):
            first = field + number * each
            for begin in range(0, len(u), together):
                some = slice(begin, begin + together)
                for k, products in enumerate(self._products(flat[:, u[some]], flat[:, v[some]])):
                    if couplings is not None:
                        products = products * couplings[some] >> UNIT_BITS
                    record[:, first + k] += products.sum(axis=1, dtype=np.int64)

    def _products(self, a: Any, b: Any) -> Iterator[Any]:
        """Yield products of spins, and components of their cross products, in units of 2**-28."""
        if self._kind is ANGLES:
            between = (b - a).astype(np.int64)
            for table in self._table:
                yield table[between].astype(np.int64)
            return
        shift = 2 * DIRECTION_BITS - MEASURE_BITS
        p, q = numbers_of(a), numbers_of(b)
        yield p[0] * q[0] + p[1] * q[1] + p[2] * q[2] >> shift
        for k in range(3):
            i, j = (k + 1) % 3, (k + 2) % 3
            yield p[i] * q[j] - p[j] * q[i] >> shift


@dataclass(frozen=True)
class Twists:
    """Reads helicity moduli.

    `displacements` are how far the bonds of each class lead; `scale` is the strongest coupling.
    """

    displacements: NDArray[np.float64]
    volume: float
    components: int
    scale: float

    names = ("helicity_modulus",)

    @property
    def rotations(self) -> int:
        """The planes in which a spin can be rotated."""
        return self.components * (self.components - 1) // 2

    @property
    def length(self) -> int:
        """The number of fields."""
        return len(self.displacements) * (1 + self.rotations)

    def value(self, name: str, fields: NDArray[np.int64], series: Any) -> NDArray[np.float64]:
        """Return values whose mean is the modulus, a direction along the last axis."""
        sums = self.scale * np.ldexp(fields.astype(np.float64), -MEASURE_BITS)
        by_class = sums.reshape(*fields.shape[:-1], len(self.displacements), 1 + self.rotations)
        along = by_class[..., 0] @ self.displacements**2
        currents = np.moveaxis(by_class[..., 1:], -1, -2) @ self.displacements
        beta = np.asarray(series.beta)[..., None]
        bent = 2 / self.components * along - beta * (currents**2).mean(axis=-2)
        return np.asarray(bent / self.volume, np.float64)

    def estimates(self, values: dict[str, NDArray[Any]]) -> dict[str, Any]:
        """Return the mean over directions."""
        return {"helicity_modulus": (np.asarray, values["helicity_modulus"].mean(axis=-1))}
