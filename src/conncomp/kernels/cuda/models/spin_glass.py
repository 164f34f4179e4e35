"""Sweeps of spin glasses on a GPU: drives ``spin_glass.cuh``."""

from __future__ import annotations

from typing import Any

from conncomp.kernels.cuda.launcher import WARP, DeviceArray, Gpu, Kernel, Templates, launch
from conncomp.kernels.cuda.models.replicas import BLOCKS_OF_MULTIPROCESSOR, THREADS, check_room
from conncomp.kernels.cuda.structs import Struct
from conncomp.kernels.lattice import BITS, MOST_AXES
from conncomp.kernels.spin_glass import GLASS_REPLICAS, GlassReplicas
from conncomp.kernels.updates import LOCAL_RULES, Drawn

_OF_ALL = (
    "cuda/models/spin_glass.cuh",
    *("start_glass<>", "compare_glass_pairs<>", "flip_glass_pairs<>"),
)
_AXES = range(1, MOST_AXES + 1)
OF_NUMBERS = Templates(*_OF_ALL, "sweep_glass_numbers", "count_glass_numbers", axes=_AXES)
_CHOICES: Any = {"axes": _AXES, "whole": (False, True), "rule": range(len(LOCAL_RULES))}
OF_BITS = Templates(*_OF_ALL, "sweep_glass_bits", "count_glass_bits<{axes}, {whole}>", **_CHOICES)

LAUNCH = Struct(
    *("GlassLaunch", ("replicas", GLASS_REPLICAS)),
    *(("axes parts", "i4"), ("step", "u4"), ("colour", "i4")),
)


class GlassEngine:
    """Sweeps of spins by a rule of `LOCAL_RULES`, given the couplings of replicas as they act."""

    def __init__(self, gpu: Gpu, drawn: Drawn, rule: str, acting: Any) -> None:
        replicas: GlassReplicas = acting.replicas
        lattice = replicas.lattice
        self.gpu, self.xp = gpu, gpu.xp
        wanted = sum(array.nbytes for array in acting.arrays if array is not None)
        wanted += 2 * replicas.groups * lattice.sites * BITS.itemsize
        check_room(gpu, f"{drawn.replicas} lattices of shape={lattice.shape}", wanted)
        self._bonds = [None if array is None else gpu.xp.asarray(array) for array in acting.arrays]
        self._tables = list(map(gpu.xp.asarray, acting.tables))
        self._groups, self._sites, axes = replicas.groups, lattice.sites, lattice.ndim
        if acting.numbers:
            kernels = OF_NUMBERS.load(gpu, axes)
        else:
            kernels = OF_BITS.load(gpu, axes, self._bonds[1] is None, LOCAL_RULES.index(rule))
        self._start, self._compare, self._flip, self._sweep, self._count = kernels
        self._most = max(1, -(-gpu.multiprocessors * BLOCKS_OF_MULTIPROCESSOR // replicas.groups))
        axes_of = zip(lattice.shape, lattice.periodic, strict=True)
        self._colours = 3 if any(n % 2 and n > 1 and closed for n, closed in axes_of) else 2
        self._fields = {"replicas": replicas.struct(rule), "axes": axes}

    def start(self, words: DeviceArray) -> None:
        """Draw the first spins."""
        self._launch(self._start, self._parts(self._sites), words)

    def sweep(self, words: DeviceArray, number: int, temperatures: DeviceArray) -> None:
        """Make a sweep of the spins in `words`."""
        parts = self._parts(-(-self._sites // 2))
        given = *self._bonds, temperatures, *self._tables, words
        for colour in range(self._colours):
            self._launch(self._sweep, parts, *given, step=number, colour=colour)

    def count(self, words: DeviceArray, record: DeviceArray) -> None:
        """Add to each replica's record of two fields."""
        # A warp a site, which adds to the record at the end: few blocks.
        parts = min(self._parts(self._sites * WARP), -(-self._most // 8))
        self._launch(self._count, parts, *self._bonds, words, record)

    def compare_pairs(self, words: DeviceArray, pairs: Any, differ: DeviceArray) -> None:
        """Write where the two replicas of each pair differ, (pairs, sites)."""
        given = self.xp.asarray(pairs), words, differ
        self._launch(self._compare, self._parts(self._sites), *given, groups=len(pairs))

    def flip_pairs(self, words: DeviceArray, pair_of: Any, flips: DeviceArray) -> None:
        """Flip the spins of each replica that has a pair where that says so."""
        pair_of = self.xp.asarray(pair_of)
        self._launch(self._flip, self._parts(self._sites), pair_of, flips, words)

    def _parts(self, threads: int) -> int:
        """Return how many blocks of a group have so many threads, within its share."""
        return max(1, min(-(-threads // THREADS), self._most))

    def _launch(self, kernel: Kernel, parts: int, *given: Any, groups: int = 0, **at: int) -> None:
        """Launch a kernel with `parts` blocks a group, or pair, `at` a step and a colour."""
        struct = LAUNCH.pack({**self._fields, "parts": parts, "step": 0, "colour": 0, **at})
        launch(kernel, ((groups or self._groups) * parts, THREADS), struct, *given)
