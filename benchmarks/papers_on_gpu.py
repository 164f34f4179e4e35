"""Measures the papers' algorithms for arrays on this machine's GPU, and says which is fastest.

1. Hawick's spiral and two other images, by label equivalence (Kernel D) and by the three kinds of
   propagation (A to C): Figs. 18 and 19 of Hawick, Leist and Playne 2010.
2. Critical percolation, the bonds of a periodic square lattice, each set with probability 1/2, by
   all ways that `tiles` has to label tiles and to merge them, for each length B of a tile: Fig. 2
   and eq. 24 of Weigel 2011. His bonds are those of the critical Ising model.

A call of propagation that takes more than `--limit` seconds is given up; that is a lower bound.
Every answer is compared with `conncomp.label` on the CPU before it is timed. Each row is written to
the JSON file as soon as it is there, so that Ctrl-C or the time limit leaves what was done.

Usage: python benchmarks/papers_on_gpu.py [-o papers-on-gpu.json] [--picture out.png]
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from conncomp import Workspace, generate, kernel_times, label
from conncomp.bench.devices import Cuda
from conncomp.bench.machine import commit
from conncomp.bench.runner import LONGEST, repeat
from conncomp.bench.units import format_rate, format_ratio, format_seconds
from conncomp.generate.random import integers
from conncomp.grid.algorithms import ALGORITHMS
from conncomp.io import atomic_path
from conncomp.kernels.cuda.grid.image import Image
from conncomp.kernels.cuda.launcher import current_gpu, time_limit
from conncomp.kernels.cuda.papers.tiles import MAX_THREADS, TILES
from conncomp.kernels.links import equal_values, joined_by_bonds
from conncomp.kernels.neighbourhood import Neighbourhood

Row = dict[str, Any]
Describe = Callable[[Any], Image]

ON_GPU = ALGORITHMS["cuda"]
KERNELS = {
    "label-equivalence": "D",
    "directional-propagation": "C",
    "local-propagation": "B",
    "neighbour-propagation": "A",
}
LOCAL = (("bfs", None), ("union-find", None), *(("self-labelling", n) for n in (1, 4, "column")))
MERGE = ("sewing", "relaxation")

# Shortest paths through a percolation cluster grow as distance to this power (Weigel's eq. 11).
D_MIN = 1.13

# From here on, tiles of eq. 12 have work for all threads of a warp, with four sites each.
FULL_TILE = 16

WRONG = "wrong answer"


def measure(
    device: Cuda,
    name: str,
    describe: Describe,
    values: Any,
    right: Any,
    limit: float,
    **options: Any,
) -> Row:
    """Check one call; return its time if that was long, or else those of several calls."""
    gpu, workspace = current_gpu(), Workspace()
    roots = gpu.xp.full(values.size, -7, np.int32)  # not the right answer of the call before
    # A corner first, which compiles the kernels.
    fill = ON_GPU[name].fill
    task = workspace, False, False
    fill(gpu, describe(values[:8, :8]), roots[:64], *task, **options)
    roots.fill(-7)
    call = partial(fill, gpu, describe(values), roots, *task, **options)
    try:
        with time_limit(limit):
            seconds = [device.seconds(call)]
    except TimeoutError:
        return {"seconds": [], "reason": f"given up after {limit:g} s", "at_least": limit}
    if not np.array_equal(device.fetch(roots), right.ravel()):
        return {"seconds": [], "reason": WRONG}
    if seconds[0] > LONGEST:
        return {"seconds": seconds, "reason": "timed once"}
    device.warm_up(call)
    row: Row = {"seconds": repeat(partial(device.seconds, call)), "reason": None}
    if name == "tiles":
        row["phases"] = []
        for _ in range(3):
            with kernel_times() as times:
                call()
            row["phases"].append(times)
    return row


def propagation(device: Cuda, size: int, limit: float) -> Iterator[Row]:
    """Yield what the four kernels take for spirals up to `size`, and for other images of it."""
    inputs = [
        ("spiral", n, partial(generate.spiral, n)) for n in (size >> k for k in range(4, -1, -1))
    ]
    inputs.append(("blobs", size, partial(generate.blobs, (size, size))))
    inputs.append(("noise", size, partial(generate.random_array, (size, size))))
    given_up = set()
    for picture, n, make in inputs:
        values = make()
        right = label(values, connectivity=1, numbering="roots")
        placed = device.place(values)
        for name in KERNELS:
            if name in given_up and n < size:  # then only the largest is of interest
                continue
            row = measure(device, name, _image, placed, right, limit)
            if not row["seconds"]:
                given_up.add(name)
            yield {"image": picture, "size": n, "algorithm": name} | row


def percolation(device: Cuda, size: int, limit: float) -> Iterator[Row]:
    """Yield what all ways of `tiles` take for critical bonds on a lattice of size * size sites."""
    bonds = integers(size * size, 4).astype(np.uint8).reshape(size, size)  # two bits, each 1/2
    right, placed = roots_of_bonds(bonds), device.place(bonds)
    # The small tiles with relaxation take longest, and come last.
    for merge, side, (local, sites) in product(MERGE, reversed(TILES), LOCAL):
        if sites == 1 and side * side > MAX_THREADS:
            continue
        way = {"local": local, "merge": merge, "tile": side, "sites": sites}
        yield way | {"size": size} | measure(device, "tiles", _lattice, placed, right, limit, **way)


def _image(values: Any) -> Image:
    """Return an image with background 0, whose faces connect, as the kernels take it."""
    return Image(values, equal_values("u1", b"\0"), Neighbourhood(1, None, (False, False)))


def _lattice(bonds: Any) -> Image:
    """Return a lattice, periodic along both axes, as the kernels take it: bit k is for axis k."""
    return Image(bonds, joined_by_bonds(((0, 1), (0, 2))), Neighbourhood(1, None, (True, True)))


def roots_of_bonds(bonds: Any) -> Any:
    """Label a periodic lattice on the CPU, as an image with a pixel for each site and each bond.

    The first pixel of a component there is always a site.
    """
    size = len(bonds)
    pixels = np.zeros((2 * size, 2 * size), np.uint8)
    pixels[::2, ::2] = 1
    pixels[1::2, ::2] = bonds & 1
    pixels[::2, 1::2] = bonds >> 1 & 1
    roots = label(pixels, connectivity=1, periodic=True, numbering="roots")[::2, ::2]
    row, column = np.divmod(roots, 2 * size)
    return row // 2 * size + column // 2


def median(row: Row | None) -> float | None:
    """Return the median time of a row, or None if it was given up or is not there."""
    return float(statistics.median(row["seconds"])) if row and row["seconds"] else None


def phase(row: Row, *names: str) -> float:
    """Return the median time of the kernels whose names begin so."""
    return statistics.median(
        sum(float(times[kernel]) for kernel in times if kernel.startswith(names))
        for times in row["phases"]
    )


def table(title: str, head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a table as Markdown."""
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join([f"{title}\n", *("| " + " | ".join(cells) + " |" for cells in rows), ""])


