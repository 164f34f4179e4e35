"""How a question is answered: the labels of an array."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._arrays import Output, check_kind, in_library, move_from_gpu
from conncomp.gpu import Workspace, check_workspace
from conncomp.grid._bonds import describe_bonds, lattice_of, with_even_items
from conncomp.grid._values import describe_values
from conncomp.grid.array import Array, Given, placed_on, read_bonds, read_image, stream_of
from conncomp.grid.question import OF_VALUES, Question
from conncomp.kernels.cuda.grid.image import Image
from conncomp.kernels.cuda.launcher import Gpu, current_gpu

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


def fill_on_cpu(question: Question, array: Array, labels: Labels) -> Labels:
    """Fill `labels`; return how many components each item has."""
    engine, options = question.engine, dict(question.options)
    engine.check(array, **options)
    task = question.consecutive, question.counted
    counts: Labels = engine.fill(None, array, labels, None, *task, **options)
    return counts


def fill_on_gpu(
    question: Question, gpu: Gpu, image: Image, labels: Any, workspace: Workspace | None
) -> Any:
    """Fill `labels`; return how many components each item has, if wanted, on the GPU."""
    if image.size == 0:
        return gpu.xp.zeros(image.items, np.int64)
    engine, options = question.engine, dict(question.options)
    engine.check(image, **options)
    task = question.consecutive, question.counted
    with Workspace() if workspace is None else workspace as memory:
        return engine.fill(gpu, image, labels, memory, *task, **options)


def read(question: Question, values: Any) -> Array:
    """Return an array of any library as a question is asked of it that was not made for it."""
    if question.of_bonds:
        given = read_bonds(values)
        shape, _ = lattice_of(given.array, question.batch_axes, values)
    else:
        given = read_image(values)
        check_kind(given.array, "biuf", values, "label_image", OF_VALUES)
        shape = given.array.shape
    ndim = question.batch_axes + len(question.neighbourhood.periodic)
    if len(shape) != ndim:
        raise ValueError(f"a chunk has shape {shape}, and the array has {ndim} axes")
    return array_of(question, given)


def array_of(question: Question, given: Given, *, even_items: bool = False) -> Array:
    """Return an array as a question is asked of it.

    `even_items` says whether lattices of bonds must lie at equal distances in memory, as they must
    on a GPU.
    """
    batch, values = question.batch_axes, given.array
    if question.of_bonds:
        if even_items or question.device == "cuda":
            with stream_of(values, given.library):
                values = placed_on(question.device, with_even_items(values, batch))
        values, links = describe_bonds(values, batch)
    else:
        of_values = question.background, given.mask, question.tolerance
        values, links = describe_values(values, *of_values)
        values = placed_on(question.device, values)
    return Array(given.array, given.library, values, links, question.neighbourhood, batch)


def image_of(array: Array) -> Image:
    """Return an array on the GPU as kernels there take it."""
    return Image(array.values, array.links, array.neighbourhood, array.batch_axes)


def label_array(
    array: Array, question: Question, out: Any = None, workspace: Workspace | None = None
) -> Labels | tuple[Labels, int] | tuple[Labels, Labels]:
    """Return what `label` does."""
    check_workspace(workspace)
    with array.stream():
        xp = np if array.in_main_memory else current_gpu().xp
        output = output_of(question, array.shape, array.given, xp, out)
        counts = _fill(question, array, output.labels, workspace)
        labels = output.finish()
        result: Labels = in_library(labels, array.library) if out is None else labels
        if not question.counted:
            return result
        # What would have to wait for the GPU stays there.
        if not array.batch_axes and (question.consecutive or array.in_main_memory):
            return result, int(counts[0])
        return result, in_library(counts.reshape(array.batch_shape), array.library)


def _fill(question: Question, array: Array, labels: Any, workspace: Workspace | None) -> Any:
    """Fill labels, which lie where the caller's array does; return the number of components.

    Of each item, if wanted, where `labels` lie.
    """
    if question.device == "cpu":
        return fill_on_cpu(question, array, labels)
    gpu, image = current_gpu(), image_of(array)
    if not array.in_main_memory:
        return fill_on_gpu(question, gpu, image, labels, workspace)
    filled = gpu.xp.empty(labels.shape, labels.dtype)
    counts = fill_on_gpu(question, gpu, image, filled, workspace)
    move_from_gpu(filled, labels)
    return move_from_gpu(counts) if question.counted else None
