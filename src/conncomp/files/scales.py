"""How far apart neighbouring elements lie, as files say: lengths along axes, and their unit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._text import printable

# Metres of a unit, by the name that tables have of it; as decimals, so that ratios are exact.
METRES = {
    **{"m": Decimal(1), "cm": Decimal("1e-2"), "mm": Decimal("1e-3"), "µm": Decimal("1e-6")},
    **{"nm": Decimal("1e-9"), "Å": Decimal("1e-10"), "in": Decimal("0.0254")},
}
# What files call them, in lower case, and what is no unit.
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
# Axes whose lengths differ by more are damaged.
MOST_STRETCHED = 1e6
# Letters of axes along which elements are neighbours: those of space, and those without a name.
NEIGHBOURING = "ZYXQI"
# Names of axes, and their letters.
LETTERS = {
    **dict.fromkeys(("t", "time", "times", "frame", "frames"), "T"),
    **dict.fromkeys(("c", "channel", "channels", "band", "bands"), "C"),
    **{"z": "Z", "y": "Y", "x": "X"},
}


class Scale(NamedTuple):
    """The distance of neighbouring elements along each axis, and its unit."""

    spacing: tuple[float, ...]  # 1 along axes that are none of space
    unit: str  # as "µm"; "" if nobody knows

    def without(self, axis: int) -> Scale:
        """Return that of an array that lacks an axis."""
        return Scale((*self.spacing[:axis], *self.spacing[axis + 1 :]), self.unit)


class Content(NamedTuple):
    """What a file holds of an image."""

    image: NDArray[Any]
    channels: int | None = None  # which axis is that of the channels
    axes: str = ""  # a letter for each, such as "TZYX"; empty if the file does not tell
    scale: Scale | None = None

    def without_single_channel(self) -> Content:
        """Return it without its axis of channels, if there is only one channel."""
        axis = self.channels
        return self if axis is None or self.image.shape[axis] != 1 else self.with_channel(0)

    def with_channel(self, channel: int) -> Content:
        """Return one channel, without the axis of channels."""
        axis = self.channels
        assert axis is not None
        image = np.ascontiguousarray(self.image.take(channel, axis))
        axes = self.axes[:axis] + self.axes[axis + 1 :]
        return Content(image, None, axes, self.scale and self.scale.without(axis))

    def separate(self, join_time: bool = False) -> tuple[Content, list[int]]:
        """Return it with the axes of separate images first; and which axes these are.

        Channels that stay, as those of a colour, are values of an element and no separate images.
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
    """Return a letter for each axis of these names; nothing if none of them is known.

    >>> letters_of(["time", "y", "x"]), letters_of(["lat", "time"]), letters_of([None, ""])
    ('TYX', 'QT', '')
    """
    letters = "".join(LETTERS.get((name or "").lower(), "Q") for name in names)
    return letters if letters.strip("Q") else ""


def separate_axes(axes: str, join_time: bool = False) -> list[int]:
    """Return which axes hold separate images: all but those of space and those without a name.

    This is the one rule for all files: two times, or two channels, are never labelled together
    unless the caller joins time, which is a ValueError where there is none.

    >>> separate_axes("TZYX"), separate_axes("TCYX", join_time=True), separate_axes("QYX")
    ([0], [1], [])
    """
    if join_time and "T" not in axes:
        told = f"has axes {axes} and none of time" if axes else "does not tell its axes"
        raise ValueError(f"{told}, so join_time=True has no meaning; leave it out")
    joined = NEIGHBOURING + "T" * join_time
    return [k for k, axis in enumerate(axes) if axis not in joined]


def batch_axes_of(axes: str, shape: Sequence[int], join_time: bool = False) -> int:
    """Return how many axes ahead hold separate images; none may lie behind others."""
    separate = separate_axes(axes, join_time)
    batch = next((k for k in range(len(axes)) if k not in separate), len(axes))
    behind = [k for k in separate[batch:] if shape[k] > 1]
    if behind:
        letter = axes[behind[0]]
        remedy = "choose a channel" if letter in "CS" else "save it with that axis first"
        raise ValueError(f"has axes {axes}, of which {letter} lies behind those joined; {remedy}")
    return batch


def unit_of(text: object) -> str:
    """Return the name that tables have of a unit.

    >>> unit_of("micron"), unit_of("Pixel"), unit_of("parsec")
    ('µm', '', 'parsec')
    """
    name = printable(str(text)).strip()
    return NAMES.get(name.lower(), name[:LONGEST_UNIT])


def scale_of(spacing: Sequence[float], unit: object) -> Scale | None:
    """Return the scale that a file tells; None if it tells nothing, or nonsense.

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
    """Return the scale in the unit of the last axis that has one; None if units do not fit."""
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
