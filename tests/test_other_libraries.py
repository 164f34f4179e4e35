"""Arrays of other libraries in main memory: how they are read, and what comes back.

Libraries are stand-ins; PyTorch itself is tested where it is installed, SimpleITK and ITK among the
peers.
"""

import array
import collections
import dataclasses
import sys
from types import ModuleType

import numpy as np
import pytest
import scipy.sparse

import conncomp
from conncomp import Graph, IncrementalComponents, generate

LABELS = conncomp.label(generate.voronoi((9, 11), 7), background=-1)
LABELS[:3, 4:] = 0
IMAGE = LABELS % 3
BONDS = np.random.default_rng(1).random((2, 9, 11)) < 0.5
DENSE = np.eye(5, k=1)
SRC, DST = np.array([0, 1, 4]), np.array([1, 2, 3])


@pytest.fixture
def elsewhere(monkeypatch):
    """A library whose arrays share their memory by DLPack, and that takes those of others."""
    module = ModuleType("elsewhere")

    class Tensor:
        __module__ = "elsewhere.of_tensors"

        def __init__(self, values):
            self.values = np.from_dlpack(values)

        def __dlpack__(self, **options):
            return self.values.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.values.__dlpack_device__()

        @property
        def shape(self):
            return self.values.shape

        def __len__(self):
            return len(self.values)

        def __getitem__(self, key):
            return Tensor(np.asarray(self.values[key]))

        def __int__(self):
            return int(self.values)

        def any(self):
            return bool(self.values.any())

    module.Tensor, module.from_dlpack = Tensor, Tensor
    monkeypatch.setitem(sys.modules, "elsewhere", module)
    return module


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


def fields(result):
    """Return the arrays of a result, by their names."""
    return {field.name: getattr(result, field.name) for field in dataclasses.fields(result)}


def of_statistics(labels, **options):
    statistics = conncomp.component_statistics(labels, surfaces=True, **options)
    lengths, directions = statistics.principal_axes()
    derived = {"volumes": statistics.volumes, "areas": statistics.surface_areas}
    return fields(statistics) | derived | {"lengths": lengths, "directions": directions}


def of_wrapping(wrapping):
    return fields(wrapping) | {"rank": wrapping.rank, "vectors": wrapping.vectors}


def walk(labels, image):
    return [
        part
        for each in conncomp.iterate_components(labels)
        for part in (each.mask, each.crop(image))
    ]


def growing(src, dst):
    components = IncrementalComponents(5)
    components.add_edges(src, dst)
    return components.connected(src, dst), components.roots(src), components.labels()


def batches(function):
    return lambda labels: function(labels, batch_axes=1, background=0)


