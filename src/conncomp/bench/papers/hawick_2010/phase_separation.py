"""Fig. 18: what labelling takes in a simulation of the equation of Cahn and Hilliard.

The paper gives neither the constants of the equation nor what a component is, but that its cells
have the same state and are neighbours along the axes. So constants and time step are the defaults
of `CahnHilliard`, cells above 0 are one state and all others the other one, both are labelled, and
the torus of the field is that of the labels.
"""

from __future__ import annotations

import statistics
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from conncomp import Workspace, label
from conncomp.bench.papers.laboratory import Laboratory, Row
from conncomp.bench.papers.paper import Findings
from conncomp.bench.papers.pictures import curve, groups, legend, log_axes, published, ticks
from conncomp.bench.papers.serial import one_thread_seconds
from conncomp.models import CahnHilliard

THRESHOLD = 0.0
DEFAULT, SERIAL = "the default", "CPU, one thread"
IN_A_LOOP = "CahnHilliard.labels"  # of one state, with the threshold and new memory
# The paper's names of algorithms of `conncomp.label`.
KERNELS = {
    "neighbour-propagation": "kernel A",
    "local-propagation": "kernel B",
    "directional-propagation": "kernel C",
    "label-equivalence": "kernel D",
}
SLOW = "kernel A", "kernel B", "kernel C", SERIAL


class Scale(NamedTuple):
    """How much is measured.

    Attributes
    ----------
    lengths : tuple of int
        Of both axes, ascending.
    steps, every : int
        Steps of a simulation, and of them between two labellings.
    slow_every : int
        Of so many labellings one is done in the ways of `SLOW`, too.
    """

    lengths: tuple[int, ...]
    steps: int
    every: int
    slow_every: int


SCALES = {
    "small": Scale((16, 32), 64, 16, 2),
    "paper": Scale((256, 512, 1024, 2048, 4096), 16384, 128, 16),
    "today": Scale((256, 512, 1024, 2048, 4096, 8192), 16384, 128, 16),
}


def labelling(laboratory: Laboratory) -> Findings:
    """Measure labellings during simulations, against the length of the field."""
    scale = SCALES[laboratory.size]
    rows = [row for length in scale.lengths for row in _simulation(laboratory, scale, length)]
    model = CahnHilliard((scale.lengths[0],) * 2).parameters()
    return {
        "rows": rows,
        "fits": _comparisons(rows),
        "published": {
            "machine": "GeForce GTX 260; Core 2 Quad, 2.33 GHz",
            "length": 4096,
            "CPU II over kernel D": 13,
            "kernel C faster than B above N": 1024,
            "kernel A": "slower than CPU I, as no other kernel",
        },
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
    """Draw Fig. 18, with the speed-up of the paper as a distance from the serial code."""
    axes = log_axes(canvas, "N", "seconds a labelling")
    for name, rows in groups(findings["rows"], lambda row: str(row["way"])).items():
        curve(axes, rows, "length", "seconds", label=name)
    said = findings["published"]
    points = [
        (row["length"], row["seconds"] / said["CPU II over kernel D"], "13 times faster")
        for row in findings["rows"]
        if row["way"] == SERIAL and row["length"] == said["length"]
    ]
    published(axes, points, "Hawick 2010")
    ticks(axes, (row["length"] for row in findings["rows"]))
    legend(axes)


def _simulation(laboratory: Laboratory, scale: Scale, length: int) -> list[Row]:
    """Return the mean times of labelling one simulation in all ways, and of its steps."""
    device = laboratory.device
    model = CahnHilliard((length, length), device=device.name)
    ways = {DEFAULT: _Way(device.name, "auto")}
    if laboratory.on_gpu:
        ways |= {name: _Way(device.name, algorithm) for algorithm, name in KERNELS.items()}
    seconds: dict[str, list[float]] = {name: [] for name in (*ways, IN_A_LOOP, SERIAL)}
    advance, of_steps = partial(model.step, scale.every), list[float]()
    for number in range(scale.steps // scale.every):
        laboratory.notify(f"N = {length}: {number * scale.every} steps of {scale.steps}")
        of_steps.append(device.seconds(advance))
        states = (model.field > THRESHOLD).view(np.uint8)
        in_a_loop = partial(model.labels, threshold=THRESHOLD, numbering="roots")
        if number == 0:  # compiles kernels
            in_a_loop()
            _check({name: device.fetch(way(states)) for name, way in ways.items()}, length)
        seconds[IN_A_LOOP].append(device.seconds(in_a_loop))
        slow_too = number % scale.slow_every == 0
        for name, way in ways.items():
            if slow_too or name not in SLOW:
                seconds[name].append(device.seconds(partial(way, states)))
        if slow_too:
            serial = partial(_Way("cpu", "auto"), device.fetch(states))
            seconds[SERIAL].append(one_thread_seconds(serial))
    step = statistics.mean(of_steps[1:] or of_steps) / scale.every
    return [
        {
            "length": length,
            "way": name,
            "seconds": statistics.mean(timed),
            "labellings": len(timed),
            "step_seconds": step,
            "share_of_run": statistics.mean(timed) / (statistics.mean(timed) + scale.every * step),
        }
        for name, timed in seconds.items()
    ]


class _Way:
    """An algorithm that labels states, with memory of its own to use again."""

    def __init__(self, device: str, algorithm: str) -> None:
        self._device, self._algorithm = device, algorithm
        self._workspace, self._labels = Workspace(), None

    def __call__(self, states: Any) -> Any:
        """Return the labels of both states, which the next call overwrites."""
        labelled: Any = label
        # No byte is -1: all cells are in components.
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
        return self._labels


def _check(labels: dict[str, Any], length: int) -> None:
    for name, held in labels.items():
        if not np.array_equal(held, labels[DEFAULT]):
            raise RuntimeError(f"{name} and {DEFAULT} differ on a field of {length} x {length}")


def _comparisons(rows: list[Row]) -> dict[str, Any]:
    """Return what the paper says in words, of the longest field, as measured here."""
    longest = max(row["length"] for row in rows)
    seconds = {(row["way"], row["length"]): float(row["seconds"]) for row in rows}
    of_serial = seconds[SERIAL, longest]
    said: dict[str, Any] = {
        "length": longest,
        f"{SERIAL} over {DEFAULT}": of_serial / seconds[DEFAULT, longest],
    }
    if ("kernel D", longest) in seconds:
        said[f"{SERIAL} over kernel D"] = of_serial / seconds["kernel D", longest]
        lengths = sorted({row["length"] for row in rows})
        said["kernel C faster than B at N"] = [
            n for n in lengths if seconds["kernel C", n] < seconds["kernel B", n]
        ]
    return said
