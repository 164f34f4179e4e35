"""Windings by breadth-first search with displacements, in plain Python."""

from collections import deque
from itertools import product


def hermite(vectors, ndim):
    """Return the Hermite normal form of a lattice, column by column, in Python's integers."""
    left, basis = [list(vector) for vector in vectors if any(vector)], []
    for column in range(ndim):
        while sum(bool(vector[column]) for vector in left) > 1:
            least = min((v for v in left if v[column]), key=lambda v: abs(v[column]))
            for vector in left:
                if vector is not least:
                    times = vector[column] // least[column]
                    vector[:] = [x - times * y for x, y in zip(vector, least, strict=True)]
        row = next((vector for vector in left if vector[column]), None)
        if row is None:
            continue
        left.remove(row)
        if row[column] < 0:
            row = [-x for x in row]
        for above in basis:
            times = above[column] // row[column]
            above[:] = [x - times * y for x, y in zip(above, row, strict=True)]
        basis.append(row)
    basis += [[0] * ndim] * (ndim - len(basis))
    return basis


def search(shape, steps, periodic, foreground, linked):
    """Return a basis of windings for each component, in the order of first elements."""
    place, bases = {}, []
    for start in product(*map(range, shape)):
        if not foreground(start) or start in place:
            continue
        place[start], waiting, vectors = (0,) * len(shape), deque([start]), []
        while waiting:
            at = waiting.popleft()
            for step in steps:
                beyond = tuple(x + move for x, move in zip(at, step, strict=True))
                to = tuple(x % n for x, n in zip(beyond, shape, strict=True))
                periods = tuple((x - y) // n for x, y, n in zip(beyond, to, shape, strict=True))
                closed = all(p or not t for p, t in zip(periodic, periods, strict=True))
                if not closed or not foreground(to) or not linked(at, to, step):
                    continue
                far = tuple(a + b for a, b in zip(place[at], periods, strict=True))
                if to not in place:
                    place[to] = far
                    waiting.append(to)
                else:
                    vectors.append([a - b for a, b in zip(far, place[to], strict=True)])
        bases.append(hermite(vectors, len(shape)))
    return bases


def bond_windings(bonds, periodic):
    """Return a basis of the windings of each cluster; bonds have their axis first."""
    ndim = len(bonds)
    steps = [step for step in product((-1, 0, 1), repeat=ndim) if ndim - step.count(0) == 1]

    def linked(at, to, step):
        axis = next(k for k in range(ndim) if step[k])
        return bonds[axis][at if step[axis] > 0 else to]

    closed = (periodic,) * ndim if isinstance(periodic, bool) else periodic
    return search(bonds.shape[1:], steps, closed, lambda at: True, linked)
