"""Percolation by search: every configuration of a tiny lattice, and runs element by element."""

from functools import cache
from itertools import product
from operator import add, neg, sub
from typing import NamedTuple

import numpy as np

from conncomp._core import native
from conncomp.models.lattices import LATTICES

ORDER = 17  # kOrder of kernels/core/spins.h


class Facts(NamedTuple):
    """Of one configuration."""

    occupied: int
    clusters: int
    largest: int
    squared_sizes: int
    wraps: tuple
    rank: int


class Torus(NamedTuple):
    shape: tuple
    kind: str = "site"
    periodic: tuple = ()
    lattice: str = "square"

    @property
    def closed(self):
        return self.periodic or (True,) * len(self.shape)

    @property
    def arguments(self):
        return {
            "shape": self.shape,
            "kind": self.kind,
            "periodic": self.closed,
            "lattice": self.lattice,
        }

    @property
    def cell(self):
        """How many sites a cell has, and its bonds: (site, site of another cell, steps there)."""
        if self.lattice == "square":
            return 1, [(0, 0, step) for step in np.eye(len(self.shape), dtype=int)]
        if self.lattice == "triangular":
            return 1, [(0, 0, step) for step in ((1, 0), (0, 1), (1, 1))]
        named = isinstance(self.lattice, str)
        cell = LATTICES[self.lattice] if named else self.lattice
        return len(cell.sites), cell.bonds

    def links(self):
        """Return (site, neighbour, periods) of each bond on the lattice; bonds by number."""
        found, (sites, bonds) = [], self.cell
        for start, end, step in bonds:
            for cell in product(*map(range, self.shape)):
                to = [place + move for place, move in zip(cell, step, strict=True)]
                periods = [t // n for t, n in zip(to, self.shape, strict=True)]
                if any(p and not c for p, c in zip(periods, self.closed, strict=True)):
                    continue
                to = [t % n for t, n in zip(to, self.shape, strict=True)]
                of_cells = [int(np.ravel_multi_index(at, self.shape)) for at in (cell, to)]
                ends = of_cells[0] * sites + start, of_cells[1] * sites + end
                found.append((*ends, tuple(int(p) for p in periods)))
        return found

    @property
    def sites(self):
        return int(np.prod(self.shape)) * self.cell[0]

    @property
    def elements(self):
        return len(self.links()) if self.kind == "bond" else self.sites


@cache
def rank_of(loops):
    """Return how many independent ways there are among displacements."""
    return int(np.linalg.matrix_rank(np.array([*loops]))) if loops else 0


def search(torus, links, present, occupied):
    """Return the `Facts` of sites and the links among them, by search with displacements.

    Displacements are tuples of Python, as there are as many searches as configurations.
    """
    ways = {site: [] for site in present}
    for site, to, periods in links:
        if site in ways and to in ways:
            ways[site].append((to, periods))
            ways[to].append((site, tuple(map(neg, periods))))
    nowhere = (0,) * len(torus.shape)
    place, sizes, along, rank = {}, [], set(), 0
    for start in present:
        if start in place:
            continue
        place[start], members, loops = nowhere, [start], set()
        for site in members:
            here = place[site]
            for to, periods in ways[site]:
                there = tuple(map(add, here, periods))
                if to not in place:
                    place[to] = there
                    members.append(to)
                elif there != place[to]:
                    loops.add(tuple(map(sub, there, place[to])))
        sizes.append(len(members))
        along |= {axis for loop in loops for axis, steps in enumerate(loop) if steps}
        rank = max(rank, rank_of(frozenset(loops)))
    return Facts(
        occupied,
        len(sizes),
        max(sizes, default=0),
        sum(size**2 for size in sizes),
        tuple(axis in along for axis in range(len(nowhere))),
        rank,
    )


def windings_of(model, active):
    """Return along which axes a cluster of active bonds wraps, and the highest rank of one."""
    cells, ends = model._place.cells, model.edges[active].tolist()
    periods = map(tuple, cells.windings()[active].tolist())
    links = [(*pair, far) for pair, far in zip(ends, periods, strict=True)]
    facts = search(Torus(cells.shape), links, range(model.sites), len(links))
    return list(facts.wraps), facts.rank


@cache
def all_configurations(torus):
    """Return the `Facts` of each configuration, whose bits say which elements are there."""
    links, facts = torus.links(), []
    for bits in range(1 << torus.elements):
        there = [k for k in range(torus.elements) if bits >> k & 1]
        if torus.kind == "bond":
            facts.append(search(torus, [links[k] for k in there], range(torus.sites), len(there)))
        else:
            facts.append(search(torus, links, there, len(there)))
    return facts


def permutation(seed, run, count):
    """Return the order in which a run adds elements."""
    order = list(range(count))
    for i in range(count):
        words = native.philox(seed, (i // 2 & 0xFFFFFFFF, 0, run, ORDER))
        number = words[2 * (i % 2)] | words[2 * (i % 2) + 1] << 32
        place = i + (number * (count - i) >> 64)
        order[i], order[place] = order[place], order[i]
    return order
