"""`label` of arrays of xarray, whose axes have names."""

import dask.array as da
import numpy as np
import pytest
import xarray

import conncomp

VALUES = np.random.default_rng(3).random((4, 6, 9)) < 0.4


@pytest.fixture(params=["numpy", "dask"])
def field(request):
    values = VALUES if request.param == "numpy" else da.from_array(VALUES, (1, 3, 4))
    return xarray.DataArray(
        values,
        dims=("time", "lat", "lon"),
        coords={"lat": np.linspace(-75, 75, 6), "lon": 40 * np.arange(9), "time": list("abcd")},
        attrs={"units": "1"},
        name="rain",
    )


def test_labels_have_names_coordinates_attributes_and_chunks(field):
    labels = conncomp.label(field)
    assert type(labels) is xarray.DataArray
    assert (labels.dims, labels.attrs, labels.name) == (field.dims, field.attrs, "rain")
    assert labels.chunks == field.chunks
    xarray.testing.assert_equal(labels.coords.to_dataset(), field.coords.to_dataset())
    np.testing.assert_array_equal(labels, conncomp.label(VALUES))


def test_periodic_and_batches_by_name(field):
    labels, num = conncomp.label(
        field, periodic=["lon"], batch_dims=["time"], connectivity=1, return_num=True
    )
    want, count = conncomp.label(
        VALUES, periodic=(False, True), batch_axes=1, connectivity=1, return_num=True
    )
    np.testing.assert_array_equal(labels, want)
    assert num.dims == ("time",)
    assert num.sel(time="c") == count[2]


def test_one_name_needs_no_list(field):
    labels = conncomp.label(field, periodic="lon", batch_dims="time")
    xarray.testing.assert_equal(
        labels, conncomp.label(field, periodic=["lon"], batch_dims=["time"])
    )
    single = xarray.DataArray(VALUES[0], dims=("a", "bc"))
    np.testing.assert_array_equal(
        conncomp.label(single, periodic="bc"), conncomp.label(VALUES[0], periodic=(False, True))
    )


SELECTIONS = {
    "largest of labels": lambda a: conncomp.largest_components(conncomp.label(a), 2),
    "largest of a mask": lambda a: conncomp.largest_components(a, connectivity=1),
    "largest of classes": lambda a: conncomp.largest_components(conncomp.label(a), by=a),
    "not small": lambda a: conncomp.remove_small_components(conncomp.label(a), min_size=3),
    "not small of a mask": lambda a: conncomp.remove_small_components(a, 3, connectivity=1),
    "in batches": lambda a: conncomp.remove_small_components(a, 3, batch_axes=1),
    "consecutive": lambda a: conncomp.relabel_consecutive(3 * conncomp.label(a)),
    "by size": lambda a: conncomp.sort_by_size(conncomp.label(a)),
    "filled": conncomp.fill_holes,
}
IN_MEMORY_ALONE = "largest of classes", "by size", "filled"


@pytest.mark.parametrize("name", SELECTIONS)
def test_what_is_chosen_has_names_and_coordinates(field, name):
    if field.chunks and name in IN_MEMORY_ALONE:
        with pytest.raises((TypeError, ValueError), match=r"in memory|with its \.compute\(\)"):
            SELECTIONS[name](field)
        return
    chosen = SELECTIONS[name](field)
    assert type(chosen) is xarray.DataArray
    assert (chosen.dims, chosen.attrs, chosen.chunks) == (field.dims, field.attrs, field.chunks)
    xarray.testing.assert_equal(chosen.coords.to_dataset(), field.coords.to_dataset())
    want = SELECTIONS[name](VALUES)
    assert chosen.dtype == want.dtype
    np.testing.assert_array_equal(chosen, want)


def test_classes_lie_beside_labels_by_name():
    labels = xarray.DataArray([[1, 0, 2], [1, 0, 3]], dims=("y", "x"))
    classes = xarray.DataArray([[5, 0, 6], [5, 0, 7]], dims=("y", "x"))
    kept = conncomp.largest_components(labels, 1, by=classes.transpose())
    assert kept.values.tolist() == labels.values.tolist()
    assert kept.dims == ("y", "x")


def test_old_labels_beside_new_ones(field):
    numbers, old = conncomp.relabel_consecutive(3 * conncomp.label(field), return_labels=True)
    assert type(numbers) is xarray.DataArray
    np.testing.assert_array_equal(old, 3 * np.arange(conncomp.label(VALUES).max() + 1))


