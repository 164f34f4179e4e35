"""``conncomp bench paper``."""

from __future__ import annotations

from pathlib import Path

import click
from rich.progress import BarColumn, MofNCompleteColumn, TimeElapsedColumn

import conncomp
from conncomp._progress import progress_display
from conncomp.bench.devices import DEVICES, DeviceName
from conncomp.bench.inputs import SIZES
from conncomp.bench.papers import PAPERS, Findings, Paper, measure, output_files
from conncomp.cli._options import threads_option
from conncomp.cli._report import Row, show


@click.command()
@click.argument("name", metavar="PAPER", type=click.Choice(list(PAPERS)))
@click.option(
    "--figure",
    "figures",
    metavar="N",
    multiple=True,
    help="A figure by its number, table-1, or autocorrelation. Default: all that the device has.",
)
@click.option(
    "--device",
    type=click.Choice(list(DEVICES)),
    default="cpu",
    show_default=True,
    help="cuda measures on the GPU. Some figures are of kernels that need one.",
)
@threads_option
@click.option(
    "--size",
    metavar="[small|medium|full]",
    type=click.Choice(SIZES),
    default="small",
    show_default=True,
    help="Of the lattices; full is as published, and takes minutes on a GPU.",
)
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="Where the result goes, PAPER.json, and a picture for each figure; made if need be.",
)
@click.option("--force", is_flag=True, help="Replace files that are there.")
def paper(
    name: str,
    figures: tuple[str, ...],
    device: DeviceName,
    size: str,
    output: Path,
    force: bool,
) -> None:
    """Measure the figures of a paper again, and draw them beside its values.

    PAPER is weigel-2011: cluster labels by tiles and Swendsen-Wang updates, Figs. 2, 6 and 8 to 14,
    Table I, and autocorrelation times; or hawick-2010: components of an Ising model with exchange
    dynamics, Figs. 2 and 3, and labelling inside a simulation of phase separation, Fig. 18. The
    result grows with each figure, so what is done stays if the command is interrupted; the runs of
    Fig. 3 of hawick-2010 go on from a checkpoint in DIR.
    """
    chosen = PAPERS[name]
    names = _choose_figures(chosen, figures, device)
    try:
        where = DEVICES[device]()
    except (ImportError, RuntimeError) as error:
        raise click.ClickException(str(error)) from None
    for path in output_files(chosen, names, output):
        if path.exists() and not force:
            raise click.ClickException(f"{path} is there already; --force replaces it")
    done: list[tuple[str, Findings]] = []
    columns = BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    try:
        with progress_display(*columns) as progress:
            task = progress.add_task("copy rate", total=len(names))
            for pair in measure(
                chosen,
                names,
                device=where,
                size=size,
                threads=conncomp.get_num_threads(),
                output=output,
                notify=lambda step: progress.update(task, description=step),
            ):
                done.append(pair)
                progress.update(task, completed=len(done))
    finally:  # after an interrupt, too
        facts: list[Row] = [("paper", chosen.citation)]
        if done:
            facts.append(("result", str(output_files(chosen, names, output)[0])))
            show({}, facts, _table(chosen, done, output), as_json=False, names=2)


def _choose_figures(paper: Paper, names: tuple[str, ...], device: str) -> list[str]:
    """Return the figures asked for, in the order of the paper."""
    for name in names:
        if name not in paper.figures:
            raise click.UsageError(
                f"--figure: there is no {name!r}; there are {', '.join(paper.figures)}."
            )
        if device == "cpu" and not paper.figures[name].on_cpu:
            raise click.UsageError(f"--figure {name} is of kernels for a GPU; use --device cuda.")
    return [
        name
        for name, figure in paper.figures.items()
        if name in names or (not names and (device != "cpu" or figure.on_cpu))
    ]


def _table(paper: Paper, done: list[tuple[str, Findings]], output: Path) -> list[Row]:
    pictures = output_files(paper, [name for name, _ in done], output)[1:]
    return [
        ("figure", "points", "picture"),
        *(
            (findings["title"], str(len(findings["rows"])), str(picture))
            for (_, findings), picture in zip(done, pictures, strict=True)
        ),
    ]
