"""What the paper gives, from ``published.toml`` and ``claims.toml``, and how claims are judged."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from reproductions.claims import Claim, Words, share
from reproductions.published import Column, columns, read

PUBLISHED = read(__file__)
claim = Words(__file__).claim
SOURCE = PUBLISHED["source"]
TABLE_2, TABLE_3, TABLE_4, TABLE_5, TABLE_6, TABLE_7, TABLE_8, TABLE_9, TABLE_10 = (
    columns(PUBLISHED[f"table-{number}"]) for number in range(2, 11)
)


def geometric_mean(values: Iterable[float | None]) -> float | None:
    """Return the geometric mean of the values that are there, or None if there are none."""
    logarithms = [math.log(value) for value in values if value is not None]
    return math.exp(math.fsum(logarithms) / len(logarithms)) if logarithms else None


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
