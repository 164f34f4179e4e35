"""The interface of models' engines, the same on a CPU and on a GPU, and its arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol


class Drawn(NamedTuple):
    """What names the random numbers of replicas: a seed, the first replica, how many there are."""

    seed: int
    first_replica: int
    replicas: int


class ChosenSites(NamedTuple):
    """Which clusters may flip: those of one chosen site in each tile, with `p_flip` / 2**64."""

    tile: tuple[int, ...]
    p_flip: int


class Flips(NamedTuple):
    """Which clusters an update flips, and what it measures.

    Attributes
    ----------
    chosen : the clusters that may flip; None for all
    record : int64, (replicas, fields), to add to, or None
    clusters, wrapping : whether to measure sizes of clusters, and how they wrap
    watch : called with labels
    """

    chosen: ChosenSites | None
    record: Any
    clusters: bool
    wrapping: bool = False
    watch: Callable[[Any], None] | None = None


class Engine(Protocol):
    """What makes the updates of a model on a device: arrays are of its library `xp`."""

    xp: Any


class SpinEngine(Engine, Protocol):
    """What makes the updates of spins, and says what it can do.

    `winds` is whether it measures how clusters wrap; `sweeps_one`, whether `sweeps` are faster for
    a single update, too; `counts_apart`, whether `update` measures clusters alone, and `count` the
    spins.
    """

    winds: bool
    sweeps_one: bool
    counts_apart: bool

    @property
    def rules(self) -> tuple[str, ...]:
        """By which ``offer(spins, new, number, strengths, rule)`` offers each site another spin."""

    @property
    def sweeps(self) -> Any:
        """What makes many updates at once, or None."""

    def start(self, spins: Any, /) -> None:
        """Fill spins, which are 0, with random ones."""

    def count(self, spins: Any, record: Any, /) -> None:
        """Add what the spins tell to a record."""

    def bonds(self, spins: Any, number: int, strengths: Any, /) -> Any:
        """Return which bonds the update of this number makes active."""

    def update(self, spins: Any, new: Any, number: int, strengths: Any, flips: Flips, /) -> None:
        """Fill `new` with the spins after an update of clusters."""
