"""What is larger than memory: streams of slabs."""

from conncomp.chunked.streams import stream_labels

__all__ = ["stream_labels"]
