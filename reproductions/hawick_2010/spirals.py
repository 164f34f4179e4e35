"""Fig. 19: labelling spirals, and how many rounds Kernels A to D take.

Beside spirals stand fields of two phases with smooth borders, for fields of a simulation (Fig. 18).
"""

from collections.abc import Sequence
from typing import Any

from conncomp import generate
from conncomp.bench.suites.grids import hawick_of_lengths
from conncomp.bench.units import format_ratio
from reproductions.claims import Claim, ratio, share
from reproductions.fits import power_law
from reproductions.hawick_2010.laboratory import (
    ARRAY_CODES,
    ARRAY_KERNELS,
    CPU_II,
    MACHINE,
    PUBLISHED,
    Laboratory,
    claim,
    compare,
    times,
)
from reproductions.laboratory import Row
from reproductions.paper import Findings, Show
from reproductions.pictures import groups, legend, ticks

LENGTHS = {
    "small": (16, 32),
    "paper": (256, 512, 1024, 2048, 4096),
    "today": (256, 512, 1024, 2048, 4096, 8192, 16384),
}
# A way that takes more seconds is given up, and then left out but for the longest field.
LIMIT = 2.0
# Kernels A and B get more, and are left out there, too.
LONG_LIMIT = 25.0
KERNEL_A, KERNEL_B, KERNEL_C, KERNEL_D = ARRAY_KERNELS.values()
SLOW = {KERNEL_A, KERNEL_B}
SAMPLE = 32


def measure(laboratory: Laboratory) -> list[Row]:
    """Return a row for each field and each way: of spirals, and of phases."""
    lengths, rows = LENGTHS[laboratory.size], []
    given_up: dict[str, set[str]] = {"spiral": set(), "phases": set()}
    for entry in hawick_of_lengths(lengths):
        field, _, length = entry.name.partition("-")
        kernels = {*ARRAY_KERNELS.values(), *ARRAY_CODES.values()}
        kernels -= given_up[field] if int(length) < max(lengths) else given_up[field] & SLOW
        timed = laboratory.array(entry, sorted(kernels - SLOW), limit=LIMIT)
        if laboratory.on_gpu and kernels & SLOW:
            slow = laboratory.array(entry, sorted(kernels & SLOW), limit=LONG_LIMIT)
            timed = [row for row in slow if row["way"] in SLOW] + timed
        for row in timed:
            if row["seconds"] is None:
                given_up[field].add(row["way"])
            rows.append({"field": field, "length": int(length), **row})
    return rows


def spirals(laboratory: Laboratory) -> Findings:
    rows = measure(laboratory)
    spiral = [row for row in rows if row["field"] == "spiral"]
    exponents = {}
    for way in groups(spiral, "way"):
        points = times(spiral, way, "length")
        law = power_law(list(points), list(points.values()))
        exponents[way] = law and law.exponent
    return {
        "rows": rows,
        "fits": {"exponents": exponents, "limit": LIMIT},
        "published": {"machine": MACHINE, **PUBLISHED["figure-19"]},
    }


def draw_spirals(findings: Findings, canvas: Any) -> None:
    canvas.set_size_inches(11, 5)
    sample, axes = canvas.subplots(1, 2, width_ratios=(1, 2))
    sample.imshow(generate.patterns.spiral(SAMPLE), cmap="Blues")
    sample.set(xticks=[], yticks=[])
    sample.set_title(f"a spiral of {SAMPLE} x {SAMPLE}", fontsize="small")
    spiral = [row for row in findings["rows"] if row["field"] == "spiral"]
    for k, way in enumerate(sorted(groups(spiral, "way"))):
        points = times(spiral, way, "length")
        if points:
            axes.plot(list(points), list(points.values()), "o-", color=f"C{k}", label=way)
    points = times(
        [row for row in findings["rows"] if row["field"] == "phases"], KERNEL_D, "length"
    )
    if points:
        axes.plot(list(points), list(points.values()), "k:", label=f"{KERNEL_D}, phases")
    axes.set(xscale="log", yscale="log", xlabel="N", ylabel="seconds")
    ticks(axes, (row["length"] for row in spiral))
    axes.grid(alpha=0.3)
    axes.legend(loc="upper right", fontsize="x-small")


def claims_of_spirals(findings: Findings) -> list[Claim]:
    rows, said = findings["rows"], findings["published"]
    longest = max(row["length"] for row in rows)
    spiral, phases = (
        {
            row["way"]: row["seconds"]
            for row in rows
            if row["field"] == field and row["length"] == longest
        }
        for field in ("spiral", "phases")
    )
    over = {way: ratio(spiral.get(way), phases.get(way)) for way in (KERNEL_D, CPU_II)}
    claims = [
        claim(
            "figure-19.alike",
            f"{format_ratio(times_as_long)} times as long, at {longest}²",
            times_as_long,
            way=way,
        )
        for way, times_as_long in over.items()
        if times_as_long is not None
    ]
    if not spiral.get(KERNEL_D):
        return claims
    if over[KERNEL_D]:
        told = f"{format_ratio(over[KERNEL_D])} times a field's"
        claims.append(claim("figure-19.kernel-d", told, over[KERNEL_D]))
    of_a, how = spiral.get(KERNEL_A), "measured"
    if of_a is None:
        of_a, how = extrapolated(rows, longest)
    as_published = of_a is not None and longest == said["length"]
    for key, base, number in (
        ("kernel-a", spiral[KERNEL_D], said["kernel A over kernel D"]),
        ("kernel-a-on-spirals", phases.get(KERNEL_A), said["kernel A, spiral over field"]),
    ):
        lead = ratio(of_a, base)
        told = "given up" if lead is None else f"{format_ratio(lead)} times, {how}"
        value = lead if as_published else None
        claims.append(claim(f"figure-19.{key}", told, value, said=number))
    return [
        *claims,
        _slowest([row for row in rows if row["field"] == "spiral"]),
        claim(
            "figure-19.textures",
            "left out: CUDA has no texture references any more, and all memory is cached",
        ),
    ]


