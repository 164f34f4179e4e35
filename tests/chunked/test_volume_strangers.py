"""`label_file` among files that others made: folders, targets, links and codecs that lie."""

import os

import numpy as np
import pytest

import conncomp
from conncomp.files.thresholds import above
from volume_sources import write_image, write_zarr

numcodecs = pytest.importorskip("numcodecs")
zarr = pytest.importorskip("zarr")

VOLUME = np.random.default_rng(3).integers(0, 3, (8, 10)).astype(np.uint8)


def test_frames_of_zstandard_behind_the_first(tmp_path):
    source = write_zarr(tmp_path / "v.zarr", VOLUME, (4, 5))
    chunk, bomb = source / "c/0/0", numcodecs.Zstd().encode(bytes(10**7))
    for k, ahead in enumerate((chunk.read_bytes(), b"\x50\x2a\x4d\x18\0\0\0\0")):
        chunk.write_bytes(ahead + bomb)
        with pytest.raises(ValueError, match="Zstandard"):
            conncomp.label_file(source, tmp_path / f"{k}.npy")


def test_a_foreign_folder_stays(tmp_path):
    source, folder = write_zarr(tmp_path / "v.zarr", VOLUME, (4, 5)), tmp_path / "l.npy.partial"
    (folder / "reports").mkdir(parents=True)
    with pytest.raises(FileExistsError, match="is not what an unfinished labelling has kept"):
        conncomp.label_file(source, tmp_path / "l.npy")
    assert os.listdir(folder) == ["reports"]


def test_targets(tmp_path):
    source = write_zarr(tmp_path / "v.zarr", VOLUME, (4, 5))
    conncomp.label_file(source, f"{tmp_path}/l.zarr/")
    assert (tmp_path / "l.zarr/zarr.json").exists()
    target = tmp_path / "l.npy"
    with pytest.raises(FileExistsError):
        conncomp.label_file(source, target, progress=lambda *_: target.write_text("other"))
    assert target.read_text() == "other"
    with pytest.raises(ValueError, match="without a -1"):
        conncomp.label_file(source, tmp_path / "u.npy", numbering="roots", dtype="u2")


def test_links(tmp_path):
    source = write_zarr(tmp_path / "v.zarr", VOLUME, (4, 5))
    (source / "c/0/0").rename(tmp_path / "elsewhere")
    (source / "c/0/0").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ValueError, match="is a link"):
        conncomp.label_file(source, tmp_path / "l.npy")


@pytest.mark.parametrize("name", ["slice0.npy", "slice3.npy"])
def test_slices_that_are_links(tmp_path, name):
    folder = tmp_path / "slices"
    folder.mkdir()
    for k in range(4):
        np.save(folder / f"slice{k}.npy", VOLUME)
    (tmp_path / "link").symlink_to(folder)
    assert conncomp.label_file(tmp_path / "link", tmp_path / "l.npy") > 0
    (folder / name).rename(tmp_path / "elsewhere.npy")
    (folder / name).symlink_to(tmp_path / "elsewhere.npy")
    with pytest.raises(ValueError, match=f"{name} is a link; copy what it leads to"):
        conncomp.label_file(folder, tmp_path / "other.npy")


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_a_list_of_labels_that_is_a_link(tmp_path, version):
    """What it leads to would be written; the labels stay, for a call once the link is gone."""
    image = write_image(tmp_path / "v.zarr", VOLUME, "yx", version, levels=1)
    zarr.create_group(str(tmp_path / "other"), zarr_format={"0.4": 2, "0.5": 3}[version])
    name = {"0.4": ".zattrs", "0.5": "zarr.json"}[version]
    content = (tmp_path / "other" / name).read_bytes() if version == "0.5" else b"{}"
    (tmp_path / "other" / name).write_bytes(content)
    (image / "labels").mkdir()
    (image / "labels" / name).symlink_to(tmp_path / "other" / name)
    with pytest.raises(ValueError, match="is a link"):
        conncomp.label_file(image, image / "labels/l")
    assert (tmp_path / "other" / name).read_bytes() == content
    (image / "labels" / name).unlink()
    conncomp.label_file(image, image / "labels/l")
    assert zarr.open_group(str(image / "labels"), mode="r").attrs


def test_thresholds_of_numpy():
    image = np.array([2.0**53, 2.0**53 + 4])
    assert above(image, np.int64(2**53 + 3)).tolist() == [False, True]
    assert above(image, np.int64(2**53 - 1)).tolist() == [True, True]


@pytest.mark.parametrize("name", ["l.tif", "l.TIFF", "l.h5", "l.png", "l.nii.gz", "l.npz"])
def test_names_of_other_kinds_of_files_are_no_targets(tmp_path, name):
    """A folder of Zarr of such a name would mislead whoever opens it."""
    source = write_zarr(tmp_path / "v.zarr", VOLUME, (4, 5))
    with pytest.raises(ValueError, match=r"written as \.npy or Zarr, not \.\w+; name it so"):
        conncomp.label_file(source, tmp_path / name)
    assert os.listdir(tmp_path) == ["v.zarr"]
    conncomp.label_file(source, tmp_path / "l.zarr")
    with (
        conncomp.open_volume(tmp_path / "l.zarr") as labels,
        pytest.raises(ValueError, match=r"written as \.npy or Zarr"),
    ):
        conncomp.largest_components(labels, 1).save(tmp_path / name)
    conncomp.label_file(source, tmp_path / "l.of-2024")
    assert zarr.open_array(tmp_path / "l.of-2024").shape == (8, 10)
