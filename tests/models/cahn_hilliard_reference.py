"""The equation of Cahn and Hilliard, written for reading: `numpy.roll`, and sums of Python."""

import math

import numpy as np

from conncomp.generate.random import philox
from reference import label_by_flood_fill

START, FLUX = 32, 33  # purposes


class ReferenceCahnHilliard:
    """What `conncomp.models.CahnHilliard` is to do; arguments as its, for one replica.

    Fields are of float64 whatever the model's are: how far these may be away is `error`.
    """

    def __init__(
        self,
        shape,
        *,
        mobility=1.0,
        b=1.0,
        u=1.0,
        K=1.0,
        dx=1.0,
        dt,
        mean=0.0,
        amplitude=0.1,
        noise=0.0,
        seed=0,
        replica=0,
        start=None,
    ):
        self.shape, self.axes = shape, range(len(shape))
        self.mobility, self.b, self.u, self.K, self.dx, self.dt = mobility, b, u, K, dx, dt
        self.noise, self.seed, self.replica = noise, seed, replica
        self.updates = 0
        if start is None:
            self.field = mean + amplitude * self._uniform(START, 0, 0)
        else:
            self.field = np.array(start, np.float64)

    def _uniform(self, purpose, step, axis):
        """Return a number between -1 and 1 for each cell: odd multiples of 2**-23."""
        columns = self.shape[-1]
        quads = -(-columns // 4)
        lines = math.prod(self.shape[:-1])
        quad = np.arange(lines * quads, dtype=np.uint64)
        counter = quad % 2**32, quad >> 32 | self.replica << 8, step, purpose | axis << 8
        words = np.stack(philox(self.seed, counter), axis=-1).reshape(lines, quads * 4)
        signed = words[:, :columns].astype(np.uint32).view(np.int32).astype(np.int64)
        return ((signed // 256) | 1).reshape(self.shape) * 2.0**-23

    def laplacian(self, field):
        around = sum(np.roll(field, -1, k) + np.roll(field, 1, k) for k in self.axes)
        return (around - 2 * len(self.shape) * field) / self.dx**2

    def potential(self):
        phi = self.field
        return -self.b * phi + self.u * phi**3 - self.K * self.laplacian(phi)

    def step(self, n=1):
        for _ in range(n):
            self.updates += 1
            change = self.dt * self.mobility * self.laplacian(self.potential())
            if self.noise:
                spread = math.sqrt(3 * 2 * self.noise * self.mobility * self.dt) / self.dx
                for k in self.axes:
                    flux = spread * self._uniform(FLUX, self.updates, len(self.shape) - 1 - k)
                    change += np.roll(flux, 1, k) - flux
            self.field = self.field + change

    def energy(self):
        phi = self.field
        density = -self.b / 2 * phi**2 + self.u / 4 * phi**4
        for k in self.axes:
            density = density + self.K / 2 * ((np.roll(phi, -1, k) - phi) / self.dx) ** 2
        return math.fsum(density.ravel())

    def domains(self, threshold=0.0):
        """Return what `DomainMeasurements` has of domains, by name."""
        above = self.field > threshold
        bins = self.field.size.bit_length()
        faces = sum(int((above != np.roll(above, -1, k)).sum()) for k in self.axes)
        phases = []
        for phase in (above, ~above):
            roots = label_by_flood_fill(phase, connectivity=1, periodic=True)
            sizes = np.unique(roots[phase], return_counts=True)[1].tolist()
            histogram = [sum(1 for s in sizes if s.bit_length() == k + 1) for k in range(bins)]
            weighted = sum(s * s for s in sizes) / sum(sizes) if sizes else math.nan
            phases.append((len(sizes), max(sizes, default=0), sum(sizes), weighted, histogram))
        names = "components", "largest_component", "phase_cells", "weighted_size", "size_histogram"
        measured = dict(zip(names, map(np.array, zip(*phases, strict=True)), strict=True))
        return measured | {"interface": faces / self.field.size}


def error(dtype, model, largest=1.5):
    """Return by how much a step may be off in a cell, from rounding: see `CahnHilliard`'s notes."""
    ndim = model.lattice.ndim
    physics = model.parameters()
    scale = physics["mobility"] * physics["dt"] / physics["dx"] ** 2
    steepest = 4 * ndim / physics["dx"] ** 2
    potential = abs(physics["b"]) * largest + physics["u"] * largest**3
    potential += physics["K"] * steepest * largest
    flux = math.sqrt(6 * physics["noise"] * scale)
    moved = scale * potential + 4 * ndim * flux
    return float(np.finfo(dtype).eps) * (largest + 8 * ndim * moved)
