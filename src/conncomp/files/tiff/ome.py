"""Find the descriptions of images in OME-XML by patterns.

Only numbers are needed, and a parser of XML would have to be protected from entities.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from conncomp.files.scales import Scale, scale_in_one_unit, unit_of

MOST_IMAGES = 1000
Lengths = Mapping[str, int]  # of axes, outermost first
MISFIT = "of a set of several files, make one file"


class Holder(NamedTuple):
    """The file that holds a stretch of planes: its number in OME, and its name."""

    number: str
    name: str


class OmeImage(NamedTuple):
    """The description of an image in OME-XML."""

    attributes: dict[str, str]  # of its pixels, such as SizeX
    blocks: list[str]  # the attributes of each stretch of planes, as text: which pages they are
    holders: list[Holder | None]  # the file of each stretch, where it is named


def ome_images(description: str) -> list[OmeImage]:
    """Return the description of each image; there may be `MOST_IMAGES`."""
    images: list[OmeImage] = []
    # The pattern matches all that it scans, so damaged text takes only linear time.
    pattern = r"<(?:\w+:)?(Pixels|TiffData|UUID)\b([^>]*)(?:>([^<]{0,100}))?"
    for element in re.finditer(pattern, description):
        name, text, number = element.groups()
        if name == "Pixels":
            if len(images) == MOST_IMAGES:
                raise ValueError(f"has OME metadata of more than {MOST_IMAGES} images; split it")
            images.append(OmeImage(_attributes(text), [], []))
        elif images and name == "TiffData":
            images[-1].blocks.append(text)
            images[-1].holders.append(None)
        elif images and images[-1].blocks:
            file = re.search(r'\bFileName\s*=\s*"([^"]{0,200})"', text)
            key = (number or "").strip()
            images[-1].holders[-1] = Holder(key, html.unescape(file[1]) if file else key)
    return images


def numbers_of_file(description: str, images: Sequence[OmeImage]) -> set[str]:
    """Return the number of the described file, or of the only one named."""
    head = re.search(r"<(?:\w+:)?OME\b([^>]*)", description)
    own = re.search(r'\bUUID\s*=\s*"([^"]{1,100})"', head[1]) if head else None
    if own is not None:
        return {own[1]}
    holders = [holder for image in images for holder in image.holders if holder is not None]
    told = {holder.number or holder.name for holder in holders}
    return {holder.number for holder in holders} if len(told) == 1 else set()


def other_holders(description: str, images: Sequence[OmeImage]) -> list[str | None]:
    """Return for each image another file that holds planes of it, or None."""
    here = numbers_of_file(description, images)
    held = (filter(None, image.holders) for image in images)
    return [next((one.name for one in each if one.number not in here), None) for each in held]


def companion_of(description: str) -> str | None:
    """Return the name of the file that describes a file with planes only, or None."""
    pattern = r"<(?:\w+:)?BinaryOnly\b[^<>]{0,500}?\bMetadataFile\s*=\s*\"([^\"]{1,200})\""
    companion = re.search(pattern, description)
    return html.unescape(companion[1]) if companion else None


def _attributes(text: str) -> dict[str, str]:
    return dict(re.findall(r'\b(\w+)\s*=\s*"([^"]{1,32})"', text))


def _integer(attributes: Mapping[str, str], name: str, default: int, least: int = 0) -> int:
    text = attributes.get(name, str(default))
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least:
        raise ValueError(f"has OME metadata with {name}={text!r}: no integer from {least} on")
    return number


def lengths_of_ome(image: OmeImage, samples: int) -> dict[str, int]:
    """Return the number of planes, of `samples` each, along each axis, outermost first."""
    order = image.attributes.get("DimensionOrder", "XYZCT")
    if not re.fullmatch("XY[ZCT]{3}", order) or len(set(order)) < 5:
        raise ValueError(f"has OME metadata with the dimension order {order!r}")
    given, usual = image.attributes, {"C": samples}
    lengths = {k: _integer(given, f"Size{k}", usual.get(k, 1), 1) for k in order[:1:-1]}
    if lengths["C"] < samples:
        told = f"SizeC='{lengths['C']}', but pages of {samples} samples"
        raise ValueError(f"has OME metadata with {told}")
    lengths["C"] //= samples
    return lengths


def begin_of_ome(image: OmeImage, end: int) -> int:
    """Return the first page of an image; `end` is where the pages of earlier images end."""
    return _integer(_attributes(image.blocks[0]), "IFD", end) if image.blocks else end


def pages_of_ome(image: OmeImage, lengths: Lengths, end: int, held: int) -> Sequence[int]:
    """Return the pages, of `held`, that are the planes of an image, in the order of its axes.

    A block describes some planes, or all up to the next block. Without blocks, the image begins at
    page `end`, after the earlier images.
    """
    count = math.prod(lengths.values())
    described = " x ".join(f"{length} {axis}" for axis, length in lengths.items())
    if count > held:
        raise ValueError(f"has OME metadata of {described} planes, but holds {held}; {MISFIT}")
    pages = [page for _, page in places_of_ome(image, lengths, end)]
    if len(pages) < count or len(set(pages)) < count or max(pages) >= held:
        told = f"a page of its {held} for each of {described} planes"
        raise ValueError(f"has OME metadata that does not name {told}; {MISFIT}")
    return pages


def places_of_ome(image: OmeImage, lengths: Lengths, end: int = 0) -> Iterator[tuple[int, int]]:
    """Yield the block and the page of each plane, in the order of the axes."""
    for number, page, count in stretches_of_ome(image, lengths, end):
        yield from ((number, page + k) for k in range(count))


def stretches_of_ome(image: OmeImage, lengths: Lengths, end: int = 0) -> Iterator[tuple[int, ...]]:
    """Yield stretches of consecutive planes: the block, the first page, and the count."""
    count = math.prod(lengths.values())
    blocks = []
    for number, text in enumerate(image.blocks):
        attributes = _attributes(text)
        plane, is_within = 0, True
        for axis, length in lengths.items():
            place = _integer(attributes, f"First{axis}", 0)
            plane, is_within = plane * length + place, is_within and place < length
        if is_within:  # ImageJ keeps blocks of what it crops
            page = _integer(attributes, "IFD", end)
            blocks.append((plane, page, _integer(attributes, "PlaneCount", count), number))
    blocks = sorted(blocks) if image.blocks else [(0, end, count, 0)]
    known = 0
    for (plane, page, length, number), following in zip(
        blocks, [*(plane for plane, *_ in blocks[1:]), count], strict=False
    ):
        if plane != known:
            break
        told = max(0, min(length, following - plane))
        yield number, page, told
        known += told


def scale_of_ome(image: OmeImage, axes: str) -> Scale | None:
    """Return the physical sizes of an image, in the unit of the last axis with one."""
    lengths, units = {}, {}
    attributes = image.attributes
    for axis in "ZYX":
        try:
            lengths[axis] = float(attributes[f"PhysicalSize{axis}"])
        except (KeyError, ValueError):
            continue
        units[axis] = unit_of(html.unescape(attributes.get(f"PhysicalSize{axis}Unit", "µm")))
    space = [axis for axis in axes if axis in "ZYX"]
    if not space or not all(axis in lengths for axis in space):
        return None
    places = {k: units[axis] for k, axis in enumerate(axes) if axis in space}
    return scale_in_one_unit([lengths.get(axis, 1.0) for axis in axes], places)
