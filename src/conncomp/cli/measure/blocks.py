"""The table of labels in Zarr or HDF5 that may be larger than memory: measured block by block."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

import conncomp
from conncomp.chunked.measures.volume_file import VolumeFile
from conncomp.chunked.volumes.formats.zarr_arrays import is_zarr
from conncomp.chunked.volumes.sources import described
from conncomp.chunked.volumes.volume import PartOfVolume, Place
from conncomp.cli._channels import with_named_axes
from conncomp.cli.measure.inputs import Source
from conncomp.cli.measure.measuring import Measured, doubt_of, scale_of_options
from conncomp.cli.measure.options import Options
from conncomp.components.columns.properties import USUAL, USUAL_OF_IMAGE
from conncomp.components.statistics import ComponentStatistics
from conncomp.files.access import naming
from conncomp.files.hdf5 import is_hdf5
from conncomp.files.label_values import as_whole_numbers, middle_of
from conncomp.files.scales import Content, batch_axes_of

# Where labels are measured block by block.
BY_BLOCKS = "with --memory and without --threshold"
# What the parts of a component in several blocks add up to; others need all of it at once.
OF_LABELS, OF_IMAGE = ("label", *USUAL), (*USUAL_OF_IMAGE, "centroid_weighted")


def check_blocks(options: Options) -> None:
    """Raise a click.UsageError if columns do not fit labels that are measured in blocks."""
    if options.memory is None:
        return
    asked = options.properties or ()
    names = (asked,) if isinstance(asked, str) else asked
    unknown = [name for name in names if name not in OF_LABELS + OF_IMAGE]
    if unknown:
        raise click.UsageError(
            f"{', '.join(unknown)}: with --memory, columns are {', '.join(OF_LABELS + OF_IMAGE)}."
        )


def measure_in_blocks(source: Source, options: Options) -> Measured:
    """Measure labels, within so much memory as the options say.

    Raises
    ------
    OSError
        If a file cannot be read.
    TypeError, ValueError, OverflowError, MemoryError
        If it is damaged, does not fit the options, or needs more memory.
    """
    with ExitStack() as files:

        def opened(path: Path, key: str | None, channel: int | None) -> Any:
            if not (os.path.isdir(path) and is_zarr(str(path))) and not is_hdf5(str(path)):
                raise ValueError(f"{path}: is neither Zarr nor HDF5; leave --memory out")
            volume = conncomp.open_volume(path, key=key, channel=channel, memory=options.memory)
            return files.enter_context(volume)

        labels = opened(source.path, options.key, options.channel)
        axes, scale = described(labels.volume)
        batch = _batch_of(labels, options)
        sample = as_whole_numbers(labels[middle_of(labels.shape, batch)], BY_BLOCKS)
        if labels.dtype.kind == "f":
            labels = VolumeFile(_WholeNumbers(labels.volume), labels.limit, None, labels)
        image = None
        if source.intensity is not None:
            is_same_kind = source.intensity.suffix == source.path.suffix
            image = opened(source.intensity, options.key if is_same_kind else None, None)
        known = Content(np.empty(0), None, axes, scale)
        scale = scale_of_options(known, options, labels.ndim - batch)
        numbers: dict[str, Any] = {"background": 0, "batch_axes": batch}
        if options.min_size is not None:
            kept = min(options.min_size, labels.size + 1)
            labels = conncomp.remove_small_components(labels, kept, **numbers)
        spacing = None if scale is None else scale.spacing
        statistics = conncomp.component_statistics(
            labels, image, moments=False, spacing=spacing, **numbers
        )
    names = options.properties or USUAL + (() if image is None else USUAL_OF_IMAGE)
    columns = _columns(statistics, tuple(names))
    for k in range(batch):
        if axes[k : k + 1] == "C" and labels.shape[k] == 1:
            del columns[f"batch-{k}"]  # no place, as in memory
    columns = with_named_axes(columns, batch, axes)
    doubt = doubt_of(sample, statistics.labels, int(statistics.sizes.sum()))
    ones = (1.0,) * len(statistics.spacing)
    spacing, unit = (ones, "") if scale is None else scale
    separate = [] if options.planes else list(range(batch))
    none = np.empty(0, np.int64)
    return Measured(columns, none, spacing, unit, None, len(ones), axes, separate, doubt)


def _batch_of(labels: VolumeFile, options: Options) -> int:
    """Return how many axes ahead hold separate images."""
    with naming(labels.volume.path):
        if not options.planes:
            return batch_axes_of(labels.axes, labels.shape, options.join_time)
        if labels.ndim < 2:
            raise ValueError(f"has shape {labels.shape}, and a plane has two axes")
        return labels.ndim - 2


class _WholeNumbers(PartOfVolume):
    """Labels of a floating dtype, as integers."""

    dtype = np.dtype(np.int64)

    def read(self, place: Place) -> NDArray[Any]:
        """Return a part; raise TypeError unless it is of whole numbers."""
        return as_whole_numbers(self.volume.read(place), BY_BLOCKS)


def _columns(statistics: ComponentStatistics, names: tuple[str, ...]) -> dict[str, Any]:
    """Return columns by the names that `component_statistics` has for properties."""
    boxes = statistics.bounding_boxes
    values = {
        "num_pixels": statistics.sizes,
        "area": statistics.volumes,
        "bbox": boxes.swapaxes(1, 2).reshape(len(boxes), 2 * boxes.shape[1]),
        "centroid": statistics.centroids,
        "intensity_mean": statistics.means,
        "intensity_min": statistics.minima.astype(np.float64),
        "intensity_max": statistics.maxima.astype(np.float64),
        "centroid_weighted": statistics.weighted_centroids,
    }
    columns: dict[str, Any] = {"label": statistics.labels}
    columns |= {f"batch-{k}": column for k, column in enumerate(statistics.batch.T)}
    for name in names:
        if name == "label":
            continue
        table = values[name]
        for index in np.ndindex(*table.shape[1:]):
            columns["-".join(map(str, (name, *index)))] = table[(slice(None), *index)]
    return columns
