"""The pages of the papers' figures and tables, written from ``reproductions/results``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from math import inf
from pathlib import Path
from typing import Any

from PIL import Image

import reproductions
from reproductions import PAPERS
from reproductions.paper import Exhibit, Paper, draw, files_of

DEVICES = {"cuda": "On one GPU", "cpu": "On the CPU"}
VERDICTS = {True: "holds", False: "does not hold", None: "not judged"}
THUMBNAIL = (260, 180)
SHOWN = 4  # thumbnails of a paper on the page of all
# The folder of the pages, as Sphinx finds it from any page.
PAGES = "/generated/papers"


def write(results: Path, folder: Path) -> None:
    """Write a page in reStructuredText for each paper, and one for all, and draw their pictures.

    Parameters
    ----------
    results : pathlib.Path
        Has a folder for each paper, and there one for each device.
    folder : pathlib.Path
        Gets ``NAME.rst`` for each paper, ``all.inc``, and pictures.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for paper in PAPERS.values():
        lines = _paper(paper, results, folder / "pictures")
        (folder / f"{paper.name}.rst").write_text("\n".join(lines) + "\n")
    lines = (line for paper in PAPERS.values() for line in _summary_of(paper, results))
    (folder / "all.inc").write_text("\n".join(lines) + "\n")


def list_table(rows: Sequence[Sequence[str]], *options: str) -> Iterator[str]:
    """Yield the lines of a table; the first row is the header."""
    yield from (".. list-table::", "   :header-rows: 1", *(f"   {line}" for line in options), "")
    for row in rows:
        first, *others = (f"- {cell}".rstrip() for cell in row)
        yield from (f"   * {first}", *(f"     {cell}" for cell in others))


def _summary_of(paper: Paper, results: Path) -> Iterator[str]:
    """Yield the title, the summary and some thumbnails of a paper, for the page of all."""
    yield from _heading(_plain(paper.title), "-")
    yield from (f"{_plain(paper.citation)}: :doc:`all figures and tables <{PAGES}/{paper.name}>`.",)
    yield from ("", *_five_lines(paper), "")
    drawn = [name for name in paper.exhibits if _measured(paper, name, results)]
    drawn.sort(key=lambda name: not name.startswith("figure"))
    yield from _thumbnails(paper, drawn[:SHOWN], results)


def _five_lines(paper: Paper) -> Iterator[str]:
    for line in paper.summary:
        kind, _, told = line.partition(":")
        yield f"- **{kind}:** {_plain(told)}"


def _thumbnails(paper: Paper, names: Sequence[str], results: Path) -> Iterator[str]:
    """Yield a grid of small pictures, each of which leads to its exhibit."""
    yield from (".. grid:: 2 2 4 4", "   :gutter: 1", "")
    for name in names:
        device = next(iter(_measured(paper, name, results)))
        title = paper.exhibits[name].title.partition(":")[0]
        yield from ("   .. grid-item-card::",)
        yield f"      :img-top: {PAGES}/pictures/small-{paper.name}-{device}-{name}.png"
        yield f"      :img-alt: {_plain(paper.exhibits[name].title)}"
        yield f"      :link: {paper.name}-{name}"
        yield from ("      :link-type: ref", "      :text-align: center", "")
        yield from (f"      {_plain(title)}", "")


def _measured(paper: Paper, name: str, results: Path) -> dict[str, dict[str, Any]]:
    """Return the results of an exhibit by device."""
    paths = {device: files_of(name, results / paper.name / device)[0] for device in DEVICES}
    return {device: json.loads(path.read_text()) for device, path in paths.items() if path.exists()}


def _heading(text: str, line: str) -> tuple[str, str, str]:
    return text, line * len(text), ""


