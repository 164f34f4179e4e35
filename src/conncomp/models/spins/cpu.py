"""Models of spins on the CPU: engines pass arrays to ``kernels/cpu/models``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import check_choice, shown
from conncomp._core import native
from conncomp.kernels.cells import CellLattice
from conncomp.kernels.edges import EdgeBonds, SpinKind
from conncomp.kernels.lattice import Lattice
from conncomp.kernels.structure import LIMBS, STATES, Waves, components_of
from conncomp.kernels.updates import LOCAL_RULES, Drawn, Flips, SpinEngine
from conncomp.kernels.vector_spins import FIELDS, PROJECTED, Kind
from conncomp.models._arguments import flat
from conncomp.models.observables.series import ACTIVE
from conncomp.models.spins.measurements import COUNTS

# Options of labelling="tiles", of which the CPU has none.
OF_A_GPU = frozenset(("activation", "local", "merge", "paths", "sites", "tile", "trees"))


class Engines(NamedTuple):
    """The classes of a device that update spins, and those that observe them."""

    words: Callable[..., SpinEngine]
    cells: Callable[..., SpinEngine]
    vectors: Callable[..., SpinEngine]
    edges: Callable[..., SpinEngine]
    labels: Callable[..., Any]
    structure: Callable[..., Any]


class CoreSpins:
    """A `SpinEngine` by the core, which gets `tables`; another one, `starting`, draws spins."""

    xp: Any = np
    winds, sweeps, sweeps_one, counts_apart = False, None, False, False
    rules: tuple[str, ...] = ()
    offer: Any = None

    def __init__(self, engine: Any, bonds: Any, starting: Any = None, *tables: Any) -> None:
        self._bonds, self._tables = bonds, tables
        self.start = flat((starting or engine).start)
        self._update = engine.update  # which small lattices call often: it gets flat arrays
        self.count, self._draw = flat(engine.count), flat(engine.bonds)

    def bonds(self, spins: NDArray[Any], number: int, strengths: Any) -> NDArray[Any]:
        """Return the bonds that the update of this number makes active."""
        bonds = np.empty(*self._bonds)
        self._draw(spins, number, strengths, *self._tables, bonds)
        return bonds

    def update(self, spins: Any, new: Any, number: int, strengths: Any, flips: Flips) -> None:
        """Fill `new` with the spins after an update."""
        record = None if flips.record is None else flips.record.reshape(-1)
        drawn, one = (number, strengths.reshape(-1), *self._tables), flips.chosen is not None
        self._update(spins.reshape(-1), new.reshape(-1), *drawn, one, record, flips.clusters)


class CpuWordEngine(CoreSpins):
    """Words of states: ``potts/potts.h``, by one thread where the `labelling` is "serial"."""

    winds, rules = True, ("metropolis",)

    def __init__(
        self, drawn: Drawn, lattice: Lattice, labelling: str, options: dict[str, Any]
    ) -> None:
        check_choice("labelling", labelling, ("auto", "serial"))
        for name in options:
            if name not in OF_A_GPU:
                raise TypeError(
                    f"Potts has no argument {name!r}; a temperature is temperature= or beta=, a "
                    "coupling coupling=, a field field=, and how clusters are found labelling="
                )
        if options:
            raise ValueError(f"options={shown(options)} are for a GPU; leave them out on the CPU")
        axes, states = lattice.closed_lengths, (lattice.states, lattice.planes)
        serial = labelling == "serial"
        engine = native.PottsEngine(*axes, *states, *drawn, lattice.ndim, serial)
        super().__init__(engine, lattice.words_of(drawn.replicas, lattice.ndim))
        self._offer = flat(engine.metropolis)

    def update(self, words: Any, new: Any, number: int, strengths: Any, flips: Flips) -> None:
        """Fill `new` with the spins after an update of clusters."""
        chosen, record, clusters, wrapping, _ = flips
        tile = flip = None
        if chosen is not None:
            tile, flip = chosen.lengths, None if chosen.always else chosen.p_flip
        held, flat_new = words.reshape(-1), new.reshape(-1)
        record = None if record is None else record.reshape(-1)
        self._update(held, flat_new, number, strengths, tile, flip, record, clusters, wrapping)

    def offer(self, words: Any, new: Any, number: int, strengths: Any, rule: str) -> None:
        """Fill `new` with the spins after a sweep of Metropolis updates."""
        self._offer(words, new, number, strengths, strengths.shape[1] - 1, None)


class CpuCellEngine(CoreSpins):
    """The Ising model on lattices of any unit cell: ``cell_spins.h``."""

    def __init__(self, drawn: Drawn, cells: CellLattice) -> None:
        engine, rows = native.CellEngine(cells.struct.tobytes(), *drawn), cells.of_sites
        # First spins are those of any lattice whose rows are these.
        starting = CpuWordEngine(drawn, rows, "auto", {})
        super().__init__(engine, rows.words_of(drawn.replicas, len(cells.kinds)), starting)


class CpuVectorEngine(CoreSpins):
    """Vectors, whose clusters an update reflects or leaves: ``vector_spins.h``."""

    counts_apart = True

    def __init__(self, drawn: Drawn, lattice: Lattice, kind: Kind, negative: bool) -> None:
        self._replicas, axes = drawn.replicas, (*lattice.closed_lengths, lattice.ndim)
        engine = getattr(native, f"{kind.name}Engine")(*axes, negative, *drawn)
        super().__init__(engine, lattice.words_of(drawn.replicas, lattice.ndim))

    def update(self, spins: Any, new: Any, number: int, strengths: Any, flips: Flips) -> None:
        """Fill `new` with the spins after an update."""
        held, flat_new, one = spins.reshape(-1), new.reshape(-1), flips.chosen is not None
        if not flips.clusters:
            self._update(held, flat_new, number, strengths, one, None, None)
            return
        sizes = np.zeros((self._replicas, COUNTS + 2), np.int64)
        projected = np.zeros((self._replicas, FIELDS - PROJECTED), np.int64)
        sums = sizes.reshape(-1), projected.reshape(-1)
        self._update(held, flat_new, number, strengths, one, *sums)
        flips.record[:, ACTIVE:COUNTS] += sizes[:, ACTIVE:COUNTS]
        flips.record[:, PROJECTED:] += projected


class CpuEdgeEngine(CoreSpins):
    """Models on any edges: ``edge_spins.h``; `classes` returns the `Classes` of sites."""

    rules = LOCAL_RULES

    def __init__(
        self, drawn: Drawn, edges: EdgeBonds, kind: SpinKind, logarithm: Any, classes: Any
    ) -> None:
        self.counts_apart, table = kind.components > 0, logarithm.reshape(-1)
        engine = native.EdgeEngine(kind.name, edges.sites, edges.states, *drawn, *edges.arrays)
        # First states are those of any lattice whose rows are these.
        starting = None if kind.components else CpuWordEngine(drawn, edges.of_sites, "auto", {})
        super().__init__(engine, ((drawn.replicas, edges.bonds), "u1"), starting, table)
        self._offer, self._classes = flat(engine.offer), classes

    def offer(self, spins: Any, new: Any, number: int, strengths: Any, rule: str) -> None:
        """Offer each site another spin by a rule of `LOCAL_RULES`."""
        new[...] = spins
        arcs, order, bounds = self._classes()
        by_rule = *self._tables, LOCAL_RULES.index(rule)
        self._offer(new, number, strengths, *by_rule, *arcs, order, bounds)


class StructureSums:
    """Sums spins, in words of `rows` or vectors in one row, at wave vectors, by replica."""

    def __init__(self, drawn: Drawn, rows: Lattice, kind: SpinKind, waves: Waves) -> None:
        self._replicas, self._waves = drawn.replicas, len(waves.axes)
        self._components = components_of(kind, rows.states)
        phases, name = waves.table, kind.name if kind.components else STATES
        struct = waves.struct(phases.ctypes.data).tobytes()
        self._sums = native.StructureSums(name, rows.struct.tobytes(), struct, phases, *drawn)

    def count(self, spins: NDArray[Any], record: NDArray[np.int64], field: int) -> None:
        """Add sums over all sites to a record, (replicas, fields), from a field on."""
        sums = np.zeros((self._replicas, 2 * self._components * self._waves), np.int64)
        self._sums.count(spins.reshape(-1), sums.reshape(-1))
        record[:, field : field + sums.shape[1]] += sums

    def square(self, spins: Any, number: int, labels: Any, record: Any, field: int) -> None:
        """Add the squares of clusters' sums, as limbs for each wave, to a record."""
        limbs = np.zeros((self._replicas, LIMBS * self._waves), np.int64)
        self._sums.square(spins.reshape(-1), number, labels.reshape(-1), limbs.reshape(-1))
        record[:, field : field + limbs.shape[1]] += limbs


class EdgeLabels:
    """Labels of clusters of active bonds from u to v: ``kernels/cpu/models/structure.h``."""

    def __init__(self, drawn: Drawn, sites: int, u: NDArray[Any], v: NDArray[Any]) -> None:
        self._shape, self._ends = (drawn.replicas, sites), (u, v)

    def label(self, active: NDArray[np.uint8]) -> NDArray[np.int32]:
        """Return the smallest site of each cluster, given active bonds, (replicas, bonds)."""
        labels = np.empty(self._shape, np.int32)
        native.label_edges(self._shape[0], *self._ends, active.reshape(-1), labels.reshape(-1))
        return labels


_SPINS = CpuWordEngine, CpuCellEngine, CpuVectorEngine, CpuEdgeEngine
CPU = Engines(*_SPINS, EdgeLabels, StructureSums)
