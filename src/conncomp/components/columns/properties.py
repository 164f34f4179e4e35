"""The properties that columns can be asked for, by the names of scikit-image's ``regionprops``.

Formulas of shapes and moments are its own, too; areas and lengths of intercepts are Crofton's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from difflib import get_close_matches
from functools import lru_cache, partial, reduce
from math import inf, pi
from operator import add
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import shown
from conncomp._arrays import as_cupy, on_gpu
from conncomp.components._labels import Spacing, library_at
from conncomp.components.columns import crops
from conncomp.components.columns.accumulators import Accumulators, Channel, directions, hu
from conncomp.components.columns.crops import Contents, LazyColumn
from conncomp.components.columns.intensities import is_narrow, room_of
from conncomp.kernels.cuda.components.measures import Sums

# The columns of a table by default, and those that an image adds.
USUAL = ("num_pixels", "area", "bbox", "centroid")
USUAL_OF_IMAGE = ("intensity_mean", "intensity_min", "intensity_max")

QUANTILE = "intensity_quantile-"
PLANE, SOLID, SHAPE = (2,), (3,), (2, 3)
MOMENTS = (1, 2, 3, 4)  # of which there are 4 to the power of so many
FILLED = tuple(range(1, 11))  # as each line has 3 to the power of so many beside it
# Properties that follow from sums and extremes of coordinates, and then from those of values.
OF_PLACES = {
    *("label", "num_pixels", "area", "area_bbox", "axis_major_length", "axis_minor_length"),
    *("bbox", "centroid", "centroid_local", "eccentricity", "equivalent_diameter_area"),
    *("extent", "inertia_tensor", "inertia_tensor_eigvals", "orientation"),
}
OF_SUMS = OF_PLACES | {"intensity_max", "intensity_mean", "intensity_min", "intensity_std"}
MOST_UNEVEN = 1e5  # longest spacing over the shortest, up to which Crofton's lines differ

# Lengths of a path through an element of a border: straight, aslant, turning.
PATHS = [1, 2**0.5, (1 + 2**0.5) / 2]


class Property(NamedTuple):
    """A property: a function of its values, an array or a `LazyColumn`, and when it exists.

    Items of so many `axes` have it, or all; some need an image, equal lengths along all axes,
    lengths of 1, or none more than so many times another. Others follow from covariances.
    """

    values: Callable[[Accumulators], Any]
    axes: tuple[int, ...] = ()
    image: bool = False
    even_spacing: bool = False
    no_spacing: bool = False
    most_uneven: float = inf
    is_lazy: bool = False
    of_covariances: bool = False

    def obstacle(self, known: Conditions) -> str:
        """Say why there are no such values; nothing if there are."""
        ndim = len(known.spacing)
        if self.axes and ndim not in self.axes:
            few = len(self.axes) < 3
            wanted = " or ".join(map(str, self.axes)) if few else f"1 to {self.axes[-1]}"
            return f"is of labels of {wanted} axes, and an item has {ndim}"
        if self.image and not known.has_image:
            return "is of the values of an image; pass image="
        uneven = len(set(known.spacing)) > 1
        if (self.even_spacing and uneven) or (self.no_spacing and set(known.spacing) != {1}):
            lengths = "of 1" if self.no_spacing else "that is the same along all axes"
            return f"is defined for a spacing {lengths} only, and spacing={known.spacing}"
        if max(known.spacing) > self.most_uneven * min(known.spacing):
            most = f"none is more than {self.most_uneven:g} times as large as another"
            return f"is defined for lengths of which {most}, and spacing={known.spacing}"
        return ""


class Conditions(NamedTuple):
    """The conditions on which properties exist."""

    has_image: bool
    spacing: Spacing  # a length for each axis


def check_properties(properties: Iterable[str] | str, known: Conditions) -> dict[str, Property]:
    """Return the properties that are asked for, by name, in order; "all" are those of numbers."""
    if isinstance(properties, str) and properties == "all":
        entries = PROPERTIES.items()
        properties = [k for k, each in entries if not each.is_lazy and not each.obstacle(known)]
    try:
        wanted = None if isinstance(properties, (str, bytes)) else tuple(properties)
    except Exception:  # of many types
        wanted = None
    if wanted is None:
        told = f"properties={shown(properties)} must be a sequence of names, such as ['area']"
        raise TypeError(f"{told}, or 'all'")
    for name in wanted:
        if not isinstance(name, str):
            raise TypeError(f"properties has {shown(name)}, which is not a name")
    return dict(_checked(wanted, known))


@lru_cache(maxsize=64)
def _checked(names: tuple[str, ...], known: Conditions) -> dict[str, Property]:
    wanted = {name: _property(name) for name in names}
    for name, entry in wanted.items():
        if flaw := entry.obstacle(known):
            raise ValueError(f"properties has {name!r}, which {flaw}")
    return wanted


def current_name(name: str) -> str:
    """Return what a property is called today, by any name of scikit-image."""
    return EARLIER_NAMES.get(name, name)


def _property(name: str) -> Property:
    name = current_name(name)
    if name in PROPERTIES:
        return PROPERTIES[name]
    if name.startswith(QUANTILE):
        return _quantile(name)
    close = get_close_matches(name, PROPERTIES, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else f"; there are {', '.join(PROPERTIES)}"
    raise ValueError(f"properties has {shown(name)}, which is no property{hint}")


def _quantile(name: str) -> Property:
    fraction = np.nan
    with suppress(ValueError):
        fraction = float(name[len(QUANTILE) :])
    if not 0 <= fraction <= 1:
        told = f"properties has {shown(name)}"
        raise ValueError(f"{told}; it must end with a number of 0 to 1, as {QUANTILE}0.25")
    return _of_channels(lambda measured, channel: measured.quantiles(channel, fraction))


def _of_channels(values: Callable[[Accumulators, Channel], Any]) -> Property:
    """Return the property of the channel, or of all with one more axis."""
    return _weighted(lambda measured: [values(measured, one) for one in measured.channels], axes=())


def _extremes(channel: Channel, largest: bool) -> Any:
    if channel.reals is not None:
        return channel.reals[1 + largest]
    values = channel.values
    return (values.maxima if largest else values.minima).astype(np.float64)


def _weighted(
    values: Callable[[Accumulators], Any], axes: tuple[int, ...] = MOMENTS, no_spacing: bool = False
) -> Property:

    def stacked(measured: Accumulators) -> Any:
        channels = values(measured)
        return measured.xp.stack(channels, axis=-1) if measured.has_channels else channels[0]

    return Property(stacked, axes, image=True, no_spacing=no_spacing)


def _lazy(make: Callable[[Contents, int], Any], image: bool = False, **options: Any) -> Property:
    def column(measured: Accumulators) -> LazyColumn:
        return LazyColumn(measured.contents(values=image), make)

    return Property(column, image=image, is_lazy=True, **options)


_ellipse = partial(Property, of_covariances=True)


def _euler_number(connectivity: int) -> Property:
    axes = tuple(axes for axes in SHAPE if axes >= connectivity)
    return Property(lambda measured: measured.configurations[:, connectivity - 1], axes)


def weighted_hu(measured: Accumulators) -> list[Any]:
    """Return Hu's invariants of the weighted moments of each channel."""
    return [hu(channel) for channel in measured.weighted_normalized_moments]


