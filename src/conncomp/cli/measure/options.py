"""What ``conncomp measure`` is given."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from conncomp.cli._rules import excludes, needs, no_effect
from conncomp.cli.label.options import typed
from conncomp.components.columns.properties import (
    PROPERTIES,
    Conditions,
    check_properties,
    current_name,
)
from conncomp.files.images import KINDS
from conncomp.files.scales import METRES, unit_of

# What a template has in the place of a part of the name of the image.
FIELD = re.compile(r"\{([^{}]*)\}")
FIELDS = ("stem", "name", "parent", "series")
# What leads to another folder, or to none.
NO_NAMES = ("", ".", "..")
# Endings of two parts, of which neither belongs to the stem.
DOUBLE = (
    *(".nii.gz", ".npy.gz", ".ome.tif", ".ome.tiff", ".ome.btf", ".ome.zarr"),
    ".companion.ome",
)

ANY_IMAGE = Conditions(ndim=2, has_image=True, spacing=(1.0, 1.0))


@dataclass(frozen=True)
class Options:
    """What the command is given, but for the images themselves."""

    output: Path
    threshold: int | float | str | None
    dark: bool
    min_size: int | None
    connectivity: int | None
    channel: int | None
    grey: bool
    key: str | None
    series: int | None  # all of them
    planes: bool
    join_time: bool
    intensity: str | None
    properties: tuple[str, ...] | str | None
    spacing: tuple[float, ...] | None
    unit: str | None
    labels: str | None
    picture: str | None
    memory: int | None
    workers: int | None
    bioio: bool
    resume: bool
    as_json: bool

    @property
    def kept_folder(self) -> Path:
        """Where what is done is kept until all is."""
        return self.output.with_name(f"{self.output.name}.partial")


def _of_image(properties: tuple[str, ...] | str | None) -> list[str]:
    """Return the columns of intensities that are asked for by name."""
    asked = () if properties is None or isinstance(properties, str) else properties
    # What is not in the table is a quantile.
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
    """Return the name that a template makes of that of an image, and the number of its series.

    >>> filled("out/{stem}.png", Path("plate/a1.ome.tif")).as_posix()
    'out/a1.png'
    """
    double = next((end for end in DOUBLE if path.name.lower().endswith(end)), "")
    folder = path.parent if path.parent.name not in NO_NAMES else path.parent.resolve()
    parts = {"name": path.name, "parent": folder.name}
    parts["series"] = str(series)
    parts["stem"] = path.name[: -len(double)] if double else path.stem
    for field in FIELD.findall(template):
        if parts[field] in NO_NAMES:
            raise click.UsageError(
                f"{{{field}}} of {str(path)!r} is {parts[field]!r}, which is no name; write one "
                f"in its place in {typed(template)}."
            )
    return Path(FIELD.sub(lambda field: parts[field[1]], template))


def template_of(*suffixes: str) -> Callable[..., str | None]:
    """Return a click callback for names with fields, of files of one of some kinds or of any."""

    def check(context: click.Context, option: click.Parameter, text: str | None) -> str | None:
        if text is None:
            return None
        unknown = [name for name in FIELD.findall(text) if name not in FIELDS]
        if unknown or set(FIELD.sub("", text)) & set("{}"):
            known = ", ".join(f"{{{name}}}" for name in FIELDS)
            raise click.BadParameter(
                f"{typed(text)} has a field that is none of {known}.", context, option
            )
        if suffixes and Path(FIELD.sub("x", text)).suffix.lower() not in suffixes:
            raise click.BadParameter(
                f"{typed(text)} does not end in {' or '.join(suffixes)}.", context, option
            )
        return text

    return check


def parse_properties(
    context: click.Context, option: click.Parameter, text: str | None
) -> tuple[str, ...] | str | None:
    """Return names of columns of numbers, each once, or "all"."""
    if text is None or text == "all":
        return text
    words = text.replace(" ", "").split(",")
    names = tuple(dict.fromkeys(current_name(word) for word in words if word))
    unsure = [name for name in names if name not in PROPERTIES]  # quantiles, and no names
    try:
        check_properties(unsure, ANY_IMAGE)
    except ValueError as error:
        raise click.BadParameter(f"{error}.", context, option) from None
    arrays = [name for name in names if name in PROPERTIES and PROPERTIES[name].is_lazy]
    if arrays:
        raise click.BadParameter(
            f"{', '.join(arrays)}: a table of files has no place for arrays; leave these out, and "
            "make them by conncomp.component_statistics in Python.",
            context,
            option,
        )
    return names


def parse_series(context: click.Context, option: click.Parameter, text: str) -> int | None:
    """Return the number of a series; None for all."""
    if text == "all":
        return None
    if not re.fullmatch("[0-9]{1,9}", text):
        raise click.BadParameter(f"{typed(text)} is neither a number nor 'all'.", context, option)
    return int(text)


def parse_unit(context: click.Context, option: click.Parameter, text: str | None) -> str | None:
    """Return the unit of a length."""
    if text is None:
        return None
    name = unit_of(text)
    if name not in METRES:
        raise click.BadParameter(f"{typed(text)} is none of {', '.join(METRES)}.", context, option)
    return name


def check_intensities(options: Options) -> None:
    """Raise a click.UsageError if columns are of intensities, and there is nothing to have such."""
    names = _of_image(options.properties)
    if names and options.threshold is None and options.intensity is None:
        raise click.UsageError(
            f"{', '.join(names)}: without --threshold images are labels, which have no "
            "intensities; name the images that have them by --intensity."
        )


# How the names of images end, in a folder.
SUFFIXES = {suffix for kind in KINDS for suffix in kind.suffixes} | {".h5", ".hdf5"}


def as_known(options: Options) -> dict[str, Any]:
    """Return of what options the table of a file depends."""
    left_out = {"output", "memory", "workers", "resume", "as_json"}
    return {name: value for name, value in vars(options).items() if name not in left_out}
