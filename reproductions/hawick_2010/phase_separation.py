"""Fig. 18: what labelling takes in a simulation of the equation of Cahn and Hilliard.

The paper gives neither the constants of the equation nor what a component is, but that its cells
have the same state and are neighbours along the axes. So constants and time step are the defaults
of `CahnHilliard`, cells above 0 are one state and all others the other one, both are labelled, and
the torus of the field is that of the labels.
"""

import statistics
from collections.abc import Callable
from functools import partial
from math import inf
from typing import Any, NamedTuple

import numpy as np

from conncomp import Workspace, label
from conncomp.bench.units import format_ratio
from conncomp.kernels import time_limit
from conncomp.kernels.cuda.core.sweeps import counted_sweeps
from conncomp.models import CahnHilliard
from reproductions.claims import Claim, share
from reproductions.fits import power_law
from reproductions.hawick_2010.laboratory import (
    ARRAY_CODES,
    ARRAY_KERNELS,
    CPU_I,
    CPU_II,
    DEFAULT,
    MACHINE,
    OF_PAPER,
    PUBLISHED,
    Laboratory,
    claim,
    compare,
    crossover,
    times,
)
from reproductions.laboratory import Row
from reproductions.paper import Findings, Show
from reproductions.pictures import curve, groups, legend, published, ticks
from reproductions.threads import one_thread_seconds

THRESHOLD = 0.0
IN_A_LOOP = "CahnHilliard.labels"  # of one state, with the threshold and new memory
KERNEL_A, KERNEL_B, KERNEL_C, KERNEL_D = ARRAY_KERNELS.values()
SLOW = KERNEL_A, KERNEL_B, KERNEL_C
# What takes longer for a labelling, in seconds, is given up, for longer fields too.
LIMIT = 20.0


class Scale(NamedTuple):
    """How much is measured."""

    lengths: tuple[int, ...]  # of both axes, ascending
    steps: int  # of a simulation
    every: int  # steps between two labellings
    slow_every: int  # of so many labellings the middle one is done by `SLOW` and the CPU, too


SCALES = {
    "small": Scale((16, 32), 64, 16, 2),
    "paper": Scale((256, 512, 1024, 2048, 4096), 16384, 128, 64),
    "today": Scale((256, 512, 1024, 2048, 4096, 8192), 16384, 128, 64),
}


def labelling(laboratory: Laboratory) -> Findings:
    """Measure labellings during simulations, against the length of the field."""
    scale = SCALES[laboratory.size]
    given_up: set[str] = set()
    rows = [
        row for length in scale.lengths for row in _simulation(laboratory, scale, length, given_up)
    ]
    model = CahnHilliard((scale.lengths[0],) * 2).parameters()
    return {
        "rows": rows,
        "fits": _comparisons(rows),
        "published": {"machine": MACHINE, **PUBLISHED["figure-18"]},
        "simulation": {
            **{name: model[name] for name in ("mobility", "b", "u", "K", "dx", "dt")},
            **{name: model[name] for name in ("mean", "amplitude", "noise", "dtype", "seed")},
            "steps": scale.steps,
            "labelled_every": scale.every,
            "threshold": THRESHOLD,
            "states_labelled": "both",
            "neighbours": 4,
            "periodic": True,
        },
    }


def draw_labelling(findings: Findings, canvas: Any) -> None:
    """Draw Fig. 18 twice, with the speed-up of the paper as a distance from the serial code."""
    canvas.set_size_inches(11, 5)
    said = findings["published"]
    points = [
        (row["length"], row["seconds"] / said["CPU II over kernel D"], "13 times faster")
        for row in findings["rows"]
        if row["way"] == CPU_II and row["length"] == said["length"]
    ]
    for axes, scale in zip(canvas.subplots(1, 2), ("linear", "log"), strict=True):
        for name, rows in groups(findings["rows"], "way").items():
            curve(axes, rows, "length", "seconds", label=name)
        published(axes, points, OF_PAPER)
        axes.set(xscale=scale, yscale=scale, xlabel="N", ylabel="seconds a labelling")
        axes.grid(alpha=0.3)
        if scale == "log":
            ticks(axes, (row["length"] for row in findings["rows"]))
        legend(axes)


