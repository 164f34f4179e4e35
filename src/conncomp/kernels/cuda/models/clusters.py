"""Ways to find the clusters of spins and to flip them: drives ``clusters.cuh``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from conncomp.kernels.cuda.grid import tiled_elements
from conncomp.kernels.cuda.grid.image import Image
from conncomp.kernels.cuda.grid.windings import unite_windings
from conncomp.kernels.cuda.launcher import DeviceArray, Module, Templates
from conncomp.kernels.cuda.models import bricks
from conncomp.kernels.cuda.models.replicas import ClusterWindings, Replicas, records_of
from conncomp.kernels.cuda.structs import Struct
from conncomp.kernels.cuda.workspace import Workspace
from conncomp.kernels.lattice import MOST_AXES
from conncomp.kernels.links import bonds_of_axes
from conncomp.kernels.neighbourhood import Neighbourhood
from conncomp.kernels.updates import WINDING_AXES, ChosenSites, Flips

FILE = "cuda/models/clusters.cuh"
# Each is compiled when its turn comes.
CHOOSE, CLEAR, MEASURE, SUM = (
    Templates(FILE, name, indices="index")
    for name in ("choose_clusters", "clear_sizes", "measure_clusters", "sum_clusters")
)
SPREAD = Templates(FILE, "spread_bonds")
FLIP = Templates(FILE, "flip_clusters<{index}, {settled}>", settled=(False, True), indices="index")
BYTE, CHOSEN, WORD = np.dtype("u1"), np.dtype("u4"), 32
CHOICE = Struct("Choice", "chosen", ("words", "i8"), ("p_flip", "u8"), ("always", "?"))
_CHOICE_TILES = np.dtype([("length", "i8", MOST_AXES)])

# A function that fills labels of an image, whose elements are sites with the bonds of each.
Labelling = Callable[[Image, DeviceArray, Workspace], object]


class ClusterFinder(ABC):
    """A way to find the clusters of bonds and to flip them.

    The first finder of a list that takes an update makes it. An update needs about `memory` bytes
    besides spins and bonds, of a workspace that is free afterwards.
    """

    def __init__(self, replicas: Replicas, memory: int, workspace: Workspace | None = None) -> None:
        self._replicas, self.memory, self._workspace = replicas, memory, workspace or Workspace()
        self._closes = any(replicas.lattice.periodic)

    @abstractmethod
    def takes(self, flips: Flips) -> bool:
        """Whether it flips these clusters, and measures what is asked of them."""

    def modules(self, flips: Flips) -> Sequence[Module]:
        """Return what takes long to compile, and may be compiled while bonds are drawn."""
        return []

    @abstractmethod
    def flip(self, bonds: Any, spins: Any, new: Any, number: int, flips: Flips) -> None:
        """Fill `new` with the spins after an update of these bonds."""

    def _winds(self, flips: Flips) -> bool:
        """Whether to record windings: on open lattices all are 0, as records are."""
        return flips.wrapping and self._closes


class _FlippedByLabels(ClusterFinder):
    """A finder that flips clusters, all or those of chosen sites, by the label of each site."""

    @cached_property
    def _windings(self) -> ClusterWindings:
        return ClusterWindings(self._replicas, WINDING_AXES)

    def _flip_labels(
        self, labels: Any, settled: bool, spins: Any, new: Any, number: int, flips: Flips
    ) -> None:
        """Fill `new`, given labels or, where not `settled`, parents, which lead to them."""
        replicas, gpu, choice = self._replicas, self._replicas.gpu, choice_of(None)
        if flips.watch is not None:
            flips.watch(labels)
        if flips.chosen is not None:
            words = -(-replicas.lattice.sites // WORD)
            (bits,) = self._workspace.take(gpu, (words * replicas.count, CHOSEN))
            bits[...] = 0
            tiles = tiles_of(flips.chosen)
            choice = choice_of(flips.chosen, gpu.address(bits), words)
            replicas.launch(CHOOSE.one(gpu, replicas.index), number, tiles, labels, choice)
        flip = FLIP.one(gpu, settled, replicas.index)
        replicas.launch(flip, number, spins, labels, choice, new, over="sites")


def choice_of(chosen: ChosenSites | None, address: int = 0, words: int = 0) -> np.void:
    """Return ``Choice``: of all clusters, or of those that have bits at an address."""
    always = chosen is not None and chosen.always
    p_flip = 0 if chosen is None or always else chosen.p_flip
    return CHOICE.pack({"chosen": address, "words": words, "p_flip": p_flip, "always": always})


def tiles_of(chosen: ChosenSites) -> Any:
    """Return ``ChoiceTiles`` of ``core/spins.h``."""
    return np.array((chosen.lengths,), _CHOICE_TILES)[()]


class BrickFinder(_FlippedByLabels):
    """Finds clusters as components of bricks; `only_windings`, in updates that measure these."""

    def __init__(self, replicas: Replicas, workspace: Workspace, only_windings: bool) -> None:
        self._clusters = bricks.BrickClusters(replicas, workspace=workspace)
        self._only_windings = only_windings
        super().__init__(replicas, self._clusters.memory)

    def takes(self, flips: Flips) -> bool:
        """Whether windings are measured, or not only they are for bricks."""
        return not self._only_windings or self._winds(flips)

    def modules(self, flips: Flips) -> Sequence[Module]:
        """Return what finds, and flips, all clusters."""
        if self._only_windings or flips.chosen is not None:
            return []
        return self._clusters.modules(flips.clusters)

    def flip(self, bonds: Any, spins: Any, new: Any, number: int, flips: Flips) -> None:
        """Fill `new` with the spins after an update of these bonds."""
        records = records_of(self._replicas.gpu, flips.record)
        windings = self._windings if self._winds(flips) else None
        components = self._clusters.find(bonds, records, sizes=flips.clusters, windings=windings)
        if flips.chosen is None and flips.watch is None:
            self._clusters.flip(components, number, new)
        else:
            self._flip_labels(self._clusters.label(components), True, spins, new, number, flips)


class LabelFinder(_FlippedByLabels):
    """Finds clusters by labels that `fill` writes, of any lattice, in any update.

    With `by_parents`, flips that need no labels follow parents instead. Bonds are None where
    `bonds_of_sites` has them already.
    """

    def __init__(self, replicas: Replicas, fill: Labelling, by_parents: bool = False) -> None:
        super().__init__(replicas, replicas.sites * (1 + replicas.index.itemsize))
        self._fill, self._by_parents = fill, by_parents
        self._links = bonds_of_axes(replicas.lattice.ndim)
        self._memory: defaultdict[str, Workspace] = defaultdict(Workspace)  # by what is in there

    def takes(self, flips: Flips) -> bool:
        """Return True: it takes all updates."""
        return True

    def flip(self, bonds: Any, spins: Any, new: Any, number: int, flips: Flips) -> None:
        """Fill `new` with the spins after an update of these bonds."""
        replicas, gpu, index = self._replicas, self._replicas.gpu, self._replicas.index
        records = records_of(gpu, flips.record)
        if self._winds(flips):
            self._record_windings(bonds, records)
        settled = not self._by_parents or flips.clusters or flips.chosen is not None
        labels = self._label(bonds, replicas.lattice.periodic, settled)
        if flips.clusters:
            (size,) = self._memory["sizes"].take(gpu, (replicas.sites, index))
            replicas.launch(CLEAR.one(gpu, index), 0, size, over="sites")
            replicas.launch(MEASURE.one(gpu, index), 0, labels, size, over="sites")
            replicas.launch(SUM.one(gpu, index), 0, size, records, over="sites")
        self._flip_labels(labels, settled, spins, new, number, flips)

    @property
    def bonds_of_sites(self) -> Any:
        """Memory for the active bonds of each site to the next ones, a byte."""
        replicas = self._replicas
        return self._memory["bonds"].take(replicas.gpu, (replicas.sites, BYTE))[0]

    def image(self, bonds_of_sites: Any, periodic: tuple[bool, ...]) -> Image:
        """Return the sites of all replicas as an image, given the bonds of each."""
        neighbourhood, shape = Neighbourhood(1, None, periodic), self._replicas.lattice.shape
        of_items = bonds_of_sites.reshape(self._replicas.count, *shape)
        return Image(of_items, self._links, neighbourhood, batch_axes=1)

    def _label(self, bonds: Any, periodic: tuple[bool, ...], settled: bool = True) -> Any:
        """Return labels of clusters; where not `settled`, parents, which lead to them."""
        replicas, gpu, of_sites = self._replicas, self._replicas.gpu, self.bonds_of_sites
        (labels,) = self._memory["labels"].take(gpu, (replicas.sites, replicas.index))
        if bonds is not None:
            replicas.launch(SPREAD.one(gpu), 0, bonds, of_sites, over="sites")
        image, workspace = self.image(of_sites, periodic), self._memory["algorithm"]
        shaped = labels.reshape(image.values.shape)
        if settled:
            self._fill(image, shaped, workspace)
        else:
            tiled_elements.fill_parents(gpu, image, shaped, workspace)
        return labels

    def _record_windings(self, bonds: Any, records: np.void) -> None:
        """Record windings, given bonds, from labels of the open lattices."""
        tables, labels = self._windings, self._label(bonds, (False,) * self._replicas.lattice.ndim)
        labels += 1  # roots are from 0 on
        linked = self._replicas.gpu, self.bonds_of_sites, self._links
        tables.record(records, partial(unite_windings, *linked, tables.seams, tables.boxes, labels))
