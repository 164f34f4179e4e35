"""The Potts model on a GPU."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from conncomp._arguments import check_option
from conncomp.gpu import Workspace
from conncomp.grid.algorithms import ALGORITHMS
from conncomp.kernels.cuda import launcher
from conncomp.kernels.cuda.grid import tiled_elements
from conncomp.kernels.cuda.grid.image import Image
from conncomp.kernels.cuda.grid.windings import unite_windings
from conncomp.kernels.cuda.launcher import current_gpu
from conncomp.kernels.cuda.models import bricks, spin_batches, spin_sweeps, spin_tiles
from conncomp.kernels.cuda.models.replicas import (
    CLUSTERS,
    SPINS,
    ClusterWindings,
    Over,
    Replicas,
    offering_kernel,
    records_of,
)
from conncomp.kernels.cuda.models.spin_batches import SpinBatches
from conncomp.kernels.cuda.models.spin_sweeps import SpinSweeps
from conncomp.kernels.cuda.papers.few_cluster import ACTIVATION, SITE_BONDS, WaveFronts
from conncomp.kernels.cuda.workspace import Recordings, stream_key
from conncomp.kernels.lattice import BITS, MOST_AXES, Lattice
from conncomp.kernels.links import joined_by_bonds
from conncomp.kernels.neighbourhood import Neighbourhood
from conncomp.models._arguments import Drawn, check_room
from conncomp.models._probabilities import CERTAIN
from conncomp.models.potts.measurements import WINDING_AXES
from conncomp.models.spins.updates import ChosenSites, Flips

CHOSEN, WORD = np.dtype("u4"), 32

# Larger lattices take no longer without launches that are kept. These overlap, and blocks that wait
# for the launch ahead take room from its own: 4096 x 4096 sites took 1.08 times as long.
MOST_REPEATED_SITES = 1 << 19
# Sites a multiprocessor: of more, clusters are found by bricks of sites, of fewer by single ones.
MOST_OF_MULTIPROCESSOR = 6144

# ``Choice`` of ``clusters.cuh`` and ``ChoiceTiles`` of ``core/spins.h``.
_CHOICE = np.dtype(
    [("chosen", "u8"), ("words", "i8"), ("p_flip", "u8"), ("always", "?")], align=True
)
_CHOICE_TILES = np.dtype([("length", "i8", MOST_AXES)])


class Engine:
    """Updates spins on the current CUDA device; MemoryError if that has no room for an update."""

    winds, rules = True, ("metropolis",)

    def __init__(
        self, drawn: Drawn, lattice: Lattice, labelling: str, options: Mapping[str, Any]
    ) -> None:
        if labelling == "serial":
            raise ValueError(
                "labelling='serial' runs on the CPU; use 'auto', 'tiles' or 'wave-front', or "
                "device='cpu'"
            )
        self.gpu, (replicas, first_replica, seed) = current_gpu(), drawn
        self.xp, self.lattice, self.replicas = self.gpu.xp, lattice, replicas
        self.of_replicas = Replicas(self.gpu, lattice, seed, first_replica, replicas)
        auto, grows = labelling == "auto", labelling == "wave-front"
        self._is_auto, sites = auto, lattice.sites * replicas
        self._links = joined_by_bonds(tuple((0, 1 << k) for k in range(lattice.ndim)))
        self._index = launcher.INDEX_TYPES[sites >= 1 << 31]
        self._algorithm = ALGORITHMS["cuda"]["auto" if grows else labelling]
        chosen, self._activation = dict(options), None
        if labelling == "tiles":
            activation = chosen.pop("activation", None)
            self._activation = check_option("activation", activation, ACTIVATION)
        self._options = self._algorithm.check_options(chosen)
        self._fronts = WaveFronts(self.gpu, self.of_replicas, self._index) if grows else None
        self._repeats = auto and sites <= MOST_REPEATED_SITES
        self._is_small = auto and sites <= MOST_OF_MULTIPROCESSOR * self.gpu.multiprocessors
        self._clusters, self._tiles = None, None
        if auto and bricks.takes(lattice, replicas):
            self._clusters = bricks.BrickClusters(self.of_replicas, self._index)
        if auto and not self._is_small and spin_tiles.takes(lattice, replicas):
            workspace = Workspace() if self._clusters is None else self._clusters.workspace
            self._tiles = spin_tiles.TileClusters(self.of_replicas, workspace)
        self._bond_workspace, self._label_workspace = Workspace(), Workspace()
        self._algorithm_workspace, self._size_workspace = Workspace(), Workspace()
        self._choice_workspace, self._recordings = Workspace(), Recordings()
        self._compiled: set[tuple[bool, ...]] = set()  # kinds of updates
        self._check_memory()
        check = self._algorithm.check
        if self._clusters is None and self._fronts is None and check is not None:
            of_sites = np.broadcast_to(np.zeros((), "u1"), (replicas, *lattice.shape))
            check(self._image(of_sites, lattice.periodic), **self._options)

    def start(self, words: Any) -> None:
        """Fill words, which are 0, with random spins."""
        self._launch(SPINS, "start_spins<>", 0, words)

    def count(self, words: Any, record: Any) -> None:
        """Count the satisfied bonds and the sites in each state."""
        none_drawn = None, None, self.records(record), np.bool_(False)
        self._launch(SPINS, "activate_bonds<>", 0, words, *none_drawn, over="bonds")

    def bonds(self, words: Any, step: int, probabilities: Any) -> Any:
        """Return the bonds that an update draws, as words."""
        lattice = self.lattice
        drawn = self.xp.empty((self.replicas, lattice.ndim, lattice.rows, lattice.columns), BITS)
        self._activate(words, step, probabilities, drawn, None, False)
        return drawn

    def offer(self, words: Any, new: Any, step: int, acceptance: Any, rule: str) -> None:
        """Fill `new` with the spins after a sweep of Metropolis updates."""
        new[...] = words
        name, over = offering_kernel(self.lattice)
        for site_class in _classes(self.lattice):
            self._launch(SPINS, name, step, np.int32(site_class), acceptance, new, over=over)

    def update(self, words: Any, new: Any, step: int, probabilities: Any, flips: Flips) -> None:
        """Fill `new` with the spins after an update of clusters; see `conncomp.models.Potts`."""
        chosen, record, clusters, wrapping, _ = flips
        stream, given = self.gpu.current_stream(), (words, new, step, probabilities, flips)
        if not self._repeats or launcher.are_watched() or chosen is not None or wrapping:
            self._update(*given)
            return
        # Launches depend on nothing but these, and on values that take the first ones' places.
        kind = stream_key(stream), record is None, clusters
        variable = words, new, probabilities, launcher.Field("step", step), record
        self._recordings.launch(self.gpu, stream, kind, variable, lambda: self._update(*given))

    def _update(self, words: Any, new: Any, step: int, probabilities: Any, flips: Flips) -> None:
        chosen, record, clusters, wrapping, _ = flips
        if self._fronts is not None:
            self._grow(words, new, step, probabilities, flips)
            return
        count_active = chosen is None or clusters or wrapping
        kind = chosen is None, clusters, wrapping
        modules = () if kind in self._compiled else self._modules(flips)
        self._compiled.add(kind)
        with self.gpu.loading(modules):
            drawn = self._draw(words, step, probabilities, record, count_active)
        self.flip(drawn, words, new, step, flips)

    def flip(self, drawn: Any, words: Any, new: Any, step: int, flips: Flips) -> None:
        """Fill `new` with the spins after an update, given its active bonds as words."""
        chosen, record, clusters, wrapping, watch = flips
        records = self.records(record)
        winds = wrapping and any(self.lattice.periodic)
        if self._tiles is not None and self._flips_alone(flips):
            self._tiles.flip(drawn, step, new)
            return
        if self._clusters is not None and (winds or not self._is_small):
            windings = (self._windings, records) if winds else None
            components = self._clusters.find(drawn, records if clusters else None, windings)
            if chosen is None and watch is None:
                self._clusters.flip(components, step, new)
                return
            settled, labels = True, self._clusters.label(components)
        else:
            if winds:
                self._record_windings(drawn, records)
            settled = not self._is_small or clusters or chosen is not None
            labels = self._label(drawn, self.lattice.periodic, settled)
            if clusters:
                self._measure(labels, record)
        if watch is not None:
            watch(labels)
        choice = self._choose(labels, step, chosen)
        flip = f"flip_clusters<{launcher.ctype(self._index)}, {str(settled).lower()}>"
        self._launch_by_site(flip, step, words, labels, choice, new)

    def _flips_alone(self, flips: Flips) -> bool:
        winds = flips.wrapping and any(self.lattice.periodic)
        return flips.chosen is None and flips.watch is None and not (flips.clusters or winds)

    def _modules(self, flips: Flips) -> Sequence[tuple[str, tuple[str, ...]]]:
        """Return the (file, names) of what `flip` loads, as far as that takes long to compile."""
        if self._tiles is not None and self._flips_alone(flips):
            return [self._tiles.module]
        if self._clusters is not None and not self._is_small and flips.chosen is None:
            return self._clusters.modules(flips.clusters)
        return []

    @cached_property
    def sweeps(self) -> SpinBatches | SpinSweeps | None:
        """What makes many updates at once, of all clusters, of lattices that are small."""
        if not self._is_auto:
            return None
        given = self.gpu, self.lattice, self.replicas
        if spin_batches.takes(*given):
            return SpinBatches(self.of_replicas)
        return SpinSweeps(self.of_replicas) if spin_sweeps.takes(*given) else None

    def _grow(self, words: Any, new: Any, step: int, probabilities: Any, flips: Flips) -> None:
        """Update by clusters that grow along their wave fronts."""
        chosen = flips.chosen
        if chosen is None or flips.clusters or flips.wrapping:
            what = "measures them all" if chosen is not None else "updates them all"
            raise ValueError(
                "labelling='wave-front' grows the clusters of chosen sites, and this call "
                f"{what}; use labelling='auto'"
            )
        if flips.record is not None:
            self.count(words, flips.record)
        assert self._fronts is not None
        choice, tiles = self._choice(chosen)
        self._fronts.update(words, new, step, probabilities, tiles, choice[()])

    def _draw(self, words: Any, step: int, probabilities: Any, record: Any, active: bool) -> Any:
        """Draw bonds; return them as words, or None if they are with the sites already."""
        if self._activation is None:
            bonds = self.replicas * self.lattice.ndim * self.lattice.words
            (drawn,) = self._bond_workspace.take(self.gpu, (bonds, BITS))
            self._activate(words, step, probabilities, drawn, record, active)
            return drawn
        of_site, _ = self._sites_and_labels()
        file, (kernel,) = SITE_BONDS.module(self._activation)
        records = self.records(record)
        self._launch(file, kernel, step, words, probabilities, of_site, records, np.bool_(active))
        if record is not None:
            self._launch(SPINS, "count_states<>", 0, words, records)
        return None

    def _activate(
        self, words: Any, step: int, probabilities: Any, drawn: Any, record: Any, active: bool
    ) -> None:
        arguments = words, probabilities, drawn, self.records(record), np.bool_(active)
        self._launch(SPINS, "activate_bonds<>", step, *arguments, over="bonds")

    @cached_property
    def _windings(self) -> ClusterWindings:
        return ClusterWindings(self.of_replicas, WINDING_AXES)

    def _record_windings(self, drawn: Any, records: Any) -> None:
        """Record windings, given bonds, from labels of the open lattices."""
        labels = self._label(drawn, (False,) * self.lattice.ndim)
        labels += 1  # roots are from 0 on
        of_site, _ = self._sites_and_labels()
        tables = self._windings

        def unite(windings: Any) -> None:
            seams, boxes = tables.seams, tables.boxes
            unite_windings(self.gpu, of_site, self._links, seams, boxes, labels, windings)

        tables.record(records, unite)

    def _sites_and_labels(self) -> Any:
        """Return room for the bonds of each site, and for the sites' labels."""
        sites = self.lattice.sites * self.replicas
        return self._label_workspace.take(self.gpu, (sites, np.dtype("u1")), (sites, self._index))

    def _label(self, drawn: Any, periodic: tuple[bool, ...], settled: bool = True) -> Any:
        """Return labels of clusters; where not `settled`, parents, which lead to them."""
        of_site, labels = self._sites_and_labels()
        if drawn is not None:
            self._launch_by_site("spread_bonds<>", 0, drawn, of_site)
        shape = self.replicas, *self.lattice.shape
        image, shaped = self._image(of_site.reshape(shape), periodic), labels.reshape(shape)
        workspace = self._algorithm_workspace
        if not settled:
            tiled_elements.fill_parents(self.gpu, image, shaped, workspace)
            return labels
        self._algorithm.fill(self.gpu, image, shaped, workspace, False, False, **self._options)
        return labels

    def _measure(self, labels: Any, record: Any) -> None:
        sites = self.lattice.sites * self.replicas
        (size,) = self._size_workspace.take(self.gpu, (sites, self._index))
        self._launch_by_site(self._typed("clear_sizes"), 0, size)
        self._launch_by_site(self._typed("measure_clusters"), 0, labels, size)
        self._launch_by_site(self._typed("sum_clusters"), 0, size, self.records(record))

    def _choose(self, labels: Any, step: int, chosen: ChosenSites | None) -> Any:
        """Return ``Choice``: which clusters may flip."""
        if chosen is None:
            return np.zeros((), _CHOICE)[()]
        choice, tiles = self._choice(chosen)
        words = -(-self.lattice.sites // WORD)
        (bits,) = self._choice_workspace.take(self.gpu, (words * self.replicas, CHOSEN))
        bits[...] = 0
        choice["chosen"], choice["words"] = self.gpu.address(bits), words
        self._launch(CLUSTERS, self._typed("choose_clusters"), step, tiles, labels, choice[()])
        return choice[()]

    def _choice(self, chosen: ChosenSites) -> tuple[Any, Any]:
        """Return ``Choice`` with the probability alone, and ``ChoiceTiles``."""
        choice = np.zeros((), _CHOICE)
        choice["always"] = chosen.p_flip == CERTAIN
        choice["p_flip"] = 0 if choice["always"] else chosen.p_flip
        edges = (*(1,) * (MOST_AXES - self.lattice.ndim), *chosen.tile)
        return choice, np.array((edges,), _CHOICE_TILES)[()]

    def _typed(self, name: str) -> str:
        return f"{name}<{launcher.ctype(self._index)}>"

    def _launch(
        self, file: str, name: str, step: int, *arguments: Any, over: Over = "words"
    ) -> None:
        (kernel,) = self.gpu.load(file, (name,))
        self.of_replicas.launch(kernel, step, *arguments, over=over)

    def _launch_by_site(self, name: str, step: int, *arguments: Any) -> None:
        self._launch(CLUSTERS, name, step, *arguments, over="sites")

    def records(self, record: Any) -> Any:
        """Return ``Records`` of an array, or of none."""
        return records_of(self.gpu, record)

    def _image(self, bonds_of_site: Any, periodic: tuple[bool, ...]) -> Image:
        return Image(bonds_of_site, self._links, Neighbourhood(1, None, periodic), batch_axes=1)

    def _check_memory(self) -> None:
        """Raise MemoryError unless the arrays of an update fit."""
        lattice, sites = self.lattice, self.lattice.sites * self.replicas
        words = 8 * self.replicas * lattice.words
        wanted = 2 * lattice.planes * words
        if self._fronts is not None:  # and a queue of one block
            wanted += (sites + lattice.sites) * self._index.itemsize
        else:
            of_sites = sites * (1 + self._index.itemsize)
            if self._clusters is not None:
                of_sites = bricks.memory(lattice, self.replicas, self._index)
            of_tiles = 0 if self._tiles is None else spin_tiles.memory(lattice, self.replicas)
            wanted += lattice.ndim * words + max(of_sites, of_tiles)
        check_room(self.gpu, f"{self.replicas} lattices of shape={lattice.shape}", wanted)


def _classes(lattice: Lattice) -> Iterator[int]:
    """Yield the classes of sites that are offered new states at once: see ``sites_of_class``."""
    before = MOST_AXES - lattice.ndim
    ends = [0]
    for k, (length, closed) in enumerate(zip(lattice.shape, lattice.periodic, strict=True)):
        if closed and length % 2 == 1 and length > 1:
            ends += [end | 2 << before + k for end in ends]
    for end in sorted(ends):
        yield from (end, end | 1)
