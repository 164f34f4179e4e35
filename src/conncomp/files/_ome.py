"""What OME-XML says of the images in a file, found by patterns.

A parser of XML would have to be kept from entities; all that is wanted is attributes of numbers.
"""

from __future__ import annotations

import html
import re

from conncomp.files.scales import Scale, scale_in_one_unit, unit_of

MOST_IMAGES = 1000


def ome_images(description: str) -> list[dict[str, str]]:
    """Return the attributes of the pixels of each image."""
    elements = re.findall(r"<(?:\w+:)?Pixels\s([^>]*)", description)
    return [
        dict(re.findall(r'\b(\w+)\s*=\s*"([^"]{1,32})"', element))
        for element in elements[:MOST_IMAGES]
    ]


def scale_of_ome(image: dict[str, str], axes: str) -> Scale | None:
    """Return the physical sizes of an image, all in the unit of the last axis that has one."""
    lengths, units = {}, {}
    for axis in "ZYX":
        try:
            lengths[axis] = float(image[f"PhysicalSize{axis}"])
        except (KeyError, ValueError):
            continue
        units[axis] = unit_of(html.unescape(image.get(f"PhysicalSize{axis}Unit", "µm")))
    space = [axis for axis in axes if axis in "ZYX"]
    if not space or not all(axis in lengths for axis in space):
        return None
    places = {k: units[axis] for k, axis in enumerate(axes) if axis in space}
    return scale_in_one_unit([lengths.get(axis, 1.0) for axis in axes], places)
