"""OME-TIFF in several files, where OME-XML says which pages of other files are planes.

The XML may be malicious. So only regular files in the same folder are opened, by plain names, and
no links. Each is checked like a single file, and no more is allocated than all files can hold.
"""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from operator import attrgetter
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from conncomp._memory import check_memory
from conncomp._terminal import printable
from conncomp.files.access import StrPath, naming
from conncomp.files.parts import check_place
from conncomp.files.scales import Content
from conncomp.files.tiff import ome
from conncomp.files.tiff.directories import bits_of, open_tiff

MOST_FILES, LONGEST_XML = 20_000, 1 << 26
COMPANION = ".companion.ome"  # ends the name of a file with nothing but OME-XML
MOST_NAMED = 3  # missing files, by an error
LEAST_PAGE = 18  # bytes of the directory of a page


class OmeSet:
    """The images that OME-XML describes in a folder; `own` is the TIFF file with the XML, or ""."""

    def __init__(self, folder: str, description: str, own: str) -> None:
        self._folder, self._own = folder, own
        self.images = ome.ome_images(description)
        self.count = len(self.images)
        self._numbers = ome.numbers_of_file(description, self.images) if own else set()

    def holders(self, number: int) -> list[str]:
        """Return the name of the file that holds each stretch of planes of an image."""
        own, known = self._own, self._numbers
        held = self.images[number].holders
        names = [own if one is None or one.number in known else one.name for one in held]
        if not (self._own or (names and "" not in names)):
            raise ValueError("describes planes, and does not say which file holds them")
        for name in dict.fromkeys(names):
            if name in ("", ".", "..") or set(name) & set("/\\\0"):
                raise ValueError(f"has OME planes in {printable(name)!r}, no plain name of a file")
        return names

    def read(self, number: int) -> Content:
        """Return an image; raise unless the XML places all its planes, and files hold them."""
        if not 0 <= number < self.count:
            raise ValueError(f"has {self.count} series: there is no series={number}")
        image, names = self.images[number], self.holders(number) or [self._own]
        sizes = self._sizes(names)
        block, page = next(ome.places_of_ome(image, ome.lengths_of_ome(image, 1)), (0, 0))
        with self._opened(names[block]) as (tiff, size):
            head = _page(tiff, page)
            bits, _ = bits_of(head, size)
            lengths = ome.lengths_of_ome(image, head.samplesperpixel)
        count, size = math.prod(lengths.values()), sum(sizes.values())
        described = " x ".join(f"{length} {axis}" for axis, length in lengths.items())
        bits, most = count * math.prod(head.shape) * bits, bits_of(head, size)[1]
        if bits > most or count * LEAST_PAGE > size or "Z" in head.axes:
            told = f"{described} planes of shape {head.shape} and dtype {head.dtype}"
            raise ValueError(f"says that it has {told}, but all its files are of {size} bytes")
        told_of = ome.stretches_of_ome(image, lengths)
        stretches = [(names[block], page, told) for block, page, told in told_of if told > 0]
        overlap = any(
            name == other and page + told > following
            for (name, page, told), (other, following, _) in pairwise(sorted(stretches))
        )
        if sum(told for *_, told in stretches) < count or overlap:
            raise ValueError(f"has OME metadata that names no page for each of {described} planes")
        kept = {axis: length for axis, length in lengths.items() if length > 1}
        array = self._filled(head, count, stretches).reshape(*kept.values(), *head.shape)
        axes = "".join(kept) + head.axes
        channels = max(axes.find("S"), axes.find("C"))
        scale = ome.scale_of_ome(image, axes)
        return Content(array, None if channels < 0 else channels, axes, scale)

    def _filled(self, head: Any, count: int, stretches: list[tuple[str, int, int]]) -> NDArray[Any]:
        """Return `count` planes like the page `head`; a stretch is a file, a page and a count."""
        shape = count, *head.shape
        check_memory(f"an image of shape {shape}", math.prod(shape) * head.dtype.itemsize)
        array = np.empty(shape, head.dtype)
        alike = attrgetter("shape", "dtype", "compression")
        by_file: dict[str, list[tuple[int, int, int]]] = {}
        plane = 0
        for name, page, told in stretches:
            by_file.setdefault(name, []).append((plane, page, told))
            plane += told
        for name, held in by_file.items():
            with self._opened(name) as (tiff, size):
                bits, most = bits_of(_page(tiff, held[0][1]), size)
                if sum(told for *_, told in held) * math.prod(head.shape) * bits > most:
                    raise ValueError(f"has planes that do not fit into its {size} bytes")
                places = ((first + k, at + k) for first, at, told in held for k in range(told))
                for plane, page in places:
                    other = _page(tiff, page)
                    if alike(other) != alike(head):
                        both = (f"shape {one.shape} and dtype {one.dtype}" for one in (other, head))
                        raise ValueError(f"has a page {page} of {', others of '.join(both)}")
                    if sum(map(int, other.databytecounts)) > size:
                        raise ValueError(f"says that it holds more strips than its {size} bytes")
                    array[plane] = other.asarray()
        return array

    def _sizes(self, names: Sequence[str]) -> Mapping[str, int]:
        unique = list(dict.fromkeys(names))
        if len(unique) > MOST_FILES:
            told = f"is a set of {len(unique)} files"
            raise ValueError(f"{told}, and more than {MOST_FILES} are not read")
        sizes, missing = {}, []
        for name in unique:
            path = os.path.join(self._folder, name)
            if name != self._own:  # which somebody named, link or not
                check_place(self._folder, path)
            try:
                sizes[name] = os.stat(path).st_size
            except (OSError, ValueError):
                missing.append(name)
        if missing:
            shown = ", ".join(repr(printable(name)) for name in missing[:MOST_NAMED])
            more = f" and {len(missing) - MOST_NAMED} more" if len(missing) > MOST_NAMED else ""
            told = f"is one of a set of {len(unique)} files, of which {shown}{more}"
            verb = "is" if len(missing) == 1 else "are"
            raise ValueError(f"{told} {verb} not in its folder; put them there")
        return sizes

    @contextmanager
    def _opened(self, name: str) -> Iterator[tuple[Any, int]]:
        def at_once(path: str, flags: int) -> int:
            flags |= 0 if name == self._own else os.O_NOFOLLOW
            return os.open(path, flags | os.O_NONBLOCK)  # a pipe might never begin

        path = os.path.join(self._folder, name)
        with naming(f"its file {printable(name)!r}"), open(path, "rb", opener=at_once) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise ValueError("is no regular file")
            with open_tiff(file) as tiff:
                yield tiff, status.st_size


