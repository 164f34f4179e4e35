"""Files in, files out. Graphs are read by `conncomp.Graph.read`."""

from conncomp.io.files import atomic_path
from conncomp.io.images import read_image, write_image

__all__ = ["atomic_path", "read_image", "write_image"]
