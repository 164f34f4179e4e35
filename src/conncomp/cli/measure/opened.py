"""Files of several series, which are opened once for all of these, not once for each."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Lock
from types import TracebackType

from conncomp.cli._input import read_any
from conncomp.cli.measure.inputs import Source, number_of_series
from conncomp.cli.measure.other_formats import is_of_other_format, read_scene
from conncomp.files.images import opened_series
from conncomp.files.scales import Content

Read = Callable[[int], Content]


class OpenFiles:
    """The files of all sources, read by whichever threads.

    A file of which several series are wanted stays open until all are done: once for each of the
    threads that read it at the same time. With `bioio`, that reads what no reader here knows.
    """

    def __init__(self, sources: Iterable[Source], bioio: bool = False) -> None:
        self._bioio = bioio
        self._left = Counter(
            path for source in sources for path in (source.path, source.intensity) if path
        )
        self._counts: dict[Path, int] = {}
        self._idle: dict[Path, list[tuple[Read, ExitStack]]] = defaultdict(list)
        self._lock = Lock()

    def __enter__(self) -> OpenFiles:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for path in list(self._idle):
            self._close(path)

    def read(self, path: Path, key: str | None, series: int) -> Content:
        """Read a series of a file, or any other image."""
        if self._bioio and is_of_other_format(path):
            return read_scene(path, series)
        if self._left[path] < 2 or key is not None or self.count(path) < 2:
            return read_any(path, key, series)
        with self._opened(path) as read:
            return read(series)

    def count(self, path: Path) -> int:
        """Return how many series a file has."""
        count = self._counts.get(path)
        if count is None:
            count = self._counts[path] = number_of_series(path, self._bioio)
        return count

    def done(self, source: Source) -> None:
        """Close the files of an image that nobody else needs."""
        for path in filter(None, (source.path, source.intensity)):
            with self._lock:
                self._left[path] -= 1
                is_last = self._left[path] == 0
            if is_last:
                self._close(path)

    @contextmanager
    def _opened(self, path: Path) -> Iterator[Read]:
        with self._lock:
            idle = self._idle[path]
            opened = idle.pop() if idle else None
        if opened is None:
            stack = ExitStack()
            opened = stack.enter_context(opened_series(path)), stack
        try:
            yield opened[0]
        finally:
            with self._lock:
                self._idle[path].append(opened)

    def _close(self, path: Path) -> None:
        for _, stack in self._idle.pop(path, []):
            stack.close()
