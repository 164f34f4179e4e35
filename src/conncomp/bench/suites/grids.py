"""Suites of images, volumes and fields.

References
----------
.. [H] K. A. Hawick, A. Leist, D. P. Playne, "Parallel graph component labelling with GPUs and
   CUDA", Parallel Computing 36, 2010.
.. [M] D. Maddix, "Optimizations of algorithms to identify strongly connected components in CUDA",
   project report, 2014.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp import generate
from conncomp.bench.inputs import ELEMENT_BYTES, GPU_ELEMENT_BYTES, Input
from conncomp.generate import patterns

Make = Callable[..., NDArray[Any]]


def _input(
    name: str,
    what: str,
    shape: tuple[int, ...],
    connectivity: int,
    make: Make,
    stand_in: bool = False,
    element_bytes: int = ELEMENT_BYTES,
) -> Input:
    size = math.prod(shape)
    lengths = f"{shape[0]}³" if len(shape) == 3 else " x ".join(map(str, shape))
    num_bytes, gpu_bytes = size * element_bytes, size * GPU_ELEMENT_BYTES
    return Input(name, f"{what}, {lengths}", num_bytes, make, stand_in, connectivity, gpu_bytes)


def hawick(size: str, data: Path | None = None) -> list[Input]:
    """List the fields of [H]_, section 6.3: every element has a value, faces connect.

    The published fields come from a Cahn–Hilliard simulation; smooth ones stand in for them.
    """
    sides = {"tiny": (32, 64), "small": (256, 512, 1024), "medium": (256, 512, 1024, 2048)}
    return hawick_of_lengths(sides.get(size, (256, 512, 1024, 2048, 4096)))


def hawick_of_lengths(lengths: Sequence[int]) -> list[Input]:
    """List the fields of [H]_ of so many elements along both axes."""
    inputs = []
    for n in lengths:
        spiral, phases = partial(patterns.spiral, n), partial(_phases, (n, n))
        inputs.append(_input(f"spiral-{n}", "two arms one pixel wide", (n, n), 1, spiral))
        text = "two phases with smooth borders"
        inputs.append(_input(f"phases-{n}", text, (n, n), 1, phases, True))
    return inputs


def _phases(shape: tuple[int, ...], device: str | None = None) -> NDArray[np.uint8]:
    return generate.blobs(shape, sigma=4, device=device) + np.uint8(1)


def maddix(size: str, data: Path | None = None) -> list[Input]:
    """List images like those of the table of [M]_, which were not published; faces connect.

    The report gives the size of the first, and by how many pixels "stanford" exceeds "maze2"; what
    it does not say is in proportion to the times of its fastest kernel.
    """
    return maddix_images(1 / {"tiny": 40, "small": 4, "medium": 2, "full": 1}[size])


def maddix_images(scale: float) -> list[Input]:
    """List the images of `maddix`, whose sides are so many times as long as published."""
    rows: tuple[tuple[str, str, tuple[int, int], Make], ...] = (
        ("maze", "a maze", (2400, 2380), patterns.maze),
        ("maze2", "a maze", (1850, 1850), partial(patterns.maze, seed=1)),
        ("simple", "large shapes", (1000, 1000), partial(generate.blobs, sigma=40)),
        ("simple2", "large shapes", (1200, 1200), partial(generate.blobs, sigma=30, seed=1)),
        ("smallballs", "round spots", (850, 850), partial(generate.blobs, sigma=12, density=0.1)),
        ("smallcrosses", "small spots", (550, 550), partial(generate.blobs, sigma=3, density=0.1)),
        ("smallstanford", "a photograph", (500, 500), partial(generate.photograph, seed=1)),
        ("stanford", "a photograph", (1850, 1861), generate.photograph),
    )
    inputs = []
    for name, text, (height, width), make in rows:
        shape = int(height * scale), int(width * scale)
        inputs.append(_input(name, text, shape, 1, partial(make, shape), True))
    return inputs


def _noise(percents: Sequence[int], shape: tuple[int, ...]) -> list[Input]:
    """List noise: densities with all neighbours, and one with faces only."""

    def noise(name: str, percent: int, text: str, connectivity: int) -> Input:
        make = partial(generate.random_array, shape, percent / 100)
        return _input(name, f"{percent} % set at random{text}", shape, connectivity, make)

    inputs = [noise(f"random-{percent}", percent, "", len(shape)) for percent in percents]
    return [*inputs, noise("random-50-faces", 50, ", faces connect", 1)]


def images(size: str, data: Path | None = None) -> list[Input]:
    """List square images: noise of several densities, blobs, rings."""
    n = {"tiny": 64, "small": 2048, "medium": 4096, "full": 16384}[size]
    shape = n, n
    blobs, rings = partial(generate.blobs, shape), partial(patterns.rings, shape)
    return [
        *_noise((10, 50, 60, 90), shape),
        _input("blobs", "smooth blobs", shape, 2, blobs),
        _input("rings", "concentric rings one pixel wide", shape, 2, rings),
    ]


def volumes(size: str, data: Path | None = None) -> list[Input]:
    """List cubes: noise of several densities, blocks of several values, blobs."""
    n = {"tiny": 16, "small": 128, "medium": 256, "full": 512}[size]
    shape = n, n, n
    make, text = partial(generate.random_array, shape, 1, values=8, block=8), "blocks of 8³ of 8"
    return [
        *_noise((5, 10, 30, 50, 90), shape),
        _input("values", f"{text} values", shape, 3, make),
        _input("values-faces", f"{text} values, faces connect", shape, 1, make),
        _input("blobs", "smooth blobs", shape, 3, partial(generate.blobs, shape)),
    ]


def hard(size: str, data: Path | None = None) -> list[Input]:
    """List images that are each the worst for some algorithm."""
    order = {"tiny": 5, "small": 9, "medium": 11, "full": 13}[size]
    n = 2 << order
    shape = n, n
    inputs = []

    def image(name: str, text: str, connectivity: int, make: Make, **more: Any) -> None:
        inputs.append(_input(name, text, shape, connectivity, make, **more))

    image("spiral", "two arms one pixel wide", 2, partial(patterns.spiral, n))
    image("maze", "a tree of ways", 1, partial(patterns.maze, shape))
    image("percolation", "clusters wind most", 1, partial(generate.random_array, shape, 0.592746))
    image("comb", "teeth meet in the last row", 2, partial(patterns.comb, shape))
    image("checkerboard", "most runs, one component", 2, partial(patterns.checkerboard, shape))
    image("points", "most runs, most components", 1, partial(patterns.checkerboard, shape))
    image("hilbert", "a curve through everything", 1, partial(patterns.hilbert_curve, order))
    image("all-equal", "one component of everything", 2, partial(patterns.all_equal, shape))
    image("empty", "no component", 2, partial(patterns.all_equal, shape, 0))
    image("cells", "many values, no background", 2, partial(generate.voronoi, shape, n))
    photograph = partial(generate.photograph, shape)
    image("photograph", "nearly every pixel a run", 2, photograph, element_bytes=80)
    return inputs
