"""Which reader opens a volume: Zarr, OME-Zarr, HDF5, TIFF, .npy, or a folder of slices.

The scale of axes is in scales of dimensions of HDF5, or its attribute ``element_size_um``, as Fiji
and ilastik write it; in OME-Zarr in axes and transformations.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from conncomp.chunked.volumes.formats.hdf5 import Hdf5Dataset, check_storage, open_dataset
from conncomp.chunked.volumes.formats.ome_zarr import Multiscale, open_zarr
from conncomp.chunked.volumes.formats.slices import open_file, open_folder
from conncomp.chunked.volumes.formats.zarr_arrays import ZarrVolume, is_zarr
from conncomp.chunked.volumes.volume import Volume, check_volume, reading
from conncomp.files import scales
from conncomp.files.images import is_hdf5

# A volume may take so many bytes, or so many for each of its files' bytes, as DEFLATE packs.
SMALL, EXPANSION = 1 << 26, 1032
ELEMENT_SIZE = "element_size_um"
MOST_ENTRIES = 16


@contextmanager
def opened_volume(
    path: str, key: str | None = None, channel: int | None = None
) -> Iterator[Volume]:
    """Open a volume to be read: `key` and `channel` are those of `label_file`."""
    volume = _open(path, key, channel)
    try:
        check_volume(volume)
        yield volume
    finally:
        volume.close()


def _open(path: str, key: str | None, channel: int | None) -> Volume:
    if os.path.isdir(path) and is_zarr(path):
        return open_zarr(path, key, channel)
    if channel is not None:
        raise ValueError(f"channel={channel} chooses one of OME-Zarr, which {path} is not")
    if os.path.isdir(path):
        volume: Volume = open_folder(path)
    elif is_hdf5(path):
        return open_dataset(path, key)
    else:
        volume = open_file(path)
    if key is not None:
        volume.close()
        raise ValueError(f"key={key!r} chooses an array of Zarr or HDF5, which {path} is not")
    return volume


def read_volume(path: str, key: str | None = None) -> scales.Content:
    """Read a volume of HDF5 or Zarr, unless it claims to be larger than its files can hold."""
    with opened_volume(path, key) as volume:
        held = _bytes_of(volume.place if isinstance(volume, ZarrVolume) else path)
        needed = math.prod(volume.shape) * volume.dtype.itemsize
        if needed > max(SMALL, EXPANSION * held):
            raise ValueError(
                f"{path}: says that it has shape {volume.shape} and dtype {volume.dtype}, but is "
                f"of {held} bytes"
            )
        image = volume.read(tuple(slice(0, length) for length in volume.shape))
        with reading(path, "the scale"):
            axes, scale = described(volume)
        channels = axes.find("C")
        return scales.Content(image, None if channels < 0 else channels, axes, scale)


def _bytes_of(path: str) -> int:
    if os.path.isfile(path):
        return os.path.getsize(path)
    files = (os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)
    return sum(map(os.path.getsize, files))


def described(volume: Volume) -> tuple[str, scales.Scale | None]:
    """Return a letter for each axis, or none at all, and the scale."""
    if isinstance(volume, ZarrVolume) and volume.multiscale is not None:
        return volume.axes, _scale_of_ome(volume.multiscale, volume.level)
    if isinstance(volume, Hdf5Dataset):
        return volume.axes, _of_hdf5(volume)
    return volume.axes, None


def _scale_of_ome(multiscale: Multiscale, level: int) -> scales.Scale | None:
    axes = multiscale.axes
    lengths = np.ones(len(axes))
    own = multiscale.datasets[level].get("coordinateTransformations")
    for transformations in (own, multiscale.transformations):
        for entry in transformations if isinstance(transformations, list) else ():
            scale = entry.get("scale") if isinstance(entry, dict) else None
            if isinstance(scale, list) and len(scale) == len(axes):
                lengths *= np.array(scale, np.float64)
    space = [k for k, kind in enumerate(multiscale.kinds) if kind == "space"]
    units = {k: scales.unit_of(axes[k].get("unit", "")) for k in space}
    return scales.scale_in_one_unit(lengths.tolist(), units)


def _of_hdf5(volume: Hdf5Dataset) -> scales.Scale | None:
    dataset = volume.dataset
    ndim = len(volume.shape)
    if ELEMENT_SIZE in dataset.attrs:
        if math.prod(dataset.attrs.get_id(ELEMENT_SIZE).shape) > MOST_ENTRIES:
            return None
        sizes = np.asarray(dataset.attrs[ELEMENT_SIZE], np.float64).reshape(-1).tolist()
        return scales.scale_of(([1.0] * ndim + sizes)[-ndim:], "µm") if len(sizes) <= ndim else None
    lengths, units = [1.0] * ndim, {}
    separate = scales.separate_axes(volume.axes)
    for k, length in enumerate(volume.shape):
        if k in separate:
            continue
        for coordinates in list(dataset.dims[k].values())[:1]:
            if coordinates.shape != (length,) or length < 2 or coordinates.dtype.kind not in "iuf":
                continue
            check_storage(coordinates.name, coordinates)
            first, second, last = (float(coordinates[j]) for j in (0, 1, length - 1))
            step = (last - first) / (length - 1)
            if not math.isclose(step, second - first, rel_tol=1e-3):
                return None
            lengths[k], units[k] = abs(step), _text(coordinates.attrs.get("units", ""))
    return scales.scale_in_one_unit(lengths, {k: scales.unit_of(unit) for k, unit in units.items()})


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
