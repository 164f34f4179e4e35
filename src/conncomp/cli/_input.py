"""Images that commands read: whole, one channel of several or the luminance, and their axes."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from conncomp.files.images import Image, is_hdf5, read_content
from conncomp.files.scales import Content


def read_quietly(path: Path, key: str | None = None) -> Content:
    with warnings.catch_warnings(action="ignore"):
        return read_any(path, key)


def read_any(path: Path, key: str | None = None, series: int = 0) -> Content:
    """Read a whole image or volume of any kind, those of HDF5 and Zarr too."""
    if path.is_dir() or (path.is_file() and is_hdf5(path)):
        from conncomp.chunked.volumes.formats import read_volume  # slow, and for few files

        if series:
            raise ValueError(f"{path}: series={series} chooses one of TIFF, which this is not")
        return read_volume(str(path), key)
    return read_content(path, key=key, series=series)


# Axes that hold separate images, and the names of their columns.
SEPARATE = {"T": "frame", "Z": "plane"}
# Of red, green and blue, as in `skimage.color.rgb2gray`.
LUMINANCE = (0.2125, 0.7154, 0.0721)


def one_channel(path: Path, content: Content, channel: int | None, grey: bool) -> Content:
    """Return a channel, or the luminance, without the axis of channels."""
    image, axis, axes, _ = content
    if image.dtype.kind not in "biuf":
        raise TypeError(f"{path}: holds values of dtype {image.dtype}, not real numbers")
    if image.ndim == 0:
        raise ValueError(f"{path}: holds a single number, not an image")
    if channel is None and not grey and (axis is None or image.shape[axis] == 1):
        return content.without_single_channel()
    option = "--grey" if grey else "--channel"
    if axis is None:
        raise ValueError(f"{path}: does not say that it has channels, so {option} has no meaning")
    channels = np.moveaxis(image, axis, 0)
    count = len(channels)
    if channel is None and not grey:
        raise ValueError(
            f"{path}: is in colour or has several channels, of shape {image.shape}, {count} along "
            f"axis {axis}; choose one by --channel 0 to {count - 1}, or --grey"
        )
    if channel is not None:
        if channel >= count:
            raise ValueError(f"{path}: --channel {channel} must be from 0 to {count - 1}")
        return content.with_channel(channel)
    if count > 4 or (count == 2 and axes[axis : axis + 1] == "C"):  # no grey with opacity
        raise ValueError(f"{path}: --grey is for colours, but there are {count} channels")
    return content.with_channel(0)._replace(image=_luminance(channels))


def with_named_axes(columns: dict[str, Any], batch: int, axes: str) -> dict[str, Any]:
    """Name columns of places in a batch as its axes are."""
    names: dict[str, str] = {}
    for k in range(batch):
        letter = axes[k] if k < len(axes) else "Z" if batch == 1 else ""
        name = SEPARATE.get(letter, "")
        if name not in ("", *columns, *names.values()):
            names[f"batch-{k}"] = name
    return {names.get(key, key): column for key, column in columns.items()}


def rows_of_input(report: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the rows of a report on an input, and the axes that it names.

    >>> film = {"input": {"path": "f.tif", "shape": (10, 64, 64), "dtype": "bool"}, "axes": "TYX"}
    >>> rows_of_input(film | {"separate": [0]})[1:]
    [('shape', '10 x 64 x 64, bool'), ('axes', 'TYX; each of the 10 images along T alone')]
    >>> rows_of_input(film | {"separate": []})[2:]
    [('axes', 'TYX; one image')]
    """
    source, axes, separate = report["input"], report["axes"], report["separate"]
    shape = f"{' x '.join(map(str, source['shape']))}, {source['dtype']}"
    rows = [("input", str(source["path"])), ("shape", shape)]
    if axes:
        count = math.prod(source["shape"][k] for k in separate)
        apart = f"each of the {count:,} images along {''.join(axes[k] for k in separate)} alone"
        rows.append(("axes", f"{axes}; {apart if separate else 'one image'}"))
    return rows


def _luminance(channels: Image) -> Image:
    if len(channels) < 3:
        return np.ascontiguousarray(channels[0])
    grey = sum(weight * band for weight, band in zip(LUMINANCE, channels, strict=False))
    return np.asarray(grey if channels.dtype.kind == "f" else np.rint(grey)).astype(channels.dtype)
