"""The report's kernels: what their parts take, its blocks, and ideas how Kernel D could get faster.

Streams and work shared with the CPU are left out of the library. How much they could gain at most
follows from what was measured: were all transfers hidden behind the kernels, or the kernels behind
them; and did both devices label parts of the image at their own rates, without any seam between.
"""

from itertools import product
from statistics import fmean
from typing import Any

from conncomp.bench.peers import Contender, OursOnGpu
from reproductions.claims import Claim, share
from reproductions.laboratory import Laboratory, Row, all_right
from reproductions.maddix_2014 import published
from reproductions.maddix_2014.measurements import (
    DEFAULT,
    FLAT,
    LARGE,
    LIMITS,
    SQUARE,
    by_way,
    columns,
    images,
    means_of,
    milliseconds,
    rows_of,
    span_of,
    times,
    ways,
)
from reproductions.maddix_2014.published import claim
from reproductions.paper import Findings
from reproductions.pictures import bars, groups, legend

# The report's names of our kernels.
PHASES = {
    "equivalence_scan": "scanning",
    "equivalence_analyse": "analysis",
    "equivalence_relabel": "labelling",
    "equivalence_start": "starting",
}
D = "kernel D"


def profile(laboratory: Laboratory) -> Findings:
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


# The kernels of the report with its first choice of a block, which the others are compared with.
ALGORITHMS = {
    "kernel A": ("neighbour-propagation", FLAT),
    "kernel B": ("local-propagation", SQUARE),
    "kernel D": ("label-equivalence", FLAT),
}
GIVEN_UP = "given up for all images"
SHAPES = [(FLAT, 1), *product((SQUARE, LARGE), (1, 4))]


def measure_blocks(laboratory: Laboratory) -> Findings:
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
    """Draw the time of each idea over that of Kernel D, with the ideas that are left out."""
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
