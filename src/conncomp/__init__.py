"""Connected components of arrays and graphs."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

# The rooms, each with the public names that it has. A room is imported when one of its names is
# first asked for: all of them together take as long as NumPy.
_ROOMS = {
    "_config": ("get_num_threads", "set_num_threads", "show_config"),
    "chunked.measures.volume_file": ("open_volume",),
    "chunked.streams": ("stream_labels",),
    "chunked.volumes": ("label_file", "plan_labels"),
    "components": (
        *("component_members", "component_sizes", "component_spans", "size_histogram"),
        *("component_statistics", "iterate_components", "colour_components"),
        *("contacts", "region_adjacency", "match_labels"),
        *("fill_holes", "largest_components", "remove_small_components"),
        *("relabel_consecutive", "sort_by_size"),
    ),
    "graph": (
        "Graph",
        "IncrementalComponents",
        "condensation",
        "connected_components",
        "minimum_spanning_forest",
        "spanning_forest",
    ),
    "grid": (
        "Labeller",
        "cluster_wrapping",
        "component_wrapping",
        "label",
        "label_bonds",
        "percolates",
    ),
    "kernels.cuda.workspace": ("Workspace",),
    "io": ("read_image", "write_image", "write_view"),
    "tables": ("ClusterPairs", "cluster_dups", "cluster_pairs", "cluster_quality"),
    "tables.files.edges": (
        "label_edge_files",
        "minimum_spanning_forest_of_files",
        "spanning_forest_of_files",
    ),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}
# These have names of their own.
_OPEN_ROOMS = ("components", "diagnostics", "generate", "graph", "grid", "io", "models", "results")

__all__ = sorted(_ROOM_OF)

if TYPE_CHECKING:
    from conncomp import diagnostics as diagnostics
    from conncomp import results as results
    from conncomp._config import *
    from conncomp.chunked.measures.volume_file import *
    from conncomp.chunked.streams import *
    from conncomp.chunked.volumes import *
    from conncomp.components import *
    from conncomp.graph import *
    from conncomp.grid import *
    from conncomp.io import *
    from conncomp.kernels.cuda.workspace import Workspace as Workspace
    from conncomp.tables import *
    from conncomp.tables.files.edges import *

    __version__: str
else:

    def __getattr__(name: str) -> Any:
        if name in _ROOM_OF:
            value = getattr(import_module(f"conncomp.{_ROOM_OF[name]}"), name)
        elif name in _OPEN_ROOMS:
            value = import_module(f"conncomp.{name}")
        elif name == "__version__":
            # The metadata take as long as all other imports.
            from importlib.metadata import version

            value = version("conncomp")
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__, *_OPEN_ROOMS})
