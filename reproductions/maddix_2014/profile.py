"""The report's profile of Kernel D: the shares of its kernels, for all images."""

from __future__ import annotations

from statistics import fmean
from typing import Any

from reproductions.claims import Claim, share
from reproductions.laboratory import Laboratory, Row
from reproductions.maddix_2014 import published
from reproductions.maddix_2014.measurements import (
    LIMITS,
    by_way,
    columns,
    images,
    milliseconds,
    rows_of,
    ways,
)
from reproductions.maddix_2014.words import claim
from reproductions.paper import Findings
from reproductions.pictures import bars, legend

# The report's names of our kernels.
PHASES = {
    "equivalence_scan": "scanning",
    "equivalence_analyse": "analysis",
    "equivalence_relabel": "labelling",
    "equivalence_start": "starting",
}
D = "kernel D"


def profile(laboratory: Laboratory) -> Findings:
    """Measure how long each kernel of Kernel D takes."""
    return {
        "rows": [_profiled(laboratory, entry) for entry in images(laboratory)],
        "fits": {},
        "published": {"machine": published.MACHINE, **published.PUBLISHED["profile"]},
    }


def _profiled(laboratory: Laboratory, entry: Any) -> Row:
    contender, limit = columns()[D], LIMITS[laboratory.size]
    measured = rows_of(laboratory, entry, ways(laboratory))
    sweeps = laboratory.sweeps(entry, contender, limit)
    kernels = laboratory.kernels(entry, contender, limit) or {}
    phases = {phase: kernels.get(name, 0.0) for name, phase in PHASES.items()}
    whole = sum(phases.values())
    return {
        "image": entry.name,
        "pixels": measured[0]["pixels"],
        "sweeps": sweeps,
        "phases_seconds": phases,
        "shares": {name: seconds / whole for name, seconds in phases.items()} if whole else {},
        "transfer_seconds": by_way(measured, "transfer_seconds")[entry.name, D],
    }


def draw_profile(findings: Findings, canvas: Any) -> None:
    """Draw the share of each phase for each image, beside the published one."""
    shares = {row["image"]: row["shares"] for row in findings["rows"]}
    shares[f"{published.MACHINE},\nan image"] = findings["published"]["shares"]
    axes = canvas.subplots()
    axes.set(ylabel="share of the time of all kernels of Kernel D", ylim=(0, 1))
    heights = {
        phase: [of_image.get(phase) for of_image in shares.values()] for phase in PHASES.values()
    }
    bars(axes, list(shares), heights)
    legend(axes)


def claims_of_profile(findings: Findings) -> list[Claim]:
    """Return what the report says of its profile."""
    rows = [row for row in findings["rows"] if row["shares"]]
    if not rows:
        return []
    first = [
        row["image"] for row in rows if max(row["shares"], key=row["shares"].get) == "scanning"
    ]
    scans = [row["shares"]["scanning"] for row in rows]
    maze = findings["rows"][0]
    phases, transfers = maze["phases_seconds"], maze["transfer_seconds"]
    return [
        claim(
            "profile.image-data", "by its code: analysis and labelling read labels and references"
        ),
        claim(
            "profile.scanning",
            f"scanning takes {min(scans):.0%} to {max(scans):.0%}, {fmean(scans):.0%} on the mean",
            fmean(scans),
        ),
        claim(
            "profile.shares",
            f"it is for {len(first)} of {len(rows)} images",
            share(row["image"] in first for row in rows),
        ),
        claim(
            "profile.transfers",
            f"for the maze transfers take {milliseconds(transfers)} ms, scans "
            f"{milliseconds(phases['scanning'])} ms",
            phases["scanning"] / max(transfers, 1e-12),
            kernels=milliseconds(sum(phases.values())),
        ),
    ]
