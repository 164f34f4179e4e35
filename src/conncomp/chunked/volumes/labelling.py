"""`label_file`: labels of volumes in files, chunk by chunk, on the threads of one machine."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from conncomp._arguments import INT32_MAX, check_choice, shown
from conncomp._core import native
from conncomp._memory import in_words, memory_limit, parse_bytes, resident_memory
from conncomp._optional import optional
from conncomp.chunked import stages
from conncomp.chunked.layout import Index, Layout
from conncomp.chunked.rules import Rules, rules_of_image
from conncomp.chunked.volumes.kept import Kept, SetAside
from conncomp.chunked.volumes.stores import (
    Volume,
    create_volume,
    is_npy,
    open_volume,
    place_of,
    remove,
    writer_of,
)
from conncomp.files.access import StrPath, as_path

Numbering = Literal["consecutive", "roots"]
Progress = Callable[[int, int], object]

# Bytes of an element while its chunk is labelled, beside its value twice: labels, final labels, and
# tables of components where these are few.
ELEMENT = 24
# What else takes memory: threads, buffers of Zarr, reports of neighbouring chunks.
FIXED = 5 * 10**7


def label_file(
    source: StrPath,
    target: StrPath,
    background: float | None = None,
    connectivity: float | None = None,
    *,
    structure: ArrayLike | None = None,
    tolerance: float = 0,
    periodic: bool | Sequence[bool] = False,
    numbering: Numbering = "consecutive",
    dtype: DTypeLike | None = None,
    memory: str | int | None = None,
    progress: Progress | None = None,
) -> int:
    """Label the connected regions of a volume in files, to files, chunk by chunk.

    The labels are those of `label` of the whole volume, which is never in memory. What is done is
    kept in a folder beside the target, ``TARGET.partial``, until all is: if the process is killed,
    the same call goes on where it ended.

    Parameters
    ----------
    source : str or path-like
        An array of Zarr, of version 2 or 3, in a folder, or a .npy file in C order.
    target : str or path-like
        What to write: a .npy file by that name, or else an array of Zarr in chunks as those of the
        source. It must not exist.
    background, connectivity, structure, tolerance, periodic, numbering
        As of `label`.
    dtype : dtype, optional
        Of the labels, of integers; by default int32 where every index fits, else int64.
    memory : str or int, optional
        The most memory that the process may take, such as ``"4G"``, on Linux by the system's help.
        So many chunks are worked on at once as fit.
    progress : callable, optional
        Called with the number of steps done, of which each chunk has two, and of all.

    Returns
    -------
    int
        The number of components.

    Raises
    ------
    FileNotFoundError, FileExistsError
        If there is no `source`, or `target` exists.
    ValueError
        If the source is damaged or was changed, or ``TARGET.partial`` is of another input or of
        other arguments; if a chunk does not fit into `memory`, or another argument does not fit.
    TypeError
        If an argument is not of its type.
    ImportError
        If a volume is of Zarr, and zarr is not installed.
    MemoryError
        If there is too little memory, or more than `memory` would be needed.

    See Also
    --------
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
    ...     count = conncomp.label_file(image, labels)
    ...     count, np.load(labels)
    (3, array([[1, 1, 0, 2],
           [0, 0, 0, 2],
           [3, 0, 2, 0]], dtype=int32))
    """
    check_choice("numbering", numbering, ("consecutive", "roots"))
    given, wanted = as_path(source), as_path(target)
    if os.path.lexists(wanted):
        raise FileExistsError(17, "exists; remove it, or choose another name", wanted)
    if not is_npy(wanted):
        optional("zarr")
    volume = open_volume(given)
    layout, rules = rules_of_image(
        chunks_of(volume),
        volume.dtype,
        background=background,
        connectivity=connectivity,
        structure=structure,
        tolerance=tolerance,
        periodic=periodic,
    )
    kind = _label_type(dtype, math.prod(volume.shape))
    limit = None if memory is None else _bytes(memory)
    job = Job(volume, layout, kind, progress, _workers(volume, limit))
    told = {
        "shape": list(volume.shape),
        "chunks": list(volume.chunks),
        "dtype": [str(volume.dtype), str(kind)],
        "arguments": _digest(rules, numbering),
        "source": volume.identity(),
    }
    folder = Path(f"{wanted}.partial")
    try:
        with memory_limit(limit):
            return job.run(rules, numbering, folder, told, Path(wanted))
    except MemoryError as error:
        if limit is None:
            raise
        raise MemoryError(
            f"memory={in_words(limit)} is too little for chunks of shape {volume.chunks} and their "
            f"components ({error}); give more: what is done is kept in {folder}"
        ) from error


def chunks_of(volume: Volume) -> list[list[int]]:
    """Return the lengths of the chunks of a volume along each axis."""
    return [
        [min(chunk, length - begin) for begin in range(0, length, chunk)]
        for length, chunk in zip(volume.shape, volume.chunks, strict=True)
    ]


def _digest(rules: Rules, numbering: Numbering) -> str:
    """Return what tells labellings apart."""
    arguments = (rules.shape, rules.neighbourhood, rules.links, rules.crossed, numbering)
    return sha256(repr(arguments).encode()).hexdigest()


def _label_type(dtype: DTypeLike | None, size: int) -> np.dtype[Any]:
    if dtype is None:
        return np.dtype(np.int32 if size <= INT32_MAX else np.int64)
    try:
        kind = np.dtype(dtype)
    except TypeError:
        kind = np.dtype(object)
    if kind.kind not in "iu":
        raise TypeError(f"dtype={shown(dtype)} must be a type of integers")
    return kind


def _bytes(memory: str | int) -> int:
    if isinstance(memory, str):
        return parse_bytes(memory)
    if isinstance(memory, bool) or not isinstance(memory, (int, np.integer)) or memory <= 0:
        raise TypeError(f"memory={shown(memory)} must be a number of bytes, or text such as '4G'")
    return int(memory)


def _workers(volume: Volume, limit: int | None) -> int:
    """Return how many chunks are worked on at once."""
    threads: int = native.get_num_threads()
    if limit is None:
        return threads
    chunk = math.prod(volume.chunks) * (2 * volume.dtype.itemsize + ELEMENT)
    now = resident_memory() + FIXED
    if now + chunk > limit:
        raise ValueError(
            f"memory={in_words(limit)} is too little: the program and a chunk of shape "
            f"{volume.chunks} take {in_words(now + chunk)}; give more, or rechunk the source"
        )
    return max(1, min(threads, (limit - now) // chunk))


@dataclass(frozen=True)
class Chunk:
    """Stands for the values of a chunk."""

    index: Index


@dataclass(frozen=True)
class Reported:
    """Stands for the report of a chunk, which is in a file."""

    index: Index


@dataclass(frozen=True)
class Later:
    """Stands for what a function will return, when it is asked for."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]


