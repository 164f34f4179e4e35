"""Fig. 19: labelling spirals, and how many rounds Kernels A to D take.

Beside spirals stand fields of two phases with smooth borders, for fields of a simulation (Fig. 18).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conncomp import generate
from conncomp.bench.suites.grids import hawick_of_lengths
from conncomp.bench.units import format_ratio
from reproductions.fits import power_law
from reproductions.hawick_2010.laboratory import (
    ARRAY_CODES,
    ARRAY_KERNELS,
    CPU_II,
    MACHINE,
    PUBLISHED,
    Laboratory,
    compare,
    times,
)
from reproductions.hawick_2010.words import claim
from reproductions.laboratory import Row
from reproductions.paper import Claim, Findings, Show
from reproductions.pictures import groups, legend, ticks

LENGTHS = {
    "small": (16, 32),
    "paper": (256, 512, 1024, 2048, 4096),
    "today": (256, 512, 1024, 2048, 4096, 8192, 16384),
}
# A way that takes more seconds is given up, and then left out but for the longest field.
LIMIT = 2.0
KERNEL_A, KERNEL_B, KERNEL_C, KERNEL_D = ARRAY_KERNELS.values()
SAMPLE = 32
CLOSE = 1.5


def measure(laboratory: Laboratory) -> list[Row]:
    """Return a row for each field and each way: of spirals, and of phases."""
    lengths, rows = LENGTHS[laboratory.size], []
    given_up: dict[str, set[str]] = {"spiral": set(), "phases": set()}
    for entry in hawick_of_lengths(lengths):
        field, _, length = entry.name.partition("-")
        kernels = {*ARRAY_KERNELS.values(), *ARRAY_CODES.values()}
        if int(length) < max(lengths):
            kernels -= given_up[field]
        for row in laboratory.array(entry, sorted(kernels), limit=LIMIT):
            if row["seconds"] is None:
                given_up[field].add(row["way"])
            rows.append({"field": field, "length": int(length), **row})
    return rows


def spirals(laboratory: Laboratory) -> Findings:
    """Measure spirals, and phases beside them."""
    rows = measure(laboratory)
    spiral = [row for row in rows if row["field"] == "spiral"]
    exponents = {}
    for way in groups(spiral, _way):
        points = times(spiral, way, "length")
        law = power_law(list(points), list(points.values()))
        exponents[way] = law and law.exponent
    return {
        "rows": rows,
        "fits": {"exponents": exponents, "limit": LIMIT},
        "published": {
            "machine": MACHINE,
            **PUBLISHED["figure-19"],
        },
    }


def draw_spirals(findings: Findings, canvas: Any) -> None:
    """Draw a sample, and the times of spirals."""
    canvas.set_size_inches(11, 5)
    sample, axes = canvas.subplots(1, 2, width_ratios=(1, 2))
    sample.imshow(generate.spiral(SAMPLE), cmap="Blues")
    sample.set(xticks=[], yticks=[])
    sample.set_title(f"a spiral of {SAMPLE} x {SAMPLE}", fontsize="small")
    spiral = [row for row in findings["rows"] if row["field"] == "spiral"]
    for k, way in enumerate(sorted(groups(spiral, _way))):
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
    """Return what section 6.3.2 says."""
    rows, claims = findings["rows"], []
    longest = max(row["length"] for row in rows)
    spiral, phases = (
        {
            row["way"]: row["seconds"]
            for row in rows
            if row["field"] == field and row["length"] == longest
        }
        for field in ("spiral", "phases")
    )
    for way in (KERNEL_D, CPU_II):
        if spiral.get(way) and phases.get(way):
            ratio = spiral[way] / phases[way]
            claims.append(
                claim(
                    "figure-19.alike",
                    f"{format_ratio(ratio)} times as long, at {longest}²",
                    1 / CLOSE <= ratio <= CLOSE,
                    way=way,
                )
            )
    if not spiral.get(KERNEL_D):
        return claims
    of_d = spiral[KERNEL_D]
    if phases.get(KERNEL_D):
        ratio = of_d / phases[KERNEL_D]
        text = f"{format_ratio(ratio)} times a field's"
        claims.append(claim("figure-19.kernel-d", text, ratio < 1))
    said, limit = findings["published"], findings["fits"]["limit"]
    of_a = spiral.get(KERNEL_A)
    as_published = longest == said["length"]
    claims.append(
        claim(
            "figure-19.kernel-a",
            _at_least((of_a or limit) / of_d, of_a),
            of_a / of_d > said["kernel A over kernel D"] if of_a and as_published else None,
            ratio=said["kernel A over kernel D"],
        )
    )
    if phases.get(KERNEL_A):
        claims.append(
            claim(
                "figure-19.kernel-a-on-spirals",
                _at_least((of_a or limit) / phases[KERNEL_A], of_a),
                of_a / phases[KERNEL_A] > said["kernel A, spiral over field"]
                if of_a and as_published
                else None,
                ratio=said["kernel A, spiral over field"],
            )
        )
    slower = [
        way for way, seconds in spiral.items() if seconds is None or (of_a or limit) < seconds
    ]
    claims.append(
        claim(
            "figure-19.slowest",
            f"given up: {', '.join(sorted(way for way in spiral if spiral[way] is None))}"
            if of_a is None
            else f"slower: {', '.join(slower) or 'none'}",
            not slower if of_a else None,
        )
    )
    claims.append(
        claim(
            "figure-19.textures",
            "left out: CUDA has no texture references any more, and all memory is cached",
        )
    )
    return claims


def _at_least(ratio: float, measured: float | None) -> str:
    return (
        f"{format_ratio(ratio)} times" if measured else f"given up at {format_ratio(ratio)} times"
    )


# ------------------------------------------------------------------------------------------- rounds


def rounds(laboratory: Laboratory) -> Findings:
    """Count the rounds of Kernels A to D, with the last one, which changes nothing."""
    rows = [row for row in measure(laboratory) if row["rounds"] is not None]
    return {"rows": rows, "fits": {}, "published": PUBLISHED["rounds"]}


def draw_rounds(findings: Findings, canvas: Any) -> None:
    """Draw rounds against the length of fields."""
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
    """Return what section 5.2 says of iterations."""
    rows = findings["rows"]
    longest = max(row["length"] for row in rows)
    most = {
        field: max(
            row["rounds"] for row in rows if row["field"] == field and row["way"] == KERNEL_D
        )
        for field in ("spiral", "phases")
    }
    by_array = groups(rows, lambda row: str(row["array"]))
    fewer = {
        (first, second): _fewer(by_array.values(), first, second)
        for first, second in ((KERNEL_B, KERNEL_A), (KERNEL_C, KERNEL_B), (KERNEL_D, KERNEL_C))
    }
    return [
        claim(
            "rounds-of-arrays.kernel-d",
            f"at most {max(most.values())}, up to {longest}²: {compare(most)}",
            max(most.values()) <= 9,
        ),
        *(
            claim(
                "rounds-of-arrays.fewer",
                f"for {sum(of)} of {len(of)} fields",
                all(of) if of else None,
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


def _way(row: Row) -> str:
    return str(row["way"])


FIGURE_19 = Show(spirals, draw_spirals, claims_of_spirals)
ROUNDS = Show(rounds, draw_rounds, claims_of_rounds)
