"""How a question is answered: the labels of an array."""

from __future__ import annotations

from contextlib import nullcontext
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._arrays import Output, check_kind, in_library, move_from_gpu
from conncomp.grid._values import describe_bonds, describe_values, lattice_of, with_even_items
from conncomp.grid.array import Array, Given, placed_on_gpu, read_array, stream_of
from conncomp.grid.question import OF_VALUES, Question
from conncomp.kernels.cuda.grid.image import Image
from conncomp.kernels.cuda.launcher import Gpu, current_gpu
from conncomp.kernels.cuda.workspace import Workspace

Labels = NDArray[Any]


def output_of(
    question: Question, shape: tuple[int, ...], given: Any, xp: Any, out: Any = None
) -> Output:
    """Return where the labels of an array go that was given as `given`, of `xp`.

    What goes on until nothing changes would go on for ever while the caller changes `out`; other
    algorithms check what they read back of it. Labels that come from a GPU are copied in any case.
    """
    on_cpu = question.device == "cpu"
    return Output(
        shape,
        prod(shape[question.batch_axes :]),
        question.dtype,
        out,
        (given,),
        lowest=0 if question.consecutive else -1,
        private=(
            out is not None
            and (on_cpu or xp is not np)
            and question.engine.waits(dict(question.options))
        ),
        xp=xp,
        # Where labels are indices in the whole array meanwhile.
        largest_index=0 if on_cpu else prod(shape),
    )


def fill_labels(
    question: Question, problem: Any, labels: Any, gpu: Gpu | None = None, memory: Any = None
) -> Any:
    """Fill the labels of an `Array` on the CPU, or of an `Image`, as an `Algorithm` does."""
    engine, options = question.engine, dict(question.options)
    if engine.check is not None:
        engine.check(problem, **options)
    task = question.consecutive, question.counted
    return engine.fill(gpu, problem, labels, memory, *task, **options)


def fill_on_gpu(
    question: Question, gpu: Gpu, image: Image, labels: Any, workspace: Workspace | None
) -> Any:
    """Fill `labels`; return how many components each item has, if wanted, on the GPU."""
    if image.size == 0:
        return gpu.xp.zeros(image.items, np.int64)
    with Workspace() if workspace is None else workspace as memory:
        return fill_labels(question, image, labels, gpu, memory)


def read(question: Question, values: Any) -> Array:
    """Return an array of any library as a question is asked of it that was not made for it."""
    name = "bonds" if question.of_bonds else "label_image"
    given = read_array(values, name)
    if question.of_bonds:
        shape, _ = lattice_of(given.array, question.batch_axes, values)
    else:
        check_kind(given.array, "biuf", values, name, OF_VALUES)
        shape = given.array.shape
    ndim = question.batch_axes + len(question.neighbourhood.periodic)
    if len(shape) != ndim:
        raise ValueError(f"a chunk has shape {shape}, and the array has {ndim} axes")
    return array_of(question, given)


def array_of(question: Question, given: Given, *, even_items: bool = False) -> Array:
    """Return an array as a question is asked of it; items of bonds are even if they must be."""
    batch, values, on_cpu = question.batch_axes, given.array, question.device == "cpu"
    if question.of_bonds:
        if even_items or not on_cpu:
            with stream_of(values, given.library):
                values = with_even_items(values, batch)
                values = values if on_cpu else placed_on_gpu(values)
        values, links = describe_bonds(values, batch)
    else:
        of_values = question.background, given.mask, question.tolerance
        values, links = describe_values(values, *of_values)
        values = values if on_cpu else placed_on_gpu(values)
    return Array(given.array, given.library, values, links, question.neighbourhood, batch)


def image_of(array: Array) -> Image:
    """Return an array on the GPU as kernels there take it."""
    return Image(array.values, array.links, array.neighbourhood, array.batch_axes)


def label_array(
    array: Array, question: Question, out: Any = None, workspace: Workspace | None = None
) -> Labels | tuple[Labels, int] | tuple[Labels, Labels]:
    """Return what `label` does."""
    with nullcontext() if array.in_main_memory else array.stream():
        xp = np if array.in_main_memory else current_gpu().xp
        output = output_of(question, array.shape, array.given, xp, out)
        if question.device == "cpu":
            counts = fill_labels(question, array, output.labels)
        else:
            counts = _fill_by_gpu(question, array, output.labels, workspace)
        labels = output.finish()
        result: Labels = in_library(labels, array.library) if out is None else labels
        if not question.counted:
            return result
        # What would have to wait for the GPU stays there.
        if not array.batch_axes and (question.consecutive or array.in_main_memory):
            return result, int(counts[0])
        return result, in_library(counts.reshape(array.batch_shape), array.library)


def _fill_by_gpu(question: Question, array: Array, labels: Any, workspace: Workspace | None) -> Any:
    """Do what `fill_on_gpu` does for labels that lie where the caller's array does."""
    gpu, image = current_gpu(), image_of(array)
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
