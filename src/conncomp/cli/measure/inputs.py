"""Which images a command is given: files, folders of them, patterns; and what it writes of each."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from conncomp.chunked.volumes.slices import natural_order
from conncomp.chunked.volumes.zarr_arrays import is_zarr
from conncomp.cli.measure.options import SUFFIXES, Options, filled


class Source(NamedTuple):
    """An image, and the files that belong to it.

    Attributes
    ----------
    path : pathlib.Path
    intensity, labels, picture : pathlib.Path or None
        What is read and written beside it.
    """

    path: Path
    intensity: Path | None
    labels: Path | None
    picture: Path | None


def sources_of(patterns: Sequence[str], options: Options) -> list[Source]:
    """Return the images that names, folders and patterns stand for, each once, in natural order.

    Raises
    ------
    click.UsageError
        If there is none, or a file would be written twice, or is to be read and written.
    """
    paths = list({os.path.realpath(path): path for path in _paths(patterns)}.values())

    def beside(template: str | None, path: Path) -> Path | None:
        return None if template is None else filled(template, path)

    sources = [
        Source(
            path,
            *(beside(name, path) for name in (options.intensity, options.labels, options.picture)),
        )
        for path in paths
    ]
    _check(sources, options.output)
    return sources


def _paths(patterns: Sequence[str]) -> Iterator[Path]:
    for pattern in patterns:
        names = [pattern]
        if not os.path.lexists(pattern):
            names = sorted(glob.glob(pattern, recursive=True), key=natural_order)
            if not names:
                raise click.UsageError(f"there is no file {pattern!r}, and none of such a name.")
        for name in names:
            if not os.path.isdir(name) or is_zarr(name):
                yield Path(name)
            elif name == pattern:
                yield from _in_folder(name)


def _in_folder(folder: str) -> list[Path]:
    """Return the images of a folder, but for those in folders within it."""
    names = sorted(os.listdir(folder), key=natural_order)
    paths = [Path(folder, name) for name in names if not name.startswith(".")]
    images = [
        path
        for path in paths
        if (path.is_file() and path.suffix.lower() in SUFFIXES)
        or (path.is_dir() and is_zarr(str(path)))
    ]
    if not images:
        raise click.UsageError(f"the folder {folder!r} holds no images.")
    return images


def _check(sources: Iterable[Source], output: Path) -> None:
    written = {os.path.realpath(output): output}
    for source in sources:
        for path in filter(None, (source.labels, source.picture)):
            place = os.path.realpath(path)
            if place in written:
                raise click.UsageError(
                    f"{str(path)!r} would be written twice; put {{stem}} or {{parent}} into "
                    "its name."
                )
            written[place] = path
    for source in sources:
        for path in filter(None, (source.path, source.intensity)):
            if os.path.realpath(path) in written:
                raise click.UsageError(f"{str(path)!r} is to be read, and to be written.")
