"""What the paper says in words of its figures and its table, beside what is measured.

Most of it is of kernels for a GPU: without their rows it cannot be told.
"""

from typing import Any

from reproductions.claims import Claim, share
from reproductions.laboratory import Row
from reproductions.paper import Findings
from reproductions.weigel_2011.laboratory import claim
from reproductions.weigel_2011.tiles import local_name

BEST_TILE = 16  # of the paper, for sewing
NOT_MEASURED = "not measured without a GPU"


def local(findings: Findings) -> list[Claim]:
    of_tile = {local_name(row): row["ns_a_site"] for row in findings["rows"] if row["tile"] == 16}
    ours = of_tile["self-labelling, 4"]
    leads = {name: of_tile[name] / ours for name in ("bfs", "union-find")}
    fastest = {
        side: min(
            (row for row in findings["rows"] if row["tile"] == side),
            key=lambda row: float(row["ns_a_site"]),
        )
        for side in sorted({row["tile"] for row in findings["rows"]})
    }
    exponent = findings["fits"]["bfs"]["small"]
    return [
        claim("figure-2.breadth-first-lead", *_times(leads["bfs"])),
        claim("figure-2.union-find-lead", *_times(leads["union-find"])),
        claim(
            "figure-2.fastest",
            ", ".join(f"B = {side}: {local_name(row)}" for side, row in fastest.items()),
            share(row["local_way"] == "self-labelling" for row in fastest.values()),
        ),
        claim(
            "figure-2.breadth-first",
            f"exponent {exponent[1]:.2f} up to B = 16" if exponent else "too few tiles to fit",
            exponent and exponent[1],
        ),
    ]


def relaxation(findings: Findings) -> list[Claim]:
    """Return what is said of the sweeps of label relaxation (Fig. 6)."""
    law = findings["fits"]["100 tiles and more"] or findings["fits"]["all"]
    exponent = findings["published"]["exponent"]
    return [claim("figure-6.growth", *_exponent(law, exponent), exponent=exponent)]


def sewing(findings: Findings) -> list[Claim]:
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
            by_blocks[2] / by_threads[2] if told else None,
        )
    ]


def best_tile(findings: Findings) -> list[Claim]:
    best = {
        merge: {row["length"]: row["best"] for row in findings["rows"] if row["merge"] == merge}
        for merge in ("sewing", "relaxation")
    }
    return [
        claim(
            "figure-9.sewing",
            ", ".join(f"L = {length}: {side}" for length, side in best["sewing"].items()),
            share(side == BEST_TILE for side in best["sewing"].values()),
        ),
        claim("figure-9.relaxation", *_exponent(findings["fits"]["exponent"], 1 / 3)),
    ]


def by_length(findings: Findings) -> list[Claim]:
    ns, length = _by_way_and_length(findings["rows"]), findings["published"]["length"]
    lengths = [length for way, length in ns if way.startswith("sewing")]
    if not lengths:
        return [claim("figure-10.large", NOT_MEASURED, length=length)]
    sewn = {n: ns["sewing, B = 16", n] for n in lengths}
    relaxed = {n: ns["relaxation, the fastest B", n] for n in lengths}
    faster = [n for n in lengths if relaxed[n] < sewn[n]]
    lead = relaxed[length] / sewn[length] if length in sewn else None
    return [
        claim(
            "figure-10.intermediate",
            f"faster at L = {', '.join(map(str, faster))}" if faster else "at no L",
            share(n in faster for n in lengths if n < length),
        ),
        claim("figure-10.large", *_times(lead), length=length),
    ]


def stages(findings: Findings) -> list[Claim]:
    sewn = {row["length"]: row for row in findings["rows"] if row["way"] == "sewing, B = 16"}
    if not sewn:
        return [claim("figure-11.sewing", NOT_MEASURED)]
    shorter = [n for n, row in sewn.items() if row["consolidation_ns"] < row["local_ns"]]
    return [
        claim(
            "figure-11.sewing",
            f"from L = {min(shorter)} on" if shorter else f"at no L up to {max(sewn)}",
            min(shorter, default=None),
        )
    ]


def by_beta(findings: Findings) -> list[Claim]:
    slowest = {name.removeprefix("slowest beta, "): beta for name, beta in findings["fits"].items()}
    relaxed = {name: beta for name, beta in slowest.items() if name.startswith("relaxation")}
    if not relaxed:
        return [claim("figure-12.peak", NOT_MEASURED), claim("figure-12.sewing", NOT_MEASURED)]
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
            max(abs(beta - 1) for beta in relaxed.values()),
        ),
        claim(
            "figure-12.sewing", f"least at {least:g} beta_c: {lead[least]:.2f} times", lead[least]
        ),
    ]


def speed_up(findings: Findings) -> list[Claim]:
    sewn = {
        row["length"]: row["speed_up"] for row in findings["rows"] if row["way"] == "sewing, B = 16"
    }
    if not sewn:
        return [claim("figure-13.gain", NOT_MEASURED)]
    longest = max(sewn)
    told = f"sewing at L = {longest}: {sewn[longest]:.0f} times"
    return [claim("figure-13.gain", told, sewn[longest])]


def few_clusters(findings: Findings) -> list[Claim]:
    best = max(findings["fits"]["fastest"], key=lambda row: float(row["speed_up"]))
    told = f"up to {best['speed_up']:.3g} times, at L = {best['length']}"
    if "speed_up_error" not in best:
        return [claim("figure-14.gain", f"{told}, by a version that tells no error")]
    told += f", with an error of {best['speed_up_error']:.2g}"
    return [claim("figure-14.gain", told, best["speed_up"])]


def autocorrelation(findings: Findings) -> list[Claim]:
    """Return what is said of autocorrelation times: of the magnetisation, and of the energy."""
    fits = findings["fits"]
    z = {
        update: {name: law[1] for name, law in laws.items() if law} for update, laws in fits.items()
    }
    fields = {
        field: {update: of[field] for update, of in z.items() if field in of}
        for field in ("m^2", "energy")
    }
    local = fields["m^2"].pop("metropolis", None)
    del fields["energy"]["metropolis"]
    clusters = [value for of_field in fields.values() for value in of_field.values()]
    few, wolff = (fields["energy"].get(name) for name in ("few-cluster", "wolff"))
    told = "; ".join(
        f"of the {'magnetisation' if field == 'm^2' else field} "
        + ", ".join(f"{name} {value:.2f}" for name, value in of_field.items())
        for field, of_field in fields.items()
    )
    return [
        claim(
            "autocorrelation.local",
            "too few lattices to fit" if local is None else f"{local:.2f} of the magnetisation",
            local,
        ),
        claim("autocorrelation.clusters", told, max(clusters, default=None)),
        claim(
            "autocorrelation.few-clusters",
            "too few lattices to fit"
            if few is None or wolff is None
            else f"{few:.2f} and {wolff:.2f} of the energy",
            None if few is None or wolff is None else few - wolff,
        ),
    ]


def _times(ratio: float | None) -> tuple[str, float | None]:
    return ("not measured" if ratio is None else f"{ratio:.1f} times"), ratio


def _exponent(law: Any, said: float) -> tuple[str, float | None]:
    """Return a fitted exponent in words, and by how many errors it differs from what is said."""
    if not law:
        return "too few lattices to fit", None
    return f"exponent {law[1]:.3f} ± {law[2]:.3f}", (law[1] - said) / max(law[2], 1e-9)


def _by_way_and_length(rows: list[Row]) -> dict[tuple[str, int], float]:
    return {(row["way"], row["length"]): row["ns"] for row in rows}
