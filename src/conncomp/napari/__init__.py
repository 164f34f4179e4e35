"""The plugin for napari: label, measure, filter, largest, holes and contacts, on layers.

napari finds it by its manifest, ``napari.yaml``; `import conncomp` does not import it.
"""

from conncomp.napari.contacts import contacts_table
from conncomp.napari.labelling import fill_holes, keep_largest, label
from conncomp.napari.measuring import filter_by_column, measure

__all__ = [
    "contacts_table",
    "fill_holes",
    "filter_by_column",
    "keep_largest",
    "label",
    "measure",
]
