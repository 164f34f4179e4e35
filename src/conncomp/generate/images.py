"""Images, volumes and fields: noise, blobs, cells, a photograph."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from conncomp.generate._arguments import array_library, check_int, check_real, check_shape
from conncomp.generate.random import Purpose, integers, permutation, uniform

Image = NDArray[np.uint8]
Shape = int | Sequence[int]


def random_array(
    shape: Shape,
    density: float = 0.5,
    *,
    values: int = 1,
    block: int = 1,
    seed: int = 0,
    device: str | None = None,
) -> Image:
    """Make an array of noise.

    Parameters
    ----------
    shape : int or sequence of int
        Of any number of dimensions.
    density : float, optional
        The probability that an element is not 0.
    values : int, optional
        Elements that are not 0 are drawn from 1 to `values`, at most 255.
    block : int, optional
        Blocks of this edge have the same value.
    seed : int, optional
    device : {None, "cpu", "cuda"}, optional
        "cuda" gives a CuPy array, of the same values.

    Returns
    -------
    ndarray of uint8
        As of all that makes images, but for `voronoi`.

    Examples
    --------
    >>> from conncomp import generate
    >>> generate.random_array((2, 8), 0.6)
    array([[0, 0, 0, 1, 1, 1, 1, 0],
           [0, 1, 1, 0, 1, 0, 1, 0]], dtype=uint8)
    """
    lengths = check_shape(shape, shortest=0)
    share = np.float32(check_real("density", density, 0, 1))
    top = check_int("values", values, 1, 255)
    edge = check_int("block", block, 1)
    coarse = tuple(-(-length // edge) for length in lengths)
    xp = array_library(device)
    image = xp.empty(math.prod(coarse), np.uint8)
    for start in range(0, image.size, 1 << 24):  # so that the numbers take little memory
        part = image[start : start + (1 << 24)]
        draw: Any = {"seed": seed, "start": start, "device": device}
        part[:] = uniform(len(part), purpose=Purpose.KEEP, dtype=np.float32, **draw) < share
        if top > 1:
            value = integers(len(part), top, purpose=Purpose.VALUE, dtype=np.int32, **draw)
            part *= (1 + value).astype(np.uint8)
    blocks = image.reshape(coarse)
    for axis in range(len(coarse) if edge > 1 else 0):
        blocks = blocks.repeat(edge, axis)
    return cast(Image, xp.ascontiguousarray(blocks[tuple(map(slice, lengths))]))


def blobs(
    shape: Shape,
    sigma: float = 8,
    density: float = 0.5,
    *,
    seed: int = 0,
    device: str | None = None,
) -> Image:
    """Make smooth blobs: a Gaussian-filtered field of noise above a threshold.

    The field is periodic along all axes.

    Parameters
    ----------
    sigma : float, optional
        Of the filter, in elements; above 0.
    density : float, optional
        The share of elements above the threshold.
    shape, seed, device
        As for `random_array`; made on the CPU and moved.

    Examples
    --------
    >>> from conncomp import generate
    >>> float(generate.blobs((100, 100), density=0.3).mean())
    0.3
    """
    from scipy.ndimage import gaussian_filter

    xp = array_library(device)
    lengths = check_shape(shape)
    share = check_real("density", density, 0, 1)
    noise = uniform(math.prod(lengths), seed=seed, purpose=Purpose.VALUE, dtype=np.float32)
    width = check_real("sigma", sigma, 0)
    field = gaussian_filter(noise.reshape(lengths) - np.float32(0.5), width, mode="wrap")
    below = round((1 - share) * field.size)
    threshold = np.inf if below == field.size else np.partition(field, below, axis=None)[below]
    return cast(Image, xp.asarray((field >= threshold).astype(np.uint8)))


def voronoi(
    shape: Shape, cells: int, *, seed: int = 0, device: str | None = None
) -> NDArray[np.int32]:
    """Make Voronoi cells: each element has the number of the nearest of some random sites.

    A cell is one component but for the rare sliver that its border cuts off.

    Parameters
    ----------
    cells : int
        How many sites, all different elements.
    shape, seed, device
        As for `random_array`; made on the CPU and moved.

    Returns
    -------
    ndarray of int32
        Values from 1 to `cells`, all of which occur.

    Examples
    --------
    >>> from conncomp import generate
    >>> generate.voronoi((4, 9), 3)
    array([[1, 1, 1, 1, 1, 2, 2, 2, 2],
           [1, 1, 1, 1, 2, 2, 2, 2, 2],
           [1, 1, 1, 1, 2, 2, 2, 2, 2],
           [3, 3, 3, 3, 2, 2, 2, 2, 2]], dtype=int32)
    """
    from scipy.ndimage import distance_transform_edt

    xp = array_library(device)
    lengths = check_shape(shape)
    size = math.prod(lengths)
    count = check_int("cells", cells, 1, size)
    sites = _distinct(count, size, seed)
    numbers = np.zeros(size, np.int32)
    numbers[sites] = np.arange(1, count + 1)
    numbers = numbers.reshape(lengths)
    nearest = distance_transform_edt(numbers == 0, return_distances=False, return_indices=True)
    return cast("NDArray[np.int32]", xp.asarray(numbers[tuple(nearest)]))


def _distinct(count: int, high: int, seed: int) -> NDArray[Any]:
    if 4 * count > high:
        return permutation(high, seed=seed, purpose=Purpose.POINT)[:count]
    # More than `count` of these draws differ, but with a probability too small to matter.
    drawn = integers(2 * count + 64, high, seed=seed, purpose=Purpose.POINT)
    return drawn[np.sort(np.unique(drawn, return_index=True)[1])[:count]]


def photograph(shape: Shape, *, seed: int = 0, device: str | None = None) -> Image:
    """Make an image like a photograph: noise on all scales, in 256 grey levels.

    It is periodic along all axes.

    Parameters
    ----------
    shape, seed, device
        As for `random_array`; made on the CPU and moved.

    Examples
    --------
    >>> from conncomp import generate
    >>> len(np.unique(generate.photograph((256, 256))))
    256
    """
    from scipy.fft import irfftn, rfftn

    xp = array_library(device)
    lengths = check_shape(shape)
    noise = uniform(math.prod(lengths), seed=seed, purpose=Purpose.VALUE, dtype=np.float32)
    spectrum = rfftn(noise.reshape(lengths))
    along = [*map(np.fft.fftfreq, lengths[:-1]), np.fft.rfftfreq(lengths[-1])]
    frequency = np.asarray(sum(np.ix_(*(each.astype(np.float32) ** 2 for each in along))))
    frequency.flat[0] = np.inf  # no mean
    spectrum /= np.sqrt(frequency)
    field = np.asarray(irfftn(spectrum, s=lengths))
    field *= 64 / (field.std() or 1)
    return cast(Image, xp.asarray(np.clip(field + 128, 0, 255).astype(np.uint8)))