def equivalent_diameter(measured: Accumulators) -> Any:
    """Return the diameters of circles or balls of the same size, as scikit-image defines them."""
    return (2 * measured.ndim * measured.sizes * measured.volume / pi) ** (1 / measured.ndim)


def box_areas(measured: Accumulators) -> Any:
    """Return the areas of bounding boxes, or their volumes."""
    boxes = measured.boxes
    return (boxes[:, :, 1] - boxes[:, :, 0]).prod(axis=1) * measured.volume


def inertia_tensor(measured: Accumulators) -> Any:
    """Return the matrices of the moments of inertia over the size."""
    xp, covariances = measured.xp, measured.covariances
    traces = xp.trace(covariances, axis1=1, axis2=2)
    return traces[:, None, None] * xp.eye(measured.ndim) - covariances


def axis_length(measured: Accumulators, axis: int) -> Any:
    """Return the length of an axis of the ellipsoids of the same covariances, 0 the longest."""
    return 2 * measured.xp.sqrt((measured.ndim + 2) * measured.variances[:, axis])


def eccentricity(measured: Accumulators) -> Any:
    """Return those of the ellipses of the same covariances: 0 of a circle or an element."""
    xp = measured.xp
    longest, shortest = measured.variances[:, 0], measured.variances[:, 1]
    return xp.sqrt(1 - xp.where(longest > 0, shortest / xp.where(longest > 0, longest, 1), 1))


def orientation(measured: Accumulators) -> Any:
    """Return the angles between the first axis and the longest one, of -pi/2 to pi/2."""
    xp, covariances = measured.xp, measured.covariances
    both, difference = covariances[:, 0, 1], covariances[:, 0, 0] - covariances[:, 1, 1]
    even = xp.where(both > 0, pi / 4, -pi / 4)
    return xp.where(difference == 0, even, xp.arctan2(2 * both, difference) / 2)


