"""``conncomp bench compare``, ``report``, and ``paper``, which a package beside this one has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import click

from conncomp._optional import optional
from conncomp.bench.units import format_seconds
from conncomp.cli._options import FILE, argument, option
from conncomp.cli._output import check_distinct, output_file
from conncomp.cli._report import Row, show
from conncomp.cli._rules import command


@click.command(
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def paper(context: click.Context, words: Sequence[str]) -> None:
    """Measure the figures and tables of a paper again, beside its values."""
    for entry in entry_points(group="conncomp.bench", name="paper"):
        entry.load().main(list(words), prog_name=context.command_path)
    raise click.ClickException(
        "the figures of papers are a package of their own: in a clone of conncomp's repository, "
        "pip install ./reproductions, or run python -m reproductions"
    )


@dataclass(frozen=True, kw_only=True)
class Compared:
    """The options of `compare`.

    --json  Print one JSON object instead of tables.
    """

    before: Path = argument("A.json", type=FILE)
    after: Path = argument("B.json", type=FILE)
    as_json: bool = option("--json")


@command(Compared)
def compare(options: Compared) -> None:
    """Show what changed from A.json to B.json, beyond the spread.

    A run is faster or slower if the 95 % confidence intervals of its two medians do not overlap,
    and the medians differ by more than 5 %. The interval assumes nothing about how times are
    distributed: it lies between two of the sorted times (of nine, the second and the eighth; of
    fewer than six, the first and the last). Runs timed less than three times are not judged.

    Ratios are B to A: below 1 is faster. "by copy" is the same ratio when times are counted in
    copies of memory on each file's machine; what both machines do not share stays in it. Means
    are geometric.
    """
    before, after = options.before, options.after
    optional("msgspec")
    from conncomp.bench.compare import compare as compare_results
    from conncomp.bench.results import load

    comparison = compare_results(load(before), load(after))
    changes: list[Row] = []
    for change in comparison.changes:
        medians = change.before, change.after
        times = ("-" if median is None else format_seconds(median) for median in medians)
        names = change.suite, change.input, change.name
        changes.append((*names, *times, *_ratios(change), change.verdict))
    means: list[Row] = [
        (mean.name, *map(str, (mean.inputs, mean.faster, mean.slower)), *_ratios(mean))
        for mean in comparison.means
    ]
    header = ("suite", "input", "run", "A", "B", "B / A", "by copy", "")
    of_means = ("mean of", "inputs", "faster", "slower", "B / A", "by copy")
    facts: list[Row] = [("A", str(before)), ("B", str(after))]
    facts += [("differs", note) for note in comparison.notes]
    facts += [("only in A", name) for name in comparison.only_before]
    facts += [("only in B", name) for name in comparison.only_after]
    tables = [header, *changes] if changes else [], [of_means, *means] if means else []
    found = {"before": before, "after": after, **asdict(comparison)}
    show(found, facts, *tables, as_json=options.as_json)


@dataclass(frozen=True, kw_only=True)
class Reported:
    """The options of `report`.

    --output FILE.html  Write the page here: one file, which needs no others.
    """

    results: tuple[Path, ...] = argument("RESULT.json...", type=FILE, nargs=-1, required=True)
    output: Path = option(type=output_file(".html", ".htm"), required=True)


@command(Reported)
def report(options: Reported) -> None:
    """Make a page of tables and plots from result files."""
    check_distinct((*options.results, options.output))
    for library in ("msgspec", "jinja2", "matplotlib.figure"):
        optional(library)
    from conncomp.bench.report import render
    from conncomp.bench.results import load
    from conncomp.files.access import atomic_path

    page = render([load(path) for path in options.results])
    with atomic_path(options.output) as temporary:
        temporary.write_text(page, encoding="utf-8")


def _ratios(compared: Any) -> Row:
    both = compared.ratio, compared.normalised
    return tuple("-" if value is None else f"{value:.3f}" for value in both)
