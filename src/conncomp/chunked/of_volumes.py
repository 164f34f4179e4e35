"""The functions that take labels in files, by the names of those that take arrays in memory."""

from conncomp.chunked.measures.components_in_chunks import (
    component_sizes,
    largest_components,
    relabel_consecutive,
    remove_small_components,
    size_histogram,
)
from conncomp.chunked.measures.measures_in_chunks import component_statistics, contacts
from conncomp.chunked.measures.overlapping import match_labels

__all__ = [
    "component_sizes",
    "component_statistics",
    "contacts",
    "largest_components",
    "match_labels",
    "relabel_consecutive",
    "remove_small_components",
    "size_histogram",
]
