"""A paper whose figures and tables are measured again: what it consists of, and what is written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from conncomp._optional import optional
from conncomp.bench.devices import Cpu, DeviceName
from conncomp.bench.runner import describe
from conncomp.io import atomic_path
from reproductions.claims import Claim
from reproductions.published import read

# What an exhibit shows: ``rows``, one for each point; ``fits``, what follows from them;
# ``published``, the values of the paper that they are compared with.
Findings = dict[str, Any]
Notify = Callable[[str], object]

# "small" takes seconds on a CPU, "paper" has the inputs of the paper, "today" the larger ones that
# today's machines are made for.
SIZES = ("small", "paper", "today")

FORMAT, VERSION = "conncomp-paper", 2


class RefusalError(ValueError):
    """An exhibit cannot be measured on this machine; the message says why, in one line."""


def no_claims(findings: Findings) -> list[Claim]:
    """Return no claims: the paper says nothing in words of an exhibit."""
    return []


@dataclass(frozen=True)
class Exhibit:
    """A figure or a table of a paper.

    Attributes
    ----------
    title : str
    measure : callable
        Given the paper's laboratory, return the findings.
    draw : callable
        Given the findings and a figure of matplotlib, draw them.
    seconds : dict of str to list of float
        By the name of a device, about how many seconds it takes at each of `SIZES`; what is of
        kernels for a GPU has no "cpu".
    claims : callable, optional
        Given the findings, return what the paper says of them in words.
    since : str, optional
        What changed since the paper, in two sentences.
    resumable : bool, optional
        Whether `measure` takes a second argument: the path of a checkpoint to go on from.
    paper_device : str, optional
        What the paper measured on, if it tells of nothing else.
    """

    title: str
    measure: Callable[..., Findings]
    draw: Callable[[Findings, Any], None]
    seconds: Mapping[DeviceName, Sequence[float]]
    claims: Callable[[Findings], list[Claim]] = no_claims
    since: str = ""
    resumable: bool = False
    paper_device: DeviceName | None = None


class Show(NamedTuple):
    """How an exhibit is measured, drawn and judged, as `Exhibit` has it."""

    measure: Callable[..., Findings]
    draw: Callable[[Findings, Any], None]
    claims: Callable[[Findings], list[Claim]] = no_claims
    resumable: bool = False


@dataclass(frozen=True)
class Paper:
    """A paper.

    Attributes
    ----------
    name, title, citation : str
    summary : sequence of str
        Five lines: what it found, what holds today, and what turned around.
    exhibits : dict of str to Exhibit
        By ``figure-N`` and ``table-N``, or by a name for what the paper has no number of.
    laboratory : callable
        ``laboratory(device, size, notify)`` returns what the exhibits measure with, and share.
    kept : tuple of str, optional
        The names of files beside the results from which exhibits take what others measured before.
    takes_data : bool, optional
        Whether the laboratory takes `data`: a folder of what the paper measured on.
    """

    name: str
    title: str
    citation: str
    summary: Sequence[str]
    exhibits: dict[str, Exhibit]
    laboratory: Callable[..., Any]
    kept: tuple[str, ...] = ()
    takes_data: bool = False

    @classmethod
    def read(
        cls,
        module: str,
        shows: Mapping[str, Show],
        laboratory: Callable[..., Any],
        kept: tuple[str, ...] = (),
        *,
        takes_data: bool = False,
    ) -> Paper:
        """Return the paper of which ``exhibits.toml`` tells, beside a module.

        Parameters
        ----------
        module : str
            The ``__file__`` of the module.
        shows : dict of str to Show
            By the name of the exhibit, in the order of the paper.
        laboratory, kept, takes_data
            As of a paper.
        """
        words = read(module, "exhibits")
        exhibits = {
            name: Exhibit(**words["exhibits"][name], **show._asdict())
            for name, show in shows.items()
        }
        return cls(
            words["name"],
            words["title"],
            words["citation"],
            words["summary"],
            exhibits,
            laboratory,
            kept,
            takes_data,
        )


def measure(
    paper: Paper,
    names: Sequence[str],
    *,
    device: Cpu,
    size: str,
    threads: int,
    output: Path,
    data: Path | None = None,
    notify: Notify = lambda step: None,
    leave_out: Callable[[str, RefusalError], object] | None = None,
) -> Iterator[tuple[str, Findings]]:
    """Measure exhibits, and write and draw each as soon as it is there.

    Parameters
    ----------
    paper : Paper
    names : sequence of str
        Of the exhibits.
    device : Cpu
    size : str
        One of `SIZES`.
    threads : int
        As many copy when the machine's rate is measured.
    output : pathlib.Path
        The folder of `files_of`, which is made.
    data : pathlib.Path, optional
        A folder of what the paper measured on, if it takes that.
    notify : callable, optional
        Called with what is measured now.
    leave_out : callable, optional
        Called with the name of an exhibit that cannot be measured on this machine, and with why;
        then the next one follows. Otherwise that is raised.

    Yields
    ------
    (str, dict)
        The name of an exhibit, and its findings.

    Raises
    ------
    RefusalError
        See `leave_out`.
    """
    output.mkdir(parents=True, exist_ok=True)
    machine = describe(device, threads, size)
    given = {} if data is None else {"data": data}
    laboratory = paper.laboratory(device, size, notify, **given)
    for name in names:
        exhibit = paper.exhibits[name]
        result_file, picture = files_of(name, output)
        checkpoint = output / f"{name}.checkpoint"
        kept = (checkpoint,) if exhibit.resumable else ()
        start = perf_counter()
        try:
            with device.current():
                findings = exhibit.measure(laboratory, *kept)
        except RefusalError as reason:
            if leave_out is None:
                raise RefusalError(f"{name}: {reason}") from None
            leave_out(name, reason)
            continue
        result: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "paper": paper.name,
            "citation": paper.citation,
            "exhibit": name,
            "title": exhibit.title,
            **machine,
            "took_seconds": perf_counter() - start,
            **findings,
        }
        result["claims"] = [claim.as_dict() for claim in judge(exhibit, result)]
        draw(exhibit, findings, picture)
        _write(result, result_file)
        checkpoint.unlink(missing_ok=True)
        yield name, result


def judge(exhibit: Exhibit, result: Mapping[str, Any]) -> list[Claim]:
    """Return what the paper says of a result; inputs that are not the paper's leave it unjudged."""
    claims, shares = exhibit.claims(dict(result)), result.get("shares", {})
    smaller = [name for name, share in shares.items() if share < 1]
    if exhibit.paper_device not in (None, result["device"]):
        because = "the paper says it of another kind of device"
    elif result["size"] == "small":
        because = "inputs of size small are toys"
    elif smaller:
        because = f"{len(smaller)} of {len(shares)} inputs are smaller than the paper's"
    else:
        return claims
    return [claim.unjudged(because) for claim in claims]


