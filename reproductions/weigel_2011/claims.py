"""What the paper says in words of its figures and its table, beside what is measured.

Most of it is of kernels for a GPU: without their rows it cannot be told.
"""

from __future__ import annotations

from typing import Any

from reproductions.laboratory import Row
from reproductions.paper import Claim, Findings
from reproductions.weigel_2011.tiles import local_name

BEST_TILE = 16  # of the paper, for sewing
ERRORS = 2  # of a fitted exponent, within which it agrees with the paper's
NOT_MEASURED = "not measured without a GPU"


def local(findings: Findings) -> list[Claim]:
    """Return what is said of labelling tiles (Fig. 2)."""
    of_tile = {local_name(row): row["ns_a_site"] for row in findings["rows"] if row["tile"] == 16}
    ours = of_tile["self-labelling, 4"]
    leads = [of_tile[name] / ours for name in ("bfs", "union-find")]
    fastest = {
        side: min(
            (row for row in findings["rows"] if row["tile"] == side),
            key=lambda row: float(row["ns_a_site"]),
        )
        for side in sorted({row["tile"] for row in findings["rows"]})
    }
    exponent = findings["fits"]["bfs"]["small"]
    return [
        Claim(
            "II.B: at B = 16 self-labelling takes a thirteenth of breadth-first search and an "
            "eighth of union-find",
            f"{leads[0]:.1f} and {leads[1]:.1f} times less",
            min(leads) > 1,
            "many more tiles of one thread each are at work at once than were then",
        ),
        Claim(
            "II.B: self-labelling is the fastest up to B = 64",
            ", ".join(f"B = {side}: {local_name(row)}" for side, row in fastest.items()),
            all(row["local_way"] == "self-labelling" for row in fastest.values()),
        ),
        Claim(
            "II.B: breadth-first search takes a time in proportion to B^2 a tile",
            f"exponent {exponent[1]:.2f} up to B = 16" if exponent else "too few tiles to fit",
            abs(exponent[1] - 2) < ERRORS * exponent[2] + 0.1 if exponent else None,
        ),
    ]


def relaxation(findings: Findings) -> list[Claim]:
    """Return what is said of the sweeps of label relaxation (Fig. 6)."""
    law = findings["fits"]["100 tiles and more"] or findings["fits"]["all"]
    exponent = findings["published"]["exponent"]
    return [
        Claim(
            f"II.C: sweeps grow as (L / B)^{exponent}",
            f"exponent {law[1]:.3f} ± {law[2]:.3f}" if law else "too few lattices to fit",
            abs(law[1] - exponent) <= ERRORS * law[2] if law else None,
            "all pairs of roots are relaxed at once, and a label may pass several tiles in a sweep",
        )
    ]


def sewing(findings: Findings) -> list[Claim]:
    """Return what is said of sewing (Fig. 8)."""
    by_blocks, by_threads = (
        findings["fits"][name] for name in ("a / L + b / B", "a * levels / L^2 + b / B")
    )
    told = bool(by_blocks and by_threads)
    return [
        Claim(
            "II.C: sewing takes a / L + b / B a site",
            f"deviates by {by_blocks[2]:.0%}; a levels / L^2 + b / B by {by_threads[2]:.0%}"
            if told
            else "too few lattices to fit",
            by_blocks[2] <= by_threads[2] if told else None,
            "a launch sews all seams of a level, a thread a site, so a level costs its sites and a "
            "launch; his had a block for four tiles, and idle multiprocessors at the last levels",
        )
    ]


def best_tile(findings: Findings) -> list[Claim]:
    """Return what is said of the best tiles (Fig. 9)."""
    best = {
        merge: {row["length"]: row["best"] for row in findings["rows"] if row["merge"] == merge}
        for merge in ("sewing", "relaxation")
    }
    law = findings["fits"]["exponent"]
    return [
        Claim(
            "II.C: B = 16 is best for sewing",
            ", ".join(f"L = {length}: {side}" for length, side in best["sewing"].items()),
            _mostly(side == BEST_TILE for side in best["sewing"].values()),
        ),
        Claim(
            "II.C: the best tile for relaxation grows as L^(1/3)",
            f"exponent {law[1]:.2f} ± {law[2]:.2f}" if law else "too few lattices to fit",
            abs(law[1] - 1 / 3) <= ERRORS * law[2] if law else None,
            "the largest tile that fits shared memory, 64, is best from short lattices on",
        ),
    ]


