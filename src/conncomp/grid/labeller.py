"""`Labeller`, for loops that label arrays of one shape and dtype on a GPU."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from conncomp._arguments import INDEX_TYPES, INT32_MAX
from conncomp._arrays import in_library, on_gpu
from conncomp._cuda_arrays import CallKey, RecordedFill, cuda_library_of
from conncomp.grid._arguments import question_of_image
from conncomp.grid.answers import answer, fill_on_gpu
from conncomp.grid.array import Numbering, array_of, read_array
from conncomp.grid.repeated import record_fill
from conncomp.kernels.cuda.launcher import current_gpu
from conncomp.kernels.cuda.recordings import stream_key
from conncomp.kernels.cuda.workspace import Workspace


class Labeller:
    """Label arrays of one shape and dtype on the current GPU, again and again.

    A call does what `label` does and costs little more than its launches: no memory is taken but
    for the labels. It waits for nothing, so that a CUDA graph can capture it; the number of
    components stays on the GPU.

    Parameters
    ----------
    shape, dtype : tuple of int, dtype
        Of the arrays, of bool, integers or floating-point numbers.
    background, connectivity, structure, tolerance, periodic, batch_axes, numbering
        As of `label`.

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy.dtype
    label_dtype : numpy.dtype
        Of the labels: int32 where every index fits, else int64.

    Raises
    ------
    TypeError, ValueError, ImportError, RuntimeError
        As `label`, which keeps the launches of small arrays itself.

    Examples
    --------
    >>> import conncomp
    >>> import cupy  # doctest: +SKIP
    >>> labeller = conncomp.Labeller((2, 3), bool)  # doctest: +SKIP
    >>> labeller(cupy.array([[1, 0, 1], [1, 0, 0]], bool))  # doctest: +SKIP
    array([[1, 0, 2],
           [1, 0, 0]], dtype=int32)
    >>> labeller.counts  # doctest: +SKIP
    array([2])
    """

    def __init__(
        self,
        shape: Sequence[int],
        dtype: DTypeLike,
        background: float | None = None,
        connectivity: float | None = None,
        *,
        structure: ArrayLike | None = None,
        tolerance: float = 0,
        periodic: bool | Sequence[bool] = False,
        batch_axes: int = 0,
        numbering: Numbering = "consecutive",
    ) -> None:
        self._gpu, self._workspace = current_gpu(), Workspace()
        self._recorded: dict[Hashable, RecordedFill] = {}
        example = self._gpu.xp.zeros(tuple(shape), dtype)
        self.shape: tuple[int, ...] = example.shape
        self.dtype: np.dtype[Any] = example.dtype
        self.label_dtype: np.dtype[Any] = INDEX_TYPES[example.size > INT32_MAX]
        asked: dict[str, Any] = {"tolerance": tolerance, "periodic": periodic, "device": "cuda"}
        asked |= {"batch_axes": batch_axes, "numbering": numbering, "return_num": False}
        self._question = question_of_image(
            example, example, background, connectivity, structure, dtype=self.label_dtype, **asked
        )
        self(example)

    @property
    def counts(self) -> Any:
        """The number of components of each item, after the last call.

        An array of int64 on the GPU, of the shape of the batch axes and of the library of the last
        array; the next call on its stream writes to it.
        """
        counts, library = self._counts
        return in_library(counts[...], library)

    @property
    def nbytes(self) -> int:
        """The memory that is held on the GPU, in bytes."""
        return self._workspace.nbytes

    def __call__(self, label_image: Any, out: Any = None) -> Any:
        """Return the labels of an array.

        The first call on a stream, and with strides that are new, takes memory, and cannot be
        captured.

        Parameters
        ----------
        label_image : array
            On the GPU, of any library; of `shape` and `dtype`, with any strides.
        out : array, optional
            To write the labels to: on the GPU, C-contiguous, of `shape` and `label_dtype`, and no
            part of `label_image`. By default a new array of its library.

        Raises
        ------
        TypeError, ValueError
            If an array lies in main memory, or is of another dtype or shape, or `out` does not fit.
        """
        library = cuda_library_of(label_image)
        layout = None if library is None else library.layout(label_image, current_gpu().device)
        if library is None or layout is None:
            return self._label(label_image, out, None)
        call_key = type(label_image), layout, stream_key(library.stream(self._gpu))
        recorded = self._recorded.get(call_key)
        if recorded is None or not recorded.takes(out, label_image):
            return self._label(label_image, out, call_key)
        labels, _ = recorded(self._workspace, out, library.address(label_image))
        self._counts = recorded.counts, library.name
        return labels

    def _label(self, label_image: Any, out: Any, call_key: CallKey) -> Any:
        """Check all arguments, label, and, unless `call_key` is None, record the launches."""
        if not on_gpu(label_image):
            raise TypeError(
                f"label_image is a {type(label_image).__name__} in main memory; move it to the "
                "GPU, or label it by conncomp.label"
            )
        given = read_array(label_image, "label_image")
        self._check_fits(given.array)
        array, memory = array_of(self._question, given), self._workspace

        def fill(labels: Any) -> None:
            recorded = None if call_key is None else record_fill(array, memory, labels, "unasked")
            if recorded is None:
                counts = fill_on_gpu(self._question, self._gpu, array.image, labels, memory)
            else:
                counts, self._recorded[call_key] = recorded.counts, recorded
            self._counts = counts.reshape(array.batch_shape), array.library

        return answer(array, out, fill)

    def _check_fits(self, given: Any) -> None:
        """Raise unless an array has the Labeller's shape and dtype and lies on its GPU."""
        for what, found, aim, expected, error in (
            ("has shape", given.shape, "is for", self.shape, ValueError),
            ("is of dtype", given.dtype, "is for", self.dtype, TypeError),
            ("lies on GPU", given.device.id, "works on GPU", self._gpu.device, ValueError),
        ):
            if found != expected:
                raise error(
                    f"label_image {what} {found}, and this Labeller {aim} {expected}; make another"
                    " one for it"
                )
