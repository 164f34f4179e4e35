"""Sizes, statistics, contacts and selection of labels in files, against those in memory."""

import dataclasses
import os
from contextlib import nullcontext

import numpy as np
import pytest

import conncomp
from chunked_cases import random_labels
from conncomp.chunked.measures import volume_labels
from conncomp.chunked.measures.volume_labels import DeferredCall
from conncomp.chunked.volumes import volume
from conncomp.chunked.volumes.formats import slices
from conncomp.chunked.volumes.labelling import bytes_of_block
from conncomp.chunked.volumes.targets import ZarrTarget
from dealt import examples
from measured_command import measured_program
from volume_sources import SOURCES, read_labels, write_image, write_zarr

for module in ("zarr", "h5py", "tifffile"):
    pytest.importorskip(module)

ARRAYS = {
    "sizes": lambda labels, **known: (conncomp.component_sizes(labels, **known),),
    "histogram": conncomp.size_histogram,
}
SELECTIONS = {
    "largest": lambda labels, **known: conncomp.largest_components(labels, 2, **known),
    "large": lambda labels, **known: conncomp.remove_small_components(labels, 4, **known),
    "small": lambda labels, **known: conncomp.remove_small_components(
        labels, 4, invert=True, **known
    ),
    "numbers": conncomp.relabel_consecutive,
}


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(volume, "BLOCK", 1)


def case(seed, folder):
    """Write random labels; return them, what functions are told of them, and their volume."""
    labels, chunks, known = random_labels(seed)
    labels = np.asarray(labels)
    write_zarr(folder / f"{seed}.zarr", labels, tuple(lengths[0] for lengths in chunks))
    return labels, known, conncomp.open_volume(folder / f"{seed}.zarr")


def assert_same(given, want, rounded=()):
    assert type(given) is type(want)
    for field in dataclasses.fields(want):
        array, expected = getattr(given, field.name), getattr(want, field.name)
        if field.name in ("spacing", "components"):
            assert array == expected
            continue
        assert (array.dtype, array.shape) == (expected.dtype, expected.shape), field.name
        apart = 1e-9 if field.name in rounded else 0
        np.testing.assert_allclose(array, expected, rtol=apart, atol=apart, err_msg=field.name)


def test_sizes_and_selections(tmp_path):
    for seed in range(examples(40)):
        labels, known, opened = case(seed, tmp_path)
        for function in ARRAYS.values():
            for array, want in zip(
                function(opened, **known), function(labels, **known), strict=True
            ):
                np.testing.assert_array_equal(array, want, str(seed), strict=True)
        for name, function in SELECTIONS.items():
            kept, want = function(opened, **known), function(labels, **known)
            assert (kept.shape, kept.dtype, kept.ndim) == (want.shape, want.dtype, want.ndim)
            np.testing.assert_array_equal(kept, want, f"{name} of {seed}", strict=True)


def test_statistics_and_contacts(tmp_path):
    for seed in range(examples(60)):
        labels, known, opened = case(seed, tmp_path)
        rng = np.random.default_rng(seed)
        axes = labels.ndim - known["batch_axes"]
        image = rng.integers(0, 50, labels.shape).astype(rng.choice(["u1", "i4", "f8"]))
        moments, surfaces, bright = map(bool, rng.integers(2, size=3))
        wanted = known | {"moments": moments, "surfaces": surfaces}
        wanted["spacing"] = [None, [0.5, 2, 1.5, 3][:axes]][rng.integers(2)]
        given = conncomp.component_statistics(opened, image if bright else None, **wanted)
        want = conncomp.component_statistics(labels, image if bright else None, **wanted)
        assert_same(given, want, {"centroids", "moments", "weighted_centroids", "sums", "means"})
        other = rng.integers(0, 9, labels.shape)
        assert_same(
            conncomp.match_labels(opened, other, **known),
            conncomp.match_labels(labels, other, **known),
        )
        known |= {"periodic": [bool(rng.integers(2)) for _ in range(axes)]}
        known["connectivity"] = int(rng.integers(1, axes + 1))
        assert_same(conncomp.contacts(opened, **known), conncomp.contacts(labels, **known))


