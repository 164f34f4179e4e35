"""`label` of arrays of xarray, whose axes have names."""

import dask
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
        ({"periodic": ["lom"]}, r"\['lom'\] has 'lom', which is no axis .* time, lat, lon"),
        ({"periodic": "lom"}, r"'lom', which is no axis .* time, lat, lon"),
        ({"batch_dims": "tim"}, r"'tim', which is no axis .* time, lat, lon"),
        ({"batch_dims": ["time", "time"]}, "has 'time' twice; name it once"),
        ({"batch_dims": ["time"], "periodic": ["time"]}, "has 'time', which is no axis of an item"),
        ({"batch_dims": ["time"], "batch_axes": 1}, "exclude each other; leave one out"),
        ({"batch_dims": ["time", "lat", "lon"]}, "batch_axes=3 must be from 0 to 2"),
        ({"out": np.zeros(VALUES.shape, int)}, "out is for arrays without names"),
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


def test_arrays_without_names_go_by_place():
    values = np.arange(12).reshape(3, 4)
    labels = xarray.DataArray(np.ones((3, 4), int), dims=("y", "x"))
    for image in (values, xarray.DataArray(values)):
        assert conncomp.component_statistics(labels, image).sums.tolist() == [66]
        assert conncomp.component_statistics(xarray.DataArray(labels.data), image).sums == [66]
    with pytest.raises(ValueError, match=r"image has shape \(4, 3\); it must have that of labels"):
        conncomp.component_statistics(labels, xarray.DataArray(values.T))


WHOLE = conncomp.label(VALUES[:, :, :6])  # of equal lengths along two axes
ONE = WHOLE[1]
TOOLS = {
    "label": conncomp.label,
    "label and number": lambda a: conncomp.label(a, return_num=True),
    "label of a structure": lambda a: conncomp.label(a, structure=np.eye(3)),
    "batches": lambda a: conncomp.label(a, return_num=True, batch_axes=1)[1],
    "statistics": lambda a: vars(conncomp.component_statistics(a)),
    "contacts": lambda a: conncomp.contacts(a).pairs,
    "adjacency": lambda a: conncomp.region_adjacency(a).indices,
    "each": lambda a: [each.mask for each in conncomp.iterate_components(a)],
    "match": lambda a: conncomp.match_labels(a, a).columns(),
    "sizes": conncomp.component_sizes,
    "histogram": conncomp.size_histogram,
    "members": conncomp.component_members,
    "spans": conncomp.component_spans,
    "wrapping": lambda a: conncomp.component_wrapping(a, periodic=True).axes,
    "percolates": lambda a: conncomp.percolates(a, 1),
    "colours": conncomp.colour_components,
    "holes": conncomp.fill_holes,
    "largest": lambda a: conncomp.largest_components(a, 2),
    "not small": lambda a: conncomp.remove_small_components(a, 3),
    "consecutive": lambda a: conncomp.relabel_consecutive(a, return_labels=True),
    "by size": conncomp.sort_by_size,
    "bonds": lambda a: conncomp.label_bonds(a.astype("u1")),
    "clusters": lambda a: conncomp.cluster_wrapping(a.astype("u1"), periodic=True).axes,
    "slabs": lambda a: [batch.sizes for batch in conncomp.stream_labels([a, a])],
}
# Of labels in chunks, those that other functions make.
IN_CHUNKS = ["label", "label and number", "label of a structure", "batches", "statistics"]
IN_CHUNKS += ["contacts", "match", "sizes", "histogram", "largest", "not small", "consecutive"]
ALIKE = ["label", "holes", "largest", "not small", "by size"]


def same(found, expected):
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        found, expected = found.values(), expected.values()
    if isinstance(expected, (tuple, list, type({}.values()))):
        for one, other in zip(found, expected, strict=True):
            same(one, other)
        return
    if np.asarray(expected).dtype.kind == "f":  # chunks are added up in another order
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
        return
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kind", [xarray.Variable, xarray.DataArray])
@pytest.mark.parametrize("name", TOOLS)
def test_variables_are_arrays_with_names_too(name, kind):
    given = kind(("y", "x"), ONE, attrs={"a": 1}) if kind is xarray.Variable else kind(ONE)
    found = TOOLS[name](given)
    same(found, TOOLS[name](ONE))
    if name in ALIKE:
        assert type(found) is kind
        assert (found.dims, found.attrs) == (given.dims, given.attrs)
    for wrong in ({"connectivity": 99}, {"batch_axes": 2}):
        with pytest.raises(ValueError, match="must be from"):
            conncomp.label(given, **wrong)


