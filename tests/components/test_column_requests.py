"""Which columns there are of what is given, channels, batches, quantiles, crops, and tables."""

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from skimage import measure

import conncomp
from changing_memory import written_by_another_thread
from conncomp.components.columns import accumulators
from conncomp.components.columns.measuring import LabelMeaning
from conncomp.components.columns.properties import PROPERTIES
from conncomp.components.statistics import measure_labels

LABELS = np.array([[0, 4, 4, 0, 9], [4, 4, 0, 9, 9], [0, 0, 0, 0, 9]])


def table_of(labels, image=None, properties="all", **options):
    return conncomp.component_statistics(labels, image, properties=properties, **options)


def noise(shape, seed=0):
    generator = np.random.default_rng(seed)
    return generator.integers(0, 5, shape), generator.random(shape)


def test_columns_are_those_of_skimage_and_label_comes_first():
    columns = table_of(LABELS, properties=["bbox", "centroid", "label", "area"]).columns()
    theirs = measure.regionprops_table(LABELS, properties=["label", "bbox", "centroid", "area"])
    assert list(columns) == list(theirs)
    for name, column in theirs.items():
        np.testing.assert_array_equal(columns[name], column, strict=True)


def test_every_property_of_skimage_is_there():
    assert {*measure._regionprops.COL_DTYPES} <= {*PROPERTIES}


def test_page_has_every_name():
    page = (Path(__file__).parents[2] / "docs/columns.rst").read_text()
    assert [name for name in PROPERTIES if f"``{name}``" not in page] == []


def test_attributes_stay():
    image = LABELS * 1.5
    plain = conncomp.component_statistics(LABELS, image, surfaces=True)
    table = table_of(LABELS, image, ["area", "intensity_max"], surfaces=True)
    unmeasured = table_of(LABELS, image, ["area"], surfaces=True)
    of_values = {"sums", "means", "minima", "maxima", "weighted_centroids"}
    for name in conncomp.results.ComponentStatistics.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(table, name), getattr(plain, name))
        if name in of_values:
            assert len(getattr(unmeasured, name)) == 0
        else:
            np.testing.assert_array_equal(getattr(unmeasured, name), getattr(plain, name))
    assert len(table_of(LABELS, properties=["orientation"], moments=False).moments) == 0
    assert list(table_of(LABELS, properties=[]).columns()) == ["label"]


@pytest.mark.parametrize("dtype", ["?", "u1", "i1", "u4", "i8", "u8", "f2", "f4", "f8"])
def test_images_of_any_type(dtype):
    labels, image = noise((20, 31))
    image = (image * 100).astype(dtype)
    table = table_of(labels, image)
    theirs = measure.regionprops_table(
        labels, image.astype(float), ["intensity_std", "intensity_median", "centroid_weighted"]
    )
    for name, values in theirs.items():
        np.testing.assert_allclose(table[name], values, rtol=1e-12)


@pytest.mark.parametrize("name", [name for name in PROPERTIES if name != "label"])
def test_a_property_alone_is_that_among_all(name):
    """Alone it is all that is measured: covariances, too, only of what follows from them."""
    if PROPERTIES[name].is_lazy or 2 not in (PROPERTIES[name].axes or (2,)):
        return
    labels = conncomp.label(np.random.default_rng(2).random((30, 40)) < 0.4)
    image = np.arange(labels.size).reshape(labels.shape)
    all_of_them = conncomp.component_statistics(labels, image, properties="all")[name]
    alone = table_of(labels, image, properties=[name], moments=False)[name]
    np.testing.assert_array_equal(alone, all_of_them)


def test_a_largest_label_that_is_known():
    labels = conncomp.label(np.random.default_rng(3).random((30, 40)) < 0.4)
    names = ["area", "bbox", "intensity_mean"]
    expected = table_of(labels, labels, properties=names).columns()
    for largest in (labels.max(), labels.max() + 9):
        wanted = False, False, names, None, LabelMeaning(0, 0, int(largest))
        table = measure_labels(labels, labels, None, *wanted)
        assert len(table.moments) == 0
        for name, column in table.columns().items():
            np.testing.assert_array_equal(column, expected[name])


