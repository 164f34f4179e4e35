"""What models have whose spins are words of states: `Potts`, and `Ising`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arguments import check_choice
from conncomp._arrays import placed
from conncomp.kernels.edges import STATES, WHOLE, EdgeBonds, SpinKind
from conncomp.kernels.lattice import BITS, Lattice, check_words, pack
from conncomp.models._arguments import room_for
from conncomp.models._probabilities import acceptances, bond_probabilities
from conncomp.models.potts.measurements import COUNTS, Measurements, WeightedBonds
from conncomp.models.spins.model import SpinModel


class ClusterModel(SpinModel[Measurements]):
    """A model whose spins are words of states; it reads records as `_of_words` or `_of_edges`."""

    _of_words: ClassVar[type[Measurements]]
    _of_edges: ClassVar[type[WeightedBonds]]

    def wolff(
        self,
        updates: int = 1,
        *,
        measure: bool = True,
        clusters: bool = False,
        wrapping: bool = False,
        observe: str | Sequence[str] = (),
    ) -> Measurements | None:
        """Flip the cluster of one chosen site; the new state is any but the old one.

        Two states at beta = 0 have clusters of single sites, so that the number of sites in a state
        is even and odd in turn: means over a series are right, those of every second update not.

        Parameters
        ----------
        updates : int, optional
            How many clusters. Each takes as long as a sweep of `swendsen_wang` but on hypercubic
            lattices with one coupling and no field.
        measure, clusters, wrapping, observe, returns
            As of `swendsen_wang`; all clusters are measured then, which takes longer on a CPU.
        """
        return self._repeat("updates", updates, measure, "wolff", clusters, wrapping, observe)

    def heat_bath(
        self, sweeps: int = 1, *, measure: bool = True, observe: str | Sequence[str] = ()
    ) -> Measurements | None:
        """Give each site in turn a state with the probability that it has, given its neighbours.

        Sites change as of `metropolis`. Each probability is right to 2**-25.

        Parameters
        ----------
        sweeps, measure, observe, returns
            As of `metropolis`.
        """
        return self._repeat("sweeps", sweeps, measure, "heat-bath", observe=observe)

    @cached_property
    def _record_length(self) -> int:
        return COUNTS + self._words_lattice.states

    def _checked(self, arrays: tuple[NDArray[Any], ...]) -> tuple[Any, ...]:
        betas, words = arrays
        checked = self._check_betas("the state's beta", betas)
        check_words(self._words_lattice, self._new_spins.shape, words)
        return checked, placed(self._engine.xp, words.copy())

    def _series(self, records: NDArray[np.int64], *measured: bool) -> Measurements:
        if self._edges is not None:
            return self._of_edges(records, self._edges, self._edges.scale, *measured)
        return self._of_words(records, self.lattice, float(self.coupling), *measured)

    def _energy_unit(self) -> float:
        return -self._gain

    def _held_spins(self) -> tuple[Any, SpinKind, Lattice]:
        return self._spins, STATES, self._words_lattice

    @property
    def _gain(self) -> float:
        """How much lower the energy of a satisfied bond is; with `_edges` of one of `WHOLE`."""
        if self._edges is not None:
            return self._edge_gain * self._edges.scale / WHOLE
        return self._edge_gain * abs(float(self.coupling))

    def _all_bonds(self) -> EdgeBonds:
        lattice = self._words_lattice
        bonds = self._place.bonds(self.coupling, None, lattice.states)
        return bonds.in_words_of(lattice)

    def _new_strengths(self) -> Any:
        return self._engine.xp.asarray(bond_probabilities(self._betas, self._gain))

    def _local_engine(self, rule: str) -> tuple[Any, Any]:
        engine = self._engine
        if self._edges is None and rule in engine.rules:  # by words, 64 sites at once
            return engine, engine.xp.asarray(acceptances(self._betas, self._gain, self.lattice))
        return super()._local_engine(rule)

    def _no_spins(self) -> Any:
        lattice = self._words_lattice
        shape = self.replicas, lattice.planes, lattice.rows, lattice.columns
        what = f"{self._described_spins()} and {self.replicas} replicas, before and after an update"
        with room_for(what, 2 * BITS.itemsize * prod(shape)):
            return self._engine.xp.zeros(shape, BITS)

    def _first_spins(self, start: str | ArrayLike) -> Any:
        xp, lattice = self._engine.xp, self._words_lattice
        if isinstance(start, str):
            check_choice("start", start, ("hot", "cold"))
            words = self._no_spins()
            if start == "hot":
                self._engine.start(words)
            return words
        states = self._given_states(start)
        batch = states.shape[: states.ndim - len(self._place.shape)]
        spins = xp.asarray(states).reshape(*batch, *lattice.shape)
        spins = xp.broadcast_to(spins, (self.replicas, *lattice.shape))
        return pack(xp, lattice, xp.ascontiguousarray(spins))

    @abstractmethod
    def _described_spins(self) -> str:
        """Return what errors call the spins of a replica."""

    @abstractmethod
    def _given_states(self, start: ArrayLike) -> Any:
        """Return the states that a user gave, of the shape of one replica's spins or of all."""
