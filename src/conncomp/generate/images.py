"""Images, volumes and fields: noise, curves, mazes, blobs, cells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp.generate._arguments import array_library, check_int, check_real, check_shape
from conncomp.generate._edges import hilbert_path, spanning_tree
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

    Hard for whatever works on runs, which are short, and, near the percolation threshold (0.593 in
    two dimensions with connectivity 1, 0.407 with 2; 0.312 and 0.097 in three with 1 and 3), for
    whatever needs as many rounds as the winding clusters are long.

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
    cut: Image = xp.ascontiguousarray(blocks[tuple(slice(length) for length in lengths)])
    return cut


def spiral(size: int, *, device: str | None = None) -> Image:
    """Make Hawick's spiral: two arms, both one pixel wide, wound around each other.

    Very hard for whatever passes labels from neighbour to neighbour: each arm is ``size**2 / 2``
    pixels long.

    Parameters
    ----------
    size : int
        At least 2.
    device : {None, "cpu", "cuda"}, optional
        As for `random_array`.

    Returns
    -------
    ndarray of uint8, shape (size, size)
        1 and 2: one component each, with connectivity 1 as well as 2. ``spiral(size) == 1`` is the
        arm that begins in the corner.

    References
    ----------
    K. A. Hawick, A. Leist, D. P. Playne, "Parallel graph component labelling with GPUs and CUDA",
    Parallel Computing 36, 2010, Fig. 19.

    Examples
    --------
    >>> from conncomp import generate
    >>> generate.spiral(7)
    array([[1, 1, 1, 1, 1, 1, 1],
           [2, 2, 2, 2, 2, 2, 1],
           [1, 1, 1, 1, 1, 2, 1],
           [1, 2, 2, 2, 1, 2, 1],
           [1, 2, 1, 1, 1, 2, 1],
           [1, 2, 2, 2, 2, 2, 1],
           [1, 1, 1, 1, 1, 1, 1]], dtype=uint8)
    """
    n = check_int("size", size, 2, 1 << 28)
    xp = array_library(device)
    image: Image = (1 + _depth(xp, (n, n)) % 2).astype(np.uint8)
    # One pixel a ring, exchanged below the diagonal, turns rings into arms: it leaves its own ring
    # open, and leads the one around it to the one within.
    turn = xp.arange(1, n // 2 + 1)
    image[turn, turn - 1] = 3 - image[turn, turn - 1]
    return image


def rings(shape: Shape, *, device: str | None = None) -> Image:
    """Make concentric square rings, or boxes, one element thick and one apart.

    Hard for whatever unites runs: a ring has many rows, and its upper left corner is found long
    before its sides meet.

    Parameters
    ----------
    shape : int or sequence of int
        Of any number of dimensions.
    device : {None, "cpu", "cuda"}, optional
        As for `random_array`.

    Returns
    -------
    ndarray of uint8
        As many components as every second layer of the array makes, with any connectivity.

    Examples
    --------
    >>> from conncomp import generate
    >>> generate.rings((5, 6))
    array([[1, 1, 1, 1, 1, 1],
           [1, 0, 0, 0, 0, 1],
           [1, 0, 1, 1, 0, 1],
           [1, 0, 0, 0, 0, 1],
           [1, 1, 1, 1, 1, 1]], dtype=uint8)
    """
    depth = _depth(array_library(device), check_shape(shape))
    image: Image = (depth % 2 == 0).astype(np.uint8)
    return image


def _depth(xp: Any, shape: tuple[int, ...]) -> NDArray[np.int32]:
    """Return how many steps each element is from the border of the array."""
    depth: NDArray[np.int32] = xp.full(shape, np.iinfo(np.int32).max, np.int32)
    for axis, length in enumerate(shape):
        near = xp.arange(length, dtype=np.int32)
        near = xp.minimum(near, near[::-1])
        near = near.reshape([-1 if k == axis else 1 for k in range(len(shape))])
        xp.minimum(depth, near, out=depth)
    return depth


def maze(shape: Sequence[int], *, seed: int = 0, device: str | None = None) -> Image:
    """Make a perfect maze: between any two places there is exactly one way.

    Hard like `spiral`, and without its regularity: ways wind and branch, and fill half of the
    image.

    Parameters
    ----------
    shape : sequence of two int
        At least 3 each. Walls between places are one pixel wide; where a length is even, the last
        wall is two.
    seed : int, optional
    device : {None, "cpu", "cuda"}, optional
        As for `random_array`; made on the CPU and moved.

    Returns
    -------
    ndarray of uint8
        Ways are 1: one component with connectivity 1, and a tree. Walls are 0.

    Notes
    -----
    The minimum spanning tree of a square lattice with random weights: Kruskal's maze.

    References
    ----------
    D. Maddix, "Connected components", project report, 2014, labels mazes of up to 5.7 million
    pixels.

    Examples
    --------
    >>> from conncomp import generate
    >>> for row in generate.maze((7, 15)):
    ...     print("".join("# "[pixel] for pixel in row))
    ###############
    #       #     #
    # ####### #####
    # #           #
    # # ######### #
    #   #         #
    ###############
    """
    rows, columns = check_shape(shape, 2, shortest=3)
    xp = array_library(device)
    image = np.zeros((rows, columns), np.uint8)
    tree = spanning_tree((rows - 1) // 2, (columns - 1) // 2, seed)
    image[1:-1:2, 1:-1:2] = 1
    inside = image[1 : 1 + 2 * tree.shape[0], 1 : 1 + 2 * tree.shape[1]]
    inside[::2, 1::2] = tree[:, :, 0]
    inside[1::2, ::2] = tree[:, :, 1]
    moved: Image = xp.asarray(image)
    return moved


def comb(shape: Shape, *, device: str | None = None) -> Image:
    """Make a comb: teeth along the first axis, one element thick and one apart, and a back.

    Hard for scans in C order: each tooth looks like a component of its own until the last row
    unites them all. Every run is one element long.

    Parameters
    ----------
    shape : int or sequence of int
        Of any number of dimensions.
    device : {None, "cpu", "cuda"}, optional
        As for `random_array`.

    Returns
    -------
    ndarray of uint8
        One component with any connectivity.

    Examples
    --------
    >>> from conncomp import generate
    >>> generate.comb((3, 5))
    array([[1, 0, 1, 0, 1],
           [1, 0, 1, 0, 1],
           [1, 1, 1, 1, 1]], dtype=uint8)
    """
    image: Image = array_library(device).zeros(check_shape(shape), np.uint8)
    image[(slice(None), *[slice(None, None, 2)] * (image.ndim - 1))] = 1
    image[-1] = 1
    return image


def hilbert_curve(order: int, *, device: str | None = None) -> Image:
    """Draw the Hilbert curve, one pixel wide.

    Hard for whatever passes labels from neighbour to neighbour, as the curve fills half of the
    image; its nearness in every part is what tiles with room for a few turns make use of.

    Parameters
    ----------
    order : int
        From 0 to 15.
    device : {None, "cpu", "cuda"}, optional
        As for `random_array`.

    Returns
    -------
    ndarray of uint8, shape (2**(order + 1) - 1, 2**(order + 1) - 1)
        One component with any connectivity.

    References
    ----------
    D. Hilbert, "Über die stetige Abbildung einer Linie auf ein Flächenstück", Mathematische
    Annalen 38, 1891.

    Examples
    --------
    >>> from conncomp import generate
    >>> generate.hilbert_curve(2)
    array([[1, 0, 1, 1, 1, 1, 1],
           [1, 0, 1, 0, 0, 0, 1],
           [1, 1, 1, 0, 1, 1, 1],
           [0, 0, 0, 0, 1, 0, 0],
           [1, 1, 1, 0, 1, 1, 1],
           [1, 0, 1, 0, 0, 0, 1],
           [1, 0, 1, 1, 1, 1, 1]], dtype=uint8)
    """
    xp = array_library(device)
    x, y = hilbert_path(xp, check_int("order", order, 0, 15))
    side = (2 << order) - 1
    image: Image = xp.zeros((side, side), np.uint8)
    image[2 * x, 2 * y] = 1
    image[x[1:] + x[:-1], y[1:] + y[:-1]] = 1
    return image


def checkerboard(shape: Shape, *, device: str | None = None) -> Image:
    """Make a checkerboard.

    Hard for whatever works on runs or marks a label for each: no array has more of both. With
    connectivity 1, no more components are possible either.

    Parameters
    ----------
    shape : int or sequence of int
        Of any number of dimensions.
    device : {None, "cpu", "cuda"}, optional
        As for `random_array`.

    Returns
    -------
    ndarray of uint8
        1 where the coordinates add up to an even number: half of the elements, rounded up. One
        component with connectivity 2 and more if no axis but one is of length 1.

    Examples
    --------
    >>> from conncomp import generate
    >>> generate.checkerboard((3, 4))
    array([[1, 0, 1, 0],
           [0, 1, 0, 1],
           [1, 0, 1, 0]], dtype=uint8)
    """
    xp = array_library(device)
    image: Image = xp.ones((), np.uint8)
    for length in check_shape(shape):
        image = image[..., None] ^ (xp.arange(length) % 2).astype(np.uint8)
    return image


def all_equal(shape: Shape, value: int = 1, *, device: str | None = None) -> Image:
    """Make an array of one value.

    Hard for whatever takes a lock, or follows a chain of parents, for each element: there is one
    component of everything. All 0, it shows what labelling nothing costs.

    Parameters
    ----------
    shape : int or sequence of int
    value : int, optional
        From 0 to 255.
    device : {None, "cpu", "cuda"}, optional
        As for `random_array`.

    Returns
    -------
    ndarray of uint8

    Examples
    --------
    >>> from conncomp import generate
    >>> generate.all_equal((1, 3))
    array([[1, 1, 1]], dtype=uint8)
    """
    lengths, number = check_shape(shape), check_int("value", value, 0, 255)
    image: Image = array_library(device).full(lengths, number, np.uint8)
    return image


def blobs(
    shape: Shape,
    sigma: float = 8,
    density: float = 0.5,
    *,
    seed: int = 0,
    device: str | None = None,
) -> Image:
    """Make smooth blobs: a Gaussian-filtered field of noise above a threshold.

    The easy case, and the usual one in microscopy and porous media: long runs, smooth borders.

    Parameters
    ----------
    shape : int or sequence of int
        Of any number of dimensions. The field is periodic along all axes.
    sigma : float, optional
        Of the filter, in elements; above 0.
    density : float, optional
        The share of elements above the threshold.
    seed : int, optional
    device : {None, "cpu", "cuda"}, optional
        As for `random_array`; made on the CPU and moved.

    Returns
    -------
    ndarray of uint8

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
    image: Image = xp.asarray((field >= threshold).astype(np.uint8))
    return image


