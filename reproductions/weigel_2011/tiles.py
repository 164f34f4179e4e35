"""Figs. 2, 6, 8 and 9: bonds of critical lattices, labelled by tiles."""

import statistics
from math import log2, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp.kernels.cuda.papers.tiles import MAX_THREADS, TILES
from reproductions.fits import power_law
from reproductions.laboratory import Row
from reproductions.paper import Findings
from reproductions.pictures import curve, groups, legend, log_axes, published, ticks
from reproductions.weigel_2011.laboratory import OF_PAPER, PUBLISHED, Laboratory

# Shortest paths through critical clusters of the Ising model grow as distance to this power.
D_MIN = 1.08


class Sum(NamedTuple):
    """y = first * u + second * v, with the root mean square of the relative deviations."""

    first: float
    second: float
    deviation: float


def sum_of_terms(
    u: NDArray[np.float64], v: NDArray[np.float64], y: NDArray[np.float64]
) -> Sum | None:
    """Fit y = first * u + second * v, with equal weight for equal relative deviations.

    None if there are fewer than three points.
    """
    if len(y) < 3:
        return None
    matrix = np.stack([u, v], axis=1) / y[:, np.newaxis]
    terms, *_ = np.linalg.lstsq(matrix, np.ones_like(y), rcond=None)
    deviation = float(np.sqrt(np.mean((matrix @ terms - 1) ** 2)))
    return Sum(float(terms[0]), float(terms[1]), deviation)


def levels(length: int, tile: int) -> float:
    """Return how many levels sewing has: a doubling each, and one across periodic borders."""
    return log2(length / tile) + 1


def blocks_at_work(ratio: float) -> float:
    """Return how many blocks work at once, from the ratio a / b of equation 21: equation 22.

    >>> round(blocks_at_work(426.4))
    110
    """
    return (25 + 8 * ratio + sqrt(25 + 16 * ratio)) / 32


def best_tile_of_sewing(local: float, sewing: float) -> float:
    """Return the best tile for times a site of local * B**D_MIN and sewing / B: equation 24."""
    return float((sewing / (D_MIN * local)) ** (1 / (D_MIN + 1)))


def best_tile_of_relaxation(local: float, relaxation: float, length: int) -> float:
    """Return the best tile for times a site of local * B**D_MIN, and of relaxation: equation 26.

    The latter is relaxation * L**D_MIN / B**(D_MIN + 1).
    """
    ratio = relaxation * (D_MIN + 1) / (local * D_MIN)
    return float((ratio * length**D_MIN) ** (1 / (2 * D_MIN + 1)))


WAYS = (("bfs", None), ("union-find", None), *(("self-labelling", n) for n in (1, 4, "column")))
MERGES = ("sewing", "relaxation")
# From here on tiles have work for all threads of a warp, with four sites each.
FULL_TILE = 16
# Fig. 6 is fitted where so many tiles lie side by side.
LEAST_TILES = 100


# ------------------------------------------------------------------------------------------- Fig. 2


def local(laboratory: Laboratory) -> Findings:
    """Measure what labelling a tile takes, in all ways that tiles are labelled."""
    length, rows = laboratory.scale.tile_length, []
    for way, sites in WAYS:
        for side in _sides(length):
            if sites == 1 and side * side > MAX_THREADS:
                continue
            row = laboratory.labelling(length, side, "sewing", way, sites)
            row["ns_a_site"] = 1e9 * row["local"] / length**2
            row["ns_a_tile"] = row["ns_a_site"] * side**2
            rows.append(row)
    fits = {
        name: {
            part: power_law([row["tile"] for row in chosen], [row["ns_a_tile"] for row in chosen])
            for part, chosen in (
                ("all", of_way),
                ("small", [row for row in of_way if row["tile"] <= FULL_TILE]),
                ("large", [row for row in of_way if row["tile"] >= FULL_TILE]),
            )
        }
        for name, of_way in groups(rows, local_name).items()
    }
    return {"rows": rows, "fits": fits, "published": PUBLISHED["figure-2"]}


