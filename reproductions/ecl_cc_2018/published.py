"""The values that the paper gives, from ``published.toml``, and the mean that it takes of them."""

from __future__ import annotations

import math
from collections.abc import Iterable

from reproductions.published import columns, read

PUBLISHED = read(__file__)
SOURCE = PUBLISHED["source"]
TABLE_2, TABLE_3, TABLE_4, TABLE_5, TABLE_6, TABLE_7, TABLE_8, TABLE_9, TABLE_10 = (
    columns(PUBLISHED[f"table-{number}"]) for number in range(2, 11)
)


def geometric_mean(values: Iterable[float | None]) -> float | None:
    """Return the geometric mean of the values that are there, or None if there are none."""
    logarithms = [math.log(value) for value in values if value is not None]
    return math.exp(math.fsum(logarithms) / len(logarithms)) if logarithms else None
