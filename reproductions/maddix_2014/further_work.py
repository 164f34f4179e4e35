"""The report's ideas of how Kernel D could get faster: measured, or bounded by what is measured.

Streams and work shared with the CPU are left out of the library. How much they could gain at most
follows from what was measured: were all transfers hidden behind the kernels, or the kernels behind
them; and did both devices label parts of the image at their own rates, without any seam between.
"""

from __future__ import annotations

from typing import Any

from conncomp.bench.peers import Contender, OursOnGpu
from reproductions.claims import Claim
from reproductions.laboratory import Laboratory, Row, all_right
from reproductions.maddix_2014.measurements import (
    DEFAULT,
    FLAT,
    LARGE,
    LIMITS,
    by_way,
    columns,
    images,
    means_of,
    rows_of,
    span_of,
    times,
    ways,
)
from reproductions.maddix_2014.words import claim
from reproductions.paper import Findings
from reproductions.pictures import bars, groups, legend

D = "kernel D"
GIVEN_UP = "given up for all images"
CELLS = "4 cells a thread"
SHARED = "first sweep in shared memory"
STORES = "stores for atomicMin"
TOGETHER = "all three"
LEFT_OUT = {
    "streams": "transfers that overlap with kernels: the library labels arrays that lie on the "
    "GPU, and who moves them chooses streams",
    "CPU and GPU": "some calculations on the CPU meanwhile: the seams between both parts would "
    "need code of their own",
    "overlapped blocks (GTC)": "for Kepler alone, the report says; the default takes its place",
}


def _ideas() -> dict[str, Contender]:
    """Return Kernel D, and with the report's ideas."""

    def label_equivalence(**options: Any) -> Contender:
        return OursOnGpu("grid", "label-equivalence", **options)

    return {
        D: columns()[D],
        CELLS: label_equivalence(block=LARGE, cells=4),
        SHARED: label_equivalence(block=FLAT, first="blocks"),
        STORES: label_equivalence(block=FLAT, lower="store"),
        TOGETHER: label_equivalence(block=LARGE, cells=4, first="blocks", lower="store"),
        DEFAULT: OursOnGpu("grid", "auto"),
    }


def measure_ideas(laboratory: Laboratory) -> Findings:
    """Measure all images with all ideas."""
    rows: list[Row] = []
    bounds: dict[str, dict[str, float]] = {"streams": {}, "CPU and GPU": {}}
    for entry in images(laboratory):
        of_image = rows_of(laboratory, entry, _ideas())
        of_d = of_image[0]
        limit = LIMITS[laboratory.size]
        for row, contender in zip(of_image, _ideas().values(), strict=True):
            both = row["seconds"] and of_d["seconds"]
            over = row["seconds"] / of_d["seconds"] if both else None
            sweeps = None if row["way"] == DEFAULT else laboratory.sweeps(entry, contender, limit)
            rows.append(row | {"over_d": over, "sweeps": sweeps})
        if of_d["seconds"]:
            alone, moved = of_d["seconds"], of_d["transfer_seconds"]
            bounds["streams"][entry.name] = (alone + moved) / max(alone, moved)
            on_cpu = by_way(rows_of(laboratory, entry, ways(laboratory)), "seconds")
            cpu = on_cpu[entry.name, f"{DEFAULT}, one thread"]
            bounds["CPU and GPU"][entry.name] = 1 + of_d["total_seconds"] / cpu
    return {
        "rows": rows,
        "fits": {"over kernel D": means_of(rows, "way", "over_d"), "faster at most": bounds},
        "published": {"ideas": list(_ideas())[1:-1], "left out": LEFT_OUT},
    }


def draw_ideas(findings: Findings, canvas: Any) -> None:
    """Draw how many times as long as Kernel D each idea takes, and what is left out."""
    axes = canvas.subplots()
    of_way = groups(findings["rows"], "way")
    names = list(groups(findings["rows"], "image"))
    heights = {way: [row["over_d"] for row in same] for way, same in of_way.items() if way != D}
    bars(axes, names, heights)
    axes.set_xticks(range(len(names)), names, rotation=20, fontsize="small")
    axes.axhline(1, color="k", linewidth=0.5)
    axes.set(ylabel="over Kernel D of 32 x 6, without transfers", yscale="log")
    legend(axes, beside=True)


def claims_of_ideas(findings: Findings) -> list[Claim]:
    """Return what the report expects of its ideas."""
    means, bounds = findings["fits"]["over kernel D"], findings["fits"]["faster at most"]
    sweeps = _sweeps(findings["rows"])
    streams, shared = bounds["streams"], bounds["CPU and GPU"]
    right = all_right(findings["rows"], "ideas give the labels of scikit-image")
    return [
        claim("further-work.labels", *right),
        _gain(means, sweeps, CELLS, "further-work.cells"),
        _gain(means, sweeps, SHARED, "further-work.shared-memory"),
        _gain(means, sweeps, STORES, "further-work.stores"),
        claim(
            "further-work.streams",
            f"left out; {span_of(streams)} as fast at most, were transfers hidden entirely",
            max(streams.values(), default=None),
        ),
        claim(
            "further-work.cpu",
            f"left out; {span_of(shared)} as fast at most, did both work at their own rates, the "
            "CPU on one thread by the default",
        ),
        claim(
            "further-work.kernel-d",
            f"the default takes {times(means[DEFAULT])} as long as Kernel D, on the mean of all "
            "images"
            if DEFAULT in means
            else GIVEN_UP,
        ),
    ]


def _gain(means: dict[str, float], sweeps: dict[str, int], way: str, key: str) -> Claim:
    if way not in means:
        return claim(key, GIVEN_UP)
    return claim(
        key,
        f"{times(means[way])} as long as Kernel D, on the mean of all images; {sweeps[way]} sweeps "
        f"in all instead of {sweeps[D]}",
        means[way],
    )


def _sweeps(rows: list[Row]) -> dict[str, int]:
    """Return how many sweeps change something on all images, by idea."""
    of_way = groups(rows, "way")
    return {way: sum(row["sweeps"] or 0 for row in same) for way, same in of_way.items()}
