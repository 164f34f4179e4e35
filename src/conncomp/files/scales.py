"""The distances of neighbouring elements that files tell, along each axis, with a unit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._terminal import printable

# The metres of each unit, by its name in tables. Decimals make ratios exact.
METRES = {
    **{"m": Decimal(1), "cm": Decimal("1e-2"), "mm": Decimal("1e-3"), "µm": Decimal("1e-6")},
    **{"nm": Decimal("1e-9"), "Å": Decimal("1e-10"), "in": Decimal("0.0254")},
}
# Names of units in files, in lower case; "" is no unit.
NAMES = {
    **{name.lower(): name for name in METRES},
    **dict.fromkeys(("um", "\u03bcm", "micron", "microns", "micrometer", "micrometre"), "µm"),
    **dict.fromkeys(("\\u00b5m", "micrometers", "micrometres", "microm"), "µm"),
    **dict.fromkeys(("millimeter", "millimetre", "millimeters", "millimetres"), "mm"),
    **dict.fromkeys(("nanometer", "nanometre", "nanometers", "nanometres"), "nm"),
    **dict.fromkeys(("centimeter", "centimetre"), "cm"),
    **dict.fromkeys(("meter", "metre"), "m"),
    **dict.fromkeys(("inch", "inches"), "in"),
    **dict.fromkeys(("angstrom", "ångström"), "Å"),
    **dict.fromkeys(("", "pixel", "pixels", "voxel", "unknown", "none", "null"), ""),
}
LONGEST_UNIT = 20
MOST_STRETCHED = 1e6  # ratio of lengths; a larger one is damage
# Axes along which elements are neighbours: those of space, and those without a name.
NEIGHBOURING = "ZYXQI"
LETTERS = {
    **dict.fromkeys(("t", "time", "times", "frame", "frames"), "T"),
    **dict.fromkeys(("c", "channel", "channels", "band", "bands"), "C"),
    **{"z": "Z", "y": "Y", "x": "X"},
}


class Scale(NamedTuple):
    """The distance of neighbouring elements along each axis, and its unit."""

    spacing: tuple[float, ...]  # 1 along axes outside space
    unit: str  # such as "µm"; "" if unknown


class Content(NamedTuple):
    """An image and its description in a file."""

    image: NDArray[Any]
    channels: int | None = None  # the axis of channels
    axes: str = ""  # a letter for each, such as "TZYX"; empty if unknown
    scale: Scale | None = None

    def without_single_channel(self) -> Content:
        """Return the content without its axis of channels, if it has only one."""
        axis = self.channels
        return self if axis is None or self.image.shape[axis] != 1 else self.with_channel(0)

    def with_channel(self, channel: int) -> Content:
        """Return one channel, without the axis of channels."""
        axis = self.channels
        assert axis is not None
        image = np.ascontiguousarray(self.image.take(channel, axis))
        axes, scale = self.axes[:axis] + self.axes[axis + 1 :], self.scale
        if scale is not None:
            scale = Scale((*scale.spacing[:axis], *scale.spacing[axis + 1 :]), scale.unit)
        return Content(image, None, axes, scale)

    def separate(self, join_time: bool = False) -> tuple[Content, list[int]]:
        """Return the content with the axes of separate images first, and the numbers of these axes.

        The axis `channels`, such as the values of a colour, holds no separate images.
        """
        found = [k for k in separate_axes(self.axes, join_time) if k != self.channels]
        order = found + [k for k in range(self.image.ndim) if k not in found]
        if order == sorted(order):
            return self, found
        channels = None if self.channels is None else order.index(self.channels)
        scale = self.scale and Scale(tuple(self.scale.spacing[k] for k in order), self.scale.unit)
        axes = "".join(self.axes[k] for k in order)
        return Content(self.image.transpose(order), channels, axes, scale), found


def letters_of(names: Sequence[str | None]) -> str:
    """Return a letter for each named axis, or nothing if no name is known.

    >>> letters_of(["time", "y", "x"]), letters_of(["lat", "time"]), letters_of([None, ""])
    ('TYX', 'QT', '')
    """
    letters = "".join(LETTERS.get((name or "").lower(), "Q") for name in names)
    return letters if letters.strip("Q") else ""


def separate_axes(axes: str, join_time: bool = False) -> list[int]:
    """Return the axes of separate images: all but those of space and those without a name.

    This rule holds for all files: two times, or two channels, are never labelled together. Only
    `join_time` joins times; without an axis of time it raises ValueError.

    >>> separate_axes("TZYX"), separate_axes("TCYX", join_time=True), separate_axes("QYX")
    ([0], [1], [])
    """
    if join_time and "T" not in axes:
        told = f"has axes {axes} and none of time" if axes else "does not tell its axes"
        raise ValueError(f"{told}, so join_time=True has no meaning; leave it out")
    joined = NEIGHBOURING + "T" * join_time
    return [k for k, axis in enumerate(axes) if axis not in joined]


def batch_axes_of(axes: str, shape: Sequence[int], join_time: bool = False) -> int:
    """Return how many leading axes hold separate images; raise if others follow later."""
    separate = separate_axes(axes, join_time)
    batch = next((k for k in range(len(axes)) if k not in separate), len(axes))
    behind = [k for k in separate[batch:] if shape[k] > 1]
    if behind:
        letter = axes[behind[0]]
        remedy = "choose a channel" if letter in "CS" else "save it with that axis first"
        raise ValueError(f"has axes {axes}, of which {letter} lies behind those joined; {remedy}")
    return batch


def unit_of(text: object) -> str:
    """Return the name of a unit in tables.

    >>> unit_of("micron"), unit_of("Pixel"), unit_of("parsec")
    ('µm', '', 'parsec')
    """
    name = printable(str(text)).strip()
    return NAMES.get(name.lower(), name[:LONGEST_UNIT])


def scale_of(spacing: Sequence[float], unit: object) -> Scale | None:
    """Return the scale of a file; None if it tells nothing, or nonsense.

    >>> scale_of((2, 0.5), "um"), scale_of((1, 1), ""), scale_of((0, 1), "mm")
    (Scale(spacing=(2.0, 0.5), unit='µm'), None, None)
    """
    lengths = tuple(map(float, spacing))
    if not lengths or not all(0 < length < math.inf for length in lengths):
        return None
    if max(lengths) / min(lengths) > MOST_STRETCHED:
        return None
    name = unit_of(unit)
    return None if not name and set(lengths) == {1.0} else Scale(lengths, name)


def scale_in_one_unit(lengths: Sequence[float], units: Mapping[int, str]) -> Scale | None:
    """Return the scale in the unit of the last axis with one; None if units do not convert."""
    if not units:
        return None
    unit, spacing = units[max(units)], [1.0] * len(lengths)
    for k, name in units.items():
        if name != unit and not {name, unit} <= METRES.keys():
            return None
        spacing[k] = lengths[k] * (1.0 if name == unit else float(METRES[name] / METRES[unit]))
    return scale_of(spacing, unit)


def in_unit(scale: Scale, unit: str) -> Scale:
    """Return a scale in another unit of length.

    >>> in_unit(Scale((0.002, 0.001), "mm"), "µm")
    Scale(spacing=(2.0, 1.0), unit='µm')
    """
    if scale.unit not in METRES or unit not in METRES:
        raise ValueError(f"says that its unit is {scale.unit or 'none'}, which is not {unit}")
    ratio = float(METRES[scale.unit] / METRES[unit])
    return Scale(tuple(length * ratio for length in scale.spacing), unit)
