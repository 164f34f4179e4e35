"""The work on one block of a volume, in a thread or on a worker of a cluster.

A worker opens files itself, by names that each process must see alike: no values and no labels go
through the scheduler.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._core import native
from conncomp.chunked.layout import Index, items_at
from conncomp.chunked.selection import Selected
from conncomp.chunked.stages import Alone
from conncomp.chunked.tree import Entry, Function
from conncomp.chunked.volumes.kept import Reports, SetAside, Tally
from conncomp.chunked.volumes.sources import Source, opened_volume
from conncomp.chunked.volumes.targets import Target, target_of
from conncomp.chunked.volumes.volume import Place, Volume
from conncomp.files.access import blaming
from conncomp.files.thresholds import above


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
    # another one for each: files of one name may be others, and reports are in memory
    labelling: str


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
        raise ValueError(
            f"{volume.path}: a worker finds other files there than the process that asked it; it "
            "must see the same ones, by the same names"
        )
    target = target_of(Path(names.name), Path(path), volume, np.dtype(names.dtype))
    with blaming(target.path):
        target.open()
    return BlockFiles(volume, threshold, Reports(Path(folder)), target, names)
