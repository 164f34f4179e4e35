"""Connected components of arrays and graphs."""

from typing import TYPE_CHECKING

from conncomp._config import get_num_threads, set_num_threads, show_config
from conncomp.components import (
    Component,
    ComponentStatistics,
    Contacts,
    colour_components,
    component_members,
    component_sizes,
    component_spans,
    component_statistics,
    contacts,
    each,
    fill_holes,
    largest_components,
    region_adjacency,
    relabel_consecutive,
    remove_small_components,
    size_histogram,
    sort_by_size,
)
from conncomp.gpu import Workspace, kernel_times
from conncomp.graph import (
    Condensation,
    Graph,
    IncrementalComponents,
    PathLengths,
    condensation,
    connected_components,
    minimum_spanning_forest,
    path_lengths,
    spanning_forest,
)
from conncomp.grid import (
    ComponentWrapping,
    cluster_wrapping,
    component_wrapping,
    label,
    label_bonds,
    percolates,
)
from conncomp.io import read_image, write_image, write_view

__all__ = [
    "Component",
    "ComponentStatistics",
    "ComponentWrapping",
    "Condensation",
    "Contacts",
    "Graph",
    "IncrementalComponents",
    "PathLengths",
    "Workspace",
    "cluster_wrapping",
    "colour_components",
    "component_members",
    "component_sizes",
    "component_spans",
    "component_statistics",
    "component_wrapping",
    "condensation",
    "connected_components",
    "contacts",
    "each",
    "fill_holes",
    "get_num_threads",
    "kernel_times",
    "label",
    "label_bonds",
    "largest_components",
    "minimum_spanning_forest",
    "path_lengths",
    "percolates",
    "read_image",
    "region_adjacency",
    "relabel_consecutive",
    "remove_small_components",
    "set_num_threads",
    "show_config",
    "size_histogram",
    "sort_by_size",
    "spanning_forest",
    "write_image",
    "write_view",
]

if TYPE_CHECKING:
    from conncomp import generate as generate
    from conncomp import models as models

    __version__: str
else:

    def __getattr__(name: str) -> object:
        """Find the version, and modules that few need, when they are asked for.

        The metadata take as long as all other imports.
        """
        if name in ("generate", "models"):
            from importlib import import_module

            return import_module(f"conncomp.{name}")
        if name != "__version__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib.metadata import version

        return version("conncomp")

    def __dir__() -> list[str]:
        """Tell of these names, too."""
        return sorted({*globals(), "__version__", "generate", "models"})
