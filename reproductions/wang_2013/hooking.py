"""Hooking step by step, on graphs of a few vertices: as Soman has it, and as Wang corrects it.

In a round all edges read parents first, and then store in some order, in which the last store to an
entry wins, as a GPU may have it. Rounds are counted from 1; odd ones hook the larger of two parents
under the smaller.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

Edge = tuple[int, int]
# (entry, parent), as an edge stores them in a round: of its ends, their parents, and the round.
Stores = Callable[[Edge, Edge, int], list[tuple[int, int]]]

MOST_ROUNDS = 64


class Outcome(NamedTuple):
    """How hooking ends."""

    history: list[list[int]]  # the parents before the first round, and after each
    unmarked: list[Edge]  # edges that are not marked when no more rounds are made
    sent_back: int  # how often edges between stagnant trees were hooked again
    roots: list[int] | None  # after pointer jumping; None if parents go round in a circle


def soman(ends: Edge, parents: Edge, number: int) -> list[tuple[int, int]]:
    """Return the store of Soman's algorithm as Wang prints it: to a parent alone."""
    low, high = sorted(parents)
    return [(high, low)] if number % 2 else [(low, high)]


def wang(ends: Edge, parents: Edge, number: int) -> list[tuple[int, int]]:
    """Return the stores of Wang's correction: to a parent and to the end below it."""
    low, high = sorted(parents)
    of_low, of_high = ends if parents[1] == high else ends[::-1]
    if number % 2:
        return [(high, low), (of_high, low)]
    return [(low, high), (of_low, high)]


def hook(
    vertices: int,
    edges: Sequence[Edge],
    stores: Stores,
    order: Sequence[int] | None = None,
) -> Outcome:
    """Let edges hook until all are marked and no trees are stagnant, or for `MOST_ROUNDS`.

    `stores` is `soman` or `wang`; `order` has the edges' numbers in the order in which they store.
    """
    parent = list(range(vertices))
    marked = [False] * len(edges)
    history, sent_back = [parent.copy()], 0
    for number in range(1, MOST_ROUNDS + 1):
        seen = parent.copy()
        for edge in range(len(edges)) if order is None else order:
            if marked[edge]:
                continue
            u, v = edges[edge]
            if seen[u] == seen[v]:
                marked[edge] = True
                continue
            for entry, target in stores((u, v), (seen[u], seen[v]), number):
                parent[entry] = target
        history.append(parent.copy())
        if all(marked):
            roots = jump(parent)
            if roots is None:
                break
            stagnant = [k for k, (u, v) in enumerate(edges) if roots[u] != roots[v]]
            if not stagnant:
                break
            sent_back += 1
            for edge in stagnant:
                marked[edge] = False
    unmarked = [edge for edge, done in zip(edges, marked, strict=True) if not done]
    return Outcome(history, unmarked, sent_back, jump(parent))


def jump(parent: Sequence[int]) -> list[int] | None:
    """Return the root of each vertex; None if there is none for some."""
    roots = list(range(len(parent)))
    for _ in parent:
        roots = [parent[root] for root in roots]
    return roots if all(parent[root] == root for root in roots) else None
