"""Progress on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import rich.progress
from rich.console import Console


def progress_display(*columns: rich.progress.ProgressColumn) -> rich.progress.Progress:
    """Return a display of progress on standard error, which is silent but on a terminal."""
    silent = not sys.stderr.isatty()
    return rich.progress.Progress(
        rich.progress.SpinnerColumn(),
        rich.progress.TextColumn("{task.description}"),
        *columns,
        # Older versions of rich end even a disabled display with an empty line.
        console=Console(stderr=True, quiet=silent),
        transient=True,
        disable=silent,
    )


@contextmanager
def counting(name: str) -> Iterator[Callable[[int, int], None]]:
    """Display how much of something is done; yields a function to tell that, and the total."""
    columns = (
        rich.progress.BarColumn(),
        rich.progress.MofNCompleteColumn(),
        rich.progress.TimeRemainingColumn(),
    )
    with progress_display(*columns) as progress:
        task = progress.add_task(name, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
