"""What acts on the spins of a glass, as arrays that the kernels read."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp.kernels.spin_glass import GlassReplicas, bits_of_samples, digits_of_replicas
from conncomp.models._logarithms import logarithm_table, temperature_factors
from conncomp.models.spin_glass.chances import level_probabilities
from conncomp.models.spin_glass.couplings import Bonds


class Acting(NamedTuple):
    """Couplings as bits, or as numbers.

    `arrays` are, of bits, whose bonds are negative and, unless all are there, whose are there; of
    numbers, couplings and, unless all are 0, fields.
    """

    replicas: GlassReplicas
    bonds: Bonds
    arrays: tuple[NDArray[np.generic], NDArray[np.generic] | None]

    @property
    def numbers(self) -> bool:
        """Whether couplings are numbers."""
        return self.bonds.magnitude is None

    @property
    def logarithm(self) -> NDArray[np.uint32]:
        """The table of logarithms that numbers are compared by."""
        return logarithm_table()

    def temperatures(self, betas: NDArray[np.float64], rule: str) -> NDArray[np.generic]:
        """Return inverse temperatures, one of each replica, as the kernels take them."""
        bonds, replicas = self.bonds, self.replicas
        if bonds.magnitude is None:
            exponents = np.repeat(bonds.exponents, replicas.per_sample)
            return temperature_factors(betas, exponents)
        axes, whole = replicas.lattice.ndim, self.arrays[1] is None
        kinds = axes + 1 if whole else 2 * axes + 1
        return digits_of_replicas(
            replicas, level_probabilities(betas, bonds.magnitude, rule, kinds, whole)
        )


def as_acting(replicas: GlassReplicas, bonds: Bonds) -> Acting:
    """Return bonds and fields as arrays."""
    if bonds.magnitude is None:
        return Acting(replicas, bonds, (bonds.couplings, bonds.fields))
    there = bonds.couplings != 0
    present = None if there.all() else bits_of_samples(replicas, there)
    return Acting(replicas, bonds, (bits_of_samples(replicas, bonds.couplings < 0), present))
