"""What ``conncomp label`` is given."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conncomp.cli._output import is_within_zarr
from conncomp.files.hdf5 import is_hdf5
from conncomp.files.slabs import Raw


@dataclass(frozen=True)
class Options:
    """What the command is given."""

    input: Path
    output: Path | None
    key: str | None
    channel: int | None
    grey: bool
    threshold: int | float | str | None
    background: int | float
    connectivity: int | None
    periodic: bool | list[bool] | list[int]
    top: int | None
    min_size: int | None
    stats: Path | None
    spacing: tuple[float, ...] | None
    picture: Path | None
    device: str
    as_json: bool
    stats_only: bool
    raw: Raw | None
    memory: int | None

    @property
    def has_chunks(self) -> bool:
        """Whether the volume, or its labels, are labelled block by block."""
        if self.input.is_dir() or (self.input.is_file() and is_hdf5(self.input)):
            return True
        output = self.output
        return output is not None and (output.suffix.lower() == ".zarr" or is_within_zarr(output))


def finite(number: Any) -> Any:
    """Return what JSON has, a finite number or text."""
    return number if math.isfinite(number) else str(number)
