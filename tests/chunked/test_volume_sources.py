"""`label_file` of HDF5, TIFF and folders of slices, and what is refused there."""

import os

import numpy as np
import pytest
import tifffile

import conncomp
from conncomp.chunked.volumes import volume
from conncomp.chunked.volumes.formats import slices
from volume_sources import read_labels

h5py = pytest.importorskip("h5py")
PIL_image = pytest.importorskip("PIL.Image")

RNG = np.random.default_rng(12)
VOLUME = RNG.integers(0, 3, (11, 14, 9)).astype(np.uint8)
WANTED, NUMBER = conncomp.label(VOLUME, return_num=True)


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    """Let each chunk be a block, and a slab have a few slices."""
    monkeypatch.setattr(volume, "BLOCK", 1)
    monkeypatch.setattr(slices, "SLAB", 3 * 14 * 9)


def hdf5(path, **options):
    with h5py.File(path, "w") as file:
        file.create_dataset("raw/image", data=VOLUME, **options)
        file.create_dataset("raw/name", data="a text")
    return path


def tiff(path, **options):
    tifffile.imwrite(path, VOLUME, **options)
    return path


def folder(path, suffix, write):
    path.mkdir()
    (path / "notes.txt").write_text("no image")
    for k, plane in enumerate(VOLUME):
        write(path / f"slice{k}{suffix}", plane)
    return path


SOURCES = {
    "hdf5": lambda path: hdf5(path / "v.h5"),
    "hdf5 in chunks": lambda path: hdf5(path / "v.h5", chunks=(4, 5, 9), compression="gzip"),
    "hdf5, shuffled": lambda path: hdf5(path / "v.h5", chunks=(11, 2, 3), shuffle=True),
    "tiff": lambda path: tiff(path / "v.tif"),
    "tiff, big-endian": lambda path: tiff(path / "v.tif", byteorder=">"),
    "tiff, packed": lambda path: tiff(path / "v.tif", compression="zlib"),
    "tiff of a microscope": lambda path: tiff(path / "v.ome.tif", metadata={"axes": "ZYX"}),
    "folder of tiff": lambda path: folder(path / "v", ".tif", tifffile.imwrite),
    "folder of png": lambda path: folder(
        path / "v", ".png", lambda name, plane: PIL_image.fromarray(plane).save(name)
    ),
    "folder of npy": lambda path: folder(path / "v", ".npy", np.save),
}


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("target", ["labels.zarr", "labels.npy"])
def test_labels_are_those_of_the_whole(tmp_path, kind, target):
    source = SOURCES[kind](tmp_path)
    name = source.name
    assert conncomp.label_file(source, tmp_path / target) == NUMBER
    assert sorted(os.listdir(tmp_path)) == sorted([target, name])
    np.testing.assert_array_equal(read_labels(tmp_path / target), WANTED, strict=True)


