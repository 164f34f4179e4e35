"""Figs. 7 to 9: how vertices start, which pointers are jumped, and how paths end."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from reproductions.claims import Claim, ratio
from reproductions.ecl_cc_2018.laboratory import DEFAULTS, Laboratory, variant
from reproductions.ecl_cc_2018.pictures import MEAN, relative_panels, starred
from reproductions.ecl_cc_2018.published import (
    PUBLISHED,
    SOURCE,
    claim,
    every,
    factor,
    geometric_mean,
    ratios,
)
from reproductions.laboratory import Row
from reproductions.paper import Findings
from reproductions.published import Column, Table


class Phase(NamedTuple):
    """A phase of the algorithm: its option, the paper's name of variants, and which there are."""

    option: str
    name: str
    figure: str
    choices: tuple[int, ...]
    highest: float


INIT = Phase("init", "Init", "figure-7", (1, 2), 4)
JUMP = Phase("jump", "Jump", "figure-8", (1, 2, 3), 8)
FINISH = Phase("finish", "Fini", "figure-9", (1, 2), 3)


def measure(phase: Phase, laboratory: Laboratory, checkpoint: Path | None = None) -> Findings:
    measured = laboratory.graphs(checkpoint)
    rows = [
        {
            "input": row["input"],
            "stand_in": row["stand_in"],
            "variant": f"{phase.name}{choice}",
            "milliseconds": 1e3 * pair[0],
            "relative": pair[0] / pair[1],
        }
        for row in measured.rows
        for choice in (*phase.choices, DEFAULTS[phase.option])
        if (pair := _seconds(row, variant(phase.option, choice)))
    ]
    return {
        "rows": rows,
        "fits": {"geometric_means": _means(rows)},
        "published": {
            "geometric_means": PUBLISHED[phase.figure]["means"],
            "machine": PUBLISHED[phase.figure]["machine"],
            "source": SOURCE,
        },
        **measured.described(),
        "base": f"{phase.name}{DEFAULTS[phase.option]}",
        "highest": phase.highest,
    }


def _seconds(row: Row, name: str) -> tuple[float, float] | None:
    """Return the times of a variant and of "ecl": without those of launches, if there are both."""
    for times in (row["captured"], row["seconds"]):
        if name in times and "ecl" in times:
            return times[name], times["ecl"]
    return None


def table_of(rows: list[Row]) -> Table:
    """Return the relative times by variant and graph."""
    table: Table = {}
    for row in rows:
        table.setdefault(row["variant"], {})[row["input"]] = row["relative"]
    return table


def _means(rows: list[Row]) -> dict[str, float | None]:
    return {name: geometric_mean(column.values()) for name, column in table_of(rows).items()}


def draw(findings: Findings, canvas: Any) -> None:
    """Draw the relative times, and at the mean those that the paper states."""
    base, table = findings["base"], table_of(findings["rows"])
    shown: Table = {
        name: {**column, MEAN: findings["fits"]["geometric_means"][name]}
        for name, column in table.items()
        if name != base
    }
    for name, mean in findings["published"]["geometric_means"].items():
        shown[f"{name} in 2018"] = {MEAN: mean}
    names = starred(findings["rows"], findings.get("shares"))
    relative_panels(canvas, {"* stands in": shown}, base, names, findings["highest"])


def _against(findings: Findings, name: str, base: str) -> dict[str, float]:
    """Return the times of a variant over those of another one, by graph."""
    table = table_of(findings["rows"])
    empty: Column = {}
    return ratios(table.get(name, empty), table.get(base, empty))


def _others(
    means: dict[str, float | None], name: str, of: Callable[[list[float]], float]
) -> float | None:
    """Return the least or the largest mean of the other choices."""
    others = [mean for choice, mean in means.items() if choice != name and mean]
    return of(others) if others else None


def claims_of_start(findings: Findings) -> list[Claim]:
    first, second = (_against(findings, f"Init{n}", "Init3") for n in (1, 2))
    means = findings["fits"]["geometric_means"]
    return [
        factor("figure-7.fast", first.get("rmat16.sym")),
        factor("figure-7.slow", first.get("europa_osm")),
        factor("figure-7.init1", means.get("Init1")),
        every("figure-7.init2-never", {graph: over >= 1 for graph, over in second.items()}),
        factor("figure-7.init2", means.get("Init2")),
        claim(
            "figure-7.fastest",
            ", ".join(f"{name} {mean:.3g}" for name, mean in means.items() if mean),
            ratio(_others(means, "Init3", min), means.get("Init3")),
        ),
        claim(
            "figure-7.worst-case",
            f"{1 / min(first.values()):.3g} times slower, {max(first.values()):.3g} times faster"
            if first
            else "not measured",
            1 / min(first.values()) / max(first.values()) if first else None,
        ),
    ]


def claims_of_jumps(findings: Findings) -> list[Claim]:
    means = findings["fits"]["geometric_means"]
    multiple, single, unjumped = (_against(findings, f"Jump{n}", "Jump4") for n in (1, 2, 3))
    both = _against(findings, "Jump2", "Jump1")
    return [
        every("figure-8.jump1-never", {graph: over >= 1 for graph, over in multiple.items()}),
        factor("figure-8.jump1", means.get("Jump1")),
        every("figure-8.jump2-under-jump1", {graph: over < 1 for graph, over in both.items()}),
        factor("figure-8.europa", single.get("europa_osm")),
        factor("figure-8.jump2", means.get("Jump2")),
        claim(
            "figure-8.worst",
            f"{means['Jump3']:.3g} times on average" if means.get("Jump3") else "not measured",
            ratio(means.get("Jump3"), _others(means, "Jump3", max)),
        ),
        factor("figure-8.jump3", means.get("Jump3")),
        factor("figure-8.longest-bar", max(unjumped.values(), default=None)),
        every(
            "figure-8.fastest",
            {
                graph: min(multiple[graph], single[graph], unjumped[graph]) >= 1
                for graph in multiple
                if graph in single and graph in unjumped and graph != "europa_osm"
            },
        ),
    ]


def claims_of_end(findings: Findings) -> list[Claim]:
    means = findings["fits"]["geometric_means"]
    first, second = (_against(findings, f"Fini{n}", "Fini3") for n in (1, 2))
    return [
        every("figure-9.fini1-never", {graph: over >= 1 for graph, over in first.items()}),
        every("figure-9.fini1-at-most", {graph: over <= 1.04 for graph, over in first.items()}),
        factor("figure-9.fini1", means.get("Fini1")),
        factor("figure-9.delaunay", second.get("delaunay_n24")),
        factor("figure-9.fini2", means.get("Fini2")),
    ]