def voronoi(
    shape: Shape, cells: int, *, seed: int = 0, device: str | None = None
) -> NDArray[np.int32]:
    """Make Voronoi cells: each element has the number of the nearest of some random sites.

    Hard for whatever treats one value at a time, or has tables by value: there are many values, and
    no background. Like a segmentation of tissue or of grains.

    Parameters
    ----------
    shape : int or sequence of int
        Of any number of dimensions.
    cells : int
        How many sites, all different elements.
    seed : int, optional
    device : {None, "cpu", "cuda"}, optional
        As for `random_array`; made on the CPU and moved.

    Returns
    -------
    ndarray of int32
        Values from 1 to `cells`, all of which occur. A cell is one component but for the rare
        sliver that its border cuts off.

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
    image: NDArray[np.int32] = xp.asarray(numbers[tuple(nearest)])
    return image


def _distinct(count: int, high: int, seed: int) -> NDArray[Any]:
    """Draw `count` different integers below `high`."""
    if 4 * count > high:
        return permutation(high, seed=seed, purpose=Purpose.POINT)[:count]
    # Of so many draws, more than half as many are different, but for odds beyond astronomical.
    drawn = integers(2 * count + 64, high, seed=seed, purpose=Purpose.POINT)
    first = np.sort(np.unique(drawn, return_index=True)[1])
    return drawn[first[:count]]


def photograph(shape: Shape, *, seed: int = 0, device: str | None = None) -> Image:
    """Make an image like a photograph: noise on all scales, in 256 grey levels.

    Like photographs it has flat areas, where it is black or white, and areas where no two
    neighbours are equal; nearly every element is a run.

    Parameters
    ----------
    shape : int or sequence of int
        Of any number of dimensions. The field is periodic along all axes.
    seed : int, optional
    device : {None, "cpu", "cuda"}, optional
        As for `random_array`; made on the CPU and moved.

    Returns
    -------
    ndarray of uint8

    Notes
    -----
    White noise whose Fourier amplitudes are divided by the frequency, as those of natural images
    fall off; two standard deviations to either side of the mean become black and white.

    References
    ----------
    D. J. Field, "Relations between the statistics of natural images and the response properties of
    cortical cells", Journal of the Optical Society of America A 4, 1987.

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
    frequency = np.zeros(spectrum.shape, np.float32)
    for axis, length in enumerate(lengths):
        last = axis == len(lengths) - 1
        along = (np.fft.rfftfreq if last else np.fft.fftfreq)(length).astype(np.float32)
        frequency += (along**2).reshape([-1 if k == axis else 1 for k in range(len(lengths))])
    frequency.flat[0] = np.inf  # no mean
    spectrum /= np.sqrt(frequency)
    field = np.asarray(irfftn(spectrum, s=lengths))
    field *= 64 / (field.std() or 1)
    image: Image = xp.asarray(np.clip(field + 128, 0, 255).astype(np.uint8))
    return image
