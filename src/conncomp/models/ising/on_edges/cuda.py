"""The Ising model on any edges on a GPU."""

from __future__ import annotations

from typing import Any

from conncomp.kernels.cuda.launcher import current_gpu
from conncomp.kernels.cuda.models.edge_spins import EdgeKernels
from conncomp.kernels.cuda.models.replicas import Replicas, start_spins
from conncomp.kernels.edges import EdgeBonds
from conncomp.models._arguments import Drawn
from conncomp.models._memory import check_room
from conncomp.models.potts.updates import ChosenSites
from conncomp.models.spin_glass.chances import logarithm_table


class Engine:
    """Updates of spins on the current CUDA device.

    Parameters
    ----------
    drawn : Drawn
    edges : EdgeBonds

    Attributes
    ----------
    xp : module
        The array library.

    Raises
    ------
    MemoryError
        If the memory of the GPU has no room for an update.
    """

    def __init__(self, drawn: Drawn, edges: EdgeBonds) -> None:
        gpu, (replicas, first_replica, seed) = current_gpu(), drawn
        self._gpu, self.xp, self._edges, self._count = gpu, gpu.xp, edges, replicas
        wanted = EdgeKernels.memory(edges, replicas) + 2 * 8 * replicas * edges.of_sites.words
        check_room(gpu, f"{replicas} graphs of {edges.sites} sites and {edges.bonds} bonds", wanted)
        named = seed, first_replica, replicas
        self._kernels = EdgeKernels(gpu, edges, logarithm_table(), *named)
        self._rows = Replicas(gpu, edges.of_sites, *named)

    def start(self, words: Any) -> None:
        """Fill words, which are 0, with random spins."""
        start_spins(self._gpu, self._rows, words)

    def count(self, words: Any, record: Any) -> None:
        """Count the strength of what is satisfied, and the sites of each state."""
        self._kernels.count(words, record)

    def bonds(self, words: Any, step: int, temperatures: Any) -> Any:
        """Return which bonds an update at this step makes active."""
        active = self.xp.empty((self._count, self._edges.bonds), "u1")
        self._kernels.bonds(words, step, temperatures, active)
        return active

    def update(
        self,
        words: Any,
        new: Any,
        step: int,
        temperatures: Any,
        chosen: ChosenSites | None,
        record: Any,
        clusters: bool,
        wrapping: bool,
    ) -> None:
        """Flip clusters: that of one drawn site, if one is chosen, or else all."""
        assert not wrapping
        one = chosen is not None
        self._kernels.update(words, new, step, temperatures, one, record, clusters)
