"""The table of one image: read, made binary, labelled and measured, or block by block."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

import conncomp
from conncomp.chunked.measures.volume_file import VolumeFile
from conncomp.chunked.volumes.formats.zarr_arrays import is_zarr
from conncomp.chunked.volumes.volume import PartOfVolume, Place, Volume
from conncomp.cli._input import one_channel, with_named_axes
from conncomp.cli._options import check_spacing
from conncomp.cli._output import columns_of
from conncomp.cli.label.options import finite
from conncomp.cli.measure.inputs import OpenFiles, Source
from conncomp.cli.measure.options import Options
from conncomp.components.columns.measuring import LabelMeaning
from conncomp.components.columns.properties import USUAL, USUAL_OF_IMAGE
from conncomp.components.statistics import measure_labels
from conncomp.files.access import naming
from conncomp.files.images import is_hdf5
from conncomp.files.scales import Content, Scale, batch_axes_of, in_unit
from conncomp.files.thresholds import as_whole_numbers, foreground, look_like_intensities, middle_of


@dataclass(frozen=True)
class Measured:
    """The objects in an image: their columns, and how they were found."""

    columns: dict[str, NDArray[Any]]
    labels: NDArray[Any]
    scale: Scale  # of the axes of an object
    threshold: Any = None
    axes: str = ""  # letters of the axes of the image; nothing if the file does not tell
    separate: Sequence[int] = ()  # which of these hold separate images
    doubt: str | None = None  # why labels may be none


def measure_image(source: Source, options: Options, files: OpenFiles) -> Measured:
    """Measure the objects in an image."""
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
    names = options.properties or USUAL + (() if values is None else USUAL_OF_IMAGE)
    spacing = None if scale is None else scale.spacing
    meaning = LabelMeaning(0, batch, largest)
    statistics = measure_labels(labels, values, None, False, False, names, spacing, meaning)
    columns = with_named_axes(statistics.columns(), batch, chosen.axes)
    doubt = None
    if options.threshold is None:
        sample = labels[middle_of(labels.shape, batch)]
        doubt = doubt_of(sample, columns["label"], int(np.count_nonzero(labels)))
    scale = scale or Scale((1.0,) * (image.ndim - batch), "")
    labels = np.moveaxis(labels, range(len(separate)), separate)
    return Measured(columns, labels, scale, _plain(threshold), stored.axes, separate, doubt)


def doubt_of(sample: NDArray[Any], labels: NDArray[Any], elements: int) -> str | None:
    """Return why labels may be intensities; `elements` were measured."""
    count, highest = len(labels), int(labels.max(initial=0))
    doubt = (
        f"looks like intensities, not labels: most neighbours differ, in {count:,} values up to "
        f"{highest:,}; give --threshold, such as otsu, to find objects"
    )
    return doubt if look_like_intensities(sample, elements, count, highest) else None


def _plain(threshold: Any) -> Any:
    if isinstance(threshold, np.generic):
        threshold = float(threshold) if threshold.dtype.kind == "f" else threshold.item()
    return None if threshold is None else finite(threshold)


def scale_of_options(content: Content, options: Options, ndim: int) -> Scale | None:
    """Return the scale of the last axes, by the options or the file."""
    if options.spacing is not None:
        lengths = options.spacing * ndim if len(options.spacing) == 1 else options.spacing
        check_spacing(lengths, ndim)
        return Scale(lengths, options.unit or "")
    if content.scale is None or options.join_time:  # a volume of lengths and times has no unit
        if options.unit is not None:
            why = "time has no length" if options.join_time else "the file tells no voxel size"
            raise ValueError(f"--unit {options.unit}: {why}; give --spacing")
        return None
    scale = Scale(content.scale.spacing[-ndim:], content.scale.unit)
    return scale if options.unit is None else in_unit(scale, options.unit)


def _labels(image: NDArray[Any], options: Options, batch: int) -> tuple[Any, int | None, Any]:
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
            labels, options.min_size, background=0, batch_axes=batch
        )
    return labels, largest, threshold


def _intensities(source: Source, content: Content, options: Options, files: OpenFiles) -> Any:
    """Return the image of intensities, channels last: another, or this one as it was."""
    if source.intensity is not None:
        series = source.series if files.count(source.intensity) > 1 else 0
        content = files.read(source.intensity, source.key_beside(options), series)
    elif options.threshold is None:
        return None
    image, channels, *_ = content.without_single_channel().separate(options.join_time)[0]
    return image if channels is None else np.moveaxis(image, channels, -1)


# Where labels are measured block by block.
BY_BLOCKS = "with --memory and without --threshold"
# Columns that add up over the blocks of a component; others need all of it at once.
OF_LABELS, OF_IMAGE = ("label", *USUAL), (*USUAL_OF_IMAGE, "centroid_weighted")


def check_blocks(options: Options) -> None:
    """Raise a click.UsageError if columns do not fit labels that are measured in blocks."""
    if options.memory is None:
        return
    names = options.properties or ()
    names = (names,) if isinstance(names, str) else names
    unknown = [name for name in names if name not in OF_LABELS + OF_IMAGE]
    if unknown:
        raise click.UsageError(
            f"{', '.join(unknown)}: with --memory, columns are {', '.join(OF_LABELS + OF_IMAGE)}."
        )


def measure_in_blocks(source: Source, options: Options) -> Measured:
    """Measure labels, within so much memory as the options say."""
    with ExitStack() as files:

        def opened(path: Path, key: str | None, channel: int | None) -> Any:
            if not (os.path.isdir(path) and is_zarr(str(path))) and not is_hdf5(str(path)):
                raise ValueError(f"{path}: is neither Zarr nor HDF5; leave --memory out")
            volume = conncomp.open_volume(path, key=key, channel=channel, memory=options.memory)
            return files.enter_context(volume)

        labels = opened(source.path, options.key, options.channel)
        axes, scale = labels.axes, labels.volume.scale()
        batch = _batch_of(labels, options)
        sample = as_whole_numbers(labels[middle_of(labels.shape, batch)], BY_BLOCKS)
        if labels.dtype.kind == "f":
            labels = VolumeFile(_WholeNumbers(labels.volume), labels.limit, None, labels)
        image = None
        if source.intensity is not None:
            image = opened(source.intensity, source.key_beside(options), None)
        content = Content(np.empty(0), None, axes, scale)
        scale = scale_of_options(content, options, labels.ndim - batch)
        numbers: dict[str, Any] = {"background": 0, "batch_axes": batch}
        if options.min_size is not None:
            kept = min(options.min_size, labels.size + 1)
            labels = conncomp.remove_small_components(labels, kept, **numbers)
        numbers |= {"moments": False, "spacing": None if scale is None else scale.spacing}
        statistics = conncomp.component_statistics(labels, image, **numbers)
    names = options.properties or USUAL + (() if image is None else USUAL_OF_IMAGE)
    columns = columns_of(statistics, "label", "batch", *names)
    for extreme in {"intensity_min", "intensity_max"} & columns.keys():
        columns[extreme] = columns[extreme].astype(np.float64)
    for k in range(batch):
        if axes[k : k + 1] == "C" and labels.shape[k] == 1:
            del columns[f"batch-{k}"]  # no place, as in memory
    columns = with_named_axes(columns, batch, axes)
    doubt = doubt_of(sample, statistics.labels, int(statistics.sizes.sum()))
    scale = scale or Scale((1.0,) * len(statistics.spacing), "")
    separate = [] if options.planes else list(range(batch))
    none = np.empty(0, np.int64)
    return Measured(columns, none, scale, axes=axes, separate=separate, doubt=doubt)


def _batch_of(labels: VolumeFile, options: Options) -> int:
    with naming(labels.volume.path):
        if not options.planes:
            return batch_axes_of(labels.axes, labels.shape, options.join_time)
        if labels.ndim < 2:
            raise ValueError(f"has shape {labels.shape}, and a plane has two axes")
        return labels.ndim - 2


class _WholeNumbers(PartOfVolume):
    def __init__(self, volume: Volume) -> None:
        super().__init__(volume)
        self.dtype = np.dtype(np.int64)

    def read(self, place: Place) -> NDArray[Any]:
        """Return a part; raise TypeError unless it is of whole numbers."""
        return as_whole_numbers(self.volume.read(place), BY_BLOCKS)
