"""Table 3, what the graphs are; and section 7, what the best kernel gains over the CPU."""

from collections.abc import Iterable
from typing import Any

from conncomp.bench.units import format_ratio
from reproductions.claims import Claim, share
from reproductions.hawick_2010.graphs import FAMILIES, MILLION, measure
from reproductions.hawick_2010.laboratory import (
    CPU,
    CPU_BFS,
    GRAPH_KERNELS,
    MACHINE,
    OF_PAPER,
    PUBLISHED,
    Laboratory,
    claim,
    compare,
)
from reproductions.paper import Findings, Show
from reproductions.pictures import bars, groups, legend, table

FIRST, SECOND, THIRD = GRAPH_KERNELS.values()
OF_TABLE = "Table 3"
COLUMNS = "vertices", "edges", "degree", "components"

# ----------------------------------------------------------------------------------------- speed-up


def speed_up(laboratory: Laboratory) -> Findings:
    """Compare the best kernel, on a CPU the search, with Algorithm 1 for largest graphs."""
    rows = []
    ways = (FIRST, SECOND, THIRD) if laboratory.on_gpu else (CPU_BFS,)
    for family, of_family in groups(measure(laboratory, list(FAMILIES)), "family").items():
        last = [row for row in of_family if row["graph"] == of_family[-1]["graph"]]
        (serial,) = (row for row in last if row["way"] == CPU)
        timed = [row for row in last if row["way"] in ways and row["seconds"] is not None]
        if not timed:
            continue
        best = min(timed, key=lambda row: float(row["seconds"]))
        rows.append(
            {
                "family": family,
                "graph": best["graph"],
                "degree": best["degree"],
                "best": best["way"],
                "speed_up": serial["seconds"] / best["seconds"],
                "with_copies": serial["seconds"] / (best["seconds"] + best["copies"]),
            }
        )
    return {"rows": rows, "fits": {}, "published": {**PUBLISHED["speed-up"], "machine": MACHINE}}


def draw_speed_up(findings: Findings, canvas: Any) -> None:
    rows, axes = findings["rows"], canvas.subplots()
    names = [f"{row['family']}\n{row['best']}" for row in rows]
    alone, copied = ([row[name] for row in rows] for name in ("speed_up", "with_copies"))
    bars(axes, names, {"without copies": alone, "with copies": copied})
    axes.set_yscale("log")
    axes.axhspan(*findings["published"]["speed-up"], alpha=0.2, color="k", zorder=0, label=OF_PAPER)
    axes.set_ylabel("Algorithm 1 on the CPU over the best")
    legend(axes)


def claims_of_speed_up(findings: Findings) -> list[Claim]:
    rows = findings["rows"]
    if all(row["best"] == CPU_BFS for row in rows):
        return [
            claim(
                "speed-up.search",
                "over Algorithm 1: " + compare({row["family"]: row["speed_up"] for row in rows}),
                max(row["speed_up"] for row in rows),
            )
        ]
    usual = [row for row in rows if row["family"] != "Line"]
    gains = {row["family"]: row["speed_up"] for row in usual}
    (line,) = (
        (row for row in rows if row["family"] == "Line") if len(usual) < len(rows) else (None,)
    )
    of_paper = findings["published"]["speed-up"]
    chosen = [row["best"] == (FIRST if row["degree"] > 90 else SECOND) for row in usual]
    return [
        claim("speed-up.largest", compare(gains), _farthest(gains.values(), *of_paper)),
        claim(
            "speed-up.copies",
            compare({row["family"]: row["with_copies"] for row in usual}),
            min(row["with_copies"] / row["speed_up"] for row in usual),
        ),
        claim(
            "speed-up.diameter",
            f"line: {format_ratio(line['speed_up'])} times as fast" if line else "given up",
            line["speed_up"] if line else 0.0,
        ),
        claim(
            "speed-up.choice",
            f"that is the fastest of {sum(chosen)} of {len(chosen)} graphs",
            share(chosen),
        ),
    ]


def _farthest(values: Iterable[float], low: float, high: float) -> float:
    """Return that value, all above 0, which is farthest from an interval, in ratios."""
    return max(values, key=lambda value: max(low / value, value / high))


# ------------------------------------------------------------------------------------------ Table 3


def properties(laboratory: Laboratory) -> Findings:
    rows = []
    for family, of_family in groups(measure(laboratory, list(FAMILIES)), "family").items():
        of_graph = {row["graph"]: row for row in of_family}.values()
        spans = {
            name: [min(row[name] for row in of_graph), max(row[name] for row in of_graph)]
            for name in COLUMNS
        }
        rows.append({"family": family, "graphs": len(of_graph), **spans})
    of_table = PUBLISHED["table-3"]
    said = {
        name: dict(zip(of_table["columns"], values, strict=True))
        for name, values in of_table["rows"].items()
    }
    return {"rows": rows, "fits": {}, "published": said}


def draw_properties(findings: Findings, canvas: Any) -> None:
    header, lines = ["graphs"], []
    for name in COLUMNS:
        header += [name, OF_TABLE]
    for row in findings["rows"]:
        cells = [row["family"]]
        said = findings["published"][row["family"]]
        for name, of_paper in zip(COLUMNS, said.values(), strict=True):
            low, high = (
                f"{value:,.3g}" if name == "degree" else f"{value:,}" for value in row[name]
            )
            cells += [low if low == high else f"{low} to {high}", of_paper]
        lines.append(cells)
    table(canvas, header, lines)


def claims_of_properties(findings: Findings) -> list[Claim]:
    rows = {row["family"]: row for row in findings["rows"]}
    claims = []
    for family, said in (("Disjoint 1", [100, 31_044]), ("Disjoint 3", [1, 1_000_019])):
        counted = rows[family]["components"]
        as_published = rows[family]["vertices"][-1] in (16 * MILLION, 5 * MILLION)
        claims.append(
            claim(
                "table-3.components",
                f"{counted[0]:,} to {counted[1]:,}",
                max(abs(a - b) / b for a, b in zip(counted, said, strict=True))
                if as_published
                else None,
                family=family,
                low=said[0],
                high=said[1],
            )
        )
    single = [name for name, said in PUBLISHED["table-3"]["rows"].items() if said[3] == "1"]
    claims.append(
        claim(
            "table-3.single",
            compare({name: rows[name]["components"][1] for name in single}),
            share(rows[name]["components"] == [1, 1] for name in single),
        )
    )
    return claims


SPEED_UP = Show(speed_up, draw_speed_up, claims_of_speed_up)
TABLE_3 = Show(properties, draw_properties, claims_of_properties)