def report(result: Row) -> str:
    """Return all tables."""
    gpu, rate = result["machine"]["gpu"]["name"], result["copy_bytes_per_second"]
    text = [f"{gpu}, copies move {format_rate(rate)}B/s\n"]
    return "\n".join([*text, _propagation_table(result["propagation"]), *_tiles_tables(result)])


def _propagation_table(rows: Sequence[Row]) -> str:
    found = {(row["image"], row["size"], row["algorithm"]): row for row in rows}
    lines = []
    for image, size in dict.fromkeys(key[:2] for key in found):
        base = median(found.get((image, size, "label-equivalence")))
        cells = [_cell(found.get((image, size, name)), base) for name in KERNELS]
        lines.append([f"{image}, {size}²", *cells])
    return table("Images", ["", *(f"{name}, {k}" for name, k in KERNELS.items())], lines)


def _cell(row: Row | None, base: float | None) -> str:
    """Return a time, and how many times `base` it is; or what is known of it."""
    if row is None:
        return "-"
    bound = "" if row["seconds"] else "> "
    seconds = median(row) or row.get("at_least")
    if not seconds:
        return str(row["reason"])
    ratio = f" ({bound}{format_ratio(seconds / base)} D)" if base else ""
    once = ", once" if row["seconds"] and row["reason"] else ""
    return f"{bound}{format_seconds(seconds)}{ratio}{once}"


def _tiles_tables(result: Row) -> Iterator[str]:
    found = {(r["local"], r["sites"], r["merge"], r["tile"]): r for r in result["tiles"]}
    timed = {key: row for key, row in found.items() if "phases" in row}
    head = ["", *(f"B = {side}" for side in TILES)]

    def cells(key: Any, value: Any) -> list[str]:
        rows = [timed.get((*key, side)) for side in TILES]
        return [format_seconds(value(row)) if row else "-" for row in rows]

    names = {way: " ".join(map(str, filter(None, way))) for way in LOCAL}
    ways = [(way, merge) for merge in MERGE for way in LOCAL]
    lines = [[f"{names[way]}, {merge}", *cells((*way, merge), median)] for way, merge in ways]
    fastest = []
    for side in TILES:
        of_side = [(median(row), key) for key, row in timed.items() if key[3] == side]
        best = min(of_side, default=None, key=lambda pair: pair[0] or 0.0)
        fastest.append(f"{names[best[1][:2]]}, {best[1][2]}" if best else "-")
    yield table("Tiles: all", head, [*lines, ["fastest", *fastest]])

    def of_one_tile(row: Row) -> float:
        return phase(row, "local") * float(row["tile"] / row["size"]) ** 2

    lines = [[names[way], *cells((*way, "sewing"), of_one_tile)] for way in LOCAL]
    yield table("Local labelling: time over the number of tiles (Weigel's Fig. 2)", head, lines)
    parts = {
        "local": ("local",),
        "merge": ("sew", "prepare_relax", "relax"),
        "rest": ("start", "flatten"),
    }
    four = LOCAL[3]
    lines = [
        [f"{merge}: {part}", *cells((*four, merge), lambda row, k=kernels: phase(row, *k))]
        for merge in MERGE
        for part, kernels in parts.items()
    ]
    yield table(f"Phases, {names[four]}", head, lines)
    sewn = [row for key, row in timed.items() if key[:3] == (*four, "sewing")]
    if (best_side := best_tile(sewn)) is not None:
        yield f"Eq. 24, {names[four]} and sewing: the best B is {best_side:.1f}\n"


