"""Answers to questions about arrays.

`run_algorithm` calls an algorithm of the table; what is around it allocates labels, and moves them
to the caller's device.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._algorithms import Task
from conncomp._array_storage import move_from_gpu
from conncomp._arrays import in_library
from conncomp._label_output import Output
from conncomp.grid.algorithms import ALGORITHMS
from conncomp.grid.array import Array, Question
from conncomp.kernels.cuda.grid.image import Image
from conncomp.kernels.cuda.launcher import DeviceArray, Gpu, current_gpu
from conncomp.kernels.cuda.workspace import Workspace

Labels = NDArray[Any]
Answer = Labels | tuple[Labels, Any]  # with the number of components, or that of each item


def answer(array: Array, out: Any, fill: Callable[[Any], Any]) -> Answer:
    """Return the labels, where the caller's array lies, and, if wanted, the numbers of components.

    ``fill(labels)`` returns these numbers as `label` does.
    """
    question, shape = array.question, array.values.shape
    on_cpu, in_memory = question.device == "cpu", array.in_memory
    with nullcontext() if in_memory else array.stream():
        output = Output(
            shape,
            prod(shape[question.batch_axes :]),
            question.dtype,
            out,
            (array.given,),
            lowest=0 if question.consecutive else -1,
            # An algorithm that goes on until nothing changes might never end while the caller
            # changes `out`; other algorithms check what they read back from it. Labels from a GPU
            # are copied in any case.
            private=(
                out is not None
                and (on_cpu or not in_memory)
                and ALGORITHMS[question.device][question.algorithm].waits(dict(question.options))
            ),
            xp=np if in_memory else current_gpu().xp,
            # On a GPU labels are, in between, indices into the whole array.
            largest_index=0 if on_cpu else prod(shape),
        )
        numbers = fill(output.labels)
        labels: Labels = output.finish(array.library)
        return (labels, numbers) if question.counted else labels


def label_array(array: Array, out: Any = None, workspace: Workspace | None = None) -> Answer:
    """Return what `label` does."""
    return answer(array, out, partial(fill_array, array, workspace))


def fill_array(array: Array, workspace: Workspace | None, labels: Any) -> Any:
    """Fill labels, where the caller's array lies; return the numbers of components if wanted.

    An int, or int64 of the shape of the batch axes, in the caller's library.
    """
    question, in_memory = array.question, array.in_memory
    if question.device == "cpu":
        counts = run_algorithm(question, array, labels)
    else:
        gpu = current_gpu()
        filled = gpu.xp.empty(labels.shape, labels.dtype) if in_memory else labels
        counts = fill_on_gpu(question, gpu, array.image, filled, workspace)
        if in_memory:
            move_from_gpu(filled, labels)
            counts = move_from_gpu(counts) if question.counted else None
    if not question.counted:
        return None
    # What would have to wait for the GPU stays there.
    if not question.batch_axes and (question.consecutive or in_memory):
        return int(counts[0])
    return in_library(counts.reshape(array.batch_shape), array.library)


def run_algorithm(
    question: Question,
    problem: Array | Image,
    labels: Labels | DeviceArray,
    gpu: Gpu | None = None,
    workspace: Workspace | None = None,
) -> Any:
    """Fill the labels of an `Array` (CPU) or `Image` (GPU); return what `Algorithm.fill` does."""
    algorithm, options = ALGORITHMS[question.device][question.algorithm], dict(question.options)
    if algorithm.check is not None:
        algorithm.check(problem, **options)
    task = Task(gpu, labels, workspace, question.consecutive, question.counted)
    return algorithm.fill(problem, task, **options)


def fill_on_gpu(
    question: Question, gpu: Gpu, image: Image, labels: DeviceArray, workspace: Workspace | None
) -> Any:
    """Fill `labels`; return the numbers of components, int64, (items,), on the GPU, if wanted."""
    if image.size == 0:
        return gpu.xp.zeros(image.items, np.int64)
    with Workspace() if workspace is None else workspace as memory:
        return run_algorithm(question, image, labels, gpu, memory)


def at_both_faces(xp: Any, labels: Any, axis: int, rows: int, background: int) -> Any:
    """Return bool, (rows,): whether a label occurs on both faces along an axis."""
    occurs = xp.zeros((2, rows), bool)
    for side in (0, -1):
        face = labels.take(side, axis)
        occurs[side][face[face != background]] = True
    return occurs.all(axis=0)
