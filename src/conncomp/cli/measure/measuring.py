"""The table of one image: read, made binary, labelled and measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import conncomp
from conncomp.cli._channels import one_channel, with_named_axes
from conncomp.cli.label.options import finite
from conncomp.cli.measure.inputs import Source
from conncomp.cli.measure.opened import OpenFiles
from conncomp.cli.measure.options import Options
from conncomp.components.columns.properties import USUAL, USUAL_OF_IMAGE
from conncomp.components.statistics import Numbers, component_table
from conncomp.files.label_values import as_whole_numbers, look_like_intensities, middle_of
from conncomp.files.scales import Content, Scale, in_unit
from conncomp.files.thresholds import foreground


@dataclass(frozen=True)
class Measured:
    """What is known of the objects in an image."""

    columns: dict[str, NDArray[Any]]
    labels: NDArray[Any]
    spacing: tuple[float, ...]  # along the axes of an object, in the unit
    unit: str
    threshold: Any
    ndim: int  # how many axes objects have
    axes: str = ""  # letters of the axes of the image; nothing if the file does not tell
    separate: Sequence[int] = ()  # which of these hold separate images
    doubt: str | None = None  # why labels may be none


def measure_image(source: Source, options: Options, files: OpenFiles) -> Measured:
    """Measure the objects in an image, which is read from files that may be open."""
    content = files.read(source.path, options.key, source.series)
    is_colour = content.channels is not None  # what is grey already stays as it is
    stored = one_channel(source.path, content, options.channel, options.grey and is_colour)
    chosen, separate = stored.separate(options.join_time)
    image = chosen.image
    batch = image.ndim - 2 if options.planes else len(separate)
    if image.ndim - batch < 1 or batch < 0:
        raise ValueError(f"{source.path}: has shape {image.shape}, and a plane has two axes")
    scale = scale_of_options(chosen, options, image.ndim - batch)
    labels, largest, threshold = _labels(image, options, batch)
    values = _intensities(source, content, options, files)
    statistics = component_table(
        labels,
        values,
        options.properties or USUAL + (() if values is None else USUAL_OF_IMAGE),
        None if scale is None else scale.spacing,
        Numbers(0, batch, largest),
    )
    columns = with_named_axes(statistics.columns(), batch, chosen.axes)
    doubt = None
    if options.threshold is None:
        sample = labels[middle_of(labels.shape, batch)]
        doubt = doubt_of(sample, columns["label"], int(np.count_nonzero(labels)))
    ones = (1.0,) * (image.ndim - batch)
    spacing, unit = (ones, "") if scale is None else scale
    labels = np.moveaxis(labels, range(len(separate)), separate)
    known = stored.axes, separate, doubt
    return Measured(columns, labels, spacing, unit, _plain(threshold), len(ones), *known)


def doubt_of(sample: NDArray[Any], labels: NDArray[Any], elements: int) -> str | None:
    """Return why labels may be none, of which so many elements were measured."""
    count, highest = len(labels), int(labels.max(initial=0))
    if not look_like_intensities(sample, elements, count, highest):
        return None
    return (
        f"looks like intensities, not labels: most neighbours differ, in {count:,} values up to "
        f"{highest:,}; give --threshold, such as otsu, to find objects"
    )


def _plain(threshold: Any) -> Any:
    """Return a threshold as JSON has it."""
    if isinstance(threshold, np.generic):
        threshold = float(threshold) if threshold.dtype.kind == "f" else threshold.item()
    return None if threshold is None else finite(threshold)


def scale_of_options(content: Content, options: Options, ndim: int) -> Scale | None:
    """Return the scale of the last axes: that of the options, or what the file tells."""
    if options.spacing is not None:
        if len(options.spacing) not in (1, ndim):
            raise ValueError(
                f"--spacing has {len(options.spacing)} lengths; the image has {ndim} axes"
            )
        lengths = options.spacing * ndim if len(options.spacing) == 1 else options.spacing
        return Scale(lengths, options.unit or "")
    if content.scale is None or options.join_time:  # a volume of lengths and times has no unit
        if options.unit is not None:
            why = "time has no length" if options.join_time else "the file tells no voxel size"
            raise ValueError(f"--unit {options.unit}: {why}; give --spacing")
        return None
    scale = Scale(content.scale.spacing[-ndim:], content.scale.unit)
    return scale if options.unit is None else in_unit(scale, options.unit)


def _labels(
    image: NDArray[Any], options: Options, batch: int
) -> tuple[NDArray[Any], int | None, Any]:
    """Return labels, the largest if it is known, and the threshold if there is one."""
    labels: Any = image
    largest = threshold = None
    if options.threshold is not None:
        mask, threshold = foreground(image, options.threshold, is_dark=options.dark)
        labels, counts = conncomp.label(
            mask, return_num=True, connectivity=options.connectivity, batch_axes=batch
        )
        largest = int(np.max(counts, initial=0))
    else:
        labels = as_whole_numbers(image)
    if options.min_size is not None:
        labels = conncomp.remove_small_components(
            labels, min(options.min_size, labels.size + 1), background=0, batch_axes=batch
        )
    return labels, largest, threshold


def _intensities(
    source: Source, content: Content, options: Options, files: OpenFiles
) -> NDArray[Any] | None:
    """Return what to measure intensities of, channels last: another image, or this as it was."""
    if source.intensity is not None:
        same_kind = source.intensity.suffix == source.path.suffix
        series = source.series if files.count(source.intensity) > 1 else 0
        content = files.read(source.intensity, options.key if same_kind else None, series)
    elif options.threshold is None:
        return None
    image, channels, *_ = content.without_single_channel().separate(options.join_time)[0]
    return image if channels is None else np.moveaxis(image, channels, -1)
