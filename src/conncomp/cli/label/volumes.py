"""``conncomp label`` of volumes in chunks, block by block."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click
import numpy as np

import conncomp
from conncomp._memory import peak_memory
from conncomp.cli._options import closed_axes
from conncomp.cli._output import is_within_zarr
from conncomp.cli._report import Stages, describe_decades
from conncomp.cli.label.options import Options, check_floats, finite
from conncomp.files.access import naming
from conncomp.files.label_values import middle_of
from conncomp.files.scales import batch_axes_of

if TYPE_CHECKING:
    from conncomp.chunked.selection import SizeSummary


def label_chunks(options: Options, stage: Stages) -> dict[str, Any]:
    """Label a volume in chunks; return the report."""
    _check_output(options)
    # Of which the help has no need.
    from conncomp.chunked.volumes.labelling import Arguments, label_volume, opened

    with opened(options.input, options.key, options.channel) as volume:
        shape, dtype, names = volume.shape, volume.dtype, volume.axes
        with naming(options.input):
            batch = batch_axes_of(names, shape, options.join_time)
        if dtype.kind == "f":
            check_floats(options, volume.read(middle_of(shape, batch)))
    elements = math.prod(shape)
    size = elements * dtype.itemsize
    axes = closed_axes(options.periodic, len(shape), "image", separate=range(batch))
    assert options.output is not None
    arguments = Arguments(
        background=options.background,
        connectivity=options.connectivity,
        periodic=axes[batch:],
        batch_axes=batch,
        threshold=options.threshold,  # type: ignore[arg-type]
        min_size=options.min_size,
        largest=options.top,
        listed=options.top or 1,
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
    assert counts.summary is not None
    by_digits = counts.summary.by_digits
    digits = np.flatnonzero(by_digits[:, 0]).max(initial=-1) + 1
    return {
        "input": {"path": options.input, "shape": shape, "dtype": str(dtype)},
        "threshold": options.threshold,
        "background": finite(options.background),
        "connectivity": options.connectivity or len(axes) - batch,
        "periodic": axes,
        "axes": names,
        "separate": list(range(batch)),
        "batch_axes": batch,
        "components": counts.components,
        "foreground": int(by_digits[:, 1].sum()),
        "largest": _largest(counts.summary, shape[:batch]),
        "sizes": describe_decades(by_digits[:digits].tolist()),
        "kept": {"components": counts.kept, "elements": counts.elements},
        "seconds": stage.seconds,
        "elements_per_second": elements / stage.seconds["labelling"],
        "device": options.device,
        "threads": conncomp.get_num_threads(),
        "scheduler": options.scheduler,
        "memory": {"peak": peak_memory(), "limit": options.memory},
        "written": {"labels": options.output, "statistics": None, "picture": None},
    }


def _largest(summary: SizeSummary, batch: tuple[int, ...]) -> list[dict[str, Any]]:
    """Return label and size of the largest components, and which image of several has them."""
    return [
        {"label": label, "size": size}
        | ({"item": [int(k) for k in np.unravel_index(item, batch)]} if batch else {})
        for size, item, label in summary.largest.tolist()
    ]


def _check_output(options: Options) -> None:
    """Raise where labels cannot go to the file that is named."""
    if options.output is None:
        raise click.UsageError("-o must say where the labels of a volume in chunks go.")
    if options.output.suffix.lower() not in (".zarr", ".npy") and not is_within_zarr(
        options.output
    ):
        raise click.UsageError(
            "labels of volumes in chunks go to .zarr, .npy or IMAGE.zarr/labels/NAME."
        )
