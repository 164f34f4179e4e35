"""Spins as words of states: drives ``spins.cuh``, and finds clusters as ``clusters.py`` has it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from conncomp.kernels.cuda import launcher
from conncomp.kernels.cuda.launcher import Templates
from conncomp.kernels.cuda.models import bricks, spin_batches, spin_sweeps, spin_tiles
from conncomp.kernels.cuda.models.clusters import BrickFinder, ClusterFinder, LabelFinder, Labelling
from conncomp.kernels.cuda.models.replicas import GpuSpins, Replicas, Sweeps, check_room, records_of
from conncomp.kernels.cuda.recordings import Field, Recordings, stream_key
from conncomp.kernels.cuda.workspace import Workspace
from conncomp.kernels.lattice import BITS, MOST_AXES, Lattice
from conncomp.kernels.updates import Flips

# Larger lattices take no longer without launches that are kept. These overlap, and blocks that wait
# for the launch ahead take room from its own: 4096 x 4096 sites took 1.08 times as long.
MOST_REPEATED_SITES = 1 << 19
# Sites a multiprocessor: of more, clusters are found by bricks of sites, of fewer by single ones.
MOST_OF_MULTIPROCESSOR = 6144

FILE = "cuda/models/spins.cuh"
# Each is compiled when its turn comes.
ACTIVATE, COUNT = Templates(FILE, "activate_bonds"), Templates(FILE, "count_states")
OFFER_STATES = Templates(FILE, "update_class")
OFFER_FLIPS = Templates(FILE, "offer_flips", axes=range(1, MOST_AXES + 1), whole=(False, True))


class WordSpins(GpuSpins):
    """Words of states; subclasses update clusters, for which they need `memory` bytes.

    MemoryError if the device has no room for these, the spins and those after an update.
    """

    rules = ("metropolis",)

    def __init__(self, replicas: Replicas, memory: int) -> None:
        super().__init__(replicas)
        lattice, count = replicas.lattice, replicas.count
        spins = 2 * count * lattice.planes * lattice.words * BITS.itemsize
        check_room(self.gpu, f"{count} lattices of shape={lattice.shape}", spins + memory)

    def offer(self, words: Any, new: Any, number: int, strengths: Any, rule: str) -> None:
        """Fill `new` with the spins after a sweep of Metropolis updates."""
        lattice = self.replicas.lattice
        new[...] = words
        if lattice.states > 2:
            kernel = OFFER_STATES.one(self.gpu)
        else:
            axes = [k for k, length in enumerate(lattice.shape) if length > 1]
            whole = bool(axes) and all(lattice.periodic[k] for k in axes)
            kernel = OFFER_FLIPS.one(self.gpu, max(len(axes), 1), whole)
        for site_class in _classes(lattice):
            offered, by_word = (np.int32(site_class), strengths, new), lattice.states > 2
            self.replicas.launch(kernel, number, *offered, over="words" if by_word else "pairs")

    def _draw(
        self, spins: Any, number: int, strengths: Any, bonds: Any, record: Any, active: bool = False
    ) -> None:
        drawn = strengths, bonds, records_of(self.gpu, record), np.bool_(active)
        self.replicas.launch(ACTIVATE.one(self.gpu), number, spins, *drawn, over="bonds")


class GpuWordEngine(WordSpins):
    """Words of states; the first of `finders` that takes an update flips its clusters.

    With `default`, a launch may make several updates, and small lattices record launches.
    """

    winds = True

    def __init__(
        self, replicas: Replicas, finders: Sequence[ClusterFinder], default: bool = False
    ) -> None:
        bonds = replicas.count * replicas.lattice.ndim * replicas.lattice.words * BITS.itemsize
        super().__init__(replicas, bonds + max(finder.memory for finder in finders))
        self._finders, self._is_default = finders, default
        self._repeats = default and replicas.sites <= MOST_REPEATED_SITES
        self._recordings = Recordings(self.gpu)

    @cached_property
    def sweeps(self) -> Sweeps | None:
        """Makes many updates of all clusters of small lattices at once, with `default`."""
        if not self._is_default:
            return None
        replicas = self.replicas
        if spin_batches.takes(self.gpu, replicas.lattice, replicas.count):
            return spin_batches.SpinBatches(replicas)
        if spin_sweeps.takes(self.gpu, replicas.lattice, replicas.count):
            return spin_sweeps.SpinSweeps(replicas)
        return None

    def update(self, words: Any, new: Any, number: int, strengths: Any, flips: Flips) -> None:
        """Fill `new` with the spins after an update of clusters; see `conncomp.models.Potts`."""
        whole = flips.chosen is None and not flips.wrapping
        if not (whole and self._repeats) or launcher.are_watched():
            self._update(words, new, number, strengths, flips)
            return
        # Launches depend on nothing but these, and on values that take the first ones' places.
        kind = stream_key(self.gpu.current_stream()), flips.record is None, flips.clusters
        variable = words, new, strengths, Field("step", number), flips.record
        update = partial(self._update, words, new, number, strengths, flips)
        self._recordings.launch(kind, variable, update)

    def flip(self, bonds: Any, spins: Any, new: Any, number: int, flips: Flips) -> None:
        """Fill `new` with the spins after an update of these bonds."""
        self._finder(flips).flip(bonds, spins, new, number, flips)

    def _finder(self, flips: Flips) -> ClusterFinder:
        return next(finder for finder in self._finders if finder.takes(flips))

    def _update(self, words: Any, new: Any, number: int, strengths: Any, flips: Flips) -> None:
        finder = self._finder(flips)
        with self.gpu.loading(finder.modules(flips)):
            bonds = self._drawn(words, number, strengths, flips)
        finder.flip(bonds, words, new, number, flips)

    def _drawn(self, words: Any, number: int, strengths: Any, flips: Flips) -> Any:
        """Return the active bonds, as `flip` takes them; count them and the spins."""
        lattice, count = self.replicas.lattice, self.replicas.count
        (bonds,) = self._workspace.take(self.gpu, (count * lattice.ndim * lattice.words, BITS))
        self._draw(words, number, strengths, bonds, flips.record, flips.counts_bonds)
        return bonds


def default_finders(replicas: Replicas, fill: Labelling) -> list[ClusterFinder]:
    """Return finders in the order in which an update asks them.

    Tiles flip all clusters of large lattices, which bricks measure and choose, too. Of small ones,
    where labels of single sites are faster, bricks only find windings.
    """
    lattice, count = replicas.lattice, replicas.count
    is_small = replicas.sites <= MOST_OF_MULTIPROCESSOR * replicas.gpu.multiprocessors
    finders: list[ClusterFinder] = []
    workspace = Workspace()  # which neither tiles nor bricks need after an update
    if not is_small and spin_tiles.takes(lattice, count):
        finders.append(spin_tiles.TileFinder(replicas, workspace))
    has_bricks = bricks.takes(lattice, count)
    if has_bricks:
        finders.append(BrickFinder(replicas, workspace, only_windings=is_small))
    if is_small or not has_bricks:
        finders.append(LabelFinder(replicas, fill, by_parents=is_small))
    return finders


def _classes(lattice: Lattice) -> Iterator[int]:
    """Yield the classes of sites that are offered new states at once: see ``sites_of_class``."""
    before, ends = MOST_AXES - lattice.ndim, [0]
    for k, (length, closed) in enumerate(zip(lattice.shape, lattice.periodic, strict=True)):
        if closed and length % 2 == 1 and length > 1:
            ends += [end | 2 << before + k for end in ends]
    for end in sorted(ends):
        yield from (end, end | 1)
