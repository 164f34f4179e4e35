"""Graphs, and weights of their arcs, as drivers of kernels take them."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

Indices = Any  # an array of NumPy in main memory, of a `DeviceArray`'s kind on a GPU
Ends = tuple[Indices, Indices]


class GraphArrays(Protocol):
    """The arrays of a graph, all in main memory or on one GPU, and facts about them.

    `symmetric` and `sorted_rows` are None if nobody has looked.
    """

    num_vertices: int
    arcs: Ends | None  # sources and targets
    csr: Ends | None  # rows, `indptr` and `indices`; None until they are made
    symmetric: bool | None  # whether every arc is listed from both ends, equally often
    sorted_rows: bool | None  # whether targets in rows ascend

    @property
    def lists(self) -> Ends:
        """The arcs, or else the rows."""

    @property
    def num_arcs(self) -> int:
        """The number of arcs."""

    def ends(self) -> Ends:
        """Return the sources and the targets, in the order of what the graph was made of."""

    def rows(self) -> Ends:
        """Return the rows, which are made of the arcs once."""

    def has_sorted_sources(self) -> bool:
        """Whether targets are rows as they are, because sources never decrease; keep the rows."""

    def is_symmetric(self) -> bool:
        """Whether each arc has an opposite."""

    def is_mirrored(self) -> bool:
        """Whether all arcs, in main memory, are known or seen to be listed from both ends."""


class WeightOrder(NamedTuple):
    """The masks by which the bits of weights are ordered: see ``WeightOrder`` in C++."""

    minus_zero: int
    negative: int
    sign: int


class WeightBits(NamedTuple):
    """The bits of weights, uint32 or uint64, where the graph lies."""

    bits: Any
    order: WeightOrder
