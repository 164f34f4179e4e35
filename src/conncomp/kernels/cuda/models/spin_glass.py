"""Sweeps of spin glasses on a GPU: drives ``spin_glass.cuh``."""

from __future__ import annotations

from typing import Any

import numpy as np

from conncomp.kernels import layout
from conncomp.kernels.cuda.launcher import WARP, Gpu, Templates, launch
from conncomp.kernels.cuda.models.replicas import check_room
from conncomp.kernels.lattice import BITS, MOST_AXES
from conncomp.kernels.spin_glass import GLASS_REPLICAS, RULES, GlassReplicas
from conncomp.kernels.updates import Drawn

_OF_ALL = (
    "cuda/models/spin_glass.cuh",
    *("start_glass<>", "compare_glass_pairs<>", "flip_glass_pairs<>"),
)
_AXES = range(1, MOST_AXES + 1)
OF_NUMBERS = Templates(*_OF_ALL, "sweep_glass_numbers", "count_glass_numbers", axes=_AXES)
_CHOICES: Any = {"axes": _AXES, "whole": (False, True), "rule": range(len(RULES))}
OF_BITS = Templates(*_OF_ALL, "sweep_glass_bits", "count_glass_bits<{axes}, {whole}>", **_CHOICES)
THREADS = 128
# How many blocks a multiprocessor gets, so that all of them end at about the same time.
BLOCKS_OF_MULTIPROCESSOR = 64

# ``GlassLaunch`` of ``spin_glass.cuh``.
_LAUNCH = layout(
    ("replicas", GLASS_REPLICAS), ("axes parts", "i4"), ("step", "u4"), ("colour", "i4")
)


class GlassEngine:
    """Replicas side by side, and the kernels that change their spins.

    The rule is "metropolis" or "heat-bath". Of `acting` couplings, which are numbers, or else ±J,
    all bonds may be there. `replicas` say more than `drawn`.
    """

    def __init__(
        self, gpu: Gpu, drawn: Drawn, replicas: GlassReplicas, rule: str, acting: Any
    ) -> None:
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
            kernels = OF_BITS.load(gpu, axes, self._bonds[1] is None, RULES.index(rule))
        self._start, self._compare, self._flip, self._sweep, self._count = kernels
        self._most = max(1, -(-gpu.multiprocessors * BLOCKS_OF_MULTIPROCESSOR // replicas.groups))
        odd = any(
            n % 2 and n > 1 and closed
            for n, closed in zip(lattice.shape, lattice.periodic, strict=True)
        )
        self._colours = 3 if odd else 2
        self._struct = np.array((replicas.struct(rule), axes, 0, 0, 0), _LAUNCH)

    def start(self, words: Any) -> None:
        """Draw the first spins."""
        launch(self._start, self._grid(self._sites), self._struct[()], words)

    def sweep(self, words: Any, number: int, temperatures: Any) -> None:
        """Make a sweep of the spins in `words`."""
        given = *self._bonds, temperatures, *self._tables, words
        self._struct["step"] = number
        grid = self._grid(-(-self._sites // 2))
        for colour in range(self._colours):
            self._struct["colour"] = colour
            launch(self._sweep, grid, self._struct[()], *given)

    def count(self, words: Any, record: Any) -> None:
        """Add to each replica's record of two fields."""
        # A warp a site, which adds to the record at the end: few blocks.
        grid = self._grid(self._sites * WARP, -(-self._most // 8))
        launch(self._count, grid, self._struct[()], *self._bonds, words, record)

    def compare_pairs(self, words: Any, pairs: Any, differ: Any) -> None:
        """Write where the two replicas of each pair differ, (pairs, sites)."""
        _, threads = self._grid(self._sites)
        grid = len(pairs) * int(self._struct["parts"]), threads
        launch(self._compare, grid, self._struct[()], self.xp.asarray(pairs), words, differ)

    def flip_pairs(self, words: Any, pair_of: Any, flips: Any) -> None:
        """Flip the spins of each replica that has a pair where that says so."""
        grid, pair_of = self._grid(self._sites), self.xp.asarray(pair_of)
        launch(self._flip, grid, self._struct[()], pair_of, flips, words)

    def _grid(self, threads: int, most: int | None = None) -> tuple[int, int]:
        parts = max(1, min(-(-threads // THREADS), most or self._most))
        self._struct["parts"] = parts
        return self._groups * parts, THREADS