def perimeter(measured: Accumulators) -> Any:
    """Return the lengths of the paths through the elements of borders."""
    return _weighted_sums(measured.borders, PATHS) * measured.spacing[0]


def crofton(measured: Accumulators) -> Any:
    """Return the lengths of borders in two dimensions, and the areas of surfaces in three."""
    weights = crofton_weights(measured.spacing)
    return _weighted_sums(measured.configurations[:, measured.ndim :], weights)


def _weighted_sums(counts: Any, weights: Iterable[float]) -> Any:
    return reduce(add, (counts[:, k] * float(weight) for k, weight in enumerate(weights)))


def crofton_weights(spacing: Spacing) -> Any:
    """Return, for each of the `directions`, what an intercept adds.

    That is length, or area, per line, times the part of all directions that are nearest to it.
    """
    steps = directions(len(spacing)) * np.array(spacing)
    lengths = np.linalg.norm(steps, axis=1)
    nearer = _nearer_angles(steps) if len(spacing) == 2 else _nearer_areas(steps / lengths[:, None])
    return nearer * (np.prod(spacing) / lengths)


def _nearer_angles(steps: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the angles of directions that are nearer to each of some lines; together pi."""
    angles = np.arctan2(steps[:, 0], steps[:, 1]) % pi
    order = np.argsort(angles)
    gaps = np.diff(angles[order], append=angles[order[0]] + pi)
    nearer = np.empty(len(steps))
    nearer[order] = (gaps + np.roll(gaps, 1)) / 2
    return nearer


def _nearer_areas(lines: NDArray[np.float64]) -> Any:
    """Return the parts of the sphere that are nearer to each of some lines; together 4."""
    from scipy.spatial import SphericalVoronoi  # which takes a while to import

    cells = SphericalVoronoi(np.concatenate([lines, -lines]))
    return cells.calculate_areas()[: len(lines)] * (2 / pi)


def sphericity(measured: Accumulators) -> Any:
    """Return the surface of a ball of the same volume over the surface by Crofton's formula."""
    return pi ** (1 / 3) * (6 * (measured.sizes * measured.volume)) ** (2 / 3) / crofton(measured)


def principal_axes(moments: Any) -> tuple[Any, Any]:
    """Return what `ComponentStatistics.principal_axes` does."""
    xp, ndim = library_at(moments), moments.shape[-1]
    if not len(moments):
        return xp.empty((0, ndim)), xp.empty((0, ndim, ndim))
    variances, vectors = xp.linalg.eigh(moments)
    lengths = 2 * xp.sqrt((ndim + 2) * xp.maximum(variances[:, ::-1], 0))
    directions = vectors.swapaxes(1, 2)[:, ::-1]
    largest = xp.argmax(xp.abs(directions), axis=2)[..., None]
    signs = xp.where(xp.take_along_axis(directions, largest, axis=2) < 0, -1.0, 1.0)
    return lengths, directions * signs


def sums_wanted(labels: Any, image: Any, properties: Any) -> Sums | None:
    """Return what to add up of labels on a GPU, if properties ask for no more."""
    if properties is not None:
        if not isinstance(properties, (list, tuple)):
            return None
        names = {name if isinstance(name, str) else "" for name in properties}
        if not names <= OF_SUMS:
            return None
        image = None if names <= OF_PLACES else image
    if image is None:
        return Sums(None)
    if not on_gpu(image) or image.shape != labels.shape or image.size == 0:
        return None
    values = as_cupy(image)
    if values.dtype.kind == "b":
        values = values.view(np.uint8)
    is_known = values.dtype == np.float32 or is_narrow(values.dtype, room_of(labels.shape))
    is_itself = is_known and values.flags.c_contiguous
    return Sums(values) if is_itself and values.data.ptr != labels.data.ptr else None


# Names before scikit-image 0.19, which still takes them.
EARLIER_NAMES = {
    "equivalent_diameter": "equivalent_diameter_area",
    "intensity_image": "image_intensity",
    "local_centroid": "centroid_local",
    "weighted_local_centroid": "centroid_weighted_local",
    **{f"weighted_{name}": f"{name}_weighted" for name in ("centroid", "moments")},
    **{f"weighted_moments_{k}": f"moments_weighted_{k}" for k in ("central", "hu", "normalized")},
    **{f"{kind}_axis_length": f"axis_{kind}_length" for kind in ("major", "minor")},
    **{f"{kind}_area": f"area_{kind}" for kind in ("bbox", "convex", "filled")},
    **{f"{kind}_image": f"image_{kind}" for kind in ("convex", "filled")},
    **{f"{kind}_intensity": f"intensity_{kind}" for kind in ("max", "mean", "min", "std")},
}

PROPERTIES: dict[str, Property] = {
    "label": Property(lambda measured: None),
    "num_pixels": Property(lambda measured: measured.sizes),
    "area": Property(lambda measured: measured.sizes * measured.volume),
    "area_bbox": Property(box_areas),
    "area_convex": Property(lambda measured: measured.hulls[0] * measured.volume, SHAPE),
    "area_filled": Property(lambda measured: measured.filled * measured.volume, FILLED),
    "axis_major_length": _ellipse(partial(axis_length, axis=0)),
    "axis_minor_length": _ellipse(partial(axis_length, axis=-1)),
    "bbox": Property(lambda measured: measured.boxes.swapaxes(1, 2).reshape(-1, 2 * measured.ndim)),
    "centroid": Property(lambda measured: measured.centroids),
    "centroid_local": Property(lambda measured: measured.centroids - measured.first_corners),
    "contact_area": Property(lambda measured: measured.touching.area),
    "contacts": Property(lambda measured: measured.touching.contacts),
    "num_touching": Property(lambda measured: measured.touching.components),
    "eccentricity": _ellipse(eccentricity, PLANE),
    "equivalent_diameter_area": Property(equivalent_diameter),
    "euler_number": Property(lambda measured: measured.configurations[:, measured.ndim - 1], SHAPE),
    **{f"euler_number_{k}": _euler_number(k) for k in (1, 2, 3)},
    "extent": Property(lambda measured: measured.sizes * measured.volume / box_areas(measured)),
    "feret_diameter_max": Property(lambda measured: measured.hulls[1], SHAPE),
    "feret_diameter_min": Property(lambda measured: measured.hulls[2], PLANE),
    "inertia_tensor": _ellipse(inertia_tensor),
    "inertia_tensor_eigvals": _ellipse(lambda measured: measured.moments_of_inertia),
    "moments": Property(lambda measured: measured.moments[0], MOMENTS),
    "moments_central": Property(lambda measured: measured.moments[1], MOMENTS),
    "moments_normalized": Property(lambda measured: measured.normalized_moments, MOMENTS),
    "moments_hu": Property(
        lambda measured: hu(measured.normalized_moments), PLANE, no_spacing=True
    ),
    "orientation": _ellipse(orientation, PLANE),
    "perimeter": Property(perimeter, PLANE, even_spacing=True),
    "perimeter_crofton": Property(crofton, PLANE),
    "solidity": Property(lambda measured: measured.sizes / measured.hulls[0], SHAPE),
    "sphericity": Property(sphericity, SOLID, most_uneven=MOST_UNEVEN),
    "surface_area_crofton": Property(crofton, SOLID, most_uneven=MOST_UNEVEN),
    "intensity_max": _of_channels(lambda _, channel: _extremes(channel, largest=True)),
    "intensity_mean": _of_channels(lambda _, channel: channel.values.means),
    "intensity_median": _of_channels(lambda measured, channel: measured.quantiles(channel, 0.5)),
    "intensity_min": _of_channels(lambda _, channel: _extremes(channel, largest=False)),
    "intensity_std": _of_channels(Accumulators.deviations),
    "centroid_weighted": _weighted(
        lambda measured: [measured.first_corners + local for local in measured.weighted_centroids]
    ),
    "centroid_weighted_local": _weighted(lambda measured: measured.weighted_centroids),
    "moments_weighted": _weighted(lambda measured: measured.weighted_moments),
    "moments_weighted_central": _weighted(lambda measured: measured.weighted_central_moments),
    "moments_weighted_hu": _weighted(weighted_hu, PLANE, no_spacing=True),
    "moments_weighted_normalized": _weighted(lambda measured: measured.weighted_normalized_moments),
    "slice": _lazy(crops.slices),
    "coords": _lazy(Contents.coordinates),
    "coords_scaled": _lazy(Contents.scaled_coordinates),
    "image": _lazy(crops.image),
    "image_convex": _lazy(crops.hull_image, axes=SHAPE),
    "image_filled": _lazy(crops.filled_image, axes=FILLED),
    "image_intensity": _lazy(crops.image_of_values, image=True),
}