def _paper(paper: Paper, results: Path, pictures: Path) -> Iterator[str]:
    yield from (*_heading(_plain(paper.title), "="), _plain(paper.citation), "")
    yield from (*_five_lines(paper), "")
    measured = {name: _measured(paper, name, results) for name in paper.exhibits}
    for device in DEVICES:
        if of_device := [by[device] for by in measured.values() if device in by]:
            yield f"- {DEVICES[device]}: {_machine(of_device)}"
    yield from (
        "",
        "Algorithms of the paper are reproductions of ours, written after its text: its authors'",
        "programs are not measured. A claim holds where the value that is measured lies within the",
        "bounds beside it; one about the paper's inputs is not judged on smaller ones.",
        "",
    )
    for name, exhibit in paper.exhibits.items():
        for device, result in measured[name].items():
            measured_file = files_of(name, results / paper.name / device)[0]
            picture = pictures / f"{paper.name}-{device}-{name}.png"
            if not picture.exists() or picture.stat().st_mtime < _last_change(measured_file):
                _draw(exhibit, result, picture)
    yield from _thumbnails(paper, [name for name, by in measured.items() if by], results)
    for name, exhibit in paper.exhibits.items():
        yield from _exhibit(paper, name, exhibit, measured[name])


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
    return max(path.stat().st_mtime for path in (result, *programs, Path(__file__)))


def _draw(exhibit: Exhibit, result: dict[str, Any], path: Path) -> None:
    """Draw an exhibit in 64 colours, so that a page of them is light, and once more small."""
    path.parent.mkdir(exist_ok=True)
    draw(exhibit, result, path)
    with Image.open(path) as picture:
        whole = picture.convert("RGB")
    small = whole.copy()
    small.thumbnail(THUMBNAIL)
    card = Image.new("RGB", THUMBNAIL, "white")
    card.paste(small, tuple((a - b) // 2 for a, b in zip(THUMBNAIL, small.size, strict=True)))
    for image, file in ((whole, path), (card, path.with_name(f"small-{path.name}"))):
        way = Image.Quantize.FASTOCTREE
        image.quantize(64, way, dither=Image.Dither.NONE).save(file, "PNG")


def _exhibit(
    paper: Paper, name: str, exhibit: Exhibit, by_device: dict[str, dict[str, Any]]
) -> Iterator[str]:
    yield from (f".. _{paper.name}-{name}:", "", *_heading(_plain(exhibit.title), "-"))
    if exhibit.since:
        yield from (_plain(exhibit.since), "")
    for device, result in by_device.items():
        yield from (f".. figure:: pictures/{paper.name}-{device}-{name}.png",)
        yield from (f"   :alt: {_plain(exhibit.title)}", "   :loading: lazy", "")
        yield from (f"   {DEVICES[device]}, {_version(result)}.{_shares(result)}", "")
    claims = [(device, claim) for device, result in by_device.items() for claim in result["claims"]]
    if claims:
        header = "as they say", "as we find", "agrees within", "", "why"
        rows = [header, *(_row(*claim) for claim in claims)]
        yield from (*list_table(rows, ":widths: 27 27 12 10 24"), "")


def _version(result: dict[str, Any]) -> str:
    """Return by which version of this library a result was measured, and when."""
    commit = f", commit {result['commit'][:7]}" if result.get("commit") else ""
    return f"{result['created'][:10]}, version {result['versions']['conncomp']}{commit}"


def _shares(result: dict[str, Any]) -> str:
    """Return which inputs are smaller than published, and which share they are."""
    smaller = {name: share for name, share in result.get("shares", {}).items() if share < 1}
    if not smaller:
        return ""
    told = ", ".join(f"{name} 1/{1 / share:.3g}" for name, share in smaller.items())
    return f" Smaller than published: {_plain(told)}."


def _row(device: str, claim: dict[str, Any]) -> tuple[str, str, str, str, str]:
    because = "" if claim["holds"] else claim["because"]
    here = f"{DEVICES[device]}: {claim['here']}"
    verdict = VERDICTS[claim["holds"]]
    return (_plain(claim["says"]), _plain(here), _bounds(claim), verdict, _plain(because))


def _bounds(claim: dict[str, Any]) -> str:
    """Return the bounds of a claim in words."""
    if claim["within"] is None:
        return ""
    low, high = (inf if bound is None else bound for bound in claim["within"])
    if low == high:
        return "all" if low == 1 else f"{low:g}"
    return f"from {low:.3g} on" if high == inf else f"{low:.3g} to {high:.3g}"


def _plain(words: str) -> str:
    """Return words in which nothing is markup."""
    escaped = re.sub(r"([\\`*_|<>])", r"\\\1", " ".join(words.split()))
    return re.sub(r"^(\w)\.", r"\1\.", escaped)  # an initial would begin a list
