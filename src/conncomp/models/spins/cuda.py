"""Spins on a GPU: engines of words of states and of vectors, as ``cpu.py`` has.

Others are in ``kernels/cuda/models``; these find clusters as `conncomp.label` does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from conncomp._algorithms import Task
from conncomp._arguments import INDEX_TYPES, check_option
from conncomp.grid.algorithms import ALGORITHMS
from conncomp.kernels.cuda import launcher
from conncomp.kernels.cuda.grid import tiled_elements
from conncomp.kernels.cuda.grid.image import Image
from conncomp.kernels.cuda.grid.windings import unite_windings
from conncomp.kernels.cuda.launcher import Gpu
from conncomp.kernels.cuda.models import (
    bricks,
    spin_batches,
    spin_sweeps,
    spin_tiles,
    vector_sweeps,
)
from conncomp.kernels.cuda.models.replicas import (
    KERNELS,
    ClusterWindings,
    GpuSpins,
    Over,
    Replicas,
    Sweeps,
    check_room,
    offering_kernel,
    records_of,
)
from conncomp.kernels.cuda.models.spin_batches import SpinBatches
from conncomp.kernels.cuda.models.spin_sweeps import SpinSweeps
from conncomp.kernels.cuda.models.vector_spins import VectorSpins
from conncomp.kernels.cuda.papers.few_cluster import ACTIVATION, SITE_BONDS, WaveFronts
from conncomp.kernels.cuda.recordings import Field, Recordings, stream_key
from conncomp.kernels.cuda.workspace import Workspace
from conncomp.kernels.lattice import BITS, MOST_AXES, Lattice
from conncomp.kernels.links import bonds_of_axes
from conncomp.kernels.neighbourhood import Neighbourhood
from conncomp.kernels.updates import ChosenSites, Drawn, Flips
from conncomp.kernels.vector_spins import Kind
from conncomp.models._probabilities import CERTAIN
from conncomp.models.spins.measurements import WINDING_AXES

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


class WordEngine(GpuSpins):
    """Words of states; MemoryError if the device has no room for an update."""

    winds, rules = True, ("metropolis",)

    def __init__(
        self, gpu: Gpu, drawn: Drawn, lattice: Lattice, labelling: str, options: Mapping[str, Any]
    ) -> None:
        if labelling == "serial":
            raise ValueError(
                "labelling='serial' runs on the CPU; use 'auto', 'tiles' or 'wave-front', or "
                "device='cpu'"
            )
        super().__init__(Replicas(gpu, drawn, lattice))
        replicas, sites = drawn.replicas, lattice.sites * drawn.replicas
        auto, grows = labelling == "auto", labelling == "wave-front"
        self.lattice, self._is_auto, self._sites = lattice, auto, sites
        self._links = bonds_of_axes(lattice.ndim)
        self._index = INDEX_TYPES[sites >= 1 << 31]
        self._algorithm = ALGORITHMS["cuda"]["auto" if grows else labelling]
        chosen, self._activation = dict(options), None
        if labelling == "tiles":
            activation = chosen.pop("activation", None)
            self._activation = check_option("activation", activation, ACTIVATION)
        self._options = self._algorithm.check_options(chosen)
        self._fronts = WaveFronts(gpu, self.replicas, self._index) if grows else None
        self._repeats = auto and sites <= MOST_REPEATED_SITES
        self._is_small = auto and sites <= MOST_OF_MULTIPROCESSOR * gpu.multiprocessors
        self._clusters, self._tiles = None, None
        if auto and bricks.takes(lattice, replicas):
            self._clusters = bricks.BrickClusters(self.replicas, self._index)
        if auto and not self._is_small and spin_tiles.takes(lattice, replicas):
            workspace = Workspace() if self._clusters is None else self._clusters.workspace
            self._tiles = spin_tiles.TileClusters(self.replicas, workspace)
        self._memory: defaultdict[str, Workspace] = defaultdict(Workspace)  # by what is in there
        self._recordings = Recordings(gpu)
        self._compiled: set[tuple[bool, ...]] = set()  # kinds of updates
        self._check_memory()
        check = self._algorithm.check
        if self._clusters is None and self._fronts is None and check is not None:
            of_sites = np.broadcast_to(np.zeros((), "u1"), (replicas, *lattice.shape))
            check(self._image(of_sites, lattice.periodic), **self._options)

    def offer(self, words: Any, new: Any, number: int, strengths: Any, rule: str) -> None:
        """Fill `new` with the spins after a sweep of Metropolis updates."""
        new[...] = words
        kernel, over = offering_kernel(self.gpu, self.lattice)
        for site_class in _classes(self.lattice):
            given = np.int32(site_class), strengths, new
            self.replicas.launch(kernel, number, *given, over=over)

    def update(self, words: Any, new: Any, number: int, strengths: Any, flips: Flips) -> None:
        """Fill `new` with the spins after an update of clusters; see `conncomp.models.Potts`."""
        chosen, record, clusters, wrapping, _ = flips
        given = words, new, number, strengths, flips
        if not self._repeats or launcher.are_watched() or chosen is not None or wrapping:
            self._update(*given)
            return
        # Launches depend on nothing but these, and on values that take the first ones' places.
        kind = stream_key(self.gpu.current_stream()), record is None, clusters
        variable = words, new, strengths, Field("step", number), record
        self._recordings.launch(kind, variable, lambda: self._update(*given))

    def _update(self, words: Any, new: Any, number: int, strengths: Any, flips: Flips) -> None:
        chosen, record, clusters, wrapping, _ = flips
        if self._fronts is not None:
            self._grow(words, new, number, strengths, flips)
            return
        count_active = chosen is None or clusters or wrapping
        kind = chosen is None, clusters, wrapping
        modules = () if kind in self._compiled else self._modules(flips)
        self._compiled.add(kind)
        with self.gpu.loading(modules):
            drawn = self._drawn(words, number, strengths, record, count_active)
        self.flip(drawn, words, new, number, flips)

    def flip(self, drawn: Any, words: Any, new: Any, number: int, flips: Flips) -> None:
        """Fill `new` with the spins after an update, given its active bonds as words."""
        chosen, record, clusters, wrapping, watch = flips
        records = records_of(self.gpu, record)
        winds = wrapping and any(self.lattice.periodic)
        if self._tiles is not None and self._flips_alone(flips):
            self._tiles.flip(drawn, number, new)
            return
        if self._clusters is not None and (winds or not self._is_small):
            windings = (self._windings, records) if winds else None
            components = self._clusters.find(drawn, records if clusters else None, windings)
            if chosen is None and watch is None:
                self._clusters.flip(components, number, new)
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
        choice = self._choose(labels, number, chosen)
        given = words, labels, choice, new
        self._run("flip_clusters", number, *given, over="sites", of=(settled, self._index))

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
    def sweeps(self) -> Sweeps | None:
        """What makes many updates at once, of all clusters, of lattices that are small."""
        if not self._is_auto:
            return None
        given = self.gpu, self.lattice, self.replicas.count
        if spin_batches.takes(*given):
            return SpinBatches(self.replicas)
        return SpinSweeps(self.replicas) if spin_sweeps.takes(*given) else None

    def _grow(self, words: Any, new: Any, number: int, strengths: Any, flips: Flips) -> None:
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
        self._fronts.update(words, new, number, strengths, tiles, choice)

    def _drawn(self, words: Any, number: int, strengths: Any, record: Any, active: bool) -> Any:
        """Draw bonds; return them as words, or None if they are with the sites already."""
        if self._activation is None:
            bonds = self.replicas.count * self.lattice.ndim * self.lattice.words
            (drawn,) = self._workspace.take(self.gpu, (bonds, BITS))
            self._draw(words, number, strengths, drawn, record, active)
            return drawn
        of_site, _ = self._sites_and_labels()
        kernel, records = SITE_BONDS.one(self.gpu, self._activation), records_of(self.gpu, record)
        given = words, strengths, of_site, records, np.bool_(active)
        self.replicas.launch(kernel, number, *given)
        if record is not None:
            self._run("count_states", 0, words, records)
        return None

    def _draw(
        self, words: Any, number: int, strengths: Any, bonds: Any, record: Any, active: bool = False
    ) -> None:
        arguments = words, strengths, bonds, records_of(self.gpu, record), np.bool_(active)
        self._run("activate_bonds", number, *arguments, over="bonds")

    @cached_property
    def _windings(self) -> ClusterWindings:
        return ClusterWindings(self.replicas, WINDING_AXES)

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
        parts = (self._sites, np.dtype("u1")), (self._sites, self._index)
        return self._memory["labels"].take(self.gpu, *parts)

    def _label(self, drawn: Any, periodic: tuple[bool, ...], settled: bool = True) -> Any:
        """Return labels of clusters; where not `settled`, parents, which lead to them."""
        of_site, labels = self._sites_and_labels()
        if drawn is not None:
            self._run("spread_bonds", 0, drawn, of_site, over="sites")
        shape = self.replicas.count, *self.lattice.shape
        image, shaped = self._image(of_site.reshape(shape), periodic), labels.reshape(shape)
        workspace = self._memory["algorithm"]
        if not settled:
            tiled_elements.fill_parents(self.gpu, image, shaped, workspace)
            return labels
        task = Task(self.gpu, shaped, workspace, consecutive=False, counted=False)
        self._algorithm.fill(image, task, **self._options)
        return labels

    def _measure(self, labels: Any, record: Any) -> None:
        (size,) = self._memory["sizes"].take(self.gpu, (self._sites, self._index))
        how: Any = {"over": "sites", "of": (self._index,)}
        self._run("clear_sizes", 0, size, **how)
        self._run("measure_clusters", 0, labels, size, **how)
        self._run("sum_clusters", 0, size, records_of(self.gpu, record), **how)

    def _choose(self, labels: Any, number: int, chosen: ChosenSites | None) -> Any:
        """Return ``Choice``: which clusters may flip."""
        if chosen is None:
            return np.zeros((), _CHOICE)[()]
        words = -(-self.lattice.sites // WORD)
        (bits,) = self._memory["choice"].take(self.gpu, (words * self.replicas.count, CHOSEN))
        bits[...] = 0
        choice, tiles = self._choice(chosen, self.gpu.address(bits), words)
        self._run("choose_clusters", number, tiles, labels, choice, of=(self._index,))
        return choice

    def _choice(self, chosen: ChosenSites, bits: int = 0, words: int = 0) -> tuple[Any, Any]:
        """Return ``Choice``, of which clusters have bits there, and ``ChoiceTiles``."""
        always = chosen.p_flip == CERTAIN
        choice = np.array((bits, words, 0 if always else chosen.p_flip, always), _CHOICE)[()]
        edges = (*(1,) * (MOST_AXES - self.lattice.ndim), *chosen.tile)
        return choice, np.array((edges,), _CHOICE_TILES)[()]

    def _run(
        self,
        name: str,
        number: int,
        *arguments: Any,
        over: Over = "words",
        of: tuple[Any, ...] = (),
    ) -> None:
        """Launch a kernel over replicas, of the choices that its templates have."""
        self.replicas.launch(KERNELS[name].one(self.gpu, *of), number, *arguments, over=over)

    def _image(self, bonds_of_site: Any, periodic: tuple[bool, ...]) -> Image:
        return Image(bonds_of_site, self._links, Neighbourhood(1, None, periodic), batch_axes=1)

    def _check_memory(self) -> None:
        """Raise MemoryError unless the arrays of an update fit."""
        lattice, sites, replicas = self.lattice, self._sites, self.replicas.count
        words = 8 * replicas * lattice.words
        wanted = 2 * lattice.planes * words
        if self._fronts is not None:  # and a queue of one block
            wanted += (sites + lattice.sites) * self._index.itemsize
        else:
            of_sites = sites * (1 + self._index.itemsize)
            if self._clusters is not None:
                of_sites = bricks.memory(lattice, replicas, self._index)
            of_tiles = 0 if self._tiles is None else spin_tiles.memory(lattice, replicas)
            wanted += lattice.ndim * words + max(of_sites, of_tiles)
        check_room(self.gpu, f"{replicas} lattices of shape={lattice.shape}", wanted)


def _classes(lattice: Lattice) -> Iterator[int]:
    """Yield the classes of sites that are offered new states at once: see ``sites_of_class``."""
    before = MOST_AXES - lattice.ndim
    ends = [0]
    for k, (length, closed) in enumerate(zip(lattice.shape, lattice.periodic, strict=True)):
        if closed and length % 2 == 1 and length > 1:
            ends += [end | 2 << before + k for end in ends]
    for end in sorted(ends):
        yield from (end, end | 1)


class VectorEngine(VectorSpins):
    """Spins that are vectors, by the clusters of words of two states: reflected or not."""

    def __init__(
        self, gpu: Gpu, drawn: Drawn, lattice: Lattice, kind: Kind, negative: bool
    ) -> None:
        self._embedded = WordEngine(gpu, drawn, lattice, "auto", {})
        spins = 2 * drawn.replicas * lattice.sites * kind.dtype.itemsize
        check_room(gpu, f"{drawn.replicas} lattices of shape={lattice.shape}", spins)
        of_spins = self._embedded.replicas, kind, negative
        super().__init__(*of_spins)
        self.sweeps_one = vector_sweeps.takes(gpu, lattice, drawn.replicas)
        self.sweeps = vector_sweeps.VectorSweeps(*of_spins) if self.sweeps_one else None

    def update(self, spins: Any, new: Any, number: int, strengths: Any, flips: Flips) -> None:
        """Fill `new` with the spins after clusters are reflected, all or one."""
        chosen, record, clusters, *_ = flips
        lattice, watch = self.replicas.lattice, None
        words = self.replicas.count * lattice.words
        bonds, before, reflected = self._workspace.take(
            self.gpu, (lattice.ndim * words, BITS), (words, BITS), (words, BITS)
        )
        self._draw(spins, number, strengths, bonds, record)
        if clusters:
            watch = partial(self._project, spins, number, record)
        if chosen is not None or clusters:
            before[...] = 0  # the states of two that sites have, of which a cluster takes the other
        of_words = Flips(chosen, record, clusters, watch=watch)
        self._embedded.flip(bonds, before, reflected, number, of_words)
        self._reflect(spins, number, reflected, new)
