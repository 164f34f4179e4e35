"""``conncomp view``."""

from __future__ import annotations

import re
import webbrowser
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import conncomp
from conncomp.cli._input import read_quietly, rows_of_input
from conncomp.cli._options import ANY_PATH, FILE, Common, Spacing, argument, option, parsed
from conncomp.cli._output import check_distinct, output_file
from conncomp.cli._report import Row, Stages, show, timing_row
from conncomp.cli._rules import command
from conncomp.files.access import naming
from conncomp.files.scales import Content

BOUND = re.compile(r"-?[0-9]{1,18}")


SLICES = "not a slice for each axis, such as 10:20,:,::2"


def _parse_slices(text: str) -> list[slice]:
    slices = []
    for word in text.replace(" ", "").split(","):
        bounds = word.split(":")
        if len(bounds) not in (2, 3) or not all(not b or BOUND.fullmatch(b) for b in bounds):
            raise ValueError
        slices.append(slice(*(int(bound) if bound else None for bound in bounds)))
    return slices


@dataclass(frozen=True, kw_only=True)
class Options(Common):
    """The options of the command.

    --output FILE.html  Write the page here. Default: the name of IN with .html, in the current
        folder.
    --image FILE  Show this image, in grey or in colour, below the colours of the components.
    --key NAME  Which array of .npz or Zarr, or dataset of HDF5.
    --crop SLICES  Show a part: begin:end or begin:end:step for each axis, as in Python. With
        ::2,::2,::2 it is every second element along three axes.
    --background  The label that is no component.
    --spacing D,D,...  The distance of neighbouring elements along each axis, such as 2,0.5,0.5.
        With it, or where IN tells, slices are shown in their true proportions.
    --open  Open the page in a browser.
    """

    input: Path = argument("IN", type=ANY_PATH)
    output: Path | None = option(type=output_file(".html", ".htm"))
    image: Path | None = option(type=FILE)
    key: str | None
    part: list[slice] | None = option("--crop", type=parsed(_parse_slices, SLICES))
    background: Literal["0", "-1", "none"] = "0"
    join_time: bool
    spacing: Spacing | None
    open: bool


@command(Options)
def view(options: Options) -> None:
    """Write an HTML page to look at the labels IN with, such as `conncomp label` writes.

    The page needs no other file and no network. It scrolls through the slices of a volume along any
    axis, tells label, size, bounding box and centroid of the component that one points at, and
    zooms. Where IN names an axis of time, labels of each time are components of their own.
    """
    path, image, part, background = options.input, options.image, options.part, options.background
    output = options.output or Path(path.with_suffix(".html").name)
    check_distinct((path, output))
    check_distinct((image, output))
    stage = Stages()
    with stage("reading"):
        stored = _read_labels(path, options.key)
        with naming(path):
            content, separate = stored.separate(options.join_time)
        labels, scale = content.image, content.scale
        base = None if image is None else _read_image(image, options.join_time)
        if part is not None and len(part) == labels.ndim:  # in the order of the file
            others = [cut for k, cut in enumerate(part) if k not in separate]
            part = [*(part[k] for k in separate), *others]
    with stage("writing"):
        how: dict[str, Any] = {"part": part, "title": path.name, "batch_axes": len(separate)}
        how["background"] = None if background == "none" else int(background)
        how["spacing"] = options.spacing or (None if scale is None else scale.spacing)
        conncomp.write_view(output, labels, base, **how)
    opened = options.open and webbrowser.open(output.absolute().as_uri())
    report: dict[str, Any] = {
        "input": {"path": path, "shape": stored.image.shape, "dtype": str(labels.dtype)},
        **{"axes": stored.axes, "separate": separate, "image": image},
        "written": {"page": output, "bytes": output.stat().st_size},
        **{"opened": opened, "seconds": stage.seconds},
    }
    page = f"{output}, {report['written']['bytes'] / 1e6:.3g} MB"
    rows: list[Row] = [*rows_of_input(report), ("page", page), timing_row(stage.seconds)]
    if options.open and not opened:
        rows.append(("opened", "no, as no browser was found"))
    show(report, rows, as_json=options.as_json)


def _read_labels(path: Path, key: str | None) -> Content:
    content = read_quietly(path, key).without_single_channel()
    if content.channels is not None:
        raise ValueError(
            f"{path}: is in colour or has several channels, of shape {content.image.shape}, and "
            "labels have none; label it first, by conncomp label"
        )
    return content


def _read_image(path: Path, join_time: bool) -> NDArray[Any]:
    """Return an image with its channels, if any, as the last axis: red, green, blue."""
    content = read_quietly(path).without_single_channel()
    image, axis, *_ = content if join_time else content.separate()[0]
    if axis is None:
        return image
    channels = np.moveaxis(image, axis, -1)
    count = channels.shape[-1]
    if count > 4:
        raise ValueError(f"{path}: has {count} channels; write those to be shown to a file")
    return channels[..., :3] if count > 2 else channels[..., 0]
