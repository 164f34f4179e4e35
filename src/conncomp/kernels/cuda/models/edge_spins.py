"""Updates of spins on any edges, and labels of their clusters: drives ``edge_spins.cuh``."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from conncomp.kernels.cuda.launcher import COUNT, Gpu, Templates
from conncomp.kernels.cuda.models.replicas import CLUSTERS, Over, Replicas, records_of
from conncomp.kernels.cuda.structs import Struct
from conncomp.kernels.cuda.workspace import Workspace
from conncomp.kernels.edges import KINDS, EdgeBonds, SpinKind
from conncomp.kernels.lattice import BITS
from conncomp.kernels.spin_glass import RULES

FILE = "cuda/models/edge_spins.cuh"
_TYPES = {kind: f"conncomp::{kind.struct}" for kind in KINDS}
_OF_CLUSTERS = ("draw_edges", "draw_ghosts", "begin_edges", "flip_edges", "choose_edge_cluster<>")
STATES = Templates(
    FILE, *_OF_CLUSTERS, kind={kind: _TYPES[kind] for kind in KINDS if not kind.components}
)
VECTORS = Templates(
    FILE,
    *(*_OF_CLUSTERS, "start_edges", "count_edge_vectors"),
    kind={kind: _TYPES[kind] for kind in KINDS if kind.components},
)
OFFERS = Templates(FILE, "offer_edges", kind=_TYPES)
INDEX = np.dtype(np.int32)
LABELS = Templates(FILE, "join_active_bonds", "settle_labels")
_OF_SIZES = Templates(CLUSTERS, "measure_clusters<int32_t>", "sum_clusters<int32_t>")

BONDS = Struct("EdgeBonds", ("count", COUNT), "u v coupling field")
DRAWN = Struct("DrawnEdges", ("bonds", BONDS.dtype), "temperatures", ("logarithm", np.uintp))
ARCS = Struct("EdgeArcs", "begin to coupling")
CLASS = Struct("EdgeClass", "vertices", ("count", COUNT))


class EdgeKernels:
    """Replicas of one graph, from number `first` on; random numbers are compared by `logarithm`."""

    def __init__(
        self,
        gpu: Gpu,
        edges: EdgeBonds,
        kind: SpinKind,
        logarithm: Any,
        seed: int,
        first: int,
        count: int,
    ) -> None:
        self._gpu, self._edges, self._count = gpu, edges, count
        self._replicas = Replicas(gpu, edges.of_sites, seed, first, count)
        # They are read by their addresses.
        self._held = u, v, coupling, field = self._on_gpu(edges.arrays)
        self._logarithm = gpu.xp.asarray(logarithm)
        self._bonds = BONDS.of(gpu, count=edges.bonds, u=u, v=v, coupling=coupling, field=field)
        self._workspace = Workspace()
        self._held_arcs: list[Any] = []
        self._counted = not kind.components
        kernels = (VECTORS if kind.components else STATES).load(gpu, kind)
        self._kind, self._kernels = kind, {kernel.name: kernel for kernel in kernels}

    @staticmethod
    def memory(edges: EdgeBonds, count: int) -> int:
        """Return how many bytes bonds, fields and an update of so many replicas take."""
        held = sum(int(array.nbytes) for array in edges.arrays if array is not None)
        return held + count * (2 * edges.sites * INDEX.itemsize + edges.of_sites.words * 8)

    def start(self, spins: Any) -> None:
        """Draw the first vectors."""
        self._launch("start_edges", "sites", 0, spins)

    def count(self, words: Any, record: Any) -> None:
        """Count what the spins tell."""
        records = records_of(self._gpu, record)
        if not self._counted:
            self._launch("count_edge_vectors", "sites", 0, self._bonds, words, records)
            return
        self._launch("begin_edges", "sites", 0, words, None, None, np.bool_(0), records)
        self._draw(words, 0, self._drawn(None), None, None, None, records)

    def bonds(self, words: Any, step: int, temperatures: Any, active: Any) -> None:
        """Write which bonds an update makes active, a byte each."""
        drawn, nothing = self._drawn(temperatures), records_of(self._gpu, None)
        self._launch("draw_edges", "sites", step, drawn, words, None, active, nothing)

    def update(
        self,
        words: Any,
        new: Any,
        step: int,
        temperatures: Any,
        one: bool,
        record: Any,
        sizes: bool,
    ) -> None:
        """Flip clusters, or that of one drawn vertex, and measure those before."""
        edges, count = self._edges, self._count
        parent, stays, *size = self._workspace.take(
            self._gpu,
            (count * edges.sites, INDEX),
            (count * edges.of_sites.words, BITS),
            *([(count * edges.sites, INDEX)] if sizes else []),
        )
        records = records_of(self._gpu, record)
        self._launch("begin_edges", "sites", step, words, parent, stays, np.bool_(one), records)
        drawn, chosen = self._drawn(temperatures), stays if one else None
        self._draw(words, step, drawn, parent, chosen, stays, records)
        of_size = size[0] if sizes else None
        self._launch("flip_edges", "sites", step, words, parent, stays, np.bool_(one), of_size, new)
        if sizes:
            measure, total = _OF_SIZES.load(self._gpu)
            self._replicas.launch(measure, step, parent, of_size, over="sites")
            self._replicas.launch(total, step, of_size, records, over="sites")

    def offer(self, spins: Any, step: int, temperatures: Any, rule: str, classes: Any) -> None:
        """Offer each vertex another spin, class by class."""
        if not self._held_arcs:
            (self._kernels["offer_edges"],) = OFFERS.load(self._gpu, self._kind)
            self._held_arcs = self._on_gpu((*classes.arcs, classes.order))
        gpu, (first, to, coupling, order) = self._gpu, self._held_arcs
        arcs = ARCS.of(gpu, begin=first, to=to, coupling=coupling)
        by_rule = self._drawn(temperatures), arcs, np.int32(RULES.index(rule))
        for begin, end in pairwise(classes.bounds):
            vertices = gpu.address(order) + begin * INDEX.itemsize
            together = CLASS.pack({"vertices": vertices, "count": end - begin})
            self._launch("offer_edges", "sites", step, *by_rule, together, spins)

    def _draw(
        self, words: Any, step: int, drawn: Any, parent: Any, chosen: Any, stays: Any, records: Any
    ) -> None:
        """Draw bonds, and those to the ghost; between both, with `chosen`, a cluster."""
        self._launch("draw_edges", "sites", step, drawn, words, parent, None, records)
        if chosen is not None:
            self._launch("choose_edge_cluster", "words", step, parent, chosen)
        if self._edges.fields is not None:
            self._launch("draw_ghosts", "sites", step, drawn, words, parent, stays, records)

    def _launch(self, name: str, over: Over, step: int, *arguments: Any) -> None:
        self._replicas.launch(self._kernels[name], step, *arguments, over=over)

    def _drawn(self, temperatures: Any) -> np.void:
        """Return ``DrawnEdges``, with a temperature of each replica or None."""
        logarithm = self._gpu.address(self._logarithm)
        given = {"bonds": self._bonds, "logarithm": logarithm}
        return DRAWN.of(self._gpu, temperatures=temperatures, **given)

    def _on_gpu(self, arrays: tuple[Any, ...]) -> list[Any]:
        return [None if array is None else self._gpu.xp.asarray(array) for array in arrays]


class LabelKernels:
    """Union-find over active bonds between sites `u` and `v`, int32, of replicas of one row."""

    def __init__(self, gpu: Gpu, replicas: Replicas, u: Any, v: Any) -> None:
        self._replicas, self._ends = replicas, (u, v)
        self._sites = gpu.xp.arange(replicas.lattice.sites, dtype=INDEX)
        self._join, self._settle = LABELS.load(gpu)

    def label(self, active: Any, labels: Any) -> None:
        """Fill labels, (replicas, sites), given which bonds are active, uint8 (replicas, bonds)."""
        u, v = self._ends
        labels[...] = self._sites
        self._replicas.launch(self._join, 0, len(u), u, v, active, labels, over="sites")
        self._replicas.launch(self._settle, 0, labels, over="sites")