@pytest.mark.parametrize("kind", [xarray.Variable, xarray.DataArray])
@pytest.mark.parametrize("name", TOOLS)
def test_names_around_chunks(name, kind):
    chunks = da.from_array(ONE, 4)
    given = kind(chunks) if kind is xarray.DataArray else kind(("y", "x"), chunks)
    if name not in IN_CHUNKS:
        with pytest.raises((TypeError, ValueError), match=r"not computed yet|in memory"):
            TOOLS[name](given)
        return
    found = TOOLS[name](given)
    same(dask.compute(found)[0], TOOLS[name](ONE))


def test_names_and_batches_of_variables():
    field = xarray.Variable(("lat", "time", "lon"), VALUES.swapaxes(0, 1))
    labels, num = conncomp.label(field, batch_dims="time", periodic="lon", return_num=True)
    want, count = conncomp.label(VALUES, batch_axes=1, periodic=(False, True), return_num=True)
    assert (labels.dims, num.dims) == (field.dims, ("time",))
    np.testing.assert_array_equal(labels.transpose("time", ...), want)
    np.testing.assert_array_equal(num, count)


def test_coordinates_of_an_axis():
    coordinate = xarray.IndexVariable("x", [7, 7, 0, 5])
    for given in (coordinate, xarray.DataArray(coordinate, coords={"x": coordinate.data})):
        labels = conncomp.label(given)
        assert labels.dims == ("x",)
        np.testing.assert_array_equal(labels, [1, 1, 0, 2])


def test_encodings_of_values_are_none_of_labels(tmp_path):
    field = xarray.DataArray(VALUES[0].astype(float), dims=("y", "x"))
    field.encoding = {"dtype": "int8", "scale_factor": 0.25, "_FillValue": 4}
    for labels in (conncomp.label(field), conncomp.fill_holes(conncomp.label(field))):
        assert labels.encoding == {}
    assert field.encoding["dtype"] == "int8"


@pytest.mark.parametrize(
    "name", [name for name in TOOLS if name not in ("slabs", "bonds", "clusters")]
)
def test_what_holds_several_arrays_is_refused(name):
    dataset = xarray.Dataset({"a": (("y", "x"), ONE)})
    for given in (dataset, dataset.chunk()):
        with pytest.raises(TypeError, match=r"label.* is a Dataset|Dataset into a numpy array"):
            TOOLS[name](given)


NAMES = ("z", "y", "x")
COORDS = {"z": list("abcd"), "y": np.linspace(-75, 75, 6), "x": [5, 3, 1, 0, 7, 9]}
WEIGHTS = np.arange(WHOLE.size).reshape(WHOLE.shape)


def named(values, **more):
    return xarray.DataArray(values, dims=NAMES, coords=COORDS, **more)


TURNS = {
    "same": lambda a: a,
    "transposed": lambda a: a.transpose("x", "z", "y"),
    "reversed": lambda a: a.isel(y=slice(None, None, -1), z=slice(None, None, -1)),
    "both": lambda a: a.transpose("y", "x", "z").isel(x=slice(None, None, -1)),
    "shuffled": lambda a: a.isel(x=[3, 0, 5, 1, 2, 4], z=[1, 0, 3, 2]),
    "rounded": lambda a: a.assign_coords(y=a.y.astype("f4")).isel(y=slice(None, None, -1)),
    "rounded anew": lambda a: a.isel(y=slice(None, None, -1)).assign_coords(
        y=np.linspace(75, -75, 6) + 1e-9
    ),
    "without coordinates": lambda a: a.drop_vars(NAMES).transpose("y", "z", "x"),
    "variable": lambda a: a.variable.transpose("x", "y", "z"),
}
BESIDE = {
    "match": lambda a, b: conncomp.match_labels(a, b).columns(),
    "statistics": lambda a, b: vars(conncomp.component_statistics(a, b)),
    "properties": lambda a, b: conncomp.component_statistics(
        a, b, properties=["intensity_mean", "centroid_weighted"]
    ).columns(),
    "classes": lambda a, b: conncomp.component_statistics(a, classes=b).classes,
    "largest": lambda a, b: conncomp.largest_components(a, 1, by=b),
    "colours": lambda a, b: conncomp.colour_components(a, b),
    "crop": lambda a, b: [each.crop(b) for each in conncomp.iterate_components(a)],
    "slabs": lambda a, b: [batch.sums for batch in conncomp.stream_labels([(a, b)])],
}
OF_CHUNKS = ["match", "statistics"]


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("name", BESIDE)
def test_arrays_lie_beside_each_other_by_name_and_coordinate(name, turn, lazy):
    if lazy and name not in OF_CHUNKS:
        pytest.skip("of labels in memory")
    beside = {"match": np.roll(WHOLE, 1, axis=2), "classes": WHOLE % 5, "largest": WHOLE % 5}
    other = beside.get(name, WEIGHTS)
    labels, given = named(WHOLE), TURNS[turn](named(other))
    if lazy:
        labels, given = labels.chunk({"x": 4}), given.chunk({"x": 3, "y": 4})
    found = BESIDE[name](labels, given)
    same(dask.compute(found)[0] if lazy else found, BESIDE[name](WHOLE, other))


