"""Measures of all components for their columns, computed when a column first asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import INT32_MAX
from conncomp._array_storage import host_copy, new_array, on_host, placed
from conncomp._core import native
from conncomp.components._labels import Items, library_at
from conncomp.components.columns.crops import Contents, measure_solids
from conncomp.components.columns.intensities import Intensities
from conncomp.components.columns.measuring import Components, Values
from conncomp.components.touching import contact_steps, count_contacts, sums_of_kinds
from conncomp.grid._arguments import check_neighbourhood
from conncomp.kernels.cuda.components import configurations, moments
from conncomp.kernels.cuda.components.intensities import SortedValues
from conncomp.kernels.cuda.components.moments import LabelledComponents, principal_variances
from conncomp.kernels.cuda.components.runs import FEW_AXES
from conncomp.kernels.cuda.launcher import current_gpu

POWERS = 4  # of moments along each axis: 0 to 3
LONGEST = 1 << 29  # axis of which products of coordinates fit into 64 bits
MOST_BITS = 125  # of moments on a GPU
BORDER_KINDS = 3  # straight, aslant and turning, as in kernels/cpu/components/borders.h


class Touching(NamedTuple):
    """Numbers of components that touch one, of contacts with all of them, and their area."""

    components: Any
    contacts: Any
    area: Any


class Channel(NamedTuple):
    """An image, and columns of its values; `reals`: standard deviations, minima, maxima."""

    image: Intensities
    values: Values
    reals: Any = None


@dataclass
class Accumulators:
    """Components, and what columns ask for beside their shapes.

    Centroids and covariances are in units of `spacing`. If the image has an axis of channels, so
    have columns of its values. The `volume` is that of an element.
    """

    items: Items
    components: Components
    channels: Sequence[Channel]
    has_channels: bool
    spacing: tuple[float, ...]

    def __post_init__(self) -> None:
        self.rows, shapes = self.components.rows, self.components.shapes
        self.sizes, self.boxes = shapes.sizes, shapes.boxes
        self.centroids, self.covariances = shapes.centroids, shapes.moments
        self.xp, self.ndim = self.items.xp, len(self.items.shape)
        self.volume = prod(self.spacing)

    @cached_property
    def first_corners(self) -> Any:
        """The first coordinates of boxes, in units."""
        return self.boxes[:, :, 0] * self.xp.array(self.spacing)

    @cached_property
    def variances(self) -> Any:
        """Along the principal axes, the largest first."""
        if self._placed is not None and len(self.rows) and self.ndim in FEW_AXES:
            return self._spreads[0]
        xp, covariances = self.xp, self.covariances
        if not len(covariances):
            return xp.zeros((0, self.ndim))
        if self.ndim == 2:
            means = (covariances[:, 0, 0] + covariances[:, 1, 1]) / 2
            half = (covariances[:, 0, 0] - covariances[:, 1, 1]) / 2
            root = xp.sqrt(half * half + covariances[:, 0, 1] * covariances[:, 0, 1])
            values = xp.stack([means + root, means - root], axis=1)
        else:
            values = xp.linalg.eigvalsh(covariances)[:, ::-1]
        return xp.maximum(values, 0)

    @cached_property
    def moments_of_inertia(self) -> Any:
        """The eigenvalues of inertia tensors over the size, the largest first."""
        variances = self.variances
        if "_spreads" in vars(self):
            return self._spreads[1]
        return (variances.sum(axis=1)[:, None] - variances)[:, ::-1]

    @cached_property
    def _spreads(self) -> tuple[Any, Any]:
        """Both, on a GPU."""
        return principal_variances(current_gpu(), self.components.runs, self.covariances)

    @cached_property
    def runs(self) -> Any:
        """Runs of each component, of native code; those of a GPU as they are listed there."""
        if self._placed is not None:
            lists = map(on_host, self._placed.runs.lists)
            return native.sort_runs(self.items.shape, self.items.labels.size, *lists)
        return native.list_runs(*self._described)

    @cached_property
    def moments(self) -> tuple[Any, Any]:
        """Moments about the first corners, and about the centroids."""
        if self._placed is not None:
            self._check_room()
            raw, central = moments.element_moments(current_gpu(), self._placed, self.boxes)
        else:
            raw, central = (self._new((POWERS,) * self.ndim) for _ in range(2))
            self.runs.moments(*(array.reshape(-1) for array in (self.boxes, raw, central)))
        return self._in_units(raw), self._in_units(central)

    @cached_property
    def normalized_moments(self) -> Any:
        """Central moments over powers of the size."""
        return self._normalized(self.moments[1])

    @cached_property
    def weighted_moments(self) -> list[Any]:
        """Weighted moments of each channel, about the first corners."""
        return [self._in_units(moments) for moments in self._weighted_in_elements]

    @cached_property
    def weighted_centroids(self) -> list[Any]:
        """Weighted centroids of each channel, from the first corners on."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return [centroids_of(moments) for moments in self.weighted_moments]

    @cached_property
    def weighted_central_moments(self) -> list[Any]:
        """Weighted moments of each channel, about its weighted centroids."""
        pairs = zip(self.channels, self._weighted_in_elements, strict=True)
        return [self._in_units(self._weighted(channel, about)) for channel, about in pairs]

    @cached_property
    def weighted_normalized_moments(self) -> list[Any]:
        """Weighted central moments of each channel, over powers of the size."""
        return [self._normalized(moments) for moments in self.weighted_central_moments]

    @cached_property
    def _weighted_in_elements(self) -> list[Any]:
        """The `weighted_moments` for a spacing of 1."""
        return [self._weighted(channel) for channel in self.channels]

    @cached_property
    def configurations(self) -> Any:
        """Euler numbers of each connectivity, and intercepts of the `directions`."""
        axes = self.ndim
        if self._placed is not None:
            numbers = configurations.count_configurations(current_gpu(), self._placed)
        else:
            numbers = self._new((axes + len(directions(axes)),), np.int64)
            native.count_configurations(*self._described, numbers.reshape(-1))
        numbers[:, :axes] //= 2**axes
        return numbers

    @cached_property
    def borders(self) -> Any:
        """The number of elements of each kind in the borders."""
        if self._placed is not None:
            return configurations.count_borders(current_gpu(), self._placed)
        kinds = self._new((BORDER_KINDS,), np.int64)
        native.count_borders(*self._described, kinds.reshape(-1))
        return kinds

    @cached_property
    def touching(self) -> Touching:
        """What each component touches."""
        items, xp = self.items, self.xp
        neighbourhood = check_neighbourhood(None, None, False, items.shape, "labels")
        steps = contact_steps(neighbourhood, items.shape)
        pairs, kinds = count_contacts(*items.numbered, steps)
        ends = xp.searchsorted(self.rows, xp.asarray(pairs).T.reshape(-1))
        both = xp.concatenate([xp.asarray(kinds)] * 2)
        count = len(self.rows)

        def total(weights: Any = None) -> Any:
            # Sums of integers, which floating point holds.
            return xp.bincount(ends, weights, minlength=count) if len(ends) else xp.zeros(count)

        sums = [total(both[:, kind]).astype(np.int64) for kind in range(steps.kinds)]
        face = [self.volume / self.spacing[axis] for axis in steps.axes]
        totals = xp.zeros(count, np.int64), xp.zeros(count)
        return Touching(total().astype(np.int64), *sums_of_kinds(sums, face, steps.times, *totals))

    @cached_property
    def hulls(self) -> tuple[Any, ...]:
        """Sizes of hulls, and largest and (in a plane) smallest Feret diameters, by the CPU."""
        columns: tuple[NDArray[Any], ...]
        if self.ndim == 3:
            contents, rows = self.contents(), range(len(self.rows))
            columns = measure_solids(map(contents.line_ends, rows), self.spacing)
        elif max(self.items.shape) > LONGEST:
            told = f"labels has an axis of {max(self.items.shape)} elements, more than {LONGEST}"
            raise ValueError(f"{told}, of which there are hulls; measure parts of it")
        else:
            types = np.int64, np.float64, np.float64
            columns = tuple(new_array(np, (len(self.rows),), dtype) for dtype in types)
            self.runs.hulls(self.spacing, *columns)
        return tuple(placed(self.xp, column) for column in columns)

    def contents(self, values: bool = False) -> Contents:
        """Return what entries of lazy columns are made of."""
        channels = [channel.image for channel in self.channels] if values else []
        copies = tuple((host_copy(image.values).reshape(-1), image.dtype) for image in channels)
        lengths = self.items.shape, self.spacing
        return Contents(self.runs, on_host(self.boxes), *lengths, copies, self.has_channels)

    @cached_property
    def filled(self) -> Any:
        """The numbers of elements that components have and enclose."""
        counts = new_array(np, (len(self.rows),), np.int64)
        self.runs.enclosed(counts)
        return self.sizes + placed(self.xp, counts)

    def deviations(self, channel: Channel) -> Any:
        """Return the standard deviations of values."""
        if channel.reals is not None:
            return channel.reals[0]
        values, means = channel.image.values, channel.values.means
        if self._placed is not None:
            sums = moments.squared_deviations(current_gpu(), self._placed, values, means)
        else:
            sums = self._new(())
            self.runs.squares(values.reshape(-1), means, sums)
        return self.xp.sqrt(sums / self.sizes)

    def quantiles(self, channel: Channel, fraction: float) -> Any:
        """Return the values below which a fraction of each component's values lie."""
        quantiles = self._new(())
        if self._placed is None:
            self.runs.quantiles(channel.image.values.reshape(-1), [fraction], quantiles)
        elif len(self.rows):
            return self._sorted_values[id(channel)].quantiles(fraction)
        return quantiles

    @cached_property
    def _sorted_values(self) -> dict[int, SortedValues]:
        """The sorted values of each channel by its identity, on a GPU."""
        gpu, runs, sizes = current_gpu(), self.components.runs, self.sizes
        channels = self.channels if len(self.rows) else ()
        return {id(k): SortedValues(gpu, runs, k.image.values, sizes) for k in channels}

    @cached_property
    def _placed(self) -> LabelledComponents | None:
        """Labels and components as kernels for GPUs take them."""
        if self.xp is np:
            return None
        return LabelledComponents(*self.items.described, self.components.runs)

    def _check_room(self) -> None:
        if float(self.items.length) ** POWERS < 2.0**MOST_BITS:
            return  # boxes are no larger than an item, and the GPU need not be waited for
        spans = (self.boxes[:, :, 1] - self.boxes[:, :, 0]).astype(np.float64)
        largest = spans.prod(axis=1) ** (POWERS - 1) * self.sizes
        if len(self.rows) and float(largest.max()) >= 2.0**MOST_BITS:
            told = "labels has a component so large that its moments do not fit into 128 bits"
            raise ValueError(f"{told}; pass labels and image as NumPy arrays")

    @property
    def _described(self) -> tuple[Any, ...]:
        if len(self.rows) > INT32_MAX:
            told = f"labels has {len(self.rows)} components, more than {INT32_MAX}"
            raise ValueError(f"{told}, of which there are such columns; measure parts of it")
        return *self.items.flat, self.rows

    def _in_units(self, moments: Any) -> Any:
        if set(self.spacing) == {1}:
            return moments
        powers = product(*([length**p for p in range(POWERS)] for length in self.spacing))
        scale = self.xp.array([prod(factors) for factors in powers])
        return moments * scale.reshape((POWERS,) * self.ndim)

    def _normalized(self, central: Any) -> Any:
        if self._placed is not None and min(self.spacing) == 1:
            return moments.normalized_moments(current_gpu(), self._placed, central)
        return normalized(central, self.spacing)

    def _weighted(self, channel: Channel, about: Any = None) -> Any:
        """Return moments weighted by values, about first corners or centroids of such moments."""
        values = channel.image.values
        if self._placed is not None:
            return moments.weighted_moments(current_gpu(), self._placed, values, self.boxes, about)
        sums, corners = self._new((POWERS,) * self.ndim), self.boxes[:, :, 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            origins = corners if about is None else corners + centroids_of(about)
        flat = np.ascontiguousarray(origins, np.float64).reshape(-1)
        self.runs.weighted_moments(values.reshape(-1), flat, sums.reshape(-1))
        return sums

    def _new(self, shape: tuple[int, ...], dtype: Any = np.float64) -> Any:
        return new_array(self.xp, (len(self.rows), *shape), dtype)


def directions(axes: int) -> NDArray[np.int64]:
    """Return the steps of half of the neighbours, as kernels/core/configurations.h orders them."""
    steps = list(product((-1, 0, 1), repeat=axes))
    return np.array(steps[len(steps) // 2 + 1 :])


def centroids_of(moments: Any) -> Any:
    """Return the centroids, as first moments over those of order 0."""
    units = np.eye(moments.ndim - 1, dtype=int).tolist()
    first = library_at(moments).stack([moments[(slice(None), *unit)] for unit in units], axis=1)
    return first / _sizes_of(moments)[:, None]


def _sizes_of(moments: Any) -> Any:
    return moments[(slice(None), *(0,) * (moments.ndim - 1))]


def normalized(central: Any, spacing: tuple[float, ...]) -> Any:
    """Return central moments over powers of the size, NaN those of order below 2."""
    xp, ndim, powers = library_at(central), len(spacing), central.shape[-1]
    orders = np.indices((powers,) * ndim).sum(axis=0)
    sizes = _sizes_of(central)
    with np.errstate(divide="ignore", invalid="ignore"):
        root = sizes ** (1 / ndim)
        # Whole powers of negative sizes, as weights may make, are numbers.
        units = [
            min(spacing) ** order * sizes ** (1 + order // ndim) * root ** (order % ndim)
            for order in range(2, orders.max() + 1)
        ]
        unknown = xp.full_like(sizes, np.nan)
        moments = xp.stack([unknown, unknown, *units], axis=1)[:, xp.asarray(orders)]
        xp.divide(central, moments, out=moments)
    return moments


def hu(moments: Any) -> Any:
    """Return Hu's seven invariants (IRE Transactions on Information Theory, 1962) of moments."""
    a, b = moments[:, 3, 0] + moments[:, 1, 2], moments[:, 2, 1] + moments[:, 0, 3]
    c, d = moments[:, 3, 0] - 3 * moments[:, 1, 2], 3 * moments[:, 2, 1] - moments[:, 0, 3]
    both, total = moments[:, 1, 1], moments[:, 2, 0] + moments[:, 0, 2]
    difference = moments[:, 2, 0] - moments[:, 0, 2]
    e, f = a * (a**2 - 3 * b**2), b * (3 * a**2 - b**2)
    squares = total, difference**2 + 4 * both**2, c**2 + d**2, a**2 + b**2
    sixth = difference * (a**2 - b**2) + 4 * both * a * b
    return library_at(moments).stack([*squares, c * e + d * f, sixth, d * e - c * f], axis=1)
