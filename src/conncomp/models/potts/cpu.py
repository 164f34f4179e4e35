"""The Potts model on the CPU: passes arrays to ``kernels/cpu/models/potts``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import check_choice, shown
from conncomp._core import native
from conncomp.kernels.lattice import BITS, MOST_AXES, Lattice
from conncomp.models._arguments import Drawn
from conncomp.models._probabilities import CERTAIN
from conncomp.models.potts.updates import ChosenSites

Words = NDArray[np.uint64]
Record = NDArray[np.int64]


# Options of labelling="tiles", of which the CPU has none.
OF_A_GPU = frozenset(("activation", "local", "merge", "paths", "sites", "tile", "trees"))


class Engine:
    """Updates of the spins of replicas, which arrays of words hold.

    Parameters
    ----------
    drawn : Drawn
    lattice : Lattice
    labelling : {"auto", "serial"}
        How clusters are found.
    options : dict
        There are none.

    Raises
    ------
    ValueError
        If the CPU has no such labelling.
    """

    xp = np

    def __init__(
        self, drawn: Drawn, lattice: Lattice, labelling: str, options: dict[str, Any]
    ) -> None:
        check_choice("labelling", labelling, ("auto", "serial"))
        for name in options:
            if name not in OF_A_GPU:
                raise TypeError(
                    f"Potts has no argument {name!r}; a temperature is temperature= or beta=, a "
                    "coupling coupling=, a field field=, and how clusters are found labelling="
                )
        if options:
            raise ValueError(f"options={shown(options)} are for a GPU; leave them out on the CPU")
        self._lattice, self._replicas = lattice, drawn.replicas
        struct = lattice.struct
        self._engine = native.PottsEngine(
            struct["length"].tolist(),
            int(struct["periodic"]),
            lattice.states,
            lattice.planes,
            drawn.seed,
            drawn.first_replica,
            drawn.replicas,
            lattice.ndim,
            labelling == "serial",
        )

    def start(self, words: Words) -> None:
        """Draw the first spins."""
        self._engine.start(_flat(words))

    def update(
        self,
        words: Words,
        new: Words,
        step: int,
        probabilities: Words,
        chosen: ChosenSites | None,
        record: Record | None,
        clusters: bool,
        wrapping: bool,
    ) -> None:
        """Flip clusters: those of `chosen` sites, or else all."""
        tile = flip = None
        if chosen is not None:
            tile = (*(1,) * (MOST_AXES - self._lattice.ndim), *chosen.tile)
            flip = None if chosen.p_flip == CERTAIN else chosen.p_flip
        of_clusters = probabilities, tile, flip, _flat(record), clusters, wrapping
        self._engine.update(_flat(words), _flat(new), step, *of_clusters)

    def metropolis(
        self, words: Words, new: Words, step: int, acceptance: Words, record: Record | None
    ) -> None:
        """Offer each site another state."""
        most_lost = acceptance.shape[1] - 1
        self._engine.metropolis(
            _flat(words), _flat(new), step, _flat(acceptance), most_lost, _flat(record)
        )

    def count(self, words: Words, record: Record) -> None:
        """Count satisfied bonds and the sites of each state."""
        self._engine.count(_flat(words), _flat(record))

    def bonds(self, words: Words, step: int, probabilities: Words) -> Words:
        """Return the bonds that an update at this step makes active, along each axis."""
        lattice = self._lattice
        bonds = np.empty((self._replicas, lattice.ndim, lattice.rows, lattice.columns), BITS)
        self._engine.bonds(_flat(words), step, probabilities, _flat(bonds))
        return bonds


def _flat(array: NDArray[Any] | None) -> Any:
    return None if array is None else array.reshape(-1)
