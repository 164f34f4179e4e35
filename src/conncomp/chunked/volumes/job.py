"""The engine that writes labels block by block: new ones of a volume, or copies of labels.

Threads or workers work on blocks; the process that asks does the rest, and keeps what is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from threading import Event
from typing import Any

import numpy as np

from conncomp._core import asked
from conncomp.chunked.labelling import label_and_report
from conncomp.chunked.layout import Index, Layout
from conncomp.chunked.numbering import final_roots, first_numbers
from conncomp.chunked.relabelling import relabel
from conncomp.chunked.rules import Rules
from conncomp.chunked.selection import (
    Selection,
    from_numbers,
    label_and_count,
    merged_summaries,
    relabel_selected,
)
from conncomp.chunked.stages import counts_of, label_all, label_items, labels_of
from conncomp.chunked.tree import Deferred, Function
from conncomp.chunked.volumes.block_files import BlockFiles, Reported, Values
from conncomp.chunked.volumes.kept import Kept
from conncomp.chunked.volumes.volume import Place

Progress = Callable[[int, int], object]


class GivenUpError(Exception):
    """Ends a task of a call that is given up."""


@dataclass(eq=False)
class Job:
    """The tasks of an executor: the blocks of a layout, and then coarser labels."""

    _kept: Kept
    _files: BlockFiles
    _layout: Layout
    _executor: AbstractContextManager[Executor]
    _progress: Progress | None
    _done: int = 0
    _steps: int = 0
    _tasks: dict[Future[Any], Index | None] = field(default_factory=dict)
    _given_up: Event = field(default_factory=Event)

    def _run(self, steps: int, begin: Callable[[], Any]) -> Any:
        """Return what `begin` does, once its tasks are done: so many steps for each block."""
        coarser = list(self._files.target.levels())
        self._steps = steps * self._layout.chunks + len(coarser)
        with self._executor as self._pool:
            try:
                result = begin()
                self._wait()
                self._write_coarser(coarser)
            except BaseException:
                self._give_up()
                raise
        return result

    def copy(self) -> None:
        """Write all blocks of labels that are in files."""

        def begin() -> None:
            for index in self._layout.indices():
                self._start(index, self._files.copy, self._layout.place(index))

        self._run(1, begin)

    def label(self, rules: Rules, selection: Selection | None) -> list[int]:
        """Label all blocks; return what `Counts` are made of, with the numbers of the summary."""
        layout = self._layout
        values = {index: Values(layout.place(index)) for index in layout.indices()}
        stages = partial(label_all, self, layout, rules, values, values, selection)
        result = self._run(2 if layout.crossed else 1, stages)
        tallies = [self._kept.done[index] for index in values]
        kept, elements, components = np.sum([tally[:3] for tally in tallies], axis=0).tolist()
        if layout.crossed:
            components = sum(int(np.sum(counts)) for counts in result.counts.values())
        if selection is None:
            return [components, components, elements]
        summary: tuple[int, ...] = ()
        if selection.listed:
            of_blocks = [from_numbers(tally.summary) for tally in tallies]
            summary = merged_summaries(of_blocks, selection.listed).numbers()
        return [components, kept, elements, *summary]

    def _start(self, index: Index | None, task: Function, *arguments: Any) -> None:
        """Begin a task, unless the labels of an index, which it writes, are finished."""
        if index in self._kept.done:
            self._step()
        else:
            call = (task, *arguments)
            if isinstance(self._pool, ThreadPoolExecutor):
                call = (asked, self._look_up, *call)
            self._tasks[self._pool.submit(*call)] = index

    def _look_up(self) -> None:
        if self._given_up.is_set():
            raise GivenUpError

    def _wait(self) -> None:
        for task in as_completed(list(self._tasks)):
            tally, index = task.result(), self._tasks.pop(task)
            if index is not None:
                self._kept.finish(index, tally)
            self._step()

    def _give_up(self) -> None:
        """Begin no more tasks, and end those that have begun; keep what is done by then."""
        self._given_up.set()
        begun = [task for task in self._tasks if not task.cancel()]
        wait(begun)
        for task in begun:
            index = self._tasks[task]
            if task.exception() is None and index is not None:
                self._kept.finish(index, task.result())

    def _write_coarser(self, coarser: Iterable[tuple[int, Place]]) -> None:
        before = 1
        for level, place in coarser:
            if level > before:
                self._wait()
                before = level
            # Other numbers of them than a block has.
            index = (level, -1, *(part.start for part in place))
            self._start(index, self._files.reduce, level, place)
        self._wait()

    def _step(self) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, self._steps)

    def __call__(self, name: str, index: Index, function: Function, *arguments: Any) -> Deferred:
        """Call a function, as an engine."""
        if function in (label_and_report, label_and_count):
            self._start(None, self._files.report, index, function, arguments)
            return Reported(index)
        if function in (relabel, relabel_selected, label_items):
            place, batch_axes = self._layout.place(index), self._layout.batch_axes
            self._start(index, self._files.label, place, batch_axes, function, arguments)
            return None
        if function in (labels_of, counts_of):  # of what is alone, both of which are written
            return None
        self._wait()
        result = function(*map(self._files.resolved, arguments))
        if function in (final_roots, first_numbers):
            # A number for each row of chunks, of all chunks: these go to the disk, too.
            return self._kept.set_aside(f"{name}-{'-'.join(map(str, index))}", result)
        return result
