"""Engines of spins on a GPU, which find clusters as `conncomp.label` finds components."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from conncomp._algorithms import Algorithm, Task
from conncomp._arguments import check_option
from conncomp.grid.algorithms import ALGORITHMS
from conncomp.kernels.cuda.grid.image import Image
from conncomp.kernels.cuda.launcher import DeviceArray, Gpu
from conncomp.kernels.cuda.models.cell_spins import GpuCellEngine
from conncomp.kernels.cuda.models.clusters import LabelFinder, Labelling
from conncomp.kernels.cuda.models.edge_spins import EdgeLabels, GpuEdgeEngine
from conncomp.kernels.cuda.models.replicas import Replicas
from conncomp.kernels.cuda.models.structure import StructureSums
from conncomp.kernels.cuda.models.vector_spins import GpuVectorEngine
from conncomp.kernels.cuda.models.words import GpuWordEngine, default_finders
from conncomp.kernels.cuda.papers.few_cluster import WaveFrontEngine
from conncomp.kernels.cuda.papers.site_bonds import SITES, SiteBondEngine
from conncomp.kernels.cuda.workspace import Workspace
from conncomp.kernels.lattice import Lattice
from conncomp.kernels.updates import Drawn, SpinEngine
from conncomp.kernels.vector_spins import Kind
from conncomp.models.spins.cpu import Engines


def word_engine(
    gpu: Gpu, drawn: Drawn, lattice: Lattice, labelling: str, options: Mapping[str, Any]
) -> SpinEngine:
    """Return the engine of words of states for a labelling of `conncomp.models.Potts`."""
    if labelling == "serial":
        raise ValueError(
            "labelling='serial' runs on the CPU; use 'auto', 'tiles' or 'wave-front', or "
            "device='cpu'"
        )
    own, by_tiles = dict(options), labelling == "tiles"
    activation = own.pop("activation", None) if by_tiles else None
    check_option("activation", activation, (None, *SITES))
    algorithm = ALGORITHMS["cuda"]["tiles" if by_tiles else "auto"]
    chosen, replicas = algorithm.check_options(own), Replicas(gpu, drawn, lattice)
    if labelling == "wave-front":
        return WaveFrontEngine(replicas)
    if not by_tiles:
        return _default_engine(replicas)
    labels = LabelFinder(replicas, _filling(gpu, algorithm, chosen))
    engine = (
        GpuWordEngine(replicas, [labels])
        if activation is None
        else SiteBondEngine(replicas, labels, activation)
    )
    if algorithm.check is not None:
        bonds = np.broadcast_to(np.zeros((), "u1"), (drawn.replicas, *lattice.shape))
        algorithm.check(labels.image(bonds, lattice.periodic), **chosen)
    return engine


def vector_engine(
    gpu: Gpu, drawn: Drawn, lattice: Lattice, kind: Kind, negative: bool
) -> GpuVectorEngine:
    """Return the engine of vectors, whose clusters are those of words of two states."""
    return GpuVectorEngine(_default_engine(Replicas(gpu, drawn, lattice)), kind, negative)


def _default_engine(replicas: Replicas) -> GpuWordEngine:
    fill = _filling(replicas.gpu, ALGORITHMS["cuda"]["auto"], {})
    return GpuWordEngine(replicas, default_finders(replicas, fill), default=True)


def _filling(gpu: Gpu, algorithm: Algorithm, options: Mapping[str, Any]) -> Labelling:
    """Return a function that fills labels by an algorithm."""

    def fill(image: Image, labels: DeviceArray, workspace: Workspace) -> None:
        task = Task(gpu, labels, workspace, consecutive=False, counted=False)
        algorithm.fill(image, task, **options)

    return fill


GPU = Engines(word_engine, GpuCellEngine, vector_engine, GpuEdgeEngine, EdgeLabels, StructureSums)
