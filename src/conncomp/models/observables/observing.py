"""Updates that measure more than their kind does: fields of records behind those of the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from conncomp._arguments import as_sequence, check_choice, shown
from conncomp._arrays import on_host
from conncomp.models.observables.helicity import Helicity
from conncomp.models.observables.series import Observed
from conncomp.models.observables.structure import Structure
from conncomp.models.observables.vortices import Vortices
from conncomp.models.observables.wrapping import Wrapping
from conncomp.models.protocol import Integers, ModelUpdate

# By the name under which users ask for them. Made of a model, and whether clusters are measured,
# each has `reader`, as `Observed` has it, and ``measure(record, field)``, which adds what it
# measures in the state before an update to a record, (replicas, fields), from a field on.
OBSERVABLES = {"structure": Structure, "helicity_modulus": Helicity, "vortices": Vortices}
_ALL: dict[str, Callable[[Any, bool], Any]] = {**OBSERVABLES, "wrapping": Wrapping}


class Watched:
    """A kind of updates that measures observables, asked for by these names, too."""

    def __init__(
        self, model: Any, update: ModelUpdate[Any], names: list[str], observables: list[Any]
    ) -> None:
        self._model, self._update, self._observables = model, update, observables
        self.options: dict[str, Any] = dict(update.options)
        if names:
            self.options["observe"] = names
        self._length = model.new_records(0).shape[-1]
        first, observed = self._length, []
        for observable in observables:
            observed.append(Observed(observable.reader, first))
            first += observable.reader.length
        self._observed, self._all = tuple(observed), first

    def new_records(self, n: int) -> Any:
        """Return n records, all 0."""
        model = self._model
        return model._engine.xp.zeros((n, model.replicas, self._all), np.int64)

    def __call__(self, number: int, record: Any = None) -> None:
        """Make the update of this number, and measure into a record unless that is None."""
        if record is None:
            self._update(number, None)
        else:
            self._measure(record, lambda own: self._update(number, own))

    def read(self, records: Integers) -> Any:
        """Return what was measured, of records of shape (rows, replicas, fields)."""
        return self.watched(self._update.read(records))

    def present(self) -> Integers:
        """Return a record of the present state, of each replica if there are several."""
        record = self.new_records(1)[0]
        self._measure(record, self._model._measure)
        present: Integers = on_host(record)
        return present[0] if self._model._single else present

    def watched(self, series: Any) -> Any:
        """Return a series that knows of the observables."""
        return replace(series, observed=self._observed)

    def _measure(self, record: Any, measure: Callable[[Any], None]) -> None:
        """Measure the observables, then by `measure` what the model has a record of itself."""
        for observable, (_, first) in zip(self._observables, self._observed, strict=True):
            observable.measure(record, first)
        own = self._model.new_records(1)[0]
        measure(own)
        record[:, : self._length] += own


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
