"""The pages of the papers' figures and tables, written from ``reproductions/results``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from PIL import Image

import reproductions
from reproductions import PAPERS, Exhibit, Paper, draw, files_of

DEVICES = {"cuda": "On one GPU", "cpu": "On the CPU"}
VERDICTS = {True: "holds", False: "does not hold", None: "cannot be told"}


def write(results: Path, folder: Path) -> None:
    """Write a page in reStructuredText for each paper, and draw its pictures.

    Parameters
    ----------
    results : pathlib.Path
        Has a folder for each paper, and there one for each device.
    folder : pathlib.Path
        Gets ``NAME.rst`` for each paper, and pictures.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for paper in PAPERS.values():
        lines = _paper(paper, results, folder / "pictures")
        (folder / f"{paper.name}.rst").write_text("\n".join(lines) + "\n")


def list_table(rows: Sequence[Sequence[str]], *options: str) -> Iterator[str]:
    """Yield the lines of a table; the first row is the header."""
    yield from (".. list-table::", "   :header-rows: 1", *(f"   {line}" for line in options), "")
    for row in rows:
        first, *others = (f"- {cell}".rstrip() for cell in row)
        yield from (f"   * {first}", *(f"     {cell}" for cell in others))


def _paper(paper: Paper, results: Path, pictures: Path) -> Iterator[str]:
    yield from (paper.name, "=" * len(paper.name), "", _plain(paper.citation), "")
    measured = {
        device: {
            name: json.loads(path.read_text())
            for name in paper.exhibits
            if (path := files_of(name, results / paper.name / device)[0]).exists()
        }
        for device in DEVICES
    }
    for device, by_name in measured.items():
        if by_name:
            yield f"- {DEVICES[device]}: {_machine(list(by_name.values()))}"
    yield ""
    for name, exhibit in paper.exhibits.items():
        by_device = {device: of[name] for device, of in measured.items() if name in of}
        for device, result in by_device.items():
            measured_file = files_of(name, results / paper.name / device)[0]
            picture = pictures / f"{paper.name}-{device}-{name}.png"
            if not picture.exists() or picture.stat().st_mtime < _last_change(measured_file):
                _draw(exhibit, result, picture)
        yield from _exhibit(paper, name, exhibit, by_device)


def _machine(results: Sequence[dict[str, Any]]) -> str:
    """Return the machine and the sizes of results."""
    names = {_name(result["machine"]) for result in results}
    sizes = {f"``--size {result['size']}``" for result in results}
    return _plain(", ".join(sorted(names))) + "; " + ", ".join(sorted(sizes))


def _name(machine: dict[str, Any]) -> str:
    gpu = machine.get("gpu")
    return str(gpu["name"]) if gpu else f"{machine['cpu']}, {machine['cores']} cores"


def _last_change(result: Path) -> float:
    """Return when what a picture is drawn from, or what draws it, was last changed."""
    programs = Path(reproductions.__file__).parent.rglob("*.py")
    return max(path.stat().st_mtime for path in (result, *programs))


def _draw(exhibit: Exhibit, result: dict[str, Any], path: Path) -> None:
    """Draw an exhibit in 64 colours, so that a page of them is light."""
    path.parent.mkdir(exist_ok=True)
    draw(exhibit, result, path)
    with Image.open(path) as picture:
        way = Image.Quantize.FASTOCTREE
        few = picture.convert("RGB").quantize(64, way, dither=Image.Dither.NONE)
    few.save(path, "PNG")


def _exhibit(
    paper: Paper, name: str, exhibit: Exhibit, by_device: dict[str, dict[str, Any]]
) -> Iterator[str]:
    yield from (_plain(exhibit.title), "-" * len(_plain(exhibit.title)), "")
    if exhibit.since:
        yield from (_plain(exhibit.since), "")
    for device in by_device:
        yield from (f".. figure:: pictures/{paper.name}-{device}-{name}.png",)
        yield from (f"   :alt: {_plain(exhibit.title)}", "   :loading: lazy", "")
        yield from (f"   {DEVICES[device]}.", "")
    claims = [(device, claim) for device, result in by_device.items() for claim in result["claims"]]
    if claims:
        rows = [("as they say", "as we find", "", "why"), *(_row(*claim) for claim in claims)]
        yield from (*list_table(rows, ":widths: 30 30 12 28"), "")


def _row(device: str, claim: dict[str, Any]) -> tuple[str, str, str, str]:
    because = "" if claim["holds"] else claim["because"]
    here = f"{DEVICES[device]}: {claim['here']}"
    return _plain(claim["says"]), _plain(here), VERDICTS[claim["holds"]], _plain(because)


def _plain(words: str) -> str:
    """Return words in which nothing is markup."""
    escaped = re.sub(r"([\\`*_|<>])", r"\\\1", " ".join(words.split()))
    return re.sub(r"^(\w)\.", r"\1\.", escaped)  # an initial would begin a list