def _simulation(laboratory: Laboratory, scale: Scale, length: int, given_up: set[str]) -> list[Row]:
    """Return the mean times of labelling one simulation in all ways, and of its steps.

    Those that are given up, now or before, are left out, and join `given_up`.
    """
    device = laboratory.device
    model = CahnHilliard((length, length), device=device.name)
    ways = {DEFAULT: _Way(device.name, "auto")}
    if laboratory.on_gpu:
        ways |= {name: _Way(device.name, algorithm) for algorithm, name in ARRAY_KERNELS.items()}
    codes = {name: _Way("cpu", algorithm) for algorithm, name in ARRAY_CODES.items()}
    seconds: dict[str, list[float]] = {name: [] for name in (*ways, IN_A_LOOP, *codes)}
    advance, of_steps = partial(model.step, scale.every), list[float]()
    for number in range(scale.steps // scale.every):
        laboratory.notify(f"N = {length}: {number * scale.every} steps of {scale.steps}")
        of_steps.append(device.seconds(advance))
        states = (model.field > THRESHOLD).view(np.uint8)
        in_a_loop = partial(model.labels, threshold=THRESHOLD, numbering="roots")
        host = device.fetch(states)
        if number == 0:  # compiles kernels
            calls = {name: partial(way, states) for name, way in ways.items()}
            calls |= {name: partial(code, host) for name, code in codes.items()}
            labels = {name: _limited(call, name, given_up) for name, call in calls.items()}
            _check({n: device.fetch(of) for n, of in labels.items() if of is not None}, length)
        in_a_loop()
        seconds[IN_A_LOOP].append(device.seconds(in_a_loop))
        slow_too = number % scale.slow_every == scale.slow_every // 2
        timed = {
            name: partial(device.seconds, partial(way, states))
            for name, way in ways.items()
            if slow_too or name not in SLOW
        }
        if slow_too:
            timed |= {
                name: partial(one_thread_seconds, partial(code, host))
                for name, code in codes.items()
            }
        for name, clock in timed.items():
            if name in ways and name not in SLOW:  # which kernel works, and is loaded, may differ
                _limited(partial(ways[name], states), name, given_up)
            if (taken := _limited(clock, name, given_up)) is not None:
                seconds[name].append(taken)
    step = statistics.mean(of_steps[1:] or of_steps) / scale.every
    return [
        {
            "length": length,
            "way": name,
            "seconds": statistics.mean(timed),
            "labellings": len(timed),
            "rounds": ways[name].most_rounds if name in ways else None,
            "step_seconds": step,
            "share_of_run": statistics.mean(timed) / (statistics.mean(timed) + scale.every * step),
        }
        for name, timed in seconds.items()
        if timed and name not in given_up
    ]


def _limited(call: Callable[[], Any], name: str, given_up: set[str]) -> Any:
    """Return what a call returns, or None if it is given up, now or before."""
    if name in given_up:
        return None
    try:
        with time_limit(LIMIT):
            return call()
    except TimeoutError:
        given_up.add(name)
        return None


class _Way:
    """An algorithm that labels states, with memory of its own to use again.

    ``most_rounds`` is of a call, with the last round, which changes nothing; None of what has no
    rounds.
    """

    def __init__(self, device: str, algorithm: str) -> None:
        self._device, self._algorithm = device, algorithm
        self._workspace = Workspace() if device == "cuda" else None
        self._labels = None
        self.most_rounds: int | None = None

    def __call__(self, states: Any) -> Any:
        """Return the labels of both states, which the next call overwrites."""
        labelled: Any = label
        # No byte is -1: all cells are in components.
        with counted_sweeps() as sweeps:
            self._labels = labelled(
                states,
                -1,
                connectivity=1,
                periodic=True,
                numbering="roots",
                algorithm=self._algorithm,
                out=self._labels,
                device=self._device,
                workspace=self._workspace,
            )
        if sweeps:
            self.most_rounds = max(self.most_rounds or 0, sum(sweeps) + 1)
        return self._labels


def _check(labels: dict[str, Any], length: int) -> None:
    for name, of_way in labels.items():
        if not np.array_equal(of_way, labels[DEFAULT]):
            raise RuntimeError(f"{name} and {DEFAULT} differ on a field of {length} x {length}")


def _comparisons(rows: list[Row]) -> dict[str, Any]:
    """Return how times grow, what the longest field takes, and where Kernels B and C cross."""
    longest = max(row["length"] for row in rows)
    by_way = {name: times(rows, name, "length") for name in groups(rows, "way")}
    laws = {name: power_law(list(of), list(of.values())) for name, of in by_way.items()}
    told: dict[str, Any] = {
        "length": longest,
        "exponents": {name: law and law.exponent for name, law in laws.items()},
    }
    for name in (DEFAULT, KERNEL_D):
        told[f"{CPU_II} over {name}"] = _ratio_at(longest, by_way, CPU_II, name)
    of_b, of_c = by_way.get(KERNEL_B, {}), by_way.get(KERNEL_C, {})
    both = [n for n in of_b if n in of_c]
    b, c = [of_b[n] for n in both], [of_c[n] for n in both]
    told["kernel C faster than B at N"] = [n for n in both if of_c[n] < of_b[n]]
    told["kernels B and C cross at N"] = crossover(both, c, b) or crossover(both, b, c)
    return told


def _ratio_at(
    length: float, by_way: dict[str, dict[float, float]], slow: str, fast: str
) -> float | None:
    """Return how many times as long as another way a way takes, if both are known."""
    of_slow, of_fast = (by_way.get(name, {}).get(length) for name in (slow, fast))
    return of_slow / of_fast if of_slow and of_fast else None


def claims(findings: Findings) -> list[Claim]:
    rows, fits = findings["rows"], findings["fits"]
    by_way = {name: times(rows, name, "length") for name in groups(rows, "way")}
    if KERNEL_D not in by_way:
        return []
    papers = (*ARRAY_KERNELS.values(), CPU_I, CPU_II)
    of_paper = {name: by_way.get(name, {}) for name in papers}
    longest, of_i = fits["length"], of_paper[CPU_I]
    worse = {
        name: [n for n, seconds in of_paper[name].items() if n in of_i and seconds > of_i[n]]
        for name in SLOW
    }
    # The longest field that CPU I and all kernels were not given up for.
    known = [n for n in of_i if all(n in of_paper[name] for name in SLOW)]
    gains = {name: _ratio_at(max(known, default=0), by_way, CPU_I, name) for name in SLOW[1:]}
    alike = _ratio_at(max(known, default=0), by_way, KERNEL_B, KERNEL_C)
    faster, place = fits["kernel C faster than B at N"], fits.get("kernels B and C cross at N")
    best = [
        min(papers, key=lambda name: of_paper[name].get(n, inf)) == KERNEL_D
        for n in of_paper[KERNEL_D]
    ]
    speed_up = fits.get(f"{CPU_II} over kernel D")
    most = max((row.get("rounds") or 0 for row in rows if row["way"] == KERNEL_D), default=0)
    return [
        claim(
            "figure-18.slower",
            "slower at N: " + "; ".join(f"{name} {of or '-'}" for name, of in worse.items()),
            share([bool(worse[KERNEL_A]), not worse[KERNEL_B], not worse[KERNEL_C]])
            if known
            else None,
        ),
        claim("figure-18.alike", f"{compare({**gains})}, at {max(known, default=0)}²", alike),
        claim(
            "figure-18.cross",
            f"they cross at {place:.0f}" if place else f"C is faster at N: {faster or '-'}",
            place or (0.0 if faster else inf),
        ),
        claim(
            "figure-18.kernel-d",
            f"of the paper's ways for {sum(best)} of {len(best)} lengths",
            share(best),
        ),
        claim(
            "figure-18.speed-up",
            f"{format_ratio(speed_up)} times, at {longest}²",
            speed_up if longest == findings["published"]["length"] else None,
        ),
        claim("figure-18.iterations", f"at most {most or '-'}, up to {longest}²", most or None),
    ]


FIGURE_18 = Show(labelling, draw_labelling, claims)
