"""A paper whose figures and tables are measured again: what it consists of, and what is written."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple, Self

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

    `measure` takes the paper's laboratory and returns the findings; of a `resumable` exhibit it
    takes the path of a checkpoint to go on from, too. `draw` draws the findings into a figure of
    matplotlib; `claims` returns what the paper says of them in words. `seconds` has, by device,
    about how long each of `SIZES` takes; what is of kernels for a GPU has no "cpu". `since` tells
    in two sentences what changed since the paper, which measured on `paper_device` if on one alone.
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
    """A paper, with `exhibits` by ``figure-N``, ``table-N``, or a name for what has no number.

    `summary` has five lines: what it found, what holds today, and what turned around.
    ``laboratory(device, size, notify)`` returns what the exhibits measure with, and share; if it
    `takes_data`, it has a parameter `data`, too: a folder of what the paper measured on. `kept` are
    files beside the results from which exhibits take what others measured before.
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
    ) -> Self:
        """Return the paper of which ``exhibits.toml`` tells, beside a module of this ``__file__``.

        `shows` are by the names of the exhibits, in the order of the paper.
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
    """Measure exhibits, and write and draw each into the folder `output` as soon as it is there.

    The rate of the machine's memory is measured on `threads`. `notify` is called with what is
    measured now. An exhibit that cannot be measured on this machine is left out if there is a
    `leave_out`, which is called with its name and with why; otherwise a `RefusalError` is raised.
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

    ValueError: it was written by another version, so that something is missing in it.
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

    ValueError: there is a file that is no result, or one of another measurement.
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
