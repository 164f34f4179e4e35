"""Pictures of the algorithms, drawn when the documentation is built.

Each function steps through an algorithm on an input of a few elements, in plain Python, and what it
ends with is held against what conncomp finds: a picture that is wrong ends the build.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from figures import arrays, drawing, forests, graphs, hawick, models, papers, strong

MODULES = arrays, forests, graphs, hawick, models, papers, strong
FIGURES: dict[str, Callable[[], Figure]] = {
    function.__name__: function for module in MODULES for function in module.FIGURES
}


def write(folder: Path) -> None:
    """Write figures into a folder, as SVG."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in FIGURES.items():
        with drawing.style():
            drawing.save(draw(), folder / f"{name}.svg")


def setup(app: Any) -> dict[str, bool]:
    """Let Sphinx draw them before it reads the pages."""
    folder = Path(app.srcdir) / "generated" / "figures"
    app.connect("builder-inited", lambda app: write(folder))
    return {"parallel_read_safe": True}
