"""Recorded calls of `label` on a GPU, replayed without the Python that decided their launches.

Which kernels are launched, on how many blocks and with which arguments, depends on the kind of a
call: on shapes, strides, dtypes and options, not on the values. The first call of a kind records
its launches, and later ones replay them with the addresses of their arrays:

    first call      check, describe, plan, allocate, launch ... launch     record
    later ones      look the kind up, new labels, replay

Cost: ten microseconds for an image of 256 x 256 instead of eighty, two of them for all launches,
which are one CUDA graph. A recording belongs to the memory that it needs: the caller's workspace,
or one for all calls without.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import Any

from conncomp._arguments import INDEX_TYPES
from conncomp._arrays import in_library
from conncomp._cuda_arrays import Counted, CudaLibrary, RecordedFill, cuda_library_of, recorded_with
from conncomp.grid.answers import fill_on_gpu, image_of, label_array, output_of
from conncomp.grid.array import Array
from conncomp.grid.question import Question
from conncomp.kernels.cuda.launcher import are_watched, current_gpu
from conncomp.kernels.cuda.workspace import OwnWorkspaces, Workspace


def record_fill(
    array: Array,
    question: Question,
    workspace: Workspace,
    library: CudaLibrary,
    labels: Any,
    counted: Counted,
) -> RecordedFill:
    """Fill labels, of CuPy, of an array in GPU memory, and record the launches on this stream.

    The question is of an algorithm that does not wait; arrays of `library` are labelled later.
    """
    gpu, image = current_gpu(), image_of(array)
    fill = partial(fill_on_gpu, question, gpu, image, labels, workspace)
    arrays, reads = (image.values, labels), bounds_of(array.given)
    shape = array.batch_shape
    return RecordedFill(gpu, fill, arrays, library, workspace, shape, counted, reads)


def bounds_of(array: Any) -> tuple[int, int]:
    """Return where an array's memory begins and ends, in bytes from its first element."""
    reaches = [stride * (n - 1) for stride, n in zip(array.strides, array.shape, strict=True)]
    return sum(min(r, 0) for r in reaches), sum(max(r, 0) for r in reaches) + array.itemsize


# Where `label` works that goes this way, and with what.
DEVICE, WORKSPACES = "cuda", (type(None), Workspace)
# The largest arrays and memory, in bytes, of recorded calls without a workspace. The memory stays
# allocated: 60 to 90 MB for the largest arrays whose values are compared, more for others.
MOST_ELEMENTS, MOST_MEMORY = 1 << 26, 1 << 27
# With more kinds all are forgotten: each array is of another kind then.
MOST_KINDS = 256

_too_large: set[Hashable] = set()  # kinds that need more memory
_workspaces = OwnWorkspaces()  # by device, of calls without one


def call_again(
    label_image: Any, workspace: Workspace | None, options: Hashable, out: Any
) -> tuple[Any, Any]:
    """Return the kind of a call of `label` on a GPU, and what the call returns.

    The kind is the memory that its launches are recorded with, and their key there; None if they
    are not recorded. The other is None if there is no recording, or it does not fill `out`.
    """
    library = cuda_library_of(label_image)
    if library is None or are_watched():
        return None, None
    gpu = current_gpu()
    layout = library.layout(label_image, gpu.device)
    if layout is None:
        return None, None
    kind = recorded_with(gpu, library, workspace, _workspaces, type(label_image), layout, options)
    memory, key = (None, None) if kind is None else kind
    repeated = None if memory is None else memory.calls.get(key)
    if repeated is None or not repeated.takes(out, label_image):
        return kind, None
    assert memory is not None
    labels, numbers = repeated(memory, out, library.address(label_image))
    return kind, labels if numbers is None else (labels, numbers)


def may_be_recorded(array: Array) -> bool:
    """Whether launches read an array, and not a copy of it."""
    values = array.values
    return values.size > 0 and values is array.given and image_of(array).values is values


def will_be_recorded(array: Array, workspace: Workspace | None) -> bool:
    """Whether the launches of an array are recorded for other calls of `label`."""
    fits = workspace is not None or array.values.size <= MOST_ELEMENTS
    return fits and not array.in_main_memory and may_be_recorded(array)


def first_call(
    kind: Any, given: Any, array: Array, question: Question, out: Any, workspace: Workspace | None
) -> Any:
    """Return what `label` does, and record the launches for later calls of the kind if allowed."""
    _, key = kind
    is_own = workspace is None
    if (is_own and key in _too_large) or not will_be_recorded(array, workspace):
        return label_array(array, question, out, workspace)
    library = cuda_library_of(given)
    assert library is not None
    with array.stream():
        gpu = current_gpu()
        output = output_of(question, array.shape, array.given, gpu.xp, out)
        if output.labels.dtype != INDEX_TYPES[0]:  # as those of `out`
            return label_array(array, question, out, workspace)
        # No other call writes to the counts of components before they are read.
        with workspace or _workspaces.take(gpu.device, gpu.current_stream()) as memory:
            counted = _counted(array, question, is_own)
            recorded = record_fill(array, question, memory, library, output.labels, counted)
            if is_own and memory.nbytes > MOST_MEMORY:
                _give_back(key)
            else:
                _keep(key, recorded, memory.calls)
            labels = output.finish()
            if out is None:
                labels = in_library(labels, array.library)
            return labels if recorded.first is None else (labels, recorded.first)


def _counted(array: Array, question: Question, is_own: bool) -> Counted:
    """Return what launches say of the numbers of components; `is_own` without a workspace."""
    if not question.counted:
        return "unasked"
    if question.consecutive and not array.batch_axes:
        return "told"
    return "copied" if is_own else "left"


def _keep(key: Hashable, recorded: RecordedFill, calls: dict[Hashable, Any]) -> None:
    """Keep the recording of a kind, and of no more than `MOST_KINDS`."""
    if len(calls) >= MOST_KINDS:
        calls.clear()
    calls[key] = recorded


def _give_back(key: Hashable) -> None:
    """Give memory back of which a kind takes too much, and remember that."""
    if len(_too_large) >= MOST_KINDS:
        _too_large.clear()
    _too_large.add(key)
    _workspaces.clear()
