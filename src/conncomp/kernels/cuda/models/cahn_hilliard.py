"""Fields of Cahn and Hilliard, and their domains: drives ``cahn_hilliard.cuh``, ``domains.cuh``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from conncomp.kernels.cuda.launcher import DeviceArray, Gpu, Templates, ctype, launch
from conncomp.kernels.cuda.models import bricks
from conncomp.kernels.cuda.models.replicas import Replicas, check_room, records_of
from conncomp.kernels.cuda.structs import Struct
from conncomp.kernels.cuda.workspace import Workspace
from conncomp.kernels.field import FIELD_SHAPE, Coefficients, FieldLattice, Gauge
from conncomp.kernels.lattice import BITS, Lattice
from conncomp.kernels.updates import Drawn

FILE = "cuda/models/cahn_hilliard.cuh"
LINE_THREADS, PLANE_THREADS = 128, 256
# Blocks of a multiprocessor: of lines, of float32 without noise and of others; and of planes.
SLIM_BLOCKS, LINE_BLOCKS, PLANE_BLOCKS = 5, 4, 2
LOAD = 16  # bytes that a thread reads at once
QUAD = 4  # cells that a thread measures together
MOST_LANES, LEAST_LANES = 16, 4
LEAST_RUN, MOST_RUN = 8, 64  # layers of a run
BLOCKS_OF_MULTIPROCESSOR = 32  # of kernels that add up

_VALUES = np.dtype(np.float32), np.dtype(np.float64)
KERNELS = Templates(
    FILE,
    "start_field<{cells[0]}>",
    "{axes[0]}<{cells[0]}, {cells[1]}, {noise}>",
    "measure_field<{cells[0]}, {axes[1]}>",
    # A type, and the columns of a thread.
    cells={
        (dtype, width): (ctype(dtype), width)
        for dtype in _VALUES
        for width in (1, LOAD // dtype.itemsize)
    },
    axes={2: ("advance_lines", 2), 3: ("advance_planes", 3)},
    noise=(False, True),
)
FILE_OF_DOMAINS = "cuda/models/domains.cuh"
_MARK = Templates(FILE_OF_DOMAINS, "mark_phases", value=_VALUES)
OF_PHASES = bricks.tasks_of(FILE_OF_DOMAINS, "kPhases", "DomainSums")

FIELDS = Struct(
    *("Fields", ("shape", FIELD_SHAPE), ("replicas groups run runs lanes row_tiles", "i8")),
    *(("seed first", "u8"), (" ".join(Coefficients._fields), "f8"), ("step", "u4")),
)
GAUGE = Struct("FieldGauge", (" ".join(Gauge._fields), "f8"))


class GpuFields:
    """Steps of fields of one shape and dtype, and their domains, where bricks take these.

    A thread marches through a run of so many layers that threads fill the GPU.
    """

    def __init__(
        self, gpu: Gpu, drawn: Drawn, lattice: FieldLattice, dtype: Any, coefficients: Coefficients
    ) -> None:
        self.gpu, self.xp, self._lattice, count = gpu, gpu.xp, lattice, drawn.replicas
        what = f"{count} fields of shape={lattice.shape}, before and after a step,"
        check_room(gpu, what, 2 * count * lattice.cells * dtype.itemsize)
        self._count, self.workspace, self._clusters = count, Workspace(), None
        self._phases = Lattice(lattice.shape, (True,) * lattice.ndim, 1)
        if bricks.takes(self._phases, count):
            self._clusters = bricks.BrickClusters(Replicas(gpu, drawn, self._phases), OF_PHASES)
        layers, rows, columns = lattice.lengths
        width = LOAD // dtype.itemsize
        self._width = width if columns % width == 0 else 1
        groups = columns // self._width
        noise, lanes = coefficients.flux != 0, LEAST_LANES
        while lanes < min(groups, MOST_LANES):
            lanes *= 2
        row_tiles = -(-rows // (PLANE_THREADS // lanes - 2))
        if lattice.ndim == 2:
            is_slim = dtype.itemsize == 4 and not noise
            blocks = gpu.multiprocessors * (SLIM_BLOCKS if is_slim else LINE_BLOCKS)
            threads, columns_of_blocks = LINE_THREADS, count * groups / LINE_THREADS
        else:
            threads, blocks = PLANE_THREADS, gpu.multiprocessors * PLANE_BLOCKS
            columns_of_blocks = count * row_tiles * -(-groups // lanes)
        run = min(layers, _length_of_runs(layers, columns_of_blocks, blocks))
        runs = -(-layers // run)
        self._grid = math.ceil(runs * columns_of_blocks), threads
        self._shared = 0 if lattice.ndim == 2 else 2 * threads * self._width * dtype.itemsize
        cut = {"groups": groups, "run": run, "runs": runs, "lanes": lanes, "row_tiles": row_tiles}
        fields = {"shape": np.array(lattice.lengths, FIELD_SHAPE), "replicas": count, **cut}
        by = {"seed": drawn.seed, "first": drawn.first_replica, **coefficients._asdict()}
        self._fields = {**fields, **by}
        kernels = KERNELS.load(gpu, (dtype, self._width), lattice.ndim, noise)
        self._start, self._advance, self._measure = kernels

    def start(self, mean: float, scale: float, field: DeviceArray) -> None:
        """Fill the first fields."""
        blocks = self.gpu.grid(field.size, LINE_THREADS)
        struct = FIELDS.pack({**self._fields, "step": 0})
        launch(self._start, blocks, struct, np.float64(mean), np.float64(scale), field)

    def advance(self, number: int, field: DeviceArray, after: DeviceArray) -> None:
        """Fill `after` with the fields after a step."""
        struct = FIELDS.pack({**self._fields, "step": number})
        launch(self._advance, self._grid, struct, field, after, shared=self._shared)

    def measure(self, gauge: Gauge, field: DeviceArray, records: DeviceArray) -> None:
        """Add what ``FieldTally`` has to the records."""
        wanted = -(-self.gpu.multiprocessors * BLOCKS_OF_MULTIPROCESSOR // self._count)
        parts = max(1, min(-(-self._lattice.cells // (QUAD * LINE_THREADS)), wanted))
        blocks, struct = self._count * parts, FIELDS.pack({**self._fields, "step": 0})
        given = GAUGE.pack(gauge._asdict()), parts, field, records, records.shape[-1]
        launch(self._measure, (blocks, LINE_THREADS), struct, *given)

    def _count_by_bricks(self, threshold: float, field: DeviceArray, records: DeviceArray) -> None:
        """Add what ``DomainSums`` has to the records, which have its entries as 0."""
        assert self._clusters is not None
        lattice, words = self._phases, self._count * self._phases.words
        phases, mark = self.xp.empty(words, BITS), _MARK.one(self.gpu, field.dtype)
        blocks, rows = self.gpu.grid(8 * words, LINE_THREADS), (lattice.columns, lattice.shape[-1])
        launch(mark, blocks, words, *rows, np.float64(threshold), field, phases)
        self._clusters.find(phases, records_of(self.gpu, records))


def _length_of_runs(layers: int, columns_of_blocks: float, blocks: int) -> int:
    """Return how many layers a thread marches through, so that blocks end at about the same time.

    So many `blocks` are at work at once.
    """
    rounds = max(1, math.ceil(layers * columns_of_blocks / (MOST_RUN * blocks)))
    runs = max(1, math.floor(rounds * blocks / columns_of_blocks))
    return max(LEAST_RUN, math.ceil(layers / runs))
