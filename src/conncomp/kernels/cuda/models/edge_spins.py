"""Updates of spins on any edges, and labels of their clusters: drives ``edge_spins.cuh``."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from conncomp.kernels.cuda.launcher import COUNT, Gpu, Templates
from conncomp.kernels.cuda.models.clusters import MEASURE, SUM
from conncomp.kernels.cuda.models.replicas import GpuSpins, Replicas, check_room, records_of
from conncomp.kernels.cuda.structs import Struct
from conncomp.kernels.edges import KINDS, EdgeBonds, SpinKind
from conncomp.kernels.lattice import BITS, Lattice
from conncomp.kernels.updates import LOCAL_RULES, Drawn, Flips

FILE = "cuda/models/edge_spins.cuh"
_TYPES = {kind: f"conncomp::{kind.struct}" for kind in KINDS}
_OF_CLUSTERS = ("draw_edges", "draw_ghosts", "begin_edges", "flip_edges", "choose_edge_cluster<>")
_VECTORS = {kind: name for kind, name in _TYPES.items() if kind.components}
_STATES = {kind: name for kind, name in _TYPES.items() if not kind.components}
STATES = Templates(FILE, *_OF_CLUSTERS, kind=_STATES)
VECTORS = Templates(FILE, *_OF_CLUSTERS, "start_edges", "count_edge_vectors", kind=_VECTORS)
OFFERS = Templates(FILE, "offer_edges", kind=_TYPES)
INDEX = np.dtype(np.int32)
LABELS = Templates(FILE, "join_active_bonds", "settle_labels")

BONDS = Struct("EdgeBonds", ("count", COUNT), "u v coupling field")
DRAWN = Struct("DrawnEdges", ("bonds", BONDS.dtype), "temperatures", ("logarithm", np.uintp))
ARCS = Struct("EdgeArcs", "begin to coupling")
CLASS = Struct("EdgeClass", "vertices", ("count", COUNT))


class GpuEdgeEngine(GpuSpins):
    """Replicas of one graph; `logarithm` is a table, `classes` returns the `Classes` of sites."""

    rules = LOCAL_RULES

    def __init__(
        self, gpu: Gpu, drawn: Drawn, edges: EdgeBonds, kind: SpinKind, logarithm: Any, classes: Any
    ) -> None:
        count, rows = drawn.replicas, edges.of_sites
        held = sum(int(array.nbytes) for array in edges.arrays if array is not None)
        update = 2 * edges.sites * INDEX.itemsize + rows.words * 8
        spins = 2 * kind.dtype.itemsize * (kind.width * edges.sites or rows.planes * rows.words)
        what = f"{count} graphs of {edges.sites} sites and {edges.bonds} bonds"
        check_room(gpu, what, held + count * (update + spins))
        kernels = (VECTORS if kind.components else STATES).load(gpu, kind)
        super().__init__(Replicas(gpu, drawn, rows), kernels, ((count, edges.bonds), "u1"))
        self._edges, self._kind, self._classes = edges, kind, classes
        self.counts_apart = kind.components > 0
        # They are read by their addresses.
        self._held = u, v, coupling, field = self._on_gpu(edges.arrays)
        self._logarithm = gpu.xp.asarray(logarithm)
        held_bonds = {"u": u, "v": v, "coupling": coupling, "field": field}
        self._bonds_struct = BONDS.of(gpu, count=edges.bonds, **held_bonds)
        self._held_arcs: list[Any] = []

    def start(self, spins: Any) -> None:
        """Draw the first spins."""
        if self._kind.components:
            self._launch("start_edges", 0, spins)
        else:
            super().start(spins)

    def count(self, spins: Any, record: Any) -> None:
        """Count the spins into a record."""
        records = records_of(self.gpu, record)
        if self._kind.components:
            self._launch("count_edge_vectors", 0, self._bonds_struct, spins, records)
            return
        self._launch("begin_edges", 0, spins, None, None, np.bool_(0), records)
        self._draw_all(spins, 0, self._drawn(None), None, False, None, records)

    def update(self, spins: Any, new: Any, number: int, strengths: Any, flips: Flips) -> None:
        """Fill `new` with the spins after an update."""
        gpu, count, one = self.gpu, self.replicas.count, np.bool_(flips.chosen is not None)
        sites, words = count * self._edges.sites, count * self._edges.of_sites.words
        parts = (sites, INDEX), (words, BITS), (sites if flips.clusters else 0, INDEX)
        parent, stays, memory = self._workspace.take(gpu, *parts)
        records, size = records_of(gpu, flips.record), memory if flips.clusters else None
        self._launch("begin_edges", number, spins, parent, stays, one, records)
        self._draw_all(spins, number, self._drawn(strengths), parent, bool(one), stays, records)
        self._launch("flip_edges", number, spins, parent, stays, one, size, new)
        if flips.clusters:
            launch = self.replicas.launch
            launch(MEASURE.one(gpu, INDEX), number, parent, size, over="sites")
            launch(SUM.one(gpu, INDEX), number, size, records, over="sites")

    def offer(self, spins: Any, new: Any, number: int, strengths: Any, rule: str) -> None:
        """Fill `new` with the spins after an offer to each site, by a rule of `LOCAL_RULES`."""
        new[...] = spins
        gpu, classes = self.gpu, self._classes()
        if not self._held_arcs:
            self._kernels["offer_edges"] = OFFERS.one(gpu, self._kind)
            self._held_arcs = self._on_gpu((*classes.arcs, classes.order))
        first, to, coupling, order = self._held_arcs
        arcs = ARCS.of(gpu, begin=first, to=to, coupling=coupling)
        drawn, which = self._drawn(strengths), np.int32(LOCAL_RULES.index(rule))
        for begin, end in pairwise(classes.bounds):
            vertices = gpu.address(order) + begin * INDEX.itemsize
            together = CLASS.pack({"vertices": vertices, "count": end - begin})
            self._launch("offer_edges", number, drawn, arcs, which, together, new)

    def _draw(self, spins: Any, number: int, strengths: Any, active: Any, record: Any) -> None:
        """Write which bonds an update makes active, a byte each."""
        drawn, records = self._drawn(strengths), records_of(self.gpu, record)
        self._launch("draw_edges", number, drawn, spins, None, active, records)

    def _draw_all(
        self, spins: Any, number: int, drawn: Any, parent: Any, one: bool, stays: Any, records: Any
    ) -> None:
        """Draw bonds, and those to the ghost; between these, that of `one` cluster is chosen."""
        self._launch("draw_edges", number, drawn, spins, parent, None, records)
        if one:
            self._launch("choose_edge_cluster", number, parent, stays, over="words")
        if self._edges.fields is not None:
            self._launch("draw_ghosts", number, drawn, spins, parent, stays, records)

    def _drawn(self, strengths: Any) -> np.void:
        """Return ``DrawnEdges``, with a temperature of each replica or None."""
        bonds, logarithm = self._bonds_struct, self.gpu.address(self._logarithm)
        return DRAWN.of(self.gpu, bonds=bonds, temperatures=strengths, logarithm=logarithm)

    def _on_gpu(self, arrays: tuple[Any, ...]) -> list[Any]:
        return [None if array is None else self.xp.asarray(array) for array in arrays]


class EdgeLabels:
    """Union-find over active bonds between sites `u` and `v`, int32, of replicas of one row."""

    def __init__(self, gpu: Gpu, drawn: Drawn, sites: int, u: Any, v: Any) -> None:
        self._replicas, xp = Replicas(gpu, drawn, Lattice((sites,), (False,), 2)), gpu.xp
        self._ends, self._sites = (xp.asarray(u), xp.asarray(v)), xp.arange(sites, dtype=INDEX)
        self._join, self._settle = LABELS.load(gpu)

    def label(self, active: Any) -> Any:
        """Return the smallest site of each cluster, given active bonds, uint8 (replicas, bonds)."""
        replicas, (u, v) = self._replicas, self._ends
        labels = replicas.gpu.xp.empty((replicas.count, len(self._sites)), INDEX)
        labels[...] = self._sites
        replicas.launch(self._join, 0, len(u), u, v, active, labels, over="sites")
        replicas.launch(self._settle, 0, labels, over="sites")
        return labels
