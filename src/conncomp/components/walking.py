"""Components one after another, each with its bounding box, mask and crops."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp import _arrays
from conncomp._arguments import named_elsewhere, shown
from conncomp._containers import laid_beside
from conncomp.components._columns import in_memory
from conncomp.components._labels import Background, check_place
from conncomp.components.columns.crops import box_slices
from conncomp.components.statistics import component_statistics
from conncomp.grid.array import stream_of


class _Walk:
    """Labels, and what was measured of their components, with a row for each."""

    def __init__(self, labels: Any, background: Background, batch_axes: int) -> None:
        options: Any = {"background": background, "batch_axes": batch_axes}
        measured = component_statistics(labels, moments=False, **options)
        self.given, self.library = labels, _arrays.library_of(labels)
        self.hidden: Any = None
        if _arrays.on_gpu(labels):
            self.array: Any = _arrays.as_cupy(labels)
        else:
            self.array, self.hidden = _arrays.as_numpy_and_mask(labels, "labels")
        columns = measured.labels, measured.sizes, measured.bounding_boxes, measured.batch
        self.labels, self.sizes, self.boxes, self.items = map(in_memory, columns)


class Component:
    """A component, as `iterate_components` gives it. Arrays are made when they are asked for.

    Attributes
    ----------
    label, size, slices, batch, mask
    """

    __slots__ = ("_row", "_walk")

    def __init__(self, walk: _Walk, row: int) -> None:
        self._walk, self._row = walk, row

    def __repr__(self) -> str:
        return f"Component(label={self.label}, size={self.size}, slices={self.slices})"

    @property
    def label(self) -> int:
        """The label."""
        return int(self._walk.labels[self._row])

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(self._walk.sizes[self._row])

    @property
    def slices(self) -> tuple[slice, ...]:
        """The bounding box in the array or, with batch axes, in the item."""
        return box_slices(self._walk.boxes[self._row])

    @property
    def batch(self) -> tuple[int, ...]:
        """The item that the component is of, as indices along the batch axes."""
        return tuple(self._walk.items[self._row].tolist())

    @property
    def mask(self) -> NDArray[np.bool_]:
        """Where in its bounding box the component is, in the library of the labels."""
        with stream_of(self._walk.array, self._walk.library):
            inside = _arrays.in_library(self._inside(), self._walk.library)
        return cast("NDArray[np.bool_]", inside)

    @property
    def _box(self) -> tuple[Any, ...]:
        return *self.batch, *self.slices

    def _inside(self) -> Any:
        walk, box = self._walk, self._box
        inside = walk.array[box] == self.label
        return inside if walk.hidden is None else inside & ~walk.hidden[box]

    def crop(self, image: ArrayLike, fill: Any = 0) -> NDArray[Any]:
        """Return a copy of the bounding box of an image, with ``fill`` outside the component.

        Parameters
        ----------
        image : array_like
            Of the shape of the labels, batch axes too, and where they are; there may be further
            axes, such as one of colours. Arrays of xarray are aligned as by `component_statistics`.
        fill : number, optional

        Raises
        ------
        TypeError
            If `image` does not lie where the labels do, or `fill` does not suit it.
        ValueError
            If it has another shape.

        Examples
        --------
        >>> import conncomp
        >>> [first, second] = conncomp.iterate_components([[0, 1, 1], [2, 1, 0]])
        >>> first.crop([[5, 6, 7], [8, 9, 10]])
        array([[6, 7],
               [9, 0]])
        """
        walk = self._walk
        image = laid_beside(walk.given, image, "image")
        with stream_of(walk.array, walk.library):
            placed = not isinstance(walk.array, np.ndarray)
            check_place(image, placed)
            values: Any = _arrays.as_cupy(image) if placed else _arrays.as_numpy(image, "image")
            shape = walk.array.shape
            if values.shape[: len(shape)] != shape:
                told = f"image has shape {values.shape}; it must have that of labels, {shape}"
                raise ValueError(f"{told}, or further axes after these")
            cropped = values[self._box].copy()
            try:
                cropped[~self._inside()] = fill
            except Exception as error:  # whatever a foreign class raises
                kind = ValueError if isinstance(error, ValueError) else TypeError
                raise kind(f"fill={shown(fill)} is no value of image, of {values.dtype}") from error
            return cast("NDArray[Any]", _arrays.in_library(cropped, _arrays.library_of(image)))


@named_elsewhere(intensity_image="the .crop() of each component takes an image")
def iterate_components(
    labels: ArrayLike, *, background: Background = "auto", batch_axes: int = 0
) -> Iterator[Component]:
    """Walk components in the order of their labels.

    Parameters
    ----------
    labels : array_like of int
        One dimension or more, as for `component_sizes`. Masks and crops are read from it later.
    background, batch_axes
        As for `component_sizes`. The components of the first item come first.

    Yields
    ------
    Component
        With its label, size, bounding box and mask.

    Raises
    ------
    TypeError, ValueError, MemoryError
        As `component_statistics` does, at once.

    Notes
    -----
    ``cc3d.each`` gives an image of the whole array for each component,
    `scipy.ndimage.find_objects` a list of bounding boxes.

    Examples
    --------
    >>> import conncomp
    >>> for component in conncomp.iterate_components([[1, 1, 0], [1, 0, 2]]):
    ...     print(component)
    Component(label=1, size=3, slices=(slice(0, 2, None), slice(0, 2, None)))
    Component(label=2, size=1, slices=(slice(1, 2, None), slice(2, 3, None)))
    >>> component.mask
    array([[ True]])
    """
    walk = _Walk(labels, background, batch_axes)
    return (Component(walk, row) for row in range(len(walk.labels)))
