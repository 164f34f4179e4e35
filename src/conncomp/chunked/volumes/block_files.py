"""The work on one block of a volume, in a thread or on a worker of a running cluster of Dask.

A worker opens files itself, by names that each process must see alike: no array goes through the
scheduler.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from pathlib import Path
from time import sleep
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import shown
from conncomp._core import native
from conncomp._optional import optional
from conncomp.chunked.layout import Index, items_at
from conncomp.chunked.selection import Selected
from conncomp.chunked.stages import Alone
from conncomp.chunked.tree import Entry, Function
from conncomp.chunked.volumes.formats import Source, opened_volume
from conncomp.chunked.volumes.kept import Reports, SetAside, Tally
from conncomp.chunked.volumes.targets import Target, target_of
from conncomp.chunked.volumes.volume import Place, Volume
from conncomp.files.access import blaming
from conncomp.files.thresholds import above

OVER = ("memory", "error", "released", "forgotten")  # states of what a worker does no more
POLL = 0.05  # seconds between questions to workers
PATIENCE = 10  # seconds until a scheduler has answered, and until it has a worker


@dataclass(frozen=True)
class Values:
    """Stands for the values of a block."""

    place: Place


@dataclass(frozen=True)
class Reported:
    """Stands for the report of a block, which is in a file."""

    index: Index


class Names(NamedTuple):
    """The names by which a worker opens the files that it reads and writes."""

    source: Source
    identity: str  # of the volume
    name: str  # of the labels at the end
    dtype: str  # of the labels
    labelling: str  # another one for each: files may change, and reports are in memory


@dataclass(frozen=True)
class BlockFiles:
    """The files of blocks: a volume, its labels, and reports that are kept meanwhile."""

    volume: Volume
    threshold: float | None  # what foreground lies above
    reports: Reports
    target: Target  # open
    names: Names | None = None  # for other processes, if there are such

    def __reduce__(self) -> Any:
        folder, path = map(os.path.abspath, (self.reports.folder, self.target.path))
        return (opened_again, (self.names, self.threshold, folder, path))

    def resolved(self, argument: Any) -> Any:
        """Return what an argument stands for."""
        native.look_up()
        if isinstance(argument, Values):
            values = self.volume.read(argument.place)
            return values if self.threshold is None else above(values, self.threshold)
        if isinstance(argument, Reported):
            return self.reports.read(argument.index)
        if isinstance(argument, SetAside):
            return argument.arrays()
        if isinstance(argument, Entry):
            return self.resolved(argument.of_all)[argument.place]
        return argument

    def report(self, index: Index, function: Function, arguments: tuple[Any, ...]) -> None:
        """Keep the report of a block, unless it is kept."""
        if not self.reports.has(index):
            self.reports.keep(index, function(*map(self.resolved, arguments)))

    def label(self, place: Place, batch_axes: int, function: Function, arguments: Any) -> Tally:
        """Write the labels of a block of a volume, whose first axes are of separate images."""
        result = function(*map(self.resolved, arguments))
        components, items = 0, None
        if isinstance(result, Alone):
            components = int(result.counts.sum())
            items = items_at(place, self.volume.shape[:batch_axes])
            result = result.labels
        tally = Tally(components=components)
        if isinstance(result, Selected):
            numbers = () if result.summary is None else result.summary.numbers(items)
            tally = Tally(result.components, result.elements, components, numbers)
            result = result.labels
        self._write(place, result)
        return tally

    def copy(self, place: Place) -> Tally:
        """Write the values of a block, which are labels."""
        self._write(place, self.volume.read(place))
        return Tally()

    def _write(self, place: Place, labels: NDArray[Any]) -> None:
        native.look_up()
        with blaming(self.target.path):
            self.target.write(place, labels)

    def reduce(self, level: int, place: Place) -> Tally:
        """Write a part of coarser labels."""
        with blaming(self.target.path):
            self.target.reduce(level, place)
        return Tally()


@lru_cache(1)
def opened_again(names: Names, threshold: float | None, folder: str, path: str) -> BlockFiles:
    """Open what a worker reads and writes, which stays open until the next call."""
    volume = opened_volume(*names.source).__enter__()
    if volume.identity() != names.identity:
        told = f"{volume.path}: a worker finds other files there than the process that asked it"
        raise ValueError(f"{told}; it must see the same ones, by the same names")
    target = target_of(Path(names.name), Path(path), volume, np.dtype(names.dtype))
    with blaming(target.path):
        target.open()
    return BlockFiles(volume, threshold, Reports(Path(folder)), target, names)


@contextmanager
def workers_of_cluster(address: str) -> Iterator[Any]:
    """Yield an executor whose tasks run on the workers of a cluster, by its scheduler's address."""
    if not isinstance(address, str):
        raise TypeError(f"scheduler={shown(address)} must be text, such as 'tcp://10.0.0.1:8786'")
    distributed = optional("distributed")
    try:
        client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        told = f"scheduler={shown(address)}: no scheduler of Dask answers there ({error})"
        remedy = "give the address that 'dask scheduler' prints, such as 'tcp://10.0.0.1:8786'"
        raise ConnectionError(f"{told}; {remedy}") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError as error:
            told = f"scheduler={shown(address)} has no workers"
            raise ConnectionError(f"{told}; start some with 'dask worker {address}'") from error
        with client.get_executor() as executor:
            tasks = NamedTasks(executor)
            try:
                yield tasks
            except BaseException:
                _wait_for_workers(client, tasks.name)
                raise


class NamedTasks(Executor):
    """An executor of Dask whose tasks have keys that begin with a name of its own."""

    def __init__(self, executor: Any) -> None:
        self._executor, self._count = executor, count()
        self.name = f"conncomp-{uuid4().hex}"

    def submit(self, task: Callable[..., Any], /, *arguments: Any) -> Any:  # type: ignore[override]
        """Let a worker call a function."""
        return self._executor.submit(task, *arguments, key=f"{self.name}-{next(self._count)}")


def _wait_for_workers(client: Any, name: str) -> None:
    """Wait until workers have ended, and write nothing: a thread cannot be stopped."""
    idle = 0
    while idle < 2:  # as a worker may be asked between two tasks, before it is told
        try:
            busy = any(client.run(has_tasks, name, on_error="ignore").values())
        except (OSError, RuntimeError):  # no cluster is left
            return
        idle = 0 if busy else idle + 1
        sleep(POLL)


def has_tasks(name: str, dask_worker: Any) -> bool:
    """Return whether a worker is at tasks whose keys begin with a name, or will be."""
    tasks = list(dask_worker.state.tasks.items())
    return any(str(key).startswith(name) and task.state not in OVER for key, task in tasks)
