"""The report's table of eight images by four columns, and its plot of time over size.

All images are stand-ins, and all but the first of a size that the report does not give. Its times
include the transfers, and are held against ours that do; beside these stand the times without.
"""

from typing import Any

from reproductions.claims import Claim
from reproductions.fits import power_law
from reproductions.laboratory import Laboratory, Row, all_right, given_up
from reproductions.maddix_2014 import published
from reproductions.maddix_2014.measurements import (
    DEFAULT,
    LIMITS,
    SERIAL,
    by_way,
    columns,
    images,
    milliseconds,
    rows_of,
    span_of,
    times,
    ways,
)
from reproductions.maddix_2014.published import claim
from reproductions.paper import Findings
from reproductions.pictures import curve, groups, legend, log_axes, table

A, B16, B32, D = published.KERNELS
# Transfers are part of the report's times.
PUBLISHED_WITH_TRANSFERS = {
    "machine": published.MACHINE,
    "milliseconds": {
        image: dict(zip(published.KERNELS, row, strict=True))
        for image, row in published.MILLISECONDS.items()
    },
}


def measure_times(laboratory: Laboratory) -> Findings:
    rows = [
        row for entry in images(laboratory) for row in rows_of(laboratory, entry, ways(laboratory))
    ]
    if laboratory.on_gpu:
        sweeps = _sweeps(laboratory)
        rows = [row | {"sweeps": sweeps.get((row["image"], row["way"]))} for row in rows]
    fits = {
        "with transfers": _ratios(rows, "total_seconds"),
        "without transfers": _ratios(rows, "seconds"),
    }
    return {"rows": rows, "fits": fits, "published": PUBLISHED_WITH_TRANSFERS}


def _sweeps(laboratory: Laboratory) -> dict[tuple[str, str], int | None]:
    """Return how many sweeps change something, by image and kernel."""
    limit = LIMITS[laboratory.size]
    return {
        (entry.name, name): laboratory.sweeps(entry, contender, limit)
        for entry in images(laboratory)
        for name, contender in columns().items()
    }


def _ratios(rows: list[Row], field: str) -> Findings:
    """Return how many times as long ways take as others, by image."""
    seconds = by_way(rows, field)
    pairs = ((A, B16), (A, B32), (B16, B32), (A, D), (B32, D), (A, SERIAL), (SERIAL, DEFAULT))
    return {
        f"{slow} over {fast}": {
            image: seconds[image, slow] / seconds[image, fast]
            for image in published.MILLISECONDS
            if seconds.get((image, slow)) and seconds.get((image, fast))
        }
        for slow, fast in pairs
    }


def draw_times(findings: Findings, canvas: Any) -> None:
    """Draw the table: as they say; as is measured, with and without transfers."""
    named = list(groups(findings["rows"], "way"))
    of_ways = {(row["image"], row["way"]): row for row in findings["rows"]}
    pixels = {row["image"]: row["pixels"] for row in findings["rows"]}
    kernels = [name for name in named if name in published.KERNELS]
    codes = [name for name in named if name not in published.KERNELS]
    header = ["milliseconds", "pixels"]
    header += [f"{name}:\n{published.MACHINE}" for name in published.KERNELS]
    header += [f"{name}:\nwith, without\ntransfers" for name in kernels]
    header += [name.replace(", ", ",\n") for name in codes]
    lines = []
    for image, values in published.MILLISECONDS.items():
        with_and_without = [
            f"{_cell(of_ways[image, name])}, {milliseconds(of_ways[image, name]['seconds'])}"
            for name in kernels
        ]
        lines.append(
            [
                image,
                f"{pixels[image]:,}",
                *(milliseconds(value / 1e3) for value in values),
                *with_and_without,
                *(_cell(of_ways[image, name]) for name in codes),
            ]
        )
    table(canvas, header, lines)


def _cell(row: Row) -> str:
    """Return a time with transfers, or after what time it was given up."""
    if given_up(row):
        return str(row["reason"]).replace("given up after", ">")
    return milliseconds(row["total_seconds"])


def claims_of_times(findings: Findings) -> list[Claim]:
    rows, fits = findings["rows"], findings["fits"]
    told = f"labels are those of scikit-image, for {len({row['image'] for row in rows})} images"
    claims = [claim("times.correct", *all_right(rows, told)), _largest_image(rows)]
    if not any(row["way"] == D for row in rows):
        return claims
    return [
        *claims,
        _kernel_a_beside_the_cpu(rows, fits),
        _faster(fits, f"{A} over {B16}", "times.kernel-b", 1.5),
        _faster(fits, f"{B32} over {D}", "times.kernel-d", 10),
        _faster(fits, f"{B16} over {B32}", "times.larger-blocks", 1),
        _thousand(fits),
        _invocations(rows),
    ]


def _largest_image(rows: list[Row]) -> Claim:
    pixels = next(row["pixels"] for row in rows if row["image"] == "maze")
    return claim("times.largest", f"{pixels:,} pixels", pixels)


def _kernel_a_beside_the_cpu(rows: list[Row], fits: Findings) -> Claim:
    ratios = fits["with transfers"][f"{A} over {SERIAL}"]
    if "maze" not in ratios:
        return claim("times.kernel-a", "Kernel A was given up for the maze")
    ratio, [maze] = (
        ratios["maze"],
        [row for row in rows if (row["image"], row["way"]) == ("maze", A)],
    )
    sweeps = maze["sweeps"] or 1
    each = 1e6 * maze["seconds"] / sweeps
    return claim(
        "times.kernel-a",
        f"it takes {times(ratio)} as long for the maze, {span_of(ratios)} for all images",
        ratio,
        sweeps=sweeps,
        each=each,
    )


