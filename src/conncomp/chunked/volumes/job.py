"""What writes labels block by block, in threads: those of a volume, or labels that are in files.

`Job` is the engine of `label_file`, which reads, labels and writes blocks in threads, and does
other things at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Lock
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from conncomp.chunked import stages
from conncomp.chunked.layout import Index, Layout
from conncomp.chunked.measures.size_summary import from_numbers, merged_summaries
from conncomp.chunked.rules import Rules
from conncomp.chunked.selection import Selected, Selection
from conncomp.chunked.volumes.kept import Kept, SetAside, Tally
from conncomp.chunked.volumes.targets import Target
from conncomp.chunked.volumes.volume import Volume, place_of
from conncomp.files.access import blaming
from conncomp.files.thresholds import above

Progress = Callable[[int, int], object]


@dataclass(frozen=True)
class Work:
    """What is to be done.

    Attributes
    ----------
    volume : Volume
    layout : Layout
        Of the blocks.
    rules : Rules
    numbering : {"consecutive", "roots"}
    dtype : dtype
        Of the labels.
    threshold : float or None
        What foreground lies above.
    selection : Selection or None
        What is kept.
    workers : int
        How many blocks are worked on at once.
    progress : callable or None
    """

    volume: Volume
    layout: Layout
    rules: Rules
    numbering: Literal["consecutive", "roots"]
    dtype: np.dtype[Any]
    threshold: float | None
    selection: Selection | None
    workers: int
    progress: Progress | None

    def values(self, index: Index) -> NDArray[Any]:
        """Read the values of a block."""
        values = self.volume.read(place_of(self.layout, index))
        return values if self.threshold is None else above(values, self.threshold)


@dataclass(frozen=True)
class Values:
    """Stands for the values of a block."""

    index: Index


@dataclass(frozen=True)
class Reported:
    """Stands for the report of a block, which is in a file."""

    index: Index


@dataclass(frozen=True)
class Later:
    """Stands for what a function will return, when it is asked for."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]


class Blocks:
    """What threads do with blocks, and then with coarser labels.

    Parameters
    ----------
    layout : Layout
        Of the blocks.
    kept : Kept
        What is done already, and is kept.
    target : Target
        That is open.
    steps : int
        How many there are, beside those of coarser labels.
    progress : callable or None
    """

    _pool: ThreadPoolExecutor

    def __init__(
        self, layout: Layout, kept: Kept, target: Target, steps: int, progress: Progress | None
    ) -> None:
        self._layout, self._kept, self._target = layout, kept, target
        self._done, self._lock, self._progress = 0, Lock(), progress
        self._tasks: list[Future[None]] = []
        self._coarser = list(target.levels())
        self._steps = steps + len(self._coarser)

    def _run(self, workers: int, begin: Callable[[], Any]) -> Any:
        """Call what begins tasks, and see them through; return what it returned."""
        with ThreadPoolExecutor(workers) as self._pool:
            try:
                result = begin()
                self._wait()
                self._write_coarser()
            finally:
                self._pool.shutdown(wait=True, cancel_futures=True)
        return result

    def _start(self, task: Callable[..., None], *arguments: Any) -> None:
        self._tasks.append(self._pool.submit(task, *arguments))

    def _wait(self) -> None:
        """Wait for what threads do; raise what went wrong."""
        tasks, self._tasks = self._tasks, []
        done, others = wait(tasks, return_when=FIRST_EXCEPTION)
        for task in others:
            task.cancel()
        for task in done:
            task.result()

    def _write(self, index: Index, labels: NDArray[Any], tally: Tally) -> None:
        """Write the labels of a block."""
        with blaming(self._target.path):
            self._target.write(place_of(self._layout, index), labels)
        self._kept.finish(index, tally)

    def _write_coarser(self) -> None:
        """Write coarser labels, one resolution after the other."""
        before = 1
        for level, place in self._coarser:
            if level > before:
                self._wait()
                before = level
            self._start(self._reduce, level, place)
        self._wait()

    def _reduce(self, level: int, place: tuple[slice, ...]) -> None:
        # Other numbers of them than a block has.
        index = (level, -1, *(part.start for part in place))
        if index not in self._kept.done:
            with blaming(self._target.path):
                self._target.reduce(level, place)
            self._kept.finish(index, Tally())
        self._step()

    def _step(self) -> None:
        with self._lock:
            self._done += 1
            if self._progress is not None:
                self._progress(self._done, self._steps)


