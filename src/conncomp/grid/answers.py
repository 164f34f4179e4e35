"""How a question is answered: the labels of an array."""

from __future__ import annotations

from contextlib import nullcontext
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._algorithms import Algorithm, Task
from conncomp._arrays import Output, in_library, move_from_gpu
from conncomp.grid.algorithms import ALGORITHMS
from conncomp.grid.array import Array
from conncomp.grid.question import Question
from conncomp.kernels.cuda.grid.image import Image
from conncomp.kernels.cuda.launcher import Gpu, current_gpu
from conncomp.kernels.cuda.workspace import Workspace

Labels = NDArray[Any]


def output_of(array: Array, xp: Any, out: Any = None) -> Output:
    """Return where the labels of an array go, which lies where those of `xp` do.

    What goes on until nothing changes would go on for ever while the caller changes `out`; other
    algorithms check what they read back of it. Labels that come from a GPU are copied in any case.
    """
    question, shape = array.question, array.values.shape
    on_cpu = question.device == "cpu"
    return Output(
        shape,
        prod(shape[question.batch_axes :]),
        question.dtype,
        out,
        (array.given,),
        lowest=0 if question.consecutive else -1,
        private=(
            out is not None
            and (on_cpu or xp is not np)
            and _engine_of(question).waits(dict(question.options))
        ),
        xp=xp,
        # Where labels are indices in the whole array meanwhile.
        largest_index=0 if on_cpu else prod(shape),
    )


def _engine_of(question: Question) -> Algorithm:
    return ALGORITHMS[question.device][question.algorithm]


def run_algorithm(
    question: Question, problem: Any, labels: Any, gpu: Gpu | None = None, memory: Any = None
) -> Any:
    """Fill the labels of an `Array` on the CPU, or of an `Image`, as an `Algorithm` does."""
    engine, options = _engine_of(question), dict(question.options)
    if engine.check is not None:
        engine.check(problem, **options)
    task = Task(gpu, labels, memory, question.consecutive, question.counted)
    return engine.fill(problem, task, **options)


def fill_on_gpu(
    question: Question, gpu: Gpu, image: Image, labels: Any, workspace: Workspace | None
) -> Any:
    """Fill `labels`; return how many components each item has, if wanted, on the GPU."""
    if image.size == 0:
        return gpu.xp.zeros(image.items, np.int64)
    with Workspace() if workspace is None else workspace as memory:
        return run_algorithm(question, image, labels, gpu, memory)


def label_array(
    array: Array, out: Any = None, workspace: Workspace | None = None
) -> Labels | tuple[Labels, int] | tuple[Labels, Labels]:
    """Return what `label` does."""
    question = array.question
    with nullcontext() if array.in_main_memory else array.stream():
        output = output_of(array, np if array.in_main_memory else current_gpu().xp, out)
        if question.device == "cpu":
            counts = run_algorithm(question, array, output.labels)
        else:
            counts = _fill_by_gpu(array, output.labels, workspace)
        labels: Labels = output.finish(array.library)
        if not question.counted:
            return labels
        # What would have to wait for the GPU stays there.
        if not question.batch_axes and (question.consecutive or array.in_main_memory):
            return labels, int(counts[0])
        return labels, in_library(counts.reshape(array.batch_shape), array.library)


def _fill_by_gpu(array: Array, labels: Any, workspace: Workspace | None) -> Any:
    """Do what `fill_on_gpu` does for labels that lie where the caller's array does."""
    question, gpu, image = array.question, current_gpu(), array.image
    if not array.in_main_memory:
        return fill_on_gpu(question, gpu, image, labels, workspace)
    filled = gpu.xp.empty(labels.shape, labels.dtype)
    counts = fill_on_gpu(question, gpu, image, filled, workspace)
    move_from_gpu(filled, labels)
    return move_from_gpu(counts) if question.counted else None


def at_both_faces(xp: Any, labels: Any, axis: int, rows: int, background: int) -> Any:
    """Return for each number below `rows` whether it is a label on both faces along an axis."""
    occurs = xp.zeros((2, rows), bool)
    for side in (0, -1):
        face = labels.take(side, axis)
        occurs[side][face[face != background]] = True
    return occurs.all(axis=0)