def draw_local(findings: Findings, canvas: Any) -> None:
    axes = log_axes(canvas, "B", "ns for a tile")
    for name, rows in groups(findings["rows"], local_name).items():
        curve(axes, rows, "tile", "ns_a_tile", label=name)
    side = findings["published"]["tile"]
    of_paper = findings["published"]["ns_a_site"].items()
    published(axes, [(side, ns * side**2, name) for name, ns in of_paper], OF_PAPER)
    ticks(axes, (row["tile"] for row in findings["rows"]))
    legend(axes)


def local_name(row: Row) -> str:
    """Return the name of how a tile was labelled."""
    sites = row["sites_of_thread"]
    return f"{row['local_way']}, {sites}" if sites else str(row["local_way"])


# ------------------------------------------------------------------------------------------- Fig. 6


def relaxation(laboratory: Laboratory) -> Findings:
    """Count the sweeps that relaxation needs."""
    rows = [
        {**row, "tiles": row["length"] // row["tile"]} for row in _grid(laboratory, "relaxation")
    ]
    rows = [row for row in rows if row["relaxations"] > 0]
    many = [row for row in rows if row["tiles"] >= LEAST_TILES]
    return {
        "rows": rows,
        "fits": {
            name: power_law(
                [row["tiles"] for row in chosen], [row["relaxations"] for row in chosen]
            )
            for name, chosen in (("all", rows), (f"{LEAST_TILES} tiles and more", many))
        },
        "published": {**PUBLISHED["figure-6"], "d_min": D_MIN},
    }


def draw_relaxation(findings: Findings, canvas: Any) -> None:
    axes = log_axes(canvas, "L / B", "sweeps that changed a label")
    for name, rows in groups(findings["rows"], _side_name).items():
        curve(axes, rows, "tiles", "relaxations", linestyle="", label=name)
    for name, law in findings["fits"].items():
        if law:
            ends = np.array([4, max(row["tiles"] for row in findings["rows"])])
            exponent = findings["published"]["exponent"]
            text = f"{name}: exponent {law[1]:.3f} ± {law[2]:.3f} (Weigel 2011: {exponent})"
            axes.plot(ends, law[0] * ends ** law[1], label=text)
    legend(axes)


# ------------------------------------------------------------------------------------------- Fig. 8


def sewing(laboratory: Laboratory) -> Findings:
    """Measure sewing, and fit what Weigel expects of it, and what is expected of ours.

    A block of his sews four tiles, so the last levels leave most of the GPU idle, which costs a
    time in proportion to L: a / L + b / B a site (equation 21). Ours gives each site of the seams
    of a level a thread; a level then costs its sites, and a launch.
    """
    rows = []
    for row in _grid(laboratory, "sewing"):
        row["ns_a_site"] = 1e9 * row["consolidation"] / row["length"] ** 2
        row["launches"] = levels(row["length"], row["tile"])
        rows.append(row)
    lengths, sides, launches, ns = (
        np.array([row[name] for row in rows], float)
        for name in ("length", "tile", "launches", "ns_a_site")
    )
    of_seams = 1 / sides
    by_blocks = sum_of_terms(1 / lengths, of_seams, ns)
    by_threads = sum_of_terms(launches / lengths**2, of_seams, ns)
    blocks = None
    if by_blocks and by_blocks.first > 0 < by_blocks.second:
        blocks = blocks_at_work(by_blocks.first / by_blocks.second)
    return {
        "rows": rows,
        "fits": {
            "a / L + b / B": by_blocks,
            "equation 22 of a / b": blocks,
            "a * levels / L^2 + b / B": by_threads,
        },
        "published": PUBLISHED["figure-8"],
    }


def draw_sewing(findings: Findings, canvas: Any) -> None:
    axes = log_axes(canvas, "L", "sewing, ns a site")
    by_threads = findings["fits"]["a * levels / L^2 + b / B"]
    for number, (name, rows) in enumerate(groups(findings["rows"], _side_name).items()):
        curve(axes, rows, "length", "ns_a_site", linestyle="", color=f"C{number}", label=name)
        if by_threads:
            fitted = [
                by_threads[0] * row["launches"] / row["length"] ** 2 + by_threads[1] / row["tile"]
                for row in rows
            ]
            axes.plot([row["length"] for row in rows], fitted, color=f"C{number}", linewidth=1)
    last = max(row["length"] for row in findings["rows"])
    published(axes, [(last, findings["published"]["ns_a_site"], "B = 16, large L")], OF_PAPER)
    ticks(axes, (row["length"] for row in findings["rows"]))
    legend(axes)


# ------------------------------------------------------------------------------------------- Fig. 9


def best_tile(laboratory: Laboratory) -> Findings:
    """Find the fastest tile for each length, and by the fits of equations 24 and 26."""
    sewn, relaxed = (list(_grid(laboratory, merge)) for merge in MERGES)
    rows = []
    for merge, of_merge in zip(MERGES, (sewn, relaxed), strict=True):
        for length in sorted({row["length"] for row in of_merge}):
            of_length = [row for row in of_merge if row["length"] == length]
            best = min(of_length, key=lambda row: float(row["seconds"]))
            rows.append(
                {
                    "length": length,
                    "merge": merge,
                    "best": best["tile"],
                    "ns_a_site": {
                        str(row["tile"]): 1e9 * row["seconds"] / length**2 for row in of_length
                    },
                }
            )
    # Where all multiprocessors are at work.
    longest = max(row["length"] for row in sewn)
    full = [row for row in sewn if row["length"] == longest and row["tile"] >= FULL_TILE]
    fits: dict[str, Any] = {"equation 24": None, "exponent": _law_of_best(rows)}
    if full:
        of_site = {"local": _mean(full, "local", lambda row: row["tile"] ** D_MIN)}
        of_site["sewing"] = _mean(full, "consolidation", lambda row: 1 / row["tile"])
        many = [row for row in relaxed if row["length"] == longest and row["tile"] >= FULL_TILE]
        fits["equation 24"] = best_tile_of_sewing(of_site["local"], of_site["sewing"])
        if many:
            of_site["relaxation"] = _mean(
                many,
                "consolidation",
                lambda row: row["length"] ** D_MIN / row["tile"] ** (D_MIN + 1),
            )
            fits["equation 26"] = {
                str(row["length"]): best_tile_of_relaxation(
                    of_site["local"], of_site["relaxation"], row["length"]
                )
                for row in rows
                if row["merge"] == "relaxation"
            }
        fits["seconds of a site"] = of_site
    return {"rows": rows, "fits": fits, "published": PUBLISHED["figure-9"]}


def draw_best_tile(findings: Findings, canvas: Any) -> None:
    axes = log_axes(canvas, "L", "the best B")
    for merge, rows in groups(findings["rows"], "merge").items():
        curve(axes, rows, "length", "best", label=f"{merge}, fastest", linestyle="--")
    if predicted := findings["fits"].get("equation 26"):
        axes.plot([int(name) for name in predicted], predicted.values(), label="equation 26")
    if side := findings["fits"]["equation 24"]:
        axes.axhline(side, linestyle=":", label=f"equation 24: {side:.1f}")
    longest = max(row["length"] for row in findings["rows"])
    published(
        axes, [(longest, findings["published"]["equation 24"], "sewing, equation 24")], OF_PAPER
    )
    ticks(axes, (row["length"] for row in findings["rows"]))
    axes.set_yticks(TILES, [str(side) for side in TILES])
    axes.set_yticks([], minor=True)
    legend(axes)


def _law_of_best(rows: list[Row]) -> Any:
    relaxed = [row for row in rows if row["merge"] == "relaxation"]
    return power_law([row["length"] for row in relaxed], [row["best"] for row in relaxed])


def _mean(rows: list[Row], stage: str, law: Any) -> float:
    """Return the factor by which a stage's seconds a site exceed a law, the geometric mean."""
    return statistics.geometric_mean(row[stage] / row["length"] ** 2 / law(row) for row in rows)


def _grid(laboratory: Laboratory, merge: str) -> list[Row]:
    """Return labellings of all lengths with all tiles that they hold at least two of."""
    lengths = (n for n in laboratory.scale.lengths if n <= laboratory.scale.longest_labelled)
    rows = []
    for length in lengths:
        for side in _sides(length):
            row = laboratory.labelling(length, side, merge, sites=4)
            rows.append({**row, "tiles": length // side})
    return rows


def _sides(length: int) -> tuple[int, ...]:
    return tuple(side for side in TILES if 2 * side <= length)


def _side_name(row: Row) -> str:
    return f"B = {row['tile']}"
