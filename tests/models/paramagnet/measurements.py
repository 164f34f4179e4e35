"""What updates of a paramagnet measure."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp.models.results import Estimate

# The fields of a record.
UP, COMPONENTS, FIELDS = 0, 1, 2


class FieldSummary(NamedTuple):
    """The mean magnetisation of paramagnets in a field."""

    h: float
    magnetisation: Estimate


@dataclass(frozen=True)
class Magnetisations:
    """What was counted, of shape (..., fields), and the number of sites."""

    records: NDArray[np.int64]
    sites: int

    def observables(self) -> dict[str, NDArray[Any]]:
        """Return what was measured, by name."""
        return {"magnetisation": self.magnetisation, "components": self.components}

    @property
    def magnetisation(self) -> NDArray[np.float64]:
        """The mean of the spins, from -1 to 1."""
        return np.asarray(2 * self.records[..., UP] / self.sites - 1)

    @property
    def components(self) -> NDArray[np.int64]:
        """The number of components of the spins that are up."""
        return self.records[..., COMPONENTS]
