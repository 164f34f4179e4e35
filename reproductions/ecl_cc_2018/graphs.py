"""Tables 1 and 2: the programs and the graphs; Table 4: the lengths of paths; Fig. 10: kernels."""

import statistics
from pathlib import Path
from typing import Any

from conncomp.bench.peers import PEERS
from reproductions.claims import Claim, share
from reproductions.ecl_cc_2018.laboratory import Laboratory
from reproductions.ecl_cc_2018.pictures import cell, part, starred
from reproductions.ecl_cc_2018.published import (
    PUBLISHED,
    SOURCE,
    TABLE_2,
    TABLE_4,
    claim,
    percentage,
)
from reproductions.laboratory import Row
from reproductions.paper import Findings
from reproductions.pictures import legend, table

# ------------------------------------------------------------------------------------------ Table 1

NOT_BUILT = "published column only: in C++, not built here"
# What is measured of the paper's programs.
MEASURED = {
    "ECL-CC": "ecl",
    "ECL-CC OMP": "ecl on all threads",
    "ECL-CC SER": "ecl on 1 thread",
    "IrGL": "published column only: had from its author",
    "Soman": "soman, written anew",
    "Boost": "published column only: pip has no wheel of graph-tool",
    "igraph": "igraph",
}
PROGRAMS = [
    (*program, MEASURED.get(program[2], NOT_BUILT)) for program in PUBLISHED["table-1"]["programs"]
]
# (device, serial or parallel, name, version in the paper, what is measured of it).
TODAY = (
    ("GPU", "parallel", "auto", "", "the default of this library"),
    ("CPU", "parallel", "auto", "", "the default of this library"),
    ("CPU", "parallel", "NetworKit", "", "networkit"),
    ("CPU", "serial", "NetworKit", "", "networkit-serial"),
    ("CPU", "serial", "SciPy", "", "scipy"),
)


def programs(laboratory: Laboratory) -> Findings:
    laboratory.notify("versions of libraries")
    versions = _versions()
    names = ("device", "kind", "program", "in_the_paper", "measured")
    rows = []
    for number, line in enumerate((*PROGRAMS, *TODAY)):
        row: Row = dict(zip(names, line, strict=True))
        if row["measured"] in versions:
            row["measured"] += f" {versions[row['measured']]}"
        rows.append({**row, "since": number >= len(PROGRAMS)})
    return {"rows": rows, "published": {"source": SOURCE}}


def _versions() -> dict[str, str]:
    """Return the versions of libraries, or that they are not installed."""
    versions = {}
    for peer in PEERS["graph"]:
        try:
            versions[peer.name] = peer(1).version
        except ImportError:
            versions[peer.name] = "(not installed)"
    return versions


def draw_programs(findings: Findings, canvas: Any) -> None:
    table(
        canvas,
        ("program", "device", "", "version, source in 2018", "measured here"),
        [
            (
                row["program"] + (" (since)" if row["since"] else ""),
                *(row["device"], row["kind"], row["in_the_paper"], row["measured"]),
            )
            for row in findings["rows"]
        ],
    )


# ------------------------------------------------------------------------------------------ Table 2

FIELDS = ("vertices", "arcs", "d_min", "d_avg", "d_max", "components")


def inputs(laboratory: Laboratory, checkpoint: Path | None = None) -> Findings:
    measured = laboratory.graphs(checkpoint)
    rows = [
        {name: row[name] for name in ("input", "description", "stand_in", *FIELDS)}
        for row in measured.rows
    ]
    return {
        "rows": rows,
        "fits": {
            name: max(row[name] for row in rows) / min(row[name] for row in rows)
            for name in ("vertices", "arcs", "d_avg", "d_max")
            if rows
        },
        "published": {"table": TABLE_2, "source": SOURCE},
        **measured.described(),
    }


def draw_inputs(findings: Findings, canvas: Any) -> None:
    names, lines = starred(findings["rows"]), []
    shares = findings.get("shares", {})
    by_graph = {row["input"]: row for row in findings["rows"]}
    for graph in TABLE_2["vertices"]:
        published = (cell(TABLE_2[name][graph], int(name == "d_avg")) for name in FIELDS)
        values = ("left out",) + ("",) * len(FIELDS)
        if row := by_graph.get(graph):
            values = tuple(cell(row[name], int(name == "d_avg")) for name in FIELDS)
            values += (part(shares.get(graph)),)
        lines += [(names.get(graph, graph), "2018", *published, ""), ("", "here", *values)]
    columns = ("vertices", "arcs", "d min", "d avg", "d max", "components", "share")
    header = ("graph, * stands in", "", *columns)
    table(canvas, header, lines)


def claims_of_inputs(findings: Findings) -> list[Claim]:
    said = PUBLISHED["table-2"]["factors"]
    words = {
        "vertices": "number of vertices",
        "arcs": "number of edges",
        "d_avg": "average degree",
        "d_max": "maximum degree",
    }
    return [
        claim(
            "table-2.factor",
            f"{findings['fits'][name]:,.0f}" if name in findings["fits"] else "not measured",
            findings["fits"].get(name),
            words=words[name],
            said=times,
        )
        for name, times in said.items()
    ]


# ------------------------------------------------------------------------------------------ Table 4

EXCEPTION = "europa_osm"  # to what the paper says of paths


