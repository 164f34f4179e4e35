"""The lattice of a spin model, and its spins as words of bits: see ``kernels/core/spins.h``."""

from __future__ import annotations

from functools import cached_property
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp.kernels import layout

WORD = 64
MOST_AXES = 4
BITS = np.dtype("u8")

# ``Lattice`` of ``core/spins.h``.
LATTICE = layout(("length", ("i8", MOST_AXES)), ("periodic states planes", "i4"))


class _Geometry(NamedTuple):
    shape: tuple[int, ...]
    periodic: tuple[bool, ...]
    states: int


class Lattice(_Geometry):
    """A lattice of 1 to 4 axes, some of them `periodic`, of spins of q `states`."""

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def sites(self) -> int:
        """The number of sites."""
        return prod(self.shape)

    @property
    def bonds(self) -> int:
        """The number of bonds; axes of length 1 or 2 count as on a torus."""
        return sum(
            self.sites // length * (length if closed else length - 1)
            for length, closed in zip(self.shape, self.periodic, strict=True)
        )

    @property
    def planes(self) -> int:
        """How many binary digits a state has."""
        return (self.states - 1).bit_length()

    @property
    def columns(self) -> int:
        """How many words a row has."""
        return -(-self.shape[-1] // WORD)

    @property
    def rows(self) -> int:
        """How many rows, lines along the last axis, there are."""
        return prod(self.shape[:-1])

    @property
    def words(self) -> int:
        """How many words a plane has."""
        return self.rows * self.columns

    @property
    def closed_lengths(self) -> tuple[tuple[int, ...], int]:
        """The lengths of `MOST_AXES` axes, and bits of which ones are periodic."""
        before = MOST_AXES - self.ndim
        closed = sum(1 << (before + k) for k, closes in enumerate(self.periodic) if closes)
        return (*(1,) * before, *self.shape), closed

    @cached_property
    def struct(self) -> Any:
        """``Lattice`` of ``core/spins.h``, a `numpy.void`."""
        return np.array((*self.closed_lengths, self.states, self.planes), LATTICE)[()]

    def words_of(self, replicas: int, planes: int) -> tuple[tuple[int, ...], np.dtype[Any]]:
        """Return the shape and the dtype of words of so many planes of each replica."""
        return (replicas, planes, self.rows, self.columns), BITS


def pack(xp: Any, lattice: Lattice, states: Any) -> Any:
    """Return states of uint8, (replicas, *shape), as words, (replicas, planes, rows, columns)."""
    replicas, length = len(states), lattice.shape[-1]
    rows = states.reshape(replicas, lattice.rows, length)
    words = xp.zeros((replicas, lattice.planes, lattice.rows, lattice.columns), BITS)
    width = -(-length // 8)
    for plane in range(lattice.planes):
        digits = (rows >> np.uint8(plane)) & np.uint8(1)
        padded = xp.zeros((replicas * lattice.rows, 8 * width), "u1")
        padded[:, :length] = digits.reshape(-1, length)
        # CuPy packs the highest bit first, and flat arrays only.
        reversed_bits = padded.reshape(-1, 8)[:, ::-1].reshape(-1)
        packed = xp.packbits(reversed_bits).reshape(replicas, lattice.rows, width)
        words.view("u1")[:, plane].reshape(replicas, lattice.rows, -1)[..., :width] = packed
    return words


def unpack(xp: Any, lattice: Lattice, words: Any) -> Any:
    """Return what `pack` was given."""
    replicas, length = len(words), lattice.shape[-1]
    states = xp.zeros((replicas, lattice.rows, length), "u1")
    for plane in range(lattice.planes):
        of_plane = xp.ascontiguousarray(words[:, plane]).view("u1").reshape(-1)
        bits = xp.unpackbits(of_plane).reshape(-1, 8)[:, ::-1]
        rows = bits.reshape(replicas, lattice.rows, lattice.columns * WORD)
        states |= rows[..., :length] << np.uint8(plane)
    return states.reshape(replicas, *lattice.shape)


def unpack_planes(xp: Any, lattice: Lattice, words: Any) -> Any:
    """Return each plane of words: bool of shape ``(planes, replicas, *shape)``."""
    one = lattice._replace(states=2)
    planes = [unpack(xp, one, words[:, k : k + 1]) for k in range(words.shape[1])]
    return xp.stack(planes).astype(bool)


def check_shape(shape: tuple[int, ...], words: Any) -> None:
    """Raise ValueError unless words are an array of uint64 of a shape."""
    wanted = f"uint64 of shape {shape}"
    if not isinstance(words, np.ndarray):
        raise ValueError(f"words is a {type(words).__name__}; it must be an array of {wanted}")
    if words.shape != shape or words.dtype != BITS:
        raise ValueError(f"words is {words.dtype} of shape {words.shape}; it must be {wanted}")


def check_words(lattice: Lattice, shape: tuple[int, ...], words: Any) -> None:
    """Raise ValueError unless words can be spins: states below q, and bits beyond rows 0."""
    check_shape(shape, words)
    beyond = words[..., -1] >> np.uint64((lattice.shape[-1] - 1) % WORD) >> np.uint64(1)
    if beyond.any():
        raise ValueError("words has bits beyond the rows of the lattice; they must be 0")
    for replica in words:
        if _above(replica, lattice.states - 1).any():
            raise ValueError(f"words has states of q = {lattice.states} or more")


def _above(planes: NDArray[np.uint64], limit: int) -> NDArray[np.uint64]:
    """Return where numbers, given by planes of binary digits, the lowest first, are larger."""
    above: NDArray[np.uint64] = np.zeros_like(planes[0])
    equal = ~above
    for k in reversed(range(len(planes))):
        if limit >> k & 1:
            equal &= planes[k]
        else:
            above |= equal & planes[k]
            equal &= ~planes[k]
    return above
