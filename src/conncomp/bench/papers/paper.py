"""A paper whose figures are measured again: what it consists of, and the files that are written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conncomp.bench.devices import Cpu
from conncomp.bench.runner import describe
from conncomp.io import atomic_path

# What a figure says: ``rows``, one for each point; ``fits``, what follows from them; ``published``,
# the values of the paper that they are compared with.
Findings = dict[str, Any]
Notify = Callable[[str], object]


@dataclass(frozen=True)
class Figure:
    """A figure or a table of a paper.

    Attributes
    ----------
    title : str
    measure : callable
        Given the paper's laboratory, return the findings.
    draw : callable
        Given the findings and a figure of matplotlib, draw them.
    on_cpu : bool
        Whether it can be measured without a GPU.
    resumable : bool
        Whether `measure` takes a second argument: the path of a checkpoint to go on from.
    """

    title: str
    measure: Callable[..., Findings]
    draw: Callable[[Findings, Any], None]
    on_cpu: bool
    resumable: bool = False


@dataclass(frozen=True)
class Paper:
    """A paper.

    Attributes
    ----------
    name, citation : str
    figures : dict of str to Figure
        By number, or by name for what the paper has no figure of.
    laboratory : callable
        ``laboratory(device, size, notify)`` returns what the figures measure with, and share.
    """

    name: str
    citation: str
    figures: dict[str, Figure]
    laboratory: Callable[[Cpu, str, Notify], Any]


def measure(
    paper: Paper,
    names: Sequence[str],
    *,
    device: Cpu,
    size: str,
    threads: int,
    output: Path,
    notify: Notify = lambda step: None,
) -> Iterator[tuple[str, Findings]]:
    """Measure figures, and write each as soon as it is there.

    Parameters
    ----------
    paper : Paper
    names : sequence of str
        Of the figures.
    device : Cpu
    size : {"tiny", "small", "medium", "full"}
        Of the lattices; "full" is as published.
    threads : int
        As many copy when the machine's rate is measured.
    output : pathlib.Path
        The folder of `output_files`, which is made.
    notify : callable, optional
        Called with what is measured now.

    Yields
    ------
    (str, dict)
        The name of a figure, and its findings.
    """
    output.mkdir(parents=True, exist_ok=True)
    result_file, *pictures = output_files(paper, names, output)
    result = {
        "format": "conncomp-paper",
        "version": 1,
        "paper": paper.name,
        "citation": paper.citation,
        **describe(device, threads, size),
        "figures": {},
    }
    laboratory = paper.laboratory(device, size, notify)
    for name, picture in zip(names, pictures, strict=True):
        figure = paper.figures[name]
        checkpoint = output / f"{paper.name}-{name}.checkpoint"
        kept = (checkpoint,) if figure.resumable else ()
        with device.current():
            findings = {"title": figure.title, **figure.measure(laboratory, *kept)}
        result["figures"][name] = findings
        with atomic_path(result_file) as temporary:
            temporary.write_text(json.dumps(result, indent=1, allow_nan=False) + "\n")
        draw(figure, findings, picture)
        if figure.resumable:
            checkpoint.unlink(missing_ok=True)
        yield name, findings


def draw(figure: Figure, findings: Findings, path: Path) -> None:
    """Draw a figure into a PNG file."""
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas((8, 5), layout="constrained")
    figure.draw(findings, canvas)
    canvas.suptitle(findings["title"], fontsize="medium")
    with atomic_path(path) as temporary:
        canvas.savefig(temporary, dpi=120, format="png", metadata={"Software": None})


def output_files(paper: Paper, names: Sequence[str], folder: Path) -> list[Path]:
    """Return the files that `measure` writes: the result, and a picture for each figure."""
    pictures = [f"figure-{name}.png" if name.isdigit() else f"{name}.png" for name in names]
    return [folder / file for file in (f"{paper.name}.json", *pictures)]
