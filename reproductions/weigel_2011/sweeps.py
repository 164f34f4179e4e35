"""Figs. 10 to 13 and Table I: Swendsen-Wang sweeps."""

from typing import Any

from reproductions.fits import power_law
from reproductions.laboratory import Row
from reproductions.paper import Findings
from reproductions.pictures import curve, groups, legend, log_axes, published, ticks
from reproductions.weigel_2011.laboratory import (
    AUTO,
    LAST_STAGE,
    OF_PAPER,
    PUBLISHED,
    STAGES,
    Laboratory,
    of_tiles,
)
from reproductions.weigel_2011.tiles import D_MIN

SEWING = of_tiles("sewing", 16)
BY_BETA = (SEWING, *(of_tiles("relaxation", side) for side in (16, 32, 64)))
RELAXATION = "relaxation, the fastest B"


# ------------------------------------------------------------------------------------------ Fig. 10


def by_length(laboratory: Laboratory) -> Findings:
    """Measure sweeps at the critical point against the lattice's length."""
    rows = [row for length in laboratory.scale.lengths for row in _sweeps(laboratory, length)]
    fits: dict[str, Any] = {}
    relaxed = [row for row in rows if row["way"] == RELAXATION]
    if relaxed:
        fastest = min(relaxed, key=lambda row: float(row["ns"]))
        grown = [row for row in relaxed if row["length"] >= fastest["length"]]
        fits["fastest length of relaxation"] = fastest["length"]
        fits["growth of relaxation"] = power_law(
            [row["length"] for row in grown], [row["ns"] for row in grown]
        )
    return {
        "rows": rows,
        "fits": fits,
        "published": {**PUBLISHED["figure-10"], "growth of relaxation": D_MIN**2 / (2 * D_MIN + 1)},
    }


def draw_by_length(findings: Findings, canvas: Any) -> None:
    axes = log_axes(canvas, "L", "ns a site")
    for name, rows in groups(findings["rows"], "way").items():
        curve(axes, rows, "length", "ns", label=name)
    length = findings["published"]["length"]
    published(
        axes, [(length, ns, name) for name, ns in findings["published"]["ns"].items()], OF_PAPER
    )
    ticks(axes, (row["length"] for row in findings["rows"]))
    legend(axes)


def _sweeps(laboratory: Laboratory, length: int) -> list[Row]:
    rows = [laboratory.sweep(length, AUTO)]
    if laboratory.on_gpu:
        relaxed = laboratory.relaxed_sweep(length)
        rows += [laboratory.sweep(length, SEWING), {**relaxed, "way": RELAXATION}]
        rows[-1]["fastest"] = relaxed["way"]
    for row in rows[1:]:
        row["labelling_ns"] = row["local_ns"] + row["consolidation_ns"]
    return rows


# ------------------------------------------------------------------------------------------ Fig. 11


def stages(laboratory: Laboratory) -> Findings:
    """Measure the stages of a sweep that sews, of the default, and the code for a CPU."""
    ways = (AUTO, SEWING) if laboratory.on_gpu else (AUTO,)
    lengths = laboratory.scale.lengths
    rows = [laboratory.sweep(length, way) for way in ways for length in lengths]
    rows += [laboratory.serial_sweep(length) for length in _serial_lengths(laboratory)]
    return {"rows": rows, "fits": {}, "published": PUBLISHED["figure-11"]}


def draw_stages(findings: Findings, canvas: Any) -> None:
    axes = log_axes(canvas, "L", "ns a site")
    of_way = groups(findings["rows"], "way")
    for name, style in ((SEWING.name, "-"), (AUTO.name, ":")):
        for number, stage in enumerate((*STAGES, LAST_STAGE)):
            rows = [row for row in of_way.get(name, ()) if row.get(f"{stage}_ns")]
            text, colour = f"{name}: {stage}", f"C{number}"
            curve(axes, rows, "length", f"{stage}_ns", label=text, linestyle=style, color=colour)
    serial = [row for row in findings["rows"] if row["way"].startswith("serial")]
    curve(axes, serial, "length", "ns", label="serial, CPU", color="gray")
    of_paper = findings["published"]
    points = [*of_paper["ns"].items(), ("CPU", of_paper["serial"])]
    published(axes, [(of_paper["length"], ns, name) for name, ns in points], OF_PAPER)
    ticks(axes, (row["length"] for row in findings["rows"]))
    legend(axes)


def _serial_lengths(laboratory: Laboratory) -> list[int]:
    scale = laboratory.scale
    return [length for length in scale.lengths if length <= scale.longest_serial]


# ------------------------------------------------------------------------------------------ Fig. 12


def by_beta(laboratory: Laboratory) -> Findings:
    scale = laboratory.scale
    ways = (AUTO, *BY_BETA) if laboratory.on_gpu else (AUTO,)
    rows = [
        laboratory.sweep(scale.betas_length, way, ratio=ratio)
        for way in ways
        for ratio in scale.betas
    ]
    return {
        "rows": rows,
        "fits": {
            f"slowest beta, {name}": max(of_way, key=lambda row: float(row["ns"]))[
                "beta_over_critical"
            ]
            for name, of_way in groups(rows, "way").items()
        },
        "published": PUBLISHED["figure-12"],
    }


