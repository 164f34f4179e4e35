"""Sweep graphs of meshes: which element passes on to which, for a direction of transport."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import permutations, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import as_sequence, check_choice, shown
from conncomp.generate._arguments import array_library, check_real, check_shape
from conncomp.generate._edges import Vertices, graph_of_edges
from conncomp.graph import Graph

Points = NDArray[np.float64]


class _Form(NamedTuple):
    """A body that a grid is bent to: `place` maps coordinates from 0 to 1 to points.

    Over the end of axis 0 of a `flipped` form, the other axes go on backwards.
    """

    place: Callable[[Points, Points, Points], tuple[Points, Points, Points]]
    periodic: tuple[bool, bool, bool]
    flipped: bool = False


def _torus(a: Points, b: Points, c: Points) -> tuple[Points, Points, Points]:
    around, tube, radius = 2 * math.pi * a, 2 * math.pi * b, 0.5 + 0.5 * c
    out = 2 + radius * np.cos(tube)
    return out * np.cos(around), out * np.sin(around), radius * np.sin(tube)


def _klein_bottle(a: Points, b: Points, c: Points) -> tuple[Points, Points, Points]:
    # A figure of eight that turns over once on its way round, and is thick in its own plane.
    around, along, wide = 2 * math.pi * a, 2 * math.pi * b, 0.4 * (c - 0.5)
    x, y = np.sin(along), np.sin(2 * along)
    slope_x, slope_y = np.cos(along), 2 * np.cos(2 * along)
    steepness = np.hypot(slope_x, slope_y)
    x, y = x - wide * slope_y / steepness, y + wide * slope_x / steepness
    out = 3 + np.cos(around / 2) * x - np.sin(around / 2) * y
    height = np.sin(around / 2) * x + np.cos(around / 2) * y
    return out * np.cos(around), out * np.sin(around), height


def _twisted_beam(a: Points, b: Points, c: Points) -> tuple[Points, Points, Points]:
    turn, x, y = 4 * math.pi * a, b - 0.5, c - 0.5
    return 8 * a, np.cos(turn) * x - np.sin(turn) * y, np.sin(turn) * x + np.cos(turn) * y


_FORMS = {
    "torus": _Form(_torus, (True, True, False)),
    "klein-bottle": _Form(_klein_bottle, (True, True, False), flipped=True),
    "twisted-beam": _Form(_twisted_beam, (False, False, False)),
}


def mesh_sweep(
    shape: Sequence[int],
    form: str = "torus",
    *,
    elements: str = "hexahedra",
    direction: Sequence[float] = (0.8, 0.5, 0.33),
    shuffle: bool = False,
    seed: int = 0,
    device: str | None = None,
) -> Graph:
    """Make the graph by which radiation sweeps through the elements of a mesh in a direction.

    Vertices are elements. An arc leads over a face that two elements share, from u to v, if the
    direction leads out of u at one of its corners; a curved face may give both.

    Parameters
    ----------
    shape : sequence of int
        The cells of the grid along three axes, each at least 3: around, around the tube and through
        the wall of the first two forms, along and across the beam.
    form : {"torus", "klein-bottle", "twisted-beam"}, optional
        What the grid is bent to.
    elements : {"hexahedra", "tetrahedra"}, optional
        A cell is one hexahedron, with curved faces, or six tetrahedra.
    direction : sequence of float, optional
        Of the sweep: three numbers, not all 0.
    shuffle, seed, device
        As for `line`. In order, cells are in C order. All is computed on the CPU, so that it is the
        same everywhere.

    Examples
    --------
    >>> from conncomp import generate
    >>> generate.mesh_sweep((20, 12, 4)).num_vertices
    960
    """
    cells = check_shape(shape, 3, 3)
    check_choice("form", form, tuple(_FORMS))
    check_choice("elements", elements, ("hexahedra", "tetrahedra"))
    parts = as_sequence("direction", direction)
    omega = np.array([check_real("direction", part, -1e9, 1e9) for part in parts])
    if len(omega) != 3 or not omega.any():
        raise ValueError(f"direction={shown(direction)} must be three numbers, not all 0")
    xp = array_library(device)
    mesh = _Mesh(cells, _FORMS[form])
    sides = _hexahedra(mesh) if elements == "hexahedra" else _tetrahedra(mesh)
    arcs = [arc for faces in sides for arc in _arcs(faces, omega)]
    src, dst = (xp.asarray(np.concatenate(ends)) for ends in zip(*arcs, strict=True))
    n = math.prod(cells) * (1 if elements == "hexahedra" else 6)
    return graph_of_edges(n, src, dst, directed=True, shuffle=shuffle, seed=seed, device=device)


class _Mesh:
    """The corners of a bent grid, and which cells are neighbours."""

    def __init__(self, cells: tuple[int, ...], form: _Form) -> None:
        self.cells, self.form = cells, form
        coordinates = np.meshgrid(*(np.linspace(0, 1, n + 1) for n in cells), indexing="ij")
        self.corners = np.stack(form.place(*coordinates), axis=-1)
        self.number = np.arange(math.prod(cells)).reshape(cells)

    def corner(self, offset: Any) -> Points:
        """Return one corner of every cell, shape (cells, 3)."""
        places = tuple(slice(o, o + n) for o, n in zip(offset, self.cells, strict=True))
        return self.corners[places].reshape(-1, 3)

    def following(self, axis: int) -> tuple[Vertices, Vertices, NDArray[np.bool_]]:
        """Return cells with a next one along an axis, the latter, and which lie over a flip."""
        number = self.number
        over = np.zeros(self.cells, np.bool_)
        ends = np.moveaxis(over, axis, 0)
        ends[-1] = True
        after = np.roll(number, -1, axis)
        if axis == 0 and self.form.flipped:
            after[-1] = number[0, ::-1, ::-1]
        exists = ~over.ravel() | self.form.periodic[axis]
        flipped = over.ravel() & (axis == 0) & self.form.flipped
        return number.ravel()[exists], after.ravel()[exists], flipped[exists]


class _Faces(NamedTuple):
    """Faces between elements `u` and `v`."""

    u: Vertices
    v: Vertices
    corners: list[Points]  # in order round the faces
    inside: Points  # a point inside each u


def _mean(points: list[Points]) -> Points:
    return np.asarray(sum(points) / len(points))


def _hexahedra(mesh: _Mesh) -> list[_Faces]:
    centre = _mean([mesh.corner(offset) for offset in product((0, 1), repeat=3)])
    faces = []
    for axis in range(3):
        u, v, _ = mesh.following(axis)
        round_face = [np.insert(corner, axis, 1) for corner in ([0, 0], [0, 1], [1, 1], [1, 0])]
        faces.append(_Faces(u, v, [mesh.corner(offset)[u] for offset in round_face], centre[u]))
    return faces


def _tetrahedra(mesh: _Mesh) -> list[_Faces]:
    """Return the faces between tetrahedra: six a cell, one for each way along its edges.

    Each goes from the first corner of the cell to the last, along the axes in its own order. Two
    share a face if their orders differ by a swap of neighbours. Over the end of the cell to which
    the first step of one leads lies the one that takes this step last.
    """
    orders = list(permutations(range(3)))
    paths = []
    for order in orders:
        steps = np.cumsum([np.zeros(3, int), *np.eye(3, dtype=int)[list(order)]], axis=0)
        paths.append([mesh.corner(offset) for offset in steps])
    number = mesh.number.ravel() * len(orders)
    faces = []
    for i, order in enumerate(orders):
        inside = _mean(paths[i])
        for first in (0, 1):  # of the two steps that are swapped
            swapped = list(order)
            swapped[first], swapped[first + 1] = swapped[first + 1], swapped[first]
            k = orders.index(tuple(swapped))
            if i < k:
                face = [path for place, path in enumerate(paths[i]) if place != first + 1]
                faces.append(_Faces(number + i, number + k, face, inside))
        u, v, flipped = mesh.following(order[0])
        straight = orders.index((order[1], order[2], order[0]))
        turned = orders.index((order[2], order[1], order[0]))
        target = v * len(orders) + np.where(flipped, turned, straight)
        faces.append(_Faces(number[u] + i, target, [path[u] for path in paths[i][1:]], inside[u]))
    return faces


def _arcs(faces: _Faces, direction: NDArray[Any]) -> list[tuple[Vertices, Vertices]]:
    """Return the arcs over faces: at each corner, the direction leads one way or the other."""
    u, v, face, inside = faces
    middle = _mean(face)
    forward, backward = np.zeros(len(u), np.bool_), np.zeros(len(u), np.bool_)
    for k, corner in enumerate(face):
        normal = np.cross(face[(k + 1) % len(face)] - corner, face[k - 1] - corner)
        outward = np.einsum("ij,ij->i", normal, middle - inside)
        flow = normal @ direction * np.sign(outward)
        forward |= flow > 0
        backward |= flow < 0
    return [(u[forward], v[forward]), (v[backward], u[backward])]