def _slowest(rows: Sequence[Row]) -> Claim:
    """Return the claim that Kernel A is, of the longest spiral that was not given up by any."""
    by_length = {
        length: {row["way"]: row["seconds"] for row in rows if row["length"] == length}
        for length in sorted({row["length"] for row in rows})
    }
    ways = set().union(*by_length.values())
    whole = [n for n, of in by_length.items() if all(of.get(way) is not None for way in ways)]
    if not whole or KERNEL_A not in ways:
        return claim("figure-19.slowest", "given up")
    seconds = by_length[whole[-1]]
    slower = [way for way in sorted(seconds) if seconds[way] > seconds[KERNEL_A]]
    return claim(
        "figure-19.slowest",
        f"slower at {whole[-1]}²: {', '.join(slower) or 'none'}",
        share(seconds[way] <= seconds[KERNEL_A] for way in seconds),
    )


def extrapolated(rows: Sequence[Row], length: int) -> tuple[float | None, str]:
    """Return what Kernel A takes for a spiral that is too long to be measured, and whence.

    Its rounds grow with the area, as a label goes along all arms; and each takes as long as a round
    of Kernel A on the other field of that length.
    """
    of_a = [row for row in rows if row["way"] == KERNEL_A and row["seconds"] is not None]
    spirals = [row for row in of_a if row["field"] == "spiral"]
    fields = [row for row in of_a if row["field"] == "phases" and row["length"] == length]
    if not (spirals and fields and spirals[-1]["rounds"] and fields[0]["rounds"]):
        return None, ""
    last, (field,) = spirals[-1], fields
    rounds = last["rounds"] * (length / last["length"]) ** 2
    seconds = rounds * field["seconds"] / field["rounds"]
    return seconds, f"by {rounds:,.0f} rounds, which follow from those at {last['length']}²"


# ------------------------------------------------------------------------------------------- rounds


def rounds(laboratory: Laboratory) -> Findings:
    """Count the rounds of Kernels A to D, with the last one, which changes nothing."""
    rows = [row for row in measure(laboratory) if row["rounds"] is not None]
    return {"rows": rows, "fits": {}, "published": PUBLISHED["rounds"]}


def draw_rounds(findings: Findings, canvas: Any) -> None:
    canvas.set_size_inches(10, 5)
    panels = zip(canvas.subplots(1, 2, sharey=True), ("spiral", "phases"), strict=True)
    for axes, field in panels:
        rows = [row for row in findings["rows"] if row["field"] == field]
        for way in ARRAY_KERNELS.values():
            points = {row["length"]: row["rounds"] for row in rows if row["way"] == way}
            if points:
                axes.plot(list(points), list(points.values()), "o-", label=way)
        axes.axhline(9, color="k", linestyle=":", label="Hawick 2010: kernel D, 4096²")
        axes.set(xscale="log", yscale="log", xlabel="N", ylabel="rounds")
        ticks(axes, (row["length"] for row in rows))
        axes.set_title(field, fontsize="small")
        axes.grid(alpha=0.3)
        legend(axes)


def claims_of_rounds(findings: Findings) -> list[Claim]:
    rows = findings["rows"]
    longest = max(row["length"] for row in rows)
    most = {
        field: max(
            row["rounds"] for row in rows if row["field"] == field and row["way"] == KERNEL_D
        )
        for field in ("spiral", "phases")
    }
    by_array = groups(rows, "array")
    fewer = {
        (first, second): _fewer(by_array.values(), first, second)
        for first, second in ((KERNEL_B, KERNEL_A), (KERNEL_C, KERNEL_B), (KERNEL_D, KERNEL_C))
    }
    return [
        claim(
            "rounds-of-arrays.kernel-d",
            f"at most {max(most.values())}, up to {longest}²: {compare(most)}",
            max(most.values()),
        ),
        *(
            claim(
                "rounds-of-arrays.fewer",
                f"for {sum(of)} of {len(of)} fields",
                share(of),
                first=first,
                second=second,
            )
            for (first, second), of in fewer.items()
        ),
    ]


def _fewer(arrays: Any, first: str, second: str) -> Sequence[bool]:
    """Return for each array with both kernels whether the first one has fewer rounds."""
    lower = []
    for rows in arrays:
        of_way = {row["way"]: row["rounds"] for row in rows}
        if first in of_way and second in of_way:
            lower.append(of_way[first] < of_way[second])
    return lower


FIGURE_19 = Show(spirals, draw_spirals, claims_of_spirals)
ROUNDS = Show(rounds, draw_rounds, claims_of_rounds)
