"""How what the paper says in words is held against what is measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from reproductions.claims import Claim, share
from reproductions.ecl_cc_2018.published import geometric_mean
from reproductions.ecl_cc_2018.words import claim
from reproductions.published import Column


def factor(key: str, measured: float | None, **values: Any) -> Claim:
    """Return a claim of a factor, which is held against the bounds of the claim."""
    told = "not measured" if measured is None else f"{measured:.3g} times"
    return claim(key, told, measured, **values)


def percentage(key: str, measured: float | None, **values: Any) -> Claim:
    """Return a claim of a share of a whole, which is held against the bounds of the claim."""
    told = "not measured" if measured is None else f"{100 * measured:.1f} %"
    return claim(key, told, measured, **values)


def every(key: str, holds: Mapping[str, bool]) -> Claim:
    """Return a claim of all graphs, given for which of them it holds."""
    if not holds:
        return claim(key, "not measured")
    exceptions = [graph for graph, agrees in holds.items() if not agrees]
    told = f"on {len(holds) - len(exceptions)} of {len(holds)} graphs"
    if exceptions:
        told += f"; not on {listed(exceptions)}"
    return claim(key, told, share(holds.values()))


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
