"""Contacts, holes, numbers and walks on a GPU are those on the CPU, bit for bit.

Arrays are of a stand-in for CuPy, and kernels run on the host executor; where there is a GPU, on
the arrays themselves.
"""

from dataclasses import astuple
from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import conncomp
from conncomp.components import touching
from conncomp.components.touching import contact_steps
from conncomp.kernels.cuda.components import contacts as driver
from conncomp.kernels.neighbourhood import Neighbourhood
from contacts_reference import check_contacts, contacts_by_loops
from host_cuda.host_gpu import HostGpu
from host_cupy import check_functions, place_on_host

FUNCTIONS = {
    "contacts": lambda *a, **k: astuple(conncomp.contacts(*a, spacing=0.3, **k)),
    "contacts of faces": lambda *a, **k: astuple(
        conncomp.contacts(*a, connectivity=1, periodic=True, **k)
    ),
    "filled": conncomp.fill_holes,
    "filled, by faces": lambda *a, **k: conncomp.fill_holes(*a, connectivity=1, max_size=3, **k),
    "numbers": lambda *a, **k: conncomp.relabel_consecutive(*a, return_labels=True, **k),
    "of some sizes": lambda *a, **k: conncomp.remove_small_components(*a, 2, max_size=9, **k),
    "of other sizes": lambda *a, **k: conncomp.remove_small_components(*a, 3, invert=True, **k),
}
MASKED = ("filled", "filled, by faces", "of some sizes", "of other sizes")

cupy = pytest.fixture(place_on_host)


def compare(cupy, labels, functions, **options):
    check_functions(cupy, {name: FUNCTIONS[name] for name in functions}, labels, **options)


LABELS = hnp.arrays(
    st.sampled_from(["i1", "u1", "i4", "u4", "i8", "u8"]),
    hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=7),
    elements=st.integers(0, 5),
)
ONCE = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])


@ONCE
@given(labels=LABELS, background=st.sampled_from([0, -1, None]), batch_axes=st.integers(0, 3))
def test_equals_the_cpu(cupy, labels, background, batch_axes):
    if background == -1 and labels.dtype.kind == "i":
        labels = labels - labels.dtype.type(1)
    axes = min(batch_axes, labels.ndim - 1)
    compare(cupy, labels, FUNCTIONS, background=background, batch_axes=axes)


@ONCE
@given(labels=LABELS, batch_axes=st.integers(0, 3))
def test_masks(cupy, labels, batch_axes):
    compare(cupy, labels > 2, MASKED, batch_axes=min(batch_axes, labels.ndim - 1))


@ONCE
@given(labels=LABELS)
def test_graph_and_walk(cupy, labels):
    placed = cupy.asarray(labels)
    in_memory = conncomp.region_adjacency(labels, background=0)
    on_device = conncomp.region_adjacency(placed, background=0)
    assert on_device.device == "cuda"
    for name in ("indptr", "indices"):
        np.testing.assert_array_equal(getattr(on_device, name).get(), getattr(in_memory, name))
    walks = (list(conncomp.iterate_components(array, background=0)) for array in (placed, labels))
    for component, expected in zip(*walks, strict=True):
        assert repr(component) == repr(expected)
        np.testing.assert_array_equal(component.mask.get(), expected.mask)
        np.testing.assert_array_equal(
            component.crop(placed, 1).get(), expected.crop(labels, 1), strict=True
        )
        with pytest.raises(TypeError, match="image lies in main memory, but labels in GPU memory"):
            component.crop(labels)


def test_contacts_along_axes_of_length_1_to_3(cupy):
    for labels, options in lattices_of_few():
        in_memory, on_device = (
            astuple(conncomp.contacts(array, background=0, spacing=0.3, **options))
            for array in (labels, cupy.asarray(labels))
        )
        for expected, column in zip(in_memory, on_device, strict=True):
            np.testing.assert_array_equal(column.get(), expected, strict=True)


def lattices_of_few():
    """Give labels of two axes of lengths 1 to 3, open and closed, and of three closed ones."""
    rng = np.random.default_rng(0)
    for ndim in (2, 3):
        for shape in product((1, 2, 3), repeat=ndim):
            labels = rng.integers(0, 4, shape)
            for periodic in product((False, True) if ndim == 2 else (True,), repeat=ndim):
                yield labels, {"periodic": periodic, "connectivity": max(1, labels.size % 4 % ndim)}
                yield labels, {"periodic": periodic}


@pytest.mark.parametrize("scale", [1, 10**9, -(10**15)])
def test_labels_of_any_size(cupy, scale):
    labels = np.random.default_rng(0).integers(0, 40, (6, 30)) * scale
    for axes in (0, 1):
        compare(cupy, labels, ["numbers"], background=0, batch_axes=axes)


@pytest.mark.soak
@pytest.mark.parametrize("bits", [3, 14])
@pytest.mark.parametrize(("shape", "values"), [((30, 40), 5), ((5, 8, 20), 700)])
def test_tables_grow(monkeypatch, bits, shape, values):
    """Many labels have no place in the table of a block, and then none in the first one of all."""
    monkeypatch.setattr(driver, "FEWEST_BITS", bits)
    monkeypatch.setattr(driver, "ELEMENTS_PER_SLOT", 1 << 30)
    labels = np.random.default_rng(1).integers(0, values, shape).astype(np.int32)
    for seed, periodic in ((1, False), (2, True)):
        closed = (periodic,) * len(shape)
        steps = contact_steps(Neighbourhood(len(shape), None, closed), shape)
        of_keys = driver.find_contacts(
            HostGpu(seed=seed),
            labels,
            0,
            values,
            (1, *steps.shape),
            steps.periodic,
            steps.packed,
            steps.kinds,
        )
        pairs, counts = touching.pairs_of_keys(*of_keys, values, steps.kinds)
        areas = counts[:, :-1].sum(axis=1).astype(float)
        measured = conncomp.results.Contacts(pairs, counts.sum(axis=1), areas, pairs[:, :0])
        check_contacts(
            measured, contacts_by_loops(labels, 0, periodic=periodic), [1.0] * len(shape)
        )


@pytest.mark.gpu
@pytest.mark.parametrize("shape", [(300, 500), (60, 70, 80)])
def test_on_a_gpu(shape):
    real, rng = pytest.importorskip("cupy"), np.random.default_rng(4)
    for values in (4, 3000):
        compare(real, rng.integers(0, values, shape), FUNCTIONS)
