"""The images of a command, the files that it writes of each, and those that are open."""

from __future__ import annotations

import glob
import math
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import click
import numpy as np

from conncomp._memory import check_memory
from conncomp._optional import optional
from conncomp.chunked.volumes.formats.slices import natural_order
from conncomp.chunked.volumes.formats.zarr_arrays import is_zarr
from conncomp.cli._input import read_any
from conncomp.cli.measure.options import SUFFIXES, Options, filled
from conncomp.files.access import naming
from conncomp.files.images import SIGNATURE, count_series, is_hdf5, kind_of, opened_series
from conncomp.files.scales import Content, scale_in_one_unit, unit_of
from conncomp.files.tiff.ome_sets import files_of_set, head_of_set

# Names of files that may be of a set.
OF_OME = re.compile(r"\.(ome\.(tiff?|btf)|companion\.ome)$", re.IGNORECASE)

# Of files in folders that only plugins of bioio read.
OTHER_SUFFIXES = frozenset({".czi", ".dv", ".lif", ".nd2", ".oib", ".oir", ".r3d", ".sld", ".sldy"})
SPACE, KEPT = "ZYX", "YX"


class Source(NamedTuple):
    """An image, one of the series of a file, and what is read and written beside it."""

    path: Path
    series: int  # which one of the file
    intensity: Path | None
    labels: Path | None
    picture: Path | None

    def key_beside(self, options: Options) -> str | None:
        """Return the key of intensities, which only files of the same kind have."""
        same = self.intensity is not None and self.intensity.suffix == self.path.suffix
        return options.key if same else None


def sources_of(options: Options) -> list[Source]:
    """Return the images that names, folders and patterns stand for, each once, in natural order.

    Folders and patterns leave out what the command has written where it goes on, and files of a set
    of OME-TIFF beside the one by which that is read.
    """
    sources, named = {}, set()
    suffixes = SUFFIXES | OTHER_SUFFIXES if options.bioio else SUFFIXES
    for path, is_named in _paths(options.inputs, suffixes):
        place = os.path.realpath(path)
        names = (options.intensity, options.labels, options.picture)
        for series in _series_of(path, options):
            beside_it = (None if name is None else filled(name, path, series) for name in names)
            sources[place, series] = Source(path, series, *beside_it)
        named |= {place} if is_named else set()
    own = set[str]()
    if options.resume and options.kept_folder.is_dir():
        own = _written_of_others(sources, options.output) - named
    own |= _parts_of_sets({place: source.path for (place, _), source in sources.items()}, named)
    chosen = [source for (place, _), source in sources.items() if place not in own]
    _check(chosen, options.output)
    return chosen


def number_of_series(path: Path, bioio: bool) -> int:
    """Return how many series a file has, which bioio may be asked for."""
    if not (bioio and is_of_other_format(path)):
        return count_series(path)
    with naming(path):
        return len(_opened(path).scenes)


def _series_of(path: Path, options: Options) -> Iterable[int]:
    if options.series is not None:
        return (options.series,)
    try:
        return range(number_of_series(path, options.bioio))
    except (ImportError, MemoryError, OSError, ValueError):
        return (0,)  # as a failure among others


def _paths(patterns: Sequence[str], suffixes: Set[str]) -> Iterator[tuple[Path, bool]]:
    """Yield images, and whether each is named, not of a folder or pattern."""
    for pattern in patterns:
        is_named = os.path.lexists(pattern)
        names = [pattern]
        if not is_named:
            names = sorted(glob.glob(pattern, recursive=True), key=natural_order)
            if not names:
                raise click.UsageError(f"there is no file {pattern!r}, and none of such a name.")
        for name in names:
            if not os.path.isdir(name) or is_zarr(name):
                yield Path(name), is_named
            elif is_named:
                yield from ((path, False) for path in _in_folder(name, suffixes))


def _written_of_others(sources: dict[tuple[str, int], Source], output: Path) -> set[str]:
    """Return the places that are written of images elsewhere, and of none there."""
    written, by_itself = {os.path.realpath(output)}, set()
    for (place, _), source in sources.items():
        places = {os.path.realpath(path) for path, _ in _outputs(source)}
        written |= places
        by_itself |= places & {place}  # it would be lost
    return written - by_itself


