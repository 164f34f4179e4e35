"""The components of a chunk alone as its runs, which spares memory for labels that nobody sees.

Runs take some bits an element where labels take 32, tell what a report says, and become the labels
of the whole array wherever these go.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp.chunked.rules import Rules, question_of_chunk
from conncomp.grid.answers import read
from conncomp.grid.kept_runs import LARGEST, KeptRuns

Places = NDArray[np.int64]


class ChunkRuns:
    """Does what `ChunkLabels` does, of runs."""

    def __init__(self, runs: KeptRuns) -> None:
        self.runs, self.shape, self.components = runs, runs.shape, len(runs.roots)

    def side(self, axis: int, last: bool) -> NDArray[np.int32]:
        """Return the labels on a side of the chunk, without its axis."""
        return self.runs.side(axis, last)

    def first(self, wanted: Places | None = None) -> Places:
        """Return the index of the first element of some components, or of all."""
        roots = self.runs.roots if wanted is None else self.runs.roots[wanted - 1]
        return roots.astype(np.int64)

    def counts(self, segment: int) -> Places:
        """Return how many components begin in each segment, of so many elements."""
        segments = np.prod(self.shape, dtype=int) // segment
        return np.bincount(self.runs.roots // segment, minlength=segments).astype(np.int64)


def value_of_all(values: Any, labelled: Any) -> NDArray[Any] | None:
    """Return the value of all foreground of a chunk, without axes; None if it may be of several."""
    if not isinstance(labelled, ChunkRuns) or not labelled.runs.one_value:
        return None
    if not labelled.components:
        return None
    place = np.unravel_index(int(labelled.runs.roots[0]), labelled.shape)
    return np.asarray(np.ma.getdata(values)[place])


def chunk_runs(rules: Rules, values: Any) -> ChunkRuns | None:
    """Return the runs of a chunk; None where they are not what labels its elements."""
    question = question_of_chunk(rules)
    in_memory = isinstance(values, np.ndarray) and question.device == "cpu"
    default = question.algorithm in ("auto", "runs")
    if not in_memory or not default or rules.batch_axes or not 0 < values.size <= LARGEST:
        return None
    return ChunkRuns(KeptRuns(read(question, values)))
