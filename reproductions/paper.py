"""A paper whose figures and tables are measured again: what it consists of, and what is written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from conncomp._optional import optional
from conncomp.bench.devices import Cpu, DeviceName
from conncomp.bench.runner import describe
from conncomp.io import atomic_path
from reproductions.published import read

# What an exhibit shows: ``rows``, one for each point; ``fits``, what follows from them;
# ``published``, the values of the paper that they are compared with.
Findings = dict[str, Any]
Notify = Callable[[str], object]

# "small" takes seconds on a CPU, "paper" has the inputs of the paper, "today" the larger ones that
# today's machines are made for.
SIZES = ("small", "paper", "today")

FORMAT, VERSION = "conncomp-paper", 2


@dataclass(frozen=True)
class Claim:
    """What a paper says in words, beside what is measured here.

    Attributes
    ----------
    says : str
        What the paper says, with its section.
    here : str
        What is measured here.
    holds : bool or None
        Whether the measured values agree; None if they cannot tell.
    because : str
        Why it does not hold, to be read only then.
    """

    says: str
    here: str
    holds: bool | None
    because: str = ""

    @property
    def fails(self) -> bool:
        """Whether the measured values do not agree."""
        return self.holds is not None and not self.holds

    def as_dict(self) -> dict[str, Any]:
        """Return the attributes, as JSON takes them."""
        return asdict(self) | {"holds": None if self.holds is None else bool(self.holds)}


class Words:
    """What a paper says in words: ``claims.toml`` beside a module.

    Parameters
    ----------
    module : str
        The ``__file__`` of the module.
    """

    def __init__(self, module: str) -> None:
        self._claims = read(module, "claims")
        self.reasons: dict[str, str] = self._claims.pop("reasons", {})

    def claim(
        self,
        key: str,
        here: str,
        holds: bool | None = None,
        because: str | None = None,
        **values: Any,
    ) -> Claim:
        """Return a claim beside what is measured.

        Parameters
        ----------
        key : str
            The exhibit and the name of the claim, with a dot between.
        here : str
        holds : bool or None, optional
        because : str, optional
            Instead of the reason in the file. It is told of claims that do not hold.
        **values
            Of the places in braces, in the claim and in the reason.
        """
        exhibit, _, name = key.partition(".")
        words = self._claims[exhibit][name]
        claim = Claim(words["says"].format(**values), here, holds)
        if not claim.fails:
            return claim
        if because is None:
            reason = words.get("because") or self.reasons.get(words.get("reason"), "")
            because = reason.format(**values)
        return replace(claim, because=because)


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
    """

    title: str
    measure: Callable[..., Findings]
    draw: Callable[[Findings, Any], None]
    seconds: Mapping[DeviceName, Sequence[float]]
    claims: Callable[[Findings], list[Claim]] = no_claims
    since: str = ""
    resumable: bool = False


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
    name, citation : str
    exhibits : dict of str to Exhibit
        By ``figure-N`` and ``table-N``, or by a name for what the paper has no number of.
    laboratory : callable
        ``laboratory(device, size, notify)`` returns what the exhibits measure with, and share.
    kept : tuple of str, optional
        The names of files beside the results from which exhibits take what others measured before.
    """

    name: str
    citation: str
    exhibits: dict[str, Exhibit]
    laboratory: Callable[[Cpu, str, Notify], Any]
    kept: tuple[str, ...] = ()

    @classmethod
    def read(
        cls,
        module: str,
        shows: Mapping[str, Show],
        laboratory: Callable[[Cpu, str, Notify], Any],
        kept: tuple[str, ...] = (),
    ) -> Paper:
        """Return the paper of which ``exhibits.toml`` tells, beside a module.

        Parameters
        ----------
        module : str
            The ``__file__`` of the module.
        shows : dict of str to Show
            By the name of the exhibit, in the order of the paper.
        laboratory, kept
            As of a paper.
        """
        words = read(module, "exhibits")
        exhibits = {
            name: Exhibit(**words["exhibits"][name], **show._asdict())
            for name, show in shows.items()
        }
        return cls(words["name"], words["citation"], exhibits, laboratory, kept)


def measure(
    paper: Paper,
    names: Sequence[str],
    *,
    device: Cpu,
    size: str,
    threads: int,
    output: Path,
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
    laboratory = paper.laboratory(device, size, notify)
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
        result = {
            "format": FORMAT,
            "version": VERSION,
            "paper": paper.name,
            "citation": paper.citation,
            "exhibit": name,
            "title": exhibit.title,
            **machine,
            "took_seconds": perf_counter() - start,
            **findings,
            "claims": [claim.as_dict() for claim in exhibit.claims(findings)],
        }
        draw(exhibit, findings, picture)
        with atomic_path(result_file) as temporary:
            temporary.write_text(json.dumps(result, indent=1, allow_nan=False) + "\n")
        checkpoint.unlink(missing_ok=True)
        yield name, result


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