def by_length(findings: Findings) -> list[Claim]:
    """Return what is said of sweeps against length (Fig. 10)."""
    ns = _by_way_and_length(findings["rows"])
    lengths = [length for way, length in ns if way.startswith("sewing")]
    if not lengths:
        return [_not_measured("II.D: sewing is faster than relaxation for large systems")]
    sewn = {length: ns["sewing, B = 16", length] for length in lengths}
    relaxed = {length: ns["relaxation, the fastest B", length] for length in lengths}
    longest = max(lengths)
    faster = [length for length in lengths if relaxed[length] < sewn[length]]
    return [
        Claim(
            "II.D: relaxation is faster than sewing for intermediate systems",
            f"faster at L = {', '.join(map(str, faster))}" if faster else "at no L",
            bool(faster) and longest not in faster,
            "ours sews a level with a thread for each site, so short lattices leave less idle",
        ),
        Claim(
            "II.D: sewing is faster than relaxation for large systems, 2.2 times at L = 8192",
            f"{relaxed[longest] / sewn[longest]:.1f} times at L = {longest}",
            relaxed[longest] > sewn[longest],
        ),
    ]


def stages(findings: Findings) -> list[Claim]:
    """Return what is said of the stages of a sweep (Fig. 11)."""
    says = "II.D: sewing takes less than labelling tiles only from L = 16384 on"
    sewn = {row["length"]: row for row in findings["rows"] if row["way"] == "sewing, B = 16"}
    if not sewn:
        return [_not_measured(says)]
    shorter = [n for n, row in sewn.items() if row["consolidation_ns"] < row["local_ns"]]
    return [
        Claim(
            says,
            f"from L = {min(shorter)} on" if shorter else "at no L",
            bool(shorter) and min(shorter) >= 8192,
            "the seams of a level are sewn by as many threads as there are sites",
        )
    ]


def by_beta(findings: Findings) -> list[Claim]:
    """Return what is said of sweeps against temperature (Fig. 12)."""
    slowest = {name.removeprefix("slowest beta, "): beta for name, beta in findings["fits"].items()}
    relaxed = {name: beta for name, beta in slowest.items() if name.startswith("relaxation")}
    says = (
        "II.D: relaxation takes longest at the critical point",
        "II.D: sewing is faster than relaxation at all temperatures",
    )
    if not relaxed:
        return [_not_measured(text) for text in says]
    at_beta: dict[float, dict[str, float]] = {}
    for row in findings["rows"]:
        at_beta.setdefault(row["beta_over_critical"], {})[row["way"]] = row["ns"]
    lead = {
        beta: min(ns[name] for name in relaxed) / ns["sewing, B = 16"]
        for beta, ns in at_beta.items()
    }
    least = min(lead, key=lambda beta: lead[beta])
    return [
        Claim(
            says[0],
            ", ".join(f"{name}: at {beta:g} beta_c" for name, beta in relaxed.items()),
            all(abs(beta - 1) < 0.06 for beta in relaxed.values()),
        ),
        Claim(says[1], f"least at {least:g} beta_c: {lead[least]:.2f} times", lead[least] > 1),
    ]


def speed_up(findings: Findings) -> list[Claim]:
    """Return what is said of speed-ups (Fig. 13)."""
    says = "II.D: for large systems over 30 times faster than the code for a CPU"
    sewn = {
        row["length"]: row["speed_up"] for row in findings["rows"] if row["way"] == "sewing, B = 16"
    }
    if not sewn:
        return [_not_measured(says)]
    longest = max(sewn)
    return [Claim(says, f"sewing at L = {longest}: {sewn[longest]:.0f} times", sewn[longest] > 30)]


def few_clusters(findings: Findings) -> list[Claim]:
    """Return what is said of the few-cluster update (Fig. 14)."""
    fastest = findings["fits"]["fastest"]
    largest = max(row["speed_up"] for row in fastest)
    return [
        Claim(
            "III: the few-cluster update is up to about five times as fast a flipped spin as "
            "Wolff's on a CPU",
            f"up to {largest:.3g} times",
            largest >= 5,
            "it labels all clusters, which pays only where many threads do so",
        )
    ]


def autocorrelation(findings: Findings) -> list[Claim]:
    """Return what is said of autocorrelation times."""
    z = {update: laws["energy"][1] for update, laws in findings["fits"].items() if laws["energy"]}
    clusters = {name: value for name, value in z.items() if name != "metropolis"}
    return [
        Claim(
            "I: local updates slow down with z of about 2, cluster updates much less",
            ", ".join(f"{name} {value:.2f}" for name, value in z.items()),
            max(clusters.values()) < 0.5 < 1.2 < z["metropolis"] if len(z) == 4 else None,
        ),
        Claim(
            "III: few-cluster updates have most likely the z of Wolff's",
            f"{z.get('few-cluster', 0):.2f} and {z.get('wolff', 0):.2f} of the energy",
            abs(z["few-cluster"] - z["wolff"]) < 0.15 if len(z) == 4 else None,
        ),
    ]


def _by_way_and_length(rows: list[Row]) -> dict[tuple[str, int], float]:
    return {(row["way"], row["length"]): row["ns"] for row in rows}


def _mostly(values: Any) -> bool:
    """Say whether three quarters of some values are true."""
    all_values = list(values)
    return bool(sum(all_values) >= 0.75 * len(all_values))


def _not_measured(says: str) -> Claim:
    return Claim(says, NOT_MEASURED, None)
