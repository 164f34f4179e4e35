"""Spins of spin glasses as words, 64 replicas to each: see ``kernels/core/spin_glass.h``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp.kernels import layout
from conncomp.kernels.lattice import BITS, LATTICE, Lattice

GROUP, DIGITS = 64, 64
RULES = ("metropolis", "heat-bath")

# ``GlassReplicas`` of ``core/spin_glass.h``.
GLASS_REPLICAS = layout(
    ("lattice", LATTICE), ("first count", "i8"), ("seed", "u8"), ("rule per_sample", "i4")
)


class Part(NamedTuple):
    """Replicas of one group: bits from `begin` on, of which the first one is `replica`."""

    group: int
    begin: int
    replica: int
    replicas: int

    @property
    def mask(self) -> int:
        """The bits, as a word."""
        return ((1 << self.replicas) - 1) << self.begin


class GlassReplicas(NamedTuple):
    """Replicas side by side from the number `first` on; `per_sample` of them share couplings."""

    lattice: Lattice
    first: int
    replicas: int
    seed: int
    per_sample: int

    @property
    def groups(self) -> int:
        """How many words a site has."""
        return -(-(self.first + self.replicas) // GROUP) - self.first // GROUP

    def parts(self, begin: int = 0, end: int | None = None) -> Iterator[Part]:
        """Yield where the replicas from `begin` on, before `end`, are."""
        end, offset = self.replicas if end is None else end, self.first % GROUP
        while begin < end:
            group, bit = divmod(offset + begin, GROUP)
            count = min(GROUP - bit, end - begin)
            yield Part(group, bit, begin, count)
            begin += count

    def struct(self, rule: str) -> Any:
        """Return ``GlassReplicas`` of ``core/spin_glass.h``, a `numpy.void`."""
        values = self.lattice.struct, self.first, self.replicas, self.seed
        return np.array((*values, RULES.index(rule), self.per_sample), GLASS_REPLICAS)[()]


def pack(xp: Any, replicas: GlassReplicas, spins: Any) -> Any:
    """Return spins of 0 and 1, (replicas, sites), as words of uint64, (groups, sites)."""
    words = xp.zeros((replicas.groups, replicas.lattice.sites), BITS)
    for part in replicas.parts():
        for k in range(part.replicas):
            words[part.group] |= spins[part.replica + k].astype(BITS) << BITS.type(part.begin + k)
    return words


def unpack(xp: Any, replicas: GlassReplicas, words: Any) -> Any:
    """Return what `pack` was given: spins of uint8, (replicas, sites)."""
    spins = xp.empty((replicas.replicas, replicas.lattice.sites), "u1")
    for part in replicas.parts():
        for k in range(part.replicas):
            spins[part.replica + k] = words[part.group] >> BITS.type(part.begin + k) & BITS.type(1)
    return spins


def check_words(replicas: GlassReplicas, words: Any) -> None:
    """Raise ValueError unless words can be spins: bits without a replica are 0."""
    shape = replicas.groups, replicas.lattice.sites
    if not isinstance(words, np.ndarray) or words.shape != shape or words.dtype != BITS:
        raise ValueError(f"the words of spins must be an array of uint64 of shape {shape}")
    used = np.zeros(replicas.groups, BITS)
    for part in replicas.parts():
        used[part.group] = part.mask
    if (words & ~used[:, None]).any():
        raise ValueError("the words of spins have bits without a replica; they must be 0")


def bits_of_samples(replicas: GlassReplicas, chosen: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Return words, (groups, axes, sites), of `chosen`, (samples, axes, sites), by replica."""
    words = np.zeros((replicas.groups, *chosen.shape[1:]), BITS)
    for sample, of_sample in enumerate(chosen):
        begin = sample * replicas.per_sample
        for part in replicas.parts(begin, begin + replicas.per_sample):
            words[part.group] |= np.where(of_sample, BITS.type(part.mask), BITS.type(0))
    return words


def digits_of_replicas(
    replicas: GlassReplicas, probabilities: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """Return the digits of probabilities, (replicas, kinds), a bit for each replica.

    The words are (groups, 64, kinds), the highest digit first.
    """
    table = np.zeros((replicas.groups, DIGITS, probabilities.shape[1]), BITS)
    places = np.arange(DIGITS, dtype=BITS)[::-1, None]
    for part in replicas.parts():
        for k in range(part.replicas):
            digits = probabilities[part.replica + k] >> places & BITS.type(1)
            table[part.group] |= digits << BITS.type(part.begin + k)
    return table
