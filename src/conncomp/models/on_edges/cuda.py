"""Models on any edges on a GPU."""

from __future__ import annotations

from typing import Any

from conncomp.kernels.cuda.launcher import current_gpu
from conncomp.kernels.cuda.models.edge_spins import EdgeKernels
from conncomp.kernels.cuda.models.replicas import Replicas, start_spins
from conncomp.kernels.edges import EdgeBonds, SpinKind
from conncomp.kernels.spin_glass import RULES
from conncomp.models._arguments import Drawn, check_room
from conncomp.models._probabilities import logarithm_table
from conncomp.models.on_edges import Classes, classes_of
from conncomp.models.spins.updates import Flips


class Engine:
    """Updates of spins on the current CUDA device; MemoryError if an update has no room there."""

    winds, rules, sweeps = False, RULES, None

    def __init__(self, drawn: Drawn, edges: EdgeBonds, kind: SpinKind) -> None:
        gpu, (replicas, first_replica, seed) = current_gpu(), drawn
        self.gpu, self.xp, self._edges, self._count = gpu, gpu.xp, edges, replicas
        itemsize = kind.dtype.itemsize
        held = kind.width * edges.sites or edges.of_sites.planes * edges.of_sites.words
        wanted = EdgeKernels.memory(edges, replicas) + 2 * itemsize * replicas * held
        check_room(gpu, f"{replicas} graphs of {edges.sites} sites and {edges.bonds} bonds", wanted)
        named = seed, first_replica, replicas
        self._kernels = EdgeKernels(gpu, edges, kind, logarithm_table(), *named)
        self._rows = None if kind.components else Replicas(gpu, edges.of_sites, *named)
        self._classes: Classes | None = None

    def start(self, spins: Any) -> None:
        """Draw the first spins."""
        if self._rows is None:
            self._kernels.start(spins)
        else:
            start_spins(self.gpu, self._rows, spins)

    def count(self, words: Any, record: Any) -> None:
        """Add what the spins tell to each replica's record."""
        self._kernels.count(words, record)

    def bonds(self, words: Any, step: int, temperatures: Any) -> Any:
        """Return which bonds an update at this step makes active."""
        active = self.xp.empty((self._count, self._edges.bonds), "u1")
        self._kernels.bonds(words, step, temperatures, active)
        return active

    def update(self, spins: Any, new: Any, step: int, temperatures: Any, flips: Flips) -> None:
        """Fill `new` with the spins after an update of all clusters, or of one."""
        record, clusters = flips.record, flips.clusters
        if self._rows is None and record is not None:
            self._kernels.count(spins, record)
            record = record if clusters else None
        asked = flips.chosen is not None, record, clusters
        self._kernels.update(spins, new, step, temperatures, *asked)

    def offer(self, spins: Any, new: Any, step: int, temperatures: Any, rule: str) -> None:
        """Offer each site another spin by a rule of `RULES`."""
        if self._classes is None:
            self._classes = classes_of(self._edges)
        new[...] = spins
        self._kernels.offer(new, step, temperatures, rule, self._classes)
