"""``conncomp view``."""

from __future__ import annotations

import re
import webbrowser
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

import conncomp
from conncomp.cli._channels import row_of_axes
from conncomp.cli._input import read_quietly
from conncomp.cli._options import join_time_option, json_option, spacing_option, threads_option
from conncomp.cli._output import check_distinct, output_file
from conncomp.cli._report import Row, Stages, show, timing_row
from conncomp.cli._rules import command
from conncomp.files.access import naming
from conncomp.files.scales import Content

BOUND = re.compile(r"-?[0-9]{1,18}")


def _parse_slices(
    context: click.Context, option: click.Parameter, text: str | None
) -> list[slice] | None:
    """Return the slices that a text such as ``10:20,:,::2`` is in Python."""
    if text is None:
        return None
    slices = []
    for word in text.replace(" ", "").split(","):
        bounds = word.split(":")
        if len(bounds) not in (2, 3) or not all(not b or BOUND.fullmatch(b) for b in bounds):
            raise click.BadParameter(
                f"{text!r} is not a slice for each axis, such as 10:20,:,::2.", context, option
            )
        slices.append(slice(*(int(bound) if bound else None for bound in bounds)))
    return slices


@command()
@click.argument("input", metavar="IN", type=click.Path(exists=True, path_type=Path))
@click.option(
    "-o",
    "--output",
    metavar="FILE.html",
    callback=output_file(".html", ".htm"),
    help="Write the page here. Default: the name of IN with .html, in the current folder.",
)
@click.option(
    "--image",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Show this image, in grey or in colour, below the colours of the components.",
)
@click.option("--key", metavar="NAME", help="Which array of .npz or Zarr, or dataset of HDF5.")
@click.option(
    "--crop",
    "part",
    metavar="SLICES",
    callback=_parse_slices,
    help="Show a part: begin:end or begin:end:step for each axis, as in Python. With ::2,::2,::2 "
    "it is every second element along three axes.",
)
@click.option(
    "--background",
    type=click.Choice(["0", "-1", "none"]),
    default="0",
    show_default=True,
    help="The label that is no component.",
)
@join_time_option
@spacing_option("With it, or where IN tells, slices are shown in their true proportions.")
@click.option("--open", "opens", is_flag=True, help="Open the page in a browser.")
@threads_option
@json_option
def view(
    input: Path,
    output: Path | None,
    image: Path | None,
    key: str | None,
    part: list[slice] | None,
    background: str,
    join_time: bool,
    spacing: tuple[float, ...] | None,
    opens: bool,
    as_json: bool,
) -> None:
    """Write an HTML page to look at the labels IN with, such as `conncomp label` writes.

    The page needs no other file and no network. It scrolls through the slices of a volume along any
    axis, tells label, size, bounding box and centroid of the component that one points at, and
    zooms. Where IN names an axis of time, labels of each time are components of their own.
    """
    output = Path(input.with_suffix(".html").name) if output is None else output
    check_distinct((input, output))
    check_distinct((image, output))
    stage = Stages()
    with stage("reading"):
        stored = _read_labels(input, key)
        with naming(input):
            content, separate = stored.separate(join_time)
        labels, scale = content.image, content.scale
        base = None if image is None else _read_image(image, join_time)
        if part is not None and len(part) == labels.ndim:  # in the order of the file
            part = [part[k] for k in separate] + [
                cut for k, cut in enumerate(part) if k not in separate
            ]
    with stage("writing"):
        conncomp.write_view(
            output,
            labels,
            base,
            part=part,
            title=input.name,
            background=None if background == "none" else int(background),
            spacing=spacing or (None if scale is None else scale.spacing),
            batch_axes=len(separate),
        )
    opened = opens and webbrowser.open(output.absolute().as_uri())
    report: dict[str, Any] = {
        "input": {"path": input, "shape": stored.image.shape, "dtype": str(labels.dtype)},
        "axes": stored.axes,
        "separate": separate,
        "image": image,
        "written": {"page": output, "bytes": output.stat().st_size},
        "opened": opened,
        "seconds": stage.seconds,
    }
    rows: list[Row] = [
        ("input", str(input)),
        ("shape", f"{' x '.join(map(str, stored.image.shape))}, {labels.dtype}"),
        *row_of_axes(report),
        ("page", f"{output}, {report['written']['bytes'] / 1e6:.3g} MB"),
        timing_row(stage.seconds),
    ]
    if opens and not opened:
        rows.append(("opened", "no, as no browser was found"))
    show(report, rows, as_json=as_json)


def _read_labels(path: Path, key: str | None) -> Content:
    content = read_quietly(path, key).without_single_channel()
    if content.channels is not None:
        raise ValueError(
            f"{path}: is in colour or has several channels, of shape {content.image.shape}, and "
            "labels have none; label it first, by conncomp label"
        )
    return content


def _read_image(path: Path, join_time: bool) -> NDArray[Any]:
    """Return an image with its channels, if there are any, as the last axis: red, green, blue."""
    content = read_quietly(path).without_single_channel()
    image, axis, *_ = content if join_time else content.separate()[0]
    if axis is None:
        return image
    channels = np.moveaxis(image, axis, -1)
    count = channels.shape[-1]
    if count > 4:
        raise ValueError(f"{path}: has {count} channels; write those to be shown to a file")
    return channels[..., :3] if count > 2 else channels[..., 0]
