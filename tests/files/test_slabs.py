"""Volumes that are read slab by slab, held against `read_image`."""

import os
from itertools import pairwise

import numpy as np
import pytest
import tifffile

import conncomp
from conncomp.files.slabs import open_slabs, parse_raw

VOLUME = np.random.default_rng(5).integers(0, 9, (7, 6, 5)).astype(np.uint16)


def whole(path, length, raw=None):
    with open_slabs(path, raw) as file:
        ends = [*range(0, file.shape[0], length), file.shape[0]]
        slabs = [file.read(*part).copy() for part in pairwise(ends)]
        assert [len(slab) for slab in slabs[:-1]] == [length] * (len(slabs) - 1)
        assert {slab.dtype for slab in slabs} == {file.dtype}
        together = np.concatenate(slabs)
        assert together.shape == file.shape
        return together.astype(file.dtype)


TIFFS = {
    "contiguous": (VOLUME, {}),
    "big-endian": (VOLUME, {"byteorder": ">"}),
    "pages": (VOLUME, {"contiguous": False, "metadata": None}),
    "packed": (VOLUME, {"compression": "zlib", "photometric": "minisblack"}),
    "one page": (VOLUME[0], {}),
    "one packed page": (VOLUME[0], {"compression": "zlib"}),
    "four axes": (
        VOLUME.reshape(7, 3, 2, 5).repeat(4, 2),
        {"compression": "zlib", "photometric": "minisblack"},
    ),
    "ome": (VOLUME, {"ome": True, "metadata": {"axes": "ZYX"}}),
    "ome, packed": (VOLUME, {"ome": True, "metadata": {"axes": "ZYX"}, "compression": "zlib"}),
    "bigtiff": (VOLUME, {"bigtiff": True}),
}


@pytest.mark.parametrize("kind", TIFFS)
@pytest.mark.parametrize("length", [1, 3, 100])
def test_tiff(tmp_path, kind, length):
    array, options = TIFFS[kind]
    path = tmp_path / "volume.tif"
    tifffile.imwrite(path, array, **options)
    np.testing.assert_array_equal(whole(path, length), conncomp.read_image(path))


@pytest.mark.parametrize("dtype", ["b1", "u1", ">i4", "f8"])
@pytest.mark.parametrize("shape", [(7,), (7, 6), (7, 6, 5)])
def test_npy_and_raw(tmp_path, dtype, shape):
    array = VOLUME.reshape(-1)[: np.prod(shape)].reshape(shape).astype(dtype)
    np.save(tmp_path / "volume.npy", array)
    array.tofile(tmp_path / "volume.raw")
    raw = parse_raw(f"{','.join(map(str, shape))}:{dtype}")
    for length in (1, 4, 10):
        for path, given in ((tmp_path / "volume.npy", None), (tmp_path / "volume.raw", raw)):
            found = whole(path, length, given)
            np.testing.assert_array_equal(found, array)
            assert found.dtype == array.dtype


def write(path, kind):
    if kind == "fortran":
        np.save(path, np.asfortranarray(VOLUME))
    elif kind == "forged":
        np.save(path, VOLUME)
        path.write_bytes(path.read_bytes().replace(b"(7, 6, 5)", b"(7, 6, 9)"))
    elif kind == "objects":
        np.save(path, np.array([None]), allow_pickle=True)
    elif kind == "scalar":
        np.save(path, np.array(5))
    elif kind == "colour":
        tifffile.imwrite(path.with_suffix(".tif"), np.zeros((4, 4, 3), np.uint8), photometric="rgb")
        os.replace(path.with_suffix(".tif"), path)
    elif kind == "png":
        conncomp.write_image(path.with_suffix(".png"), VOLUME[0])
        os.replace(path.with_suffix(".png"), path)
    else:
        path.write_bytes({"empty": b"", "text": b"hello, world, how are you"}[kind])


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("fortran", "is in Fortran order"),
        ("forged", "but is of"),
        ("objects", "not numbers"),
        ("scalar", "a single number"),
        ("colour", "is in colour"),
        ("png", "is of the kind PNG"),
        ("empty", "is empty"),
        ("text", "is of none of the kinds"),
    ],
)
def test_bad_files_are_named(tmp_path, kind, words):
    path = tmp_path / "volume.npy"
    write(path, kind)
    with pytest.raises(ValueError, match=words) as error, open_slabs(path):
        pass
    assert str(error.value).startswith(str(path))


def test_a_file_that_is_cut_short_meanwhile(tmp_path):
    path = tmp_path / "volume.npy"
    np.save(path, VOLUME)
    with open_slabs(path) as file:
        os.truncate(path, 300)
        with pytest.raises(ValueError, match="cut short: it ends in slices 0 to 6"):
            file.read(0, 7)


def test_a_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    keep = os.open(tmp_path / "pipe", os.O_RDWR)
    with pytest.raises(ValueError, match="is no regular file"), open_slabs(tmp_path / "pipe"):
        pass
    os.close(keep)


def test_raw_of_another_size(tmp_path):
    (tmp_path / "a.raw").write_bytes(bytes(10))
    with (
        pytest.raises(ValueError, match=r"is of 10 bytes, but shape \(3, 2\) of uint16 takes"),
        open_slabs(tmp_path / "a.raw", parse_raw("3,2:uint16")),
    ):
        pass


@pytest.mark.parametrize("text", ["", "3,4", "3:O", "3:V8", "-3:u1", "3:nope", "3,:u1", "3:c8"])
def test_raw_that_is_none(text):
    with pytest.raises(ValueError, match="is no shape and dtype such as"):
        parse_raw(text)
