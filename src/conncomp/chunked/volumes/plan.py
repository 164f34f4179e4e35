"""How much memory and time `label_file` will take, from a few neighbouring blocks.

Blocks are labelled as all of them will be, into a temporary folder: reading, labelling twice,
uniting over faces and writing are in the time that they take. Time and files grow with the number
of blocks; memory is that of the blocks that are worked on at once, and of tables of the components
on faces of all blocks.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from numpy.typing import NDArray

from conncomp._memory import resident_memory
from conncomp.chunked.volumes.block_files import BlockFiles
from conncomp.chunked.volumes.formats.zarr_arrays import METADATA, ZarrVolume
from conncomp.chunked.volumes.job import Job, Work
from conncomp.chunked.volumes.kept import Kept
from conncomp.chunked.volumes.labelling import (
    FIXED,
    Arguments,
    bytes_of_block,
    bytes_of_memory,
    opened,
    workers_of,
)
from conncomp.chunked.volumes.targets import target_of
from conncomp.chunked.volumes.volume import PartOfVolume, Place, Volume, block_shape
from conncomp.files.access import StrPath

# Along each axis so many blocks are labelled: two have a face between them.
SAMPLE = 2
# Bytes that a component on faces takes in all tables, for each block that it is in.
COMPONENT = 200


@dataclass(frozen=True)
class LabelPlan:
    """What `label_file` will take, as `plan_labels` reckons.

    Attributes
    ----------
    shape : tuple of int
        Of what is labelled.
    dtype : str
    block_shape : tuple of int
        Of what is labelled at once by a thread.
    blocks : int
    sampled : int
        How many of them were labelled to know.
    threads : int
        How many blocks are worked on at once.
    memory : int
        Bytes that the process takes at most.
    labels : int
        Bytes that the labels will take on the disk.
    kept : int
        Bytes that lie in ``TARGET.partial`` meanwhile, beside them.
    seconds : float
        Of labelling, on this machine as busy as it is.
    """

    shape: tuple[int, ...]
    dtype: str
    block_shape: tuple[int, ...]
    blocks: int
    sampled: int
    threads: int
    memory: int
    labels: int
    kept: int
    seconds: float


class Window(PartOfVolume):
    """A part of a volume, as a volume."""

    def __init__(self, volume: Volume, begin: tuple[int, ...], shape: tuple[int, ...]) -> None:
        super().__init__(volume)
        self.begin, self._shape = begin, shape

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the part."""
        return self._shape

    @property
    def chunks(self) -> tuple[int, ...]:
        """Blocks of the volume, so that they are the blocks of the part."""
        return tuple(map(min, block_shape(self.volume), self.shape))

    def read(self, place: Place) -> NDArray[Any]:
        """Return a part."""
        moved = zip(self.begin, place, strict=True)
        return self.volume.read(tuple(slice(b + p.start, b + p.stop) for b, p in moved))


def plan_labels(
    source: StrPath,
    background: float | None = None,
    connectivity: float | None = None,
    *,
    periodic: bool | Sequence[bool] = False,
    batch_axes: int | None = None,
    key: str | None = None,
    channel: int | None = None,
    threshold: float | None = None,
    memory: str | int | None = None,
) -> LabelPlan:
    """Reckon how much memory, disk and time `label_file` will take.

    Up to two blocks along each axis, in the middle, are labelled to a temporary folder, which takes
    seconds. What is elsewhere may be of another kind.

    Parameters
    ----------
    source : str or path-like
        As of `label_file`.
    background, connectivity, periodic, batch_axes, key, channel, threshold, memory
        As of `label_file`.

    Returns
    -------
    LabelPlan
        Of the consecutive labels of all components; numbers of seconds and bytes.

    Raises
    ------
    FileNotFoundError, ImportError, MemoryError, OSError, TypeError, ValueError
        As `label_file`.

    See Also
    --------
    label_file : Does it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import conncomp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     image = pathlib.Path(folder, "image.npy")
    ...     np.save(image, np.zeros((40, 50, 60), bool))
    ...     plan = conncomp.plan_labels(image, connectivity=1)
    >>> plan.blocks, plan.block_shape, plan.memory > 50_000_000, plan.seconds < 60
    (1, (40, 50, 60), True, True)
    """
    arguments = Arguments(
        background=background,
        connectivity=connectivity,
        periodic=periodic,
        batch_axes=batch_axes,
        threshold=threshold,
    )
    limit = None if memory is None else bytes_of_memory(memory)
    before = resident_memory()
    with opened(source, key, channel) as volume:
        layout, rules = arguments.rules(volume)
        kind = arguments.label_type(rules)
        threads = workers_of(volume, limit)
        pool = ThreadPoolExecutor(threads)
        work = Work(volume, layout, rules, "consecutive", kind, None, threshold, pool, None)
        window = _window(volume)
        layout, rules = arguments.rules(window)
        sample = _sample(replace(work, volume=window, layout=layout, rules=rules))
        blocks = work.layout.chunks
        times = blocks / layout.chunks
        at_once = min(threads, blocks)
        return LabelPlan(
            shape=volume.shape,
            dtype=str(volume.dtype),
            block_shape=block_shape(volume),
            blocks=blocks,
            sampled=layout.chunks,
            threads=at_once,
            memory=int(
                before
                + FIXED
                + at_once * bytes_of_block(volume)
                + COMPONENT * times * sample.components
            ),
            labels=int(sample.labels * math.prod(volume.shape) / math.prod(window.shape)),
            kept=int(sample.kept * times),
            seconds=sample.seconds * times,
        )


@dataclass(frozen=True)
class Sample:
    """What some blocks took: seconds, bytes of labels and of what is kept, components on faces."""

    seconds: float
    labels: int
    kept: int
    components: int


def _window(volume: Volume) -> Window:
    """Return some blocks in the middle of a volume."""
    block = block_shape(volume)
    begin, shape = [], []
    for length, step in zip(volume.shape, block, strict=True):
        count = -(-length // step)
        taken = min(count, SAMPLE)
        first = (count - taken) // 2
        begin.append(first * step)
        shape.append(min(taken * step, length - first * step))
    return Window(volume, tuple(begin), tuple(shape))


def _sample(work: Work) -> Sample:
    """Label a part of a volume, and measure that."""
    is_zarr = isinstance(getattr(work.volume, "volume", None), ZarrVolume)
    with tempfile.TemporaryDirectory(prefix="conncomp-plan-") as folder:
        name = Path(folder, f"labels{'' if is_zarr else '.npy'}")
        started = perf_counter()
        kept = Kept(Path(folder, "kept"), {}, name.suffix)
        kept.clear()
        target = target_of(name, kept.labels, work.volume, work.dtype)
        target.create()
        kept.begin()
        target.open()
        files = BlockFiles(work.volume, work.threshold, kept.reports, target)
        Job(work, kept, files).run()
        seconds = perf_counter() - started
        components = sum(
            len(kept.reports.read(index).roots)
            for index in work.layout.indices()
            if kept.reports.has(index)
        )
        labels, everything = _size(kept.labels), _size(kept.folder)
    return Sample(seconds, labels, everything - labels, components)


def _size(path: Path) -> int:
    """Return how many bytes files have, without those that are one for all blocks."""
    names = [path] if path.is_file() else [name for name in path.rglob("*") if name.is_file()]
    return sum(os.stat(name).st_size for name in names if name.name not in METADATA)
