"""``conncomp label`` of volumes in chunks, block by block."""

from __future__ import annotations

import math
from typing import Any

import click

import conncomp
from conncomp._memory import peak_memory
from conncomp.cli._options import closed_axes
from conncomp.cli._output import is_within_zarr
from conncomp.cli._report import Row, Stages, percent, speed_row, timing_row
from conncomp.cli.label.options import Options, finite


def label_chunks(options: Options, stage: Stages) -> tuple[dict[str, Any], list[Row]]:
    """Label a volume in chunks; return the report, and rows of a table."""
    _check_options(options)
    # Of which the help has no need.
    from conncomp.chunked.volumes.labelling import Arguments, label_volume, opened

    with opened(options.input, options.key, options.channel) as volume:
        shape, dtype, batch = volume.shape, volume.dtype, volume.batch_axes
    elements = math.prod(shape)
    size = elements * dtype.itemsize
    axes = _closed_axes(options, len(shape), batch)
    assert options.output is not None
    arguments = Arguments(
        background=options.background,
        connectivity=options.connectivity,
        periodic=axes[batch:],
        threshold=options.threshold,  # type: ignore[arg-type]
        min_size=options.min_size,
        largest=options.top,
    )
    with stage("labelling", counts=True) as progress:
        counts = label_volume(
            options.input,
            options.output,
            arguments,
            key=options.key,
            channel=options.channel,
            memory=options.memory,
            scheduler=options.scheduler,
            progress=lambda done, total: progress(done * size // total, size),
        )
    all_kept = options.min_size is None and options.top is None
    report: dict[str, Any] = {
        "input": {"path": options.input, "shape": shape, "dtype": str(dtype)},
        "threshold": options.threshold,
        "background": finite(options.background),
        "connectivity": options.connectivity or len(axes) - batch,
        "periodic": axes,
        "batch_axes": batch,
        "components": counts.components,
        "kept": {"components": counts.kept, "elements": None if all_kept else counts.elements},
        "seconds": stage.seconds,
        "elements_per_second": elements / stage.seconds["labelling"],
        "device": options.device,
        "threads": conncomp.get_num_threads(),
        "scheduler": options.scheduler,
        "memory": {"peak": peak_memory(), "limit": options.memory},
        "written": {"labels": options.output},
    }
    rows: list[Row] = [
        ("input", str(options.input)),
        ("shape", f"{' x '.join(map(str, shape))}, {dtype}"),
        ("components", f"{counts.components:,}"),
    ]
    if not all_kept:
        share = percent(counts.elements, elements)
        rows.append(("kept", f"{counts.kept:,}, of {counts.elements:,} elements ({share})"))
    rows += [
        timing_row(stage.seconds),
        speed_row(report["elements_per_second"], "elements", report["threads"]),
        ("labels", str(options.output)),
    ]
    return report, rows


def _closed_axes(options: Options, ndim: int, batch: int) -> list[bool]:
    """Return which axes of the volume close; those of separate images do not."""
    axes = closed_axes(options.periodic, ndim, "image")
    if options.periodic is True:
        return [False] * batch + axes[batch:]
    if any(axes[:batch]):
        raise ValueError(
            f"--periodic: axis {axes.index(True)} is one of time or channels, and does not close"
        )
    return axes


def _check_options(options: Options) -> None:
    """Raise where options are given that are for images in memory."""
    refused = {
        "--grey": options.grey,
        "--stats": options.stats is not None,
        "--picture": options.picture is not None,
        "--device cuda": options.device == "cuda",
        "--stats-only": options.stats_only,
    }
    for name, is_given in refused.items():
        if is_given:
            raise click.UsageError(f"{name} is not for volumes in chunks.")
    if options.scheduler is not None and options.memory is not None:
        raise click.UsageError(
            "--memory is for threads; workers of --scheduler have limits of their own."
        )
    if isinstance(options.threshold, str):
        raise click.UsageError(
            f"--threshold {options.threshold} needs the whole image; give a number."
        )
    if options.output is None:
        raise click.UsageError("-o must say where the labels of a volume in chunks go.")
    if options.output.suffix.lower() not in (".zarr", ".npy") and not is_within_zarr(
        options.output
    ):
        raise click.UsageError(
            "labels of volumes in chunks go to .zarr, .npy or IMAGE.zarr/labels/NAME."
        )
