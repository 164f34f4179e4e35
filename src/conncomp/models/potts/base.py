"""What models have whose spins clusters flip: inverse temperatures, spins as words, and updates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arguments import check_choice
from conncomp._arrays import placed
from conncomp.kernels.edges import STATES, WHOLE, EdgeBonds, SpinKind
from conncomp.kernels.lattice import BITS, Lattice, check_words, pack, unpack
from conncomp.models._memory import room_for
from conncomp.models.places import PlacedModel, bonds_of
from conncomp.models.potts.measurements import Measurements, record_length
from conncomp.models.potts.probabilities import bond_probabilities
from conncomp.models.statistics.summaries import Summary, summarise
from conncomp.models.temperatures import Thermal


class ClusterModel(PlacedModel, Thermal[Measurements]):
    """A model whose spins are words, and change by clusters: `Potts`, and `Ising`.

    It says `_words_lattice`, of whose rows the words are, and `_spins_in_words`, what errors call
    them; `_critical_beta`; its `_updates_engine`; `_given_states`, what it makes of the first spins
    that a user gives; and `_series`, what it reads of records.
    """

    _changing, _memory = ("_betas", "_words"), ("_new_words", "_local")

    coupling: float | NDArray[np.float64]
    _words_lattice: Lattice
    _words: Any
    _new_words: Any

    def measure(self) -> Measurements:
        """Return what can be measured without an update: energy and magnetisation.

        Returns
        -------
        Measurements
            Of the present spins, without an axis for updates.

        Examples
        --------
        >>> from conncomp.models import Potts
        >>> Potts((8, 8), start="cold", replicas=2).measure().energy
        array([-128., -128.])
        """
        return self._read(self._present())

    # ---------------------------------------------------------------------------------- the updates

    def metropolis(
        self, sweeps: int = 1, *, measure: bool = True, observe: str | Sequence[str] = ()
    ) -> Measurements | None:
        """Offer each site in turn another state, accepted with a min(1, exp(-beta dE)).

        Couplings may have any sign, and sites fields. Sites that are not neighbours are offered at
        once: those of even coordinate sums, then the others, or classes of a graph one after the
        other. Their neighbours given they are independent, and each is in detailed balance, so that
        a sweep leaves the distribution of Boltzmann as it is.

        The factor a is 15/16 for two states and 1 for more. So no flip of two states is certain: a
        sweep may flip any of the sites and leave the others, and leads from all spins to all spins.
        With a = 1 some starts would never leave a cycle of one energy. Of more states two sweeps
        lead from all spins to all spins, as a site can always go by a third state.

        Parameters
        ----------
        sweeps : int, optional
        measure : bool, optional
            Whether to measure each of them.
        observe : str or sequence of str, optional
            As of `updater`.

        Returns
        -------
        Measurements or None

        References
        ----------
        N. Metropolis and others, J. Chem. Phys. 21, 1087 (1953).

        Examples
        --------
        >>> from conncomp.models import Ising
        >>> model = Ising((6, 6), lattice="triangular", coupling=-1.0, beta=5.0, seed=1)
        >>> float(model.metropolis(300).energy[-1])  # one bond of each triangle is not satisfied
        -36.0
        """
        return self._repeat("sweeps", sweeps, measure, update="metropolis", observe=observe)

    def heat_bath(
        self, sweeps: int = 1, *, measure: bool = True, observe: str | Sequence[str] = ()
    ) -> Measurements | None:
        """Give each site in turn a state with the probability that it has, given its neighbours.

        Sites change in the order of classes, and what they may be in is as of `metropolis`. Each
        probability is right to 2**-25.

        Parameters
        ----------
        sweeps, measure, observe, returns
            As of `metropolis`.
        """
        return self._repeat("sweeps", sweeps, measure, update="heat-bath", observe=observe)

    def energy(self) -> Any:
        """Return the energy of the whole lattice, for each replica."""
        return self.measure().energy[()]

    def magnetisation(self) -> Any:
        """Return the magnetisation a site, for each replica, as `Measurements.magnetisation`."""
        return self.measure().magnetisation[()]

    @staticmethod
    def summaries(series: Measurements, parameters: Mapping[str, Any]) -> list[Summary]:
        """Return what `conncomp.models.summarise` does, for `Simulation.summarise`."""
        every = parameters["measure_every"]
        return summarise(series, parameters["beta"], measure_every=every)

    # ----------------------------------------------------------------------- what the base asks for

    def _prepare(self) -> None:
        self._local: Any = None
        self._engine = self._updates_engine()
        # Bits beyond the rows are 0 in both words: updates write what belongs to sites.
        self._new_words = self._no_spins()

    def _checked(self, arrays: tuple[NDArray[Any], ...]) -> tuple[Any, ...]:
        betas, words = arrays
        checked = self._check_betas("the state's beta", betas)
        check_words(self._words_lattice, self._new_words.shape, words)
        return checked, placed(self._engine.xp, words.copy())

    @property
    def _record_length(self) -> int:
        return record_length(self._words_lattice)

    def _measure(self, record: Any) -> None:
        self._engine.count(self._words, record)

    def _read(self, records: NDArray[np.int64]) -> Measurements:
        return self._series(records, False)

    def _ladders(self) -> NDArray[np.int64]:
        return np.argsort(self._betas, kind="stable")[None, :]

    def _energy_unit(self) -> float:
        return -self._gain

    def _read_in_order(
        self, records: NDArray[np.int64], ladders: NDArray[np.int64]
    ) -> Measurements:
        return self._read(records)

    # -------------------------------------------------------------------------------------- helpers

    def _held_spins(self) -> tuple[Any, SpinKind, Lattice]:
        """Return the present spins, their kind, and the lattice of rows that the words are of."""
        return self._words, STATES, self._words_lattice

    def _planes_of_bonds(self) -> Any:
        """Return which bonds of words the next cluster update makes active.

        Returns
        -------
        array of bool, shape (planes, replicas, *shape of the words' lattice)
        """
        xp, one_plane = self._engine.xp, self._words_lattice._replace(states=2)
        words = self._engine.bonds(self._words, self.updates + 1, self._bond_probabilities())
        planes = [unpack(xp, one_plane, words[:, k : k + 1]) for k in range(words.shape[1])]
        return xp.stack(planes).astype(bool)

    @property
    def _gain(self) -> float:
        """How much lower the energy of a satisfied bond is; with `_edges` of one of `WHOLE`."""
        if self._edges is not None:
            return self._edge_gain * self._edges.scale / WHOLE
        return self._edge_gain * abs(float(self.coupling))

    def _all_bonds(self) -> EdgeBonds:
        """Return the bonds of a model that has another engine."""
        lattice = self._words_lattice
        bonds = bonds_of(self._place, self.coupling, None, lattice.states)
        return bonds.in_words_of(lattice)

    @property
    def _spins_in_words(self) -> str:
        raise NotImplementedError

    def _updates_engine(self) -> Any:
        raise NotImplementedError

    def _given_states(self, start: ArrayLike) -> Any:
        """Return the states that a user gave, of the shape of the words' lattice or of all."""
        raise NotImplementedError

    def _series(self, records: NDArray[np.int64], *measured: bool) -> Measurements:
        raise NotImplementedError

    def _bond_probabilities(self) -> Any:
        """Return with which probability a bond between equal spins is active, for each replica."""
        if self._edges is not None:
            return self._temperatures(self._edges)
        return self._engine.xp.asarray(bond_probabilities(self._betas, self._gain))

    def _no_spins(self) -> Any:
        """Return words for spins, all 0."""
        lattice = self._words_lattice
        shape = self.replicas, lattice.planes, lattice.rows, lattice.columns
        what = f"{self._spins_in_words} and {self.replicas} replicas, before and after an update"
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
        spins = xp.broadcast_to(xp.asarray(states), (self.replicas, *states.shape[-lattice.ndim :]))
        return pack(xp, lattice, xp.ascontiguousarray(spins))
