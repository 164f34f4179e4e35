"""The report of a command: a table for people, JSON for programs; and its progress meanwhile."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from conncomp._array_storage import move_from_gpu
from conncomp._memory import in_words
from conncomp._terminal import printable, progress_display
from conncomp.cli._errors import to_output
from conncomp.kernels.cuda import launcher

Row = tuple[str, ...]
Rows = Sequence[Row]
Label = Callable[[Any], tuple[Any, Any]]  # of data, to labels and the number of components

# Takes the bytes of a stage that are done, those in total, and a detail in words.
Counter = Callable[..., None]


class Stages:
    """Times the stages of a command, and shows which one runs."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(
        self, name: str, *, counts: bool = False, device: str = "cpu"
    ) -> Iterator[Counter]:
        """Run a stage on a device; with `counts`, yield a `Counter`."""
        detail = TextColumn("{task.fields[detail]}")
        counters = (BarColumn(), DownloadColumn(), detail, TimeRemainingColumn()) if counts else ()
        with progress_display(*(counters or (TimeElapsedColumn(),))) as progress:
            task = progress.add_task(name, total=None, detail="")
            start = perf_counter()
            try:
                yield lambda done, total, detail="": progress.update(
                    task, completed=done, total=total, detail=detail
                )
                if device == "cuda":
                    launcher.import_cupy().cuda.get_current_stream().synchronize()
            except RuntimeError as error:
                if device == "cpu":
                    raise
                raise click.ClickException(f"--device cuda: {error}") from error
            self.seconds[name] = perf_counter() - start


def describe_sizes(sizes: NDArray[np.int64]) -> list[dict[str, int]]:
    """Count components, and what they hold, by powers of ten of their size, which is not 0.

    >>> describe_sizes(np.array([3, 9, 10]))
    [{'from': 1, 'to': 9, 'components': 2, 'elements': 12},
     {'from': 10, 'to': 99, 'components': 1, 'elements': 10}]
    """
    starts = [10**power for power in range(len(str(sizes.max(initial=0))))] if len(sizes) else []
    decade = np.searchsorted(starts, sizes, side="right") - 1
    parts = [decade == k for k in range(len(starts))]
    return describe_decades([(np.count_nonzero(part), sizes[part].sum()) for part in parts])


def describe_decades(rows: Sequence[Sequence[Any]]) -> list[dict[str, int]]:
    """Describe sizes of 1, 2, ... digits: each row counts components, and their elements."""
    names, decades = ("from", "to", "components", "elements"), enumerate(rows)
    each = ((10**power, 10 ** (power + 1) - 1, *map(int, row)) for power, row in decades)
    return [dict(zip(names, numbers, strict=True)) for numbers in each]


def show(report: dict[str, Any], facts: Rows, *tables: Rows, as_json: bool, names: int = 0) -> None:
    """Print a report as JSON, or as tables of which so many columns begin at the left."""
    with to_output():
        if as_json:
            click.echo(json.dumps(report, indent=2, default=_plain, allow_nan=False))
        else:
            _print_tables(facts, tables, names)


def _print_tables(facts: Rows, tables: Sequence[Rows], names: int) -> None:
    # Lines are folded for a terminal only.
    width = None if sys.stdout.isatty() else 1000
    console = Console(markup=False, highlight=False, emoji=False, width=width)
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for row in facts:
        table.add_row(*map(printable, row))
    console.print(table)
    for header, *rows in filter(None, tables):
        table = Table(*header, box=None, padding=(0, 2, 0, 0), pad_edge=False)
        for number, column in enumerate(table.columns):
            column.justify, column.no_wrap = "left" if number < names else "right", True
        for row in rows:
            table.add_row(*map(printable, row))
        console.print()
        console.print(table)


def _plain(value: object) -> object:
    if isinstance(value, np.floating):  # long doubles have no item of Python
        return float(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"no JSON for {type(value).__name__}")


def distribution_table(
    report: dict[str, Any], things: str, groups: str = "components"
) -> list[Row]:
    """Return the report's ``sizes`` as rows; components are made of `things`."""
    total = sum(part["elements"] for part in report["sizes"])
    rows: list[Row] = []
    for part in report["sizes"]:
        counts = f"{part['components']:,}", f"{part['elements']:,}"
        share = percent(part["elements"], total)
        rows.append((f"{part['from']:,} to {part['to']:,}", *counts, share))
    return [("size", groups, things, "share"), *rows] if rows else []


