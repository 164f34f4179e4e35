"""Spins of spin glasses as words, 64 replicas to each: see ``kernels/core/spin_glass.h``."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp.kernels import layout
from conncomp.kernels.lattice import BITS, LATTICE, Lattice
from conncomp.kernels.updates import LOCAL_RULES, Drawn

Unsigned = NDArray[np.uint64]

GROUP, DIGITS = 64, 64

# ``GlassReplicas`` of ``core/spin_glass.h``.
GLASS_REPLICAS = layout(
    ("lattice", LATTICE), ("first count", "i8"), ("seed", "u8"), ("rule per_sample", "i4")
)


class GlassReplicas(NamedTuple):
    """Replicas side by side, of which `per_sample` share couplings."""

    lattice: Lattice
    drawn: Drawn
    per_sample: int

    @property
    def groups(self) -> int:
        """How many words a site has."""
        _, first, replicas = self.drawn
        return -(-(first + replicas) // GROUP) - first // GROUP

    @property
    def places(self) -> tuple[NDArray[np.int64], Unsigned]:
        """The group of each replica, and its bit of the group's words."""
        places = self.drawn.first_replica % GROUP + np.arange(self.drawn.replicas)
        return places // GROUP, BITS.type(1) << (places % GROUP).astype(BITS)

    def struct(self, rule: str) -> Any:
        """Return ``GlassReplicas`` of ``core/spin_glass.h``, a `numpy.void`."""
        seed, first, replicas = self.drawn
        values = self.lattice.struct, first, replicas, seed
        return np.array((*values, LOCAL_RULES.index(rule), self.per_sample), GLASS_REPLICAS)[()]


def pack(xp: Any, replicas: GlassReplicas, spins: Any) -> Any:
    """Return spins of 0 and 1, (replicas, sites), as words of uint64, (groups, sites)."""
    words = xp.zeros((replicas.groups, replicas.lattice.sites), BITS)
    for group, bit, of_replica in zip(*replicas.places, spins, strict=True):
        words[group] |= of_replica.astype(BITS) * bit
    return words


def unpack(xp: Any, replicas: GlassReplicas, words: Any) -> Any:
    """Return what `pack` was given: spins of uint8, (replicas, sites)."""
    spins = xp.empty((replicas.drawn.replicas, replicas.lattice.sites), "u1")
    for group, bit, of_replica in zip(*replicas.places, spins, strict=True):
        of_replica[...] = (words[group] & bit) != 0
    return spins


def check_words(replicas: GlassReplicas, words: Any) -> None:
    """Raise ValueError unless words can be spins: bits without a replica are 0."""
    shape = replicas.groups, replicas.lattice.sites
    if not isinstance(words, np.ndarray) or words.shape != shape or words.dtype != BITS:
        raise ValueError(f"the words of spins must be an array of uint64 of shape {shape}")
    used = np.zeros(replicas.groups, BITS)
    np.bitwise_or.at(used, *replicas.places)
    if (words & ~used[:, None]).any():
        raise ValueError("the words of spins have bits without a replica; they must be 0")


def bits_of_samples(replicas: GlassReplicas, chosen: NDArray[np.bool_]) -> Unsigned:
    """Return words, (groups, axes, sites), of `chosen`, (samples, axes, sites), by replica."""
    words, (groups, bits) = np.zeros((replicas.groups, *chosen.shape[1:]), BITS), replicas.places
    masks = np.zeros((len(chosen), replicas.groups), BITS)
    np.bitwise_or.at(masks, (np.arange(len(bits)) // replicas.per_sample, groups), bits)
    for sample, group in np.argwhere(masks):
        words[group] |= np.where(chosen[sample], masks[sample, group], BITS.type(0))
    return words


def digits_of_replicas(replicas: GlassReplicas, probabilities: Unsigned) -> Unsigned:
    """Return the digits of probabilities, (replicas, kinds), a bit for each replica.

    The words are (groups, 64, kinds), the highest digit first.
    """
    table = np.zeros((replicas.groups, DIGITS, probabilities.shape[1]), BITS)
    places = np.arange(DIGITS, dtype=BITS)[::-1, None]
    for group, bit, of_replica in zip(*replicas.places, probabilities, strict=True):
        table[group] |= (of_replica >> places & BITS.type(1)) * bit
    return table
