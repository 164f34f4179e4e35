"""The engine of `label_file`: blocks are worked on by threads or workers, other things at once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future, as_completed, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from conncomp.chunked import stages
from conncomp.chunked.layout import Index, Layout
from conncomp.chunked.rules import Rules
from conncomp.chunked.selection import Selection
from conncomp.chunked.volumes.blocks import Blocks, Later, Reported, Values
from conncomp.chunked.volumes.kept import Kept
from conncomp.chunked.volumes.volume import Volume, place_of

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
    selection : Selection or None
        What is kept.
    threshold : float or None
        What foreground lies above.
    executor : context manager
        Of an executor as of ``concurrent.futures``, for blocks.
    progress : callable or None
    """

    volume: Volume
    layout: Layout
    rules: Rules
    numbering: Literal["consecutive", "roots"]
    dtype: np.dtype[Any]
    selection: Selection | None
    threshold: float | None
    executor: AbstractContextManager[Executor]
    progress: Progress | None


class Job:
    """What calls the functions of the stages, as ``engine.py`` says.

    Parameters
    ----------
    work : Work
    kept : Kept
        What is done already, and is kept.
    blocks : Blocks
    """

    def __init__(self, work: Work, kept: Kept, blocks: Blocks) -> None:
        self._work, self._kept, self._blocks = work, kept, blocks
        self._done = 0
        self._tasks = dict[Future[Any], Index | None]()
        self._coarser = list(blocks.target.levels())
        stages_of_block = 2 if work.layout.crossed else 1
        self._steps = stages_of_block * work.layout.chunks + len(self._coarser)

    def run(self) -> tuple[int, int, int]:
        """Label all blocks.

        Returns
        -------
        components, kept, elements : int
            How many components there are, how many are kept, and how many elements these have; 0
            if all are kept.
        """
        work = self._work
        values = {index: Values(place_of(work.layout, index)) for index in work.layout.indices()}
        with work.executor as self._pool:
            try:
                wanted = stages.Wanted(work.numbering, work.dtype, work.selection)
                result = stages.label_wanted(
                    self, work.layout, work.rules, values, wanted, again_of=values
                )
                self._wait()
                self._write_coarser()
            except BaseException:
                self._give_up()
                raise
        tallies = [self._kept.done[index] for index in values]
        components = sum(tally.components for tally in tallies)
        if work.layout.crossed:
            components = sum(int(np.sum(counts)) for counts in result.counts.values())
        kept, elements = (sum(tally[k] for tally in tallies) for k in (0, 1))
        return components, components if work.selection is None else kept, elements

    def __call__(
        self, name: str, index: Index, function: Callable[..., Any], *arguments: Any
    ) -> Any:
        """Call a function, as ``engine.py`` says."""
        if name == "label":
            self._start(None, self._blocks.report, index, function, arguments)
            return Reported(index)
        if name == "again":
            return Later(function, arguments)
        if name in ("roots", "numbers", "alone"):
            place = place_of(self._work.layout, index)
            self._start(index, self._blocks.label, place, function, arguments)
            return None
        if name in ("labels", "counts"):  # of what is alone, both of which are written
            return None
        self._wait()
        result = function(*map(self._blocks.resolved, arguments))
        if name == "count" or name.startswith("first-"):
            # A number for each row of chunks, of all chunks: these go to the disk, too.
            return self._kept.set_aside(f"{name}-{'-'.join(map(str, index))}", result)
        return result

    def _start(self, index: Index | None, task: Callable[..., Any], *arguments: Any) -> None:
        """Let a task begin, unless the labels of an index, which it writes, are finished."""
        if index in self._kept.done:
            self._step()
        else:
            self._tasks[self._pool.submit(task, *arguments)] = index

    def _wait(self) -> None:
        """Wait for what tasks do, and keep that it is done; raise what went wrong."""
        for task in as_completed(list(self._tasks)):
            tally, index = task.result(), self._tasks.pop(task)
            if index is not None:
                self._kept.finish(index, tally)
            self._step()

    def _give_up(self) -> None:
        """Begin no more tasks; keep what those that have begun do, which need not be done again."""
        for task in self._tasks:
            task.cancel()
        wait(self._tasks)
        for task, index in self._tasks.items():
            if not task.cancelled() and task.exception() is None and index is not None:
                self._kept.finish(index, task.result())

    def _write_coarser(self) -> None:
        """Write coarser labels, one resolution after the other."""
        before = 1
        for level, place in self._coarser:
            if level > before:
                self._wait()
                before = level
            # Other numbers of them than a block has.
            index = (level, -1, *(part.start for part in place))
            self._start(index, self._blocks.reduce, level, place)
        self._wait()

    def _step(self) -> None:
        self._done += 1
        if self._work.progress is not None:
            self._work.progress(self._done, self._steps)
