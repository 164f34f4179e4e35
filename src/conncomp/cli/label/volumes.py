"""``conncomp label`` of volumes in Zarr, chunk by chunk."""

from __future__ import annotations

import math
from typing import Any

import click

import conncomp
from conncomp._memory import peak_memory
from conncomp.cli._options import closed_axes
from conncomp.cli._report import Row, Stages, speed_row, timing_row
from conncomp.cli.label.options import Options, finite


def label_chunks(options: Options, stage: Stages) -> tuple[dict[str, Any], list[Row]]:
    """Label a volume in chunks; return the report, and rows of a table."""
    _check_options(options)
    from conncomp.chunked.volumes.stores import open_volume  # of which the help has no need

    volume = open_volume(str(options.input))
    shape, dtype = volume.shape, str(volume.dtype)
    elements = math.prod(shape)
    size = elements * volume.dtype.itemsize
    axes = closed_axes(options.periodic, len(shape), "image")
    assert options.output is not None
    with stage("labelling", counts=True) as progress:
        count = conncomp.label_file(
            options.input,
            options.output,
            options.background,
            options.connectivity,
            periodic=axes,
            memory=options.memory,
            progress=lambda done, total: progress(done * size // total, size),
        )
    report: dict[str, Any] = {
        "input": {"path": options.input, "shape": shape, "dtype": dtype},
        "background": finite(options.background),
        "connectivity": options.connectivity or len(axes),
        "periodic": axes,
        "components": count,
        "seconds": stage.seconds,
        "elements_per_second": elements / stage.seconds["labelling"],
        "device": options.device,
        "threads": conncomp.get_num_threads(),
        "memory": {"peak": peak_memory(), "limit": options.memory},
        "written": {"labels": options.output},
    }
    rows: list[Row] = [
        ("input", str(options.input)),
        ("shape", f"{' x '.join(map(str, shape))}, {dtype}"),
        ("components", f"{count:,}"),
        timing_row(stage.seconds),
        speed_row(report["elements_per_second"], "elements", report["threads"]),
        ("labels", str(options.output)),
    ]
    return report, rows


def _check_options(options: Options) -> None:
    """Raise where options are given that are for images in memory."""
    refused = {
        "--key": options.key is not None,
        "--channel": options.channel is not None,
        "--grey": options.grey,
        "--threshold": options.threshold is not None,
        "--top": options.top is not None,
        "--min-size": options.min_size is not None,
        "--stats": options.stats is not None,
        "--picture": options.picture is not None,
        "--device cuda": options.device == "cuda",
        "--stats-only": options.stats_only,
    }
    for name, is_given in refused.items():
        if is_given:
            raise click.UsageError(f"{name} is not for volumes in Zarr.")
    if options.output is not None and options.output.suffix.lower() not in (".zarr", ".npy"):
        raise click.UsageError("labels of volumes in Zarr go to .zarr or .npy.")
    if options.output is None:
        raise click.UsageError("-o must say where the labels of a volume in Zarr go.")
