"""Figs. 11 to 16 and Tables 5 to 10: what programs take on GPUs and on CPUs."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import conncomp
from conncomp.bench.peers import TABLES, peers
from reproductions.claims import Claim, share
from reproductions.ecl_cc_2018.laboratory import Laboratory, on_threads
from reproductions.ecl_cc_2018.pictures import GRAPHS, MEAN, cell, relative_panels, starred
from reproductions.ecl_cc_2018.published import (
    PUBLISHED,
    SOURCE,
    claim,
    geometric_mean,
    listed,
    mean_ratio,
    ratios,
)
from reproductions.paper import Findings
from reproductions.pictures import table
from reproductions.published import Column, Table, columns


@dataclass(frozen=True)
class Remark:
    """What the paper says of single graphs."""

    says: str
    kind: str = ""  # what tells of it


@dataclass(frozen=True)
class Comparison:
    """A figure of relative times, and the table of absolute ones behind it."""

    table: Table  # published milliseconds, by program and graph; the first one is theirs
    machine: str  # what they ran on
    section: str
    means: Mapping[str, float]  # how many times as long as theirs a program takes, as they say
    remarks: tuple[Remark, ...]  # what else they say
    measured_as: Mapping[str, str]  # what is measured here of a program
    newer: Table | None = None  # as `table`, on the newer machine


def _comparison(
    number: int, measured_as: Mapping[str, str], newer: Table | None = None
) -> Comparison:
    of_table = PUBLISHED[f"table-{number}"]
    return Comparison(
        columns(of_table),
        of_table["machine"],
        of_table["section"],
        of_table["means"],
        tuple(Remark(**remark) for remark in of_table["remarks"]),
        measured_as,
        newer,
    )


# Algorithms of papers, which were written anew here: they are not their authors' programs.
REPRODUCED = ("ecl", "soman", "edge-propagation", "vertex-propagation", "bfs", "recolouring")
GPU = {"Soman": "soman"}
SERIAL = {"igraph": "igraph"}
TITAN = _comparison(5, GPU)
KEPLER = _comparison(6, GPU, TITAN.table)
XEON = _comparison(7, {})
OLD_XEON = _comparison(8, {}, XEON.table)
SERIAL_XEON = _comparison(9, SERIAL)
SERIAL_OLD_XEON = _comparison(10, SERIAL, SERIAL_XEON.table)


def codes_of(comparison: Comparison) -> list[str]:
    """Return what is measured beside a comparison's programs; the first is the paper's."""
    most = conncomp.get_num_threads()
    if comparison.section == "5.2":
        names = [name for name in TABLES["graph"]["cuda"] if name != "ecl"]
        return ["ecl", *names, *peers("graph", "cuda")]
    if comparison.section == "5.3":
        return [on_threads("ecl", most), on_threads("auto", most), "networkit"]
    serial = ("bfs", "recolouring", "scipy", "igraph", "networkit-serial")
    return [on_threads("ecl", 1), on_threads("auto", 1), *serial]


def measure(
    comparison: Comparison, laboratory: Laboratory, checkpoint: Path | None = None
) -> Findings:
    """Measure our programs and what can be installed; a row for each graph."""
    measured = laboratory.graphs(checkpoint)
    codes = [
        code
        for code in codes_of(comparison)
        if any(code in row["seconds"] or code in row["failures"] for row in measured.rows)
    ]
    rows = [
        {
            "input": row["input"],
            "stand_in": row["stand_in"],
            "arcs": row["arcs"],
            "milliseconds": {
                code: 1e3 * row["seconds"][code] if code in row["seconds"] else None
                for code in codes
            },
            "failures": {code: row["failures"].get(code) for code in codes},
        }
        for row in measured.rows
    ]
    return {
        "rows": rows,
        "codes": codes,
        "fits": {"geometric_means": _means(_by_code(rows, codes))},
        "published": {
            "milliseconds": comparison.table,
            "geometric_means": _means(comparison.table),
            "machine": comparison.machine,
            "source": SOURCE,
        },
        **measured.described(),
    }


def _by_code(rows: list[dict[str, Any]], codes: list[str]) -> Table:
    return {code: {row["input"]: row["milliseconds"][code] for row in rows} for code in codes}


def _means(times: Table) -> dict[str, float | None]:
    """Return the geometric means of times over those of the first program."""
    base = next(iter(times.values()), {})
    return {code: mean_ratio(column, base) for code, column in times.items()}


def draw_figure(findings: Findings, canvas: Any) -> None:
    """Draw the times relative to the paper's program: here, and as published."""
    times_now = _by_code(findings["rows"], findings["codes"])
    of_paper = findings["published"]["milliseconds"]
    panels = {
        f"here, relative to {next(iter(times_now), '')}": {
            shown(code): column for code, column in times_now.items()
        },
        f"in 2018, {findings['published']['machine']}": of_paper,
    }
    relative = {title: _relative(times) for title, times in panels.items()}
    relative_panels(canvas, relative, "ECL-CC", starred(findings["rows"], findings.get("shares")))