@pytest.mark.parametrize("kind", SOURCES)
def test_every_kind_of_files(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(slices, "SLAB", 300)
    image = np.random.default_rng(1).integers(0, 2, (7, 13, 11))
    labels = conncomp.label(image, connectivity=1).astype(np.uint16)
    suffix, write = SOURCES[kind]
    source = write(tmp_path / f"v{suffix}", labels, (3, 5, 4))
    told = []
    with conncomp.open_volume(
        source, memory="8G", progress=lambda *now: told.append(now)
    ) as opened:
        assert (opened.shape, opened.dtype, len(opened)) == (labels.shape, labels.dtype, 7)
        for part in (np.s_[2:5, 1:3, -4:], np.s_[3], np.s_[..., 2], np.s_[1:1, 3], np.s_[-2, 4, 5]):
            np.testing.assert_array_equal(opened[part], labels[part], strict=True)
        measured = conncomp.component_statistics(opened, opened, surfaces=True)
        assert told[-1][0] == told[-1][1]
        same = conncomp.match_labels(opened, opened)
        assert (same.ious == 1).all()
        assert same.components == (labels.max(),) * 2
        want = conncomp.component_statistics(labels, labels, surfaces=True)
        assert_same(measured, want, {"centroids", "moments", "weighted_centroids", "sums", "means"})
        large = conncomp.remove_small_components(opened, 3)
        for name in ("l.npy", "l.zarr"):
            conncomp.relabel_consecutive(large).save(tmp_path / name)
            expected = conncomp.relabel_consecutive(conncomp.remove_small_components(labels, 3))
            np.testing.assert_array_equal(read_labels(tmp_path / name), expected, strict=True)
        # What is measured of labels that are made as they are read.
        np.testing.assert_array_equal(
            conncomp.component_sizes(large), conncomp.component_sizes(np.asarray(large))
        )
    assert sorted(os.listdir(tmp_path)) == sorted(["l.npy", "l.zarr", source.name])


def test_what_calls_need_is_forgotten_with_the_last():
    made = []
    needed = DeferredCall(None, lambda: made.append(1) or [7])
    calls = [DeferredCall(None, lambda layer, k: (*layer, k), needed, k) for k in range(2)]
    assert [call.needed() for call in calls] == [[needed], [needed]]
    needed.make()
    assert [call.needed() for call in calls] == [[], []]
    for call in calls:
        assert needed._result == [7]
        call.make()
    assert needed._result is None
    assert [call.value() for call in calls] == [(7, 0), (7, 1)]
    assert made == [1]


@pytest.mark.parametrize("workers", [1, 3])
def test_blocks_are_read_once(tmp_path, monkeypatch, workers):
    """But where those at the end of a periodic axis are needed by the first ones."""
    monkeypatch.setattr(volume_labels, "limited", lambda _: nullcontext(workers))
    labels = np.random.default_rng(0).integers(0, 4, (12, 12, 15))
    write_zarr(tmp_path / "v.zarr", labels, (3, 3, 3))
    with conncomp.open_volume(tmp_path / "v.zarr") as opened:
        read, places = opened.volume.read, []
        monkeypatch.setattr(opened.volume, "read", lambda place: places.append(1) or read(place))
        for periodic, most in ((False, 80), ([True, False, False], 80 + 20), (True, 80 + 44)):
            places.clear()
            given = conncomp.contacts(opened, periodic=periodic)
            assert_same(given, conncomp.contacts(labels, periodic=periodic))
            assert len(places) == most
        places.clear()
        conncomp.component_statistics(opened, surfaces=True)
        assert len(places) == 80


def test_a_block_that_cannot_be_read_ends_all(tmp_path, monkeypatch):
    write_zarr(tmp_path / "v.zarr", np.ones((12, 12), np.int32), (3, 3))
    with conncomp.open_volume(tmp_path / "v.zarr") as opened:
        read = opened.volume.read

        def fail(place):
            if place[0].start == 3:
                raise OSError("no such block")
            return read(place)

        monkeypatch.setattr(opened.volume, "read", fail)
        with pytest.raises(OSError, match="no such block"):
            conncomp.contacts(opened)


def test_labels_of_an_image_of_ome_zarr(tmp_path):
    """What is saved beside labels belongs to the image, too."""
    zarr = pytest.importorskip("zarr")
    movie = np.random.default_rng(5).integers(0, 2, (2, 6, 9, 8)).astype(np.uint8)
    image = write_image(tmp_path / "image.zarr", movie, "tzyx", chunks=(1, 3, 4, 5), levels=2)
    conncomp.label_file(image, image / "labels/all")
    with conncomp.open_volume(image / "labels/all") as labels:
        assert labels.batch_axes == 1
        conncomp.largest_components(labels, 3, batch_axes=labels.batch_axes).save(
            image / "labels/large"
        )
    listed = zarr.open_group(str(image / "labels"), mode="r").attrs["ome"]["labels"]
    assert listed == ["all", "large"]
    saved = zarr.open_group(str(image / "labels/large"), mode="r")
    want = conncomp.largest_components(conncomp.label(movie, batch_axes=1), 3, batch_axes=1)
    np.testing.assert_array_equal(saved["0"][...], want)
    np.testing.assert_array_equal(saved["1"][...], want[:, ::2, ::2, ::2])
    assert saved.attrs["ome"]["image-label"]["source"]["image"] == "../../"


def test_memory_for_coarser_arrays(tmp_path):
    """Labels that are made as they are read take as much as those that are in files."""
    zarr = pytest.importorskip("zarr")
    labels = conncomp.label(np.random.default_rng(7).random((6, 8, 10)) < 0.4).astype(np.uint8)
    image = write_image(tmp_path / "image.zarr", labels, "zyx", chunks=(3, 4, 5), levels=2)
    zarr.create_array(
        store=str(image / "s1"), shape=(3, 4, 5), chunks=(90,) * 3, dtype="u1", overwrite=True
    )
    with conncomp.open_volume(image) as opened:
        large = conncomp.largest_components(opened, 2)
        for kept in (opened, large, conncomp.relabel_consecutive(large)):
            assert bytes_of_block(kept.volume) == 3 * 8 * 90**3


def test_saving_goes_on(tmp_path, monkeypatch):
    labels = conncomp.label(np.random.default_rng(2).random((20, 20)) < 0.5)
    source = write_zarr(tmp_path / "v.zarr", labels, (5, 5))
    written = []
    write = ZarrTarget.write

    def stopping(self, *given):
        write(self, *given)
        written.append(given)
        if len(written) == 9:
            raise KeyboardInterrupt

    monkeypatch.setattr(ZarrTarget, "write", stopping)
    opened = conncomp.open_volume(source)
    with pytest.raises(KeyboardInterrupt):
        conncomp.largest_components(opened, 2).save(tmp_path / "l.zarr")
    assert not (tmp_path / "l.zarr").exists()
    with pytest.raises(ValueError, match="as arguments differ; remove it"):
        conncomp.largest_components(opened, 3).save(tmp_path / "l.zarr")
    conncomp.largest_components(opened, 2).save(tmp_path / "l.zarr")
    assert 16 <= len(written) <= 18  # by two threads, one block of each was not noted down
    expected = conncomp.largest_components(labels, 2)
    np.testing.assert_array_equal(read_labels(tmp_path / "l.zarr"), expected)
    kept = conncomp.largest_components(opened, 2)
    os.utime(next(path for path in (source / "c").rglob("*") if path.is_file()), (5, 5))
    with pytest.raises(ValueError, match="was changed since its labels were counted"):
        kept.save(tmp_path / "m.zarr")


def test_files_that_change_while_labels_are_counted(tmp_path):
    """Be it in the midst of them, or between one selection and the next of what it returned."""
    labels = conncomp.label(np.random.default_rng(2).random((20, 20)) < 0.5)
    source = write_zarr(tmp_path / "v.zarr", labels, (5, 5))
    times = iter(range(5, 100))

    def change(*now):
        chunk = next(path for path in (source / "c").rglob("*") if path.is_file())
        os.utime(chunk, (5, next(times)))

    words = "was changed since its labels were counted"
    with conncomp.open_volume(source, progress=change) as changing:
        changed = conncomp.largest_components(changing, 2)
        with pytest.raises(ValueError, match=words):
            changed.save(tmp_path / "l.zarr")
    with conncomp.open_volume(source) as opened:
        large = conncomp.largest_components(opened, 2)
        change()
        both = conncomp.relabel_consecutive(large)
        for kept in (large, both):
            with pytest.raises(ValueError, match=words):
                kept.save(tmp_path / "l.zarr")
        conncomp.relabel_consecutive(opened).save(tmp_path / "l.zarr")
    assert sorted(os.listdir(tmp_path)) == ["l.zarr", "v.zarr"]


REFUSED = [
    (lambda a: conncomp.component_sizes(a, batch_axes=2), ValueError, "background has to be"),
    (lambda a: conncomp.component_statistics(a, np.ones(3)), ValueError, "image has shape"),
    (lambda a: conncomp.component_statistics(a, classes=a), ValueError, "is for labels in mem"),
    (lambda a: conncomp.largest_components(a, 1, by=a), ValueError, "is for labels in memory"),
    (lambda a: a[::2], IndexError, "only slices of step 1"),
    (lambda a: a[::0], IndexError, "only slices of step 1"),
    (lambda a: a[1, 2, 3, 4], IndexError, "there are 3 axes"),
    (lambda a: a[..., 1, 2, 3, 4], IndexError, "there are 3 axes"),
    (lambda a: a[..., 0, ...], IndexError, r"\.\.\. may stand once"),
    (lambda a: a[np.array([0, 1])], IndexError, r"an array of shape \(2,\): only whole numbers"),
    (lambda a: a[np.ones((4, 5, 6), bool), ...], IndexError, "only whole numbers, slices of"),
    (lambda a: a[0, [1, 2]], IndexError, r"\[1, 2\]: only whole numbers"),
    (lambda a: a[None], IndexError, "None: only whole numbers"),
    (lambda a: a[True], IndexError, "True: only whole numbers"),
    (lambda a: a[np.True_], IndexError, r"True.*: only whole numbers"),
    (lambda a: a[1.0], IndexError, r"1\.0: only whole numbers"),
    (lambda a: a["x":], IndexError, r"slice\('x', None, None\): only whole numbers"),
    (lambda a: a[:, 5], IndexError, "5: the axis has length 5"),
    (lambda a: a[:, -6], IndexError, "-6: the axis has length 5"),
]


@pytest.mark.parametrize(("call", "error", "words"), REFUSED)
def test_errors(tmp_path, call, error, words):
    source = write_zarr(tmp_path / "v.zarr", np.ones((4, 5, 6), np.int32), (2, 2, 2))
    with pytest.raises(error, match=words):
        call(conncomp.open_volume(source))


def test_arrays_without_a_copy(tmp_path):
    np.save(tmp_path / "n.npy", np.arange(6).reshape(2, 3))
    opened = conncomp.open_volume(tmp_path / "n.npy")
    with pytest.raises(ValueError, match=r"n\.npy: .* copy=False is not possible"):
        opened.__array__(copy=False)
    for copy in (None, True):
        array = opened.__array__(np.dtype("u1"), copy=copy)
        np.testing.assert_array_equal(array, np.arange(6, dtype="u1").reshape(2, 3), strict=True)


@pytest.mark.parametrize("kind", ["npy", "zarr 3", "ome 0.5", "hdf5", "tiff, packed", "folder"])
def test_closed_files(tmp_path, kind):
    """Nothing is read of them, nor of what is made of their labels; that alone can be closed."""
    suffix, write = SOURCES[kind]
    labels = conncomp.label(np.random.default_rng(2).random((6, 7, 8)) < 0.3).astype(np.uint8)
    source = write(tmp_path / f"v{suffix}", labels, (3, 4, 4))
    with conncomp.open_volume(source) as opened, conncomp.open_volume(source) as other:
        large = conncomp.largest_components(opened, 3)
        numbers = conncomp.relabel_consecutive(large)
        with conncomp.relabel_consecutive(opened) as closed:
            assert not closed.closed
        assert [file.closed for file in (opened, large, numbers, closed)] == [False] * 3 + [True]
        assert large[0].shape == (7, 8)
        opened.close()
        opened.close()
        for file in (opened, large, numbers, closed):
            assert file.closed
            assert (file.shape, file.dtype.kind in "iu") == (labels.shape, True)
            for call in (
                lambda file: file[0, 1],
                lambda file: file[1:1],
                np.asarray,
                lambda file: file.save(tmp_path / "l.npy"),
                conncomp.component_sizes,
                lambda file: conncomp.largest_components(file, 1),
                lambda file: conncomp.component_statistics(other, file),
            ):
                with pytest.raises(ValueError, match=r"is closed; open it again by conncomp\.open"):
                    call(file)
        np.testing.assert_array_equal(other, labels)
    assert os.listdir(tmp_path) == [source.name]


def test_files_that_hold_no_labels(tmp_path):
    np.save(tmp_path / "f.npy", np.ones((3, 4)))
    np.save(tmp_path / "m.npy", np.ones((3, 4), bool))
    np.save(tmp_path / "n.npy", np.full((3, 4), -1))
    real, mask, negative = (conncomp.open_volume(tmp_path / f"{name}.npy") for name in "fmn")
    with pytest.raises(TypeError, match="labels is of dtype float64; it must be of integers"):
        conncomp.component_sizes(real)
    with pytest.raises(TypeError, match=r"m\.npy.* label it to files by conncomp\.label_file"):
        conncomp.remove_small_components(mask, 3)
    with pytest.raises(TypeError, match="labels are saved"):
        real.save(tmp_path / "l.npy")
    with pytest.raises(ValueError, match="labels holds -1; labels are not negative"):
        conncomp.component_sizes(negative)
    with pytest.raises(FileExistsError):
        negative.save(tmp_path / "f.npy")
    with pytest.raises(ValueError, match="memory=1 MB is too little"):
        conncomp.component_sizes(conncomp.open_volume(tmp_path / "n.npy", memory="1M"))


MEASURED = """
import sys
import conncomp

with conncomp.open_volume(sys.argv[1], memory="220M") as labels:
    name = sys.argv[2]
    if name == "statistics":
        table = conncomp.component_statistics(labels, labels, surfaces=True)
        print(table.sizes.tolist(), table.faces.sum(axis=1).tolist(), table.maxima.tolist())
    elif name == "contacts":
        print(conncomp.contacts(labels).counts.tolist())
    else:
        large = conncomp.remove_small_components(labels, 999)
        conncomp.relabel_consecutive(large).save(sys.argv[3])
        print(conncomp.component_sizes(conncomp.open_volume(sys.argv[3])).tolist())
"""


@pytest.mark.soak
@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("statistics", "[1100, 500] [4402, 2002] [3, 7]"),
        ("contacts", "[1500]"),
        ("selection", "[0, 1100]"),
    ],
)
def test_memory_is_a_limit(tmp_path, name, printed):
    """Of labels of five times the limit; measured by the system."""
    zarr = pytest.importorskip("zarr")
    array = zarr.create_array(
        store=str(tmp_path / "v.zarr"), shape=(125, 1000, 1100), chunks=(50, 100, 110), dtype="i8"
    )
    array[7, 3] = 3
    array[7, 4, 300:800] = 7
    assert array.nbytes >= 5 * 220_000_000
    words = str(tmp_path / "v.zarr"), name, str(tmp_path / "l.zarr")
    status, found, error, peak = measured_program("-c", MEASURED, *words)
    assert (status, error, found) == (0, "", printed)
    assert peak <= 220_000_000
