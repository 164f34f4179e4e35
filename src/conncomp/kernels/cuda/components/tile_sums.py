"""Sums of components in one pass over labels and image, on the GPU: drives ``tile_sums.cuh``."""

from __future__ import annotations

from itertools import count
from math import frexp, isfinite, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from conncomp._arguments import INDEX_TYPES
from conncomp.kernels.cuda.components import intensities
from conncomp.kernels.cuda.components.intensities import SMALL_TYPES, are_small
from conncomp.kernels.cuda.components.rows import extent_of, label_rows, lengths_on
from conncomp.kernels.cuda.components.runs import FEW_AXES, STATE_WORDS, grid_of_rows
from conncomp.kernels.cuda.components.shapes import Shapes, are_few
from conncomp.kernels.cuda.launcher import COUNT, THREADS, Field, Gpu, Templates, ctype, launch
from conncomp.kernels.cuda.structs import Struct
from conncomp.kernels.cuda.workspace import Recordings

if TYPE_CHECKING:
    from conncomp.kernels.cuda.components.runs import ComponentRuns

FILE = "cuda/components/tile_sums.cuh"
# How long a tile is along each axis, and how many words a row has, of integers and of real numbers.
SIDES = {2: (64, 128), 3: (16, 16, 32)}
ROW_WORDS = {2: (16, 20), 3: (24, 28)}
REAL = np.dtype(np.float32)
KERNELS = Templates(
    FILE,
    "measure_tiles",
    "count_rows<>",
    "list_rows<>",
    "write_tile_columns<{value}, {axes}>",
    label=INDEX_TYPES,
    value={None: "conncomp::NoValue", **{kind: ctype(kind) for kind in (*SMALL_TYPES, REAL)}},
    axes=FEW_AXES,
)
COLUMN_THREADS = 128
# Real numbers are whole ones of so many bits, times a power of two that is that much larger than
# the largest needs: so the next images may have larger ones.
FIXED_BITS, SPARE_BITS, MOST_EXPONENT = 50, 2, 200
# A table has a row for each so many labels at most, and as many more for growth: 7 bytes a label.
LABELS_OF_ROW = 64
# Bits of the answer, and how often the host looks for it before it asks the driver.
ROW_BITS, COMPONENT_BITS, CALL_BITS = 20, 26, 16
GLANCES = 20_000
_calls = count(1)  # of all kinds, as there is one place for answers

TABLE = Struct(
    "SumTable",
    "rows_met is_wrong words answer",
    ("capacity row_words exponent made_for call", COUNT),
    ("scale", "f8"),
)


def are_added_in_tiles(shape: tuple[int, ...], rows: int, image: Any) -> bool:
    """Whether there are sums of labels below `rows`, and of the values of an image or None."""
    few = 0 < rows * LABELS_OF_ROW <= prod(shape) and are_few(shape)
    return few and (image is None or image.dtype == REAL or are_small(image.dtype, shape))


