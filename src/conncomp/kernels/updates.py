"""The interface of models' engines, the same on a CPU and on a GPU, and its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from conncomp.kernels.lattice import MOST_AXES

# The field of a record, and the one after it, for how clusters wrap: see ``core/spins.h``.
WINDING_AXES = 12

# ``GlassRule`` of ``core/spin_glass.h``, on edges, too.
LOCAL_RULES = ("metropolis", "heat-bath")


class Drawn(NamedTuple):
    """The random numbers of replicas: of a seed, the first replica, and how many there are."""

    seed: int
    first_replica: int
    replicas: int


class ChosenSites(NamedTuple):
    """The clusters that may flip: those of one chosen site in each tile, with `p_flip` / 2**64."""

    tile: tuple[int, ...]
    p_flip: int

    @property
    def always(self) -> bool:
        """Whether they flip for certain."""
        return self.p_flip == 1 << 64

    @property
    def lengths(self) -> tuple[int, ...]:
        """The lengths of a tile along `MOST_AXES` axes."""
        return (*(1,) * (MOST_AXES - len(self.tile)), *self.tile)


class Flips(NamedTuple):
    """The clusters that an update flips, and the measurements that it makes.

    `clusters` and `wrapping` are whether to measure sizes of clusters, and how they wrap.
    """

    chosen: ChosenSites | None  # the clusters that may flip; None for all
    record: Any  # int64, (replicas, fields), to add to, or None
    clusters: bool
    wrapping: bool = False
    watch: Callable[[Any], None] | None = None  # called with labels

    @property
    def counts_bonds(self) -> bool:
        """Whether bonds of all clusters are drawn, and those that are active counted."""
        return self.chosen is None or self.clusters or self.wrapping


class Engine(Protocol):
    """Makes the updates of a model on a device; its arrays are of the library `xp`."""

    xp: Any


class ManyUpdates(Protocol):
    """Makes up to `most_updates` in one launch, as a GPU's ``Sweeps``."""

    most_updates: int

    @property
    def sweep(self) -> Callable[[Any, range, Any, Flips, int, int], None]:
        """Makes them in place."""

    def makes(self, one: bool, measures: bool) -> bool:
        """Whether it makes such updates."""


class SpinEngine(Engine, Protocol):
    """Makes the updates of spins, and states what it can do."""

    winds: bool  # whether it measures how clusters wrap
    sweeps_one: bool  # whether `sweeps` are faster for a single update, too
    counts_apart: bool  # whether `update` measures clusters alone, and `count` the spins

    @property
    def rules(self) -> tuple[str, ...]:
        """Those of `LOCAL_RULES` that `offer` has."""

    @property
    def sweeps(self) -> ManyUpdates | None:
        """Makes many updates at once; None if nothing does."""

    def start(self, spins: Any, /) -> None:
        """Fill spins, which are 0, with random ones."""

    def count(self, spins: Any, record: Any, /) -> None:
        """Add what the spins tell to a record."""

    def bonds(self, spins: Any, number: int, strengths: Any, /) -> Any:
        """Return which bonds the update of this number makes active."""

    def update(self, spins: Any, new: Any, number: int, strengths: Any, flips: Flips, /) -> None:
        """Fill `new` with the spins after an update of clusters."""

    def offer(self, spins: Any, new: Any, number: int, strengths: Any, rule: str, /) -> None:
        """Fill `new` with the spins after an offer to each, by a rule."""
