"""Estimates of the memory and time that `label_file` takes, from a few neighbouring blocks.

These are labelled as all will be, into a temporary folder. Time and files grow with the number of
blocks; memory is that of the blocks that are worked on at once, and of tables of the components on
faces of all blocks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from conncomp.chunked.volumes import labelling
from conncomp.chunked.volumes.formats.zarr_arrays import ZarrVolume
from conncomp.chunked.volumes.sample import sampled, window_of
from conncomp.chunked.volumes.volume import block_shape, counts_of
from conncomp.files.access import StrPath

# Bytes that a component on faces takes in all tables, for each block that it is in.
COMPONENT = 200


@dataclass(frozen=True)
class LabelPlan:
    """The time, memory and disk space of `label_file`, as `plan_labels` estimates them.

    Attributes
    ----------
    shape : tuple of int
        The shape of the volume.
    dtype : str
    block_shape : tuple of int
        The shape that a thread labels at once.
    blocks : int
    sampled : int
        How many of them were labelled to know.
    threads : int
        How many blocks are worked on at once.
    memory : int
        Bytes that the call adds, at most, to what the process holds already.
    process : int
        Bytes that a process of its own takes at most, such as ``conncomp label``: its least limit.
    labels : int
        Bytes that the labels will take on the disk.
    kept : int
        Bytes that lie in ``TARGET.partial`` meanwhile, beside them.
    seconds : float
        The time of labelling, on this machine as busy as it is.
    """

    shape: tuple[int, ...]
    dtype: str
    block_shape: tuple[int, ...]
    blocks: int
    sampled: int
    threads: int
    memory: int
    process: int
    labels: int
    kept: int
    seconds: float


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
    seconds. Others may be of another kind.

    Parameters
    ----------
    source : str or path-like
        As of `label_file`.
    background, connectivity, periodic, batch_axes, key, channel, threshold
        As of `label_file`.
    memory : str or int, optional
        The limit of a process of its own; one that holds more already needs a larger one.

    Returns
    -------
    LabelPlan
        It is for consecutive labels of all components, in seconds and bytes.

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
    >>> plan.blocks, plan.block_shape, plan.memory < plan.process, plan.seconds < 60
    (1, (40, 50, 60), True, True)
    """
    asked = {"background": background, "connectivity": connectivity, "periodic": periodic}
    arguments = labelling.Arguments(asked, batch_axes, threshold)
    limit = None if memory is None else labelling.bytes_of_memory(memory)
    with labelling.opened(source, key, channel) as volume:
        kind = arguments.rules(volume)[1].label_type
        threads = labelling.workers_of(volume, limit, labelling.PROGRAM)
        window = window_of(volume)
        suffix = "" if isinstance(volume, ZarrVolume) else ".npy"
        sample = sampled(window, kind, labelling.run_of(volume, arguments, threads), suffix)
        blocks = math.prod(counts_of(volume.shape, block_shape(volume)))
        times = blocks / sample.blocks
        at_once = min(threads, blocks)
        tables = int(COMPONENT * times * sample.components)
        added = labelling.FIXED + at_once * labelling.bytes_of_block(volume) + tables
        return LabelPlan(
            shape=volume.shape,
            dtype=str(volume.dtype),
            block_shape=block_shape(volume),
            blocks=blocks,
            sampled=sample.blocks,
            threads=at_once,
            memory=added,
            process=labelling.PROGRAM + added,
            labels=int(sample.labels * math.prod(volume.shape) / math.prod(window.shape)),
            kept=int(sample.kept * times),
            seconds=sample.seconds * times,
        )
