"""Which reader opens a volume: Zarr, OME-Zarr, HDF5, TIFF, .npy, or a folder of slices."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from conncomp.chunked.volumes.formats.hdf5 import open_dataset
from conncomp.chunked.volumes.formats.ome_zarr import open_zarr
from conncomp.chunked.volumes.formats.slices import open_file, open_folder
from conncomp.chunked.volumes.formats.zarr_arrays import is_zarr
from conncomp.chunked.volumes.volume import Volume, check_volume
from conncomp.files.hdf5 import is_hdf5


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
