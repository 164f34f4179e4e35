"""One channel of an image that has several, or its luminance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp.files.scales import Content

Image = NDArray[Any]

# How much red, green and blue count for a grey value, as in `skimage.color.rgb2gray`.
LUMINANCE = (0.2125, 0.7154, 0.0721)


def one_channel(path: Path, content: Content, channel: int | None, grey: bool) -> Content:
    """Return a channel, or the luminance, of what a file holds, without the axis of channels.

    Raises
    ------
    TypeError
        If it is not of real numbers.
    ValueError
        If it has several channels and none is chosen, or one is chosen that it does not have.
    """
    image, axis, axes, scale = content
    if image.dtype.kind not in "biuf":
        raise TypeError(f"{path}: holds values of dtype {image.dtype}, not real numbers")
    if image.ndim == 0:
        raise ValueError(f"{path}: holds a single number, not an image")
    if channel is None and not grey and axis is None:
        return content
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
        chosen = np.ascontiguousarray(channels[channel])
    elif count > 4 or (count == 2 and axes[axis : axis + 1] == "C"):  # no grey with opacity
        raise ValueError(f"{path}: --grey is for colours, but there are {count} channels")
    else:
        chosen = _luminance(channels)
    letters = axes[:axis] + axes[axis + 1 :]
    return Content(chosen, None, letters, None if scale is None else scale.without(axis))


def _luminance(channels: Image) -> Image:
    """Return grey values in the dtype of one to four channels, along the first axis."""
    if len(channels) < 3:
        return np.ascontiguousarray(channels[0])
    grey = sum(weight * band for weight, band in zip(LUMINANCE, channels, strict=False))
    return np.asarray(grey if channels.dtype.kind == "f" else np.rint(grey)).astype(channels.dtype)
