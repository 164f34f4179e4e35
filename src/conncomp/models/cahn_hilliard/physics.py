"""The parameters of the equation, and the time steps that they allow."""

from __future__ import annotations

import math

LEAST_STEP = 1e-30


class Physics:
    """The parameters of the equation, as `conncomp.models.CahnHilliard` has them, and the axes."""

    def __init__(self, mobility: float, b: float, u: float, K: float, dx: float, ndim: int) -> None:
        self.mobility, self.b, self.u, self.K, self.dx = mobility, b, u, K, dx
        # Minus the lowest eigenvalue of the Laplacian.
        self._steepest = 4 * ndim / (dx * dx) if dx * dx > 0 else math.inf

    def stable_time_step(self, largest: float) -> float:
        """Return the longest time step that is stable for fields up to a magnitude."""
        try:
            phase = math.sqrt(self.b / self.u) if self.b > 0 else 0.0
            curvature = 3 * self.u * max(largest, phase) ** 2 - self.b
            bound = 2 / (self.mobility * self._steepest * (curvature + self.K * self._steepest))
        except (OverflowError, ZeroDivisionError):
            bound = 0.0
        if not (LEAST_STEP < bound < math.inf):
            raise ValueError(
                f"mobility={self.mobility:g}, b={self.b:g}, u={self.u:g}, K={self.K:g} and "
                f"dx={self.dx:g} with |phi| up to {largest:g} leave no time step that numbers can "
                "express; choose units in which they are nearer to 1"
            )
        return bound

    def descent_limit(self, dt: float) -> float:
        """Return up to which magnitude of fields no step of this length makes the energy larger."""
        curvature = 2 / (self.mobility * self._steepest * dt) - self.K * self._steepest
        return math.sqrt(max(curvature + self.b, 0.0) / (3 * self.u)) if self.u else math.inf