def draw_by_beta(findings: Findings, canvas: Any) -> None:
    axes = canvas.subplots()
    axes.set(yscale="log", xlabel="beta over the critical one", ylabel="ns a site")
    axes.grid(alpha=0.3)
    for name, rows in groups(findings["rows"], "way").items():
        curve(axes, rows, "beta_over_critical", "ns", label=name)
    of_paper = findings["published"]["sewing"].items()
    published(axes, [(float(beta), ns, "sewing") for beta, ns in of_paper], OF_PAPER)
    legend(axes)


# ------------------------------------------------------------------------------------------ Fig. 13


def speed_up(laboratory: Laboratory) -> Findings:
    """Measure how many times faster sweeps are than the code for a CPU, on one of its threads."""
    rows = []
    for length in _serial_lengths(laboratory):
        serial = laboratory.serial_sweep(length)["ns"]
        rows += [
            {**row, "serial_ns": serial, "speed_up": serial / row["ns"]}
            for row in _sweeps(laboratory, length)
        ]
    said = PUBLISHED["figure-13"]
    of_paper = {
        card: cpu_ns / gpu_ns
        for q, ratio, length, merge, processor, cpu_ns, card, gpu_ns in PUBLISHED["table-1"]["rows"]
        if (q, ratio, length, merge) == (2, 1, said["length"], "sewing")
        if processor == "Q6700" and card in said["cards"]
    }
    return {"rows": rows, "fits": {}, "published": {"length": said["length"], "sewing": of_paper}}


def draw_speed_up(findings: Findings, canvas: Any) -> None:
    axes = log_axes(canvas, "L", "speed-up over one thread of the CPU")
    for name, rows in groups(findings["rows"], "way").items():
        curve(axes, rows, "length", "speed_up", label=name)
    length = findings["published"]["length"]
    of_paper = findings["published"]["sewing"].items()
    published(axes, [(length, ratio, card) for card, ratio in of_paper], OF_PAPER)
    ticks(axes, (row["length"] for row in findings["rows"]))
    legend(axes)


# ------------------------------------------------------------------------------------------ Table I


def table(laboratory: Laboratory) -> Findings:
    """Measure the rows of Table I, on the longest lattice of this size where his is longer."""
    scale, rows = laboratory.scale, []
    longest = scale.longest_of_table if laboratory.on_gpu else scale.lengths[-1]
    for of_paper in PUBLISHED["table-1"]["rows"]:
        q, ratio, published_length, merge, processor, cpu_ns, card, gpu_ns = of_paper
        length = min(published_length, longest)
        point: Any = {"q": q, "ratio": ratio}
        row = {
            "q": q,
            "beta_over_critical": ratio,
            "length": length,
            "merge": merge,
            "published": {
                processor: cpu_ns,
                card: gpu_ns,
                "length": published_length,
                "speed_up": cpu_ns / gpu_ns,
            },
            "default_ns": laboratory.sweep(length, AUTO, **point)["ns"],
        }
        if laboratory.on_gpu:
            merged = (
                laboratory.sweep(length, SEWING, **point)
                if merge == "sewing"
                else laboratory.relaxed_sweep(length, **point)
            )
            row["ns"], row["way"] = merged["ns"], merged["way"]
        if length <= scale.longest_serial:
            row["serial_ns"] = laboratory.serial_sweep(length, **point)["ns"]
        rows.append(row)
    return {"rows": rows, "fits": {}, "published": {}}


def draw_table(findings: Findings, canvas: Any) -> None:
    axes = canvas.subplots()
    rows = findings["rows"]
    places = list(range(len(rows)))
    names = [
        f"q = {row['q']}, {row['beta_over_critical']:g} beta_c, {_lengths(row)}, {row['merge']}"
        for row in rows
    ]
    of_paper = [list(row["published"].items())[:2] for row in rows]
    for column, marker in ((0, "<"), (1, "x")):
        points = [pair[column] for pair in of_paper]
        text = f"Weigel 2011, {'CPU' if column == 0 else 'GPU'}"
        axes.plot([ns for _, ns in points], places, marker, color="black", label=text)
        for place, (machine, ns) in enumerate(points):
            axes.annotate(
                machine, (ns, place), (4, 3), textcoords="offset points", fontsize="xx-small"
            )
    for field, text in (("serial_ns", "serial, CPU"), ("ns", "as his"), ("default_ns", AUTO.name)):
        chosen = [(row[field], place) for place, row in enumerate(rows) if field in row]
        axes.plot([x for x, _ in chosen], [y for _, y in chosen], "o", label=text)
    axes.set(xscale="log", xlabel="ns a site")
    axes.set_yticks(places, names, fontsize="x-small")
    axes.invert_yaxis()
    axes.grid(alpha=0.3)
    canvas.legend(loc="outside lower center", ncols=5, fontsize="x-small")


def _lengths(row: Row) -> str:
    """Return the length of a lattice, and his where it is another one."""
    length, published_length = row["length"], row["published"]["length"]
    if length == published_length:
        return f"L = {length}"
    return f"L = {published_length} (here {length})"
