"""Updates of spins on any edges, and labels of their clusters.

Drives ``edge_spins.cuh``.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from conncomp.kernels.cuda.launcher import Gpu, Templates, every
from conncomp.kernels.cuda.models.replicas import CLUSTERS, Over, Replicas, records_of
from conncomp.kernels.cuda.workspace import Workspace
from conncomp.kernels.edges import KINDS, EdgeBonds, SpinKind
from conncomp.kernels.lattice import BITS
from conncomp.kernels.spin_glass import RULES

FILE = "cuda/models/edge_spins.cuh"
_OF_CLUSTERS = tuple(
    f"{name}<{{kind}}>" for name in ("draw_edges", "draw_ghosts", "begin_edges", "flip_edges")
)
_OF_VECTORS = "start_edges<{kind}>", "count_edge_vectors<{kind}>"
_CHOICE = "choose_edge_cluster<>"
_TYPES = {kind: f"conncomp::{kind.struct}" for kind in KINDS}
STATES, VECTORS = (
    Templates(
        FILE,
        *names,
        _CHOICE,
        kind={kind: name for kind, name in _TYPES.items() if bool(kind.components) == of_vectors},
    )
    for names, of_vectors in ((_OF_CLUSTERS, False), ((*_OF_CLUSTERS, *_OF_VECTORS), True))
)
OFFERS = Templates(FILE, "offer_edges<{kind}>", kind=_TYPES)
INDEX = np.dtype(np.int32)
LABELS = Templates(FILE, "begin_labels<>", "join_active_bonds<>", "settle_labels<>")
_OF_SIZES = Templates(CLUSTERS, "measure_clusters<int32_t>", "sum_clusters<int32_t>")
specialisations = every(STATES, VECTORS, OFFERS, _OF_SIZES, LABELS)

# ``DrawnEdges`` of ``edge_spins.cuh``.
_BONDS = ("count", "i8"), ("u", "u8"), ("v", "u8"), ("coupling", "u8"), ("field", "u8")
_DRAWN = np.dtype([("bonds", list(_BONDS)), ("temperatures", "u8"), ("logarithm", "u8")])
# ``EdgeArcs`` and ``EdgeClass`` of ``core/edge_local.h``.
_ARCS = np.dtype([("begin", "u8"), ("to", "u8"), ("coupling", "u8")])
_CLASS = np.dtype([("vertices", "u8"), ("count", "i8")])


class EdgeKernels:
    """Replicas of one graph side by side, and the kernels that flip their clusters.

    Random numbers are compared by `logarithm`, a table of uint32, and have the number of the first
    replica.
    """

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
        self._held = [None if x is None else gpu.xp.asarray(x) for x in (*edges.arrays, logarithm)]
        self._drawn = np.zeros((), _DRAWN)
        self._drawn["bonds"] = (edges.bonds, *map(self._address, self._held[:-1]))
        self._drawn["logarithm"] = self._address(self._held[-1])
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
            self._launch("count_edge_vectors", "sites", 0, self._drawn["bonds"][()], words, records)
            return
        self._launch("begin_edges", "sites", 0, words, None, None, np.bool_(0), records)
        self._draw(words, 0, None, None, None, None, records)

    def bonds(self, words: Any, step: int, temperatures: Any, active: Any) -> None:
        """Write which bonds an update makes active, a byte each."""
        nothing = records_of(self._gpu, None)
        self._set(temperatures)
        self._launch("draw_edges", "sites", step, self._drawn[()], words, None, active, nothing)

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
        self._draw(words, step, temperatures, parent, stays if one else None, stays, records)
        of_size, chosen = (size[0] if sizes else None), np.bool_(one)
        self._launch("flip_edges", "sites", step, words, parent, stays, chosen, of_size, new)
        if sizes:
            measure, total = _OF_SIZES.load(self._gpu)
            self._replicas.launch(measure, step, parent, of_size, over="sites")
            self._replicas.launch(total, step, of_size, records, over="sites")

    def offer(self, spins: Any, step: int, temperatures: Any, rule: str, classes: Any) -> None:
        """Offer each vertex another spin, class by class."""
        if not self._held_arcs:
            (self._kernels["offer_edges"],) = OFFERS.load(self._gpu, self._kind)
            held = (*classes.arcs, classes.order)
            self._held_arcs = [None if x is None else self._gpu.xp.asarray(x) for x in held]
        *arcs, order = map(self._address, self._held_arcs)
        of_arcs = np.array(tuple(arcs), _ARCS)[()]
        self._set(temperatures)
        drawn, itemsize = self._drawn[()], INDEX.itemsize
        for begin, end in pairwise(classes.bounds):
            together = np.array((order + begin * itemsize, end - begin), _CLASS)[()]
            by_rule = np.int32(RULES.index(rule)), together
            self._launch("offer_edges", "sites", step, drawn, of_arcs, *by_rule, spins)

    def _draw(
        self,
        words: Any,
        step: int,
        temperatures: Any,
        parent: Any,
        chosen: Any,
        stays: Any,
        records: Any,
    ) -> None:
        """Draw bonds, and those to the ghost; between both, with `chosen`, a cluster."""
        self._set(temperatures)
        drawn = self._drawn[()]
        self._launch("draw_edges", "sites", step, drawn, words, parent, None, records)
        if chosen is not None:
            self._launch("choose_edge_cluster", "words", step, parent, chosen)
        if self._edges.fields is not None:
            self._launch("draw_ghosts", "sites", step, drawn, words, parent, stays, records)

    def _launch(self, name: str, over: Over, step: int, *arguments: Any) -> None:
        self._replicas.launch(self._kernels[name], step, *arguments, over=over)

    def _set(self, temperatures: Any) -> None:
        self._drawn["temperatures"] = self._address(temperatures)

    def _address(self, array: Any) -> int:
        return 0 if array is None else int(self._gpu.address(array))


class LabelKernels:
    """Union-find over the active bonds of replicas of one row, of as many sites.

    The sites of bonds are `u` and `v`, of int32.
    """

    def __init__(self, gpu: Gpu, replicas: Replicas, u: Any, v: Any) -> None:
        self._replicas, self._ends = replicas, (u, v)
        self._begin, self._join, self._settle = LABELS.load(gpu)

    def label(self, active: Any, labels: Any) -> None:
        """Fill labels, (replicas, sites), given which bonds are active, uint8 (replicas, bonds)."""
        u, v = self._ends
        self._replicas.launch(self._begin, 0, labels, over="sites")
        self._replicas.launch(self._join, 0, len(u), u, v, active, labels, over="sites")
        self._replicas.launch(self._settle, 0, labels, over="sites")