def test_channels():
    labels, _ = noise((14, 17, 9))
    image = np.random.default_rng(1).random((14, 17, 9, 3))
    table = table_of(labels, image)
    names = [name for name in table.properties if "intensity" in name or "weighted" in name]
    theirs = measure.regionprops_table(labels, image, names)
    columns = table.columns()
    assert {name for name in columns if name.startswith(tuple(names))} == {*theirs}
    for name, values in theirs.items():
        np.testing.assert_allclose(columns[name], values, rtol=1e-8, atol=1e-8)
    assert table.sums.shape == (4, 3)
    assert table.weighted_centroids.shape == (4, 3, 3)
    assert table_of(labels, image[..., :1], ["intensity_mean"])["intensity_mean-0"].shape == (4,)


@pytest.mark.parametrize("background", [0, None, -1])
@pytest.mark.parametrize("dtype", ["i4", "i8"])
def test_batches_are_items_side_by_side(background, dtype):
    labels, image = noise((2, 3, 12, 15))
    labels = (labels + (labels > 2) * 1000 + min(background or 0, 0)).astype(dtype)
    options = {"background": background, "spacing": 0.5}
    names = [name for name in PROPERTIES if not name.startswith(("slice", "coords", "image"))]
    flat = [name for name in names if PROPERTIES[name].axes in ((), (2,), (2, 3), (1, 2, 3, 4))]
    flat = [name for name in flat if "hu" not in name and name != "euler_number_3"]
    both = table_of(labels, image, flat, batch_axes=2, **options)
    for index in np.ndindex(2, 3):
        one = table_of(labels[index], image[index], flat, **options)
        rows = (both.batch == index).all(axis=1)
        for name, values in one.columns().items():
            np.testing.assert_array_equal(both[name][rows], values)


def test_one_axis_and_four():
    line = np.array([1, 1, 0, 1, 2, 2])
    table = table_of(line, properties=["area_filled", "moments", "extent"], background=0)
    assert table["area_filled"].tolist() == [4, 2]
    assert table["moments"].tolist() == [[3, 4, 10, 28], [2, 1, 1, 1]]
    labels, _ = noise((3, 4, 5, 6))
    moments = table_of(labels, properties=["moments_central"])["moments_central"]
    for row, label in enumerate((1, 2, 3, 4)):
        places = np.argwhere(labels == label)
        wanted = (places - places.mean(axis=0)).prod(axis=1).sum()
        assert moments[row, 1, 1, 1, 1] == pytest.approx(wanted, rel=1e-9)


