"""Widgets of the plugin: forms by magicgui around the functions, and tables that select."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from conncomp import napari as functions
from conncomp._optional import optional

if TYPE_CHECKING:
    import napari

magicgui = optional("magicgui")
widgets = optional("magicgui.widgets")
Container: Any = widgets.Container

WAYS = ("otsu", "li", "triangle", "local:51", "value")
DEVICES = ("cpu", "cuda")
MOST_ROWS, TABLE_HEIGHT = 100_000, 320

# Annotations are names of classes of napari, as it makes choices of layers of them.
_form = magicgui.magic_factory


@_form(
    threshold={"choices": WAYS},
    value={"min": -1e12, "max": 1e12, "label": "value above"},
    min_size={"min": 1, "max": 2**31 - 1},
    device={"choices": DEVICES},
    call_button="label",
)
def label_widget(
    image: napari.layers.Image,
    threshold: str = "otsu",
    value: float = 0.0,
    dark: bool = False,
    faces_only: bool = False,
    min_size: int = 1,
    device: str = "cpu",
) -> napari.types.LayerDataTuple:
    """Label the components above a threshold."""
    above = value if threshold == "value" else threshold
    options: dict[str, Any] = {"dark": dark, "min_size": min_size, "device": device}
    return functions.label(image, above, connectivity=1 if faces_only else None, **options)


@_form(
    count={"min": 1, "max": 2**31 - 1}, device={"choices": DEVICES}, call_button="keep the largest"
)
def largest_widget(
    layer: napari.layers.Labels, count: int = 1, device: str = "cpu"
) -> napari.types.LayerDataTuple:
    """Keep the largest components."""
    return functions.keep_largest(layer, count, device=device)


@_form(device={"choices": DEVICES}, call_button="fill holes")
def holes_widget(layer: napari.layers.Labels, device: str = "cpu") -> napari.types.LayerDataTuple:
    """Fill the holes of components."""
    return functions.fill_holes(layer, device=device)


@_form(
    least={"min": -1e18, "max": 1e18},
    most={"min": -1e18, "max": 1e18},
    image={"nullable": True},
    call_button="filter",
)
def filter_widget(
    layer: napari.layers.Labels,
    column: str = "num_pixels",
    least: float = 0.0,
    most: float = 1e18,
    image: napari.layers.Image | None = None,
) -> napari.types.LayerDataTuple:
    """Keep the components whose column lies between two numbers."""
    return functions.filter_by_column(layer, column, least, most, image=image)


class _TableOfLabels(Container):  # type: ignore[misc]
    """A form with a table whose rows choose a label in the viewer."""

    def __init__(self, viewer: Any, button: str, *form: Any) -> None:
        self._viewer = viewer
        self.layer = widgets.create_widget(annotation="napari.layers.Labels", label="labels")
        self.device = widgets.ComboBox(choices=DEVICES, label="device")
        self.button = widgets.PushButton(text=button)
        self.table = widgets.Table()
        self.table.min_height = TABLE_HEIGHT
        self.button.changed.connect(self.run)
        self.table.native.itemSelectionChanged.connect(self._choose_current)
        shown = [self.layer, *form, self.device, self.button, self.table]
        super().__init__(widgets=shown, labels=True)

    def run(self) -> None:
        """Fill the table; a table of more rows than anybody reads is cut."""
        columns = self.columns(self.layer.value)
        self.table.value = {name: each[:MOST_ROWS].tolist() for name, each in columns.items()}
        self.table.read_only = True

    def columns(self, layer: Any) -> Mapping[str, NDArray[Any]]:
        raise NotImplementedError

    def _choose_current(self) -> None:
        row = self.table.native.currentRow()
        if row >= 0:
            self.choose(int(self.table.data[row, self.table.column_headers.index("label")]))

    def choose(self, label: int) -> None:
        """Choose a label in its layer, and go to where most of it lies."""
        layer = self.layer.value
        layer.selected_label = label
        places = np.argwhere(np.asarray(layer.data) == label)
        if len(places):
            middle = places[len(places) // 2]
            world = layer.data_to_world(middle)
            self._viewer.dims.set_point(range(len(world)), world)
            self._viewer.camera.center = world[-3:]


class MeasureWidget(_TableOfLabels):
    """Measures components; the table is that of the layer's features, too."""

    def __init__(self, napari_viewer: napari.viewer.Viewer) -> None:
        self.image = widgets.create_widget(
            annotation="napari.layers.Image", label="image", options={"nullable": True}
        )
        self.properties = widgets.LineEdit(label="columns")
        super().__init__(napari_viewer, "measure", self.image, self.properties)

    def columns(self, layer: Any) -> Mapping[str, NDArray[Any]]:
        """Return the columns, and give them to the layer."""
        names = [word for word in self.properties.value.replace(" ", "").split(",") if word]
        image, device = self.image.value, self.device.value
        table = functions.measure(layer, image, properties=names, device=device)
        layer.features = functions.features_of(table)
        return table


class ContactsWidget(_TableOfLabels):
    """Lists which components touch."""

    def __init__(self, napari_viewer: napari.viewer.Viewer) -> None:
        super().__init__(napari_viewer, "find contacts")

    def columns(self, layer: Any) -> Mapping[str, NDArray[Any]]:
        """Return the pairs of labels that touch."""
        return functions.contacts_table(layer, device=self.device.value)