# What is called with arrays of a library, and these.
CALLS = {
    "label": (conncomp.label, IMAGE),
    "label, all of it": (
        lambda a: conncomp.label(a, return_num=True, batch_axes=1, dtype="smallest"),
        IMAGE,
    ),
    "label, as bytes": (lambda a: conncomp.label(a, dtype="u1"), IMAGE),
    "label_bonds": (lambda a: conncomp.label_bonds(a, batch_axes=0, return_num=True)[0], BONDS),
    "component_wrapping": (lambda a: of_wrapping(conncomp.component_wrapping(a)), IMAGE),
    "cluster_wrapping": (lambda a: of_wrapping(conncomp.cluster_wrapping(a)), BONDS),
    "component_sizes": (conncomp.component_sizes, LABELS),
    "component_sizes of items": (batches(conncomp.component_sizes), LABELS),
    "size_histogram": (conncomp.size_histogram, LABELS),
    "component_members": (conncomp.component_members, LABELS),
    "component_spans": (conncomp.component_spans, LABELS),
    "component_statistics": (of_statistics, LABELS),
    "statistics of an image": (lambda a, b: of_statistics(a, image=b, spacing=2), LABELS, IMAGE),
    "contacts": (lambda a: fields(conncomp.contacts(a)), LABELS),
    "match": (lambda a: list(conncomp.match_labels(a, a).columns().values()), LABELS),
    "region_adjacency": (
        lambda a: conncomp.connected_components(conncomp.region_adjacency(a))[1],
        LABELS,
    ),
    "each": (walk, LABELS, IMAGE),
    "fill_holes": (conncomp.fill_holes, LABELS),
    "fill_holes of a mask": (conncomp.fill_holes, IMAGE == 0),
    "largest_components": (lambda a: conncomp.largest_components(a, 2), LABELS),
    "remove_small_components": (lambda a: conncomp.remove_small_components(a, 9), LABELS),
    "small components of a mask": (lambda a: conncomp.remove_small_components(a, 9), IMAGE == 0),
    "sort_by_size": (conncomp.sort_by_size, LABELS),
    "relabel_consecutive": (lambda a: conncomp.relabel_consecutive(a, return_labels=True), LABELS),
    "colour_components": (lambda a, b: conncomp.colour_components(a, b), LABELS, IMAGE),
    "matrix": (lambda a: conncomp.connected_components(a)[1], DENSE),
    "arcs": (lambda *a: conncomp.connected_components(Graph.from_edges(*a))[1], SRC, DST),
    "rows": (
        lambda *a: conncomp.connected_components(Graph.from_csr(*a), connection="strong")[1],
        np.array([0, 1, 2]),
        np.array([1, 0]),
    ),
    "condensation": (lambda *a: conncomp.condensation(Graph.from_edges(*a)).labels, SRC, DST),
    "spanning_forest": (lambda *a: conncomp.spanning_forest(Graph.from_edges(*a)), SRC, DST),
    "minimum_spanning_forest": (conncomp.minimum_spanning_forest, DENSE),
    "IncrementalComponents": (growing, SRC, DST),
}


def parts_of(result):
    """Return the arrays of a result."""
    if isinstance(result, dict):
        return [value for name, value in result.items() if name != "spacing"]
    return list(result) if isinstance(result, tuple | list) else [result]


@pytest.mark.parametrize("call", CALLS)
def test_the_library_of_the_input(elsewhere, call):
    function, *arrays = CALLS[call]
    before = [values.copy() for values in arrays]
    expected = parts_of(function(*arrays))
    results = parts_of(function(*map(elsewhere.Tensor, arrays)))
    assert len(results) == len(expected)
    for result, values in zip(results, expected, strict=True):
        assert type(result) is elsewhere.Tensor
        np.testing.assert_array_equal(result.values, values, strict=True)
    for values, copy in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(values, copy)


@pytest.mark.parametrize("call", CALLS)
def test_torch(torch, call):
    function, *arrays = CALLS[call]
    expected = parts_of(function(*arrays))
    results = parts_of(function(*map(torch.from_numpy, arrays)))
    for result, values in zip(results, expected, strict=True):
        assert type(result) is torch.Tensor
        assert result.device.type == "cpu"
        np.testing.assert_array_equal(result.numpy(), values, strict=True)


def test_torch_shares_memory(torch):
    image = torch.tensor(IMAGE, dtype=torch.float64, requires_grad=True)
    out = torch.full(image.shape, -7, dtype=torch.int32)
    assert conncomp.label(image, out=out) is out
    np.testing.assert_array_equal(out.numpy(), conncomp.label(IMAGE))
    with pytest.raises(ValueError, match="out shares memory with the input"):
        conncomp.label(out, out=out)
    for wrong in (out.T.contiguous().T, torch.nn.Parameter(torch.zeros(3))):
        with pytest.raises((ValueError, TypeError), match="out "):
            conncomp.label(image, out=wrong)


@pytest.mark.parametrize("kind", ["list", "a class that inherits"])
def test_other_classes(elsewhere, kind):
    """An array of a class that inherits from one of a library is of that library."""

    class Marked(elsewhere.Tensor):
        __module__ = "theirs"

    given = IMAGE.tolist() if kind == "list" else Marked(IMAGE)
    labels = conncomp.label(given)
    assert type(labels) is (np.ndarray if kind == "list" else elsewhere.Tensor)