def test_moments_beyond_integers_of_64_bits():
    """Coordinates reach far, so that 128 bits are needed, or floating point."""
    for length in (3000, 1 << 20):
        labels = np.zeros((length, 2), np.uint8)
        labels[[0, length // 3, length - 1]] = 1
        moments = table_of(labels, properties=["moments", "moments_central"])
        y = np.array([0, length // 3, length - 1], object)
        assert moments["moments"][0, 3, 1] == pytest.approx(float(sum(y**3)), rel=1e-13)
        far = [(3 * place - sum(y)) ** 2 for place in y.tolist()]
        assert moments["moments_central"][0, 2, 0] == pytest.approx(2 * sum(far) / 9, rel=1e-12)
    line = np.zeros((1 << 22, 1), bool)
    line[[0, -1]] = True
    columns = table_of(line.astype(np.uint8), properties=["moments"])
    assert columns["moments"][0, 3, 0] == float((2**22 - 1) ** 3)
    volume = np.zeros((1, 1 << 11, 1 << 11), np.uint8)
    volume[0, [0, -1], [0, -1]] = 1
    central = table_of(volume, properties=["moments_central"])["moments_central"][0, 0]
    assert central[2, 2] == pytest.approx(2 * (2047 / 2) ** 4, rel=1e-12)


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.floats(0, 1), st.booleans())
def test_quantiles(seed, fraction, with_nan):
    labels, image = noise((9, 80), seed)
    image = np.round(image, 1)
    if with_nan:
        image[4, 7] = np.nan
    name = f"intensity_quantile-{fraction}"
    found = table_of(labels, image, [name, "intensity_median"])
    for row, label in enumerate(found.labels):
        values = image[labels == label]
        with np.errstate(invalid="ignore"):
            wanted = np.quantile(values, fraction)
        np.testing.assert_allclose(found[name][row], wanted, rtol=1e-14)
        np.testing.assert_array_equal(found["intensity_median"][row], np.median(values))


def test_quantiles_of_many_values():
    """More than are copied: digits of keys are counted."""
    image = np.random.default_rng(0).standard_normal((1100, 1000))
    names = [f"intensity_quantile-{fraction}" for fraction in (0, 0.1, 0.5, 1)]
    table = table_of(np.ones(image.shape, np.int32), image, names)
    for name in names:
        assert table[name][0] == np.quantile(image, float(name.split("-")[1]))
    assert table_of(LABELS, LABELS * np.nan, names)[names[1]].tolist() != []


def test_crops_are_made_when_asked_for():
    labels, image = noise((12, 11))
    labels[3:5, 3:5] = 7
    names = [name for name, entry in PROPERTIES.items() if entry.is_lazy]
    table = table_of(labels, image, names, spacing=(2, 0.5))
    regions = measure.regionprops(labels, image, spacing=(2, 0.5))
    for name in names:
        assert len(table[name]) == len(regions)
        for row, region in enumerate(regions):
            if name == "slice":
                assert table[name][row] == region.slice
            else:
                np.testing.assert_array_equal(
                    table[name][row], region[name], strict=name != "coords"
                )
    assert table["slice"][-1] == regions[-1].slice
    assert table["slice"][1:3] == [region.slice for region in regions[1:3]]
    with pytest.raises(IndexError):
        table["slice"][len(regions)]
    column = table.columns()["coords"]
    assert column.dtype == object
    assert column[0].tolist() == regions[0].coords.tolist()


def test_crops_of_solids_and_channels():
    labels = np.zeros((6, 7, 8), int)
    labels[1:5, 1:5, 2:7] = 3
    labels[2:4, 2:4, 3:5] = 0
    image = np.random.default_rng(0).random((*labels.shape, 2))
    (region,) = measure.regionprops(labels, image)
    names = ["image", "image_convex", "image_filled", "image_intensity", "coords"]
    table = table_of(labels, image, names)
    for name in names:
        np.testing.assert_array_equal(table[name][0], region[name])


def test_tables_of_other_libraries():
    table = table_of(LABELS, properties=["area", "bbox"])
    columns = table.columns()
    frames = table.to_pandas(), table.to_arrow().to_pandas(), table.to_polars().to_pandas()
    for frame in frames:
        assert list(frame) == list(columns)
        for name, column in columns.items():
            assert frame[name].tolist() == column.tolist()
    plain = conncomp.component_statistics(LABELS)
    assert plain.to_polars()["num_pixels"].to_list() == plain.sizes.tolist()
    assert len(table_of(LABELS, properties=["coords", "slice"]).to_pandas()["coords"][0]) == 4


def test_polars_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match=r"pip install 'conncomp\[tables\]'"):
        conncomp.component_statistics(LABELS).to_polars()


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (4, 5), (0, 2, 2)])
def test_no_components(shape):
    table = table_of(np.zeros(shape, int), np.zeros(shape))
    columns = table.columns()
    assert len(columns) > 100
    assert all(len(column) == 0 for column in columns.values())


def test_earlier_names_of_properties():
    """What they are called in tables of scikit-image, which has these names, too."""
    names = [
        ours
        for ours in measure._regionprops.PROPS
        if ours.islower() and ours not in PROPERTIES and "image" not in ours
    ]
    assert len(names) > 15
    image = np.random.default_rng(1).random(LABELS.shape)
    theirs = measure.regionprops_table(LABELS, image, properties=names)
    table = conncomp.component_statistics(LABELS, image, properties=names)
    ours = table.columns()
    assert [*ours] == ["label", *theirs]
    for name, column in theirs.items():
        np.testing.assert_allclose(ours[name], column, 1e-6, 1e-12)
    np.testing.assert_array_equal(table["mean_intensity"], table.means)
    lazy = conncomp.component_statistics(LABELS, image, properties=["filled_image"])
    assert lazy["filled_image"][0].dtype == bool


