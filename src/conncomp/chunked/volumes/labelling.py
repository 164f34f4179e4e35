"""`label_file`: labels of volumes in files, block by block, on threads or on a cluster."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from conncomp._arguments import as_integer, as_number, check_progress, check_range, shown
from conncomp._core import native
from conncomp._memory import free_memory, in_words, memory_limit, parse_bytes, resident_memory
from conncomp.chunked.layout import Layout
from conncomp.chunked.rules import Rules, rules_of_image
from conncomp.chunked.selection import Selection, SizeSummary, from_numbers
from conncomp.chunked.volumes.block_files import BlockFiles, Names, workers_of_cluster
from conncomp.chunked.volumes.formats import Source, opened_volume
from conncomp.chunked.volumes.job import Job, Progress
from conncomp.chunked.volumes.kept import Kept
from conncomp.chunked.volumes.sample import Run
from conncomp.chunked.volumes.targets import Target
from conncomp.chunked.volumes.volume import Volume, block_shape, lengths_of
from conncomp.chunked.volumes.writing import as_target, write_labels
from conncomp.files.access import StrPath, as_path, naming
from conncomp.files.scales import batch_axes_of
from conncomp.grid.array import Numbering

# Bytes of an element while its block is labelled, beside its value twice: labels, final labels,
# what counts them, and tables of few components.
ELEMENT = 40
FIXED = 5 * 10**7  # what else takes memory: threads, buffers of Zarr, reports of neighbours
PROGRAM = 7 * 10**7  # of a process that has only opened a volume: 44 to 65 MB were measured
LARGEST = 2**63 - 1
LABEL = 8  # bytes of a label, at most


class Counts(NamedTuple):
    """The counts of labels in files."""

    components: int
    kept: int  # components
    elements: int  # of these; 0 if all are kept
    summary: SizeSummary | None = None  # of all components, if that was asked for


@dataclass(frozen=True)
class Arguments:
    """The arguments of `label_file` that say how a volume is labelled."""

    question: Mapping[str, Any]  # by name, those of `label`
    batch_axes: int | None = None
    threshold: float | None = None
    min_size: int | None = None
    largest: int | None = None
    listed: int = 0  # of the largest components, in a summary of all

    def selection(self) -> Selection | None:
        """Return what is kept; None for all."""
        given = ("min_size", self.min_size), ("largest", self.largest)
        known = {k: check_range(k, most, 0, LARGEST) for k, most in given if most is not None}
        if not known and not self.listed:
            return None
        return Selection(known.get("min_size", 0), known.get("largest"), self.listed)

    def rules(self, volume: Volume) -> tuple[Layout, Rules]:
        """Return how a volume is cut into blocks, and what is connected in it."""
        kind, background = volume.dtype, self.question["background"]
        if self.threshold is not None:
            if not math.isfinite(as_number("threshold", self.threshold)):
                raise ValueError(f"threshold={shown(self.threshold)} must be a finite number")
            kind = np.dtype(bool)
            if background is not None and as_number("background", background) not in (0, 1):
                told = f"background={shown(background)}: with threshold the volume has the values 0"
                raise ValueError(f"{told} and 1 only; choose one of them, or leave it out")
        batch = self.batch_axes
        if batch is None:
            with naming(volume.path):
                batch = batch_axes_of(volume.axes, volume.shape)
        lengths = lengths_of(volume.shape, block_shape(volume))
        return rules_of_image(lengths, kind, batch_axes=batch, **self.question)


def label_file(
    source: StrPath,
    target: StrPath,
    background: float | None = None,
    connectivity: float | None = None,
    *,
    structure: ArrayLike | None = None,
    tolerance: float = 0,
    periodic: bool | Sequence[bool] = False,
    batch_axes: int | None = None,
    key: str | None = None,
    channel: int | None = None,
    threshold: float | None = None,
    min_size: int | None = None,
    largest: int | None = None,
    numbering: Numbering = "consecutive",
    dtype: DTypeLike | None = None,
    memory: str | int | None = None,
    scheduler: str | None = None,
    progress: Progress | None = None,
) -> int:
    """Label the connected regions of a volume in files, to files, block by block.

    Labels are those of `label` of the whole volume, which is never in memory. A folder beside the
    target, ``TARGET.partial``, keeps what is done: after a kill the same call goes on.

    Parameters
    ----------
    source : str or path-like
        An array of Zarr, of version 2 or 3; an image of OME-Zarr, of version 0.4 or 0.5, whose
        finest array is labelled; a file of HDF5, TIFF or .npy, this in C order; or a folder of
        images of one size, slices in the order of the numbers in their names.
    target : str or path-like
        What to write; it must not exist. A .npy file by that name, or else an array of Zarr in the
        chunks of the source, whose name must not end as that of other files, such as .tif. Of an
        image of OME-Zarr, a label image with the same axes, scales and resolutions, which is listed
        if it lies in the image, as ``IMAGE.zarr/labels/NAME``.
    background, connectivity, structure, tolerance, periodic, numbering
        As of `label`.
    batch_axes : int, optional
        How many axes ahead hold separate images, as of `label`. By default those of time and
        channels, where files name their axes: OME-Zarr, Zarr and HDF5 with names of dimensions,
        OME-TIFF and ImageJ TIFF. 0 joins them.
    key : str, optional
        The path of the array or image in a group of Zarr, or of the dataset of HDF5, by default the
        only one.
    channel : int, optional
        Which channel of an image of OME-Zarr to label, from 0; by default all, each alone.
    threshold : float, optional
        Foreground is what lies above it, and is of one value; `background` may be 0 or 1.
    min_size : int, optional
        Keep components of so many elements or more, as `remove_small_components` does.
    largest : int, optional
        Keep so many components of each separate image, as `largest_components` does.
    dtype : dtype, optional
        The integers of labels; by default int32 where every index fits, else int64.
    memory : str or int, optional
        The most memory that the process may take, such as ``"4G"``, which Linux helps to keep. So
        many blocks are worked on at once as fit.
    scheduler : str, optional
        The address of a running scheduler of Dask, such as ``"tcp://10.0.0.1:8786"``, whose workers
        label blocks; by default threads do. Workers must have conncomp, and see `source` and
        `target` by the same names; each has its own limit of memory. They get pickles, as all of
        Dask: give the address of a cluster that you trust.
    progress : callable, optional
        Called with the number of steps done, of which each block has two, and of all.

    Returns
    -------
    int
        The number of components that are kept, of all images. They have the labels that they have
        among all.

    Raises
    ------
    FileNotFoundError, FileExistsError
        If there is no `source`, or `target` exists, or another process writes it.
    ValueError
        If the source is damaged or was changed; ``TARGET.partial`` is of another input or of other
        arguments; `target` is named as files of another kind; a block does not fit into `memory`;
        or another argument does not fit.
    TypeError
        If an argument is not of its type.
    ImportError
        If zarr, h5py, tifffile, Pillow or distributed is not installed and is needed.
    ConnectionError
        If no scheduler answers at `scheduler`, or it has no workers.
    MemoryError
        If there is too little memory, or more than `memory` would be needed.
    OSError
        If a file cannot be read or written, as where a disk is full.

    See Also
    --------
    plan_labels : Tells beforehand how much memory and time this will take.
    label : Of an array in memory.
    stream_labels : Measures a volume without labels.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import conncomp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     image, labels = pathlib.Path(folder, "image.npy"), pathlib.Path(folder, "labels.npy")
    ...     np.save(image, [[1, 1, 0, 2], [0, 0, 0, 2], [1, 0, 2, 0]])
    ...     count = conncomp.label_file(image, labels, min_size=2)
    ...     count, np.load(labels)
    (2, array([[1, 1, 0, 2],
           [0, 0, 0, 2],
           [0, 0, 2, 0]], dtype=int32))
    """
    asked: dict[str, Any] = {"background": background, "connectivity": connectivity}
    asked |= {"structure": structure, "tolerance": tolerance, "periodic": periodic}
    asked |= {"numbering": numbering, "dtype": dtype}
    arguments = Arguments(asked, batch_axes, threshold, min_size, largest)
    limits: dict[str, Any] = {"memory": memory, "scheduler": scheduler, "progress": progress}
    return label_volume(source, target, arguments, key, channel, **limits).kept


def label_volume(
    source: StrPath,
    target: StrPath,
    arguments: Arguments,
    key: str | None = None,
    channel: int | None = None,
    *,
    memory: str | int | None = None,
    scheduler: str | None = None,
    progress: Progress | None = None,
) -> Counts:
    """Label a volume in files; count components that are not kept, too."""
    check_progress(progress)
    arguments.selection()  # which raises if it is wrong
    wanted = as_target(target)
    limit = None if memory is None else bytes_of_memory(memory)
    if limit is not None and scheduler is not None:
        told = f"memory={in_words(limit)} is for threads of this process"
        others = f"scheduler={shown(scheduler)} has workers with limits of their own"
        raise ValueError(f"{told}, but {others}; leave one out")
    with opened(source, key, channel) as volume:
        _, rules = arguments.rules(volume)
        dtype, cluster, names = rules.label_type, None, None
        threads = workers_of(volume, limit) if scheduler is None else 1
        if scheduler is not None:
            cluster = workers_of_cluster(scheduler)
            named = as_source(source, key, channel)
            named = named._replace(path=os.path.abspath(named.path))
            target = os.path.abspath(wanted)
            names = Names(named, volume.identity(), target, str(dtype), uuid4().hex)
        with within(limit, volume):
            run = run_of(volume, arguments, threads, cluster, progress, names)
            digest = _digest(rules, arguments)
            components, kept, elements, *more = write_labels(wanted, volume, dtype, digest, run)
        return Counts(components, kept, elements, from_numbers(more) if more else None)


@contextmanager
def within(limit: int | None, volume: Volume) -> Iterator[None]:
    """Let the process take so much memory; an error says in words what was too little."""
    try:
        with memory_limit(limit):
            yield
    except MemoryError as error:
        if limit is None:
            raise
        told = f"memory={in_words(limit)} is too little for blocks of shape {block_shape(volume)}"
        raise MemoryError(f"{told} and their components ({error}); give more") from error


def opened(source: StrPath, key: str | None, channel: int | None) -> AbstractContextManager[Volume]:
    """Open a volume, as `opened_volume`, once arguments are of their types."""
    return opened_volume(*as_source(source, key, channel))


def as_source(source: StrPath, key: Any, channel: Any) -> Source:
    """Return the name of a volume, each part of its type."""
    path = as_path(source, "source")
    key = None if key is None else as_path(key, "key")
    return Source(path, key, None if channel is None else as_integer("channel", channel))


def run_of(
    volume: Volume,
    arguments: Arguments,
    threads: int,
    cluster: AbstractContextManager[Executor] | None = None,
    progress: Progress | None = None,
    names: Names | None = None,
) -> Run:
    """Return what labels a volume, on a cluster or so many threads, or a part of it on threads."""

    def run(part: Volume, kept: Kept, target: Target) -> list[int]:
        whole = part is volume
        executor = cluster if whole and cluster is not None else ThreadPoolExecutor(threads)
        files = BlockFiles(part, arguments.threshold, kept.reports, target, names)
        layout, rules = arguments.rules(part)
        job = Job(kept, files, layout, executor, progress if whole else None)
        return job.label(rules, arguments.selection())

    return run


def _digest(rules: Rules, arguments: Arguments) -> str:
    question = rules.question
    facts = rules.shape, question.neighbourhood, rules.links, rules.crossed, question.batch_axes
    chosen = question.numbering, arguments.threshold, arguments.selection()
    return sha256(repr(facts + chosen).encode()).hexdigest()


def bytes_of_memory(memory: str | int) -> int:
    """Return a number of bytes."""
    if isinstance(memory, str):
        return parse_bytes(memory)
    if isinstance(memory, bool) or not isinstance(memory, (int, np.integer)) or memory <= 0:
        raise TypeError(f"memory={shown(memory)} must be a number of bytes, or text such as '4G'")
    return int(memory)


def bytes_of_block(volume: Volume) -> int:
    """Return how much memory a block takes while it is labelled, where components are few."""
    of_element = 2 * volume.dtype.itemsize
    # A chunk is unpacked whole, even beyond the volume; coarser labels are made, written, and read.
    stored = math.prod(volume.chunks) * of_element
    chunks = (level.shards or level.chunks for level in getattr(volume, "levels", ()))
    labels = max(map(math.prod, chunks), default=0) * 3 * LABEL
    return max(math.prod(block_shape(volume)) * (of_element + ELEMENT), stored, labels)


def workers_of(volume: Volume, limit: int | None, held: int | None = None) -> int:
    """Return how many blocks a process that holds so much memory works on at once."""
    held = resident_memory() if held is None else held
    block, now = bytes_of_block(volume), held + FIXED
    most = now + free_memory() if limit is None else limit
    if now + block > most:
        blocks = f"a block of shape {block_shape(volume)}, of chunks of shape {volume.chunks}"
        needed = f"the program and {blocks}, take {in_words(now + block)}"
        if limit is None:
            told = f"{volume.path}: {needed}, and there are {in_words(most)}"
            raise ValueError(f"{told}; rechunk it to smaller chunks")
        told = f"memory={in_words(limit)} is too little: {needed}"
        raise ValueError(f"{told}; give more, or rechunk the source")
    return int(max(1, min(native.get_num_threads(), (most - now) // block)))