def test_contacts_along_named_axes():
    labels = xarray.DataArray([[1, 0, 2], [0, 0, 3]], dims=("lat", "lon"))
    touching = conncomp.contacts(labels, periodic="lon", connectivity=1)
    assert touching.pairs.tolist() == [[1, 2], [2, 3]]
    assert conncomp.contacts(labels, connectivity=1).pairs.tolist() == [[2, 3]]
    rows = conncomp.contacts(labels, periodic="lon", background=0, batch_axes=1)
    assert rows.pairs.tolist() == [[1, 2]]
    with pytest.raises(ValueError, match="'lat', which is no axis of an item; these are lon"):
        conncomp.contacts(labels, periodic="lat", batch_axes=1)


def test_batches_are_named_in_any_place(field):
    turned = field.transpose("lat", "lon", "time")
    labels = conncomp.label(turned, batch_dims=["time"], periodic=[True, False])
    assert labels.dims == ("lat", "lon", "time")
    want = conncomp.label(VALUES, batch_axes=1, periodic=[True, False])
    np.testing.assert_array_equal(labels.transpose(*field.dims), want)


def test_number_of_all(field):
    _, num = conncomp.label(field, return_num=True, numbering="roots", batch_axes=0)
    assert int(num) == conncomp.label(VALUES, return_num=True)[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"periodic": ["lom"]},
            r"\['lom'\] has 'lom', which is no axis .* time, lat, lon",
        ),
        ({"periodic": "lom"}, r"'lom', which is no axis .* time, lat, lon"),
        ({"batch_dims": "tim"}, r"'tim', which is no axis .* time, lat, lon"),
        ({"batch_dims": ["time", "time"]}, "has 'time' twice; name it once"),
        ({"batch_dims": ["time"], "periodic": ["time"]}, "has 'time', which is no axis of an item"),
        ({"batch_dims": ["time"], "batch_axes": 1}, "exclude each other; leave one out"),
        ({"batch_dims": ["time", "lat", "lon"]}, "batch_axes=3 must be from 0 to 2"),
        ({"out": np.zeros(VALUES.shape, int)}, "out is for arrays without coordinates"),
    ],
)
def test_errors(field, arguments, message):
    with pytest.raises(ValueError, match=message):
        conncomp.label(field, **arguments)


@pytest.mark.parametrize("names", ["time", ["time"], ("time",)])
def test_names_are_no_batch_axes(field, names):
    with pytest.raises(TypeError, match="must be an integer; batch_dims= takes names"):
        conncomp.label(field, batch_axes=names)


@pytest.mark.parametrize("lazy", [False, True])
def test_statistics_lay_axes_beside_each_other_by_name(lazy):
    random = np.random.default_rng(1)
    values = random.integers(0, 255, (3, 20, 20)).astype(np.uint8)
    found = conncomp.label(values[1] > 128)
    labels = xarray.DataArray(found, dims=("y", "x"))
    image = xarray.DataArray(values, dims=("c", "y", "x"))
    classes = xarray.DataArray(np.broadcast_to(values[1] > 128, found.shape), dims=("y", "x"))
    if lazy:
        labels = labels.chunk({"x": 7})
    names = ["area", "bbox", "intensity_mean"]
    if not lazy:
        table = conncomp.component_statistics(
            labels, image.transpose("x", "c", "y"), classes=classes.transpose(), properties=names
        )
        wanted = conncomp.component_statistics(
            found, np.moveaxis(values, 0, -1), classes=classes.data, properties=names
        )
        assert table.to_pandas().equals(wanted.to_pandas())
        assert set(table.classes) == {1}
    one = image[1].transpose("x", "y")
    means = conncomp.component_statistics(labels, one.chunk() if lazy else one).means
    means = means.compute() if lazy else means
    np.testing.assert_array_equal(means, conncomp.component_statistics(found, values[1]).means)


def test_statistics_of_other_names_go_by_place():
    values = np.arange(12).reshape(3, 4)
    labels = xarray.DataArray(np.ones((3, 4), int), dims=("y", "x"))
    image = xarray.DataArray(values, dims=("row", "column"))
    assert conncomp.component_statistics(labels, image).sums.tolist() == [66]
    assert conncomp.component_statistics(labels, values).sums.tolist() == [66]
    with pytest.raises(ValueError, match=r"image has shape \(4, 3\); it must have that of labels"):
        conncomp.component_statistics(labels, image.transpose())
