"""Updates that measure more than their kind does: fields of records behind those of the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from conncomp._arguments import as_sequence, check_choice, shown
from conncomp.models.base import Update
from conncomp.models.observables.helicity import Helicity
from conncomp.models.observables.series import Observed
from conncomp.models.observables.structure import Structure
from conncomp.models.observables.vortices import Vortices
from conncomp.models.observables.wrapping import Wrapping
from conncomp.models.protocol import Integers

# By the name under which users ask for them. Made of a model, and whether clusters are measured,
# each has `reader`, as `Observed` has it, and ``measure(record, field)``, which adds what it
# measures in the state before an update to a record, (replicas, fields), from a field on.
OBSERVABLES = {"structure": Structure, "helicity_modulus": Helicity, "vortices": Vortices}
_ALL: dict[str, Callable[[Any, bool], Any]] = {**OBSERVABLES, "wrapping": Wrapping}


class Watched(Update):
    """A kind of updates that measures observables, asked for by these names, too."""

    def __init__(
        self, model: Any, update: Update, names: list[str], observables: list[Any]
    ) -> None:
        super().__init__(model, dict(update.options))
        self._update, self._observables = update, observables
        if names:
            self.options["observe"] = names
        first, observed = model._record_length, []
        for observable in observables:
            observed.append(Observed(observable.reader, first))
            first += observable.reader.length
        self._observed, self.fields = tuple(observed), first

    def __call__(self, number: int, record: Any = None) -> None:
        """Make the update of this number, and measure into a record unless that is None."""
        if record is None:
            self._update(number, None)
        else:
            self.measure(record, lambda own: self._update(number, own))

    def read(self, records: Integers) -> Any:
        """Return what was measured, of records of shape (rows, replicas, fields)."""
        return replace(self._update.read(records), observed=self._observed)

    def of_ladders(self, records: Integers, ladders: Integers) -> Any:
        """Return what records of `present` say, whose replicas are in the order of ladders."""
        return replace(super().of_ladders(records, ladders), observed=self._observed)

    def measure(self, record: Any, measure: Callable[[Any], None] | None = None) -> None:
        """Measure the observables, then by `measure` what the model has a record of itself."""
        for observable, (_, first) in zip(self._observables, self._observed, strict=True):
            observable.measure(record, first)
        own = self._update.new_records(1)[0]
        (measure or super().measure)(own)
        record[:, : own.shape[-1]] += own


def observing(
    model: Any, update: Any, observe: Any, *, clusters: bool = False, wrapping: bool = False
) -> Any:
    """Return an update that measures observables, and wrapping where it does not do so itself."""
    given = (observe,) if isinstance(observe, str) else as_sequence("observe", observe)
    names = []
    for name in given:
        check_choice("observe", name, tuple(OBSERVABLES))
        if name in names:
            raise ValueError(f"observe={shown(observe)} has {name!r} twice")
        names.append(str(name))
    measured = model.measure().observables() if names else {}
    extra = [_made(model, name, clusters) for name in names if name not in measured]
    if wrapping:
        extra.append(_made(model, "wrapping", clusters))
    if not (extra or names):
        return update
    watched = Watched(model, update, names, extra)
    if wrapping:
        watched.options["wrapping"] = True
    return watched


def _made(model: Any, name: str, clusters: bool) -> Any:
    """Return an observable, which is made once of each model."""
    kept: dict[Any, Any] = model._observables
    if (name, clusters) not in kept:
        kept[name, clusters] = _ALL[name](model, clusters)
    return kept[name, clusters]
