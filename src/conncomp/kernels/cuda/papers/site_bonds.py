"""Bonds activated by threads of one site or several, as papers do: drives ``site_bonds.cuh``."""

from __future__ import annotations

from typing import Any

import numpy as np

from conncomp.kernels.cuda.launcher import Templates
from conncomp.kernels.cuda.models.clusters import LabelFinder
from conncomp.kernels.cuda.models.replicas import Replicas, records_of
from conncomp.kernels.cuda.models.words import COUNT, GpuWordEngine
from conncomp.kernels.updates import Flips

# The rows and columns of the sites of a thread, by what users say.
SITES: dict[int | str, tuple[int, int]] = {1: (1, 1), 4: (2, 2), "column": (4, 1)}
KERNELS = Templates(
    "cuda/papers/site_bonds.cuh",
    "activate_sites",
    sites={name: f"{rows}, {columns}" for name, (rows, columns) in SITES.items()},
)


class SiteBondEngine(GpuWordEngine):
    """Words of states; threads activate the bonds of some `sites` each, a key of `SITES`."""

    def __init__(self, replicas: Replicas, labels: LabelFinder, sites: int | str) -> None:
        super().__init__(replicas, [labels])
        self._labels, self._sites_of_thread = labels, sites

    def _drawn(self, words: Any, number: int, strengths: Any, flips: Flips) -> None:
        """Write active bonds where labels have those of sites; count them and the spins."""
        of_sites, records = self._labels.bonds_of_sites, records_of(self.gpu, flips.record)
        kernel, active = KERNELS.one(self.gpu, self._sites_of_thread), np.bool_(flips.counts_bonds)
        self.replicas.launch(kernel, number, words, strengths, of_sites, records, active)
        if flips.record is not None:
            self.replicas.launch(COUNT.one(self.gpu), 0, words, records)
