"""Spins in a field that do not see each other: each is up with probability 1/(1 + exp(-2 h))."""

from collections.abc import Mapping, Sequence
from math import exp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp import label
from conncomp.models import jackknife
from conncomp.models._arguments import check_finite, check_shape
from conncomp.models.base import Simulated
from models.paramagnet.cpu import ParamagnetEngine
from models.paramagnet.measurements import FIELDS, FieldSummary, Magnetisations


class Paramagnet(Simulated[Magnetisations]):
    """Independent spins in a field h, in units of kT; an update draws all of them anew."""

    _name = "Paramagnet"
    _changing = ("now",)

    def __init__(
        self,
        shape: int | Sequence[int],
        h: float,
        *,
        replicas: int | None = None,
        first_replica: int = 0,
        seed: int = 0,
    ) -> None:
        self._shape, self.h = check_shape(shape), check_finite("h", h)
        super().__init__(replicas, first_replica, seed, "cpu")
        self._prepare()
        self._state.now = np.zeros((self.replicas, *self._shape), np.uint8)

    def labels(self, *, numbering: str = "consecutive", return_num: bool = False) -> Any:
        """Label the components of the spins that are up."""
        options: dict[str, Any] = {"numbering": numbering, "return_num": return_num}
        spins = self._of_replicas(self._state.now)
        return label(spins, connectivity=1, batch_axes=self._batch_axes, **options)

    @staticmethod
    def summaries(series: Magnetisations, parameters: Mapping[str, Any]) -> list[FieldSummary]:
        """Return the mean magnetisation of independent updates, and its error."""
        mean = jackknife(lambda mean: mean, series.magnetisation, bin_length=1)
        return [FieldSummary(parameters["h"], mean)]

    def _described(self) -> dict[str, Any]:
        return {"shape": list(self._shape), "h": self.h}

    def _prepare(self) -> None:
        self._state._engine = self._state.new_engine(ParamagnetEngine, 1 / (1 + exp(-2 * self.h)))

    def _checked(self, arrays: tuple[NDArray[Any], ...]) -> tuple[Any, ...]:
        (spins,) = arrays
        wanted = (self.replicas, *self._shape)
        if spins.shape != wanted or spins.dtype != np.uint8 or (spins > 1).any():
            raise ValueError(f"the state's spins must be 0 or 1, uint8 of shape {wanted}")
        return (spins.copy(),)

    def _advance(self, number: int) -> None:
        drawn = np.empty_like(self._state.now)
        self._engine.draw(number, drawn)
        self._state.now, self._state.number = drawn, number

    @property
    def _record_length(self) -> int:
        return FIELDS

    def _measure(self, record: Any) -> None:
        self._engine.count(self._state.now, record)

    def _read(self, records: NDArray[np.int64]) -> Magnetisations:
        return Magnetisations(records, int(np.prod(self._shape)))
