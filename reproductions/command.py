"""The command: ``python -m reproductions``, and ``conncomp bench paper`` where it is installed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import click
from rich.progress import BarColumn, MofNCompleteColumn, TimeElapsedColumn

import conncomp
from conncomp._optional import optional
from conncomp._terminal import progress_display
from conncomp.bench.devices import DEVICES, DeviceName
from conncomp.cli._errors import OneLineErrors
from conncomp.cli._options import Threads, argument, option, parameters_of
from conncomp.cli._report import Row, show
from reproductions import PAPERS
from reproductions.paper import (
    SIZES,
    Exhibit,
    Findings,
    Paper,
    RefusalError,
    files_of,
    is_done,
    judge_again,
    measure,
)

VERDICTS = {True: "holds", False: "does not hold", None: "not judged"}


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the command is given.

    --figure N  A figure, by its number.
    --table N  A table, by its number.
    --exhibit NAME  A figure, table or other exhibit, by its name in the list.
    --all  All that can be measured on the device and is not in DIR yet.
    --list  List figures and tables, and stop.
    --device  cuda measures on the GPU. Some figures are of kernels that need one.
    --size [small|paper|today]  small takes seconds, paper has the inputs of the paper (of
        ecl-cc-2018 on a CPU: parts of them), today larger ones.
    --output DIR  Where a result and a picture of each go, such as figure-2.json and figure-2.png;
        made if need be.
    --data DIR  Has graphs that the paper measured, by its names, such as uk-2002.mtx.gz: they are
        read, as published, instead of their substitutes. Of ecl-cc-2018.
    --force  Replace files that are there.
    --judge  Measure nothing: hold the results in DIR against the paper's words and draw them again.
    """

    name: str = argument("PAPER", type=click.Choice(list(PAPERS)))
    figures: tuple[str, ...] = option("--figure")
    tables: tuple[str, ...] = option("--table")
    exhibits: tuple[str, ...] = option("--exhibit")
    everything: bool = option("--all")
    only_list: bool = option("--list")
    device: DeviceName = "cpu"
    threads: Threads | None
    size: Annotated[str, click.Choice(SIZES)] = "small"
    output: Path | None = option(type=click.Path(file_okay=False, path_type=Path))
    data: Path | None = option(type=click.Path(exists=True, file_okay=False, path_type=Path))
    force: bool
    only_judge: bool = option("--judge")


@click.command(
    cls=OneLineErrors,
    params=parameters_of(Options),
    context_settings={"help_option_names": ["-h", "--help"]},
)
def paper(**given: Any) -> None:
    """Measure the figures and tables of a paper again, beside its values.

    PAPER is ecl-cc-2018, hawick-2010, weigel-2011, wang-2013 or maddix-2014. Each figure or table
    is written as soon as it is there, so what is done stays if the command is interrupted, and
    --all goes on with what is not there yet. What the paper says in words is held against what is
    measured.
    """
    options = Options(**given)
    chosen, output, device = PAPERS[options.name], options.output, options.device
    if options.only_list:
        facts: list[Row] = [("paper", chosen.citation)]
        if chosen.kept:
            facts.append(("times", "of one exhibit alone; several share what the first measures"))
        show({}, facts, _list(chosen), as_json=False, names=2)
        return
    numbered = (("figure", options.figures), ("table", options.tables))
    asked = [f"{kind}-{n}" for kind, several in numbered for n in several] + [*options.exhibits]
    names = _choose(chosen, asked, options.everything, device)
    if output is None:
        raise click.UsageError("Missing option '-o' / '--output'.")
    optional("matplotlib.figure")
    if options.data is not None and not chosen.takes_data:
        nothing = f"{options.name} measures nothing that was published as data"
        raise click.UsageError(f"--data: {nothing}.")
    if options.only_judge:
        _judge(chosen, names, options.everything, output)
        return
    try:
        where = DEVICES[device]()
    except (ImportError, RuntimeError) as error:
        raise click.ClickException(str(error)) from None
    if options.force:
        for kept in chosen.kept:
            (output / kept).unlink(missing_ok=True)
    else:
        names = _not_done(chosen, names, options.everything, output, device, options.size)
    done: list[tuple[str, Findings]] = []
    refusals: list[tuple[str, RefusalError]] = []

    def leave_out(exhibit: str, reason: RefusalError) -> None:
        refusals.append((exhibit, reason))

    columns = BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    try:
        with progress_display(*columns) as progress:
            task = progress.add_task("copy rate", total=len(names))
            for pair in measure(
                chosen,
                names,
                device=where,
                size=options.size,
                threads=conncomp.get_num_threads(),
                output=output,
                data=options.data,
                notify=lambda step: progress.update(task, description=step),
                leave_out=leave_out if options.everything else None,
            ):
                done.append(pair)
                progress.update(task, completed=len(done))
    finally:  # after an interrupt, too
        facts = [("paper", chosen.citation)]
        if done:
            show({}, facts, _table(done, output), _claims(done), as_json=False, names=2)
        for exhibit, reason in refusals:
            click.echo(f"conncomp: {exhibit} is left out: {reason}", err=True)


