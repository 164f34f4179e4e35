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
from conncomp.kernels.cuda.launcher import (
    COUNT,
    THREADS,
    DeviceArray,
    Gpu,
    Templates,
    ctype,
    launch,
)
from conncomp.kernels.cuda.recordings import Field, Recordings
from conncomp.kernels.cuda.structs import Struct

if TYPE_CHECKING:
    from conncomp.kernels.cuda.components.runs import ComponentRuns

FILE = "cuda/components/tile_sums.cuh"
# By the number of axes: the sides of a tile; the words of a row, for integers and real numbers.
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
# Real numbers are added as integers of `FIXED_BITS`, in a unit that leaves `SPARE_BITS` above the
# first image's largest value, as later images may have larger ones.
FIXED_BITS, SPARE_BITS, MOST_EXPONENT = 50, 2, 200
# A table has at most a row per so many labels, and as many more for growth: 7 bytes per label.
LABELS_OF_ROW = 64
# Bits of an answer's parts, and how often the host reads it before it asks the driver.
ROW_BITS, COMPONENT_BITS, CALL_BITS = 20, 26, 16
GLANCES = 20_000
_calls = count(1)  # numbers calls of all kinds, as `Gpu.answer` serves them all

TABLE = Struct(
    "SumTable",
    "rows_met is_wrong words answer",
    ("capacity row_words exponent made_for call", COUNT),
    ("scale", "f8"),
)


def are_added_in_tiles(shape: tuple[int, ...], rows: int, image: Any) -> bool:
    """Whether tiles can add up labels below `rows`, and the values of an image or None."""
    few = 0 < rows * LABELS_OF_ROW <= prod(shape) and are_few(shape)
    return few and (image is None or image.dtype == REAL or are_small(image.dtype, shape))


class TileSums:
    """The recorded launches that add up labels, and an image.

    `allowed` are the label that is no component, or -1, and the smallest that may occur; labels are
    below `rows`. `runs` is the ``RunTable`` that gets the components, `image` an example of real
    numbers to add up. `counted` are the components of the last call, and one more than its largest
    label: the host has read them if `is_told`. If `is_steady`, the last two calls had equally many.
    """

    def __init__(
        self, gpu: Gpu, labels: Any, allowed: tuple[int, int], runs: np.void, rows: int, image: Any
    ) -> None:
        self._gpu, self._shape, self._runs = gpu, labels.shape, runs
        self._background, self._lowest = allowed
        self.rows, is_real = 1 << rows.bit_length(), image is not None
        words = ROW_WORDS[labels.ndim][is_real]
        end = self.rows * words
        self._memory = gpu.xp.zeros(end + 2, COUNT)
        exponent = _exponent_of(image) if is_real else 0
        self._call, self._is_clear = 0, True
        self._fields = {
            "words": self._memory,
            "rows_met": self._memory[end:],
            "answer": gpu.answer,
            "is_wrong": self._memory[end + 1 :],
            "capacity": self.rows,
            "row_words": words,
            "exponent": exponent,
            "scale": 2.0 ** (FIXED_BITS - exponent),
        }
        self.calls = Recordings(gpu)
        self._value: Any = None  # the type of the values that are added up, if there are any
        self.counted, self.is_steady, self.is_told = (0, 0), False, False

    def start(self, labels: DeviceArray, image: DeviceArray | None) -> None:
        """Launch what adds up labels and the values of an image, or None."""
        if not self._is_clear:
            self._memory.fill(0)
        self._is_clear = self.is_told = False
        self._value = None if image is None else image.dtype
        self._call = next(_calls) % (1 << CALL_BITS)
        variable, purpose = (labels, image, Field("call", self._call)), ("add", self._value)
        self._launched = self.calls.launch(purpose, variable, lambda: self._add(labels, image))

    def _add(self, labels: DeviceArray, image: DeviceArray | None) -> None:
        gpu, shape = self._gpu, self._shape
        value = None if image is None else image.dtype
        measure, *listing, _ = KERNELS.load(gpu, labels.dtype, value, len(shape))
        self._lengths = lengths_on(gpu, *shape)
        sides = SIDES[len(shape)]
        tiles = prod(-(-length // side) for length, side in zip(shape, sides, strict=True))
        rows = label_rows(gpu, labels, self._background, self.rows)
        extent = extent_of(gpu, self._lengths)
        table = TABLE.of(gpu, **self._fields, made_for=0, call=self._call)
        launch(measure, (tiles, THREADS), rows, self._lowest, extent, image, table)
        by_row = grid_of_rows(gpu, self.rows)
        for kernel in listing:
            launch(kernel, by_row, table, self._runs)

    def read_counts(self, state: int) -> tuple[int, int]:
        """Wait for `counted` and return it; `state` is the address of ``RunState``."""
        if self.is_told:
            return self.counted
        answer = self._gpu.answer.item
        for _ in range(GLANCES):
            packed = answer()
            if packed >> (ROW_BITS + COMPONENT_BITS) == self._call:
                components = (packed & (1 << COMPONENT_BITS) - 1) - 1
                rows = packed >> COMPONENT_BITS & (1 << ROW_BITS) - 1
                break
        else:
            _, components, rows = self._launched.read_all(state, STATE_WORDS)
        self.is_steady, self.is_told = components > 0 and components == self.counted[0], True
        self.counted = components, rows
        return self.counted

    def cleared(self) -> None:
        """Note that columns of as many components as there were are written."""
        self._is_clear = True

    def write(self, runs: ComponentRuns, label: np.dtype[Any], moments: bool) -> tuple[Any, ...]:
        """Return columns of all components, and clear the sums for the next call.

        Nothing is written if there are more or fewer components, but any, than `runs` says. The
        columns are `Shapes`; a list of those of an image, as ``IntensityColumns``; and its standard
        deviations, minima and maxima, float64, (3, n), or None without an image.
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
            of_shapes = shapes.struct(self._gpu)
            of_image = intensities.columns_at(self._gpu, columns)
            by_row = self._gpu.grid(self.rows, COLUMN_THREADS)
            launch(write, by_row, table, self._runs, of_shapes, of_image, reals)

        variable = Field("made_for", count), *shapes, *columns, reals
        self.calls.launch(("write", moments, value), variable, launches)
        return shapes, columns, reals


def _exponent_of(image: Any) -> int:
    """Return the exponent of a power of two above all magnitudes; 0 if not all are finite."""
    largest = max(float(image.max()), -float(image.min()), 0.0)
    exponent = frexp(largest)[1] + SPARE_BITS if isfinite(largest) else 0
    return max(-MOST_EXPONENT, min(MOST_EXPONENT, exponent))
