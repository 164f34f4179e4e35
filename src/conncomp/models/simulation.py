"""Long runs: series in files, checkpoints to go on from, progress."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from importlib.metadata import version
from inspect import signature
from math import inf
from pathlib import Path
from time import perf_counter
from typing import Any, Generic, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import as_bool, as_number, check_range, shown
from conncomp._array_storage import on_host
from conncomp._optional import optional
from conncomp._terminal import counting
from conncomp.files.access import StrPath, as_path, atomic_path, naming
from conncomp.models._arguments import check_callable
from conncomp.models.checkpoint import DIGEST, Checkpoint, OtherSimulationError, write_checkpoint
from conncomp.models.protocol import (
    CONTRACT,
    MOST_UPDATES,
    Measured,
    Model,
    ModelState,
    ModelUpdate,
    SummarisedModel,
    make_updates,
)

# Updates between two looks at the clock take about so many seconds, and their records so many bytes
# at most.
PACE, RECORDS = 0.2, 1 << 26

Report = Callable[[int, int], None]  # gets how many updates are done, and how many there are


@dataclass(frozen=True)
class Simulation(Generic[Measured]):
    """A simulation, which `simulate` returns.

    Attributes
    ----------
    series : Measurements, or what another model measures
        Of shape (rows,) or (rows, replicas).
    updates : ndarray of int64, shape (rows,)
        How many updates the model had made before each measurement.
    arrays : dict of str to ndarray
        The model's parameters with a value per replica, such as "beta" of a `Potts`.
    parameters : dict
        All others, those of the simulation, and the version of conncomp.
    model : type
        The class of the model.
    """

    series: Measured
    updates: NDArray[np.int64]
    arrays: dict[str, NDArray[Any]]
    parameters: dict[str, Any]
    model: type[Model[Measured]]

    def summarise(self) -> list[Any]:
        """Return the means that follow from the series, with errors, a list.

        A model of spins has a `Summary` for each inverse temperature, as of
        `conncomp.models.summarise`, and a `Percolation` one `PercolationSummary`. A model that has
        none raises TypeError.
        """
        if not isinstance(self.model, SummarisedModel):
            raise TypeError(
                f"a {self.parameters['model']} has no summaries; series.observables() has what was "
                "measured, for autocorrelation_time and jackknife"
            )
        return self.model.summaries(self.series, self.parameters | self.arrays)

    def to_xarray(self) -> Any:
        """Return the series as an ``xarray.Dataset``: a variable for each observable.

        The first dimension is "update", whose coordinate is `updates`; the next one is "replica"
        where there are several, with `arrays`. Others are called by the observable and their
        number. Attributes are `parameters`.

        Examples
        --------
        >>> from conncomp.models import Potts, simulate
        >>> run = simulate(Potts((8, 8), beta=[0.4, 0.8], replicas=2, seed=1), 50)
        >>> run.to_xarray().energy.dims
        ('update', 'replica')
        """
        xarray = optional("xarray")
        replicas, records = self.parameters["replicas"], getattr(self.series, "records", None)
        beside = records is not None and records.ndim > 2

        def variable(name: str, values: NDArray[Any]) -> Any:
            known = ["update"] if values.shape[:1] == self.updates.shape else []
            if beside and known and values.shape[1:2] == (replicas,):
                known.append("replica")
            return [*known, *(f"{name}_{axis}" for axis in range(len(known), values.ndim))], values

        variables = {name: variable(name, each) for name, each in self.series.observables().items()}
        coordinates: dict[str, Any] = {"update": self.updates}
        for name, array in self.arrays.items():
            if beside and array.shape == (replicas,) and name not in variables:
                coordinates[name] = ["replica"], array
        return xarray.Dataset(variables, coordinates, self._facts())

    def write(self, path: StrPath, *, force: bool = False) -> None:
        """Write an HDF5 file: a dataset for each observable, the parameters as attributes.

        Datasets are what the series' ``observables()`` returns, such as ``energy``, `arrays`, such
        as ``beta``, and ``updates``. Equal simulations make equal files.

        Parameters
        ----------
        path : str or path-like
        force : bool, optional
            Whether to replace a file that is there; without it that is a FileExistsError.
        """
        h5py = optional("h5py")
        check_output(path, force)
        arrays = self.arrays | {"updates": self.updates} | self.series.observables()
        size = sum(np.asarray(array).nbytes for array in arrays.values())
        # A file object, as HDF5 itself loses the reason if a disk is full.
        with (
            atomic_path(path, size) as temporary,
            temporary.open("r+b") as file,
            h5py.File(file, "w") as archive,
        ):
            archive.attrs.update(self._facts())
            for name, array in arrays.items():
                archive[name] = array

    def _facts(self) -> dict[str, Any]:
        return {name: value for name, value in self.parameters.items() if value is not None}


class _Schedule(NamedTuple):
    """The updates that measure: the first after `thermalise`, and each `every`-th from there."""

    thermalise: int
    sweeps: int
    every: int

    @property
    def updates(self) -> int:
        return self.thermalise + self.sweeps

    def rows(self, updates: int) -> int:
        """Return how many of the first `updates` measure."""
        return max(0, -(-(updates - self.thermalise) // self.every))

    def before_next(self, updates: int) -> int:
        """Return how many more updates to make before the next that measures."""
        if updates < self.thermalise:
            return self.thermalise - updates
        return (self.thermalise - updates) % self.every


def simulate(
    model: Model[Measured],
    sweeps: int,
    *,
    thermalise: int = 0,
    measure_every: int = 1,
    output: StrPath | None = None,
    checkpoint: StrPath | None = None,
    checkpoint_every: float = 600.0,
    progress: bool = False,
    force: bool = False,
    watch: Callable[[Any], object] | None = None,
    **options: Any,
) -> Simulation[Measured]:
    """Update a model many times and measure, and return the `Simulation`.

    If there is a checkpoint already, the simulation goes on from there, and all that it returns and
    writes is what it would have been without the interruption, bit for bit. Make the model anew
    with the same parameters, and call with the same arguments; the device, the labelling and the
    number of sweeps may be others.

    Parameters
    ----------
    model : Potts, or another model of ``conncomp.models``
    sweeps : int
        How many updates to make after `thermalise` of them: sweeps, or clusters of "wolff".
    thermalise : int, optional
        How many updates to make first, without measuring.
    measure_every : int, optional
        The first of so many updates measures the state that it finds.
    output : str or path-like, optional
        Where to write the series in the end: `Simulation.write`.
    checkpoint : str or path-like, optional
        Where to keep the model and the series so far, also when all is done. The file is replaced
        as a whole.
    checkpoint_every : float, optional
        After how many seconds to write it again, besides first, last and at Ctrl-C.
    progress : bool, optional
        Whether to display on a terminal how much is done, and the time that is left.
    force : bool, optional
        Whether to replace an output that is there.
    watch : callable, optional
        Is called with the model in each state that is measured, to draw its labels, say. It must
        not change the model.
    **options
        Those of the model's ``updater``, such as ``update`` of `Potts.updater`.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of its range; or if the checkpoint is damaged,
        of another model, simulation or version, which says what differs.
    FileExistsError, OSError
        If there is an output already, or a file cannot be written. The checkpoint that was there
        before is untouched.
    ImportError
        If h5py is missing, for `output`, or rich, for `progress`.

    Examples
    --------
    >>> from conncomp.models import Potts, simulate
    >>> run = simulate(Potts((32, 32), seed=1), 500, thermalise=100)
    >>> run.series.energy.shape
    (500,)
    >>> [summary] = run.summarise()
    >>> abs(summary.energy.value + 1.72) < 0.05
    True
    """
    update, most = _checked_update(model, options), MOST_UPDATES - model.updates
    length = check_range("sweeps", sweeps, 1, most)
    before = check_range("thermalise", thermalise, 0, most - length)
    schedule = _Schedule(before, length, check_range("measure_every", measure_every, 1, most))
    wait = as_number("checkpoint_every", checkpoint_every)
    if not wait > 0:
        raise ValueError(f"checkpoint_every={shown(checkpoint_every)} must be above 0 seconds")
    if watch is not None:
        check_callable("watch", watch, "that takes the model")
    replaces = as_bool("force", force)
    if checkpoint is not None:
        as_path(checkpoint, "checkpoint")
    if output is not None:
        as_path(output, "output")
        optional("h5py")
        check_output(output, replaces)
        if checkpoint is not None and os.path.realpath(output) == os.path.realpath(checkpoint):
            raise ValueError(f"output and checkpoint are the same file, {os.fspath(output)}")
    described = model.parameters()
    arrays = {name: value for name, value in described.items() if isinstance(value, np.ndarray)}
    parameters: dict[str, Any] = {"version": version("conncomp"), "contract": CONTRACT}
    parameters |= {name: value for name, value in described.items() if name not in arrays}
    parameters |= update.options
    parameters |= {"thermalise": schedule.thermalise, "measure_every": schedule.every}
    run = _Run(model, schedule, update, watch)
    if checkpoint is not None:
        run.keep(checkpoint, wait, parameters, {name: _digest(a) for name, a in arrays.items()})
    with _display(parameters["model"], as_bool("progress", progress)) as report:
        run.finish(report)
    updates = run.begin + schedule.thermalise + schedule.every * np.arange(len(run.records))
    parameters["sweeps"] = schedule.sweeps
    simulation = Simulation(update.read(run.records), updates, arrays, parameters, type(model))
    if output is not None:
        simulation.write(output, force=force)
    return simulation


def _checked_update(model: Model[Measured], options: dict[str, Any]) -> ModelUpdate[Measured]:
    if not isinstance(model, Model):
        raise TypeError(f"model={shown(model)} must be a model, such as conncomp.models.Potts")
    known = list(signature(model.updater).parameters)
    for name in options:
        if name not in known:
            raise TypeError(
                f"simulate() got an unexpected argument {name!r}; updates of "
                f"{type(model).__name__} take {', '.join(known) or 'none of their own'}"
            )
    return model.updater(**options)


class _Run:
    """A running simulation: a model and records, of which `_filled` have measurements."""

    def __init__(
        self, model: Model[Any], schedule: _Schedule, update: ModelUpdate[Any], watch: Any
    ) -> None:
        self._model, self._schedule, self._update, self._watch = model, schedule, update, watch
        self._path: StrPath | None = None  # of the checkpoint
        self._wait, self._written = inf, 0.0
        self.begin, self._filled = model.updates, 0
        self._new_records = getattr(update, "new_records", model.new_records)
        kind = self._new_records(0)
        self.records = np.zeros((schedule.rows(schedule.updates), *kind.shape[1:]), kind.dtype)

    def keep(
        self, path: StrPath, wait: float, parameters: dict[str, Any], digests: dict[str, str]
    ) -> None:
        """Keep a checkpoint, and go on from the one that is there; digests are of arrays."""
        state = self._model.state()
        self._facts: dict[str, Any] = {**parameters, **digests, "start": _identity_of(state)}
        self._digests, self._path, self._wait = digests, path, wait
        if os.path.exists(path):
            self._resume(path, state)
        else:
            self._write()
        self._written = perf_counter()

    def _resume(self, path: StrPath, state: ModelState) -> None:
        with Checkpoint(path) as checkpoint:
            facts = dict(checkpoint.facts)
            updates, start = facts.pop("updates", None), facts.get("start")
            self._check_same(checkpoint, facts)
            begin: Any = start.get("updates") if isinstance(start, dict) else None
            if not all(type(n) is int and 0 <= n <= MOST_UPDATES for n in (begin, updates)):
                raise checkpoint.error("is damaged: it has no numbers of updates")
            done = updates - begin
            if not 0 <= done <= self._schedule.updates:
                raise checkpoint.error(
                    f"has made {done} updates already, of {self._schedule.updates} that are wanted"
                )
            rows = self._schedule.rows(done)
            held = ModelState(updates, tuple(np.empty_like(array) for array in state.arrays))
            checkpoint.read((*held.arrays, self.records[:rows]))
        if start != self._facts["start"] and _identity_of(state) != _identity_of(held):
            raise OtherSimulationError(
                checkpoint.path,
                "is of a simulation that began with another state",
                "make the model as it was then, or give another checkpoint",
            )
        with naming(path):
            self._model.restore(held)
        self.begin, self._filled, self._facts["start"] = begin, rows, start

    def _check_same(self, checkpoint: Checkpoint, facts: dict[str, Any]) -> None:
        for name in {**self._facts, **facts}:
            wanted, held = self._facts.get(name), facts.get(name)
            if name != "start" and held != wanted:
                what = "conncomp" if name in ("version", "contract") else "simulation"
                values = f"is {shown(held)}, not {shown(wanted)}"
                if name in self._digests and name in facts:
                    values = "has other values"
                reason = f"is of another {what}, whose {name} {values}"
                raise OtherSimulationError(checkpoint.path, reason)

    def finish(self, report: Report) -> None:
        count, total = 1, self._schedule.updates
        # Of as many updates at most the records fit their memory.
        most = self._schedule.every * max(1, RECORDS // max(1, self.records[:1].nbytes))
        try:
            while self._done < total:
                report(self._done, total)
                count = min(count, total - self._done, most)
                begin = perf_counter()
                self._make(count)
                now = perf_counter()
                # As many as take PACE seconds, but no more than twice those that were made.
                count = max(1, int(count * min(2.0, PACE / max(now - begin, 1e-9))))
                if now - self._written >= self._wait:
                    self._write()
            report(total, total)
        except KeyboardInterrupt:
            if self._filled == self._schedule.rows(self._done):
                self._write()
            raise
        self._write()

    def _make(self, count: int) -> None:
        schedule, first = self._schedule, self._done
        records = self._new_records(schedule.rows(first + count) - self._filled)
        before = min(count, schedule.before_next(first))
        try:
            self._repeat(before)
            every = schedule.every if self._watch is not None else max(1, count - before)
            for begin in range(0, count - before, every):
                if self._watch is not None:
                    self._watch(self._model)
                self._repeat(min(every, count - before - begin), records[begin // schedule.every :])
        finally:
            # An update that was ended is not done, and its record is dropped.
            rows = schedule.rows(self._done)
            self.records[self._filled : rows] = on_host(records[: rows - self._filled])
            self._filled = rows

    def _repeat(self, count: int, records: Any = None) -> None:
        """Make updates, of which the first measures if there are records."""
        first = self._model.updates + 1
        make_updates(self._update, range(first, first + count), records, self._schedule.every)

    def _write(self) -> None:
        if self._path is None:
            return
        state = self._model.state()
        facts = {**self._facts, "updates": state.updates}
        write_checkpoint(self._path, facts, (*state.arrays, self.records[: self._filled]))
        self._written = perf_counter()

    @property
    def _done(self) -> int:
        return self._model.updates - self.begin


def check_output(path: StrPath, force: bool) -> None:
    """Raise OSError unless a file can be written there; one that is there needs `force`."""
    target = Path(path)
    if os.path.lexists(target) and not force:
        reason = "is there already; force=True replaces it"
        raise FileExistsError(errno.EEXIST, reason, os.fspath(path))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    folder = Path(os.path.realpath(target)).parent
    if not folder.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(folder))
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))


def _display(name: str, shows: bool) -> AbstractContextManager[Report]:
    if not shows:
        return nullcontext(lambda done, total: None)
    optional("rich")
    return counting(name)


def _identity_of(state: ModelState) -> dict[str, Any]:
    """Return what identifies a state."""
    return {"updates": state.updates, "arrays": _digest(*state.arrays)}


def _digest(*arrays: NDArray[Any]) -> str:
    digest = DIGEST()
    for array in arrays:
        digest.update(array.data)
    return digest.hexdigest()
