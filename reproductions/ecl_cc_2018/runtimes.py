"""Figs. 11 to 16 and Tables 5 to 10: what programs take on GPUs and on CPUs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import conncomp
from conncomp.bench.peers import TABLES, peers
from reproductions.ecl_cc_2018 import published
from reproductions.ecl_cc_2018.claims import HUBS, STAND_INS, listed, mean_ratio, ratios
from reproductions.ecl_cc_2018.laboratory import Laboratory, on_threads
from reproductions.ecl_cc_2018.pictures import (
    GRAPHS,
    MEAN,
    cell,
    relative_panels,
    starred,
)
from reproductions.ecl_cc_2018.published import SOURCE, Column, Table, geometric_mean
from reproductions.paper import Claim, Findings
from reproductions.pictures import table


@dataclass(frozen=True)
class Comparison:
    """A figure of relative times, and the table of absolute ones behind it.

    Attributes
    ----------
    table : dict
        The published milliseconds, by program and graph; the first program is theirs.
    machine : str
        What they ran on.
    section : str
    means : dict of str to float
        How many times as long as theirs a program takes on average, as they say.
    remarks : tuple of (str, str, float)
        What else they say, what tells of it, and their number: on which part of the graphs theirs
        is "fastest", and by how much at its "best" it outperforms each.
    measured_as : dict of str to str
        What is measured here of a program.
    newer : dict, optional
        The published milliseconds of the same programs on the newer machine.
    """

    table: Table
    machine: str
    section: str
    means: Mapping[str, float]
    remarks: tuple[tuple[str, str, float], ...]
    measured_as: Mapping[str, str]
    newer: Table | None = None


GPU = {"Soman": "soman"}
SERIAL = {"igraph": "igraph"}
TITAN = Comparison(
    published.TABLE_5,
    "GeForce GTX Titan X",
    "5.2",
    {"Groute": 1.8, "Soman": 4.0, "IrGL": 6.4, "Gunrock": 8.4},
    (
        ("faster than Gunrock, IrGL and Soman on all tested inputs", "", 1),
        ("faster than Groute on 15 of the 18 inputs and tied on amazon0601", "Groute", 1),
        ("Groute is 1.25 times faster on as-skitter and 1.34 times on europa_osm", "Groute", 1),
    ),
    GPU,
)
KEPLER = Comparison(
    published.TABLE_6,
    "Tesla K40c",
    "5.2",
    {"Groute": 1.6, "Soman": 4.3, "IrGL": 5.8, "Gunrock": 11.2},
    (
        ("faster than Gunrock, IrGL and Soman on all tested inputs", "", 1),
        ("outperforms Groute on 13 inputs and is tied on USA-NY", "Groute", 1),
        ("Groute is 8 % to 32 % faster on the remaining four inputs", "Groute", 1),
        (
            "the Titan X outperforms the K40 but for Groute on citationCiteseer and rmat22.sym",
            "newer",
            0,
        ),
    ),
    GPU,
    published.TABLE_5,
)
XEON = Comparison(
    published.TABLE_7,
    "two Xeon E5-2687W v3, 40 threads",
    "5.3",
    {
        "ndHybrid": 0.98,
        "Ligra+ BFSCC": 1.5,
        "Ligra+ Comp": 2.2,
        "CRONO": 3.5,
        "Multistep": 3.6,
        "Galois": 4.7,
    },
    (
        (
            "ECL-CC OMP, Ligra+ BFSCC and ndHybrid are each fastest on five inputs, Ligra+ Comp on "
            "two, Galois on one",
            "fastest",
            5 / 18,
        ),
        (
            "but for Multistep, all codes are faster than ECL-CC OMP on an input, by 1.1 to 21 "
            "times",
            "worst",
            1.1,
        ),
        ("ECL-CC OMP outperforms each code by 8 to 369 times on a graph", "best", 8),
    ),
    {},
)
OLD_XEON = Comparison(
    published.TABLE_8,
    "two Xeon X5690, 12 threads",
    "5.3",
    {
        "Ligra+ BFSCC": 1.7,
        "ndHybrid": 1.9,
        "Multistep": 2.7,
        "CRONO": 6.8,
        "Ligra+ Comp": 7.2,
        "Galois": 22.9,
    },
    (
        (
            "ECL-CC OMP is fastest on ten inputs, Ligra+ BFSCC on six, Ligra+ Comp and Multistep "
            "on one each",
            "fastest",
            10 / 18,
        ),
        (
            "Ligra+ BFSCC is faster by up to 3.4 times, Ligra+ Comp and ndHybrid by 1.9, Multistep "
            "by 1.2",
            "worst",
            1.2,
        ),
        ("ECL-CC OMP outperforms each code by 16 to 558 times on an input", "best", 16),
        (
            "Ligra+ Comp and Galois consistently run faster on the more parallel system, the "
            "others on a third to almost all inputs slower",
            "newer",
            0,
        ),
    ),
    {},
    published.TABLE_7,
)
SERIAL_XEON = Comparison(
    published.TABLE_9,
    "Xeon E5-2687W v3",
    "5.4",
    {"Galois": 2.6, "Boost": 5.2, "igraph": 6.7, "Lemon": 9.1},
    (
        ("ECL-CC SER is the fastest on 16 inputs, Galois on two", "fastest", 16 / 18),
        (
            "Galois is 72 % faster on internet, 62 % on USA-NY; Lemon, too, on internet",
            "worst",
            1.72,
        ),
        ("ECL-CC SER outperforms each code by 9.1 to 40 times on an input", "best", 9.1),
    ),
    SERIAL,
)
SERIAL_OLD_XEON = Comparison(
    published.TABLE_10,
    "Xeon X5690",
    "5.4",
    {"Boost": 5.3, "igraph": 7.9, "Galois": 8.1, "Lemon": 11},
    (
        ("ECL-CC SER is fastest on all 18 inputs, by at least a factor of 3.1", "fastest", 1),
        ("ECL-CC SER outperforms the other codes by 7.7 to 27 times on an input", "best", 7.7),
        ("the serial codes generally run faster on the newer system", "newer", 0),
    ),
    SERIAL,
    published.TABLE_9,
)


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
        "size": laboratory.size,
    }


def _by_code(rows: list[dict[str, Any]], codes: list[str]) -> Table:
    """Return the milliseconds of each program by graph."""
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
        f"here, relative to {next(iter(times_now), '')}": times_now,
        f"in 2018, {findings['published']['machine']}": of_paper,
    }
    relative = {title: _relative(times) for title, times in panels.items()}
    relative_panels(canvas, relative, "ECL-CC", starred(findings["rows"]))


def _relative(times: Table) -> Table:
    base: Column = next(iter(times.values()), {})
    relative: Table = {}
    for code, column in list(times.items())[1:]:
        divided = ratios(column, base)
        relative[code] = {**divided, MEAN: geometric_mean(divided.values())}
    return relative


def draw_table(findings: Findings, canvas: Any) -> None:
    """Draw the milliseconds: here, and as published."""
    codes, of_paper = findings["codes"], findings["published"]["milliseconds"]
    names = starred(findings["rows"])
    times_now = _by_code(findings["rows"], codes)
    lines = [
        (
            names.get(graph, graph),
            *(cell(times_now[code].get(graph), 3) for code in codes),
            *(cell(column[graph], 1) for column in of_paper.values()),
        )
        for graph in GRAPHS
    ]
    header = ("ms; * stands in", *codes, *(f"{name}, 2018" for name in of_paper))
    table(canvas, [_folded(words) for words in header], lines)


def _folded(words: str) -> str:
    """Return a header on two lines, if it is long."""
    return words.replace(" on ", "\non ", 1).replace(", ", ",\n", 1)


def claims(comparison: Comparison, findings: Findings) -> list[Claim]:
    """Return what the paper says of a comparison, in the order of its text."""
    times_now = _by_code(findings["rows"], findings["codes"])
    base = next(iter(times_now.values()), {})
    name = next(iter(comparison.table))
    section = f"Sec. {comparison.section}"
    said = [
        _claim_of_others(f"{section}: {words}", kind, number, comparison, times_now)
        for words, kind, number in comparison.remarks
    ]
    for code, times in comparison.means.items():
        says = f"{section}: on average {name} is {times:g} times as fast as {code}"
        of_table = findings["published"]["geometric_means"][code]
        measured_as = comparison.measured_as.get(code, "")
        mean = mean_ratio(times_now.get(measured_as, {}), base)
        if mean is None:
            said.append(Claim(says, f"{code} is not measured; their table: {of_table:.3g}", None))
        else:
            says_here = f"{measured_as}: {mean:.3g} times; their table: {of_table:.3g}"
            near = 1 / 1.5 <= mean / times <= 1.5
            said.append(Claim(says, says_here, near, _reason(comparison)))
    return said


def _reason(comparison: Comparison) -> str:
    return HUBS if comparison.section == "5.2" else STAND_INS


def _claim_of_others(
    says: str, kind: str, number: float, comparison: Comparison, times_now: Table
) -> Claim:
    """Return a claim of single graphs: what their table tells, and what is measured here."""
    of_paper = comparison.table
    if kind == "Groute":
        groute = ratios(of_paper["Groute"], of_paper["ECL-CC"])
        slower = [graph for graph, ratio in groute.items() if ratio > 1]
        faster = [f"{g} {1 / ratio:.2f}" for g, ratio in groute.items() if ratio < 1]
        words = f"their table: slower on {len(slower)}, faster on {', '.join(faster)}"
        return Claim(says, f"Groute is not measured; {words}", None)
    if not kind:
        programs, base = dict(list(times_now.items())[1:]), next(iter(times_now.values()), {})
        soman = ratios(programs.get("soman", {}), base)
        slower = [graph for graph, ratio in soman.items() if ratio < 1]
        words = f"of them only Soman's is measured: slower on {len(soman) - len(slower)}"
        words += f" of {len(soman)} graphs" + (f", not on {listed(slower)}" if slower else "")
        return Claim(says, words, not slower if soman else None, HUBS)
    if comparison.newer and kind == "newer":
        words = f"their tables, faster on the newer one: {_faster_on(comparison.newer, of_paper)}"
        return Claim(says, f"one machine is measured; {words}", None)
    words = f"their table: {_EXTREMES[kind](of_paper)}"
    if len(times_now) < 2:
        return Claim(says, words, None)
    holds = _JUDGES[kind](times_now, number) if kind in _JUDGES else None
    return Claim(says, f"here: {_EXTREMES[kind](times_now)}; {words}", holds, STAND_INS)


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


def _over_libraries(times: Table) -> dict[str, dict[str, float]]:
    """Return the ratios of other libraries to the first program, by library and graph."""
    base, libraries = next(iter(times.values())), peers("graph", "cpu")
    divided = {code: ratios(column, base) for code, column in times.items() if code in libraries}
    return {code: of for code, of in divided.items() if of}


def _is_fastest(times: Table, part: float) -> bool | None:
    """Say whether no other library is faster than the first program on a part of the graphs."""
    over = _over_libraries(times)
    graphs = {graph for of in over.values() for graph in of}
    if not graphs:
        return None
    wins = sum(all(of.get(graph, 1) >= 1 for of in over.values()) for graph in graphs)
    return wins >= part * len(graphs)


def _is_far_ahead(times: Table, factor: float) -> bool | None:
    """Say whether the first program is so many times as fast as each library, on some graph."""
    over = _over_libraries(times)
    return all(max(of.values()) >= factor for of in over.values()) if over else None


_JUDGES = {"fastest": _is_fastest, "best": _is_far_ahead}
