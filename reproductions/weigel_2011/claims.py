"""What the paper says in words of its figures and its table, beside what is measured.

Most of it is of kernels for a GPU: without their rows it cannot be told.
"""

from __future__ import annotations

from typing import Any

from reproductions.laboratory import Row
from reproductions.paper import Claim, Findings
from reproductions.weigel_2011.tiles import local_name
from reproductions.weigel_2011.words import claim

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
        claim("figure-2.lead", f"{leads[0]:.1f} and {leads[1]:.1f} times less", min(leads) > 1),
        claim(
            "figure-2.fastest",
            ", ".join(f"B = {side}: {local_name(row)}" for side, row in fastest.items()),
            all(row["local_way"] == "self-labelling" for row in fastest.values()),
        ),
        claim(
            "figure-2.breadth-first",
            f"exponent {exponent[1]:.2f} up to B = 16" if exponent else "too few tiles to fit",
            abs(exponent[1] - 2) < ERRORS * exponent[2] + 0.1 if exponent else None,
        ),
    ]


def relaxation(findings: Findings) -> list[Claim]:
    """Return what is said of the sweeps of label relaxation (Fig. 6)."""
    law = findings["fits"]["100 tiles and more"] or findings["fits"]["all"]
    exponent = findings["published"]["exponent"]
    return [
        claim(
            "figure-6.growth",
            f"exponent {law[1]:.3f} ± {law[2]:.3f}" if law else "too few lattices to fit",
            abs(law[1] - exponent) <= ERRORS * law[2] if law else None,
            exponent=exponent,
        )
    ]


def sewing(findings: Findings) -> list[Claim]:
    """Return what is said of sewing (Fig. 8)."""
    by_blocks, by_threads = (
        findings["fits"][name] for name in ("a / L + b / B", "a * levels / L^2 + b / B")
    )
    told = bool(by_blocks and by_threads)
    return [
        claim(
            "figure-8.law",
            f"deviates by {by_blocks[2]:.0%}; a levels / L^2 + b / B by {by_threads[2]:.0%}"
            if told
            else "too few lattices to fit",
            by_blocks[2] <= by_threads[2] if told else None,
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
        claim(
            "figure-9.sewing",
            ", ".join(f"L = {length}: {side}" for length, side in best["sewing"].items()),
            _mostly(side == BEST_TILE for side in best["sewing"].values()),
        ),
        claim(
            "figure-9.relaxation",
            f"exponent {law[1]:.2f} ± {law[2]:.2f}" if law else "too few lattices to fit",
            abs(law[1] - 1 / 3) <= ERRORS * law[2] if law else None,
        ),
    ]


def by_length(findings: Findings) -> list[Claim]:
    """Return what is said of sweeps against length (Fig. 10)."""
    ns = _by_way_and_length(findings["rows"])
    lengths = [length for way, length in ns if way.startswith("sewing")]
    if not lengths:
        return [claim("figure-10.large", NOT_MEASURED)]
    sewn = {length: ns["sewing, B = 16", length] for length in lengths}
    relaxed = {length: ns["relaxation, the fastest B", length] for length in lengths}
    longest = max(lengths)
    faster = [length for length in lengths if relaxed[length] < sewn[length]]
    return [
        claim(
            "figure-10.intermediate",
            f"faster at L = {', '.join(map(str, faster))}" if faster else "at no L",
            bool(faster) and longest not in faster,
        ),
        claim(
            "figure-10.large",
            f"{relaxed[longest] / sewn[longest]:.1f} times at L = {longest}",
            relaxed[longest] > sewn[longest],
        ),
    ]


def stages(findings: Findings) -> list[Claim]:
    """Return what is said of the stages of a sweep (Fig. 11)."""
    sewn = {row["length"]: row for row in findings["rows"] if row["way"] == "sewing, B = 16"}
    if not sewn:
        return [claim("figure-11.sewing", NOT_MEASURED)]
    shorter = [n for n, row in sewn.items() if row["consolidation_ns"] < row["local_ns"]]
    return [
        claim(
            "figure-11.sewing",
            f"from L = {min(shorter)} on" if shorter else "at no L",
            bool(shorter) and min(shorter) >= 8192,
        )
    ]


def by_beta(findings: Findings) -> list[Claim]:
    """Return what is said of sweeps against temperature (Fig. 12)."""
    slowest = {name.removeprefix("slowest beta, "): beta for name, beta in findings["fits"].items()}
    relaxed = {name: beta for name, beta in slowest.items() if name.startswith("relaxation")}
    if not relaxed:
        return [
            claim("figure-12.peak", NOT_MEASURED),
            claim("figure-12.sewing", NOT_MEASURED),
        ]
    at_beta: dict[float, dict[str, float]] = {}
    for row in findings["rows"]:
        at_beta.setdefault(row["beta_over_critical"], {})[row["way"]] = row["ns"]
    lead = {
        beta: min(ns[name] for name in relaxed) / ns["sewing, B = 16"]
        for beta, ns in at_beta.items()
    }
    least = min(lead, key=lambda beta: lead[beta])
    return [
        claim(
            "figure-12.peak",
            ", ".join(f"{name}: at {beta:g} beta_c" for name, beta in relaxed.items()),
            all(abs(beta - 1) < 0.06 for beta in relaxed.values()),
        ),
        claim(
            "figure-12.sewing",
            f"least at {least:g} beta_c: {lead[least]:.2f} times",
            lead[least] > 1,
        ),
    ]


def speed_up(findings: Findings) -> list[Claim]:
    """Return what is said of speed-ups (Fig. 13)."""
    sewn = {
        row["length"]: row["speed_up"] for row in findings["rows"] if row["way"] == "sewing, B = 16"
    }
    if not sewn:
        return [claim("figure-13.gain", NOT_MEASURED)]
    longest = max(sewn)
    return [
        claim(
            "figure-13.gain",
            f"sewing at L = {longest}: {sewn[longest]:.0f} times",
            sewn[longest] > 30,
        )
    ]


def few_clusters(findings: Findings) -> list[Claim]:
    """Return what is said of the few-cluster update (Fig. 14)."""
    fastest = findings["fits"]["fastest"]
    largest = max(row["speed_up"] for row in fastest)
    return [claim("figure-14.gain", f"up to {largest:.3g} times", largest >= 5)]


def autocorrelation(findings: Findings) -> list[Claim]:
    """Return what is said of autocorrelation times."""
    z = {update: laws["energy"][1] for update, laws in findings["fits"].items() if laws["energy"]}
    clusters = {name: value for name, value in z.items() if name != "metropolis"}
    return [
        claim(
            "autocorrelation.slowing-down",
            ", ".join(f"{name} {value:.2f}" for name, value in z.items()),
            max(clusters.values()) < 0.5 < 1.2 < z["metropolis"] if len(z) == 4 else None,
        ),
        claim(
            "autocorrelation.few-clusters",
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
