"""The options of ``conncomp measure``."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import click

from conncomp.cli._options import (
    Bytes,
    Common,
    Natural,
    Positive,
    Spacing,
    argument,
    option,
    parsed,
    typed,
)
from conncomp.cli._output import output_file
from conncomp.cli._rules import excludes, needs, no_effect
from conncomp.cli.label.options import Threshold
from conncomp.components.columns.properties import (
    PROPERTIES,
    Conditions,
    check_properties,
    current_name,
)
from conncomp.files.images import KINDS, WRITTEN
from conncomp.files.scales import METRES, unit_of

FIELD = re.compile(r"\{([^{}]*)\}")  # in a template, in the place of a part of a name
FIELDS = ("stem", "name", "parent", "series")
NO_NAMES = ("", ".", "..")  # which lead to another folder, or to none
# Endings of two parts, of which neither belongs to the stem.
OME = (".ome.tif", ".ome.tiff", ".ome.btf", ".ome.zarr", ".companion.ome")
DOUBLE = (".nii.gz", ".npy.gz", *OME)

ANY_IMAGE = Conditions(has_image=True, spacing=(1.0, 1.0))


def template_of(*suffixes: str) -> Callable[[str], str]:
    """Return a type of an option for names with fields, of some kinds or any."""

    def check(text: str) -> str:
        unknown = [name for name in FIELD.findall(text) if name not in FIELDS]
        if unknown or set(FIELD.sub("", text)) & set("{}"):
            known = ", ".join(f"{{{name}}}" for name in FIELDS)
            raise ValueError(f"{typed(text)} has a field that is none of {known}")
        if suffixes and Path(FIELD.sub("x", text)).suffix.lower() not in suffixes:
            raise ValueError(f"{typed(text)} does not end in {' or '.join(suffixes)}")
        return text

    return parsed(check)


def _parse_properties(text: str) -> tuple[str, ...] | str:
    if text == "all":
        return text
    words = text.replace(" ", "").split(",")
    names = tuple(dict.fromkeys(current_name(word) for word in words if word))
    # Those are quantiles, and no names.
    check_properties([name for name in names if name not in PROPERTIES], ANY_IMAGE)
    arrays = [name for name in names if name in PROPERTIES and PROPERTIES[name].is_lazy]
    if arrays:
        raise ValueError(
            f"{', '.join(arrays)}: a table of files has no place for arrays; leave these out, and "
            "make them by conncomp.component_statistics in Python"
        )
    return names


SERIES = "neither a number nor 'all'"


def _parse_series(text: str) -> int | None:
    if text == "all":
        return None
    if not re.fullmatch("[0-9]{1,9}", text):
        raise ValueError
    return int(text)


def _parse_unit(text: str) -> str:
    if unit_of(text) not in METRES:
        raise ValueError
    return unit_of(text)


@dataclass(frozen=True, kw_only=True)
class Options(Common):
    """The options of the command.

    --output FILE  Write the table here: .parquet or .arrow (.feather), with units in the metadata
        of columns, or .csv.
    --threshold VALUE|WAY  Objects are the components of what lies above VALUE, or above the value
        that otsu, li or triangle find in each file, or above local:51, the mean around each
        element, weighted by a Gaussian in a window of 51. Without it images are labels, as Cellpose
        and StarDist write them, and are measured as they are.
    --dark  Objects are what is not above the threshold.
    --min-size S  Keep objects of at least S elements.
    --channel N  Where images have channels, find objects in this one.
    --grey  Find objects in the luminance, where images are in colour.
    --key NAME  Which array of .npz or Zarr, or dataset of HDF5.
    --series N|all  Which series of a TIFF file, and of that of --intensity if it has several; all
        is each.
    --planes  Each plane of a stack is an image of its own, as frames of a film are.
    --intensity NAME  Measure intensities in this image, such as raw/{stem}.tif. Default: with
        --threshold, in all channels of the image itself, as it was.
    --properties P,P,...|all  Which columns of numbers, by the names of scikit-image's
        regionprops_table; all are those that there are of an image. Default:
        num_pixels,area,bbox,centroid and, of images, intensity_mean,intensity_min,intensity_max.
    --spacing D,D,...  The distance of neighbouring elements along each axis, such as 2,0.5,0.5. In
        the place of what files tell; one number is for all axes.
    --unit U  The unit of lengths, such as mm or um: that of --spacing, or what the files' own are
        converted to.
    --labels NAME  Write labels, such as out/{stem}.tif.
    --picture NAME.png  Write pictures of labels, such as out/{stem}.png.
    --memory SIZE  Measure labels in Zarr or HDF5, without --threshold, block by block, in no more
        memory than SIZE, such as 8G; if it needs more, the file fails. Columns are the default
        ones, and centroid_weighted.
    --workers N  How many files to measure at once. Default: one for each thread.
    --bioio  Let bioio and its plugins read formats that are not known here, such as .czi, .lif and
        .nd2. It has to be installed, and is others' code: of files from strangers it may make
        whatever it does.
    --resume  Go on where the same command ended before all was done.
    """

    inputs: tuple[str, ...] = argument("IN...", nargs=-1, required=True)
    output: Path = option(type=output_file(".parquet", ".csv", ".arrow", ".feather"), required=True)
    threshold: Threshold | None
    dark: bool
    min_size: Positive | None
    connectivity: Positive | None
    channel: Natural | None
    grey: bool
    key: str | None
    series: int | None = option(type=parsed(_parse_series, SERIES), default="0")
    planes: bool
    join_time: bool
    intensity: str | None = option(type=template_of())
    properties: Annotated[tuple[str, ...] | str, parsed(_parse_properties)] | None
    spacing: Spacing | None
    unit: str | None = option(type=parsed(_parse_unit, f"none of {', '.join(METRES)}"))
    labels: str | None = option(type=template_of(*WRITTEN))
    picture: str | None = option(type=template_of(".png"))
    memory: Bytes | None
    workers: int | None = option(type=click.IntRange(1, 256))
    bioio: bool
    resume: bool

    @property
    def kept_folder(self) -> Path:
        """The folder of the tables of images, until that of all is written."""
        return self.output.with_name(f"{self.output.name}.partial")


def _of_image(properties: tuple[str, ...] | str | None) -> list[str]:
    asked = () if properties is None or isinstance(properties, str) else properties
    # Names that are not in the table are quantiles.
    return [name for name in asked if name not in PROPERTIES or PROPERTIES[name].image]


RULES = (
    excludes("--channel", "--grey"),
    excludes("--planes", "--join-time"),
    needs("--dark --connectivity", "--threshold"),
    no_effect(
        "is for columns of intensities, of which --properties names none; leave it out",
        lambda given: isinstance(given["properties"], tuple) and not _of_image(given["properties"]),
        "--intensity",
    ),
    no_effect(
        "has no meaning with --memory, for labels in files that are measured block by block; leave "
        "one out, or make labels by conncomp label",
        lambda given: given["memory"] is not None,
        *("--threshold", "--grey", "--labels", "--picture", "--series", "--workers", "--bioio"),
    ),
)


def filled(template: str, path: Path, series: int = 0) -> Path:
    """Return the name that a template makes of an image's, and of its series.

    >>> filled("out/{stem}.png", Path("plate/a1.ome.tif")).as_posix()
    'out/a1.png'
    """
    double = next((end for end in DOUBLE if path.name.lower().endswith(end)), "")
    folder = path.parent if path.parent.name not in NO_NAMES else path.parent.resolve()
    parts = {"name": path.name, "parent": folder.name, "series": str(series)}
    parts["stem"] = path.name[: -len(double)] if double else path.stem
    for field in FIELD.findall(template):
        if parts[field] in NO_NAMES:
            raise click.UsageError(
                f"{{{field}}} of {str(path)!r} is {parts[field]!r}, which is no name; write one "
                f"in its place in {typed(template)}."
            )
    return Path(FIELD.sub(lambda field: parts[field[1]], template))


def check_intensities(options: Options) -> None:
    """Raise a click.UsageError for columns of intensities where there are none."""
    names = _of_image(options.properties)
    if names and options.threshold is None and options.intensity is None:
        raise click.UsageError(
            f"{', '.join(names)}: without --threshold images are labels, which have no "
            "intensities; name the images that have them by --intensity."
        )


# How the names of images end, in a folder.
SUFFIXES = {suffix for kind in KINDS for suffix in kind.suffixes} | {".h5", ".hdf5"}


def as_known(options: Options) -> dict[str, Any]:
    """Return the options on which the table of a file depends."""
    left_out = {"inputs", "output", "memory", "workers", "resume", "threads", "as_json"}
    return {name: value for name, value in vars(options).items() if name not in left_out}