@pytest.mark.parametrize("turn", TURNS)
def test_views_and_channels_beside_labels(turn, tmp_path):
    labels, image = named(WHOLE), TURNS[turn](named(WEIGHTS))
    for name, pair in {"a": (labels, image), "b": (WHOLE, WEIGHTS)}.items():
        conncomp.write_view(tmp_path / f"{name}.html", *pair, title="t")
    assert (tmp_path / "a.html").read_text() == (tmp_path / "b.html").read_text()
    if turn in ("without coordinates", "variable"):
        return
    stains = xarray.concat([image, 2 * image, 3 * image], "stain")
    wanted = np.stack([WEIGHTS, 2 * WEIGHTS, 3 * WEIGHTS], axis=-1)
    found, expected = (
        conncomp.component_statistics(*pair, properties=["intensity_mean"]).columns()
        for pair in ((labels, stains), (WHOLE, wanted))
    )
    same(found, expected)
    same(conncomp.colour_components(labels, stains), conncomp.colour_components(WHOLE, wanted))


def test_an_image_and_classes_lie_beside_each_other_too():
    """Labels of NumPy go by place, which does not tell how the two others lie."""
    square = conncomp.label(ONE > 0)
    classes = np.where(square > 0, np.arange(6)[:, None] * 0 + square % 3, 0)
    image = xarray.DataArray(np.arange(36).reshape(6, 6), dims=("y", "x"))
    known = xarray.DataArray(classes, dims=("y", "x"))
    found = conncomp.component_statistics(square, image.transpose(), classes=known)
    expected = conncomp.component_statistics(square, image.data, classes=classes)
    same(found.columns(), expected.columns())


def test_structures_have_names():
    image = xarray.DataArray([[1, 1, 0], [0, 1, 0], [0, 1, 1]], dims=("y", "x"))
    down = xarray.DataArray([[0, 1, 0], [0, 0, 0], [0, 1, 0]], dims=("y", "x"))
    expected = conncomp.label(image.data, structure=down.data)
    for given, structure in ((image, down.transpose()), (image.transpose(), down)):
        labels = conncomp.label(given, structure=structure).transpose("y", "x")
        assert conncomp.match_labels(labels.data, expected).scores(1).false_positives == 0
    with pytest.raises(ValueError, match="structure has the axes y, x, but label_image t, x"):
        conncomp.label(image.rename(y="t"), structure=down)


def test_slabs_lie_behind_each_other_by_name():
    slabs = [named(WHOLE, name="a").isel(z=[k]) for k in range(4)]
    slabs[2] = slabs[2].transpose("x", "y", "z").isel(y=slice(None, None, -1))
    found = [batch.sizes for batch in conncomp.stream_labels(slabs)]
    same(found, [batch.sizes for batch in conncomp.stream_labels([WHOLE])])


APART = {
    "other names": (lambda a: a.rename(x="t"), "has the axes z, y, t, but .* z, y, x"),
    "one name less": (lambda a: a.isel(x=0), "has the axes z, y, but .* z, y, x"),
    "other coordinates": (
        lambda a: a.assign_coords(x=[5, 3, 1, 0, 7, 8]),
        "has other coordinates along x than ",
    ),
    "half a step": (lambda a: a.assign_coords(y=a.y + 15), "has other coordinates along y"),
    "names for numbers": (lambda a: a.assign_coords(x=list("uvwxyz")), "other coordinates along x"),
    "twice the same": (
        lambda a: a.assign_coords(x=[5, 5, 1, 0, 7, 9]),
        "other coordinates along x",
    ),
}


@pytest.mark.parametrize("case", APART)
@pytest.mark.parametrize("name", BESIDE)
def test_what_cannot_be_laid_beside_labels(name, case):
    turn, message = APART[case]
    with pytest.raises(ValueError, match=message):
        BESIDE[name](named(WHOLE), turn(named(WHOLE % 5)))
