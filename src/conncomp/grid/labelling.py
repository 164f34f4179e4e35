"""`label`: arguments, connectivity, periodicity, and the table of algorithms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from conncomp._arrays import (
    as_integer,
    as_numpy,
    check_choice,
    choose_device,
    native_layout,
    on_gpu,
    output_array,
)
from conncomp._core import native

Numbering = Literal["consecutive", "roots"]
Labels = NDArray[Any]

# Shorter rows leave part of a 64-bit word empty; longer ones are all as good.
SHORT_ROW = 64

# Each takes what `_describe_values` and `_describe_axes` return, and fills `out`.
ON_CPU: dict[str, Callable[..., int]] = {"auto": native.label_runs, "runs": native.label_runs}


def algorithms(device: str) -> tuple[str, ...]:
    """Return the names of the algorithms on a device, "cpu" or "cuda"."""
    return () if device == "cuda" else tuple(ON_CPU)


@overload
def label(
    image: ArrayLike,
    background: float | None = None,
    return_num: Literal[False] = False,
    connectivity: int | None = None,
    *,
    periodic: bool | Sequence[bool] = False,
    numbering: Numbering = "consecutive",
    algorithm: str = "auto",
    dtype: DTypeLike | None = None,
    out: Labels | None = None,
    device: str | None = None,
) -> Labels: ...


@overload
def label(
    image: ArrayLike,
    background: float | None = None,
    *,
    return_num: Literal[True],
    connectivity: int | None = None,
    periodic: bool | Sequence[bool] = False,
    numbering: Numbering = "consecutive",
    algorithm: str = "auto",
    dtype: DTypeLike | None = None,
    out: Labels | None = None,
    device: str | None = None,
) -> tuple[Labels, int]: ...


@overload
def label(
    image: ArrayLike,
    background: float | None,
    return_num: Literal[True],
    connectivity: int | None = None,
    *,
    periodic: bool | Sequence[bool] = False,
    numbering: Numbering = "consecutive",
    algorithm: str = "auto",
    dtype: DTypeLike | None = None,
    out: Labels | None = None,
    device: str | None = None,
) -> tuple[Labels, int]: ...


def label(
    image: ArrayLike,
    background: float | None = None,
    return_num: bool = False,
    connectivity: int | None = None,
    *,
    periodic: bool | Sequence[bool] = False,
    numbering: Numbering = "consecutive",
    algorithm: str = "auto",
    dtype: DTypeLike | None = None,
    out: Labels | None = None,
    device: str | None = None,
) -> Labels | tuple[Labels, int]:
    """Label the connected regions of an array.

    Two elements are connected if they are neighbours and equal. The first four arguments and the
    result are those of `skimage.measure.label`.

    Parameters
    ----------
    image : array_like
        One dimension or more, of bool, integer or floating dtype, with any strides. Values are
        compared as they are: 0.25 and 0.75 differ, -0.0 equals 0.0, and a NaN equals nothing.
    background : number, optional
        Elements of this value are labelled 0; 0 by default. A value that `image` does not hold,
        such as -1 for unsigned integers, makes every element foreground; NaN makes the NaNs
        background.
    return_num : bool, optional
        Whether to return the number of components too.
    connectivity : int, optional
        Along how many axes neighbours may differ, from 1 (faces) to ``image.ndim`` (faces, edges
        and corners; the default).
    periodic : bool or sequence of bool, optional
        Which axes close on themselves: one answer for all, or one for each axis.
    numbering : {"consecutive", "roots"}, optional
        "consecutive": labels 1, 2, ... in the order in which a C-order scan meets the components,
        0 for background. "roots": the smallest flat C-order index of the component, -1 for
        background.
    algorithm : {"auto", "runs"}, optional
        All give the same labels.
    dtype : {int32, int64}, optional
        Of the labels; by default int32 where every index fits.
    out : ndarray, optional
        A C-contiguous array of the shape of `image` to write the labels to.
    device : {None, "cpu"}, optional
        Where to work.

    Returns
    -------
    labels : ndarray of int32 or int64
        As `image` in shape; `out` if that was given.
    num : int
        The number of components; only if `return_num`.

    Raises
    ------
    TypeError
        If `image` is complex, of objects or otherwise without values that can be compared, or if
        it lies in GPU memory.
    ValueError
        If `connectivity`, `periodic`, `numbering`, `algorithm`, `dtype` or `out` does not fit.

    See Also
    --------
    connected_components : The same for graphs.
    component_statistics : Sizes, bounding boxes and moments of the result.

    Notes
    -----
    Needs at most one label-sized array beyond the result, and far less where all foreground is of
    one value. `skimage.measure.label` truncates floating-point values to integers first; this
    function does not.

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
    if choose_device(device, on_gpu(image), "image") == "cuda":
        raise NotImplementedError("arrays cannot be labelled on a GPU yet; use device='cpu'")
    given = as_numpy(image, "image")
    axes = _check_periodic(periodic, given.ndim)
    check_choice("numbering", numbering, ("consecutive", "roots"))
    check_choice("algorithm", algorithm, algorithms("cpu"))
    values, value_type, ground = _describe_values(given, 0 if background is None else background)
    reach = _check_connectivity(connectivity, values.ndim)
    labels = output_array(values.shape, values.size, dtype, out, (given,))
    num = 0
    if values.size:
        num = ON_CPU[algorithm](
            values.__array_interface__["data"][0],
            value_type,
            ground,
            *_describe_axes(values, axes, reach),
            numbering == "consecutive",
            labels.reshape(-1),
        )
    return (labels, num) if return_num else labels


