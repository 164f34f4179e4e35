"""Labels of volumes in files, chunk by chunk."""

from conncomp.chunked.volumes.labelling import label_file

__all__ = ["label_file"]
