"""Changes between two result files, beyond the spread of the times in each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from scipy.stats import binom

from conncomp.bench.results import Result, Row, Run

FEWEST = 3  # repetitions: of fewer there is no spread to speak of
SMALLEST = 0.05  # the same code differs by a few per cent, however narrow the times are

Seconds = Sequence[float]
Verdict = Literal[
    "faster", "slower", "same", "too few times", "other input", "broken", "mended", "not timed"
]


@dataclass(frozen=True)
class Change:
    """One run that is in both files."""

    suite: str
    input: str
    name: str
    kind: str
    before: float | None  # medians, in seconds
    after: float | None
    ratio: float | None  # after / before: below 1 is faster
    normalised: float | None  # the same, of times in units of a copy on each file's machine
    verdict: Verdict  # broken or mended: only one of the files has times


@dataclass(frozen=True)
class Mean:
    """The changes of one run over all inputs, or of all runs of a kind; means are geometric."""

    name: str
    inputs: int  # how many have a ratio
    faster: int
    slower: int
    ratio: float
    normalised: float


@dataclass(frozen=True)
class Comparison:
    """The result of `compare`."""

    notes: list[str]  # differences of machine, versions and settings
    changes: list[Change]
    only_before: list[str] = field(default_factory=list)
    only_after: list[str] = field(default_factory=list)
    means: list[Mean] = field(default_factory=list)


def compare(before: Result, after: Result, *, smallest_change: float = SMALLEST) -> Comparison:
    """Compare two results of one kind by run, without changes below a fraction."""
    if type(before) is not type(after):
        raise ValueError(f"one result is of {before.subject}, the other of {after.subject}")
    old, new = _runs(before), _runs(after)
    copies = after.copy_bytes_per_second / before.copy_bytes_per_second
    changes = [_change(*old[key], *new[key], copies, smallest_change) for key in old if key in new]
    only_before = ["/".join(key) for key in old if key not in new]
    only_after = ["/".join(key) for key in new if key not in old]
    notes, means = _notes(before, after), list(_means(changes))
    return Comparison(notes, changes, only_before, only_after, means)


def median_interval(seconds: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % confidence interval of a median, whatever the times are distributed like.

    Its ends are two of the sorted times: how many times lie below the median is binomial. Up to
    five times allow no such interval; it is then their whole range.

    >>> median_interval([5.0, 1.0, 3.0, 2.0, 4.0, 9.0, 6.0, 7.0, 8.0]), median_interval([3.0, 1.0])
    ((2.0, 8.0), (1.0, 3.0))
    """
    ordered = sorted(seconds)
    outside = max(0, int(binom.ppf(0.025, len(ordered), 0.5)) - 1)
    return ordered[outside], ordered[-1 - outside]


def _runs(result: Result) -> dict[tuple[str, str, str], tuple[Row, Run]]:
    return {(row.suite, row.input, run.name): (row, run) for row in result.rows for run in row.runs}


def _change(
    row: Row, run: Run, new_row: Row, new_run: Run, copies: float, smallest_change: float
) -> Change:
    before, after = run.median, new_run.median
    ratio = None
    verdict: Verdict
    if row.content != new_row.content:
        verdict = "other input"
    elif before is None or after is None:
        verdict = "broken" if before else "mended" if after else "not timed"
    else:
        ratio = after / before
        verdict = _judge(run.seconds, new_run.seconds, ratio, smallest_change)
    # Seconds times the rate is the bytes that could have been copied meanwhile.
    normalised = None if ratio is None else ratio * copies
    names = row.suite, row.input, run.name, run.kind
    return Change(*names, before, after, ratio, normalised, verdict)


def _judge(old: Seconds, new: Seconds, ratio: float, smallest_change: float) -> Verdict:
    if min(len(old), len(new)) < FEWEST:
        return "too few times"
    (old_low, old_high), (new_low, new_high) = median_interval(old), median_interval(new)
    apart = new_high < old_low or old_high < new_low
    if not apart or max(ratio, 1 / ratio) <= 1 + smallest_change:
        return "same"
    return "faster" if ratio < 1 else "slower"


def _notes(before: Result, after: Result) -> list[str]:
    old, new = _facts(before), _facts(after)
    pairs = [(name, old[name], new[name]) for name in old]
    one, other = before.versions, after.versions
    names = sorted(one.keys() | other.keys())
    pairs += [(name, one.get(name, "absent"), other.get(name, "absent")) for name in names]
    return [f"{name}: {was}, then {now}" for name, was, now in pairs if was != now]


def _facts(result: Result) -> dict[str, object]:
    machine, gpu = result.machine, result.machine.gpu
    facts: dict[str, object] = {"CPU": machine.cpu, "cores": machine.cores}
    facts |= {"memory": machine.memory_bytes, "system": machine.system, "GPU": "none"}
    if gpu is not None:
        facts["GPU"] = f"{gpu.name}, CUDA {gpu.runtime}, driver {gpu.driver}"
    facts |= {"device": result.device, "threads": result.threads, "size": result.size}
    return facts


def _means(changes: Iterable[Change]) -> Iterator[Mean]:
    groups: dict[str, list[Change]] = {}
    for kind, several in (("ours", "all of ours"), ("peer", "all peers")):
        members = [change for change in changes if change.kind == kind and change.ratio]
        for change in members:
            groups.setdefault(change.name, []).append(change)
        if len({change.name for change in members}) > 1:
            groups[several] = members
    for name, members in groups.items():
        verdicts = [change.verdict for change in members]
        counts = len(members), verdicts.count("faster"), verdicts.count("slower")
        ratio = geometric_mean(change.ratio for change in members)
        yield Mean(name, *counts, ratio, geometric_mean(change.normalised for change in members))


def geometric_mean(ratios: Iterable[float | None]) -> float:
    """Return the geometric mean of those ratios that there are.

    >>> geometric_mean([0.5, None, 2.0])
    1.0
    """
    return float(np.exp(np.mean(np.log([ratio for ratio in ratios if ratio is not None]))))
