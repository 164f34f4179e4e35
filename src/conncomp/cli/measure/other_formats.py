"""Files of formats that conncomp does not know, by bioio and its plugins, where a user asks for it.

These are others' code, under none of the limits that readers here keep.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from conncomp._memory import check_memory
from conncomp._optional import optional
from conncomp.files.access import naming
from conncomp.files.images import SIGNATURE, is_hdf5, kind_of
from conncomp.files.scales import Content, scale_in_one_unit, unit_of

# How files are called that plugins of bioio read and no reader here does, in folders.
SUFFIXES = frozenset({".czi", ".dv", ".lif", ".nd2", ".oib", ".oir", ".r3d", ".sld", ".sldy"})
SPACE, KEPT = "ZYX", "YX"


def is_of_other_format(path: Path) -> bool:
    """Whether a file has content that no reader here knows."""
    if not path.is_file() or is_hdf5(path):
        return False
    with path.open("rb") as file:
        head = file.read(SIGNATURE)
    try:
        kind_of(head)
    except ValueError:
        return bool(head)
    return False


def count_scenes(path: Path) -> int:
    """Return how many scenes bioio finds in a file."""
    with naming(path):
        return len(_opened(path).scenes)


def read_scene(path: Path, series: int) -> Content:
    """Return a scene of a file, without axes of one element, and the scale of those of space."""
    with naming(path):
        opened = _opened(path)
        if not 0 <= series < len(opened.scenes):
            raise ValueError(f"has {len(opened.scenes)} series: there is no series={series}")
        opened.set_scene(series)
        order, shape = str(opened.dims.order), tuple(opened.shape)
        check_memory(f"an image of shape {shape}", opened.dtype.itemsize * math.prod(shape))
        image = np.asarray(opened.data)
        kept = [k for k, axis in enumerate(order) if axis in KEPT or image.shape[k] != 1]
        axes = "".join(order[k] for k in kept)
        image = image.reshape([image.shape[k] for k in kept])
        lengths, units = [1.0] * len(axes), {}
        sizes, properties = opened.physical_pixel_sizes, opened.dimension_properties
        for k, axis in enumerate(axes):
            length = getattr(sizes, axis, None) if axis in SPACE else None
            if length is not None:
                lengths[k] = abs(float(length))
                units[k] = unit_of(getattr(getattr(properties, axis, None), "unit", None) or "")
        is_whole = len(units) == sum(axis in SPACE for axis in axes)
        channels = max(axes.find("S"), axes.find("C"))
        scale = scale_in_one_unit(lengths, units) if is_whole else None
        return Content(image, None if channels < 0 else channels, axes, scale)


def _opened(path: Path) -> Any:
    bioio = optional("bioio")
    try:
        return bioio.BioImage(path)
    except Exception as error:  # whatever a plugin raises
        raise ValueError(
            f"bioio does not read it; a plugin for the format, such as bioio-czi, may be missing: "
            f"{error}"
        ) from error
