"""Connected components of arrays and graphs."""

from conncomp._config import get_num_threads, set_num_threads, show_config
from conncomp.graph import Graph, connected_components
from conncomp.grid import label

__all__ = [
    "Graph",
    "connected_components",
    "get_num_threads",
    "label",
    "set_num_threads",
    "show_config",
]
