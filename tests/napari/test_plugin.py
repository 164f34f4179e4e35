"""The plugin, in napari's own layers and model of a viewer, without a screen or OpenGL."""

import tomllib
from pathlib import Path

import napari.components
import napari.layers
import npe2
import numpy as np
import pytest
from skimage import data, filters, measure

import conncomp
from conncomp.napari import (
    contacts_table,
    fill_holes,
    filter_by_column,
    keep_largest,
    label,
    widgets,
)
from conncomp.napari import measure as measure_layer

COINS = data.coins()
LABELS = measure.label(filters.threshold_otsu(COINS) < COINS, connectivity=2)


@pytest.fixture
def coins():
    return napari.layers.Image(COINS, name="coins", scale=(0.5, 0.25), units=("um", "um"))


@pytest.fixture
def labels():
    return napari.layers.Labels(LABELS, name="cells", scale=(0.5, 0.25), units=("um", "um"))


def layer_of(made):
    return napari.layers.Layer.create(*made)


def test_label(coins):
    layer = layer_of(label(coins))
    np.testing.assert_array_equal(layer.data, LABELS)
    np.testing.assert_array_equal(layer.scale, coins.scale)
    assert layer.units == coins.units
    assert layer.name == "components of coins"
    assert layer_of(label(coins, 100.0, min_size=50)).data.max() > 0
    dark = layer_of(label(coins, "li", dark=True, connectivity=1)).data
    assert (dark > 0).sum() == (filters.threshold_li(COINS) >= COINS).sum()


def test_an_image_in_colour_is_refused():
    layer = napari.layers.Image(data.astronaut(), name="a", rgb=True)
    with pytest.raises(ValueError, match="'a' is in colour; split its channels first"):
        label(layer)


def test_measure(labels, coins):
    table = measure_layer(labels, coins)
    wanted = measure.regionprops_table(
        LABELS,
        COINS,
        properties=["label", "area", "centroid", "intensity_mean"],
        spacing=(0.5, 0.25),
    )
    for name, column in wanted.items():
        np.testing.assert_allclose(table[name], column)


def test_choices(labels):
    sizes = np.bincount(LABELS.ravel())
    sizes[0] = 0
    largest = layer_of(keep_largest(labels, 3)).data
    assert set(np.unique(largest)) == {0, *np.argsort(-sizes)[:3]}
    kept = layer_of(filter_by_column(labels, "num_pixels", 100, 900)).data
    assert set(np.unique(kept)) == {0, *np.flatnonzero((sizes >= 100) & (sizes <= 900))}
    assert layer_of(filter_by_column(labels, "bbox-0", 0, 10)).data.any()
    with pytest.raises(ValueError, match="did you mean 'area'"):
        filter_by_column(labels, "areas")
    with pytest.raises(ValueError, match="column='bbox' must be one of label, bbox-0"):
        filter_by_column(labels, "bbox")


def test_holes():
    ring = np.pad(np.zeros((3, 3), int), 1, constant_values=4)
    layer = napari.layers.Labels(np.pad(ring, 1))
    np.testing.assert_array_equal(layer_of(fill_holes(layer)).data[1:-1, 1:-1], 4)


def test_contacts():
    layer = napari.layers.Labels(np.array([[1, 1, 0], [2, 2, 3]]), scale=(2, 0.5))
    table = contacts_table(layer)
    assert [column.tolist() for column in table.values()] == [[1, 2], [2, 3], [2, 1], [1.0, 2.0]]


def test_where_there_is_no_gpu(labels):
    with pytest.raises(ImportError, match="work on a GPU needs CuPy"):
        keep_largest(labels, device="cuda")


def test_manifest():
    """Of every command there is what the manifest names."""
    path = conncomp.__path__[0] + "/napari/napari.yaml"
    manifest = npe2.PluginManifest.from_file(path)
    manifest.validate_imports()
    named = {command.python_name.split(":")[1] for command in manifest.contributions.commands}
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    manifests = project["entry-points"]["napari.manifest"]
    assert manifests == {"conncomp": "conncomp.napari:napari.yaml"}
    assert named == {name for name in vars(widgets) if name.lower().endswith("widget")}


@pytest.fixture
def viewer(qapp):
    """The model of a viewer: layers, place and camera, but no canvas, which would need OpenGL."""
    return napari.components.ViewerModel()


def test_forms(viewer, coins):
    form = widgets.label_widget()
    form.image.choices = [coins]
    viewer.add_layer(layer_of(form()))
    np.testing.assert_array_equal(viewer.layers["components of coins"].data, LABELS)
    form.threshold.value, form.value.value, form.min_size.value = "value", 120, 20
    sizes = np.bincount(layer_of(form()).data.ravel())
    assert sizes[sizes > 0].min() >= 20
    for factory, name in (
        (widgets.largest_widget, "largest of components of coins"),
        (widgets.holes_widget, "filled of components of coins"),
        (widgets.filter_widget, "num_pixels filtered of components of coins"),
    ):
        form = factory()
        form.layer.choices = list(viewer.layers)
        assert layer_of(form()).name == name


def test_a_table_that_selects(viewer, coins, labels):
    viewer.add_layer(coins)
    viewer.add_layer(labels)
    widget = widgets.MeasureWidget(viewer)
    widget.layer.choices, widget.image.choices = [labels], [coins]
    widget.image.value = coins
    widget.button.native.click()
    rows, names = widget.table.shape[0], list(widget.table.column_headers)
    assert rows == LABELS.max()
    assert names[:3] == ["label", "num_pixels", "area"]
    assert "intensity_mean" in names
    assert list(labels.features["index"]) == list(range(1, rows + 1))
    widget.table.native.selectRow(5)
    assert labels.selected_label == 6
    middle = np.round(labels.world_to_data(viewer.camera.center[-2:])).astype(int)
    assert LABELS[tuple(middle)] == 6
    widget.properties.value = "eccentricity, area"
    widget.run()
    assert list(widget.table.column_headers) == ["label", "eccentricity", "area"]


def test_contacts_that_select(viewer):
    volume = np.zeros((4, 5, 5), int)
    volume[1:3, 1:3, 1:3], volume[3, 1:3, 1:3] = 1, 2
    layer = viewer.add_labels(volume, scale=(2, 1, 1))
    widget = widgets.ContactsWidget(viewer)
    widget.layer.choices = [layer]
    widget.run()
    assert [list(row) for row in widget.table.data[:]] == [[1, 2, 4, 4.0]]
    widget.choose(2)
    assert (layer.selected_label, viewer.dims.point[0]) == (2, 6.0)
