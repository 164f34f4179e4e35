"""How what the paper says in words is held against what is measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from reproductions.ecl_cc_2018.published import geometric_mean
from reproductions.paper import Claim, Findings
from reproductions.published import Column

# A factor holds if it is so many times as large or as small at most.
WITHIN = 1.25

STAND_INS = (
    "twelve of the graphs are stand-ins in an order of their own, and the machine is another one; "
    "no further reason was looked for"
)
HUBS = (
    "on a GPU one thread goes through all arcs of vertex 0, which in the six stand-ins made like "
    "the web is the largest hub and has no smaller neighbour; on a CPU no reason was looked for"
)
STORES = (
    "on a GPU every step of Jump4 stores, and stores go to the L2 cache as relaxed atomics, while "
    "loads may stay in the L1 cache: Jump4 has the most writes in Table 3; on a CPU no reason was "
    "looked for"
)
SMALL = "graphs of size small have some thousand arcs, and calls take what every call takes"


def explained(claims: Callable[[Findings], list[Claim]], findings: Findings) -> list[Claim]:
    """Return claims; at size small there is one reason why they do not hold."""
    made = claims(findings)
    if findings["size"] == "small":
        made = [replace(claim, because=SMALL) for claim in made]
    return made


def factor(
    says: str, said: float, measured: float | None, because: str, within: float = WITHIN
) -> Claim:
    """Return a claim of a factor, which holds if the measured one is near it."""
    if measured is None:
        return Claim(says, "not measured", None)
    near = max(measured / said, said / measured) <= within
    return Claim(says, f"{measured:.3g} times", near, because)


def share(says: str, said: float, measured: float | None, because: str, within: float) -> Claim:
    """Return a claim of a share of a whole, which holds within so much."""
    if measured is None:
        return Claim(says, "not measured", None)
    return Claim(says, f"{100 * measured:.1f} %", abs(measured - said) <= within, because)


def every(says: str, holds: Mapping[str, bool], because: str) -> Claim:
    """Return a claim of all graphs, given for which of them it holds."""
    if not holds:
        return Claim(says, "not measured", None)
    exceptions = [graph for graph, agrees in holds.items() if not agrees]
    words = f"on {len(holds) - len(exceptions)} of {len(holds)} graphs"
    if exceptions:
        words += f"; not on {listed(exceptions)}"
    return Claim(says, words, not exceptions, because)


def listed(names: Iterable[str], most: int = 4) -> str:
    """Return names, the first of them if there are many."""
    known = list(names)
    shown = ", ".join(known[:most])
    return f"{shown} and {len(known) - most} others" if len(known) > most else shown


def ratios(numerators: Column, denominators: Column) -> dict[str, float]:
    """Return the ratios of values that are both there, by graph."""
    divided = {}
    for graph, value in numerators.items():
        base = denominators.get(graph)
        if value is not None and base:
            divided[graph] = value / base
    return divided


def mean_ratio(numerators: Column, denominators: Column) -> float | None:
    """Return the geometric mean of the ratios of values that are both there."""
    return geometric_mean(ratios(numerators, denominators).values())
