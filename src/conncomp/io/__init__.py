"""Files in, files out. Graphs are read by `conncomp.Graph.read`."""

from conncomp.files.access import atomic_path
from conncomp.files.images import read_image, write_image
from conncomp.io.view import write_view

__all__ = ["atomic_path", "read_image", "write_image", "write_view"]