def _choose(paper: Paper, asked: list[str], everything: bool, device: DeviceName) -> list[str]:
    """Return the exhibits asked for, in the order of the paper."""
    if everything and asked:
        raise click.UsageError("--all is everything; leave out --figure, --table and --exhibit.")
    if not (everything or asked):
        raise click.UsageError("Say --figure N, --table N, --exhibit NAME, --all, or --list.")
    for name in asked:
        if name not in paper.exhibits:
            there_are = ", ".join(paper.exhibits)
            raise click.UsageError(f"{paper.name} has no {name}; there are {there_are}.")
        if device not in paper.exhibits[name].seconds:
            what = "is of the CPU; use --device cpu"
            if device == "cpu":
                what = "is of kernels for a GPU; use --device cuda"
            raise click.UsageError(f"{name} {what}.")
    return [
        name
        for name, exhibit in paper.exhibits.items()
        if name in asked or (everything and device in exhibit.seconds)
    ]


def _not_done(
    paper: Paper, names: list[str], resume: bool, output: Path, device: str, size: str
) -> list[str]:
    """Return the exhibits that are not there; unless work is resumed, all have to be new."""
    missing = []
    for name in names:
        result = files_of(name, output)[0]
        try:
            done = is_done(paper, name, output, device, size)
        except (OSError, ValueError) as error:
            raise click.ClickException(f"{error}; --force replaces it") from None
        if done and not resume:
            raise click.ClickException(f"{result} is there already; --force replaces it")
        if not done:
            missing.append(name)
    return missing


def _judge(paper: Paper, names: list[str], everything: bool, output: Path) -> None:
    """Judge and draw results again, all that are there or those that are asked for."""
    done: list[tuple[str, Findings]] = []
    for name in names:
        if everything and not files_of(name, output)[0].exists():
            continue
        try:
            done.append((name, judge_again(paper, name, output)))
        except (OSError, ValueError) as error:
            raise click.ClickException(str(error)) from None
    show(
        {}, [("paper", paper.citation)], _table(done, output), _claims(done), as_json=False, names=2
    )


def _list(paper: Paper) -> list[Row]:
    def estimate(exhibit: Exhibit, device: DeviceName) -> str:
        return " / ".join(map(_duration, exhibit.seconds.get(device, ()))) or "-"

    return [
        ("name", "what it is", "on the CPU: small, paper, today", "on a GPU"),
        *(
            (name, exhibit.title, estimate(exhibit, "cpu"), estimate(exhibit, "cuda"))
            for name, exhibit in paper.exhibits.items()
        ),
    ]


def _duration(seconds: float) -> str:
    """Return about how long something takes.

    >>> _duration(20), _duration(150), _duration(9000)
    ('20 s', '2 min', '2.5 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def _table(done: list[tuple[str, Findings]], output: Path) -> list[Row]:
    return [
        ("exhibit", "picture", "points"),
        *(
            (findings["title"], str(files_of(name, output)[1]), str(len(findings["rows"])))
            for name, findings in done
        ),
    ]


def _claims(done: list[tuple[str, Findings]]) -> list[Row]:
    return [
        ("as they say", "as we find", ""),
        *(
            (claim["says"], claim["here"], VERDICTS[claim["holds"]])
            for _, findings in done
            for claim in findings["claims"]
        ),
    ]
