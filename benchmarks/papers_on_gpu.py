"""Measures Hawick's algorithms for arrays on this machine's GPU.

His spiral and two other images, by label equivalence (Kernel D) and by the three kinds of
propagation (A to C): Figs. 18 and 19 of Hawick, Leist and Playne 2010. Weigel's figures are those
of `conncomp bench paper weigel-2011`.

A call of propagation that takes more than `--limit` seconds is given up; that is a lower bound.
Every answer is compared with `conncomp.label` on the CPU before it is timed. Each row is written to
the JSON file as soon as it is there, so that Ctrl-C or the time limit leaves what was done.

Usage: python benchmarks/papers_on_gpu.py [-o papers-on-gpu.json]
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from conncomp import Workspace, generate, label
from conncomp.bench.devices import Cuda
from conncomp.bench.machine import commit
from conncomp.bench.runner import LONGEST, repeat
from conncomp.bench.units import format_rate, format_ratio, format_seconds
from conncomp.grid.algorithms import ALGORITHMS
from conncomp.io import atomic_path
from conncomp.kernels.cuda.grid.image import Image
from conncomp.kernels.cuda.launcher import current_gpu, time_limit
from conncomp.kernels.links import equal_values
from conncomp.kernels.neighbourhood import Neighbourhood

Row = dict[str, Any]

ON_GPU = ALGORITHMS["cuda"]
KERNELS = {
    "label-equivalence": "D",
    "directional-propagation": "C",
    "local-propagation": "B",
    "neighbour-propagation": "A",
}
WRONG = "wrong answer"


def measure(
    device: Cuda,
    name: str,
    values: Any,
    right: Any,
    limit: float,
) -> Row:
    """Check one call; return its time if that was long, or else those of several calls."""
    gpu, workspace = current_gpu(), Workspace()
    roots = gpu.xp.full(values.size, -7, np.int32)  # not the right answer of the call before
    # A corner first, which compiles the kernels.
    fill = ON_GPU[name].fill
    task = workspace, False, False
    fill(gpu, _image(values[:8, :8]), roots[:64], *task)
    roots.fill(-7)
    call = partial(fill, gpu, _image(values), roots, *task)
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
    return {"seconds": repeat(partial(device.seconds, call)), "reason": None}


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
            row = measure(device, name, placed, right, limit)
            if not row["seconds"]:
                given_up.add(name)
            yield {"image": picture, "size": n, "algorithm": name} | row


def _image(values: Any) -> Image:
    """Return an image with background 0, whose faces connect, as the kernels take it."""
    return Image(values, equal_values("u1", b"\0"), Neighbourhood(1, None, (False, False)))


def median(row: Row | None) -> float | None:
    """Return the median time of a row, or None if it was given up or is not there."""
    return float(statistics.median(row["seconds"])) if row and row["seconds"] else None


def table(title: str, head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a table as Markdown."""
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join([f"{title}\n", *("| " + " | ".join(cells) + " |" for cells in rows), ""])


def report(result: Row) -> str:
    """Return all tables."""
    gpu, rate = result["machine"]["gpu"]["name"], result["copy_bytes_per_second"]
    text = [f"{gpu}, copies move {format_rate(rate)}B/s\n"]
    return "\n".join([*text, _propagation_table(result["propagation"])])


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


def main(arguments: Sequence[str] | None = None) -> None:
    start = perf_counter()
    parser = argparse.ArgumentParser(description="Measure the papers' algorithms on the GPU.")
    parser.add_argument("-o", "--output", type=Path, default=Path("papers-on-gpu.json"))
    parser.add_argument("--size", type=int, default=4096, help="of images")
    parser.add_argument("--limit", type=float, default=2.0, help="of one call, in seconds")
    parser.add_argument("--seconds", type=float, default=90.0, help="of the whole run")
    given = parser.parse_args(arguments)

    device = Cuda()
    revision, dirty = commit()
    result: Row = {
        "format": "conncomp-papers-on-gpu",
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": revision,
        "dirty": dirty,
        "machine": device.describe(),
        "versions": {"conncomp": version("conncomp"), "numpy": np.__version__} | device.versions(),
        "copy_bytes_per_second": device.copy_rate(1),
        "complete": False,
        "propagation": [],
    }
    with device.current():
        try:
            for row in propagation(device, given.size, given.limit):
                result["propagation"].append(row)
                _write(result, given.output)
                if perf_counter() - start > given.seconds:
                    raise TimeoutError(f"stopped after {given.seconds:g} s")
            result["complete"] = True
        except (KeyboardInterrupt, TimeoutError) as reason:
            print(f"not complete: {reason or 'interrupted'}\n")
    _write(result, given.output)
    print(report(result))
    print(f"{perf_counter() - start:.0f} s")
    if any(row["reason"] == WRONG for row in result["propagation"]):
        raise SystemExit("there are wrong answers")


def _write(result: Row, path: Path) -> None:
    with atomic_path(path) as temporary:
        temporary.write_text(json.dumps(result, indent=1, allow_nan=False) + "\n")


if __name__ == "__main__":
    main()
