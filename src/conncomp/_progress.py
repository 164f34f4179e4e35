"""Progress on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeRemainingColumn,
)


def progress_display(*columns: ProgressColumn) -> Progress:
    """Return a display of progress on standard error, which is silent but on a terminal."""
    silent = not sys.stderr.isatty()
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        *columns,
        # Older versions of rich end even a disabled display with an empty line.
        console=Console(stderr=True, quiet=silent),
        transient=True,
        disable=silent,
    )


@contextmanager
def counting(name: str) -> Iterator[Callable[..., None]]:
    """Display progress; yield a function that takes how much is done, the total and more."""
    with progress_display(BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()) as progress:
        task = progress.add_task(name, total=None)
        yield lambda done, total, **more: progress.update(task, completed=done, total=total, **more)
