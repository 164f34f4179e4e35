"""What is measured of an image: the kernels of the report, and the CPU on one thread."""

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from conncomp.bench.inputs import Input
from conncomp.bench.peers import Contender, Ours, OursOnGpu
from conncomp.bench.suites.grids import maddix, maddix_images
from reproductions.laboratory import Laboratory, Row
from reproductions.pictures import groups
from reproductions.threads import OnThreads

SUITE = "maddix"
FLAT, SQUARE, LARGE = (32, 6), (16, 16), (32, 32)

# Seconds after which an algorithm is given up for an image.
LIMITS = {"small": math.inf, "paper": 4.0, "today": 4.0}
ENLARGED = 4  # sides, at size "today"

SERIAL = "label equivalence, one thread"
DEFAULT = "the default"


def images(laboratory: Laboratory) -> list[Input]:
    if laboratory.size == "today":
        return maddix_images(ENLARGED)
    return maddix({"small": "tiny", "paper": "full"}[laboratory.size])


def columns() -> dict[str, Contender]:
    return {
        "kernel A": OursOnGpu("grid", "neighbour-propagation", block=FLAT),
        "kernel B, 16": OursOnGpu("grid", "local-propagation", block=SQUARE),
        "kernel B, 32": OursOnGpu("grid", "local-propagation", block=LARGE),
        "kernel D": OursOnGpu("grid", "label-equivalence", block=FLAT),
    }


def ways(laboratory: Laboratory) -> dict[str, Contender]:
    """Return all that is measured of an image, by the names in results."""
    serial = {
        SERIAL: OnThreads(Ours("grid", "label-equivalence"), laboratory.device),
        "raster scans, one thread": OnThreads(Ours("grid", "raster-scan"), laboratory.device),
        f"{DEFAULT}, one thread": OnThreads(Ours("grid", "auto"), laboratory.device),
    }
    if laboratory.on_gpu:
        return {**columns(), DEFAULT: OursOnGpu("grid", "auto"), **serial}
    return {**serial, DEFAULT: Ours("grid", "auto")}


def rows_of(laboratory: Laboratory, entry: Input, measured: dict[str, Contender]) -> list[Row]:
    """Measure an image in several ways, and return a row for each by its name in `measured`."""
    limit = LIMITS[laboratory.size]
    row = laboratory.row(
        SUITE, entry, list(measured.values()), transfers=laboratory.on_gpu, limit=limit
    )
    runs = {run["name"]: run for run in row["runs"]}
    moved = sum(statistics.median(way) for way in row.get("transfers", {}).values())
    rows = []
    for name, contender in measured.items():
        run = runs[contender.name]
        seconds = statistics.median(run["seconds"]) if run["seconds"] else None
        transfers = moved if isinstance(contender, OursOnGpu) else 0.0
        rows.append(
            {
                "image": entry.name,
                "shape": row["shape"],
                "pixels": row["elements"],
                "components": row["components"],
                "way": name,
                "seconds": seconds,
                "transfer_seconds": transfers,
                "total_seconds": None if seconds is None else seconds + transfers,
                "status": run["status"],
                "reason": run["reason"],
            }
        )
    return rows


def by_way(rows: list[Row], field: str = "total_seconds") -> dict[tuple[str, str], Any]:
    return {(row["image"], row["way"]): row[field] for row in rows}


def milliseconds(seconds: float | None) -> str:
    """Return a time as the report's table has it.

    >>> milliseconds(0.01834371), milliseconds(23.8036), milliseconds(None)
    ('18.3', '23,804', '-')
    """
    if seconds is None:
        return "-"
    return f"{1e3 * seconds:,.0f}" if seconds >= 0.1 else f"{1e3 * seconds:.3g}"


def times(ratio: float) -> str:
    """Return a ratio in words.

    >>> times(1297.64), times(0.8765)
    ('1,298 times', '0.88 times')
    """
    return f"{ratio:,.0f} times" if ratio >= 100 else f"{ratio:.2g} times"


def span_of(ratios: Mapping[str, float]) -> str:
    """Return the smallest and the largest ratio in words.

    >>> span_of({"maze": 2, "simple": 120, "stanford": 20})
    '2 times to 120 times'
    """
    if not ratios:
        return "(given up for all images)"
    return f"{times(min(ratios.values()))} to {times(max(ratios.values()))}"


def means_of(rows: Sequence[Row], key: str, field: str) -> dict[str, float]:
    """Return the geometric means of a field, where there is one, over all images by `key`."""
    return {
        name: math.exp(statistics.fmean(math.log(row[field]) for row in timed))
        for name, same in groups(rows, key).items()
        if (timed := [row for row in same if row[field]])
    }
