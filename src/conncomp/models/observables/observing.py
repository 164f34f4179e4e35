"""Updates that measure observables in further fields of a record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from conncomp._arguments import as_sequence, check_choice, shown
from conncomp.models.base import Update
from conncomp.models.observables.helicity import Helicity
from conncomp.models.observables.series import Observed, Reader
from conncomp.models.observables.structure import Structure
from conncomp.models.observables.vortices import Vortices
from conncomp.models.observables.wrapping import Wrapping
from conncomp.models.protocol import Integers
from conncomp.models.spins.state import SpinState
from conncomp.models.spins.updates import SpinUpdate


class Observable(Protocol):
    """Measures an observable of the spins that an update finds."""

    @property
    def reader(self) -> Reader:
        """The reader of the fields that it fills."""

    def measure(self, record: Any, field: int) -> None:
        """Add the observable to a record, (replicas, fields), from a field on."""


# What makes them, by the name that users give, from the spins and whether to measure clusters.
OBSERVABLES: dict[str, Callable[[SpinState, bool], Observable]] = {
    "structure": Structure,
    "helicity_modulus": Helicity,
    "vortices": Vortices,
}


class ObservingUpdate(Update):
    """An update that measures observables, too, in fields behind those of the model."""

    def __init__(self, update: SpinUpdate, observables: list[Observable]) -> None:
        super().__init__(update.model, dict(update.options))
        self._update, self._observables = update, observables
        first, observed = update.new_records(0).shape[-1], []
        for observable in observables:
            observed.append(Observed(observable.reader, first))
            first += observable.reader.length
        self._observed, self.fields = tuple(observed), first

    def __call__(self, number: int, record: Any = None) -> None:
        """Make an update, and measure into a record unless that is None."""
        if record is None:
            self._update(number, None)
        else:
            self.measure(record, lambda own: self._update(number, own))

    def read(self, records: Integers) -> Any:
        """Return the measurements in records, (rows, replicas, fields)."""
        return replace(self._update.read(records), observed=self._observed)

    def of_ladders(self, records: Integers, ladders: Integers) -> Any:
        """Read records of `present`, whose replicas are in the order of ladders."""
        return replace(super().of_ladders(records, ladders), observed=self._observed)

    def measure(self, record: Any, measure: Callable[[Any], None] | None = None) -> None:
        """Measure the observables, then by `measure` what the model has a record of itself."""
        for observable, (_, first) in zip(self._observables, self._observed, strict=True):
            observable.measure(record, first)
        own = self._update.new_records(1)[0]
        (measure or super().measure)(own)
        record[:, : own.shape[-1]] += own


def observing(
    update: SpinUpdate, observe: str | Sequence[str], *, clusters: bool, wrapping: bool
) -> Update:
    """Return an update that measures observables, and wrapping where it does not do so itself."""
    given = (observe,) if isinstance(observe, str) else as_sequence("observe", observe)
    names = []
    for name in given:
        check_choice("observe", name, tuple(OBSERVABLES))
        if name in names:
            raise ValueError(f"observe={shown(observe)} has {name!r} twice")
        names.append(str(name))
    if not (names or wrapping):
        return update
    measured = update.model.measure().observables() if names else {}
    extra = [name for name in names if name not in measured] + ["wrapping"] * wrapping
    kept = update.state.observables
    for name in extra:
        if (name, clusters) not in kept:
            make = Wrapping if name == "wrapping" else OBSERVABLES[name]
            kept[name, clusters] = make(update.state, clusters)
    observed = ObservingUpdate(update, [kept[name, clusters] for name in extra])
    if names:
        observed.options["observe"] = names
    if wrapping:
        observed.options["wrapping"] = True
    return observed
