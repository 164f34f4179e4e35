"""The options of ``conncomp label``."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import click
from numpy.typing import NDArray

from conncomp._arguments import shown
from conncomp.cli._errors import say
from conncomp.cli._options import (
    ANY_PATH,
    Axes,
    Bytes,
    Common,
    Device,
    Natural,
    Positive,
    Spacing,
    argument,
    option,
    parsed,
    typed,
)
from conncomp.cli._output import is_within_zarr, output_file
from conncomp.cli._rules import excludes, needs, no_effect
from conncomp.files.images import is_hdf5
from conncomp.files.slabs import Raw, parse_raw
from conncomp.files.thresholds import WAYS, has_fractions, window_of

RAW = "no shape and dtype, such as '512,2048,2048:uint16'"


def number(text: str) -> int | float:
    """Return the number in `text`, a whole one as an int: 64-bit values stay exact."""
    try:
        value: int | float = int(text)
    except ValueError:
        value = float(text)
    if abs(value) > sys.float_info.max and "inf" not in text.lower():
        raise ValueError("beyond the range of floating point")
    return value


def _parse_threshold(text: str) -> int | float | str:
    if text in WAYS:
        return text
    if text.startswith("local"):
        return f"local:{window_of(text)}"
    try:
        value = number(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(
            f"{typed(text)} is neither a number that floating point can hold nor one of "
            f"{', '.join(WAYS)}"
        )
    return value


Threshold = Annotated[int | float | str, parsed(_parse_threshold)]
Background = Annotated[
    int | float,
    option(default="0", type=parsed(number, "not a number that floating point can hold")),
]


@dataclass(frozen=True, kw_only=True)
class Options(Common):
    """The options of the command.

    --output FILE  Write the labels: .npy, .npz, .tif, .tiff, .btf or (two axes, up to 65535) .png;
        .zarr, which must not exist, block by block.
    --key NAME  Which array of a .npz file, of a group of Zarr, or dataset of HDF5.
    --channel N  Label one channel of an image in colour, such as 0 for red, or of a microscope.
    --grey  Label the luminance of an image in colour, with the weights of scikit-image's rgb2gray,
        in its own range of values; opacity is left out.
    --threshold VALUE|WAY  First make the image binary: foreground is what lies above VALUE, or
        above the value that otsu, li or triangle find, or above local:51, the mean around each
        element, weighted by a Gaussian in a window of 51. All but otsu need scikit-image.
    --top K  Keep only the K largest components.
    --min-size S  Keep only components of at least S elements.
    --stats FILE.csv  Write a line for each component kept: label, size, bounding box (first
        coordinates, and those after the last), centroid, second central moments, all where the
        elements are stored, even if they meet across a periodic axis; along which axes it spans the
        image, 0 or 1, and, with --periodic, along which it wraps.
    --spacing D,D,...  The distance of neighbouring elements along each axis, such as 2,0.5,0.5. For
        --stats: centroids and moments are in its units then, and there is a column of volumes.
    --picture FILE.png  Write a picture in which components that are close differ in colour. Of more
        than two axes, it shows the middle slice along the first; of more than 2000 pixels a side,
        every second, third, ... of them. It has true proportions where IN tells voxel sizes.
    --stats-only  Read the volume once, slab by slab, and only measure components: it may be larger
        than memory. For .npy in C order, TIFF and --raw. With --stats, lines are written as
        components are finished, without moments; labels are the smallest index of the component.
    --raw SHAPE:DTYPE  With --stats-only: IN holds nothing but values, such as 512,2048,2048:uint16.
    --memory SIZE  With --stats-only, and for volumes in chunks: the most memory that the command
        may take, such as 8G; if it needs more, it ends with an error.
    --scheduler ADDRESS  For volumes in chunks: label them on the workers of a running cluster of
        Dask, which must see IN and FILE by the same names. ADDRESS is what 'dask scheduler' prints,
        such as tcp://10.0.0.1:8786, of a cluster that you trust.
    """

    input: Path = argument("IN", type=ANY_PATH)
    output: Path | None = option(
        type=output_file(".npy", ".npz", ".tif", ".tiff", ".btf", ".png", ".zarr")
    )
    key: str | None
    channel: Natural | None
    grey: bool
    threshold: Threshold | None
    background: Background
    connectivity: Positive | None
    periodic: Axes = option(default="none")
    join_time: bool
    top: Positive | None
    min_size: Positive | None
    stats: Path | None = option(type=output_file(".csv"))
    spacing: Spacing | None
    picture: Path | None = option(type=output_file(".png"))
    stats_only: bool
    raw: Annotated[Raw, parsed(parse_raw, RAW)] | None
    memory: Bytes | None
    scheduler: str | None
    device: Device = "cpu"

    @property
    def has_chunks(self) -> bool:
        """Whether the volume, or its labels, are labelled block by block."""
        if self.input.is_dir() or (self.input.is_file() and is_hdf5(self.input)):
            return True
        output = self.output
        return output is not None and (output.suffix.lower() == ".zarr" or is_within_zarr(output))


RULES = (
    excludes("--channel", "--grey"),
    needs("--spacing", "--stats"),
    needs("--raw", "--stats-only"),
    no_effect(
        "is not for volumes in chunks; leave it out",
        lambda given: Options(**given).has_chunks,
        *("--grey", "--stats", "--picture", "--device cuda", "--stats-only"),
    ),
    no_effect(
        "is for threads of this process, and workers of --scheduler have their own; leave one out",
        lambda given: given["scheduler"] is not None,
        *("--memory", "--threads"),
    ),
    no_effect(
        "needs the whole image, and --stats-only has slabs only; leave one out",
        lambda given: given["stats_only"],
        *("--output", "--key", "--channel", "--grey", "--top", "--picture", "--scheduler"),
        "--device cuda",
    ),
    no_effect(
        "is for --stats-only, or labels in Zarr; give both, or leave it out",
        lambda given: not (given["stats_only"] or Options(**given).has_chunks),
        *("--memory", "--scheduler"),
    ),
)


def check_floats(options: Options, values: NDArray[Any]) -> None:
    """Tell the user that fractions are labelled, of which hardly two are equal."""
    if options.threshold is None and has_fractions(values):
        say(
            f"{options.input}: holds fractions, of dtype {values.dtype}, and only neighbours of "
            "exactly equal value are connected; give --threshold 0 for what is > 0, or another "
            "threshold, or save labels by .astype(int)"
        )


def finite(number: Any) -> Any:
    """Return what JSON has, a finite number or text."""
    return number if isinstance(number, str) or math.isfinite(number) else str(number)


def check_is_number(threshold: int | float | str | None) -> None:
    """Raise where a threshold is to be found without the whole image."""
    if isinstance(threshold, str):
        raise click.UsageError(f"--threshold {threshold} needs the whole image; give a number.")


def check_background(threshold: int | float | str | None, background: int | float) -> None:
    """Raise where the background is no value of an image that a threshold makes."""
    if threshold is not None and background not in (0, 1):
        raise click.UsageError(
            f"--background {shown(background)}: with --threshold the image has the values "
            "0 and 1 only; choose one of them, or leave one of the options out."
        )
