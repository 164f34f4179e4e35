"""Models on any edges on the CPU: passes arrays to ``edge_spins.h``."""

from __future__ import annotations

from typing import Any

from conncomp._core import native
from conncomp.kernels.edges import EdgeBonds, SpinKind
from conncomp.kernels.spin_glass import RULES
from conncomp.models._arguments import Drawn
from conncomp.models._probabilities import logarithm_table
from conncomp.models.on_edges import Classes, classes_of
from conncomp.models.potts import cpu as of_words
from conncomp.models.spins.updates import Flips


class Engine(of_words.NativeSpins):
    """Updates of the spins of replicas."""

    rules = RULES

    def __init__(self, drawn: Drawn, edges: EdgeBonds, kind: SpinKind) -> None:
        self._edges, self._vectors = edges, kind.components > 0
        named = drawn.seed, drawn.first_replica, drawn.replicas
        of_sites = kind.name, edges.sites, edges.states
        engine = native.EdgeEngine(*of_sites, *named, *edges.arrays)
        super().__init__(engine, (drawn.replicas, edges.bonds), "u1")
        self._logarithm = logarithm_table().reshape(-1)
        self._classes: Classes | None = None
        if not self._vectors:  # first states are those of any lattice whose rows are these
            self._starting = of_words.Engine(drawn, edges.of_sites, "auto", {})

    def update(self, spins: Any, new: Any, step: int, temperatures: Any, flips: Flips) -> None:
        """Fill `new` with the spins after an update of all clusters, or of one."""
        record, clusters = flips.record, flips.clusters
        if self._vectors and record is not None:
            self.count(spins, record)
            record = record if clusters else None
        flat = None if record is None else record.reshape(-1)
        asked = *self._drawn(step, temperatures), flips.chosen is not None, flat, clusters
        self._engine.update(spins.reshape(-1), new.reshape(-1), *asked)

    def offer(self, spins: Any, new: Any, step: int, temperatures: Any, rule: str) -> None:
        """Offer each site another spin by a rule of `RULES`."""
        if self._classes is None:
            self._classes = classes_of(self._edges)
        new[...] = spins
        arcs, order, bounds = self._classes
        drawn = *self._drawn(step, temperatures), RULES.index(rule)
        self._engine.offer(new.reshape(-1), *drawn, *arcs, order, bounds)

    def bonds(self, spins: Any, step: int, *strengths: Any) -> Any:
        """Return which bonds an update at this step makes active."""
        _, *drawn = self._drawn(step, *strengths)
        return super().bonds(spins, step, *drawn)

    def _drawn(self, step: int, temperatures: Any) -> tuple[Any, ...]:
        return step, temperatures.reshape(-1), self._logarithm