class Job:
    """The engine of the stages: reads, labels and writes chunks in threads, other things at once.

    Parameters
    ----------
    volume : Volume
    layout : Layout
    dtype : dtype
        Of the labels.
    progress : callable or None
    workers : int
        How many chunks are worked on at once.
    """

    def __init__(
        self,
        volume: Volume,
        layout: Layout,
        dtype: np.dtype[Any],
        progress: Progress | None,
        workers: int,
    ) -> None:
        self._volume, self._layout, self._dtype = volume, layout, dtype
        self._progress, self._done, self._lock = progress, 0, Lock()
        self._workers = workers
        self._tasks: list[Future[None]] = []

    def run(
        self, rules: Rules, numbering: Numbering, folder: Path, told: dict[str, Any], target: Path
    ) -> int:
        """Label all chunks; return the number of components."""
        self._kept = Kept(folder, told, ".npy" if is_npy(str(target)) else "")
        if self._kept.is_new:
            remove(self._kept.labels)
            create_volume(str(self._kept.labels), self._volume, self._dtype)
            self._kept.begin()
        self._write = writer_of(str(self._kept.labels))
        values = {index: Chunk(index) for index in self._layout.indices()}
        with ThreadPoolExecutor(self._workers) as self._pool:
            try:
                result = stages.label_all(
                    self,
                    self._layout,
                    rules,
                    values,
                    numbering,
                    self._dtype,
                    values,
                )
                self._wait()
            finally:
                self._pool.shutdown(wait=True, cancel_futures=True)
        if self._volume.identity() != told["source"]:
            raise ValueError(f"{self._volume.path}: was changed while it was read")
        os.replace(self._kept.labels, target)
        remove(folder)
        return int(sum(int(np.sum(counts)) for counts in result.counts.values()))

    def __call__(
        self, name: str, index: Index, function: Callable[..., Any], *arguments: Any
    ) -> Any:
        """Call a function, as ``engine.py`` says."""
        if name == "label":
            self._start(self._report, index, function, arguments)
            return Reported(index)
        if name == "again":
            return Later(function, arguments)
        if name in ("roots", "numbers"):
            self._start(self._label, index, function, arguments)
            return None
        if name == "labels":
            return self._write_labels(index, function(*arguments))
        self._wait()
        result = function(*map(self._resolved, arguments))
        if name == "count" or name.startswith("first-"):
            # A number for each row of chunks, of all chunks: these go to the disk, too.
            return self._kept.set_aside(f"{name}-{'-'.join(map(str, index))}", result)
        return result

    def _start(self, task: Callable[..., None], *arguments: Any) -> None:
        self._tasks.append(self._pool.submit(task, *arguments))

    def _wait(self) -> None:
        """Wait for what threads do; raise what went wrong."""
        tasks, self._tasks = self._tasks, []
        done, others = wait(tasks, return_when=FIRST_EXCEPTION)
        for task in others:
            task.cancel()
        for task in done:
            task.result()

    def _resolved(self, argument: Any) -> Any:
        if isinstance(argument, Chunk):
            return self._volume.read(place_of(self._layout, argument.index))
        if isinstance(argument, Reported):
            return self._kept.report(argument.index)
        if isinstance(argument, SetAside):
            return argument.arrays()
        if isinstance(argument, Later):
            return argument.function(*map(self._resolved, argument.arguments))
        return argument

    def _report(self, index: Index, function: Callable[..., Any], arguments: Any) -> None:
        if not self._kept.has_report(index):
            self._kept.keep_report(index, function(*map(self._resolved, arguments)))
        self._step()

    def _label(self, index: Index, function: Callable[..., Any], arguments: Any) -> None:
        if index not in self._kept.done:
            self._write_labels(index, function(*map(self._resolved, arguments)))
        else:
            self._step()

    def _write_labels(self, index: Index, labels: NDArray[Any]) -> None:
        self._write(place_of(self._layout, index), labels)
        self._kept.finish(index)
        self._step()

    def _step(self) -> None:
        with self._lock:
            self._done += 1
            if self._progress is not None:
                self._progress(self._done, 2 * self._layout.chunks)
