"""The sites of a model and the bonds between them: on a lattice, or in a graph."""

from __future__ import annotations

import hashlib
from contextlib import AbstractContextManager
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import as_sequence, shown
from conncomp._core import native
from conncomp.graph import Graph
from conncomp.graph.inputs.conversions import is_sparse
from conncomp.graph.inputs.parts import check_one_each
from conncomp.kernels.cells import CellLattice
from conncomp.kernels.edges import MOST_VERTICES, WHOLE, EdgeBonds
from conncomp.kernels.lattice import Lattice
from conncomp.models._arguments import as_reals, check_finite, check_shape, finite, room_on_host
from conncomp.models.lattices import LATTICES, cell_and_shape, lattice_in_words
from conncomp.models.protocol import Floats

Signs = NDArray[np.int8]

HYPERCUBIC = ("chain", "square", "cubic", "hypercubic")
BORDERS = {True: "periodic", False: "open", "antiperiodic": "antiperiodic"}


class OnLattice:
    """Sites of the cells of a lattice, and bonds of one coupling, or of one each."""

    def __init__(self, shape: Any, lattice: Any, periodic: Any, coupling: float | Floats) -> None:
        self.name, self.coupling = lattice_in_words(lattice), coupling
        self.cell, lengths = cell_and_shape(lattice, shape, LATTICES)
        borders = _check_borders(periodic, len(lengths))
        turns = tuple(border == "antiperiodic" for border in borders)
        closed = tuple(border != "open" for border in borders)
        negative = not isinstance(coupling, np.ndarray) and coupling < 0
        of_cell, bonds = len(self.cell.sites), self.cell.bonds
        cells = self.cells = CellLattice(lengths, of_cell, bonds, closed, turns, negative)
        self.sites = cells.sites
        self.shape = lengths if cells.cell == 1 else (*lengths, cells.cell)  # of an array of sites

    def ends(self) -> NDArray[Any]:
        """Return the two sites of each bond, shape (2, bonds), int32 of fewer than 2**31 sites."""
        with self._room_for_bonds():
            return self.cells.ends()

    def signs(self) -> Signs:
        """Return the sign of the coupling of each bond."""
        with self._room_for_bonds():
            return self.cells.signs()

    def _room_for_bonds(self) -> AbstractContextManager[None]:
        number = len(self.cell.bonds) * prod(self.cells.shape)
        return room_on_host(f"the {number} bonds of shape={self.cells.shape}", 16 * number)

    def coordinates(self) -> Floats:
        """Return where the sites lie, a row each."""
        lengths = self.cells.shape
        corners = np.indices(lengths).reshape(len(lengths), -1).T @ np.array(self.cell.vectors)
        places: Floats = corners[:, None] + np.array(self.cell.sites)
        return places.reshape(self.sites, -1)

    def vectors(self) -> Floats:
        """Return the cell's vectors, a row each; ValueError if they span no volume."""
        vectors = np.array(self.cell.vectors)
        if np.linalg.matrix_rank(vectors) < len(vectors):
            raise ValueError(
                f"the lattice's cell has vectors={shown(self.cell.vectors)}, which span no volume; "
                "give it independent ones"
            )
        return vectors

    @property
    def volume(self) -> float:
        """The volume of all cells."""
        return prod(self.cells.shape) * abs(float(np.linalg.det(self.vectors())))

    def displacements(self) -> tuple[NDArray[np.intp], Floats]:
        """Return the class of each bond, and the step along a class's bonds, (classes, ndim)."""
        with self._room_for_bonds():
            kinds, steps = self.cells.kinds_of_bonds(), self.cells.steps()
            known, first, classes = np.unique(
                kinds @ (self.cells.cell, 1), return_index=True, return_inverse=True
            )
        kind, site = np.divmod(known, self.cells.cell)
        shifts = np.array([kind.shift for kind in self.cells.kinds])
        sites = np.array(self.cell.sites)
        along = steps[first] @ np.array(self.cell.vectors)
        return classes, along + sites[(site + shifts[kind]) % len(sites)] - sites[site]

    def bonds(self, field: Floats | None, states: int = 2) -> EdgeBonds:
        """Return bonds for kernels on any edges, with the field of each site."""
        signs, coupling = self.signs(), self.coupling
        couplings = coupling if isinstance(coupling, np.ndarray) else np.array(abs(coupling))
        if couplings.shape not in ((), signs.shape):
            raise ValueError(
                f"coupling has shape {couplings.shape}; there must be one number, or one for each "
                f"of {len(signs)} bonds, in the order of .edges"
            )
        return _weighted_bonds(self, signs, couplings, field, states)

    def described(self) -> dict[str, Any]:
        """Return parameters that JSON has."""
        borders = zip(self.cells.periodic, self.cells.antiperiodic, strict=True)
        periodic = [BORDERS["antiperiodic" if turn else closed] for closed, turn in borders]
        return {"lattice": self.name, "shape": list(self.cells.shape), "periodic": periodic}


