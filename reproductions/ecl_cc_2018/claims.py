"""How what the paper says in words is held against what is measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from reproductions.ecl_cc_2018.published import geometric_mean
from reproductions.ecl_cc_2018.words import claim, words
from reproductions.paper import Claim, Findings
from reproductions.published import Column

# A factor holds if it is so many times as large or as small at most.
WITHIN = 1.25


def explained(claims: Callable[[Findings], list[Claim]], findings: Findings) -> list[Claim]:
    """Return claims; at size small there is one reason why they do not hold."""
    made = claims(findings)
    if findings["size"] == "small":
        small = words.reasons["small"]
        made = [replace(each, because=small) if each.fails else each for each in made]
    return made


def factor(
    key: str, said: float, measured: float | None, within: float = WITHIN, **values: Any
) -> Claim:
    """Return a claim of a factor, which holds if the measured one is near it."""
    if measured is None:
        return claim(key, "not measured", **values)
    near = max(measured / said, said / measured) <= within
    return claim(key, f"{measured:.3g} times", near, **values)


def share(key: str, said: float, measured: float | None, within: float, **values: Any) -> Claim:
    """Return a claim of a share of a whole, which holds within so much."""
    if measured is None:
        return claim(key, "not measured", **values)
    return claim(key, f"{100 * measured:.1f} %", abs(measured - said) <= within, **values)


def every(key: str, holds: Mapping[str, bool]) -> Claim:
    """Return a claim of all graphs, given for which of them it holds."""
    if not holds:
        return claim(key, "not measured")
    exceptions = [graph for graph, agrees in holds.items() if not agrees]
    told = f"on {len(holds) - len(exceptions)} of {len(holds)} graphs"
    if exceptions:
        told += f"; not on {listed(exceptions)}"
    return claim(key, told, not exceptions)


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
