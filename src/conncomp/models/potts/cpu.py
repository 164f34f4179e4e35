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
from conncomp.models.spins.updates import Flips

# Options of labelling="tiles", of which the CPU has none.
OF_A_GPU = frozenset(("activation", "local", "merge", "paths", "sites", "tile", "trees"))


class NativeSpins:
    """An engine of the core for the spins of replicas, whose arrays it takes flat.

    `bonds_shape` and `bonds_dtype` are those of the bonds that an update draws.
    """

    xp, winds, sweeps = np, False, None
    rules: tuple[str, ...] = ()

    def __init__(self, engine: Any, bonds_shape: tuple[int, ...], bonds_dtype: Any = BITS) -> None:
        self._engine, self._bonds = engine, (bonds_shape, bonds_dtype)
        self._starting = engine

    def start(self, spins: NDArray[Any]) -> None:
        """Draw the first spins."""
        self._starting.start(spins.reshape(-1))

    def count(self, spins: NDArray[Any], record: NDArray[np.int64]) -> None:
        """Add what the spins tell to each replica's record."""
        self._engine.count(spins.reshape(-1), record.reshape(-1))

    def bonds(self, spins: NDArray[Any], step: int, *strengths: Any) -> NDArray[Any]:
        """Return the bonds that an update at this step makes active."""
        bonds = np.empty(*self._bonds)
        self._engine.bonds(spins.reshape(-1), step, *strengths, bonds.reshape(-1))
        return bonds


class Engine(NativeSpins):
    """Updates of the spins of replicas, which words hold; `labelling` is how clusters are found."""

    winds, rules = True, ("metropolis",)

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
        self._ndim, struct, (replicas, first_replica, seed) = lattice.ndim, lattice.struct, drawn
        bonds = struct["length"].tolist(), int(struct["periodic"]), lattice.states, lattice.planes
        how = seed, first_replica, replicas, lattice.ndim, labelling == "serial"
        shape = replicas, lattice.ndim, lattice.rows, lattice.columns
        super().__init__(native.PottsEngine(*bonds, *how), shape)

    def update(self, words: Any, new: Any, step: int, probabilities: Any, flips: Flips) -> None:
        """Fill `new` with the spins after an update of clusters."""
        chosen, record, clusters, wrapping, _ = flips
        tile = flip = None
        if chosen is not None:
            tile = (*(1,) * (MOST_AXES - self._ndim), *chosen.tile)
            flip = None if chosen.p_flip == CERTAIN else chosen.p_flip
        flat = None if record is None else record.reshape(-1)
        asked = probabilities, tile, flip, flat, clusters, wrapping
        self._engine.update(words.reshape(-1), new.reshape(-1), step, *asked)

    def offer(self, words: Any, new: Any, step: int, acceptance: Any, rule: str) -> None:
        """Fill `new` with the spins after a sweep of Metropolis updates."""
        table = acceptance.reshape(-1), acceptance.shape[1] - 1, None
        self._engine.metropolis(words.reshape(-1), new.reshape(-1), step, *table)