class Copies(Blocks):
    """Labels in files, which are written to other files; parameters are those of `Blocks`."""

    def run(self, volume: Volume, workers: int) -> None:
        """Write all blocks of a volume."""

        def begin() -> None:
            for index in self._layout.indices():
                self._start(self._copy, volume, index)

        self._run(workers, begin)

    def _copy(self, volume: Volume, index: Index) -> None:
        if index not in self._kept.done:
            self._write(index, volume.read(place_of(self._layout, index)), Tally())
        self._step()


class Job(Blocks):
    """What calls the functions of the stages, as ``engine.py`` says.

    Parameters
    ----------
    work : Work
    kept, target
        As of `Blocks`.
    """

    def __init__(self, work: Work, kept: Kept, target: Target) -> None:
        stages_of_block = 2 if work.layout.crossed else 1
        steps = stages_of_block * work.layout.chunks
        super().__init__(work.layout, kept, target, steps, work.progress)
        self._work = work

    def run(self) -> list[int]:
        """Label all blocks.

        Returns
        -------
        list of int
            How many components there are, how many are kept, how many elements these have, 0 if
            all are kept, and the numbers of the summary of all, if that is wanted.
        """
        work = self._work
        values = {index: Values(index) for index in work.layout.indices()}
        wanted = stages.Wanted(work.numbering, work.dtype, work.selection)
        given = (self, work.layout, work.rules, values, wanted, values)
        result = self._run(work.workers, lambda: stages.label_wanted(*given))
        tallies = [self._kept.done[index] for index in values]
        components = sum(tally.components for tally in tallies)
        if work.layout.crossed:
            components = sum(int(np.sum(counts)) for counts in result.counts.values())
        kept = sum(tally.kept for tally in tallies)
        elements = sum(tally.elements for tally in tallies)
        if work.selection is None:
            return [components, components, elements]
        summary: tuple[int, ...] = ()
        if work.selection.listed:
            of_blocks = [from_numbers(tally.summary) for tally in tallies]
            summary = merged_summaries(of_blocks, work.selection.listed).numbers()
        return [components, kept, elements, *summary]

    def __call__(
        self, name: str, index: Index, function: Callable[..., Any], *arguments: Any
    ) -> Any:
        """Call a function, as ``engine.py`` says."""
        if name == "label":
            self._start(self._report, index, function, arguments)
            return Reported(index)
        if name == "again":
            return Later(function, arguments)
        if name in ("roots", "numbers", "alone"):
            self._start(self._label, index, function, arguments)
            return None
        if name in ("labels", "counts"):  # of what is alone, both of which are written
            return None
        self._wait()
        result = function(*map(self._resolved, arguments))
        if name == "count" or name.startswith("first-"):
            # A number for each row of chunks, of all chunks: these go to the disk, too.
            return self._kept.set_aside(f"{name}-{'-'.join(map(str, index))}", result)
        return result

    def _resolved(self, argument: Any) -> Any:
        if isinstance(argument, Values):
            return self._work.values(argument.index)
        if isinstance(argument, Reported):
            return self._kept.report(argument.index)
        if isinstance(argument, SetAside):
            return argument.arrays()
        if isinstance(argument, Later):
            return argument.function(*map(self._resolved, argument.arguments))
        return argument

    def _report(self, index: Index, function: Callable[..., Any], arguments: Any) -> None:
        if not self._kept.has_report(index):
            self._kept.keep_report(index, function(*map(self._resolved, arguments)))
        self._step()

    def _label(self, index: Index, function: Callable[..., Any], arguments: Any) -> None:
        if index not in self._kept.done:
            result = function(*map(self._resolved, arguments))
            components = 0
            if isinstance(result, stages.Alone):
                components = int(result.counts.sum())
                result = result.labels if result.selected is None else result.selected
            tally = Tally(components=components)
            if isinstance(result, Selected):
                summary = self._summary(index, result)
                tally = Tally(result.components, result.elements, components, summary)
                result = result.labels
            self._write(index, result, tally)
        self._step()

    def _summary(self, index: Index, result: Selected) -> tuple[int, ...]:
        """Return the numbers of the summary of a block, whose items have their own numbers."""
        if result.summary is None:
            return ()
        layout, batch = self._layout, self._layout.batch_axes
        if not layout.crossed:
            whole = np.arange(math.prod(layout.shape[:batch])).reshape(layout.shape[:batch])
            items = whole[place_of(layout, index)[:batch]].reshape(-1)
            result.summary.largest[:, 1] = items[result.summary.largest[:, 1]]
        return result.summary.numbers()