def _faster(fits: Findings, pair: str, key: str, least: float) -> Claim:
    """Return a claim that a ratio exceeds what the words ask for, on all images."""
    ratios, alone = (fits[f"{how} transfers"][pair] for how in ("with", "without"))
    if not ratios:
        return claim(key, "given up for all images")
    slow = [image for image, ratio in ratios.items() if ratio <= least]
    of_kernels = [image for image in slow if alone[image] > least]
    transfers = ""
    if of_kernels:
        transfers = f"; for {', '.join(of_kernels)} it is the transfers, which both have"
    return claim(
        key,
        f"{pair}: {span_of(ratios)}, without transfers {span_of(alone)}",
        min(ratios.values()),
        images=", ".join(image for image in slow if image not in of_kernels),
        transfers=transfers,
    )


def _thousand(fits: Findings) -> Claim:
    of_pair = fits["with transfers"]
    ratios = of_pair[f"{B32} over {D}"]
    if "maze" not in ratios:
        return claim("times.thousand", "Kernel B was given up for the maze")
    ratio, of_a = ratios["maze"], of_pair[f"{A} over {D}"].get("maze")
    a, _, b, d = published.MILLISECONDS["maze"]
    beside = "" if of_a is None else f", and Kernel A {times(of_a)}"
    return claim(
        "times.thousand",
        f"Kernel B takes {times(ratio)} as long{beside}",
        ratio,
        ratio_of_b=b / d,
        ratio_of_a=a / d,
    )


def _invocations(rows: list[Row]) -> Claim:
    sweeps = {row["way"]: row["sweeps"] for row in rows if row["image"] == "maze"}
    d, slower = sweeps[D], [sweeps[name] for name in (A, B16, B32)]
    if d is None or None in slower:
        return claim(
            "times.invocations", "kernels were given up for the maze", said=published.SCANS
        )
    here = (
        f"with the last, which changes nothing, {d + 1} times for the maze; A {slower[0] + 1:,}, "
    )
    here += f"B of 16 {slower[1] + 1:,} and of 32 {slower[2] + 1:,} times"
    return claim("times.invocations", here, d + 1, said=published.SCANS)


def draw_over_pixels(findings: Findings, canvas: Any) -> None:
    """Draw time over pixels; the published times over the pixels of the stand-ins."""
    axes = log_axes(canvas, "pixels", "milliseconds, transfers included")
    axes.xaxis.set_minor_formatter("")
    of_image = {row["image"]: row["pixels"] for row in findings["rows"]}
    colours = {}
    for number, (name, rows) in enumerate(groups(findings["rows"], "way").items()):
        colours[name] = f"C{number}"
        points = sorted(
            (
                {"x": row["pixels"], "y": 1e3 * row["total_seconds"]}
                for row in rows
                if row["total_seconds"]
            ),
            key=lambda point: point["x"],
        )
        curve(axes, points, "x", "y", label=name, color=colours[name])
    for number, name in enumerate(published.KERNELS):
        points = sorted(
            (
                {"x": of_image[image], "y": values[number]}
                for image, values in published.MILLISECONDS.items()
            ),
            key=lambda point: point["x"],
        )
        style = {"marker": "x", "linestyle": ":", "color": colours.get(name, f"{0.2 * number}")}
        curve(axes, points, "x", "y", label=f"{name}, {published.MACHINE}", **style)
    legend(axes, beside=True)


def measure_over_pixels(laboratory: Laboratory) -> Findings:
    """Return the times of the table, and how they grow with the number of pixels."""
    findings = measure_times(laboratory)
    laws = {}
    for name, rows in groups(findings["rows"], "way").items():
        timed = [row for row in rows if row["total_seconds"]]
        law = power_law([row["pixels"] for row in timed], [row["total_seconds"] for row in timed])
        if law is not None:
            laws[name] = {"exponent": law.exponent, "error": law.error}
    return findings | {"fits": findings["fits"] | {"exponents": laws}}


def claims_of_pixels(findings: Findings) -> list[Claim]:
    seconds, exponents = by_way(findings["rows"]), findings["fits"]["exponents"]
    pixels = {row["image"]: row["pixels"] for row in findings["rows"]}
    more = pixels["stanford"] - pixels["maze2"]
    ways_of_both = [
        way
        for way in (D, SERIAL, f"{DEFAULT}, one thread")
        if seconds.get(("maze2", way)) and seconds.get(("stanford", way))
    ]
    if not ways_of_both:
        return []
    way = ways_of_both[0]
    ratio = seconds["maze2", way] / seconds["stanford", way]
    claims = [
        claim(
            "pixels.stanford",
            f"{more:,} more; {way} takes {times(ratio)} as long for maze2",
            ratio if more > 0 else None,
        )
    ]
    growth = {name: exponents[name]["exponent"] for name in published.KERNELS if name in exponents}
    if D not in growth:
        return claims
    shown = ", ".join(f"{name} {exponent:.2f}" for name, exponent in growth.items())
    claims.append(
        claim(
            "pixels.growth",
            f"exponents of the number of pixels: {shown}",
            min((of - growth[D] for name, of in growth.items() if name != D), default=None),
        )
    )
    ratios = findings["fits"]["with transfers"][f"{A} over {B32}"]
    if ratios:
        claims.append(
            claim(
                "pixels.shape",
                f"{A} takes {span_of(ratios)} as long as {B32}",
                min(ratios.values()),
            )
        )
    return claims
