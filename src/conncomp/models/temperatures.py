"""Models whose replicas have inverse temperatures: `beta`, `temperature`, their checks."""

from __future__ import annotations

from math import inf
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import check_choice, shown
from conncomp.models._arguments import one_each
from conncomp.models.base import Simulated
from conncomp.models.protocol import Measured


class Thermal(Simulated[Measured]):
    """A model that holds `_betas`, an inverse temperature for each replica.

    It says `_critical_beta`, and what beta times `_strength` has to stay below, `_most`.
    """

    _most: ClassVar[float] = inf

    _betas: NDArray[np.float64]
    _given_betas: NDArray[np.float64]  # the first ones: exchanges change the others

    @property
    def beta(self) -> float | NDArray[np.float64]:
        """The inverse temperature, of each replica if there are several."""
        return float(self._betas[0]) if self._single else self._betas.copy()

    @property
    def temperature(self) -> float | NDArray[np.float64]:
        """The temperature, of each replica if there are several; infinite where beta is 0."""
        with np.errstate(divide="ignore"):
            temperatures = 1 / self._betas
        return float(temperatures[0]) if self._single else temperatures

    def parameters(self) -> dict[str, Any]:
        """Return which model it is: values that JSON has, and `beta` as an array."""
        return {**super().parameters(), "beta": np.asarray(self.beta)}

    # ---------------------------------------------------------------------- what a model says of it

    def _critical_beta(self) -> float:
        raise NotImplementedError

    @property
    def _strength(self) -> float:
        return 1.0

    def _ladders(self) -> NDArray[np.int64]:
        """Return which replicas exchange temperatures with each other, rows of ascending beta."""
        return np.argsort(self._betas, kind="stable")[None, :]

    def _energy_unit(self) -> Any:
        """Return by what `LEVEL` of a record is multiplied in the energy, of all or of each."""
        raise NotImplementedError

    def _read_in_order(self, records: NDArray[np.int64], ladders: NDArray[np.int64]) -> Measured:
        """Return what was measured, of records of replicas in the order of ladders."""
        return self._read(records)

    # -------------------------------------------------------------------------------------- helpers

    def _betas_of(self, temperature: Any, beta: Any) -> NDArray[np.float64]:
        """Return an inverse temperature for each replica: one of both is given, or neither."""
        if temperature is not None and beta is not None:
            raise ValueError("temperature and beta exclude each other; give one of them")
        if beta is not None:
            return self._check_betas("beta", beta)
        if temperature is None or isinstance(temperature, str):
            given = "critical" if temperature is None else temperature
            check_choice("temperature", given, ("critical",))
            return self._check_betas("beta", "critical")
        temperatures = one_each("temperature", temperature, self.replicas)
        with np.errstate(divide="ignore", over="ignore"):
            betas = 1 / temperatures
        if not ((temperatures > 0) & np.isfinite(temperatures) & np.isfinite(betas)).all():
            raise ValueError(f"temperature={shown(temperature)} must be above 0, and finite")
        return self._check_betas("the inverse of temperature", betas)

    def _check_betas(self, name: str, beta: Any) -> NDArray[np.float64]:
        if isinstance(beta, str):
            check_choice(name, beta, ("critical",))
            beta = self._critical_beta()
        betas = one_each(name, beta, self.replicas)
        with np.errstate(over="ignore"):
            allowed = (betas >= 0) & (betas < inf) & (betas * self._strength < self._most)
        if not allowed.all():
            wanted = "be finite, and not negative"
            if self._most < inf:
                wanted = f"not be negative and, times the coupling, below {self._most:g}"
            given = beta.tolist() if isinstance(beta, np.ndarray) else beta
            raise ValueError(f"{name}={shown(given)} must {wanted}")
        return betas
