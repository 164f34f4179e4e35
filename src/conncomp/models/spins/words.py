"""Models whose spins are states in words of bits, with what these measure: Ising and Potts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from numpy.typing import NDArray

from conncomp._array_storage import placed
from conncomp.kernels.edges import WHOLE
from conncomp.kernels.lattice import check_words, pack
from conncomp.models.protocol import Integers
from conncomp.models.spins.measurements import Measurements
from conncomp.models.spins.model import SpinModel
from conncomp.models.spins.updates import NOTHING, OfClusters


class WordModel(SpinModel[Measurements]):
    """A model whose spins are states in words of bits."""

    _series_class: ClassVar[type[Measurements]]
    _described_spins: ClassVar[str]  # as errors call the spins of a replica, by where sites lie

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
        update = self._updater("wolff", clusters, wrapping, observe)
        return self._repeat(update, "updates", updates, measure)

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
        update = self._updater("heat-bath", observe=observe)
        return self._repeat(update, "sweeps", sweeps, measure)

    def _checked(self, arrays: tuple[NDArray[Any], ...]) -> tuple[Any, ...]:
        betas, words = arrays
        checked = self._check_betas("the state's beta", betas)
        check_words(self._layout.words, self._state.next.shape, words)
        return checked, placed(self._engine.xp, words.copy())

    def _read(
        self, records: Integers, measured: OfClusters = NOTHING, ladders: Integers | None = None
    ) -> Measurements:
        return self._series_class(records, self.lattice, self._strongest, *measured)

    def _energy_unit(self) -> float:
        return -self._state.gain / (1 if self._layout.edges is None else WHOLE)

    def _no_spins(self) -> Any:
        words = self._layout.words
        what = self._described_spins.format(self._place, words.states)
        return self._zeros(what, *words.words_of(self.replicas, words.planes))

    def _held(self, given: Any) -> Any:
        xp, lattice = self._engine.xp, self._layout.words
        batch = given.shape[: given.ndim - len(self._place.shape)]
        spins = xp.asarray(given).reshape(*batch, *lattice.shape)
        spins = xp.broadcast_to(spins, (self.replicas, *lattice.shape))
        return pack(xp, lattice, xp.ascontiguousarray(spins))
