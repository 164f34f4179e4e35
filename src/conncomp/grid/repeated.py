"""First and later calls of `label` with one key: later ones reuse what the first one decided.

Which kernels run depends on a call's key: shapes, strides, dtypes and options, not values.

    `answer_first_call`   check, describe, plan, fill    keep an `ImageKind`, or record the launches
    `call_again`          look the key up, new labels, fill

On the CPU C++ checks that the arrays of a later call fit, once it holds their memory; a call that
it refuses goes the long way, which says why. It takes 2 microseconds of Python, not 20. On a GPU
launches are replayed with other addresses, as one CUDA graph: 256 x 256 in 10 microseconds, not 80.
A recording belongs to its memory: the caller's workspace, or one for all calls without.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import Any

import numpy as np

from conncomp._arguments import INDEX_TYPES, INT32_MAX
from conncomp._array_storage import new_array
from conncomp._core import native
from conncomp._cuda_arrays import (
    CallKey,
    Counted,
    RecordedFill,
    cuda_library_named,
    cuda_library_of,
    recorded_with,
)
from conncomp._label_output import check_output
from conncomp.grid.answers import Answer, Labels, answer, fill_array, fill_on_gpu
from conncomp.grid.array import Array
from conncomp.grid.on_cpu import NativeImage
from conncomp.kernels.cuda.launcher import DeviceArray, are_watched, current_gpu
from conncomp.kernels.cuda.workspace import OwnWorkspaces, Workspace

# With more keys all are forgotten.
MOST_ON_CPU, MOST_ON_GPU = 1024, 256
# The largest arrays and memory, in bytes, of recorded calls without a workspace. It stays
# allocated: 60 to 90 MB for the largest arrays whose values are compared, more for others.
MOST_ELEMENTS, MOST_MEMORY = 1 << 26, 1 << 27

# On the CPU, by key: native.ImageKind, and the shape of the numbers, None if they are not wanted.
_on_cpu: dict[Hashable, tuple[Any, tuple[int, ...] | None]] = {}
_UNKNOWN = None, None
_workspaces = OwnWorkspaces()  # on a GPU, by device, of calls without one
_too_large: dict[Hashable, bool] = {}  # keys of more than `MOST_MEMORY`


def call_again(values: Any, workspace: Any, asked: Hashable, out: Any) -> tuple[CallKey, Any]:
    """Return the key of a call of `label`, and its result.

    The result is None if nothing is kept for the key, or that does not take `out`.
    """
    if type(values) is not np.ndarray or workspace is not None:
        return _again_on_gpu(values, workspace, asked, out)
    call_key = values.dtype, values.shape, values.strides, asked
    image_kind, shape = _on_cpu.get(call_key, _UNKNOWN)
    if image_kind is None:
        return call_key, None
    labels = out
    if out is None:
        labels = new_array(np, values.shape, INDEX_TYPES[0])
    elif type(out) is not np.ndarray:
        labels = check_output(out, values.shape, None, (values,), np)
    num = image_kind.label(values, labels) if labels.dtype == INDEX_TYPES[0] else None
    if num is None:
        return call_key, None
    result = labels if out is None else out
    if shape is None:
        return call_key, result
    return call_key, (result, num.reshape(shape) if shape else num)


def _again_on_gpu(values: Any, workspace: Any, asked: Hashable, out: Any) -> tuple[CallKey, Any]:
    library = cuda_library_of(values)
    is_other = workspace is not None and type(workspace) is not Workspace
    if library is None or is_other or are_watched():
        return None, None
    gpu = current_gpu()
    layout = library.layout(values, gpu.device)
    if layout is None:
        return None, None
    call = type(values), layout, asked
    memory, call_key = recorded_with(gpu, library, workspace, _workspaces, call)
    recorded = None if memory is None else memory.calls.get(call_key)
    if memory is None or recorded is None or not recorded.takes(out, values):
        return call_key, None
    labels, numbers = recorded(memory, out, library.address(values))
    return call_key, labels if numbers is None else (labels, numbers)


def answer_first_call(
    call_key: CallKey, array: Array, out: Any = None, workspace: Workspace | None = None
) -> Answer:
    """Label an array; keep how for later calls, unless the key is None."""
    fill = partial(fill_array, array, workspace)
    if call_key is not None and array.reads_given and array.question.algorithm == "auto":
        first = _first_fill_on_cpu if array.in_memory else _first_fill_on_gpu
        fill = partial(first, call_key, array, workspace)
    return answer(array, out, fill)


def _first_fill_on_cpu(
    call_key: CallKey, array: Array, workspace: Workspace | None, labels: Labels
) -> Any:
    """Fill labels in main memory; if they are int32, by an `ImageKind`, kept for later calls."""
    values, question = array.values, array.question
    if labels.dtype == INDEX_TYPES[0] and values.size <= INT32_MAX:
        image, layout = NativeImage(array), (values.shape, values.strides, question.batch_axes)
        image_kind = native.ImageKind(image.rule, image.grid, question.consecutive, *layout)
        num = image_kind.label(values, labels)
        if num is not None:
            batch_shape = array.batch_shape if question.counted else None
            if len(_on_cpu) >= MOST_ON_CPU:
                _on_cpu.clear()
            _on_cpu[call_key] = image_kind, batch_shape
            return num.reshape(batch_shape) if batch_shape else num
    return fill_array(array, workspace, labels)


def _first_fill_on_gpu(
    call_key: CallKey, array: Array, workspace: Workspace | None, labels: DeviceArray
) -> Any:
    """Fill labels of an array in GPU memory, and record the launches if they fit."""
    question, is_own, gpu = array.question, workspace is None, current_gpu()
    is_large = is_own and (call_key in _too_large or array.values.size > MOST_ELEMENTS)
    if is_large or labels.dtype != INDEX_TYPES[0]:  # of the dtype of `out`
        return fill_array(array, workspace, labels)
    counted: Counted = "copied" if is_own else "left"
    if not question.counted:
        counted = "unasked"
    elif question.consecutive and not question.batch_axes:
        counted = "told"
    # No other call writes to the counts of components before they are read.
    with workspace or _workspaces.take(gpu.device, gpu.current_stream()) as memory:
        recorded = record_fill(array, memory, labels, counted)
        if recorded is None:
            return fill_array(array, workspace, labels)
        if is_own and memory.nbytes > MOST_MEMORY:
            _keep(_too_large, call_key, True, MOST_ON_GPU)
            _workspaces.clear()
        else:
            _keep(memory.calls, call_key, recorded, MOST_ON_GPU)
        return recorded.first


def _keep(calls: dict[Hashable, Any], call_key: Hashable, kept: Any, most: int) -> None:
    if len(calls) >= most:
        calls.clear()
    calls[call_key] = kept


def record_fill(
    array: Array, workspace: Workspace, labels: DeviceArray, counted: Counted
) -> RecordedFill | None:
    """Fill labels, a CuPy array, by a first call in GPU memory; record its launches.

    The algorithm does not wait. Return None, with nothing filled, if it would read a copy.
    """
    if not array.reads_given:
        return None
    gpu, image, library = current_gpu(), array.image, cuda_library_named(array.library)
    if image.values is not array.values or library is None:
        return None
    fill = partial(fill_on_gpu, array.question, gpu, image, labels, workspace)
    of_array = array.batch_shape, image.values
    return RecordedFill.record(gpu, fill, labels, library, workspace, counted, *of_array)
