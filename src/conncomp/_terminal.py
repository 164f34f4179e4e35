"""What a terminal shows: text that cannot control it, and progress."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn


def printable(text: str) -> str:
    r"""Return `text` as one line without what would control a terminal, or that it cannot show.

    >>> print(printable("in red: \x1b[31m\nnext"))
    in red: \x1b[31m next
    """
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
        for letter in " ".join(text.split())
    )


def progress_display(*columns: ProgressColumn) -> Progress:
    """Return a display of progress on standard error, which is silent but on a terminal."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn

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
    from rich.progress import BarColumn, MofNCompleteColumn, TimeRemainingColumn

    with progress_display(BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()) as progress:
        task = progress.add_task(name, total=None)
        yield lambda done, total, **more: progress.update(task, completed=done, total=total, **more)