def _parts_of_sets(paths: Mapping[str, Path], named: set[str]) -> set[str]:
    """Return files of OME-TIFF that nobody named, whose planes come with another."""
    heads = {}
    for place in paths.keys() - named:
        if OF_OME.search(str(paths[place])):
            with suppress(ImportError, MemoryError, OSError, ValueError):  # a failure among others
                head = head_of_set(paths[place])
                if head is not None and os.path.realpath(head) in paths:
                    heads[place] = os.path.realpath(head)
    return {place for place, head in heads.items() if head not in heads}


def files_read_with(path: Path) -> list[str]:
    """Return the other files of an image's set of OME-TIFF."""
    if OF_OME.search(str(path)):
        with suppress(ImportError, MemoryError, OSError, ValueError):
            return [other for other in files_of_set(path) if os.path.exists(other)]
    return []


def _outputs(source: Source) -> list[tuple[Path, str]]:
    both = (source.labels, "--labels"), (source.picture, "--picture")
    return [(path, option) for path, option in both if path is not None]


def _in_folder(folder: str, suffixes: Set[str]) -> list[Path]:
    """Return the images right in a folder whose names end so."""
    names = sorted(os.listdir(folder), key=natural_order)
    images = [
        path
        for path in (Path(folder, name) for name in names if not name.startswith("."))
        if (path.is_file() and path.suffix.lower() in suffixes)
        or (path.is_dir() and is_zarr(str(path)))
    ]
    if not images:
        raise click.UsageError(f"the folder {folder!r} holds no images.")
    return images


def _check(sources: Iterable[Source], output: Path) -> None:
    written = {os.path.realpath(output): "--output"}
    for source in sources:
        for path, option in _outputs(source):
            place = os.path.realpath(path)
            if place in written:
                raise click.UsageError(
                    f"{str(path)!r} would be written twice; put {{stem}}, {{parent}} or "
                    "{series} into its name."
                )
            written[place] = option
    for source in sources:
        for path in filter(None, (source.path, source.intensity)):
            option = written.get(os.path.realpath(path), "")
            if option:
                raise click.UsageError(
                    f"{str(path)!r} is to be read, and to be written by {option}; write to "
                    "another folder or name."
                )


Read = Callable[[int], Content]


class OpenFiles:
    """The files of all sources, read by whichever threads.

    A file with several wanted series stays open until all are done, once per thread that reads it
    at the same time. `bioio` reads what no reader here knows.
    """

    def __init__(self, sources: Iterable[Source], bioio: bool = False) -> None:
        self._bioio = bioio
        both = (path for source in sources for path in (source.path, source.intensity))
        self._left = Counter(filter(None, both))
        self.count = cache(partial(number_of_series, bioio=bioio))
        self._idle: dict[Path, list[tuple[Read, ExitStack]]] = defaultdict(list)
        self._lock = Lock()

    def close(self) -> None:
        """Close all that are open."""
        for path in list(self._idle):
            self._close(path)

    def read(self, path: Path, key: str | None, series: int) -> Content:
        """Read a series of a file, or any other image."""
        if self._bioio and is_of_other_format(path):
            return read_scene(path, series)
        if self._left[path] < 2 or key is not None or self.count(path) < 2:
            return read_any(path, key, series)
        with self._opened(path) as read:
            return read(series)

    def done(self, source: Source) -> None:
        """Close the files of an image that nobody else needs."""
        for path in filter(None, (source.path, source.intensity)):
            with self._lock:
                self._left[path] -= 1
                is_last = self._left[path] == 0
            if is_last:
                self._close(path)

    @contextmanager
    def _opened(self, path: Path) -> Iterator[Read]:
        with self._lock:
            idle = self._idle[path]
            opened = idle.pop() if idle else None
        if opened is None:
            stack = ExitStack()
            opened = stack.enter_context(opened_series(path)), stack
        try:
            yield opened[0]
        finally:
            with self._lock:
                self._idle[path].append(opened)

    def _close(self, path: Path) -> None:
        for _, stack in self._idle.pop(path, []):
            stack.close()


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


def read_scene(path: Path, series: int) -> Content:
    """Return a scene of a file without axes of one element, and its scale."""
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
