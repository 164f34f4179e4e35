"""Sums of tiles on a GPU are what runs give, and the CPU, bit for bit, call after call."""

import gc
import weakref

import numpy as np
import pytest

import conncomp
from changing_memory import written_by_another_thread
from conncomp.components.columns.properties import OF_SUMS, PROPERTIES
from conncomp.kernels.cuda.components import measures, tile_sums
from conncomp.kernels.cuda.launcher import COUNT
from host_cuda.host_gpu import HostGpu
from host_cupy import place_on_host

NEAR = "intensity_std", "axis", "inertia_tensor_eigvals"
SHAPES = [(90, 300), (66, 131), (20, 40, 37)]

cupy = pytest.fixture(place_on_host)


def few(seed, shape, rows, dtype=np.int32):
    """Return blocks and single elements of few labels, and an image of all values."""
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, rows, [-(-length // 9) for length in shape])
    for axis in range(len(shape)):
        labels = labels.repeat(9, axis=axis)
    labels = labels[tuple(map(slice, shape))].copy()
    spots = generator.random(shape) < 0.05
    labels[spots] = generator.integers(0, rows, np.count_nonzero(spots))
    return labels.astype(dtype), generator.integers(0, 1 << 16, shape).astype(np.uint16)


def check(cupy, labels, image=None, **options):
    """Compare with the CPU; return the GPU's answer."""
    placed = [None if array is None else cupy.asarray(array) for array in (labels, image)]
    found = conncomp.component_statistics(*placed, **options)
    expected = conncomp.component_statistics(labels, image, **options)
    columns = found.columns()
    for name, wanted in expected.columns().items():
        value = columns[name].get()
        if name.startswith(NEAR):  # by another way
            np.testing.assert_allclose(value, wanted, rtol=1e-12, atol=1e-10, err_msg=name)
        else:
            np.testing.assert_array_equal(value, wanted, strict=True, err_msg=name)
    return {name: column.get() for name, column in columns.items()}


@pytest.fixture
def tiles(monkeypatch):
    """How often tiles were added up, and how often that was what was asked for."""
    calls, cleared = [], tile_sums.TileSums.cleared

    def counted(self):
        calls.append(self.rows)
        cleared(self)

    monkeypatch.setattr(tile_sums.TileSums, "cleared", counted)
    return calls


@pytest.fixture
def events(monkeypatch):
    """When columns were written, and when the host was told of how many components."""
    happened = []

    def noted(kind, name):
        method = getattr(kind, name)

        def call(self, *arguments):
            answer = method(self, *arguments)
            happened.append(name if name == "write" else answer[0])
            return answer

        monkeypatch.setattr(kind, name, call)

    noted(tile_sums.TileSums, "write")
    noted(tile_sums.TileSums, "read_counts")
    return happened


def happened_in(events, call):
    events.clear()
    call()
    return list(dict.fromkeys(events))


@pytest.mark.parametrize(
    ("shape", "dtype"), [(SHAPES[0], np.int32), (SHAPES[1], np.int64), (SHAPES[2], np.int32)]
)
def test_later_calls_add_up_tiles(cupy, tiles, shape, dtype):
    for seed in range(2):
        labels, image = few(seed, shape, 100 - seed, dtype)
        check(cupy, labels, image)
        check(cupy, labels)
        check(
            cupy,
            labels,
            image,
            properties=[
                name for name in OF_SUMS if len(shape) in (PROPERTIES[name].axes or (2, 3))
            ],
        )
    assert len(tiles) == 5


@pytest.mark.parametrize("shape", SHAPES[1:3])
def test_both_ways_give_the_same_bits(cupy, tiles, shape):
    labels, image = few(1, shape, 70)
    names = ["intensity_std", "intensity_max", "inertia_tensor_eigvals"]
    by_runs, by_tiles = (check(cupy, labels, image, properties=names) for _ in range(2))
    assert len(tiles) == 1
    for name, column in by_runs.items():
        np.testing.assert_array_equal(by_tiles[name], column, strict=True)


@pytest.mark.parametrize(
    ("values", "shape"), [("u1", (70, 140)), ("i2", (17, 20, 40)), ("?", (70, 140))]
)
def test_values_of_all_small_types(cupy, tiles, shape, values):
    labels, image = few(4, shape, 99)
    for _ in range(2):
        check(cupy, labels, (image % 2 if values == "?" else image).astype(values), moments=False)
    if values == "i2":
        for value in (-(1 << 15), (1 << 15) - 1):
            check(cupy, np.ones_like(labels), np.full(shape, value, np.int16))
    check(cupy, np.ones_like(labels), np.full(shape, 255, np.uint8), spacing=0.5)
    assert len(tiles) > 1


@pytest.mark.parametrize("shape", [(70, 140), (17, 20, 40)])
def test_real_numbers(cupy, tiles, shape):
    labels, image = few(9, shape, 90)
    generator = np.random.default_rng(9)
    images = [
        image / np.float32(65535),
        np.float32(1e-3) * (generator.random(shape, np.float32) - np.float32(0.3)),
        np.where(generator.random(shape) < 0.5, np.float32(-0.0), np.float32(0)),
        np.full(shape, -3.7e4, np.float32),
        generator.normal(1e6, 1, shape).astype(np.float32),
    ]
    for values in images:
        measures._recorded.clear()
        for _ in range(2):
            check(cupy, labels, values)
            found = check(cupy, labels, values, properties=["intensity_std", "intensity_min"])
        zeros = np.signbit(found["intensity_min"])
        wanted = conncomp.component_statistics(labels, values).minima
        np.testing.assert_array_equal(zeros, np.signbit(wanted))
    assert len(tiles) == 3 * len(images)


def test_real_numbers_that_do_not_fit(cupy, tiles):
    labels, image = few(10, (70, 140), 90)
    values = image / np.float32(65535)
    check(cupy, labels, values)
    check(cupy, labels, values)
    check(cupy, labels, values * 2)
    assert len(tiles) == 2
    check(cupy, labels, values * 100)  # which are found to be too large, and measured otherwise
    assert len(tiles) == 2
    check(cupy, labels, values * 100)
    assert len(tiles) == 3
    for bad in (np.nan, np.inf, -np.inf, 1e-30, 3e38):
        changed = values.copy()
        changed[labels == 3] = bad
        for _ in range(3):
            with np.errstate(invalid="ignore", over="ignore"):
                placed = cupy.asarray(labels), cupy.asarray(changed)
                found = conncomp.component_statistics(*placed)
                expected = conncomp.component_statistics(labels, changed)
            for name in ("sums", "means", "minima", "maxima", "weighted_centroids"):
                wanted = getattr(expected, name)
                np.testing.assert_array_equal(getattr(found, name).get(), wanted, strict=True)
    assert len(tiles) == 3
    measures._recorded.clear()
    for _ in range(2):
        check(cupy, labels, values)
    assert len(tiles) == 4


@pytest.mark.parametrize(
    ("background", "shape"), [(0, (60, 200)), (-1, (20, 20, 33)), (None, (60, 200))]
)
def test_backgrounds_and_labels_that_are_not_allowed(cupy, tiles, background, shape):
    labels, image = few(5, shape, 60)
    labels -= background == -1
    for _ in range(2):
        check(cupy, labels, image, background=background)
    for place in (0, labels.size - 1):
        for number in (-1, -7, 2**31 - 1, 5000):
            wrong = labels.copy()
            wrong.flat[place] = number
            if number == -1 == background or number == 5000:
                check(cupy, wrong, image, background=background)
            else:
                with pytest.raises(ValueError, match="labels holds"):
                    conncomp.component_statistics(cupy.asarray(wrong), background=background)
            check(cupy, labels, image, background=background)
    assert tiles[0] < 128


def test_what_needs_runs_and_what_fails_in_between(cupy, tiles):
    shape = 80, 150
    labels, image = few(6, shape, 80)
    for _ in range(2):
        check(cupy, labels, image, properties=["intensity_std", "bbox"])
    assert len(tiles) == 1
    with pytest.raises(ValueError, match="which is no property"):
        conncomp.component_statistics(cupy.asarray(labels), properties=["areas"])
    with pytest.raises(ValueError, match="spacing"):
        conncomp.component_statistics(cupy.asarray(labels), spacing=(1, 2, 3))
    check(cupy, labels, image, properties=["intensity_mean"])
    check(cupy, labels, np.stack([image, image], axis=-1), properties=["intensity_mean"])
    check(cupy, labels, image / 7)
    placed = cupy.asarray(labels)
    classes = conncomp.component_statistics(placed, classes=placed).classes
    np.testing.assert_array_equal(classes.get(), np.unique(labels[labels > 0]))
    check(cupy, labels, image, properties=["moments", "area"])
    assert len(tiles) == 2
    check(cupy, labels, image, surfaces=True, spacing=(2, 0.5))
    check(cupy, np.zeros_like(labels), image)
    check(cupy, labels, image)
    check(cupy, labels[::2], image[::2])
    assert len(tiles) == 4


def test_the_host_waits_for_what_it_presumed_after_all_is_launched(cupy, tiles, events):
    shape = 70, 140
    labels, image = few(12, shape, 60)
    count = int(labels.max())
    names = [name for name in OF_SUMS if PROPERTIES[name].axes in ((), (2,))]

    def happened(array=labels, values=image, **options):
        with np.errstate(all="ignore"):  # of columns that nothing was written into
            return happened_in(events, lambda: check(cupy, array, values, **options))

    told = [happened(properties=names) for _ in range(5)]
    assert told == [[], [count, "write"], [count, "write"], ["write", count], ["write", count]]
    assert happened(spacing=(2, 0.5)) == ["write", count]
    assert happened(surfaces=True) == [count, "write"]  # looked for in labels
    for other in range(1, 4):
        fewer = np.where(labels > count - other, 0, labels)
        assert happened(fewer, properties=names) == ["write", count - other]
        assert events.count("write") == 2
        assert happened(fewer) == [count - other, "write"]
        assert happened(fewer) == ["write", count - other]
    renamed = np.where(fewer == fewer.max(), count, fewer)  # as many, of another largest label
    assert happened(renamed, properties=names) == ["write", count - 3]
    assert events.count("write") == 1
    assert happened(np.zeros_like(labels)) == ["write", 0]
    wrong = labels.copy()
    wrong[3, 5] = -4
    for _ in range(2):
        check(cupy, labels, image)
        check(cupy, labels, image)
        assert happened(properties=names) == ["write", count]
        for _ in range(2):
            with pytest.raises(ValueError, match="labels holds -4"):
                conncomp.component_statistics(cupy.asarray(wrong), cupy.asarray(image))
    assert happened() == [count, "write"]


def test_what_is_presumed_of_real_numbers(cupy, events):
    labels, image = few(13, (20, 20, 40), 60)
    values = image / np.float32(256)
    for _ in range(4):
        check(cupy, labels, values, properties=["intensity_std", "axis_major_length"])
    assert list(dict.fromkeys(events[-3:])) == ["write", int(labels.max())]
    check(cupy, labels, values * 1e9)  # too large for the sums


def test_an_answer_that_does_not_come_is_asked_for(cupy, tiles, events, monkeypatch):
    labels, image = few(14, (70, 140), 60)
    monkeypatch.setattr(tile_sums, "GLANCES", 0)
    for _ in range(5):
        check(cupy, labels, image)
    assert list(dict.fromkeys(events[-2:])) == ["write", int(labels.max())]


def test_more_labels_than_slots(cupy, monkeypatch):
    """A tile of more labels than slots sends runs alone."""
    monkeypatch.setattr(tile_sums, "LABELS_OF_ROW", 1)
    generator = np.random.default_rng(7)
    for shape in ((70, 130), (18, 18, 40)):
        labels = generator.integers(0, 3000, shape).astype(np.int32)
        image = generator.integers(0, 1 << 16, shape).astype(np.uint16)
        for _ in range(3):
            check(cupy, labels, image)
            check(cupy, labels, image / np.float32(256))


def test_tables_grow_with_labels(cupy, tiles):
    shape = 128, 256
    for rows in (10, 10, 300, 300, 500, 500, 20):
        check(cupy, *few(rows, shape, rows))
    assert tiles == [16, 512, 512, 512, 512]
    (kept,) = measures._recorded.values()
    assert kept._tiles[False].rows == 512


def add_up(gpu, labels, image):
    """Add up tiles once, with nobody else's memory."""
    repeated = measures.RecordedRuns(gpu, labels, 0, 0, 0)
    repeated._rows_met = 50
    repeated.start(labels, measures.Sums(image))
    return repeated.finish(labels)


def test_no_image_is_kept_for_later_calls(cupy):
    labels, image = few(0, SHAPES[0], 100)
    for _ in range(3):
        placed = cupy.asarray(labels), cupy.asarray(image)
        conncomp.component_statistics(*placed)
    kept = [weakref.ref(array) for array in placed]
    del placed
    gc.collect()
    assert all(array() is None for array in kept)


def test_labels_that_change_meanwhile():
    """Labels beyond all rows are added to nothing (contract 5)."""
    labels, image = few(8, (64, 140), 50)
    changes = [labels.copy(), np.full_like(labels, 2**30), np.full_like(labels, -7)]
    with written_by_another_thread((labels, changes)):
        add_up(HostGpu(), labels, image)
        add_up(HostGpu(), labels, image / np.float32(256))


def test_sides_and_words_are_those_of_the_kernels():
    assert COUNT.itemsize == 8
    assert [np.prod(sides) for sides in tile_sums.SIDES.values()] == [256 * 32] * 2
