"""Volumes by how they lie in files: Zarr, OME-Zarr, HDF5, TIFF, .npy, or a folder of slices."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from conncomp.chunked.volumes.formats.hdf5 import open_dataset
from conncomp.chunked.volumes.formats.ome_zarr import open_zarr
from conncomp.chunked.volumes.formats.slices import open_file, open_folder
from conncomp.chunked.volumes.formats.zarr_arrays import ZarrVolume, is_zarr
from conncomp.chunked.volumes.volume import Volume, check_volume, reading
from conncomp.files.images import is_hdf5
from conncomp.files.scales import Content

# A volume may take so many bytes, or so many for each of its files' bytes, as DEFLATE packs.
SMALL, EXPANSION = 1 << 26, 1032


class Source(NamedTuple):
    """The name of a volume, as of `label_file`."""

    path: str
    key: str | None
    channel: int | None


@contextmanager
def opened_volume(path: str, key: str | None = None, channel: Any = None) -> Iterator[Volume]:
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


def read_volume(path: str, key: str | None = None) -> Content:
    """Read a volume of HDF5 or Zarr, unless it claims to be larger than its files can hold."""
    with opened_volume(path, key) as volume:
        held = _bytes_of(volume.place if isinstance(volume, ZarrVolume) else path)
        if math.prod(volume.shape) * volume.dtype.itemsize > max(SMALL, EXPANSION * held):
            told = f"{path}: says that it has shape {volume.shape} and dtype {volume.dtype}"
            raise ValueError(f"{told}, but is of {held} bytes")
        image = volume.read(tuple(slice(0, length) for length in volume.shape))
        with reading(path, "the scale"):
            scale = volume.scale()
        channels = volume.axes.find("C")
        return Content(image, None if channels < 0 else channels, volume.axes, scale)


def _bytes_of(path: str) -> int:
    if os.path.isfile(path):
        return os.path.getsize(path)
    files = (os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)
    return sum(map(os.path.getsize, files))
