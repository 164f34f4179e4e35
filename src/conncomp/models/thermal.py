"""Models whose replicas have temperatures, and exchanges of these between replicas."""

from __future__ import annotations

from math import inf
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import check_choice, shown
from conncomp.generate.random import MASK, philox
from conncomp.models._arguments import one_each
from conncomp.models._probabilities import CERTAIN
from conncomp.models.base import Simulated
from conncomp.models.protocol import Floats, Integers, Measured

EXCHANGE, REPLICA_SHIFT = 6, 40  # of ``kernels/core/spins.h``
LEVEL = 0  # the field of a record that the energy is proportional to, but for a constant


def temperature_or_beta(temperature: Any, beta: Any) -> tuple[str, Any]:
    """Return the name and value of the argument given; "critical" if neither is."""
    if temperature is not None and beta is not None:
        raise ValueError("temperature and beta exclude each other; give one of them")
    name, given = ("temperature", temperature) if beta is None else ("beta", beta)
    given = "critical" if given is None else given
    if isinstance(given, str):
        check_choice(name, given, ("critical",))
    return name, given


def inverses_of(name: str, value: Any, replicas: int) -> tuple[Floats, Floats]:
    """Return a finite number above 0 for each replica, and its inverse."""
    numbers = one_each(name, value, replicas)
    with np.errstate(divide="ignore", over="ignore"):
        inverses = 1 / numbers
    if not ((numbers > 0) & (numbers < inf) & (inverses < inf)).all():
        raise ValueError(f"{name}={shown(value)} must be above 0, and finite")
    return numbers, inverses


class Thermal(Simulated[Measured]):
    """A model whose replicas have `betas`; the strongest coupling times these is below `_most`."""

    _most: ClassVar[float] = inf
    _strongest = 1.0

    _given_betas: Floats  # the first ones: exchanges change those of the state

    @property
    def beta(self) -> float | Floats:
        """The inverse temperature, of each replica if there are several."""
        return float(self._state.betas[0]) if self._single else self._state.betas.copy()

    @property
    def temperature(self) -> float | Floats:
        """The temperature, of each replica if there are several; infinite where beta is 0."""
        with np.errstate(divide="ignore"):
            temperatures = 1 / self._state.betas
        return float(temperatures[0]) if self._single else temperatures

    def energy(self) -> Any:
        """Return the energy of the whole lattice, for each replica."""
        measured: Any = self.measure()
        return measured.energy[()]

    def magnetisation(self) -> Any:
        """Return the magnetisation a site or, of vectors, the mean spin, for each replica."""
        measured: Any = self.measure()
        return measured.magnetisation[()]

    def parameters(self) -> dict[str, Any]:
        """Return which model it is: values that JSON has, and `beta` as an array."""
        return {**super().parameters(), "beta": np.asarray(self.beta)}

    def _ladders(self) -> Integers:
        """Return which replicas exchange temperatures with each other, rows of ascending beta."""
        return np.argsort(self._state.betas, kind="stable")[None, :]

    def _energy_unit(self) -> Any:
        """Return the energy of 1 in `LEVEL`, of all replicas or of each.

        It is below 0 where `LEVEL` counts satisfied bonds.
        """
        raise NotImplementedError

    def _check_betas(self, name: str, beta: Any) -> Floats:
        betas = one_each(name, beta, self.replicas)
        with np.errstate(over="ignore"):
            weak = betas * abs(self._strongest) < self._most if self._most < inf else True
            allowed = (betas >= 0) & (betas < inf) & weak
        if not allowed.all():
            wanted = "be finite, and not negative"
            if self._most < inf:
                wanted = f"not be negative and, times the coupling, below {self._most:g}"
            given = beta.tolist() if isinstance(beta, np.ndarray) else beta
            raise ValueError(f"{name}={shown(given)} must {wanted}")
        return betas


def places_as_given(model: Thermal[Any]) -> Integers:
    """Return the place in a ladder of each temperature, in the order that the model was given."""
    return np.argsort(np.argsort(model._given_betas[np.sort(model._ladders()[0])], kind="stable"))


def exchange(
    model: Thermal[Any], ladders: Integers, levels: Integers, between: int
) -> tuple[Integers, NDArray[np.bool_]]:
    """Let replicas of neighbouring temperatures exchange these, of every second pair.

    `ladders` and `levels` are of the present state, `between` updates after the last exchange.
    Return the colder neighbours that were tried, and which of each ladder exchanged.
    """
    pairs = np.arange((model.updates // between + 1) % 2, ladders.shape[1] - 1, 2)
    warmer, colder, before = ladders[:, pairs], ladders[:, pairs + 1], model._state.betas
    unit = np.asarray(model._energy_unit())
    if unit.ndim > 0:
        unit = unit[ladders[:, :1]]  # one of a ladder
    lost = (before[warmer] - before[colder]) * (levels[colder] - levels[warmer]) * unit
    numbers = (model.first_replica + ladders.min(axis=1)).astype(np.uint64)
    index = (pairs + 1).astype(np.uint64) | numbers[:, None] << np.uint64(REPLICA_SHIFT)
    low, high, _, _ = philox(model.seed, (index & MASK, index >> 32, model.updates, EXCHANGE))
    probability = np.ldexp(np.exp(-np.maximum(lost, 0)), 64)
    certain = probability >= CERTAIN
    uncertain = np.where(certain, 0, probability).astype(np.uint64)
    exchanged: NDArray[np.bool_] = certain | ((low | high << 32) < uncertain)
    betas = before.copy()
    betas[warmer[exchanged]] = before[colder[exchanged]]
    betas[colder[exchanged]] = before[warmer[exchanged]]
    model._state.betas = betas
    return pairs, exchanged
