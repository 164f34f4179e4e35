"""The lattices of exchange dynamics, and their spins as words: see ``kernels/core/kawasaki.h``."""

from __future__ import annotations

from functools import cached_property
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp.kernels import layout
from conncomp.kernels.lattice import BITS, WORD, check_shape

AXES = 3
# What the lengths of a lattice are multiples of, as the classes of bonds repeat so.
PERIOD = 4
# By the number that the kernels know a lattice by.
KINDS = ("square", "sc", "bcc")
DIRECTIONS = {"square": 2, "sc": 3, "bcc": 4}

# ``ExchangeLattice`` of ``core/kawasaki.h``.
EXCHANGE_LATTICE = layout(
    ("length parts stride", ("i4", AXES)), ("kind", "i4"), ("first later last", ("u8", AXES))
)


class _Geometry(NamedTuple):
    shape: tuple[int, ...]
    kind: str


class ExchangeLattice(_Geometry):
    """A periodic lattice of one of `KINDS`, of lengths that are multiples of `PERIOD`."""

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def sites(self) -> int:
        """The number of sites."""
        return prod(self.shape)

    @property
    def coordination(self) -> int:
        """How many neighbours a site has."""
        return 2 * DIRECTIONS[self.kind]

    @property
    def bonds(self) -> int:
        """The number of bonds."""
        return self.sites * DIRECTIONS[self.kind]

    @cached_property
    def parts(self) -> tuple[int, ...]:
        """The numbers of domains along each axis: the most that fit a word, of least surface."""
        cuts = ([c for c in range(1, WORD + 1) if n % (PERIOD * c) == 0] for n in self.shape)
        fitting = (parts for parts in product(*cuts) if prod(parts) <= WORD)
        return min(fitting, key=lambda parts: (-prod(parts), self._surface(parts), parts))

    @property
    def domains(self) -> int:
        """How many domains there are."""
        return prod(self.parts)

    @property
    def words(self) -> int:
        """The number of words, which is that of the sites of a domain."""
        return self.sites // self.domains

    @property
    def domain(self) -> tuple[int, ...]:
        """The lengths of a domain."""
        return tuple(n // count for n, count in zip(self.shape, self.parts, strict=True))

    @property
    def structure(self) -> NDArray[np.bool_]:
        """Which steps lead to neighbours, as `conncomp.label` takes them."""
        moves = np.indices((3,) * self.ndim) - 1
        structure: NDArray[np.bool_] = abs(moves).sum(axis=0) <= 1
        if self.kind == "bcc":
            structure[0, 0, 0] = structure[2, 2, 2] = True
        return structure

    @cached_property
    def struct(self) -> Any:
        """``ExchangeLattice`` of ``core/kawasaki.h``, a `numpy.void`."""
        before = (1,) * (AXES - self.ndim)
        length, parts = (*before, *self.domain), (*before, *self.parts)
        places, stride, masks = np.arange(self.domains).reshape(parts), [], []
        for axis, count in enumerate(parts):
            stride.append(prod(parts[axis + 1 :]) if count > 1 else 0)
            chosen = [0], list(range(1, count)), [count - 1]
            bits = (places.take(along, axis).reshape(-1).tolist() for along in chosen)
            masks.append([sum(1 << bit for bit in each) for each in bits])
        kind, masks_by_name = KINDS.index(self.kind), zip(*masks, strict=True)
        return np.array((length, parts, stride, kind, *masks_by_name), EXCHANGE_LATTICE)[()]

    def _surface(self, parts: tuple[int, ...]) -> float:
        return sum(count / n for n, count in zip(self.shape, parts, strict=True))


def pack(xp: Any, lattice: ExchangeLattice, spins: Any) -> Any:
    """Return spins of uint8, (replicas, *shape), as words of uint64, (replicas, words)."""
    replicas, ndim = len(spins), lattice.ndim
    cut = [n for pair in zip(lattice.parts, lattice.domain, strict=True) for n in pair]
    axes = (0, *range(2, 2 * ndim + 1, 2), *range(1, 2 * ndim, 2))
    of_word = spins.reshape(replicas, *cut).transpose(axes)
    bits = xp.zeros((replicas * lattice.words, WORD), "u1")
    bits[:, : lattice.domains] = of_word.reshape(-1, lattice.domains)
    # CuPy packs the highest bit first, and flat arrays only.
    packed = xp.packbits(bits.reshape(-1, 8)[:, ::-1].reshape(-1))
    return packed.view(BITS).reshape(replicas, lattice.words)


def unpack(xp: Any, lattice: ExchangeLattice, words: Any) -> Any:
    """Return what `pack` was given."""
    replicas, ndim = len(words), lattice.ndim
    flat = xp.ascontiguousarray(words).view("u1").reshape(-1)
    bits = xp.unpackbits(flat).reshape(-1, 8)[:, ::-1].reshape(-1, WORD)[:, : lattice.domains]
    of_word = bits.reshape(replicas, *lattice.domain, *lattice.parts)
    axes = (0, *(k for axis in range(1, ndim + 1) for k in (axis + ndim, axis)))
    return of_word.transpose(axes).reshape(replicas, *lattice.shape)


def check_words(lattice: ExchangeLattice, replicas: int, words: Any) -> None:
    """Raise ValueError unless these can be words of spins."""
    check_shape((replicas, lattice.words), words)
    if lattice.domains < WORD and (words >> np.uint64(lattice.domains)).any():
        raise ValueError("words has bits beyond the domains of the lattice; they must be 0")
