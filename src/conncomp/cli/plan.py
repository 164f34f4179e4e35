"""``conncomp plan``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from conncomp._memory import in_words
from conncomp.cli._channels import row_of_axes
from conncomp.cli._options import join_time_option, json_option, threads_option
from conncomp.cli._report import Row, Stages, show
from conncomp.cli._rules import command
from conncomp.cli.label.options import (
    background_option,
    check_background,
    check_is_number,
    connectivity_option,
    finite,
    parse_memory,
    parse_threshold,
)
from conncomp.files.access import naming
from conncomp.files.scales import batch_axes_of


@command()
@click.argument("input", metavar="IN", type=click.Path(exists=True, path_type=Path))
@click.option("--key", metavar="NAME", help="Which array of a group of Zarr, or dataset of HDF5.")
@click.option(
    "--channel", metavar="N", type=click.IntRange(min=0), help="Which channel of OME-Zarr."
)
@click.option(
    "--threshold",
    metavar="VALUE",
    callback=parse_threshold,
    help="Foreground is what lies above VALUE.",
)
@join_time_option
@background_option
@connectivity_option
@click.option(
    "--memory",
    metavar="SIZE",
    callback=parse_memory,
    help="The most memory that the command conncomp label may take, such as 8G.",
)
@threads_option
@json_option
def plan(input: Path, join_time: bool, as_json: bool, **given: Any) -> None:
    """Tell beforehand how much memory, disk and time labels of the volume IN will take.

    IN is Zarr, OME-Zarr, HDF5, TIFF, .npy or a folder of slices, as for `conncomp label` with
    labels in Zarr. A few blocks of it are labelled to a temporary folder, to know.
    """
    # Of which the help has no need.
    from conncomp.chunked.volumes.labelling import opened
    from conncomp.chunked.volumes.plan import plan_labels

    check_is_number(given["threshold"])
    check_background(given["threshold"], given["background"])
    stage = Stages()
    with opened(input, given["key"], given["channel"]) as volume, naming(input):
        axes, batch = volume.axes, batch_axes_of(volume.axes, volume.shape, join_time)
    with stage("labelling some blocks"):
        found = plan_labels(input, batch_axes=batch, **given)
    report: dict[str, Any] = {"input": {"path": input, "shape": found.shape, "dtype": found.dtype}}
    report |= {"axes": axes, "separate": list(range(batch))}
    report |= {"background": finite(given["background"]), "threshold": given["threshold"]}
    report |= {k: value for k, value in asdict(found).items() if k not in ("shape", "dtype")}
    report |= {"limit": given["memory"], "planning_seconds": sum(stage.seconds.values())}
    shape, block = (" x ".join(map(str, lengths)) for lengths in (found.shape, found.block_shape))
    rows: list[Row] = [
        ("input", str(input)),
        ("shape", f"{shape}, {found.dtype}"),
        *row_of_axes(report),
        ("blocks", f"{found.blocks:,} of {block}, {found.threads} at once"),
        ("memory", f"{in_words(found.process)}, of which labelling adds {in_words(found.memory)}"),
        ("time", _time_in_words(found.seconds)),
        ("labels", in_words(found.labels)),
        ("meanwhile", f"{in_words(found.kept)} more on the disk"),
        ("known from", f"{found.sampled:,} of {found.blocks:,} blocks"),
    ]
    show(report, rows, as_json=as_json)


def _time_in_words(seconds: float) -> str:
    """Return a time in words.

    >>> _time_in_words(0.42), _time_in_words(100), _time_in_words(1e4)
    ('0.42 s', '1.7 min', '2.8 h')
    """
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.2g} s"