def shown(code: str) -> str:
    """Return what a program is called: whether it is a paper's that was written anew here.

    >>> shown("soman"), shown("ecl on 1 thread"), shown("auto"), shown("igraph")
    ('soman (reproduced)', 'ecl (reproduced) on 1 thread', 'auto', 'igraph')
    """
    name, on, threads = code.partition(" on ")
    return f"{name} (reproduced){on}{threads}" if name in REPRODUCED else code


def _relative(times: Table) -> Table:
    base: Column = next(iter(times.values()), {})
    relative: Table = {}
    for code, column in list(times.items())[1:]:
        divided = ratios(column, base)
        relative[code] = {**divided, MEAN: geometric_mean(divided.values())}
    return relative


def draw_table(findings: Findings, canvas: Any) -> None:
    codes, of_paper = findings["codes"], findings["published"]["milliseconds"]
    names = starred(findings["rows"], findings.get("shares"))
    times_now = _by_code(findings["rows"], codes)
    lines = [
        (
            names.get(graph, graph),
            *(cell(times_now[code].get(graph), 3) for code in codes),
            *(cell(column[graph], 1) for column in of_paper.values()),
        )
        for graph in GRAPHS
    ]
    header = ("ms; * stands in", *map(shown, codes), *(f"{name}, 2018" for name in of_paper))
    table(canvas, [_folded(words) for words in header], lines)


def _folded(words: str) -> str:
    """Return a header on two lines, if it is long."""
    return words.replace(" (", "\n(", 1).replace(" on ", "\non ", 1).replace(", ", ",\n", 1)


def claims(comparison: Comparison, findings: Findings) -> list[Claim]:
    """Return what the paper says of a comparison, in the order of its text."""
    times_now = _by_code(findings["rows"], findings["codes"])
    base = next(iter(times_now.values()), {})
    name = next(iter(comparison.table))
    section = comparison.section
    key = "tables.mean-on-gpus" if section == "5.2" else "tables.mean-on-cpus"
    said = [_claim_of_others(remark, comparison, times_now) for remark in comparison.remarks]
    for code, times in comparison.means.items():
        of_table = findings["published"]["geometric_means"][code]
        measured_as = comparison.measured_as.get(code, "")
        mean = mean_ratio(times_now.get(measured_as, {}), base)
        here = f"{code} is not measured"
        if mean is not None:
            here = f"{shown(measured_as)}: {mean:.3g} times"
        here += f"; their table: {of_table:.3g}"
        said.append(claim(key, here, mean, section=section, name=name, said=times, code=code))
    return said


