"""How large the components of an array are, in few numbers: by powers of ten, and the largest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]

DIGITS = 19  # that a size has at most


class SizeSummary(NamedTuple):
    """How large some components are.

    The largest are in rows of size, item and label, the largest first, of equally large ones the
    first item and the smallest label.
    """

    by_digits: Numbers  # components of 1, 2, ... digits of size, and their elements
    largest: Numbers

    def numbers(self, items: Numbers | None = None) -> tuple[int, ...]:
        """Return all numbers, one after the other; items may be given other numbers, by theirs."""
        largest = self.largest.copy()
        if items is not None:
            largest[:, 1] = items[largest[:, 1]]
        return (*self.by_digits.ravel().tolist(), *largest.ravel().tolist())


def summary_of(
    sizes: Numbers,
    items: Numbers,
    labels: Numbers,
    listed: int,
    among: NDArray[np.bool_] | slice = slice(None),
) -> SizeSummary:
    """Return a summary of components of these sizes, none of them 0, listing the largest.

    Only those `among` them may be listed.
    """
    digits = np.searchsorted(10 ** np.arange(DIGITS, dtype=np.int64), sizes, side="right") - 1
    by_digits = np.zeros((DIGITS, 2), np.int64)
    by_digits[:, 0] = np.bincount(digits, minlength=DIGITS)
    np.add.at(by_digits[:, 1], digits, sizes)
    rows = np.stack([sizes, items, labels], axis=1)
    return SizeSummary(by_digits, _largest(rows[among], listed))


def from_numbers(numbers: Sequence[int]) -> SizeSummary:
    """Return the summary that has these numbers; too few raise ValueError."""
    whole = np.array(numbers, np.int64)
    return SizeSummary(whole[: 2 * DIGITS].reshape(DIGITS, 2), whole[2 * DIGITS :].reshape(-1, 3))


def merged_summaries(summaries: Sequence[SizeSummary], listed: int) -> SizeSummary:
    """Return the summary of what one or more summaries are of."""
    by_digits = np.sum([summary.by_digits for summary in summaries], axis=0)
    largest = np.concatenate([summary.largest for summary in summaries])
    return SizeSummary(by_digits, _largest(largest, listed))


def _largest(rows: Numbers, listed: int) -> Numbers:
    order = np.lexsort((rows[:, 2], rows[:, 1], -rows[:, 0]))
    chosen: Numbers = rows[order[:listed]]
    return chosen