class InGraph:
    """The vertices of a graph, and the bonds that its arcs are.

    Couplings of arcs from one vertex to another add up, and must equal those of the arcs back.
    Bonds are in the order of the smaller vertex, then of the larger one.
    """

    name = "graph"

    def __init__(self, graph: Graph, coupling: Floats) -> None:
        vertices = graph.num_vertices
        if not 1 <= vertices <= MOST_VERTICES:
            raise ValueError(f"the graph has {vertices} vertices; there must be 1 to 2**31 - 1")
        if coupling.ndim:
            check_one_each("coupling", coupling.shape, graph.num_arcs)
        self.sites = vertices
        self.shape = (vertices,)
        self._merge(graph, np.broadcast_to(coupling, graph.num_arcs))

    def _merge(self, graph: Graph, coupling: Floats) -> None:
        # Arrays of all arcs go as soon as nobody needs them.
        key, back = _pairs_of(graph)
        # By calls, after which Ctrl-C is heard, as it is not after an index in brackets.
        smaller, larger = np.divmod(key, self.sites)
        _, order = grouped(larger, self.sites)
        order = order.take(grouped(smaller.take(order), self.sites)[1])
        del smaller, larger
        key, coupling, back = key.take(order), coupling.take(order), back.take(order)
        del order
        begins = np.flatnonzero(np.diff(key, prepend=-1))
        key = key[begins]
        ways = ~back, back
        leads = [_of_groups(np.logical_or, way, begins) for way in ways]
        with np.errstate(over="ignore", invalid="ignore"):
            summed = (np.where(way, coupling, 0.0) for way in ways)
            forth, reverse = (_of_groups(np.add, each, begins) for each in summed)
        # Sums of couplings are as exact as the largest of these.
        largest = _of_groups(np.maximum, abs(coupling), begins)
        del coupling, begins
        infinite = ~np.isfinite(forth) | ~np.isfinite(reverse)
        if infinite.any():
            low, high = divmod(int(key[infinite][0]), self.sites)
            raise ValueError(
                f"the couplings of the arcs between vertices {low} and {high} add up to no finite "
                "number; give smaller ones"
            )
        largest *= 1e-12
        differ = leads[0] & leads[1] & (abs(forth - reverse) > largest)
        if differ.any():
            k = int(np.flatnonzero(differ)[0])
            low, high = divmod(int(key[k]), self.sites)
            raise ValueError(
                f"the coupling from vertex {low} to {high} is {forth[k]:g}, and back "
                f"{reverse[k]:g}; a bond has one: give couplings in the order of graph.arcs, which "
                "graph.in_arc_order makes of that of graph.indices"
            )
        merged = np.where(leads[0], forth, reverse)
        kept = abs(merged) > largest
        self.couplings: Floats = merged[kept]
        key = key[kept]
        ends = (key // self.sites).astype(np.int32), (key % self.sites).astype(np.int32)
        self._ends = np.stack(ends)

    def ends(self) -> NDArray[np.int32]:
        """Return the two vertices of each bond, shape (2, bonds)."""
        return self._ends

    def signs(self) -> Signs:
        """Return the sign of the coupling of each bond."""
        return np.sign(self.couplings).astype(np.int8)

    def coordinates(self) -> Floats:
        """Raise ValueError: vertices have no place."""
        raise ValueError("the vertices of a graph have no coordinates")

    def bonds(self, field: Floats | None, states: int = 2) -> EdgeBonds:
        """Return bonds for kernels on any edges, with the field of each site."""
        return _weighted_bonds(self, None, self.couplings, field, states)

    def described(self) -> dict[str, Any]:
        """Return parameters that JSON has."""
        return {"lattice": self.name, "shape": [self.sites]}


Place = OnLattice | InGraph


def _of_groups(function: np.ufunc, values: NDArray[Any], begins: NDArray[Any]) -> NDArray[Any]:
    return function.reduceat(values, begins) if len(begins) else values


def _pairs_of(graph: Graph) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return a number for the two ends of each arc, and whether it leads to the smaller one."""
    sources, targets = (ends.astype(np.int64) for ends in graph.to("cpu").arcs)
    loops = sources == targets
    if loops.any():
        raise ValueError(
            f"the graph has a loop at vertex {sources[loops][0]}, whose energy no flip changes; "
            "leave loops out"
        )
    pairs = np.minimum(sources, targets)
    pairs *= graph.num_vertices
    pairs += np.maximum(sources, targets)
    return pairs, sources > targets


def _weighted_bonds(
    place: Place, signs: Signs | None, couplings: Floats, field: Floats | None, states: int
) -> EdgeBonds:
    """Return bonds, of couplings of shape (bonds,) or () times signs, and fields."""
    if place.sites > MOST_VERTICES:
        raise ValueError(f"{place.sites} sites with a field, or couplings of their own, are 2**31")
    strong = [couplings] if field is None else [couplings, field]
    scale = max(float(abs(array).max(initial=0.0)) for array in strong) or 1.0
    whole, *fields = (np.rint(array / scale * WHOLE).astype(np.int32) for array in strong)
    if signs is not None:
        whole = signs * whole if whole.ndim > 0 or whole != WHOLE or (signs < 0).any() else whole
    bonds, of_sites = None if (whole == WHOLE).all() else whole, fields[0] if fields else None
    return EdgeBonds(place.sites, place.ends(), bonds, of_sites, scale, states)


def place_of(shape: Any, lattice: Any, periodic: Any, coupling: float | Floats) -> Place:
    """Return where the sites are; None is a hypercubic lattice of as many axes as lengths."""
    if is_sparse(shape):
        raise TypeError("shape is a sparse matrix; give conncomp.Graph.from_scipy(shape)")
    if not isinstance(shape, Graph):
        if lattice is None:
            lattice = HYPERCUBIC[len(check_shape(shape)) - 1]
        return OnLattice(shape, lattice, periodic, coupling)
    is_default = lattice is None or (isinstance(lattice, str) and lattice == "square")
    if not is_default or periodic is not True:
        raise ValueError("lattice and periodic are not for a graph, which has its own edges")
    return InGraph(shape, np.asarray(coupling))


def check_lattice(place: Place, what: str) -> OnLattice:
    """Return a place with axes, which `what` needs; ValueError if it is a graph."""
    if not isinstance(place, OnLattice):
        raise ValueError(f"{what} is measured on lattices, and a graph has no axes; leave it out")
    return place


def in_words(place: Place, states: int) -> Lattice | None:
    """Return a hypercubic lattice of one coupling for engines of words; None of others."""
    if not isinstance(place, OnLattice) or place.name not in HYPERCUBIC:
        return None
    cells, alike = place.cells, not isinstance(place.coupling, np.ndarray)
    has_words = alike and not any(cells.antiperiodic)
    return Lattice(cells.shape, cells.periodic, states) if has_words else None


class Classes(NamedTuple):
    """The arcs of sites, and classes of sites of which no two are neighbours.

    `arcs` are where those of each site begin, their ends, and their couplings or None, without
    bonds of a site to itself. `order` has the sites by class, and last bits that are no sites;
    `bounds` are where classes begin, and the end.
    """

    arcs: tuple[Any, ...]
    order: NDArray[np.int32]
    bounds: list[int]


def classes_of(edges: EdgeBonds) -> Classes:
    """Return the classes of all sites, as of ``kernels/cpu/models/edge_spins.h``."""
    begins, targets, couplings = arcs_of(edges)
    class_of = np.empty(edges.sites, np.int32)
    count = native.classify_vertices(begins, targets, class_of)
    beyond = edges.beyond
    if beyond is not None:
        class_of[beyond] = count
    bounds, order = grouped(class_of, count + 1)
    return Classes((begins, targets, couplings), order, bounds[: count + 1].tolist())


def arcs_of(edges: EdgeBonds) -> tuple[Any, ...]:
    """Return the arcs of `Classes`, those of a site in the order of bonds."""
    ends, couplings = edges.ends, edges.couplings
    apart = ends[0] != ends[1]
    if not apart.all():
        ends, couplings = ends[:, apart], None if couplings is None else couplings[apart]
    begins, order = grouped(ends.reshape(-1), edges.sites)
    both = None if couplings is None else np.tile(couplings, 2).take(order)
    return begins, ends[::-1].reshape(-1).take(order), both


def grouped(keys: NDArray[Any], groups: int) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return where groups begin, and the places of keys by group, stable; Ctrl-C ends it."""
    index = np.dtype(np.int32 if len(keys) < 1 << 31 else np.int64)
    begins, order = np.empty(groups + 1, np.int64), np.empty(len(keys), index)
    places = np.arange(len(keys), dtype=index)
    native.csr_of_arcs(keys.astype(index, copy=False), places, begins, order)
    return begins, order


def digest_of(edges: EdgeBonds) -> str:
    """Return a text that identifies bonds and fields."""
    digest = hashlib.sha256(repr((edges.sites, edges.bonds, edges.scale)).encode())
    for array in edges.arrays:
        digest.update(b"-" if array is None else np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def as_coupling(given: Any) -> float | Floats:
    """Return a number that is finite and not 0, or an array of finite ones."""
    if not np.isscalar(given):
        numbers = finite("coupling", as_reals("coupling", given))
        if numbers.ndim > 0:
            return numbers
        given = float(numbers)
    coupling = check_finite("coupling", given)
    if coupling == 0:
        raise ValueError(f"coupling={shown(given)} must not be 0")
    return coupling


def as_field(given: Any, shape: tuple[int, ...]) -> Floats | None:
    """Return a field for each site; None if there is none."""
    if given is None:
        return None
    one = np.isscalar(given)
    field: Any = check_finite("field", given) if one else finite("field", as_reals("field", given))
    field = np.broadcast_to(field, shape) if np.ndim(field) == 0 else field
    if field.shape != shape:
        raise ValueError(
            f"field has shape {field.shape}; it must be a number, or have one for each site, shape "
            f"{shape}"
        )
    return field.reshape(-1) if field.any() else None


def as_one_number(fields: Floats | None) -> float | Floats:
    """Return the number that all sites have as their field, or fields that differ."""
    if fields is None:
        return 0.0
    return float(fields[0]) if (fields == fields[0]).all() else fields


def _check_borders(periodic: Any, axes: int) -> list[str]:
    single = isinstance(periodic, (bool, np.bool_, str))
    borders = [periodic] * axes if single else as_sequence("periodic", periodic)
    if len(borders) != axes:
        raise ValueError(
            f"periodic={shown(periodic)} has {len(borders)} entries; the lattice has {axes} axes"
        )
    for border in borders:
        is_name = isinstance(border, str) and border == "antiperiodic"
        if not is_name and not isinstance(border, (bool, np.bool_)):
            raise TypeError(
                f'periodic={shown(periodic)} must be True, False or "antiperiodic", or one of '
                "these for each axis"
            )
    return [BORDERS[border if isinstance(border, str) else bool(border)] for border in borders]
