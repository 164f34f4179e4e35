"""Connected components of arrays and graphs."""

from conncomp._config import get_num_threads, set_num_threads, show_config
from conncomp.graph import Graph, connected_components
from conncomp.grid import label
from conncomp.io import read_image, write_image

__all__ = [
    "Graph",
    "connected_components",
    "get_num_threads",
    "label",
    "read_image",
    "set_num_threads",
    "show_config",
    "write_image",
]
