"""The report's choice of blocks: how large they are, and how many cells a thread has."""

from __future__ import annotations

from itertools import product
from typing import Any

from conncomp.bench.peers import Contender, OursOnGpu
from reproductions.claims import Claim
from reproductions.laboratory import Laboratory, Row, all_right
from reproductions.maddix_2014 import published
from reproductions.maddix_2014.measurements import (
    FLAT,
    LARGE,
    SQUARE,
    images,
    means_of,
    rows_of,
    times,
)
from reproductions.maddix_2014.words import claim
from reproductions.paper import Findings
from reproductions.pictures import bars, groups, legend

# The kernels of the report with its first choice of a block, which the others are compared with.
ALGORITHMS = {
    "kernel A": ("neighbour-propagation", FLAT),
    "kernel B": ("local-propagation", SQUARE),
    "kernel D": ("label-equivalence", FLAT),
}
GIVEN_UP = "given up for all images"
SHAPES = [(FLAT, 1), *product((SQUARE, LARGE), (1, 4))]


def measure_blocks(laboratory: Laboratory) -> Findings:
    """Measure all kernels with all blocks."""
    rows = [row for entry in images(laboratory) for row in _of_image(laboratory, entry)]
    means = {
        kernel: means_of(of_kernel, "shape_of_block", "over_choice")
        for kernel, of_kernel in groups(rows, "kernel").items()
    }
    return {
        "rows": rows,
        "fits": {"over the report's choice": means},
        "published": {"machine": published.MACHINE, **published.PUBLISHED["blocks"]},
    }


def _of_image(laboratory: Laboratory, entry: Any) -> list[Row]:
    shapes = {
        kernel: [(block, cells) for block, cells in SHAPES if cells == 1 or kernel != "kernel A"]
        for kernel in ALGORITHMS
    }
    measured = {
        _named(kernel, block, cells): _contender(algorithm, block, cells)
        for kernel, (algorithm, _) in ALGORITHMS.items()
        for block, cells in shapes[kernel]
    }
    rows = {row["way"]: row for row in rows_of(laboratory, entry, measured)}
    return [
        rows[_named(kernel, block, cells)]
        | {
            "kernel": kernel,
            "shape_of_block": _shape(block, cells),
            "over_choice": _over(
                rows[_named(kernel, block, cells)], rows[_named(kernel, choice, 1)]
            ),
        }
        for kernel, (_, choice) in ALGORITHMS.items()
        for block, cells in shapes[kernel]
    ]


def _contender(algorithm: str, block: tuple[int, int], cells: int) -> Contender:
    options: dict[str, Any] = {"block": block}
    if cells > 1:
        options["cells"] = cells
    return OursOnGpu("grid", algorithm, **options)


def _over(row: Row, choice: Row) -> float | None:
    """Return how many times as long the kernels take, without transfers."""
    if row["seconds"] is None or choice["seconds"] is None:
        return None
    return float(row["seconds"] / choice["seconds"])


def _named(kernel: str, block: tuple[int, int], cells: int) -> str:
    return f"{kernel}, {_shape(block, cells)}"


def _shape(block: tuple[int, int], cells: int) -> str:
    """Return a block of threads and their cells in words.

    >>> _shape((32, 32), 4)
    '32 x 32, 4 cells a thread'
    """
    width, height = block
    return f"{width} x {height}" + (f", {cells} cells a thread" if cells > 1 else "")


def draw_blocks(findings: Findings, canvas: Any) -> None:
    """Draw for each kernel how many times as long as with the report's choice it takes."""
    canvas.set_size_inches(9, 10)
    panels = canvas.subplots(len(ALGORITHMS))
    for axes, (kernel, rows) in zip(
        panels, groups(findings["rows"], "kernel").items(), strict=True
    ):
        of_shape = groups(rows, "shape_of_block")
        names = list(groups(rows, "image"))
        bars(
            axes,
            names,
            {shape: [row["over_choice"] for row in same] for shape, same in of_shape.items()},
        )
        axes.set_xticks(range(len(names)), names, rotation=0)
        width, height = ALGORITHMS[kernel][1]
        axes.set(ylabel=f"over {width} x {height}", title=kernel)
        axes.axhline(1, color="k", linewidth=0.5)
        legend(axes, beside=True)


def claims_of_blocks(findings: Findings) -> list[Claim]:
    """Return what the report says of blocks."""
    means = findings["fits"]["over the report's choice"]
    right = all_right(findings["rows"], "blocks give the labels of scikit-image")
    return [
        claim("blocks.consistent", *right),
        *(_flat_is_best(kernel, means[kernel]) for kernel in ("kernel A", "kernel D")),
        _less(means["kernel B"], "32 x 32", "blocks.larger"),
        _less(means["kernel D"], "32 x 32, 4 cells a thread", "blocks.cells"),
        _less(means["kernel B"], "32 x 32, 4 cells a thread", "blocks.cells-of-kernel-b"),
    ]


def _flat_is_best(kernel: str, means: dict[str, float]) -> Claim:
    alternatives = {shape: mean for shape, mean in means.items() if shape != "32 x 6"}
    if not alternatives:
        return claim("blocks.flat", GIVEN_UP, kernel=kernel)
    best = min(alternatives, key=lambda shape: alternatives[shape])
    return claim(
        "blocks.flat",
        f"{best} takes {times(alternatives[best])} as long as 32 x 6, on the mean of all images",
        alternatives[best],
        kernel=kernel,
    )


def _less(means: dict[str, float], shape: str, key: str) -> Claim:
    if shape not in means:
        return claim(key, GIVEN_UP)
    mean = means[shape]
    return claim(
        key,
        f"{shape} takes {times(mean)} as long as the first choice, on the mean of all images",
        mean,
    )
