"""Where components lie, how large they are, how they are shaped and how bright."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from conncomp._arguments import as_bool, check_dimensions, named_elsewhere
from conncomp._arrays import apply_in_library, on_gpu
from conncomp._containers import function_for, laid_beside, spacing_of
from conncomp.components._columns import Columns
from conncomp.components._labels import Background, Items, Spacing, check_spacing, where_labels_lie
from conncomp.components.columns import measuring
from conncomp.components.columns.accumulators import Accumulators, Channel
from conncomp.components.columns.crops import LazyColumn, box_slices
from conncomp.components.columns.intensities import Intensities, check_images
from conncomp.components.columns.measuring import (
    LabelMeaning,
    OptionalColumns,
    Values,
    items_and_runs,
    measure_image,
)
from conncomp.components.columns.properties import (
    Conditions,
    Property,
    check_properties,
    principal_axes,
    sums_wanted,
)
from conncomp.kernels.cuda.components.measures import turn
from conncomp.kernels.cuda.components.runs import ComponentRuns
from conncomp.kernels.cuda.components.shapes import Shapes
from conncomp.kernels.cuda.launcher import current_gpu

Reals = NDArray[np.float64]


@dataclass(frozen=True)
class ComponentStatistics(Columns):
    """What `component_statistics` returns: a row for each of n components, in the order of labels.

    With batch axes, in the order of items first; ndim is the number of an item's axes. Columns that
    were not asked for have no rows. Lengths are in elements, or in the units of `spacing`.

    Attributes
    ----------
    labels : ndarray of int64, shape (n,)
    sizes : ndarray of int64, shape (n,)
        Numbers of elements.
    bounding_boxes : ndarray of int64, shape (n, ndim, 2)
        The first coordinate along each axis, and the one after the last; always in elements.
    centroids : ndarray of float64, shape (n, ndim)
        Means of the coordinates.
    moments : ndarray of float64, shape (n, ndim, ndim)
        Second central moments over the size, that is the covariances of the coordinates.
    batch : ndarray of int64, shape (n, batch_axes)
        The item that the component is of, as indices along the batch axes.
    sums : ndarray of int64, uint64 or float64, shape (n,)
        Sums of the values of ``image`` within the component; int64 if they are bool.
    means : ndarray of float64, shape (n,)
    minima, maxima : ndarray of the dtype of ``image``, shape (n,)
    weighted_centroids : ndarray of float64, shape (n, ndim)
        Means of the coordinates, weighted by the values of ``image``.
    faces : ndarray of int64, shape (n, ndim)
        How many faces of elements, across each axis, have no element of the component behind them.
    classes : ndarray of the dtype of ``classes``, shape (n,)
        The class of the component's elements.
    spacing : tuple of float
        The distance of neighbouring elements along each axis.
    """

    labels: NDArray[np.int64]
    sizes: NDArray[np.int64]
    bounding_boxes: NDArray[np.int64]
    centroids: NDArray[np.float64]
    moments: NDArray[np.float64]
    batch: NDArray[np.int64]
    sums: NDArray[Any]
    means: NDArray[np.float64]
    minima: NDArray[Any]
    maxima: NDArray[Any]
    weighted_centroids: NDArray[np.float64]
    faces: NDArray[np.int64]
    classes: NDArray[Any]
    spacing: tuple[float, ...]

    @property
    def volumes(self) -> NDArray[np.float64]:
        """Sizes times the volume of an element, or its area in two dimensions; shape (n,)."""
        volume = prod(self.spacing)
        return cast(Reals, apply_in_library(lambda sizes: sizes * volume, self.sizes))

    @property
    def surface_areas(self) -> NDArray[np.float64]:
        """Sums of the areas of `faces`, in two dimensions their lengths; shape (n,)."""
        volume = prod(self.spacing)

        def areas_of(faces: Any) -> Any:
            return sum(faces[:, k] * (volume / along) for k, along in enumerate(self.spacing))

        return cast(Reals, apply_in_library(areas_of, self.faces))

    def slices(self, row: int) -> tuple[slice, ...]:
        """Return the bounding box of a row, to index an array, or the row's item, with."""
        return box_slices(self.bounding_boxes[row])

    def principal_axes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the axes of the ellipsoids that have the components' `moments`, the longest first.

        Returns
        -------
        lengths : ndarray of float64, shape (n, ndim)
            Whole lengths, 2 sqrt((ndim + 2) v) for a variance v along the axis, as scikit-image's
            ``axis_major_length`` and ``axis_minor_length``.
        directions : ndarray of float64, shape (n, ndim, ndim)
            ``directions[row, k]`` is the unit vector along axis k of the component, the largest
            of whose coordinates is positive. Of axes of equal lengths any that are at right angles.

        Examples
        --------
        >>> import conncomp
        >>> statistics = conncomp.component_statistics([[1, 1, 1, 1], [0, 0, 0, 0]])
        >>> lengths, directions = statistics.principal_axes()
        >>> lengths.round(3), directions[0, 0]
        (array([[4.472, 0.   ]]), array([0., 1.]))
        """
        return cast(tuple[Reals, Reals], apply_in_library(principal_axes, self.moments))

    def columns(self) -> dict[str, Any]:
        """Return a table: arrays of one axis, a row each component, by the names of the columns.

        By the names of scikit-image's ``regionprops_table`` where it has such columns, and without
        those that were not asked for. The arrays lie where `labels` does.

        Examples
        --------
        >>> import conncomp
        >>> table = conncomp.component_statistics([[1, 1, 0], [0, 0, 2]], moments=False).columns()
        >>> list(table)
        ['label', 'num_pixels', 'area', 'bbox-0', 'bbox-1', 'bbox-2', 'bbox-3', 'centroid-0',
         'centroid-1']
        >>> table["centroid-1"]
        array([0.5, 2. ])
        """
        axes = range(len(self.spacing))
        table: dict[str, Any] = {"label": self.labels}
        table |= {f"batch-{k}": self.batch[:, k] for k in range(self.batch.shape[1])}
        table |= {"class": self.classes, "num_pixels": self.sizes, "area": self.volumes}
        ends = ((k, end) for end in (0, 1) for k in axes)
        table |= {f"bbox-{j}": self.bounding_boxes[:, k, end] for j, (k, end) in enumerate(ends)}
        table |= {f"centroid-{k}": self.centroids[:, k] for k in axes}
        table |= {f"moment-{k}-{j}": self.moments[:, k, j] for k in axes for j in axes if k <= j}
        table |= {"intensity_sum": self.sums, "intensity_mean": self.means}
        table |= {"intensity_min": self.minima, "intensity_max": self.maxima}
        table |= {f"centroid_weighted-{k}": self.weighted_centroids[:, k] for k in axes}
        table |= {f"faces-{k}": self.faces[:, k] for k in axes}
        table["surface_area"] = self.surface_areas
        return {name: column for name, column in table.items() if len(column) == len(self.labels)}


@dataclass(frozen=True)
class ComponentTable(ComponentStatistics):
    """What `component_statistics` returns for ``properties``: `ComponentStatistics` with columns.

    Attributes
    ----------
    labels, sizes, bounding_boxes, centroids, moments, batch, faces, classes, spacing
        As `ComponentStatistics` has them.
    sums, means, minima, maxima, weighted_centroids
        As `ComponentStatistics` has them, with one more axis, the last, for channels if the image
        has such; without rows if no property is of its values.
    properties : dict of str to ndarray
        The values of each property, of shape (n,) for numbers, or (n, ndim), (n, 4, 4), ... for
        vectors and matrices, with one more axis for channels; `classes`, if given, as ``class``. Of
        properties that are arrays of any shape, as ``image``, a sequence that makes an entry when
        it is asked for, of labels and image as they were measured. Pickles hold no entries.
    """

    properties: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        """Return a property, or one of its columns, by name.

        Raises
        ------
        KeyError
            If it was not asked for.
        """
        return self.properties[name] if name in self.properties else self.columns()[name]

    def __contains__(self, name: object) -> bool:
        """Whether there is a property, or a column, of a name."""
        return name in self.properties or name in self.keys()

    def __iter__(self) -> Iterator[Any]:
        """Refuse: Python would ask for rows by number."""
        told = "a ComponentTable is not iterated over; .columns() is a dict of its columns"
        raise TypeError(f"{told}, and .to_pandas() a table of rows")

    def keys(self) -> list[str]:
        """Return the names of the columns, so that ``dict(table)`` has these."""
        names = ["label", *(f"batch-{k}" for k in range(self.batch.shape[1]))]
        for name, values in self.properties.items():
            names += [column for column, _ in _numbers_of(name, values)]
        return names

    def columns(self) -> dict[str, Any]:
        """Return the table as scikit-image's ``regionprops_table`` does: a column for each number.

        Names are those of properties with the indices of the number in it: ``bbox-0``,
        ``moments-0-1``. ``label`` is the first column, before those of the batch. Arrays lie where
        ``labels`` does; columns of arrays are made at once, and as NumPy arrays of objects.

        Examples
        --------
        >>> import conncomp
        >>> labels = [[1, 1, 0], [0, 0, 2]]
        >>> table = conncomp.component_statistics(labels, properties=["area", "bbox"])
        >>> table.columns()["bbox-3"], list(table.columns())
        (array([2, 3]), ['label', 'area', 'bbox-0', 'bbox-1', 'bbox-2', 'bbox-3'])
        """
        table: dict[str, Any] = {"label": self.labels}
        table |= {f"batch-{k}": self.batch[:, k] for k in range(self.batch.shape[1])}
        for name, values in self.properties.items():
            made: Any = np.asarray(values) if isinstance(values, LazyColumn) else values
            for column, index in _numbers_of(name, made):
                table[column] = made[(slice(None), *index)]
        return table


def _numbers_of(name: str, values: Any) -> list[tuple[str, tuple[int, ...]]]:
    """Return the columns of a property, and which of its numbers each has."""
    if isinstance(values, LazyColumn):
        return [(name, ())]
    return [("-".join(map(str, (name, *index))), index) for index in np.ndindex(*values.shape[1:])]


@named_elsewhere(intensity_image="image= is what it is called here")
def component_statistics(
    labels: ArrayLike,
    image: ArrayLike | None = None,
    *,
    properties: Iterable[str] | str | None = None,
    moments: bool = True,
    surfaces: bool = False,
    classes: ArrayLike | None = None,
    spacing: float | Sequence[float] | None = None,
    background: Background = "auto",
    batch_axes: int = 0,
) -> ComponentStatistics:
    """Measure the components: sizes, bounding boxes, centroids, moments, intensities, surfaces.

    Parameters
    ----------
    labels : array_like of int
        One dimension or more, as for `component_sizes`.
    image : array_like of bool, int or float, optional
        The intensities to measure, of the shape of `labels` and where these lie. Integers and
        floating-point numbers have 64 bits or fewer.
    properties : sequence of str or "all", optional
        Columns by the names of scikit-image's ``regionprops_table``, with its values, and more:
        docs/columns.rst lists them and their axes. "all" are those of numbers that there are of
        such labels, image and spacing. An image may then have one axis more, the last, of channels,
        and is measured only if a property is of its values.
    moments : bool, optional
        Whether to measure second moments, which takes longer on the CPU.
    surfaces : bool, optional
        Whether to count ``faces``: those of elements whose neighbour across the face has another
        label, or lies outside the item, at periodic axes too. `contacts` has those between two
        components.
    classes : array_like of bool or int, optional
        The class of each element, for a column; of the shape of `labels` and where these lie.
    spacing : number or sequence of numbers, optional
        The distance of neighbouring elements along each axis of an item: centroids, moments,
        volumes and areas are in its units. By default that of the image of SimpleITK or ITK which
        `labels`, `image` or `classes` is, and else 1.
    background, batch_axes
        As for `component_sizes`. Coordinates are those within an item.

    Returns
    -------
    ComponentStatistics or ComponentTable
        The latter if there are `properties`. A row for each label that occurs, in arrays of the
        library of `labels`, where that lies. A component that wraps around a periodic axis is
        measured where its elements are stored.

    Raises
    ------
    TypeError, ValueError, MemoryError
        As for `component_sizes`; and if `labels` has no axis; if `image` or `classes` does not lie
        where it does, has another shape or masked elements, cannot be aligned, or differs in
        spacing; if a component has several classes; or if a property is unknown or does not exist
        for these arguments.
    OverflowError
        If `image` is of 64-bit integers, and the sum of a component needs more.

    Notes
    -----
    Arrays of xarray are aligned with `labels` of xarray by the names of axes and, where both have
    them, by coordinates, which may run the other way. Other names and coordinates are an error;
    without them axes go by place. `spacing` does not come from coordinates. Origins and directions
    of images of SimpleITK and ITK are ignored: axes are z, y, x.

    Sums are of integers, exact, and the same for any number of threads and on a GPU. Floating-point
    values are first rounded to multiples of a unit at least 2^63 times smaller than the largest
    magnitude in the component (2^80 for up to 2^46 / L elements and a longest axis L). A sum too
    large for float64 is infinite, but the mean of finite values is finite. A component with NaN has
    the sum, mean and extremes NaN, and one with infinities those that NumPy gives; the weighted
    centroids of both are NaN, and where values add up to 0 NaN or infinite.

    Examples
    --------
    >>> import conncomp
    >>> labels = [[1, 1, 0], [0, 0, 2], [0, 0, 2]]
    >>> statistics = conncomp.component_statistics(labels)
    >>> statistics.sizes
    array([2, 2])
    >>> statistics.centroids
    array([[0. , 0.5],
           [1.5, 2. ]])

    With the values of an image, and of pixels that are 2 high and 0.5 wide:

    >>> image = [[10, 30, 0], [0, 0, 5], [0, 0, 7]]
    >>> bright = conncomp.component_statistics(labels, image, surfaces=True, spacing=(2, 0.5))
    >>> bright.sums, bright.means, bright.maxima
    (array([40, 12]), array([20.,  6.]), array([30,  7]))
    >>> bright.volumes, bright.faces, bright.surface_areas
    (array([2., 2.]), array([[4, 2],
           [2, 4]]), array([6., 9.]))
    """
    if spacing is None:
        spacing = spacing_of(("labels", labels), ("image", image), ("classes", classes))
    image = laid_beside(classes, laid_beside(labels, image, "image"), "image", "classes")
    classes = laid_beside(labels, classes, "classes")
    if (other := function_for(labels, "component_statistics")) is not None:
        given: dict[str, Any] = {"moments": moments, "surfaces": surfaces, "spacing": spacing}
        given |= {"background": background, "batch_axes": batch_axes}
        given |= {"properties": properties, "classes": classes}
        return cast(ComponentStatistics, other(labels, image, **given))
    moments, surfaces = as_bool("moments", moments), as_bool("surfaces", surfaces)
    meaning = LabelMeaning(background, batch_axes)
    of_labels_alone = image is None and classes is None and properties is None
    if of_labels_alone and spacing is None and not surfaces:
        again = measuring.measure_batch_again(labels, meaning, moments)
        if again is not None:
            shapes, none = again
            return _table(shapes, none, (1.0,) * shapes.centroids.shape[1])
    return measure_labels(labels, image, classes, moments, surfaces, properties, spacing, meaning)


@where_labels_lie
def measure_labels(
    labels: ArrayLike,
    image: ArrayLike | None,
    classes: ArrayLike | None,
    moments: bool,
    surfaces: bool,
    properties: Iterable[str] | str | None,
    spacing: float | Sequence[float] | None,
    meaning: LabelMeaning,
) -> ComponentStatistics:
    """Measure labels, whose arguments with names of axes are aligned."""
    with ExitStack() as turns:
        if on_gpu(labels):
            turns.enter_context(turn)
        has_sums = on_gpu(labels) and classes is None
        sums = sums_wanted(labels, image, properties) if has_sums else None
        items, started = measuring.items_at_start(labels, meaning, sums)
        if started is None:
            turns.close()  # no memory is kept for such labels
        check_dimensions(len(items.shape))
        lengths = check_spacing(spacing, len(items.shape))
        conditions = Conditions(image is not None, lengths)
        named = None if properties is None else check_properties(properties, conditions)
        images, has_channels = check_images(image, items, named is not None)
        if named is not None and not any(entry.image for entry in named.values()):
            images = []  # checked, and not measured
        wanted = _Wanted(moments, surfaces, classes, named, images, has_channels, lengths)
        if started is None:
            return _columns(items, None, wanted)
        # While the GPU is at work; surfaces are looked for in labels, by what must be known.
        measured = _columns(*items_and_runs(items, started, labels, meaning, not surfaces), wanted)
        if not started.holds():
            measured = _columns(*items_and_runs(items, started, labels, meaning), wanted)
            started.holds()
        return measured


class _Wanted(NamedTuple):
    """The checked arguments: properties by name, images of channels, lengths."""

    moments: bool
    surfaces: bool
    classes: Any
    named: dict[str, Property] | None
    images: list[Intensities]
    has_channels: bool
    lengths: Spacing


def _columns(items: Items, runs: ComponentRuns | None, wanted: _Wanted) -> ComponentStatistics:
    named, images, xp = wanted.named, wanted.images, items.xp
    entries = () if named is None else named.values()
    with_covariances = wanted.moments or any(entry.of_covariances for entry in entries)
    first = images[0] if images else None
    components = measuring.measure_components(items, with_covariances, runs, first)
    channels = [Channel(image, *measure_image(items, components, image)) for image in images[:1]]
    components = components._replace(table=None, values=None)  # which are those of the first one
    channels += [Channel(image, *measure_image(items, components, image)) for image in images[1:]]
    columns = [channel.values for channel in channels]
    if set(wanted.lengths) != {1}:
        measuring.scale(xp, wanted.lengths, components.shapes, columns)
    gpu = None if xp is np else current_gpu()
    values, faces, classes = measuring.empty_columns(gpu, len(items.shape))
    if wanted.has_channels and images:
        values = Values(*(xp.stack(each, axis=-1) for each in zip(*columns, strict=True)))
    elif images:
        values = columns[0]
    if wanted.surfaces:
        faces = measuring.faces_of(items, components.rows)
    if wanted.classes is not None:
        classes = measuring.classes_of(items, components, wanted.classes)
    shapes = components.shapes
    if not wanted.moments:
        shapes = shapes._replace(moments=shapes.moments[:0])
    table = _table(shapes, OptionalColumns(values, faces, classes), wanted.lengths)
    if named is None:
        return table
    measured = Accumulators(items, components, channels, wanted.has_channels, wanted.lengths)
    properties = {} if wanted.classes is None else {"class": classes}
    properties |= {name: entry.values(measured) for name, entry in named.items() if name != "label"}
    return ComponentTable(**vars(table), properties=properties)


def _table(shapes: Shapes, more: OptionalColumns, spacing: Spacing) -> ComponentStatistics:
    columns = shapes._asdict() | more.values._asdict() | {"spacing": spacing}
    boxes, faces, classes = columns.pop("boxes"), more.faces, more.classes
    return ComponentStatistics(**columns, bounding_boxes=boxes, faces=faces, classes=classes)
