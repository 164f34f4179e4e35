"""The suites: tables of inputs, each a function of the size and of a folder of published data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from conncomp.bench.inputs import Input
from conncomp.bench.suites import graphs, grids

Problem = Literal["graph", "grid", "strong"]
Suite = Callable[[str, Path | None], list[Input]]

SUITES: dict[Problem, dict[str, Suite]] = {
    "graph": {
        "hawick-graphs": graphs.hawick,
        "ecl-18": graphs.ecl,
        "wang": graphs.wang,
        "hard": graphs.hard,
    },
    "grid": {
        "hawick-arrays": grids.hawick,
        "maddix": grids.maddix,
        "images": grids.images,
        "volumes": grids.volumes,
        "hard": grids.hard,
    },
    "strong": {"scc": graphs.scc},
}
