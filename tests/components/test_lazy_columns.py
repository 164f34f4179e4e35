"""Columns of arrays: of labels and images as they were measured, pickled, and refused by Arrow."""

import gc
import pickle

import numpy as np
import pytest

import conncomp
from conncomp.components.columns.properties import PROPERTIES

LAZY = [name for name, entry in PROPERTIES.items() if entry.is_lazy]


def table_of(shape, channels=(), properties=LAZY, seed=0):
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, 4, shape)
    image = generator.random((*shape, *channels))
    return labels, image, conncomp.component_statistics(labels, image, properties=properties)


def assert_equal_entries(table, other, names=LAZY):
    for name in names:
        assert len(table[name]) == len(other[name]) == len(table.labels)
        for entry, wanted in zip(table[name], other[name], strict=True):
            assert type(entry) is type(wanted)
            np.testing.assert_array_equal(entry, wanted, strict=name != "slice")


@pytest.mark.parametrize("shape", [(9, 70), (4, 5, 6)])
def test_entries_are_of_what_was_measured(shape):
    labels, image, table = table_of(shape, channels=(2,))
    _, _, other = table_of(shape, channels=(2,))
    entries = {name: list(other[name]) for name in LAZY}
    labels[...] = labels[::-1].copy()
    image[...] = -1
    for name in LAZY:
        for entry, wanted in zip(table[name], entries[name], strict=True):
            np.testing.assert_array_equal(entry, wanted)


@pytest.mark.soak
def test_labels_and_image_are_let_go():
    """A table does not keep the arrays that it is of, nor a file that they lie in."""

    memory = [bytearray(np.arange(42) % 4), bytearray(np.random.default_rng(0).random(42))]
    labels = np.frombuffer(memory[0], np.int64).astype(np.int32).tobytes()
    memory[0] = bytearray(labels)
    table = conncomp.component_statistics(
        np.frombuffer(memory[0], np.int32).reshape(6, 7),
        np.frombuffer(memory[1]).reshape(6, 7),
        properties=LAZY,
    )
    gc.collect()
    for buffer in memory:
        buffer.clear()  # an error if an array is of it still
    assert len(table["image_intensity"][0]) > 0


@pytest.mark.parametrize("shape", [(9, 70), (4, 5, 6), (0, 3)])
def test_tables_can_be_pickled(shape):
    _, _, table = table_of(shape)
    for name in LAZY:
        list(table[name])
    assert_equal_entries(pickle.loads(pickle.dumps(table)), table)


def test_damaged_pickles_are_refused():
    *_, table = table_of((4, 5), properties=["coords"])
    runs = table["coords"]._contents.runs
    shape, first, packed = runs.__getstate__()
    for damaged in [
        (shape, first, packed[1:]),
        (shape, first[::-1].copy(), packed),
        (shape, first[:0], packed),
        ([], first, packed),
    ]:
        other = type(runs).__new__(type(runs))
        with pytest.raises(ValueError, match="pickled runs of components are damaged; measure"):
            other.__setstate__(damaged)


@pytest.mark.parametrize("name", LAZY)
def test_arrow_has_no_such_columns(name):
    *_, table = table_of((4, 5), properties=["area", name])
    with pytest.raises(TypeError, match=f"{name} is an array of its own .* leave '{name}' out of"):
        table.to_arrow()
