"""Vortices: around which plaquettes of a lattice in the plane angles turn.

What: the turns of the angles around each plaquette, of either sign, added up: differences along its
bonds, each from -1/2 to 1/2 of a turn. How: a walk from a bond to the next one, clockwise, around
the site that it leads to, goes around a plaquette; bonds do not cross if a cell has as many bonds
as sites and faces (Euler). Differences of angles of 16 bits wrap by themselves. Cost: a read for
each corner of each plaquette. Source: J. M. Kosterlitz, D. J. Thouless, J. Phys. C 6, 1181 (1973),
for vortices; J. Edmonds, Notices Amer. Math. Soc. 7, 646 (1960), for faces.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp.kernels.edges import ANGLES
from conncomp.models.lattices import UnitCell
from conncomp.models.places import OnLattice, check_lattice
from conncomp.models.spins.state import SpinState

TOGETHER = 1 << 21  # plaquettes of all replicas that are looked at together

# A site of a cell, and how many cells farther along each axis.
Corner = tuple[int, tuple[int, int]]


class Vortices:
    """The vortices of an XY model on a lattice in the plane."""

    def __init__(self, state: SpinState, clusters: bool) -> None:
        if state.layout.kind is not ANGLES:
            raise ValueError(
                f"observe='vortices' is for the XY model, and not the {state.name} model"
            )
        place, self._state = check_lattice(state.place, "vortices"), state
        if any(place.cells.antiperiodic):
            raise ValueError("observe='vortices' is for lattices without antiperiodic axes")
        self._corners = list(map(state.engine.xp.asarray, plaquettes(place)))
        self.reader = Turns(place.sites)

    def measure(self, record: Any, field: int) -> None:
        """Add the turns around all plaquettes."""
        spins = self._state.now
        flat = spins.reshape(len(spins), -1)
        each = max(1, TOGETHER // len(flat))
        for corners in self._corners:
            for begin in range(0, len(corners), each):
                some = corners[begin : begin + each]
                turned: Any = 0
                for k in range(some.shape[1]):
                    step = flat[:, some[:, k]] - flat[:, some[:, k - 1]]
                    turned = turned + step.view(np.int16).astype(np.int32)
                record[:, field] += (abs(turned) >> 16).sum(axis=1, dtype=np.int64)


@dataclass(frozen=True)
class Turns:
    """Reads the number of vortices."""

    sites: int

    names, length = ("vortices",), 1

    def value(self, name: str, fields: NDArray[np.int64], series: Any) -> NDArray[np.int64]:
        """Return how often angles turn around plaquettes, either way."""
        return fields[..., 0]

    def estimates(self, values: dict[str, NDArray[Any]]) -> dict[str, Any]:
        """Return the mean a site."""
        return {"vortices": (np.asarray, values["vortices"] / self.sites)}


def faces_of(cell: UnitCell) -> list[list[Corner]]:
    """Return the plaquettes of a cell, each as its corners; ValueError if bonds cross."""
    if len(cell.vectors) != 2:
        axes = len(cell.vectors)
        raise ValueError(f"observe='vortices' is for lattices of two axes, and not {axes}")
    vectors, sites = np.array(cell.vectors), np.array(cell.sites)
    around: dict[int, list[tuple[float, Corner]]] = {site: [] for site in range(len(sites))}
    for start, end, step in cell.bonds:
        for site, to, cells in ((start, end, step), (end, start, (-step[0], -step[1]))):
            away = sites[to] + np.array(cells) @ vectors - sites[site]
            around[site].append((atan2(away[1], away[0]), (to, (cells[0], cells[1]))))
    for darts in around.values():
        darts.sort()
    order = {site: [to for _, to in darts] for site, darts in around.items()}
    angles = [[angle for angle, _ in darts] for darts in around.values()]
    crossing = any((np.diff(of_site) < 1e-9 * pi).any() for of_site in angles)
    left = {(site, to) for site, darts in order.items() for to in darts}
    faces = []
    while left and not crossing:
        first = at = min(left)
        corners, cells = [], (0, 0)
        while at in left:
            left.remove(at)
            site, (to, step) = at
            corners.append((site, cells))
            cells = cells[0] + step[0], cells[1] + step[1]
            at = to, order[to][order[to].index((site, (-step[0], -step[1]))) - 1]
        crossing = at != first or cells != (0, 0)
        faces.append(corners)
    if crossing or len(sites) - len(cell.bonds) + len(faces) != 0:
        raise ValueError(
            "observe='vortices' is for lattices in the plane whose bonds do not cross, and leave "
            "no site or part of the lattice alone"
        )
    return faces


def plaquettes(place: OnLattice) -> list[NDArray[np.int32]]:
    """Return the sites at the corners of plaquettes, (plaquettes, corners) for each of a cell."""
    shape, closed = place.cells.shape, place.cells.periodic
    sites = np.arange(place.sites, dtype=np.int32).reshape(*shape, -1)
    steps, found = np.indices(shape, sparse=True), []
    for face in faces_of(place.cell):
        there, corners = np.ones(shape, bool), []
        for site, offset in face:
            for axis in (0, 1):
                places = steps[axis] + offset[axis]
                there &= closed[axis] | ((places >= 0) & (places < shape[axis]))
            corners.append(np.roll(sites[..., site], (-offset[0], -offset[1]), (0, 1)))
        found.append(np.stack([each[there] for each in corners], axis=1))
    return found
