"""Stand-ins numbered as published graphs are, and with as many components."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from conncomp.generate._arguments import array_library, index_dtype
from conncomp.generate._edges import graph_of_parts, repeat
from conncomp.generate.random import Purpose, permutation
from conncomp.graph import Graph

Make = Callable[..., Graph]
Order = Literal["random", "crawl"]

# Generators number the oldest vertices, which are the largest hubs, first; a crawl begins anywhere.
BEGIN_OF_CRAWL = 1 / 3


def make_numbered(
    make: Make,
    order: Order,
    components: int,
    published: int,
    lone: bool,
    n: int,
    device: str | None = None,
) -> Graph:
    """Return a graph of n vertices like the connected ones that `make` returns, in another order.

    "random" gives names at random; "crawl" keeps the order, in which near vertices have near
    neighbours, but begins elsewhere than at the largest hubs. A published graph has so many
    components and vertices, and a graph of a part of its vertices that part of its components:
    beside the large one they are pairs or, with `lone`, single vertices.
    """
    members = 1 if lone else 2
    small = min(round((components - 1) * min(n / published, 1)), n // (2 * members))
    graph = make(n - small * members, device=device)
    xp, large = array_library(device), graph.num_vertices
    n = large + small * members
    names = _names(xp, order, large, small, members, device)
    src = repeat(xp, xp.arange(large, dtype=index_dtype(n)), xp.diff(xp.asarray(graph.indptr)))
    arcs = names[src], names[xp.asarray(graph.indices)]
    del graph, src
    if members == 2:
        first = xp.arange(large, n, 2)
        ends = names[first], names[first + 1]
        arcs = xp.concatenate([arcs[0], *ends]), xp.concatenate([arcs[1], *ends[::-1]])
    return graph_of_parts(n, arcs=arcs, device=device)


def _names(xp: Any, order: Order, large: int, small: int, members: int, device: str | None) -> Any:
    n = large + small * members
    if order == "random":
        return permutation(n, purpose=Purpose.SHUFFLE, device=device)
    # Small components come at even distances: each is met once by a crawl, and then left.
    begins = xp.arange(small, dtype=np.int64) * n // max(small, 1)
    taken = (begins[:, None] + xp.arange(members)).ravel()
    free = xp.ones(n, np.bool_)
    free[taken] = False
    turned = xp.roll(xp.flatnonzero(free), -int(large * BEGIN_OF_CRAWL))
    return xp.concatenate([turned, taken]).astype(index_dtype(n))