def _check_periodic(periodic: bool | Sequence[bool], ndim: int) -> list[bool]:
    if isinstance(periodic, (bool, np.bool_)):
        return [bool(periodic)] * ndim
    axes = list(np.atleast_1d(np.asarray(periodic)))
    if len(axes) != ndim:
        raise ValueError(f"periodic={periodic!r} has {len(axes)} entries; image has {ndim} axes")
    if not all(isinstance(axis, (bool, np.bool_)) for axis in axes):
        raise TypeError(f"periodic={periodic!r} must be a bool, or one bool for each axis")
    return [bool(axis) for axis in axes]


def _check_connectivity(connectivity: int | None, ndim: int) -> int:
    if ndim == 0:
        raise ValueError("image is a scalar; it must have one dimension or more")
    if connectivity is None:
        return ndim
    reach = as_integer("connectivity", connectivity)
    if not 1 <= reach <= ndim:
        raise ValueError(f"connectivity={reach} must be from 1 to the number of axes, {ndim}")
    return reach


def _describe_values(image: Labels, background: float) -> tuple[Labels, str, bytes | None]:
    """Return the image as a kernel reads it, its value type there, and the background's bytes."""
    if not isinstance(background, (bool, int, float, np.integer, np.floating, np.bool_)):
        raise TypeError(f"background={background!r} must be a real number")
    kind = image.dtype.kind
    if kind not in "biuf":
        raise TypeError(
            f"image is of dtype {image.dtype}; it must be of bool, integer or floating dtype"
        )
    ground = _as_value(background, image.dtype)
    if image.dtype.itemsize > 8:  # long double has no kernel: number its values
        numbers = np.unique(image, return_inverse=True, equal_nan=False)[1] + 1
        numbers = numbers.reshape(image.shape)
        if ground is not None:
            numbers[np.isnan(image) if np.isnan(ground) else image == ground] = 0
            ground = np.zeros((), numbers.dtype)
        image, kind = numbers, "i"
    image = native_layout(image)
    value_type = f"{kind if kind == 'f' else 'u'}{image.dtype.itemsize}"
    return image, value_type, None if ground is None else ground.tobytes()


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
