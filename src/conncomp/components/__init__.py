"""What one does with labels."""

from conncomp.components.colouring import colour_components
from conncomp.components.selection import (
    largest_components,
    remove_small_components,
    sort_by_size,
)
from conncomp.components.sizes import component_members, component_sizes, size_histogram
from conncomp.components.spanning import component_spans
from conncomp.components.statistics import ComponentStatistics, component_statistics

__all__ = [
    "ComponentStatistics",
    "colour_components",
    "component_members",
    "component_sizes",
    "component_spans",
    "component_statistics",
    "largest_components",
    "remove_small_components",
    "size_histogram",
    "sort_by_size",
]
