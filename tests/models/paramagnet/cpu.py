"""Paramagnets on the CPU."""

from typing import Any

import numpy as np

from conncomp import label
from conncomp.kernels.updates import Drawn
from models.paramagnet.measurements import COMPONENTS, UP


class ParamagnetEngine:
    """Draws spins of replicas, and counts them."""

    xp = np

    def __init__(self, drawn: Drawn, probability: float) -> None:
        self._drawn, self._probability = drawn, probability

    def draw(self, number: int, spins: Any) -> None:
        """Fill the spins of an update, each a function of seed, replica, update and site."""
        drawn = self._drawn
        for replica, lattice in enumerate(spins, start=drawn.first_replica):
            random = np.random.default_rng((drawn.seed, replica, number)).random(lattice.shape)
            lattice[...] = random < self._probability

    def count(self, spins: Any, record: Any) -> None:
        """Count the spins that are up, and their components, into a record."""
        record[:, UP] = spins.sum(axis=tuple(range(1, spins.ndim)))
        _, numbers = label(spins, connectivity=1, batch_axes=1, return_num=True)
        record[:, COMPONENTS] = numbers
