"""``conncomp bench compare`` and ``conncomp bench report``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from conncomp._optional import optional
from conncomp.bench.units import format_seconds
from conncomp.cli._output import check_distinct, output_file
from conncomp.cli._report import Row, show
from conncomp.cli._rules import command

RESULT = click.Path(exists=True, dir_okay=False, path_type=Path)


@command()
@click.argument("before", metavar="A.json", type=RESULT)
@click.argument("after", metavar="B.json", type=RESULT)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
def compare(before: Path, after: Path, as_json: bool) -> None:
    """Show what changed from A.json to B.json, beyond the spread.

    A run is faster or slower if the 95 % confidence intervals of its two medians do not overlap,
    and the medians differ by more than 5 %. The interval assumes nothing about how times are
    distributed: it lies between two of the sorted times (of nine, the second and the eighth; of
    fewer than six, the first and the last). Runs timed less than three times are not judged.

    Ratios are B to A: below 1 is faster. "by copy" is the same ratio when times are counted in
    copies of memory on each file's machine; what both machines do not share stays in it. Means
    are geometric.
    """
    optional("msgspec")
    from conncomp.bench.compare import Change, Mean
    from conncomp.bench.compare import compare as compare_results
    from conncomp.bench.results import load

    comparison = compare_results(load(before), load(after))

    def change_row(change: Change) -> Row:
        return (
            change.suite,
            change.input,
            change.name,
            _seconds(change.before),
            _seconds(change.after),
            _ratio(change.ratio),
            _ratio(change.normalised),
            change.verdict,
        )

    def mean_row(mean: Mean) -> Row:
        return (
            mean.name,
            str(mean.inputs),
            str(mean.faster),
            str(mean.slower),
            _ratio(mean.ratio),
            _ratio(mean.normalised),
        )

    header = ("suite", "input", "run", "A", "B", "B / A", "by copy", "")
    means = ("mean of", "inputs", "faster", "slower", "B / A", "by copy")
    facts: list[Row] = [("A", str(before)), ("B", str(after))]
    facts += [("differs", note) for note in comparison.notes]
    facts += [("only in A", name) for name in comparison.only_before]
    facts += [("only in B", name) for name in comparison.only_after]
    show(
        {"before": before, "after": after, **asdict(comparison)},
        facts,
        [header, *map(change_row, comparison.changes)] if comparison.changes else [],
        [means, *map(mean_row, comparison.means)] if comparison.means else [],
        as_json=as_json,
    )


@command()
@click.argument("results", metavar="RESULT.json...", type=RESULT, nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    metavar="FILE.html",
    callback=output_file(".html", ".htm"),
    required=True,
    help="Write the page here: one file, which needs no others.",
)
def report(results: tuple[Path, ...], output: Path) -> None:
    """Make a page of tables and plots from result files."""
    check_distinct((*results, output))
    for library in ("msgspec", "jinja2", "matplotlib.figure"):
        optional(library)
    from conncomp.bench.report import render
    from conncomp.bench.results import load
    from conncomp.files.access import atomic_path

    page = render([load(path) for path in results])
    with atomic_path(output) as temporary:
        temporary.write_text(page, encoding="utf-8")


def _seconds(value: float | None) -> str:
    return "-" if value is None else format_seconds(value)


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