def _claim_of_others(remark: Remark, comparison: Comparison, times_now: Table) -> Claim:
    """Return a claim of single graphs: what their table tells, and what is measured here."""
    of_paper, kind = comparison.table, remark.kind
    words: Any = {"section": comparison.section, "remark": remark.says}
    if kind == "Groute":
        groute = ratios(of_paper["Groute"], of_paper["ECL-CC"])
        slower = [graph for graph, ratio in groute.items() if ratio > 1]
        faster = [f"{g} {1 / ratio:.2f}" for g, ratio in groute.items() if ratio < 1]
        told = f"their table: slower on {len(slower)}, faster on {', '.join(faster)}"
        return claim("tables.remark", f"Groute is not measured; {told}", **words)
    if not kind:
        soman = ratios(times_now.get("soman", {}), next(iter(times_now.values()), {}))
        slower = [graph for graph, ratio in soman.items() if ratio < 1]
        told = f"of them only {shown('soman')} is measured: slower on {len(soman) - len(slower)}"
        told += f" of {len(soman)} graphs" + (f", not on {listed(slower)}" if slower else "")
        part = share(ratio >= 1 for ratio in soman.values())
        return claim("tables.faster-than-soman", told, part, **words)
    if comparison.newer and kind == "newer":
        told = f"their tables, faster on the newer one: {_faster_on(comparison.newer, of_paper)}"
        return claim("tables.remark", f"one machine is measured; {told}", **words)
    told = f"their table: {_EXTREMES[kind](of_paper)}"
    (measured_as, code), *_ = [
        *((here, code) for code, here in comparison.measured_as.items() if times_now.get(here)),
        ("", ""),
    ]
    if not measured_as:
        return claim("tables.remark", f"none of the other programs is measured; {told}", **words)
    base = next(iter(times_now))
    both = {base: times_now[base], measured_as: times_now[measured_as]}
    told = f"of the other programs only {measured_as} is measured: {_EXTREMES[kind](both)}; {told}"
    if kind != "best":
        return claim("tables.remark", told, **words)
    most = max(ratios(both[measured_as], both[base]).values(), default=None)
    of_table = max(ratios(of_paper[code], next(iter(of_paper.values()))).values())
    return claim("tables.best", told, most, said=of_table, **words)


def _faster_on(newer: Table, older: Table) -> str:
    """Tell on how many graphs each program is faster on the newer machine."""
    of_code = {code: ratios(older[code], column) for code, column in newer.items()}
    return ", ".join(
        f"{code} {sum(ratio > 1 for ratio in of.values())} of {len(of)}"
        for code, of in of_code.items()
    )


def _fastest(times: Table) -> str:
    """Tell on how many graphs each program is the fastest."""
    wins: dict[str, int] = {}
    for graph in next(iter(times.values())):
        known = {code: value for code, of in times.items() if (value := of.get(graph))}
        if known:
            winner = min(known, key=lambda code: known[code])
            wins[winner] = wins.get(winner, 0) + 1
    return ", ".join(f"{code} {number}" for code, number in wins.items())


def _faster_at_most(times: Table) -> str:
    """Tell by how much programs are faster than the first one, at most, if they are."""
    base = next(iter(times.values()))
    of_code = {code: ratios(column, base) for code, column in list(times.items())[1:]}
    most = {code: 1 / min(of.values()) for code, of in of_code.items() if of}
    words = ", ".join(f"{code} {times:.3g}" for code, times in most.items() if times > 1)
    return f"faster by up to {words}" if words else "none is faster"


def _slower_at_most(times: Table) -> str:
    """Tell by how much the first program outperforms each, at most."""
    base = next(iter(times.values()))
    of_code = {code: ratios(column, base) for code, column in list(times.items())[1:]}
    most = {code: max(of.values()) for code, of in of_code.items() if of}
    return ", ".join(f"{code} {times:.3g}" for code, times in most.items())


_EXTREMES = {"fastest": _fastest, "worst": _faster_at_most, "best": _slower_at_most}
