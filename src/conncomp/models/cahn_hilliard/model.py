"""The equation of Cahn and Hilliard: how a mixture separates into two phases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arguments import check_choice, check_range, shown
from conncomp._array_storage import placed
from conncomp.kernels.field import OUTSIDE, Coefficients, FieldLattice, Gauge
from conncomp.models._arguments import (
    as_tuple,
    check_finite,
    check_not_negative,
    check_positive,
    check_start,
)
from conncomp.models.base import Simulated, Update
from conncomp.models.cahn_hilliard.cpu import FieldEngine
from conncomp.models.cahn_hilliard.measurements import DomainMeasurements
from conncomp.models.protocol import ModelUpdate

LEAST_STEP = 1e-30
PARAMETERS = "mobility", "b", "u", "K", "dx"  # of `Physics`


class Physics:
    """The parameters of the equation, as `conncomp.models.CahnHilliard` has them, and the axes."""

    def __init__(self, mobility: float, b: float, u: float, K: float, dx: float, ndim: int) -> None:
        self.mobility = check_positive("mobility", mobility)
        self.b, self.u = check_finite("b", b), check_not_negative("u", u)
        self.K, self.dx = check_positive("K", K), check_positive("dx", dx)
        axes, square = check_range("ndim", ndim, 2, 3), self.dx * self.dx
        # Minus the lowest eigenvalue of the Laplacian.
        self._steepest = 4 * axes / square if square > 0 else math.inf

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


MOST_CELLS = (1 << 31) - 1  # of a replica, so that sums of squared sizes have 64 bits
DTYPES = ("float32", "float64")
SHARE = 0.8  # of the stable bound, which the time step is by default
ODD_SCALE = 2.0**-23  # of random integers, to numbers between -1 and 1


class CahnHilliard(Simulated[DomainMeasurements]):
    """The equation of Cahn and Hilliard on a torus: model B of dynamics with a conserved field.

    ``d phi/dt = M lap(mu) + noise``, with the chemical potential
    ``mu = -b phi + u phi^3 - K lap(phi)``, the derivative of the free energy
    ``F = sum over cells of -b/2 phi^2 + u/4 phi^4 + K/2 |grad phi|^2``. Gradients are forward
    differences and the Laplacian is the sum over the neighbours along the axes, so that the
    equation on the lattice is exactly the conserved gradient flow of this sum. Time goes on by
    explicit Euler steps.

    Parameters
    ----------
    shape : sequence of int
        The lengths of two or three axes, each at least 2, all periodic.
    mobility, b, u, K : float, optional
        M > 0, b, u >= 0 and K > 0; u > 0 where b > 0. All are 1 by default: time, field and length
        can be scaled so that any b > 0 is. The phases are then at phi = ±1, and the interface
        between them is ``tanh(x / sqrt(2))``: some three cells wide, which leaves room for domains,
        and moves without sticking to the lattice.
    dx : float, optional
        The distance of neighbouring cells.
    dt : float, optional
        The time step, 0.8 of `stable_time_step` by default; a longer one than that is refused.
    mean, amplitude : float, optional
        The first field is `mean` plus uniform random numbers between ±`amplitude`, drawn for each
        cell. A mixture of equal parts, the default, forms two phases that both percolate.
    noise : float, optional
        The temperature of the conserved noise, in units of F: in equilibrium a field has the
        probability ``exp(-F / noise)``, for small time steps. It is the divergence of random fluxes
        through the faces of cells. They are uniform, of variance ``2 noise M dt / dx^2``: after
        many steps only the variance counts, and they are the same on all devices.
    dtype : {"float32", "float64"}, optional
    start : array_like of float, optional
        The first field instead of a random one, of the lattice's shape or with an axis for the
        replicas before; it is rounded to `dtype`. An array on a GPU puts the model there.
    replicas, seed, first_replica, device : optional
        As of `Percolation`, with its errors. Fields are a function of seed, replica and parameters
        alone. Fields that do not fit the memory raise MemoryError.

    Attributes
    ----------
    updates : int
        How many steps were made.
    dt : float
        The time step.
    descent_limit : float
        As long as phi is nowhere beyond ± this, no step without noise makes the energy larger, but
        for rounding.

    Notes
    -----
    Stability: the Laplacian has eigenvalues from -Λ to 0, Λ = 4 ndim / dx². A step multiplies a
    small wave on a uniform field φ by ``1 - dt M λ (f'' + K λ)``, f'' = -b + 3 u φ². It stays
    bounded for all λ up to Λ if ``dt <= 2 / (M Λ (f'' + K Λ))``: that is `stable_time_step`, with
    the largest magnitude of φ of the first field or of the phases.

    Energy: with g the gradient of F a step is δ = -dt M A g, where A is minus the Laplacian. Where
    φ is nowhere beyond ±φ₁, F has second derivatives of at most S = f''(φ₁) + K Λ, so that
    ``F(φ + δ) <= F(φ) + g·δ + S/2 δ·δ <= F(φ) - dt M (1 - dt M Λ S / 2) g·A g``: it cannot rise
    if ``dt <= 2 / (M Λ S)``, the same bound with φ₁ = `descent_limit`.

    Mean: a step adds to each cell what it takes from others, with a rounding error of at most
    ``(m + 8 ndim n) eps`` a cell, where m is the largest magnitude of φ, n the largest of
    ``dt M |μ| / dx²`` (and 4 ndim times the flux, with noise) and eps that of the dtype.

    References
    ----------
    J. W. Cahn, J. E. Hilliard, J. Chem. Phys. 28, 258 (1958).

    P. C. Hohenberg, B. I. Halperin, Rev. Mod. Phys. 49, 435 (1977), model B.

    K. A. Hawick, A. Leist, D. P. Playne, Parallel Computing 36, 655 (2010), section 6.

    Examples
    --------
    >>> from conncomp.models import CahnHilliard
    >>> model = CahnHilliard((64, 64), seed=1)
    >>> before = model.measure()
    >>> model.step(1000)
    >>> after = model.measure()
    >>> bool(after.energy < before.energy), bool(after.domain_size > 2 * before.domain_size)
    (True, True)
    """

    _name = "CahnHilliard"
    _changing = ("now",)

    def __init__(
        self,
        shape: Sequence[int],
        *,
        mobility: float = 1.0,
        b: float = 1.0,
        u: float = 1.0,
        K: float = 1.0,
        dx: float = 1.0,
        dt: float | None = None,
        mean: float = 0.0,
        amplitude: float = 0.1,
        noise: float = 0.0,
        dtype: str = "float32",
        replicas: int | None = None,
        first_replica: int = 0,
        seed: int = 0,
        start: ArrayLike | None = None,
        device: str | None = None,
    ) -> None:
        lengths = _check_shape(shape)
        self._physics = Physics(mobility, b, u, K, dx, len(lengths))
        if self._physics.u == 0 and self._physics.b > 0:
            raise ValueError(f"u=0 with b={shown(b)} > 0 has no lowest energy; choose u > 0")
        self.lattice = FieldLattice(lengths, self._physics.dx)
        self._record_length = self.lattice.record_length
        self.mean = check_finite("mean", mean)
        self.amplitude = check_not_negative("amplitude", amplitude)
        self.noise = check_not_negative("noise", noise)
        check_choice("dtype", dtype, DTYPES)
        self.dtype = np.dtype(dtype)
        super().__init__(replicas, first_replica, seed, device, start)
        given = None if start is None else self._check_start(start)
        largest = abs(self.mean) + self.amplitude if given is None else float(abs(given).max())
        self.dt = self._check_dt(dt, largest)
        self.descent_limit = self._physics.descent_limit(self.dt)
        self._prepare()
        self._state.now = self._no_field()
        if given is None:
            scale = self._rounded(self.amplitude * ODD_SCALE)
            self._engine.start(self._rounded(self.mean), scale, self._state.now)
        else:
            self._state.now[...] = self._engine.xp.asarray(given)

    @staticmethod
    def stable_time_step(
        ndim: int,
        *,
        mobility: float = 1.0,
        b: float = 1.0,
        u: float = 1.0,
        K: float = 1.0,
        dx: float = 1.0,
        largest: float = 0.0,
    ) -> float:
        """Return the longest time step that is stable: see the notes on the class.

        Where no time step that numbers can express is stable, a ValueError says so.

        Parameters
        ----------
        ndim : int
            2 or 3.
        mobility, b, u, K, dx : float, optional
            As of the model.
        largest : float, optional
            The magnitude of phi, if it is more than that of the phases, sqrt(b/u).

        Examples
        --------
        >>> from conncomp.models import CahnHilliard
        >>> CahnHilliard.stable_time_step(2)
        0.025
        """
        physics = Physics(mobility, b, u, K, dx, ndim)
        return physics.stable_time_step(check_not_negative("largest", largest))

    @property
    def field(self) -> Any:
        """The field: a copy, of shape ``(*replicas, *shape)``, in the library of the device."""
        return self._of_replicas(self._state.now.copy())

    @property
    def time(self) -> float:
        """The time since the beginning: `updates` steps of `dt`."""
        return self.updates * self.dt

    def labels(
        self,
        *,
        numbering: str = "consecutive",
        return_num: bool = False,
        threshold: float = 0.0,
        connectivity: int = 1,
    ) -> Any:
        """Label the domains of the phase above a threshold, without leaving the device.

        Parameters
        ----------
        threshold : float, optional
            Cells above it are labelled.
        numbering, return_num, connectivity
            As of `conncomp.label`; by default cells are neighbours by their faces.

        Returns
        -------
        labels : array of int32 or int64, shape ``(*replicas, *shape)``
            On the device, 0 or -1 for cells that are not above the threshold.
        num : int, or array of int64, shape (replicas,)
            If `return_num`: how many components there are.
        """
        field, level = self._of_replicas(self._state.now), self._check_threshold(threshold)
        return self._engine.labels(level, field, connectivity, numbering, return_num)

    def measure(self, *, threshold: float = 0.0) -> DomainMeasurements:
        """Measure the present field and the domains of both phases.

        A field that has left all bounds raises FloatingPointError.

        Parameters
        ----------
        threshold : float, optional
            Cells above it are one phase, all others the other one; both have the same energy at 0.
        """
        return self._read_present(threshold=threshold)

    def updater(self, *, threshold: float = 0.0) -> ModelUpdate[DomainMeasurements]:
        """Return a `ModelUpdate`, a step with the threshold of `measure`.

        Examples
        --------
        >>> from conncomp.models import CahnHilliard
        >>> CahnHilliard((8, 8)).updater(threshold=0.1).options
        {'threshold': 0.1}
        """
        self._check_threshold(threshold)
        options = {"threshold": float(threshold)}
        return Update(self, options, measure_by=options)

    def _described(self) -> dict[str, Any]:
        of_physics = {name: getattr(self._physics, name) for name in PARAMETERS}
        own = {name: getattr(self, name) for name in ("dt", "mean", "amplitude", "noise")}
        shape, dtype = list(self.lattice.shape), self.dtype.name
        return {"shape": shape, **of_physics, **own, "dtype": dtype}

    def _prepare(self) -> None:
        make = self._state.engine_of(FieldEngine, "models.cahn_hilliard.cuda:FieldEngine")
        by = self.lattice, self.dtype, self._coefficients()
        self._state._engine = self._state.new_engine(make, *by)
        self._state.next = self._no_field()

    def _checked(self, arrays: tuple[NDArray[Any], ...]) -> tuple[Any, ...]:
        (field,) = arrays
        if field.shape != self._state.next.shape or field.dtype != self.dtype:
            raise ValueError(
                f"the state has a field of shape {field.shape} and dtype {field.dtype}; that of "
                f"this model has {self._state.next.shape} and {self.dtype}"
            )
        copied = field.copy()
        if not np.isfinite(copied).all():
            raise ValueError("the state has a field with values that are not finite")
        return (placed(self._engine.xp, copied),)

    def _advance(self, number: int) -> None:
        self._engine.advance(number, self._state.now, self._state.next)
        self._state.take_next(number)

    def _measure(self, record: Any, threshold: float = 0.0) -> None:
        physics, unit = self._physics, 2.0**self.lattice.part_bits
        level = self._check_threshold(threshold)
        factors = physics.b / 2, physics.u / 4, physics.K / (2 * physics.dx**2)
        gauge = Gauge(*factors, threshold=level, parts=unit, most=unit)
        self._engine.measure(gauge, self._state.now, record)
        self._engine.count_domains(level, self._state.now, record)

    def _read(self, records: NDArray[np.int64]) -> DomainMeasurements:
        if records[..., OUTSIDE].any():
            raise FloatingPointError(
                "the field has left all bounds; make the model with a smaller dt than "
                f"{self.dt:g}, or with less noise"
            )
        return DomainMeasurements(records, self.lattice)

    def _rounded(self, value: float) -> float:
        with np.errstate(over="ignore"):
            return float(self.dtype.type(value))

    def _coefficients(self) -> Coefficients:
        physics, scale = self._physics, self._physics.mobility * self.dt / self._physics.dx**2
        spread = math.sqrt(6 * scale) * math.sqrt(self.noise) * ODD_SCALE
        exact = scale * physics.u, scale * physics.b, scale * physics.K / physics.dx**2, spread
        coefficients = Coefficients(*map(self._rounded, exact))
        if not all(map(math.isfinite, coefficients)):
            raise ValueError(
                f"u={physics.u:g}, b={physics.b:g}, K={physics.K:g} or noise={self.noise:g} is too "
                f"large for {self.dtype} with these dt and dx; choose units in which they are "
                "nearer to 1"
            )
        return coefficients

    def _no_field(self) -> Any:
        shape = self.replicas, *self.lattice.shape
        return self._zeros(f"the fields of shape={self.lattice.shape}", shape, self.dtype)

    def _check_threshold(self, threshold: Any) -> float:
        """Return the threshold as one of the field's numbers: all that compare then agree."""
        return self._rounded(check_finite("threshold", threshold))

    def _check_start(self, start: ArrayLike) -> Any:
        given = check_start(start, "biuf", "of numbers", self.replicas, self.lattice.shape)
        with np.errstate(over="ignore"):
            copied = given.astype(self.dtype)  # values that are checked do not change afterwards
        if not bool((abs(copied) < math.inf).all()):
            raise ValueError(f"start has values that are not finite, or too large for {self.dtype}")
        return copied

    def _check_dt(self, dt: float | None, largest: float) -> float:
        bound = self._physics.stable_time_step(largest)
        if dt is None:
            return SHARE * bound
        if check_positive("dt", dt) > bound:
            raise ValueError(
                f"dt={shown(dt)} is above the stable bound of explicit steps, {bound:.6g}, for "
                f"these parameters and |phi| up to {largest:.6g}; choose a smaller one"
            )
        return float(dt)


def _check_shape(shape: Any) -> tuple[int, ...]:
    axes = as_tuple(shape)
    if len(axes) not in (2, 3):
        raise ValueError(f"shape={shown(shape)} must have two or three lengths")
    lengths = tuple(check_range("shape", length, 2, MOST_CELLS) for length in axes)
    if math.prod(lengths) > MOST_CELLS:
        raise ValueError(f"shape={lengths} has more than {MOST_CELLS} cells; choose fewer")
    return lengths