def percent(part: int, whole: int) -> str:
    """Return a share in words.

    >>> percent(1, 3)
    '33.3 %'
    """
    return f"{100 * part / whole:.3g} %" if whole else "0 %"


def largest(table: NDArray[np.int64], count: int) -> list[dict[str, Any]]:
    """Return label and size of the largest components, the largest first.

    The table has sizes by label, after the place of the image if there are several.

    >>> largest(np.array([0, 2, 5]), 1)
    [{'label': 2, 'size': 5}]
    """
    sizes = table.reshape(-1)
    kept = min(count, int(np.count_nonzero(sizes)))
    if kept == 0:
        return []
    # Of those as large as the last one kept, the smallest labels stay.
    least = np.partition(sizes, len(sizes) - kept)[len(sizes) - kept]
    candidates = np.flatnonzero(sizes >= least)
    chosen = candidates[np.argsort(-sizes[candidates], kind="stable")[:kept]]
    *items, labels = np.unravel_index(chosen, table.shape)
    pairs = zip(labels.tolist(), sizes[chosen].tolist(), strict=True)
    found: list[dict[str, Any]] = [{"label": label, "size": size} for label, size in pairs]
    for row, place in zip(found, np.transpose(items).tolist() if items else (), strict=False):
        row["item"] = place
    return found


def largest_row(components: list[dict[str, Any]], whole: int, things: str, of: str) -> Row:
    if not components:
        return "largest", "none"
    label, size = components[0]["label"], components[0]["size"]
    return "largest", f"label {label}: {size:,} {things}, {percent(size, whole)} of {of}"


def largest_table(components: list[dict[str, int]], whole: int, things: str) -> list[Row]:
    """Return the largest components as rows, if there are several."""
    rows = [(f"{c['label']}", f"{c['size']:,}", percent(c["size"], whole)) for c in components]
    return [("label", things, "share"), *rows] if len(rows) > 1 else []


def speed_row(per_second: float, things: str, threads: int, device: str = "cpu") -> Row:
    """Return the row on the throughput of labelling.

    >>> speed_row(1_500_000.0, "arcs", 2), speed_row(1_500_000.0, "arcs", 2, "cuda")
    (('speed', '1.5 million arcs/s with 2 threads'), ('speed', '1.5 million arcs/s on the GPU'))
    """
    units = (1e9, "billion "), (1e6, "million ")
    scale, name = next((unit for unit in units if per_second >= unit[0]), (1, ""))
    number = f"{per_second / scale:,.3g}" if name else f"{per_second:,.0f}"
    crew = "1 thread" if threads == 1 else f"{threads} threads"
    where = "on the GPU" if device == "cuda" else f"with {crew}"
    return "speed", f"{number} {name}{things}/s {where}"


def closing_rows(report: dict[str, Any], speed: float, things: str) -> list[Row]:
    """Return the rows on time, speed, memory and files written."""
    device = report.get("device", "cpu")
    rows = [timing_row(report["seconds"]), speed_row(speed, things, report["threads"], device)]
    if "memory" in report:
        rows.append(("memory", f"{in_words(report['memory']['peak'])} at most"))
    written = report["written"].items()
    return rows + [(name, str(path)) for name, path in written if isinstance(path, Path)]


def timing_row(seconds: dict[str, float]) -> Row:
    return "seconds", ", ".join(f"{name} {value:.3g}" for name, value in seconds.items())


def labelled_on(
    device: str, stage: Stages, data: Any, move: Callable[[Any], Any] | None, label: Label
) -> tuple[Any, Any, Any]:
    """Return data where they are labelled, labels in main memory, and the number of components.

    `move` copies data to the GPU. The ways to the device and back are stages of their own.
    """
    on_device = partial(stage, device=device)
    if device == "cuda":
        with on_device("starting the GPU"):
            launcher.import_cupy()
        if move is not None:
            with on_device("moving there"):
                data = move(data)
    with on_device("labelling"):
        labels, count = label(data)
    if not isinstance(labels, np.ndarray):
        with on_device("moving back"):
            labels = move_from_gpu(labels)
    return data, labels, count
