"""The picture of the page on napari: ``python docs/napari_picture.py``, where napari has OpenGL.

Without a screen: ``xvfb-run -s "-screen 0 1400x900x24" python docs/napari_picture.py``.
"""

from __future__ import annotations

from pathlib import Path

from qtpy.QtWidgets import QApplication
from skimage import data

import napari
from conncomp.napari import widgets

TARGET = Path(__file__).parent / "pictures" / "napari.png"


def main() -> None:
    """Label and measure the coins, choose one of them, and take the picture."""
    viewer = napari.Viewer(show=True)
    viewer.window.resize(1350, 850)
    viewer.add_image(data.coins(), name="coins", scale=(0.1, 0.1), units=("mm", "mm"))
    form = widgets.label_widget()
    viewer.window.add_dock_widget(form, name="Label components", area="right")
    form.min_size.value = 100
    form()
    widget = widgets.MeasureWidget(viewer)
    viewer.window.add_dock_widget(widget, name="Measure components", area="right")
    widget.properties.value = "num_pixels, area, eccentricity, solidity, intensity_mean"
    widget.image.value = viewer.layers["coins"]
    widget.run()
    widget.table.native.selectRow(3)
    for _ in range(20):  # until all is laid out
        QApplication.processEvents()
    viewer.reset_view()
    QApplication.processEvents()
    viewer.screenshot(str(TARGET), canvas_only=False, flash=False)
    viewer.close()


if __name__ == "__main__":
    main()
