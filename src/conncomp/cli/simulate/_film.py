"""Films of components: GIFs of the labels of a model as it is updated."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import conncomp
from conncomp._arrays import move_from_gpu, on_gpu
from conncomp._optional import optional
from conncomp.cli._picture import middle_plane
from conncomp.files.access import atomic_path
from conncomp.models import Model

FRAMES, MILLISECONDS = 100, 80
# Frames are thinned out to this, and are in memory, a byte a pixel, until all are there.
LONGEST_SIDE = 800
MOST_FRAMES, MOST_PIXELS = 1000, 1 << 28


def film_every(shape: Sequence[int], measurements: int, every: int | None) -> int:
    """Return of how many measurements one has a frame; raise ValueError if there are too many.

    >>> film_every((64, 64), 2000, None)
    20
    """
    plane = middle_plane(np.broadcast_to(np.int8(0), shape), LONGEST_SIDE).pixels
    most = min(MOST_FRAMES, MOST_PIXELS // plane.size)
    chosen = max(1, -(-measurements // FRAMES)) if every is None else every
    frames = -(-measurements // chosen)
    if frames > most:
        height, width = plane.shape
        raise ValueError(
            f"--film would have {frames} frames of {width} x {height} pixels, and at most {most} "
            f"are taken; give --film-every {-(-measurements // most)} or more"
        )
    return chosen


class Film:
    """The frames of a film of the first lattice; components that stay keep their colours."""

    def __init__(self, shape: Sequence[int], every: int) -> None:
        self._image = optional("PIL.Image")
        self._shape, self._every, self._calls = shape, every, 0
        self._frames: list[Any] = []

    def __call__(self, model: Model[Any]) -> None:
        """Add a frame, if it is time for one."""
        if self._calls % self._every == 0:
            first = model.labels(numbering="roots").reshape(-1, *self._shape)[0]
            plane = middle_plane(first, LONGEST_SIDE).pixels
            roots = move_from_gpu(plane.copy()) if on_gpu(plane) else plane
            colours = conncomp.colour_components(roots, background=-1)
            self._frames.append(self._image.fromarray(colours).quantize())
        self._calls += 1

    def write(self, path: Path) -> None:
        """Write the film."""
        first, *later = self._frames
        with atomic_path(path) as temporary, temporary.open("wb") as file:
            how = {"save_all": True, "append_images": later, "duration": MILLISECONDS, "loop": 0}
            first.save(file, format="GIF", **how)