def paths(laboratory: Laboratory, checkpoint: Path | None = None) -> Findings:
    measured = laboratory.graphs(checkpoint)
    return {
        "rows": [
            {"input": row["input"], "stand_in": row["stand_in"], "jump": int(jump), **lengths}
            for row in measured.rows
            for jump, lengths in row["paths"].items()
        ],
        "published": {"table": TABLE_4, "source": SOURCE, "jump": 4},
        **measured.described(),
    }


def draw_paths(findings: Findings, canvas: Any) -> None:
    by_graph: dict[str, dict[int, Row]] = {}
    for row in findings["rows"]:
        by_graph.setdefault(row["input"], {})[row["jump"]] = row
    names, lines = starred(findings["rows"], findings.get("shares")), []
    for graph, rows in by_graph.items():
        jumped, plain = rows[4], rows[3]
        lines.append(
            (
                names[graph],
                *(cell(jumped[name]) for name in ("average", "average_walked")),
                cell(TABLE_4["average"][graph]),
                *(cell(jumped["maximum"], 0), cell(TABLE_4["maximum"][graph], 0)),
                *(cell(plain["average"]), cell(plain["maximum"], 0)),
            )
        )
    header = (
        *("graph, * stands in", "average", "without those of 0", "in 2018"),
        *("maximum", "in 2018", "Jump3: average", "maximum"),
    )
    table(canvas, header, lines)


def claims_of_paths(findings: Findings) -> list[Claim]:
    jumped = {row["input"]: row for row in findings["rows"] if row["jump"] == 4}
    averages = {graph: row["average_walked"] for graph, row in jumped.items()}
    longest = {graph: row["maximum"] for graph, row in jumped.items()}
    if not averages:
        return []
    typical = statistics.median(averages.values())
    last = max(averages, key=lambda graph: averages[graph])
    return [
        claim(
            "table-4.average",
            f"{min(averages.values()):.2f} to {max(averages.values()):.2f}, median {typical:.2f}",
            max((mean for graph, mean in averages.items() if graph != EXCEPTION), default=None),
        ),
        claim(
            "table-4.longest",
            f"{max(longest.values())} at most, median {statistics.median(longest.values()):g}",
            max((most for graph, most in longest.items() if graph != EXCEPTION), default=None),
        ),
        claim(
            "table-4.exception",
            f"the longest average is {averages[last]:.2f}, of {last}; of europa_osm "
            + ", ".join(cell(of.get(EXCEPTION)) for of in (averages, longest)),
            share([last == EXCEPTION, longest.get(EXCEPTION) == max(longest.values())]),
        ),
    ]


# ---------------------------------------------------------------------------------------- Figure 10

# Our kernels, and what the paper calls them.
KERNELS = {
    "ecl_init": "initialization",
    "ecl_low": "compute 1",
    "ecl_mid": "compute 2",
    "ecl_high": "compute 3",
    "ecl_finish": "finalization",
}
SHARES = PUBLISHED["figure-10"]["shares"]
COMPUTE = ("ecl_low", "ecl_mid", "ecl_high")


def kernels(laboratory: Laboratory, checkpoint: Path | None = None) -> Findings:
    measured, rows = laboratory.graphs(checkpoint), []
    for row in measured.rows:
        total = sum(row["kernels"].values())
        parts = {name: seconds / total for name, seconds in row["kernels"].items()}
        rows.append(
            {
                "input": row["input"],
                "stand_in": row["stand_in"],
                "milliseconds": 1e3 * total,
                "shares": parts,
            }
        )
    return {
        "rows": rows,
        "fits": {
            name: statistics.mean(row["shares"][name] for row in rows) if rows else None
            for name in KERNELS
        },
        "published": {**PUBLISHED["figure-10"], "source": SOURCE},
        **measured.described(),
    }


def draw_kernels(findings: Findings, canvas: Any) -> None:
    """Draw Fig. 10, with the averages here and in the paper at the right."""
    canvas.set_size_inches(10, 5.5)
    axes = canvas.subplots()
    groups = [row["shares"] for row in findings["rows"]]
    groups += [findings["fits"], findings["published"]["shares"]]
    names = [
        *starred(findings["rows"], findings.get("shares")).values(),
        "average",
        "average in 2018",
    ]
    bottom = [0.0] * len(groups)
    for kernel, words in KERNELS.items():
        heights = [100 * (parts[kernel] or 0) for parts in groups]
        axes.bar(range(len(groups)), heights, 0.8, bottom=bottom, label=f"{words} ({kernel})")
        bottom = [low + high for low, high in zip(bottom, heights, strict=True)]
    axes.set_xticks(range(len(groups)), names, rotation=90, fontsize="x-small")
    axes.set(ylabel="% of the runtime", ylim=(0, 130), yticks=range(0, 101, 20))
    legend(axes)


def claims_of_kernels(findings: Findings) -> list[Claim]:
    parts = findings["fits"]
    whole = [parts[name] for name in COMPUTE]
    said = [
        percentage(
            "figure-10.share",
            parts[name],
            words=words,
            percent=100 * SHARES[name],
            said=SHARES[name],
        )
        for name, words in KERNELS.items()
    ]
    total = None if None in whole else sum(whole)
    return [*said, percentage("figure-10.compute", total)]
