"""Images that commands read."""

from __future__ import annotations

import warnings
from pathlib import Path

from conncomp.files.hdf5 import is_hdf5
from conncomp.files.images import read_content
from conncomp.files.scales import Content


def read_quietly(path: Path, key: str | None = None) -> Content:
    """Read as `read_content` does, without what libraries say of files that they could read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read_any(path, key)


def read_any(path: Path, key: str | None = None, series: int = 0) -> Content:
    """Read an image or a volume of any kind, those of HDF5 and Zarr too, whole."""
    if path.is_dir() or (path.is_file() and is_hdf5(path)):
        from conncomp.chunked.volumes.sources import (
            read_volume,  # of which others have no need
        )

        if series:
            raise ValueError(f"{path}: series={series} chooses one of TIFF, which this is not")
        return read_volume(str(path), key)
    return read_content(path, key=key, series=series)
