"""The space on the disk that labels of a volume take, from a few blocks in its middle."""

from __future__ import annotations

import errno
import math
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._memory import in_words
from conncomp.chunked.volumes.formats.ome_zarr import OmeImage
from conncomp.chunked.volumes.formats.zarr_arrays import METADATA
from conncomp.chunked.volumes.kept import Kept
from conncomp.chunked.volumes.targets import Target, is_npy, target_of
from conncomp.chunked.volumes.volume import PartOfVolume, Place, Volume, block_shape, counts_of
from conncomp.files.access import free_space

# Writes labels of a volume, or of a `Window` of it, to a target that is open; returns numbers.
Run = Callable[[Volume, Kept, Target], list[int]]

SAMPLE, MOST_SAMPLED = 2, 16  # blocks that are labelled along each axis, and at most
FACE_ELEMENT, REPORT = 64, 1 << 14  # bytes of a report at most: an element on faces, and others
DISK_BLOCK = 1 << 12  # of which files take whole ones


class Window(PartOfVolume):
    """A part of a volume, as a volume."""

    def __init__(self, volume: Volume, begin: tuple[int, ...], shape: tuple[int, ...]) -> None:
        super().__init__(volume)
        self.begin, self.shape = begin, shape
        self.chunks = tuple(map(min, block_shape(volume), shape))  # to have the volume's blocks

    def read(self, place: Place) -> NDArray[Any]:
        """Return a part."""
        moved = zip(self.begin, place, strict=True)
        return self.volume.read(tuple(slice(b + p.start, b + p.stop) for b, p in moved))


class Sample(NamedTuple):
    """The time, files and components of some labelled blocks."""

    blocks: int
    seconds: float
    labels: int  # bytes
    kept: int  # bytes beside them
    components: int  # on faces


def window_of(volume: Volume) -> Window:
    """Return some blocks in the middle of a volume."""
    axes, sampled = [], 1
    for length, step in reversed(list(zip(volume.shape, block_shape(volume), strict=True))):
        count = -(-length // step)
        taken = min(count, SAMPLE if sampled < MOST_SAMPLED else 1)
        sampled *= taken
        begin = (count - taken) // 2 * step
        axes.append((begin, min(taken * step, length - begin)))
    return Window(volume, *zip(*reversed(axes), strict=True))


def sampled(window: Window, dtype: np.dtype[Any], run: Run, suffix: str) -> Sample:
    """Write the labels of a part of a volume to a temporary folder, and measure that."""
    with tempfile.TemporaryDirectory(prefix="conncomp-plan-") as folder:
        started = perf_counter()
        kept = Kept(Path(folder, "kept"), {}, suffix)
        target = target_of(Path(folder, f"labels{suffix}"), kept.labels, window, dtype)
        kept.begin(target)
        target.open()
        run(window, kept, target)
        seconds = perf_counter() - started
        counts, reports = counts_of(window.shape, block_shape(window)), kept.reports
        known = filter(reports.has, np.ndindex(*counts))
        components = sum(len(reports.read(index).roots) for index in known)
        labels, everything = _size(kept.labels), _size(kept.folder)
    return Sample(math.prod(counts), seconds, labels, everything - labels, components)


def _size(path: Path) -> int:
    """Return how many bytes files have, without those that are one for all blocks."""
    names = [path] if path.is_file() else [name for name in path.rglob("*") if name.is_file()]
    return sum(os.stat(name).st_size for name in names if name.name not in METADATA)


def check_room(wanted: Path, volume: Volume, dtype: np.dtype[Any], run: Run) -> None:
    """Raise OSError unless the disk has room; blocks are labelled only if the most does not fit."""
    free, in_npy = free_space(wanted), is_npy(str(wanted))
    block = block_shape(volume)
    blocks, elements = math.prod(counts_of(volume.shape, block)), math.prod(volume.shape)
    if isinstance(volume, OmeImage) and not in_npy:
        shapes = (volume.one_channel(tuple(level.shape)) for level in volume.levels)
        elements = sum(map(math.prod, shapes))
    labels = elements * dtype.itemsize
    faces = sum(2 * math.prod(block) // length for length in block)
    kept = blocks * (REPORT + faces * FACE_ELEMENT)
    if labels + kept <= free:
        return
    if in_npy and labels > free:
        kept = 0  # it does not fit, whatever that is
    else:
        window = window_of(volume)
        sample = sampled(window, dtype, run, wanted.suffix if in_npy else "")
        labels = int(sample.labels * elements / math.prod(window.shape))
        kept = int((sample.kept / sample.blocks + 2 * DISK_BLOCK) * blocks)
    if labels + kept > free:
        remedy = "another disk, or of Zarr, which packs labels" if in_npy else "another disk"
        raise OSError(
            errno.ENOSPC,
            f"labels of shape {volume.shape} take about {in_words(labels + kept)}, and there are "
            f"{in_words(free)} free on the disk; choose a target on {remedy}",
            str(wanted),
        )