def test_a_table_is_a_mapping_of_columns():
    names = ["area", "bbox", "coords"]
    table = conncomp.component_statistics(LABELS, properties=names)
    columns = table.columns()
    assert list(table.keys()) == list(columns)
    assert all(name in table for name in (*names, *columns))
    assert "bbox-9" not in table
    assert 0 not in table
    copied = dict(table)
    assert list(copied) == list(columns)
    np.testing.assert_array_equal(copied["bbox-1"], columns["bbox-1"])
    with pytest.raises(TypeError, match=r"\.columns\(\) is a dict of its columns"):
        list(table)
    batches = conncomp.component_statistics(LABELS[None], properties=["area"], batch_axes=1)
    assert list(batches.keys()) == ["label", "batch-0", "area"]


ERRORS = [
    (["aera"], {}, ValueError, "properties has 'aera', which is no property; did you mean 'area'"),
    (["xyzzy"], {}, ValueError, "there are label, num_pixels, area"),
    ([3], {}, TypeError, "properties has 3, which is not a name"),
    ("area", {}, TypeError, r"properties='area' must be a sequence of names, such as \['area'\]"),
    (7, {}, TypeError, "properties=7 must be a sequence of names"),
    (["intensity_mean"], {}, ValueError, "'intensity_mean', which is of the values of an image"),
    (["sphericity"], {}, ValueError, "is of labels of 3 axes, and an item has 2"),
    (["perimeter"], {"spacing": (1, 2)}, ValueError, r"same along all axes only.*\(1.0, 2.0\)"),
    (["moments_hu"], {"spacing": 2}, ValueError, "a spacing of 1 only"),
    (["intensity_quantile-1.5"], {}, ValueError, "a number of 0 to 1, as intensity_quantile-0.25"),
    (["intensity_quantile-x"], {}, ValueError, "a number of 0 to 1"),
    (["area_filled"], {"ndim": 11}, ValueError, "of labels of 1 to 10 axes, and an item has 11"),
    (["image_filled"], {"ndim": 14}, ValueError, "of labels of 1 to 10 axes, and an item has 14"),
    (["surface_area_crofton"], {"ndim": 3, "spacing": (1, 2e5, 1)}, ValueError, "100000 times as"),
    (["sphericity"], {"ndim": 3, "spacing": (1, 1, 1e-9)}, ValueError, "100000 times as large"),
]


@pytest.mark.parametrize(("properties", "options", "error", "message"), ERRORS)
def test_errors(properties, options, error, message):
    labels = LABELS
    if (ndim := options.get("ndim")) is not None:
        labels = LABELS.reshape(*(1,) * (ndim - 2), *LABELS.shape)
        options = {name: value for name, value in options.items() if name != "ndim"}
    with pytest.raises(error, match=message):
        table_of(labels, properties=properties, **options)


@pytest.mark.parametrize(("name", "most"), [("INT32_MAX", 1), ("LONGEST", 4)])
def test_more_than_there_is_room_for(monkeypatch, name, most):
    monkeypatch.setattr(accumulators, name, most)
    with pytest.raises(ValueError, match=f"labels has .* more than {most}, .*measure parts of it"):
        table_of(LABELS, properties=["area_convex"])


def test_shapes_of_images():
    for shape in ((3, 4), (3, 5, 0), (3, 5, 2, 2)):
        with pytest.raises(ValueError, match=r"image has shape .* that of labels, \(3, 5\)"):
            table_of(LABELS, np.zeros(shape), ["area"])
    with pytest.raises(ValueError, match="image has shape"):
        conncomp.component_statistics(LABELS, np.zeros((3, 5, 2)))


def test_labels_that_change_meanwhile():
    """Any answer is one, or an error; nothing is read or written elsewhere (contract 5)."""
    labels, image = noise((300, 400))
    labels = labels.astype(np.int32)
    changes = [labels.copy(), labels[::-1].copy(), labels * 0]
    with written_by_another_thread((labels, changes)), np.errstate(all="ignore"):
        for _ in range(20):
            table_of(labels, image)