def test_out(elsewhere):
    """It may be of any library that shares memory, and is what comes back."""
    expected = conncomp.label(IMAGE)
    for given in (IMAGE, elsewhere.Tensor(IMAGE)):
        for dtype in (np.int32, np.uint8):
            values = np.full(IMAGE.shape, 7, dtype)
            out = elsewhere.Tensor(values)
            assert conncomp.label(given, out=out) is out
            np.testing.assert_array_equal(values, expected)
            values[...] = 7
            assert conncomp.label(given, out=values) is values
            np.testing.assert_array_equal(values, expected)
    values = np.empty(5, np.int64)
    out = elsewhere.Tensor(values)
    assert conncomp.connected_components(DENSE, out=out)[1] is out
    assert values.tolist() == [0] * 5
    out = elsewhere.Tensor(IMAGE)
    with pytest.raises(ValueError, match="out shares memory with the input"):
        conncomp.label(out, out=out)


def test_out_that_is_a_copy(elsewhere):
    """What is written to a copy would be lost."""

    class Copied:
        def __dlpack__(self, **options):
            return np.zeros(IMAGE.shape, np.int32).__dlpack__(**options)

        def __dlpack_device__(self):
            return (1, 0)

    with pytest.raises(TypeError, match="out must be a NumPy array, not Copied, or one of another"):
        conncomp.label(IMAGE, out=Copied())


class Image:
    """As one of SimpleITK: a sequence of all pixels, in one row."""

    __module__ = "SimpleITK.SimpleITK"

    def __init__(self, pixels, kind="32-bit signed integer"):
        self.pixels, self.kind = pixels, kind

    def GetPixelIDTypeAsString(self):  # noqa: N802
        return self.kind

    def __len__(self):
        return self.pixels.size

    def __getitem__(self, place):
        return self.pixels.T[place] if isinstance(place, tuple) else self.pixels.flat[place]

    def __iter__(self):
        return iter(self.pixels.reshape(-1).tolist())


@pytest.fixture
def simple_itk(monkeypatch):
    module = ModuleType("SimpleITK")
    module.GetArrayFromImage = lambda image: image.pixels.copy()
    monkeypatch.setitem(sys.modules, "SimpleITK", module)


@pytest.mark.usefixtures("simple_itk")
def test_images_of_simple_itk():
    image, labels = Image(IMAGE), Image(LABELS)
    np.testing.assert_array_equal(conncomp.label(image), conncomp.label(IMAGE), strict=True)
    np.testing.assert_array_equal(conncomp.label([image, image]), conncomp.label([IMAGE, IMAGE]))
    expected = conncomp.component_sizes(LABELS)
    np.testing.assert_array_equal(conncomp.component_sizes(labels), expected)
    sums = conncomp.component_statistics(labels, image).sums
    np.testing.assert_array_equal(sums, conncomp.component_statistics(LABELS, IMAGE).sums)
    with pytest.raises(TypeError, match=r"label_image is a label map .*LabelMapToLabel"):
        conncomp.label(Image(IMAGE, "label of 32-bit unsigned integer"))


class Numbers(collections.UserList):
    """A sequence, and no array."""


ONE_ARRAY = {
    "label_image": conncomp.label,
    "bonds": conncomp.label_bonds,
    "labels": conncomp.component_sizes,
    "csgraph": conncomp.connected_components,
    "src": lambda values: Graph.from_edges(values, [1]),
    "image": lambda values: conncomp.component_statistics([[1, 2]], values),
    "structure": lambda values: conncomp.label([[1]], structure=values),
    "periodic": lambda values: conncomp.label([[1]], periodic=values),
    "weights": lambda values: conncomp.minimum_spanning_forest(Graph.from_edges([0], [1]), values),
}


@pytest.mark.parametrize("name", ONE_ARRAY)
def test_sequences_that_are_no_arrays(name):
    message = f"{name} is a (Numbers|deque) of .*, a sequence and no array; make a NumPy array of"
    for values in (Numbers([1, 2]), collections.deque([1, 2]), [Numbers([1, 2])]):
        with pytest.raises(TypeError, match=message):
            ONE_ARRAY[name](values)


