"""Components of volumes that come slab by slab."""

from conncomp.chunked.streams.batches import stream_labels

__all__ = ["stream_labels"]
