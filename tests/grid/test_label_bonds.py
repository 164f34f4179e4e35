"""`label_bonds` against SciPy's components of a list of edges."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import conncomp
from conncomp import label_bonds
from cpu_cases import CASES, takes
from reference import label_by_bonds, number_items
from strategies import LAYOUTS, lay_out, shapes


def pack(bonds):
    """Return bonds of bool as bits."""
    packed = np.zeros(bonds.shape[1:], np.uint8)
    for axis, plane in enumerate(bonds):
        packed |= plane.astype(np.uint8) << axis
    return packed


@st.composite
def lattices(draw):
    """Draw bonds, as planes and as bits, and arguments of `label_bonds`."""
    shape = draw(shapes)
    batch_axes = draw(st.integers(0, len(shape) - 1))
    ndim = len(shape) - batch_axes
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    bonds = rng.random((ndim, *shape)) < draw(st.sampled_from([0, 0.02, 0.1, 0.4, 0.5, 0.9, 1]))
    bonds = lay_out(bonds, draw(st.sampled_from(LAYOUTS)))
    packed = pack(bonds)
    if draw(st.booleans()):  # bits of no axis count
        packed |= np.uint8(255 & -1 << ndim)
    packed = lay_out(
        packed, draw(st.sampled_from([name for name in LAYOUTS if "cast" not in name]))
    )
    periodic = draw(st.lists(st.booleans(), min_size=ndim, max_size=ndim))
    return bonds, packed, {"periodic": periodic, "batch_axes": batch_axes}


@given(
    lattice=lattices(),
    dtype=st.sampled_from([None, np.int32, np.int64]),
    case=st.sampled_from(CASES),
    threads=st.sampled_from([1, 2, 3, 8]),
)
@settings(max_examples=800)
def test_equals_edge_lists(lattice, dtype, case, threads):
    bonds, packed, arguments = lattice
    assume(takes(case, packed.shape, arguments["batch_axes"]))
    before = bonds.copy(), packed.copy()
    conncomp.set_num_threads(threads)
    expected = label_by_bonds(bonds, **arguments)
    numbers, expected_counts = number_items(expected, arguments["batch_axes"])
    for given_bonds in (bonds, packed):
        for numbering, labels in (("roots", expected), ("consecutive", numbers)):
            found, counts = label_bonds(
                given_bonds, return_num=True, numbering=numbering, dtype=dtype, **case, **arguments
            )
            np.testing.assert_array_equal(found, labels)
            assert found.dtype == (dtype or np.int32)
            np.testing.assert_array_equal(counts, expected_counts)
            assert isinstance(counts, int) == (not arguments["batch_axes"])
    np.testing.assert_array_equal(bonds, before[0])
    np.testing.assert_array_equal(packed, before[1])


@pytest.mark.parametrize(
    "shape", [(140000,), (300, 400), (70000, 3), (3, 70000), (40, 50, 60), (7, 6, 5, 4, 3, 20)]
)
def test_large_lattices(shape):
    rng = np.random.default_rng(0)
    for probability in (0.2, 0.5, 0.95):
        bonds = rng.random((len(shape), *shape)) < probability
        for periodic in (False, True, [k % 2 == 1 for k in range(len(shape))]):
            expected = label_by_bonds(bonds, periodic)
            numbers, _ = number_items(expected, 0)
            for threads in (1, 2, 8):
                conncomp.set_num_threads(threads)
                np.testing.assert_array_equal(label_bonds(bonds, periodic=periodic), numbers)
                for given_bonds in (bonds, pack(bonds)):
                    roots = label_bonds(given_bonds, periodic=periodic, numbering="roots")
                    np.testing.assert_array_equal(roots, expected)


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 2, 2)])
def test_no_sites(shape):
    labels, num = label_bonds(np.zeros((len(shape), *shape), bool), return_num=True, periodic=True)
    assert labels.shape == shape
    assert num == 0


def test_axes_of_length_1():
    """A site is joined to itself at most, so only axes that are longer count."""
    bonds = np.ones((9, *(1,) * 4, 5, *(1,) * 4), bool)
    assert label_bonds(bonds, periodic=True, return_num=True)[1] == 1
    bonds[4] = False
    assert label_bonds(bonds, periodic=True, return_num=True)[1] == 5
    assert label_bonds(np.ones((1, 1), bool), return_num=True)[1] == 1


def test_bytes_that_are_neither_0_nor_1():
    bonds = np.array([[2, 0, 255, 1]], np.uint8).view(bool)
    np.testing.assert_array_equal(label_bonds(bonds), [1, 1, 2, 2])


def test_out_and_dtype():
    bonds = np.random.default_rng(0).random((2, 10, 12)) < 0.4
    expected = label_bonds(bonds)
    out = np.zeros((10, 12), np.int16)
    assert label_bonds(bonds, out=out) is out
    np.testing.assert_array_equal(out, expected)
    assert label_bonds(bonds, dtype="smallest").dtype == np.uint8
    np.testing.assert_array_equal(label_bonds(bonds.tolist()), expected)
    memory = np.zeros((3, 4, 4), np.uint8)
    with pytest.raises(ValueError, match="out shares memory with the input"):
        label_bonds(memory[0], out=memory.reshape(-1)[4:20].reshape(4, 4), dtype=np.uint8)


@pytest.mark.parametrize("length", [64, 100])
def test_clusters_at_the_percolation_threshold(length):
    """Their density is known: Ziff, Finch, Adamchik 1997."""
    rng = np.random.default_rng(length)
    lattices = 400
    bonds = rng.random((2, lattices, length, length)) < 0.5
    counts = label_bonds(bonds, periodic=True, batch_axes=1, return_num=True)[1]
    density = counts / length**2
    expected = (3 * math.sqrt(3) - 5) / 2 + 0.884 / length**2
    error = density.std(ddof=1) / math.sqrt(lattices)
    assert abs(density.mean() - expected) < 5 * error


REFUSED = {
    TypeError: [
        (np.zeros((2, 3, 4)), {}, "bonds is of dtype float64; it must be of bool"),
        (np.zeros((2, 3, 4), int), {}, "bonds is of dtype int64; .*uint8"),
        (np.zeros((2, 3, 4), "i1"), {}, "bonds is of dtype int8"),
        (np.zeros((4, 5), "u1"), {"blocks": 1}, "no option 'blocks'"),
    ],
    ValueError: [
        (True, {}, r"bonds has shape \(\); .*\(ndim, \*shape\)"),
        (np.zeros(3, bool), {}, r"bonds has shape \(3,\); .*\(1, length\)"),
        (np.uint8(3), {}, "the lattice of bonds is a scalar"),
        (np.zeros((2, 3), bool), {}, r"shape \(2, 3\) with 2 planes, .*\(3,\) has 1 axes"),
        (np.zeros((3, 4, 5), bool), {}, r"with 3 planes, .*\(4, 5\) has 2 axes"),
        (np.zeros((0, 4, 5), bool), {}, "with 0 planes"),
        (
            np.zeros((2, 4, 5), bool),
            {"batch_axes": 1},
            r"with 2 planes, .*\(5,\) has 1 axes; .*\(ndim, \*batch shape, \*shape\)",
        ),
        (np.zeros((2, 4, 5), bool), {"batch_axes": 2}, "batch_axes=2 must be from 0 to 1"),
        (np.zeros((1,) * 9, "u1"), {}, "8 bits a site, but the lattice has 9 axes"),
        (np.zeros((2,) * 7, "u1"), {}, "7 axes that are longer than 1, and may have up to 6"),
        (np.zeros((4, 5), "u1"), {"periodic": (True,)}, "lattice of bonds has 2 axes"),
        (np.ma.masked_equal(np.ones((4, 5), "u1"), 1), {}, "bonds has masked elements"),
    ],
}


@pytest.mark.parametrize(
    ("error", "bonds", "arguments", "message"),
    [(error, *row) for error in REFUSED for row in REFUSED[error]],
)
def test_errors(bonds, arguments, error, message):
    with pytest.raises(error, match=message):
        label_bonds(bonds, **arguments)