class TileSums:
    """The recorded launches that add up labels of one kind, and of an image.

    `allowed` is the label that is no component, or -1, and the smallest that may occur. Labels have
    to be below `rows`, for which there is room, and more. ``RunTable``, `runs`, is for what occurs.
    An image of real numbers is one of those to be added up. `calls` of what was added up are for
    `ComponentRuns`. The last call had as many components as `counted` says, and one more than its
    largest label, once the host `is_told`; if the one before had as many, `is_steady`, the next one
    may be presumed to.
    """

    def __init__(
        self, gpu: Gpu, labels: Any, allowed: tuple[int, int], runs: np.void, rows: int, image: Any
    ) -> None:
        self._gpu, self._shape, self._runs = gpu, labels.shape, runs
        self._stream = gpu.current_stream()
        self._background, self._lowest = allowed
        self.rows, is_real = 1 << rows.bit_length(), image is not None
        words = ROW_WORDS[labels.ndim][is_real]
        end = self.rows * words
        self._memory = gpu.xp.zeros(end + 2, COUNT)
        exponent = _exponent_of(image) if is_real else 0
        self._call = 0
        pointers = {"words": self._memory, "rows_met": self._memory[end:], "answer": gpu.answer}
        self._fields = {
            **pointers,
            "is_wrong": self._memory[end + 1 :],
            "capacity": self.rows,
            "row_words": words,
            "exponent": exponent,
            "scale": 2.0 ** (FIXED_BITS - exponent),
        }
        self._is_clear = True
        self.calls = Recordings(gpu, self._stream)
        self._value: Any = None  # the type of the values that are added up, if there are any
        self.counted, self.is_steady, self.is_told = (0, 0), False, False

    def start(self, labels: Any, image: Any) -> None:
        """Launch what adds up labels of the kind and the values of an image, or None."""
        if not self._is_clear:
            self._memory.fill(0)
        self._is_clear = self.is_told = False
        self._value = None if image is None else image.dtype
        self._call = next(_calls) % (1 << CALL_BITS)
        variable, purpose = (labels, image, Field("call", self._call)), ("add", self._value)
        self._launched = self.calls.launch(purpose, variable, lambda: self._add(labels, image))

    def _add(self, labels: Any, image: Any) -> None:
        gpu, shape = self._gpu, self._shape
        value = None if image is None else image.dtype
        measure, *listing, _ = KERNELS.load(gpu, labels.dtype, value, len(shape))
        self._lengths = lengths_on(gpu, *shape)
        sides = SIDES[len(shape)]
        tiles = prod(-(-length // side) for length, side in zip(shape, sides, strict=True))
        rows = label_rows(gpu, labels, self._background, self.rows)
        described = rows, self._lowest, extent_of(gpu, self._lengths)
        table = TABLE.of(gpu, **self._fields, made_for=0, call=self._call)
        launch(measure, (tiles, THREADS), *described, image, table)
        by_row = grid_of_rows(gpu, self.rows)
        for kernel in listing:
            launch(kernel, by_row, table, self._runs)

    def read_counts(self, state: int) -> tuple[int, int]:
        """Return `counted` of the launches, once the host is told; ``RunState`` is at `state`."""
        if self.is_told:
            return self.counted
        answer = self._gpu.answer.item
        for _ in range(GLANCES):
            told = answer()
            if told >> (ROW_BITS + COMPONENT_BITS) == self._call:
                components = (told & (1 << COMPONENT_BITS) - 1) - 1
                rows = told >> COMPONENT_BITS & (1 << ROW_BITS) - 1
                break
        else:
            _, components, rows = self._launched.read_all(self._stream, state, STATE_WORDS)
        self.is_steady, self.is_told = components > 0 and components == self.counted[0], True
        self.counted = components, rows
        return self.counted

    def cleared(self) -> None:
        """Note that columns of as many components as there were are written."""
        self._is_clear = True

    def write(self, runs: ComponentRuns, label: np.dtype[Any], moments: bool) -> tuple[Any, ...]:
        """Return columns of all components, which leave nothing for another call.

        If there are others, one at least, than the runs say, nothing is written. The columns are
        `Shapes`; a list of sums, means, minima, maxima and centroids of an image; and of it, if
        there is one, standard deviations, minima and maxima as float64 of shape (3, n).
        """
        xp, ndim, value, count = self._gpu.xp, len(self._shape), self._value, runs.count
        shapes = Shapes.empty(xp.ndarray, count, ndim, 0, moments)
        columns, reals = [], None
        if value is not None:
            sums = {"u": np.uint64, "i": np.int64, "f": np.float64}[value.kind]
            columns = [xp.empty(count, kind) for kind in (sums, np.float64, value, value)]
            columns, reals = [*columns, xp.empty((count, ndim))], xp.empty((3, count))

        def launches() -> None:
            *_, write = KERNELS.load(self._gpu, label, value, ndim)
            table = TABLE.of(self._gpu, **self._fields, made_for=count, call=0)
            records = shapes.struct(self._gpu), intensities.columns_at(self._gpu, columns)
            by_row = self._gpu.grid(self.rows, COLUMN_THREADS)
            launch(write, by_row, table, self._runs, *records, reals)

        variable = Field("made_for", count), *shapes, *columns, reals
        self.calls.launch(("write", moments, value), variable, launches)
        return shapes, columns, reals


def _exponent_of(image: Any) -> int:
    """Return that of a power of two above all magnitudes; any number if not all are finite."""
    largest = max(float(image.max()), -float(image.min()), 0.0)
    exponent = frexp(largest)[1] + SPARE_BITS if isfinite(largest) else 0
    return max(-MOST_EXPONENT, min(MOST_EXPONENT, exponent))
