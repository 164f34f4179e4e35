"""Finite-size scaling: where curves of several sizes cross, and the exponents that make them one.

What: a ratio without dimension, such as Binder's, has one value at a critical point for all sizes,
and any observable is L**b f((x - x_c) L**(1/nu)). How: curves are polynomials, fitted by least
squares; the error of a crossing is the spread over curves redrawn with the errors of their points,
that of a collapse follows from how chi squared grows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import ArrayLike

from conncomp._arguments import as_number, check_range, shown
from conncomp.models._arguments import check_finite, check_positive, finite, real_numbers
from conncomp.models.protocol import Floats
from conncomp.models.statistics.estimates import Estimate

REDRAWN = 200  # curves, of which the spread is an error
MOST_DEGREE = 20
# Derivatives that are differences are off by 1e-8 of what is fitted: below this share of it, a
# singular value may be 0. What has so small a part of such a direction has none of it.
NEGLIGIBLE, NEGLIGIBLE_PART = 1e-6, 1e-4


class Crossing(NamedTuple):
    """The point at which the curves of two sizes cross: see `crossing`.

    Attributes
    ----------
    sizes : tuple of float
    x, y : Estimate
    """

    sizes: tuple[float, float]
    x: Estimate
    y: Estimate


@dataclass(frozen=True)
class Collapse:
    """The exponents by which curves of several sizes become one: see `collapse`.

    Attributes
    ----------
    critical, nu, exponent : Estimate
        x_c, nu and b. Errors are those of the points, and mean nothing where the fit is bad. They
        are infinite of what the points do not determine, such as nu and b of a pure power of
        x - x_c, of which only b + k / nu is known.
    chi_squared : float
    freedom : int
        The degrees of freedom of the fit: chi squared is about as large if it is good.
    """

    critical: Estimate
    nu: Estimate
    exponent: Estimate
    chi_squared: float
    freedom: int

    def scale(self, size: float, points: ArrayLike) -> Floats:
        """Return points of a size, shape (n, 3), on the one curve: L**-b y over scaled x."""
        given, length = as_points("points", points), check_positive("size", size)
        critical, inverse_nu = self.critical.value, 1 / self.nu.value
        scaled = _scaled(length, given, critical, inverse_nu, self.exponent.value)
        if not np.isfinite(scaled).all():
            raise ValueError(
                f"size={shown(size)} is too far from those of the curves: points={shown(points)} "
                "cannot be scaled in float64"
            )
        return scaled


def crossing(curves: Any, *, degree: int = 2, seed: int = 0) -> list[Crossing]:
    """Return where the curves of each size and of the next one cross.

    A polynomial is fitted to each curve where both overlap: to its points between the least and the
    largest x of the other. The crossing is the root of their difference, the one next to the middle
    if there are several; its error is the spread of roots of curves drawn anew.

    Parameters
    ----------
    curves : dict
        Of each size rows of x, y and the error of y, shape (n, 3).
    degree : int, optional
        Of the polynomials, as low as fits: below the number of a curve's points where both overlap.
    seed : int, optional
        Of the curves that are drawn anew.

    Returns
    -------
    list of Crossing
        Sizes ascending; both estimates are NaN where curves do not cross, and errors are where
        a tenth of the curves drawn anew do not.

    References
    ----------
    K. Binder, Z. Phys. B 43, 119 (1981).

    Examples
    --------
    >>> import numpy as np
    >>> from conncomp.models import crossing
    >>> x = np.linspace(0.9, 1.1, 7)
    >>> curves = {
    ...     size: np.stack([x, 2 + (x - 1) * size, np.full(7, 0.01)], axis=1) for size in (8, 16)
    ... }
    >>> [found] = crossing(curves)
    >>> round(found.x.value, 6), found.x.error < 0.005
    (1.0, True)
    """
    order = check_range("degree", degree, 1, MOST_DEGREE)
    checked = as_curves(curves, order + 1)
    rng = np.random.default_rng(check_range("seed", seed, 0, (1 << 64) - 1))
    found = []
    for (small, first), (large, second) in pairwise(checked.items()):
        ways = (first, second, (small, large)), (second, first, (large, small))
        common = [_where_lies(*way, order) for way in ways]
        low, high = max(first[0, 0], second[0, 0]), min(first[-1, 0], second[-1, 0])
        one, other = (_fits(points, low, high, order, rng) for points in common)
        roots = _roots(one, other, low, high)
        x, y = roots[0].tolist()
        spread = roots[1:][np.isfinite(roots[1:, 0])]
        enough = np.isfinite(x) and len(spread) > 0.9 * REDRAWN
        errors = spread.std(axis=0).tolist() if enough else [np.nan, np.nan]
        found.append(Crossing((small, large), Estimate(x, errors[0]), Estimate(y, errors[1])))
    return found


def collapse(
    curves: Any, *, critical: float, nu: float = 1.0, exponent: float | None = None, degree: int = 4
) -> Collapse:
    """Return the best `Collapse`, y = L**b f((x - x_c) L**(1/nu)), of curves of all sizes L.

    The coefficients of f, a polynomial, are those of least squares for each x_c, nu and b, which
    are varied. Take points near the critical point, and large sizes: no corrections are fitted.

    Parameters
    ----------
    curves : dict
        Of each size rows of x, y and the error of y, shape (n, 3).
    critical, nu : float
        From where x_c and nu are varied.
    exponent : float, optional
        From where b is varied; None, the default, keeps it 0, as it is of ratios without dimension.
    degree : int, optional
        Of f.

    References
    ----------
    M. E. Fisher, M. N. Barber, Phys. Rev. Lett. 28, 1516 (1972).

    G. H. Golub, V. Pereyra, SIAM J. Numer. Anal. 10, 413 (1973), for least squares in two steps.

    Examples
    --------
    >>> import numpy as np
    >>> from conncomp.models import collapse
    >>> x, curves = np.linspace(0.8, 1.2, 9), {}
    >>> for size in (8, 16, 32):
    ...     y = size**0.25 * np.tanh((x - 1) * size**0.5)
    ...     curves[size] = np.stack([x, y, np.full(9, 0.01)], axis=1)
    >>> found = collapse(curves, critical=0.98, nu=1.5, exponent=0.0, degree=7)
    >>> round(found.critical.value, 2), round(found.nu.value, 1), round(found.exponent.value, 2)
    (1.0, 2.0, 0.25)
    """
    from scipy.optimize import least_squares

    order, checked = check_range("degree", degree, 1, MOST_DEGREE), as_curves(curves, 1)
    first = [check_finite("critical", critical), 1 / check_positive("nu", nu)]
    if exponent is not None:
        first.append(check_finite("exponent", exponent))
    count = sum(map(len, checked.values()))
    freedom = count - len(first) - (order + 1)
    if freedom < 1:
        raise ValueError(
            f"curves has {count} points; degree={shown(degree)} needs {count + 1 - freedom} or more"
        )
    points = np.concatenate(list(checked.values()))
    units = np.array([np.ptp(points[:, 0]) or 1.0, 1.0, 1.0])[: len(first)]

    def residuals(scaled: Floats) -> Floats:
        return _residuals(checked, scaled * units, order)

    if not np.isfinite(residuals(np.array(first) / units)).all():
        raise ValueError(
            f"curves cannot be scaled by critical={shown(critical)}, nu={shown(nu)} and "
            f"exponent={shown(exponent)}; begin with values that are nearer"
        )
    fit = least_squares(residuals, np.array(first) / units, method="trf", x_scale="jac")
    values = fit.x * units
    errors = _errors(fit.jac, float(np.linalg.norm(points[:, 1] / points[:, 2]))) * units
    inverse = values[1]  # which may come near 0 if it is not determined
    estimates = [Estimate(float(v), float(e)) for v, e in zip(values, errors, strict=True)]
    with np.errstate(over="ignore", divide="ignore"):
        nus = Estimate(float(1 / inverse), float(estimates[1].error / inverse**2))
    power = estimates[2] if exponent is not None else Estimate(0.0, 0.0)
    return Collapse(estimates[0], nus, power, float(2 * fit.cost), freedom)


def _scaled(size: float, points: Floats, x_c: float, inverse_nu: float, exponent: float) -> Floats:
    """Return points in scaled variables, not finite where float64 has no room for them."""
    length = np.float64(size)  # of a float, a power that is too large is an error
    with np.errstate(over="ignore", invalid="ignore"):
        unit = length**-exponent
        x = (points[:, 0] - x_c) * length**inverse_nu
        return np.stack([x, points[:, 1] * unit, points[:, 2] * unit], axis=1)


def _residuals(curves: Curves, values: Floats, order: int) -> Floats:
    """Return what is left of each point in units of its error, f being the best one."""
    critical, inverse_nu, exponent = (*values.tolist(), 0.0)[:3]
    each = [_scaled(size, p, critical, inverse_nu, exponent) for size, p in curves.items()]
    scaled = np.concatenate(each)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        left: Floats = scaled[:, 1] / scaled[:, 2]
    if not np.isfinite(scaled).all() or not np.isfinite(left).all():
        return np.full_like(left, np.inf)
    basis = _basis(scaled[:, 0], order) / scaled[:, 2:]
    return np.asarray(left - basis @ np.linalg.lstsq(basis, left, rcond=None)[0])


def _errors(derivatives: Floats, signal: float) -> Floats:
    """Return errors of parameters; infinite of those that can vary while residuals stay."""
    _, singular, directions = np.linalg.svd(derivatives, full_matrices=False)
    vain = singular <= NEGLIGIBLE * max(float(singular[0]), signal)
    errors = np.sqrt(((directions[~vain] / singular[~vain, None]) ** 2).sum(axis=0))
    errors[(abs(directions[vain]) > NEGLIGIBLE_PART).any(axis=0)] = np.inf
    return np.asarray(errors)


def _basis(x: Floats, order: int) -> Floats:
    """Return Chebyshev polynomials of x, mapped to [-1, 1], as columns."""
    low, high = x.min(), x.max()
    middle, half = (low + high) / 2, (high - low) / 2 or 1.0
    return np.asarray(chebyshev.chebvander((x - middle) / half, order))


def _where_lies(points: Floats, others: Floats, sizes: tuple[float, float], order: int) -> Floats:
    """Return the points of a curve between the first and the last x of another one."""
    low, high = others[0, 0], others[-1, 0]
    rounding = 1e-9 * (high - low)  # such as of the same x, reckoned in two ways
    inside = (points[:, 0] >= low - rounding) & (points[:, 0] <= high + rounding)
    if inside.sum() <= order:
        size, other = sizes
        raise ValueError(
            f"curves[{size:.15g}] has {inside.sum()} points from x={low:.6g} to {high:.6g}, where "
            f"curves[{other:.15g}] lies; degree={order} needs {order + 1}; give more points "
            "there, or a lower degree"
        )
    return np.asarray(points[inside])


def _roots(first: Floats, second: Floats, low: float, high: float) -> Floats:
    """Return where fits to two curves cross, x and y, a row for each, NaN if they do not."""
    found = np.full((len(first), 2), np.nan)
    for k, (one, other) in enumerate(zip(first, second, strict=True)):
        roots = chebyshev.chebroots(other - one)
        inside = roots[np.isreal(roots)].real
        inside = inside[abs(inside) <= 1]
        if len(inside) > 0:
            place = inside[np.argmin(abs(inside))]
            x = (low + high) / 2 + place * (high - low) / 2
            found[k] = x, chebyshev.chebval(place, (one + other) / 2)
    return found


def _fits(points: Floats, low: float, high: float, order: int, rng: np.random.Generator) -> Floats:
    """Return Chebyshev coefficients on [low, high] of a curve and of curves drawn anew, in rows."""
    x, y, errors = points.T
    basis = chebyshev.chebvander((2 * x - low - high) / (high - low), order)
    of_values = np.linalg.pinv(basis / errors[:, None]) / errors
    drawn = y + errors * rng.standard_normal((REDRAWN, len(y)))
    return np.asarray(np.concatenate([y[None], drawn]) @ of_values.T)


Curves = dict[float, Floats]


def as_curves(curves: Any, least: int) -> Curves:
    """Return curves by size, ascending, in order of x; two or more, of at least so many points."""
    if not isinstance(curves, Mapping):
        raise TypeError(f"curves={shown(curves)} must be a dict: of each size an array of points")
    if len(curves) < 2:
        raise ValueError(f"curves has {len(curves)} sizes; there must be two or more")
    sizes = [as_number("a size of curves", size) for size in curves]
    if not all(0 < size < np.inf for size in sizes):
        given = shown(list(curves))
        raise ValueError(f"curves has sizes {given}; they must be above 0, and finite")
    if len(set(sizes)) < len(sizes):
        raise ValueError(
            f"curves has sizes {shown(list(curves))}, which are {shown(sizes)} as floats; each "
            "must be there once"
        )
    points = [_points(f"curves[{shown(size)}]", each, least) for size, each in curves.items()]
    return dict(sorted(zip(sizes, points, strict=True), key=itemgetter(0)))


def as_points(name: str, given: Any) -> Floats:
    """Return points as rows of x, y and error, in the order in which they are given."""
    array = real_numbers(name, given)
    if array.ndim != 2 or array.shape[1] != 3:
        raise ValueError(f"{name} has shape {array.shape}; its rows must be x, y and error of y")
    return finite(name, array)


def _points(name: str, given: Any, least: int) -> Floats:
    points = as_points(name, given)
    if len(points) < least:
        raise ValueError(f"{name} has {len(points)} points; there must be {least} or more")
    if not (points[:, 2] > 0).all():
        raise ValueError(f"{name} has errors that are not above 0")
    points = points[np.argsort(points[:, 0], kind="stable")]
    if (np.diff(points[:, 0]) == 0).any():
        raise ValueError(f"{name} has a value of x twice; give each one once")
    return points
