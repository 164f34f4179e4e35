"""`label`: arguments, connectivity, periodicity, and the table of algorithms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import comb
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from conncomp._arguments import also_named, as_bool, as_integer, check_choice, check_options, shown
from conncomp._arrays import (
    Output,
    as_cupy,
    as_numpy_and_mask,
    caller_stream,
    check_kind,
    choose_device,
    from_cupy,
    library_of,
    move_from_gpu,
    move_to_gpu,
    native_layout,
    on_gpu,
)
from conncomp._core import native
from conncomp.gpu import Workspace
from conncomp.grid.links import equal_values
from conncomp.grid.neighbourhood import Neighbourhood
from conncomp.kernels.cuda.core.numbering import count_roots, number_roots
from conncomp.kernels.cuda.grid import tiled_bricks, tiled_elements
from conncomp.kernels.cuda.grid.image import Image
from conncomp.kernels.cuda.launcher import Gpu, current_gpu
from conncomp.kernels.cuda.papers import (
    directional_propagation,
    label_equivalence,
    local_propagation,
    neighbour_propagation,
    tiles,
)

Numbering = Literal["consecutive", "roots"]
Labels = NDArray[Any]

# Shorter rows leave part of a 64-bit word empty; longer ones are all as good.
SHORT_ROW = 64

# Work grows with the number of neighbours, which grows as 3 to the number of axes: an array of
# 32 KB with 15 axes, each element with 14 million neighbours, would take minutes.
MOST_NEIGHBOURS = 3**10

# Arguments of other libraries' functions of this name, and what takes their place here.
ELSEWHERE = {
    "structure": "connectivity=1 connects along faces, as scipy.ndimage.label does by default, and "
    "connectivity=None along edges and corners, too",
    "neighbors": "connectivity=1 stands for neighbors=4, and connectivity=None for neighbors=8",
    "neighbours": "connectivity=1 stands for neighbours=4, and connectivity=None for neighbours=8",
    "periodic_boundary": "periodic=True is what it is called here",
    "return_N": "return_num=True is what it is called here",
    "out_dtype": "dtype= is what it is called here",
    "output": "out= takes an array, and dtype= a type",
    "binary_image": "label_image != 0 is a binary image",
    "bg": "background= is what it is called here",
}

# Each takes what `_describe_values` and `_describe_axes` return, and fills `out`.
ON_CPU: dict[str, Callable[..., int]] = {"auto": native.label_runs, "runs": native.label_runs}


def _fill_by_default(
    gpu: Gpu, image: Image, labels: Any, workspace: Workspace, consecutive: bool
) -> Any:
    small = image.size <= tiled_elements.MOST * gpu.multiprocessors
    default = tiled_elements if small or not tiled_bricks.takes(image) else tiled_bricks
    return default.fill_labels(gpu, image, labels, workspace, consecutive)


# Each takes (gpu, image, roots, workspace, **options), and fills the roots; the default is told
# whether to number components, too, and returns how many there are.
ON_GPU: dict[str, Callable[..., Any]] = {
    "auto": _fill_by_default,
    "label-equivalence": label_equivalence.fill_roots,
    "neighbour-propagation": neighbour_propagation.fill_roots,
    "local-propagation": local_propagation.fill_roots,
    "directional-propagation": directional_propagation.fill_roots,
    "tiles": tiles.fill_roots,
}

# Those of them that, without options, never wait for the GPU: CUDA graphs can capture their calls.
CAPTURABLE = frozenset({"auto", "tiles"})


def algorithms(device: str) -> tuple[str, ...]:
    """Return the names of the algorithms on a device, "cpu" or "cuda"."""
    return tuple(ON_GPU) if device == "cuda" else tuple(ON_CPU)


@overload
def label(
    label_image: ArrayLike,
    background: float | None = None,
    return_num: Literal[False] = False,
    connectivity: float | None = None,
    *,
    periodic: bool | Sequence[bool] = False,
    numbering: Numbering = "consecutive",
    algorithm: str = "auto",
    dtype: DTypeLike | None = None,
    out: Labels | None = None,
    device: str | None = None,
    workspace: Workspace | None = None,
    **options: Any,
) -> Labels: ...


@overload
def label(
    label_image: ArrayLike,
    background: float | None = None,
    *,
    return_num: Literal[True],
    connectivity: float | None = None,
    periodic: bool | Sequence[bool] = False,
    numbering: Numbering = "consecutive",
    algorithm: str = "auto",
    dtype: DTypeLike | None = None,
    out: Labels | None = None,
    device: str | None = None,
    workspace: Workspace | None = None,
    **options: Any,
) -> tuple[Labels, int]: ...


@overload
def label(
    label_image: ArrayLike,
    background: float | None,
    return_num: Literal[True],
    connectivity: float | None = None,
    *,
    periodic: bool | Sequence[bool] = False,
    numbering: Numbering = "consecutive",
    algorithm: str = "auto",
    dtype: DTypeLike | None = None,
    out: Labels | None = None,
    device: str | None = None,
    workspace: Workspace | None = None,
    **options: Any,
) -> tuple[Labels, int]: ...


@also_named(label_image="image")
def label(
    label_image: ArrayLike,
    background: float | None = None,
    return_num: bool = False,
    connectivity: float | None = None,
    *,
    periodic: bool | Sequence[bool] = False,
    numbering: Numbering = "consecutive",
    algorithm: str = "auto",
    dtype: DTypeLike | None = None,
    out: Labels | None = None,
    device: str | None = None,
    workspace: Workspace | None = None,
    **options: Any,
) -> Labels | tuple[Labels, int]:
    """Label the connected regions of an array.

    Two elements are connected if they are neighbours and equal. The first four arguments and the
    result are those of `skimage.measure.label`, but for what the notes say.

    Parameters
    ----------
    label_image : array_like
        One dimension or more, of bool, integer or floating dtype, with any strides. Values are
        compared as they are: 0.25 and 0.75 differ, -0.0 equals 0.0, and a NaN equals nothing.
        Masked elements are background. The keyword ``image`` works, too.
    background : number, optional
        Elements of this value are labelled 0; 0 by default. A value that it does not hold,
        such as -1 for unsigned integers, makes every element foreground; NaN makes the NaNs
        background.
    return_num : bool, optional
        Whether to return the number of components too.
    connectivity : int, optional
        Along how many axes neighbours may differ, from 1 (faces) to ``label_image.ndim`` (faces,
        edges and corners; the default).
    periodic : bool or sequence of bool, optional
        Which axes close on themselves: one answer for all, or one for each axis.
    numbering : {"consecutive", "roots"}, optional
        "consecutive": labels 1, 2, ... in the order in which a C-order scan meets the components,
        0 for background. "roots": the smallest flat C-order index of the component, -1 for
        background.
    algorithm : str, optional
        All give the same labels. On the CPU "auto" or "runs"; on a GPU "auto",
        "label-equivalence", "neighbour-propagation", "local-propagation" or
        "directional-propagation" [1]_, or, for up to three axes, "tiles" [3]_.
    dtype : dtype or "smallest", optional
        Of the labels; by default int32 where every index fits. Other types of integers, signed or
        not, of 8 bits to 64, if the labels fit; "smallest" is the narrowest that they fit into,
        unsigned but for roots. Labels of other types than int32 and int64 are copied from one of
        these.
    out : ndarray, optional
        A C-contiguous array of integers, of the shape of `label_image`, to write the labels to,
        where `label_image` is.
    device : {None, "cpu", "cuda"}, optional
        Where to work: by default where `label_image` lies. "cuda" moves an array in main memory to
        the current GPU, and the labels back.
    workspace : Workspace, optional
        Memory on the GPU to use again.
    **options
        Of the algorithm. ``block=(32, 6)``, ``(16, 16)`` or ``(32, 32)`` of "label-equivalence",
        "neighbour-propagation" and "local-propagation", the elements of a block of threads, and
        ``cells=1`` or ``4`` of the first and the third, those of a thread [2]_.
        ``local="self-labelling"``, ``"bfs"`` or ``"union-find"``, ``merge="sewing"`` or
        ``"relaxation"``, ``tile=4``, 8, 16, 32 or 64 and ``sites=4``, 1 or ``"column"`` of "tiles":
        how tiles are labelled and how they are merged, their length, and the elements of a thread
        in self-labelling.

    Returns
    -------
    labels : ndarray of int32 or int64, or of `dtype`
        As `label_image` in shape; `out` if that was given. Of the library that `label_image` is of
        if it lies on a GPU, and else of NumPy, neither a subclass nor masked.
    num : int
        The number of components; only if `return_num`. For an image on a GPU and
        ``numbering="roots"`` an array without axes on the GPU, so that the call does not wait for
        it; it lies in `workspace`, until that is used again.

    Raises
    ------
    TypeError
        If `label_image` is complex, of objects, sparse, not computed yet (of Dask) or otherwise
        without values that can be compared, or `options` has a name that the algorithm does not
        know.
    ValueError
        If `connectivity`, `periodic`, `numbering`, `algorithm`, `dtype`, `out` or an option does
        not fit, `dtype` or `out` is too small for the labels, elements would have more than 3**10
        neighbours (11 axes that are longer than 1, at full connectivity), or an array for a GPU has
        more than 6 such axes.
    ImportError, RuntimeError
        If the GPU is to be used, and CuPy is not installed or there is none.
    MemoryError
        If there is too little memory, on the GPU too; the next call works.

    See Also
    --------
    connected_components : The same for graphs.
    component_statistics : Sizes, bounding boxes and moments of the result.

    Notes
    -----
    Needs at most one label-sized array beyond the result, and on the CPU far less where all
    foreground is of one value.

    Other threads may write to `label_image` and `out` meanwhile: the labels may then be wrong, no
    more. A signal whose handler raises, such as Ctrl-C, ends the call; what is in `out` is then
    undefined.

    `skimage.measure.label` truncates floating-point values to integers first; this function does
    not. Of bool images it takes False for background, unless `background` equals 1; here, as there
    for integers, a background that is neither 0 nor 1 leaves all elements foreground. Where a
    length of 1 comes after a longer one, it numbers the components of other images than bool ones
    as if the first longer axis and the last of length 1 changed places; numbers here always follow
    a C-order scan.

    Calls on a GPU run on the stream that is current in the library of `label_image`. They wait for
    the GPU where an algorithm goes on until nothing changes, which all do but "auto" and "tiles"
    with ``merge="sewing"``: these can be captured in a CUDA graph, given ``numbering="roots"``,
    `out` and a `workspace` that was used for as large an array before.

    References
    ----------
    .. [1] K. A. Hawick, A. Leist, D. P. Playne, "Parallel graph component labelling with GPUs and
       CUDA", Parallel Computing 36, 2010.
    .. [2] D. Maddix, "Optimizations of Algorithms to Identify Strongly Connected Components in
       CUDA", project report, 2014.
    .. [3] M. Weigel, "Connected-component identification and cluster update on graphics processing
       units", Physical Review E 84, 2011.

    Examples
    --------
    >>> import conncomp
    >>> image = [[1, 1, 0, 2],
    ...          [0, 0, 0, 2],
    ...          [1, 0, 2, 0]]
    >>> conncomp.label(image)
    array([[1, 1, 0, 2],
           [0, 0, 0, 2],
           [3, 0, 2, 0]], dtype=int32)
    >>> conncomp.label(image, connectivity=1, return_num=True)
    (array([[1, 1, 0, 2],
           [0, 0, 0, 2],
           [3, 0, 4, 0]], dtype=int32), 4)

    A globe's longitudes meet again, its latitudes do not:

    >>> conncomp.label([[1, 0, 0, 1], [0, 1, 0, 0]], periodic=(False, True), connectivity=1)
    array([[1, 0, 0, 1],
           [0, 2, 0, 0]], dtype=int32)
    """
    for name in options:
        if name in ELSEWHERE:
            raise TypeError(f"label has no argument {name!r}; {ELSEWHERE[name]}")
    return_num = as_bool("return_num", return_num)
    there = on_gpu(label_image)
    where = choose_device(device, there, "label_image")
    check_choice("numbering", numbering, ("consecutive", "roots"))
    check_choice("algorithm", algorithm, algorithms(where))
    check_options(algorithm, ON_GPU[algorithm] if where == "cuda" else None, options)
    given: Any
    given, mask = (
        (as_cupy(label_image), None) if there else as_numpy_and_mask(label_image, "label_image")
    )
    check_kind(given, "biuf", label_image, "label_image", "of bool, integer or floating dtype")
    axes = _check_periodic(periodic, given.ndim)
    reach = _check_connectivity(connectivity, given.shape)
    values: Any
    ground: Any = 0 if background is None else background
    values, value_type, ground = _describe_values(given, ground, mask)
    described = equal_values(value_type, ground), Neighbourhood(reach, None, tuple(axes))
    lowest = 0 if numbering == "consecutive" else -1
    if there:
        library = library_of(label_image)
        with caller_stream(library, values.device.id):
            gpu = current_gpu()
            private = _keeps_labels_private(algorithm, options)
            output = Output(
                values.shape, values.size, dtype, out, (values,), lowest, private, gpu.xp
            )
            task = numbering, algorithm, return_num, workspace
            count = _label_on_gpu(gpu, Image(values, *described), output.labels, *task, **options)
            labels = output.finish()
            result = from_cupy(labels, library) if out is None else out
            if not return_num:
                return result
            if numbering == "consecutive":
                return result, int(count)
            return result, from_cupy(count, library)
    output = Output(values.shape, values.size, dtype, out, (given,), lowest)
    if where == "cuda":
        gpu = current_gpu()
        found = gpu.xp.empty(output.labels.shape, output.labels.dtype)
        task = numbering, algorithm, return_num, workspace
        placed = Image(move_to_gpu(gpu.xp, values), *described)
        count = _label_on_gpu(gpu, placed, found, *task, **options)
        move_from_gpu(found, output.labels)
        labels = output.finish()
        return (labels, int(count)) if return_num else labels
    num = 0
    if values.size:
        num = ON_CPU[algorithm](
            values.__array_interface__["data"][0],
            value_type,
            ground,
            *_describe_axes(values, axes, reach),
            numbering == "consecutive",
            output.labels.reshape(-1),
        )
    labels = output.finish()
    return (labels, num) if return_num else labels


def _label_on_gpu(
    gpu: Gpu,
    image: Image,
    labels: Any,
    numbering: Numbering,
    algorithm: str,
    return_num: bool,
    workspace: Workspace | None,
    **options: Any,
) -> Any:
    """Fill `labels`; return the number of components, if it is wanted, as an array on the GPU."""
    if image.size == 0:
        return gpu.xp.zeros((), np.int64)
    with Workspace() if workspace is None else workspace as memory:
        if algorithm == "auto":
            consecutive = numbering == "consecutive"
            count = _fill_by_default(gpu, image, labels, memory, consecutive)
            return count.reshape(()) if return_num else None
        flat = labels.reshape(-1)
        ON_GPU[algorithm](gpu, image, flat, memory, **options)
        if numbering == "consecutive":
            return number_roots(gpu, flat, 1, memory).reshape(())
        return count_roots(gpu, flat, memory).reshape(()) if return_num else None


def _keeps_labels_private(algorithm: str, options: dict[str, Any]) -> bool:
    """Whether an algorithm on a GPU must not work in memory of the caller's.

    Those that go on until nothing changes would go on for ever while the caller changes it; the
    others check what they read back of it.
    """
    return algorithm not in CAPTURABLE or options.get("merge") == "relaxation"


def _check_periodic(periodic: bool | Sequence[bool], ndim: int) -> list[bool]:
    if isinstance(periodic, (bool, np.bool_)):
        return [bool(periodic)] * ndim
    if isinstance(periodic, (str, bytes)) or not hasattr(periodic, "__iter__"):
        raise TypeError(
            f"periodic={shown(periodic)} must be True for all axes, False for none, or one bool "
            "for each axis"
        )
    axes = list(as_numpy_and_mask(periodic, "periodic")[0])
    if len(axes) != ndim:
        raise ValueError(
            f"periodic={shown(periodic)} has {len(axes)} entries; label_image has {ndim} axes"
        )
    if not all(isinstance(axis, (bool, np.bool_)) for axis in axes):
        raise TypeError(f"periodic={shown(periodic)} must be a bool, or one bool for each axis")
    return [bool(axis) for axis in axes]


def _check_connectivity(connectivity: float | None, shape: tuple[int, ...]) -> int:
    ndim = len(shape)
    if ndim == 0:
        raise ValueError("label_image is a scalar; it must have one dimension or more")
    whole = isinstance(connectivity, (float, np.floating)) and float(connectivity).is_integer()
    reach = ndim
    if connectivity is not None:
        reach = as_integer("connectivity", int(connectivity) if whole else connectivity)
    if not 1 <= reach <= ndim:
        text = f"connectivity={shown(reach)} must be from 1 to the number of axes, {ndim}"
        for axes in range(1, ndim + 1):
            if reach == _count_neighbours(ndim, axes):
                text += f": for {reach} neighbours it is {axes}"
        raise ValueError(text)
    if 3**ndim <= MOST_NEIGHBOURS:
        return reach
    longer = sum(length > 1 for length in shape)
    if _count_neighbours(longer, reach) > MOST_NEIGHBOURS:
        raise ValueError(
            f"connectivity={reach} gives an element {_count_neighbours(longer, reach)} neighbours "
            f"along the {longer} axes of label_image that are longer than 1, and more than "
            f"{MOST_NEIGHBOURS} take too long; use a lower connectivity"
        )
    return reach


def _count_neighbours(ndim: int, connectivity: int) -> int:
    """Return how many neighbours differ from an element along so many of the axes at most."""
    return sum(comb(ndim, k) << k for k in range(1, min(connectivity, ndim) + 1))


def _describe_values(
    image: Labels, background: float, mask: NDArray[np.bool_] | None = None
) -> tuple[Labels, str, bytes | None]:
    """Return the image as a kernel reads it, its value type there, and the background's bytes.

    Elements where `mask` holds are of the background's value there.
    """
    if not isinstance(background, (bool, int, float, np.integer, np.floating, np.bool_)):
        raise TypeError(f"background={shown(background)} must be a real number")
    kind = image.dtype.kind
    ground = _as_value(background, image.dtype)
    if image.dtype.itemsize > 8 or (mask is not None and ground is None):
        # Long double has no kernel, or no value says background: number the values.
        numbers = np.unique(image, return_inverse=True, equal_nan=False)[1] + 1
        numbers = numbers.reshape(image.shape)
        if ground is not None:
            numbers[np.isnan(image) if np.isnan(ground) else image == ground] = 0
        if ground is not None or mask is not None:
            ground = np.zeros((), numbers.dtype)
        image, kind = numbers, "i"
    if mask is not None:
        image = image.copy(order="K")
        image[mask] = ground
    if isinstance(image, np.ndarray):
        image = native_layout(image)
    value_type = f"{kind if kind == 'f' else 'u'}{image.dtype.itemsize}"
    return image, value_type, None if ground is None else ground.tobytes()


@lru_cache(maxsize=256)
def _as_value(number: float, dtype: np.dtype[Any]) -> Labels | None:
    """Return `number` as ``image == number`` compares it, or None if it equals nothing."""
    if isinstance(number, np.generic):
        number = number.item()  # Python's numbers compare exactly
    if dtype.kind == "f":
        try:
            with np.errstate(over="ignore"):
                value = np.asarray(number).astype(dtype.newbyteorder("="))
        except OverflowError:  # an int beyond every float
            return None
        return None if np.isinf(value) and abs(number) != np.inf else value
    if number != number or abs(number) == np.inf or number != int(number):
        return None
    low, high = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    if not low <= number <= high:
        return None
    return np.asarray(int(number)).astype(dtype.newbyteorder("="))


def _describe_axes(
    image: Labels, periodic: list[bool], connectivity: int
) -> tuple[list[int], list[bool], list[int], list[int], int]:
    """Return lengths, periodicity and strides of the axes, that of the rows last; and connectivity.

    Axes of length 1 connect nothing and are left out.
    """
    itemsize = image.dtype.itemsize
    axes = [k for k in range(image.ndim) if image.shape[k] > 1] or [image.ndim - 1]

    # Values are read several times and labels are written once: rows should be contiguous in the
    # image rather than among the labels.
    def cost(k: int) -> tuple[int, int, int]:
        return -min(image.shape[k], SHORT_ROW), max(abs(image.strides[k]), itemsize), -k

    rows = min(axes, key=cost)
    axes.remove(rows)
    axes.append(rows)
    index_strides = [1] * image.ndim
    for k in range(image.ndim - 1, 0, -1):
        index_strides[k - 1] = index_strides[k] * image.shape[k]
    return (
        [image.shape[k] for k in axes],
        [periodic[k] for k in axes],
        [image.strides[k] for k in axes],
        [index_strides[k] for k in axes],
        min(connectivity, len(axes)),
    )
