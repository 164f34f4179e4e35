"""The plugin for napari: label, measure, filter, largest, holes and contacts, on layers.

napari finds it by its manifest, ``napari.yaml``; `import conncomp` does not import it.
"""

from conncomp.napari.functions import (
    contacts_table,
    fill_holes,
    filter_by_column,
    keep_largest,
    label,
    measure,
)

__all__ = [
    "contacts_table",
    "fill_holes",
    "filter_by_column",
    "keep_largest",
    "label",
    "measure",
]
