"""Sizes, statistics, selection, contacts and colours of labelled components."""

from conncomp.components.holes import fill_holes
from conncomp.components.matching import Matches, MatchScores, match
from conncomp.components.pictures.colouring import colour_components
from conncomp.components.renumbering import relabel_consecutive
from conncomp.components.selection import (
    largest_components,
    remove_small_components,
    sort_by_size,
)
from conncomp.components.sizes import (
    component_members,
    component_sizes,
    component_spans,
    size_histogram,
)
from conncomp.components.statistics import (
    ComponentStatistics,
    ComponentTable,
    component_statistics,
)
from conncomp.components.touching import Contacts, contacts, region_adjacency
from conncomp.components.walking import Component, each

__all__ = [
    "Component",
    "ComponentStatistics",
    "ComponentTable",
    "Contacts",
    "MatchScores",
    "Matches",
    "colour_components",
    "component_members",
    "component_sizes",
    "component_spans",
    "component_statistics",
    "contacts",
    "each",
    "fill_holes",
    "largest_components",
    "match",
    "region_adjacency",
    "relabel_consecutive",
    "remove_small_components",
    "size_histogram",
    "sort_by_size",
]
