"""Laws that are fitted to times."""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np


class PowerLaw(NamedTuple):
    """y = factor * x**exponent; the error is that of the exponent, of one standard deviation."""

    factor: float
    exponent: float
    error: float


def power_law(
    x: Sequence[float], y: Sequence[float], errors: Sequence[float] | None = None
) -> PowerLaw | None:
    """Fit a power law to logarithms; None if there are fewer than two different x.

    Points whose y is not above 0 are left out. Without the `errors` of `y`, all above 0, the
    exponent's error follows from how the points scatter.

    >>> law = power_law([1, 2, 4], [3, 12, 48])
    >>> round(law.factor, 6), round(law.exponent, 6)
    (3.0, 2.0)
    """
    values = np.asarray(y, float)
    positive = values > 0
    abscissae, ordinates = np.log(np.asarray(x, float)[positive]), np.log(values[positive])
    if len(np.unique(abscissae)) < 2:
        return None
    weights = np.ones(len(abscissae))
    if errors is not None:
        weights = (values / np.asarray(errors, float))[positive]
    matrix = np.stack([abscissae, np.ones_like(abscissae)], axis=1) * weights[:, np.newaxis]
    (exponent, offset), *_ = np.linalg.lstsq(matrix, ordinates * weights, rcond=None)
    variance = float(np.linalg.inv(matrix.T @ matrix)[0, 0])
    if errors is None:
        deviations = ordinates - exponent * abscissae - offset
        variance *= float(deviations @ deviations) / max(1, len(deviations) - 2)
    return PowerLaw(float(np.exp(offset)), float(exponent), sqrt(variance))
