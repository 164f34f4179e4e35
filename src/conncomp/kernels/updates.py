"""What the engines of models are asked for: which random numbers, and which clusters flip."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Drawn(NamedTuple):
    """What names the random numbers of replicas: a seed, the first one's number, how many."""

    seed: int
    first_replica: int
    replicas: int


class ChosenSites(NamedTuple):
    """Which clusters may flip: those of one chosen site in each tile, with `p_flip` / 2**64."""

    tile: tuple[int, ...]
    p_flip: int


class Flips(NamedTuple):
    """Which clusters flip, what the record gets, and who gets labels; `chosen` is None for all."""

    chosen: ChosenSites | None
    record: Any
    clusters: bool
    wrapping: bool = False
    watch: Callable[[Any], None] | None = None