@pytest.mark.parametrize(
    "values",
    [
        [1, 1, 0, 2],
        (1, np.int8(1), 0.0, 2),
        range(2, -2, -1),
        array.array("i", [1, 1, 0, 2]),
        memoryview(np.array([1, 1, 0, 2], np.int16)),
        bytearray([1, 1, 0, 2]),
        [np.array(1), 1, 0, 2],
    ],
)
def test_sequences_of_python(values):
    expected = conncomp.label(np.asarray(values))
    np.testing.assert_array_equal(conncomp.label(values), expected, strict=True)


def test_nested_sequences(elsewhere):
    expected = conncomp.label(np.array([[1, 1, 0], [0, 1, 2]]))
    rows = [1, 1, 0], [0, 1, 2]
    for values in (
        rows,
        list(rows),
        [np.array(row) for row in rows],
        [array.array("i", row) for row in rows],
        [elsewhere.Tensor(np.array(row)) for row in rows],
        (np.array(rows[0]), list(rows[1])),
    ):
        np.testing.assert_array_equal(conncomp.label(values), expected, strict=True)
    with pytest.raises(ValueError, match="an entry of label_image has masked elements"):
        conncomp.label([np.ma.masked_equal([1, 2], 2), [1, 2]])
    with pytest.raises(TypeError, match="label_image is a csr_array of scipy, which is sparse"):
        conncomp.label([scipy.sparse.csr_array(np.eye(2))])


HUGE = np.broadcast_to(np.int32(1), (1 << 20, 1 << 20))
LINE = np.broadcast_to(np.uint64(1), 1 << 40)
TOOLS = [
    conncomp.label,
    conncomp.component_sizes,
    conncomp.size_histogram,
    conncomp.component_members,
    conncomp.component_spans,
    conncomp.component_statistics,
    conncomp.contacts,
    lambda labels: conncomp.match_labels(labels, [[0]]),
    lambda labels: conncomp.match_labels([[0]], labels),
    conncomp.region_adjacency,
    conncomp.fill_holes,
    lambda labels: conncomp.largest_components(labels, 1),
    lambda labels: conncomp.remove_small_components(labels, 1),
    conncomp.sort_by_size,
    conncomp.relabel_consecutive,
    conncomp.colour_components,
    conncomp.iterate_components,
    lambda labels: conncomp.write_view("none.html", labels),
    lambda labels: conncomp.component_sizes(labels, background=0, batch_axes=1),
    lambda labels: conncomp.component_sizes(np.ma.masked_array(labels)),
]


@pytest.mark.parametrize("tool", TOOLS)
def test_arrays_that_only_broadcasting_holds(tool):
    """A pass over them would take hours, and a copy more memory than there is."""
    with pytest.raises(MemoryError, match=r"takes .* GiB, and the machine has .* work on parts of"):
        tool(HUGE)


def test_other_arguments_that_only_broadcasting_holds():
    with pytest.raises(
        MemoryError, match="a copy of src, of 1099511627776 entries, takes 8192 GiB"
    ):
        Graph.from_edges(LINE, LINE)
    with pytest.raises(MemoryError, match=r"image, of shape .* takes 4096 GiB"):
        conncomp.write_image("none.png", HUGE)
    with pytest.raises(ValueError, match=r"periodic=.* has too many entries"):
        conncomp.label([[1]], periodic=LINE)
    with pytest.raises(ValueError, match=r"spacing=.* has too many entries"):
        conncomp.contacts([[1]], spacing=LINE)


@pytest.mark.parametrize("values", [{1, 2}, {1: 2, 3: 4}, {1: 2, 3: 4}.keys(), frozenset((1, 2))])
def test_arguments_without_an_order(values):
    for name, function in {
        "periodic": conncomp.label,
        "spacing": conncomp.contacts,
        "value_range": lambda labels, **k: conncomp.colour_components(labels, labels, **k),
    }.items():
        with pytest.raises(TypeError, match=f"{name}=.* must be "):
            function([[1, 2]], **{name: values})