def judge_again(paper: Paper, name: str, folder: Path) -> Findings:
    """Judge and draw what `measure` has written for an exhibit again.

    Raises
    ------
    ValueError
        If it was written by another version, so that something is missing in it.
    """
    result_file, picture = files_of(name, folder)
    exhibit, result = paper.exhibits[name], json.loads(result_file.read_text())
    try:
        result["claims"] = [claim.as_dict() for claim in judge(exhibit, result)]
        draw(exhibit, result, picture)
    except LookupError as error:
        raise ValueError(f"{result_file} is of another version, without {error}") from None
    _write(result, result_file)
    return dict(result)


def _write(result: Mapping[str, Any], path: Path) -> None:
    with atomic_path(path) as temporary:
        temporary.write_text(json.dumps(result, indent=1, allow_nan=False) + "\n")


def draw(exhibit: Exhibit, findings: Findings, path: Path) -> None:
    """Draw an exhibit into a PNG file."""
    canvas = optional("matplotlib.figure").Figure((8, 5), layout="constrained")
    exhibit.draw(findings, canvas)
    canvas.suptitle(exhibit.title, fontsize="medium")
    with atomic_path(path) as temporary:
        canvas.savefig(
            temporary, dpi=100, format="png", bbox_inches="tight", metadata={"Software": None}
        )


def files_of(name: str, folder: Path) -> tuple[Path, Path]:
    """Return the files that `measure` writes for an exhibit: the result, and the picture."""
    return folder / f"{name}.json", folder / f"{name}.png"


def is_done(paper: Paper, name: str, folder: Path, device: str, size: str) -> bool:
    """Say whether an exhibit was measured already, as `measure` would do now.

    Raises
    ------
    ValueError
        If there is a file that is no result, or one of another measurement.
    """
    path = files_of(name, folder)[0]
    if not path.exists():
        return False
    asked = {
        "format": FORMAT,
        "version": VERSION,
        "paper": paper.name,
        "exhibit": name,
        "device": device,
        "size": size,
    }
    try:
        result = json.loads(path.read_text())
        present = {key: result[key] for key in asked}
    except (ValueError, LookupError, TypeError, RecursionError):
        raise ValueError(f"{path} is there already, and is no result of a paper") from None
    if different := [key for key in asked if present[key] != asked[key]]:
        values = ", ".join(f"{key} {present[key]!r} instead of {asked[key]!r}" for key in different)
        raise ValueError(f"{path} is there already, with {values}")
    return True