def best_tile(rows: Sequence[Row]) -> float | None:
    """Return the best B by eq. 24: a site's local time is c * B**D_MIN, its sewing b / B."""
    c = [
        phase(row, "local") / row["size"] ** 2 / row["tile"] ** D_MIN
        for row in rows
        if row["tile"] >= FULL_TILE
    ]
    b = [phase(row, "sew") / row["size"] ** 2 * row["tile"] for row in rows]
    if not c:
        return None
    ratio = statistics.geometric_mean(b) / statistics.geometric_mean(c)
    return float((ratio / D_MIN) ** (1 / (D_MIN + 1)))


def draw(rows: Sequence[Row], path: Path) -> None:
    """Draw Weigel's Fig. 2, and beside it what a site takes in all."""
    from matplotlib.figure import Figure

    figure = Figure((11, 4.5), layout="constrained")
    left, right = figure.subplots(1, 2)
    for number, (local, sites) in enumerate(LOCAL):
        for merge, line in zip(MERGE, ("o-", "s--"), strict=True):
            style = f"C{number}{line}"
            way = local, sites, merge
            own = [row for row in rows if (row["local"], row["sites"], row["merge"]) == way]
            own = sorted((row for row in own if "phases" in row), key=lambda row: row["tile"])
            sides, name = [row["tile"] for row in own], f"{local} {sites or ''}".strip()
            tiles = [(row["size"] / row["tile"]) ** 2 for row in own]
            if merge == "sewing":
                local_times = [phase(row, "local") for row in own]
                each = [1e9 * t / n for t, n in zip(local_times, tiles, strict=True)]
                left.plot(sides, each, style, label=name)
            all_ = [1e9 * statistics.median(row["seconds"]) / row["size"] ** 2 for row in own]
            right.plot(sides, all_, style, label=f"{name}, {merge}", markersize=4)
    left.set(title="Local labelling", ylabel="ns for a tile")
    right.set(title="All", ylabel="ns for a site")
    for axes in (left, right):
        axes.set(xlabel="B", xscale="log", yscale="log")
        axes.set_xticks(TILES, [str(side) for side in TILES])
        axes.set_xticks([], minor=True)
        axes.legend(fontsize="x-small")
    figure.savefig(path, dpi=150)


def main(arguments: Sequence[str] | None = None) -> None:
    start = perf_counter()
    parser = argparse.ArgumentParser(description="Measure the papers' algorithms on the GPU.")
    parser.add_argument("-o", "--output", type=Path, default=Path("papers-on-gpu.json"))
    parser.add_argument("--picture", type=Path, help="draw Weigel's Fig. 2, with matplotlib")
    parser.add_argument("--size", type=int, default=4096, help="of images and of the lattice")
    parser.add_argument("--limit", type=float, default=2.0, help="of one call, in seconds")
    parser.add_argument("--seconds", type=float, default=90.0, help="of the whole run")
    given = parser.parse_args(arguments)

    device = Cuda()
    revision, dirty = commit()
    parts = {"propagation": propagation, "tiles": percolation}
    result: Row = {
        "format": "conncomp-papers-on-gpu",
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": revision,
        "dirty": dirty,
        "machine": device.describe(),
        "versions": {"conncomp": version("conncomp"), "numpy": np.__version__} | device.versions(),
        "copy_bytes_per_second": device.copy_rate(1),
        "complete": False,
        **{part: [] for part in parts},
    }
    with device.current():
        try:
            for part, rows_of in parts.items():
                for row in rows_of(device, given.size, given.limit):
                    result[part].append(row)
                    _write(result, given.output)
                    if perf_counter() - start > given.seconds:
                        raise TimeoutError(f"stopped after {given.seconds:g} s")
            result["complete"] = True
        except (KeyboardInterrupt, TimeoutError) as reason:
            print(f"not complete: {reason or 'interrupted'}\n")
    _write(result, given.output)
    print(report(result))
    print(f"{perf_counter() - start:.0f} s")
    if given.picture:
        draw(result["tiles"], given.picture)
    if any(row["reason"] == WRONG for part in parts for row in result[part]):
        raise SystemExit("there are wrong answers")


def _write(result: Row, path: Path) -> None:
    with atomic_path(path) as temporary:
        temporary.write_text(json.dumps(result, indent=1, allow_nan=False) + "\n")


if __name__ == "__main__":
    main()
