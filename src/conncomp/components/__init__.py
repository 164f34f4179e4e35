"""Sizes, statistics, selection, contacts and colours of labelled components."""

from conncomp.components.colouring import colour_components
from conncomp.components.holes import fill_holes
from conncomp.components.matching import match_labels
from conncomp.components.renumbering import relabel_consecutive
from conncomp.components.selection import largest_components, remove_small_components, sort_by_size
from conncomp.components.sizes import (
    component_members,
    component_sizes,
    component_spans,
    size_histogram,
)
from conncomp.components.statistics import component_statistics
from conncomp.components.touching import contacts, region_adjacency
from conncomp.components.walking import iterate_components

__all__ = [
    "colour_components",
    "component_members",
    "component_sizes",
    "component_spans",
    "component_statistics",
    "contacts",
    "fill_holes",
    "iterate_components",
    "largest_components",
    "match_labels",
    "region_adjacency",
    "relabel_consecutive",
    "remove_small_components",
    "size_histogram",
    "sort_by_size",
]