def _page(tiff: Any, number: int) -> Any:
    if number >= len(tiff.pages):
        raise ValueError(f"has {len(tiff.pages)} pages, and no page {number}")
    return tiff.pages[number]


def open_companion(file: IO[bytes], folder: str | None) -> OmeSet:
    """Return the images that a file of OME-XML describes, in other files of its folder."""
    text = file.read(LONGEST_XML + 1)
    if len(text) > LONGEST_XML:
        raise ValueError(f"has more than {LONGEST_XML >> 20} MiB of XML")
    if folder is None:
        raise ValueError("describes other files, of the folder where it lies; give its name")
    images = OmeSet(folder, text.decode("utf-8", "replace"), "")
    if not images.count:
        raise ValueError("is XML that tells of no image of OME")
    return images


def check_own_description(description: str, folder: str | None) -> None:
    """Raise if another file in the folder describes the planes of this one."""
    name = ome.companion_of(description)
    if name is None or folder is None or os.path.basename(name) != name:
        return
    if os.path.isfile(os.path.join(folder, name)):
        raise ValueError(f"is one of a set of files that {printable(name)!r} describes; give that")


def head_of_set(path: StrPath) -> str | None:
    """Return the path of the file to read the set of a TIFF file by; None if it is this one."""
    with naming(path):
        images, head = _images_beside(path)
        if head is None and images.images and not is_companion(path):
            holders = images.holders(0)
            places = ome.places_of_ome(images.images[0], ome.lengths_of_ome(images.images[0], 1))
            head = holders[next(places, (0, 0))[0]] if holders else None
        if head is None or os.path.basename(head) != head or head == os.path.basename(path):
            return None
        return os.path.join(os.path.dirname(path), head)


def files_of_set(path: StrPath) -> list[str]:
    """Return the paths of the files that the OME-XML of a file names."""
    with naming(path):
        images, _ = _images_beside(path)
        names = {name for k in range(images.count) for name in images.holders(k)}
        return sorted(os.path.join(os.path.dirname(path), name) for name in names)


def is_companion(path: StrPath) -> bool:
    """Whether the name of a file says that it holds OME-XML only."""
    return os.fspath(path).lower().endswith(COMPANION)


def _images_beside(path: StrPath) -> tuple[OmeSet, str | None]:
    folder, own = os.path.split(path)
    with open(path, "rb") as file:
        if is_companion(path):
            return open_companion(file, folder), None
        with open_tiff(file) as tiff:
            description = description_of_ome(tiff)
    return OmeSet(folder, description, own), ome.companion_of(description)


def description_of_ome(tiff: Any) -> str:
    """Return the OME-XML of a TIFF file, or nothing."""
    head = tiff.pages[0] if len(tiff.pages) else None
    return str(head.description) if head is not None and head.is_ome else ""