@pytest.mark.parametrize("kind", SOURCES)
def test_a_change_is_noticed_on_resume(tmp_path, kind, monkeypatch):
    source = SOURCES[kind](tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(conncomp.chunked.volumes.block_files.BlockFiles, "label", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            conncomp.label_file(source, tmp_path / "l.npy")
    changed = source if source.is_file() else sorted(source.iterdir())[-1]
    os.utime(changed, (5, 5))
    with pytest.raises(ValueError, match="as source differ; remove it"):
        conncomp.label_file(source, tmp_path / "l.npy")


@pytest.mark.parametrize("threshold", [1, 0.5, 2**70])
def test_threshold_and_batch_axes(tmp_path, threshold):
    source = hdf5(tmp_path / "v.h5", chunks=(4, 5, 9))
    conncomp.label_file(source, tmp_path / "l.npy", threshold=threshold, batch_axes=1)
    expected = conncomp.label(np.greater(VOLUME, threshold), batch_axes=1)
    np.testing.assert_array_equal(np.load(tmp_path / "l.npy"), expected)


@pytest.mark.parametrize("numbering", ["roots", "consecutive"])
@pytest.mark.parametrize("batch_axes", [0, 1])
def test_filters(tmp_path, numbering, batch_axes):
    """Of one slice a block, too, where items are alone, and after a stop in the middle."""
    source = tiff(tmp_path / "v.tif")
    arguments = {"connectivity": 1, "numbering": numbering, "batch_axes": batch_axes}
    count = conncomp.label_file(source, tmp_path / "l.npy", min_size=3, largest=4, **arguments)
    options = {"background": -1 if numbering == "roots" else 0, "batch_axes": batch_axes}
    labels = conncomp.remove_small_components(conncomp.label(VOLUME, **arguments), 3, **options)
    labels = conncomp.largest_components(labels, 4, **options)
    np.testing.assert_array_equal(np.load(tmp_path / "l.npy"), labels)
    assert count == np.count_nonzero(conncomp.component_sizes(labels, **options))


def test_the_only_dataset_needs_no_name(tmp_path):
    source = hdf5(tmp_path / "v.h5")
    conncomp.label_file(source, tmp_path / "a.npy", key="/raw/image")
    conncomp.label_file(source, tmp_path / "b.npy")
    assert (tmp_path / "a.npy").read_bytes() == (tmp_path / "b.npy").read_bytes()
    with h5py.File(source, "r+") as file:
        file["other"] = [1.5]
        file["far"] = h5py.ExternalLink("elsewhere.h5", "raw")
        file["near"] = h5py.SoftLink("/raw")
        file.create_dataset("outside", (3,), "u1", external=[("/etc/hostname", 0, 3)])
        layout = h5py.VirtualLayout((3,), "u1")
        layout[:] = h5py.VirtualSource("/etc/hostname", "x", shape=(3,))
        file.create_virtual_dataset("virtual", layout)
        file["nothing"] = h5py.Empty("u1")
        file["complex"] = [1j]
    for key, words in {
        None: r"holds 4 datasets; choose one by key= \('other', 'outside', 'raw/image', 'virt",
        "raw": "holds no dataset key='raw'; choose one of 'other'",
        "nothing": "holds no dataset",
        "raw/none": "holds no dataset key='raw/none'",
        "far/image": "'far' of key='far/image' is a link",
        "near/image": "'near' of key='near/image' is a link",
        "outside": "'outside' lie in other files",
        "virtual": "'virtual' lie in other files",
        "complex": "dtype complex128, not real numbers",
    }.items():
        with pytest.raises(ValueError, match=rf"v\.h5: .*{words}"):
            conncomp.label_file(source, tmp_path / "c.npy", key=key)


def test_what_is_refused(tmp_path):
    target = tmp_path / "l.npy"
    np.save(tmp_path / "v.npy", VOLUME)
    PIL_image.fromarray(VOLUME[0]).save(tmp_path / "v.png")
    tifffile.imwrite(tmp_path / "rgb.tif", np.zeros((4, 5, 3), np.uint8), photometric="rgb")
    (tmp_path / "cut.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(200))
    several = folder(tmp_path / "several", ".tif", tifffile.imwrite)
    PIL_image.fromarray(VOLUME[0]).save(several / "a.png")
    uneven = folder(tmp_path / "uneven", ".tif", tifffile.imwrite)
    tifffile.imwrite(uneven / "slice7.tif", np.zeros((3, 4), np.uint8))
    colours = folder(tmp_path / "colours", ".png", lambda *_: None)
    PIL_image.fromarray(np.zeros((4, 5, 3), np.uint8)).save(colours / "a.png")
    for source, arguments, words in [
        ("v.npy", {"key": "a"}, "key='a' chooses an array of Zarr or HDF5, which .*v.npy is not"),
        ("v.npy", {"channel": 0}, "channel=0 chooses one of OME-Zarr"),
        ("v.png", {}, "is of the kind PNG; give Zarr, HDF5"),
        ("rgb.tif", {}, "is in colour"),
        ("cut.h5", {}, "cut.h5: "),
        ("several", {}, "holds images of the kinds PNG, TIFF; leave one kind"),
        ("uneven", {}, r"slices 6 to 8 cannot be read: slice7.tif has shape \(3, 4\)"),
        ("colours", {}, "a.png is in colour"),
        ("v.npy", {"threshold": np.nan}, "threshold=nan must be a finite number"),
        ("v.npy", {"min_size": -1}, "min_size=-1 must be from 0"),
        ("v.npy", {"largest": -2}, "largest=-2 must be from 0"),
    ]:
        with pytest.raises(ValueError, match=words):
            conncomp.label_file(tmp_path / source, target, **arguments)
    with pytest.raises(ValueError, match="lies in what is labelled"):
        conncomp.label_file(uneven, uneven / "l.npy")
