"""`label`, and what labels any array by any link rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from conncomp._algorithms import Choices, choose_algorithm
from conncomp._arguments import also_named
from conncomp._arrays import choose_device, on_gpu
from conncomp._lazy import function_for
from conncomp.gpu import Workspace
from conncomp.grid import known, repeated
from conncomp.grid.algorithms import ALGORITHMS
from conncomp.grid.answers import Labels, array_of, label_array, read
from conncomp.grid.array import read_image
from conncomp.grid.question import Numbering, Question, question_of_image

# Arguments of other libraries' functions of this name, and what takes their place here.
ELSEWHERE = {
    "delta": "tolerance= is what it is called here",
    "neighbors": "connectivity=1 stands for neighbors=4, and connectivity=None for neighbors=8",
    "neighbours": "connectivity=1 stands for neighbours=4, and connectivity=None for neighbours=8",
    "periodic_boundary": "periodic=True is what it is called here",
    "return_N": "return_num=True is what it is called here",
    "out_dtype": "dtype= is what it is called here",
    "output": "out= takes an array, and dtype= a type",
    "binary_image": "label_image != 0 is a binary image",
    "bg": "background= is what it is called here",
    "axis": "batch_axes= tells how many axes ahead are those of a batch",
    "axes": "batch_axes= tells how many axes ahead are those of a batch",
    "wrap_axes": "periodic= has a bool for each axis",
    "input": "label_image= is what it is called here",
    "mask": "numpy.where(mask, label_image, background) leaves out what is not in a mask",
    "threshold": "label_image > threshold is a binary image",
    "ltype": "dtype= is what it is called here",
    "max_labels": "labels are as many as there are",
}


class LabelChoices(Choices, total=False):
    """Arguments of `label` and `label_bonds` on which the type of the result does not depend."""

    periodic: bool | Sequence[bool]
    numbering: Numbering
    # Of algorithms.
    block: tuple[int, int]
    cells: int
    first: str
    lower: str
    local: str
    merge: str
    tile: int | None
    sites: int | str
    trees: str
    paths: str


class ImageChoices(LabelChoices, total=False):
    """Those of `label`."""

    structure: ArrayLike | None
    tolerance: float


@overload
def label(
    label_image: ArrayLike,
    background: float | None = None,
    return_num: Literal[False] = False,
    connectivity: float | None = None,
    *,
    batch_axes: int = 0,
    **choices: Unpack[ImageChoices],
) -> Labels: ...


@overload
def label(  # type: ignore[overload-overlap]  # 0 is an int, too
    label_image: ArrayLike,
    background: float | None = None,
    return_num: Literal[True] = ...,
    connectivity: float | None = None,
    *,
    batch_axes: Literal[0] = 0,
    **choices: Unpack[ImageChoices],
) -> tuple[Labels, int]: ...


@overload
def label(
    label_image: ArrayLike,
    background: float | None = None,
    return_num: Literal[True] = ...,
    connectivity: float | None = None,
    *,
    batch_axes: int,
    **choices: Unpack[ImageChoices],
) -> tuple[Labels, Labels]: ...


@also_named(label_image="image")
def label(
    label_image: ArrayLike,
    background: float | None = None,
    return_num: bool = False,
    connectivity: float | None = None,
    *,
    structure: ArrayLike | None = None,
    tolerance: float = 0,
    periodic: bool | Sequence[bool] = False,
    batch_axes: int = 0,
    numbering: Numbering = "consecutive",
    algorithm: str = "auto",
    dtype: DTypeLike | None = None,
    out: Labels | None = None,
    device: str | None = None,
    workspace: Workspace | None = None,
    **options: Any,
) -> Labels | tuple[Labels, int] | tuple[Labels, Labels]:
    """Label the connected regions of an array.

    Two elements are connected if they are neighbours and equal, or nearly so. The first four
    arguments and the result are those of `skimage.measure.label`, but for what the notes say.

    Parameters
    ----------
    label_image : array_like
        One dimension or more, of bool, integer or floating dtype, with any strides: of NumPy, or of
        any library that shares its memory with that, such as PyTorch, or by DLPack. Images of
        SimpleITK and ITK have the axes of the arrays that these make of them, the last first.
        Values are compared as they are: 0.25 and 0.75 differ, -0.0 equals 0.0, and a NaN equals
        nothing. Masked elements are background, and so are the nulls of columns and tables of
        Arrow, pandas (nullable types) and Polars. A Dask array is labelled when its labels are
        computed. The keyword ``image`` works, too.
    background : number, optional
        Elements of this value are labelled 0; 0 by default. A value that it does not hold,
        such as -1 for unsigned integers, makes every element foreground; NaN makes the NaNs
        background.
    return_num : bool, optional
        Whether to return the number of components too.
    connectivity : int, optional
        Along how many axes neighbours may differ, from 1 (faces) to the number of axes (faces,
        edges and corners; the default).
    structure : array_like of bool, optional
        Which neighbours an element has, instead of `connectivity`: an array of shape
        ``(3,) * label_image.ndim``, symmetric about its centre, as `scipy.ndimage.label` takes it.
        The centre does not count. Names of axes of xarray, if both have them, tell their order.
    tolerance : number, optional
        Neighbours connect if their values differ by no more than this, too: 0 by default. Integers
        differ exactly, whatever their dtype; floating-point numbers, and `tolerance`, are compared
        in float64. A NaN connects to nothing, and so does the background.
    periodic : bool or sequence of bool, optional
        Which axes close on themselves: one answer for all, or one for each axis. For a DataArray
        or Variable of xarray their names will do, and ``batch_dims=["time"]`` names batch axes.
    batch_axes : int, optional
        How many axes ahead hold separate arrays, such as the images of a batch; 0 by default. Each
        of these items is labelled as if alone: `connectivity`, `structure` and `periodic` speak of
        its axes, numbers begin again, and roots are indices in the item.
    numbering : {"consecutive", "roots"}, optional
        "consecutive": labels 1, 2, ... in the order in which a C-order scan meets the components,
        0 for background. "roots": the smallest flat C-order index of the component, -1 for
        background.
    algorithm : str, optional
        All give the same labels. On the CPU "auto" or "runs", or, on one thread, "raster-scan"
        [1]_, "label-equivalence" [1]_ [2]_ or, for up to three axes, "tiles" [3]_; on a GPU "auto",
        "label-equivalence", "neighbour-propagation", "local-propagation" or
        "directional-propagation" [1]_, or, for up to three axes, "tiles" [3]_.
    dtype : dtype or "smallest", optional
        Of the labels; by default int32 where every index fits. Other types of integers, signed or
        not, of 8 bits to 64, if the labels fit; "smallest" is the narrowest that they fit into,
        unsigned but for roots. Labels of other types than int32 and int64 are copied from one of
        these.
    out : ndarray, optional
        A C-contiguous array of integers, of the shape of `label_image`, to write the labels to,
        where `label_image` is. It may be of any library that shares its memory by DLPack.
    device : {None, "cpu", "cuda"}, optional
        Where to work: by default where `label_image` lies. "cuda" moves an array in main memory to
        the current GPU, and the labels back: in strips, on all threads, or, if `label_image` and
        `out` are pinned (``cupyx.empty_pinned``), by the GPU itself.
    workspace : Workspace, optional
        Memory on the GPU to use again. Of no use on a CPU, so an error there.
    **options
        Of the algorithm. ``block=(32, 6)``, ``(16, 16)`` or ``(32, 32)`` of "label-equivalence",
        "neighbour-propagation" and "local-propagation", the elements of a block of threads, and
        ``cells=1`` or ``4`` of the first and the third, those of a thread [2]_;
        ``first="scan"`` or ``"blocks"`` and ``lower="minimum"`` or ``"store"`` of the first:
        whether its first sweep is one of "local-propagation", and labels are lowered without
        atomics.
        ``local="self-labelling"``, ``"bfs"`` or ``"union-find"``, ``merge="sewing"`` or
        ``"relaxation"``, ``tile=4``, 8, 16, 32 or 64 and ``sites=4``, 1 or ``"column"`` of "tiles":
        how tiles are labelled and how they are merged, their length, and the elements of a thread
        in self-labelling; and ``trees="size"`` or ``"index"`` and ``paths="kept"`` or
        ``"compressed"``, for its union-find and sewing: which of two trees is hooked under the
        other, and whether a find points its path to the root; by default sizes and kept paths
        within tiles, indices and halved paths in sewing. On the CPU "tiles" has the first three of
        these, the others none.

    Returns
    -------
    labels : ndarray of int32 or int64, or of `dtype`
        As `label_image` in shape; `out` if that was given. Of the library that `label_image` is of,
        if that takes arrays of others (``from_dlpack``), and where it lies; else of NumPy, neither
        a subclass nor masked. Of a Dask array another one, of the same chunks; of a DataArray or
        Variable of xarray another one, with its coordinates and attributes.
    num : int or ndarray of int64
        The number of components; only if `return_num`. With `batch_axes` an array of the numbers
        for each item, of the shape of these axes. For an image on a GPU and ``numbering="roots"``,
        or `batch_axes`, an array on the GPU, so that the call does not wait for it; it lies in
        `workspace`, until that is used again. For a Dask array an array of Dask, too.

    Raises
    ------
    TypeError
        If `label_image` is complex, of objects, sparse, of Dask but no array, or otherwise without
        values that can be compared, or a sequence that is neither an array nor a list or
        tuple; if `tolerance` is not a real number, or `options` has a name that the algorithm does
        not know.
    ValueError
        If `connectivity`, `structure`, `tolerance`, `periodic`, `batch_axes`, `numbering`,
        `algorithm`, `dtype`, `out` or an option does not fit, `structure` is not symmetric, an
        array of bool is given a `tolerance`, `dtype` or `out` is too small for the labels, elements
        would have more than 3**10 neighbours (11 axes that are longer than 1, at full
        connectivity), or an array for a GPU has more than 6 such axes. For a Dask array, if
        lengths of chunks are unknown, or `out`, `workspace` or ``dtype="smallest"`` is given.
    ImportError, RuntimeError
        If the GPU is to be used, and CuPy is not installed or there is none.
    MemoryError
        If there is too little memory, on the GPU too; the next call works.

    See Also
    --------
    label_bonds : The same for lattices with bonds.
    connected_components : The same for graphs.
    component_statistics : Sizes, bounding boxes and moments of the result.

    Notes
    -----
    Needs at most one label-sized array beyond the result, and on the CPU far less where all
    foreground is of one value; algorithms that go on until nothing changes need one more where
    `out` is given. On a GPU, labels of a batch of 2**31 elements or more are int64
    until all are found, and are copied where they are to be int32.

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

    Values that rise slowly are one region:

    >>> conncomp.label([[10, 11, 13, 20], [10, 12, 14, 21]], tolerance=1)
    array([[1, 1, 1, 2],
           [1, 1, 1, 2]], dtype=int32)

    Diagonals of one kind connect, and nothing else:

    >>> conncomp.label(image, structure=[[0, 0, 1], [0, 0, 0], [1, 0, 0]])
    array([[1, 2, 0, 3],
           [0, 0, 0, 4],
           [5, 0, 4, 0]], dtype=int32)

    Rows of their own:

    >>> conncomp.label(image, batch_axes=1, return_num=True)
    (array([[1, 1, 0, 2],
           [0, 0, 0, 1],
           [1, 0, 2, 0]], dtype=int32), array([2, 1, 2]))
    """
    if options:
        _refuse_names_of_elsewhere(options)
    road: Any = known if type(label_image) is np.ndarray else repeated
    kind: Any = None
    options_of_kind = background, return_num, connectivity, periodic, batch_axes, numbering
    if (
        not options
        and (structure is None and dtype is None and type(workspace) in road.WORKSPACES)
        and _is_plain(tolerance, algorithm, device, road.DEVICE, options_of_kind)
    ):
        again: Labels | tuple[Labels, Any] | None
        kind, again = road.call_again(label_image, workspace, options_of_kind, out)
        if again is not None:
            return again
    arguments: dict[str, Any] = {
        "background": background,
        "connectivity": connectivity,
        "structure": structure,
        "tolerance": tolerance,
        "periodic": periodic,
        "batch_axes": batch_axes,
        "return_num": return_num,
        "numbering": numbering,
        "algorithm": algorithm,
        "dtype": dtype,
    }
    other = None if type(label_image) is np.ndarray else function_for(label_image, "label")
    if other is not None:
        places = {"out": out, "device": device, "workspace": workspace}
        returned: Labels | tuple[Labels, Any] = other(label_image, **arguments, **places, **options)
        return returned
    place = choose_device(device, on_gpu(label_image), "label_image", workspace)
    given = read_image(label_image)
    question = question_of_image(
        given.array, label_image, device=place, options=options, **arguments
    )
    array = array_of(question, given)
    if kind is None:
        return label_array(array, question, out, workspace)
    first: Labels | tuple[Labels, Any] = road.first_call(
        kind, label_image, array, question, out, workspace
    )
    return first


def ask(question: Question, values: Any) -> Any:
    """Return the labels of a part of a larger array, such as a chunk, as `label` does."""
    if question.device == "cpu" and on_gpu(values):
        choose_algorithm(ALGORITHMS, "cuda", question.algorithm)
        question = replace(question, device="cuda")
    road: Any = known if type(values) is np.ndarray else repeated
    kept = question.algorithm == "auto" and question.dtype is None and not question.of_bonds
    kind, again = road.call_again(values, None, question, None) if kept else (None, None)
    if again is not None:
        return again
    array = read(question, values)
    if kind is None:
        return label_array(array, question)
    return road.first_call(kind, values, array, question, None, None)


def _is_plain(
    tolerance: Any, algorithm: Any, device: Any, here: str, options_of_kind: tuple[Any, ...]
) -> bool:
    """Whether the work depends on the kind of the array, and on arguments that tell calls apart.

    What is equal to one of these and of another type may be refused. The array lies `here`.
    """
    background, return_num, connectivity, periodic, batch_axes, numbering = options_of_kind
    return (
        type(tolerance) is int
        and tolerance == 0
        and type(algorithm) is str
        and algorithm == "auto"
        and (device is None or (type(device) is str and device == here))
        and type(background) in (type(None), int, float)
        and type(return_num) is bool
        and type(connectivity) in (type(None), int)
        and type(periodic) is bool
        and type(batch_axes) is int
        and type(numbering) is str
    )


def _refuse_names_of_elsewhere(options: Mapping[str, Any]) -> None:
    """Raise for what other libraries call an argument of `label`."""
    for name in options:
        if name in ELSEWHERE:
            raise TypeError(f"label has no argument {name!r}; {ELSEWHERE[name]}")
