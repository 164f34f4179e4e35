import io
import os
import subprocess
import sys
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.lib import format as npy

import conncomp
from conncomp import read_image, write_image
from conncomp.io import images

LABELS = np.array([[[0, 70_000, 3], [-1, 2, 2]], [[0, 0, 1 << 30], [5, 5, 0]]], np.int32)


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b)


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".tif", ".tiff", ".btf"])
@pytest.mark.parametrize(
    "array",
    [
        LABELS,
        LABELS[0],
        LABELS[:, ::-1].astype(np.int64),
        np.asfortranarray(LABELS),
        LABELS.astype(">i4"),
        LABELS > 0,
        LABELS.astype(np.float32),
        np.arange(120, dtype=np.uint16).reshape(2, 3, 4, 5),
        np.arange(60, dtype=np.uint8).reshape(4, 5, 3),
        np.arange(60, dtype=np.int32).reshape(4, 5, 3),
    ],
    ids=lambda a: f"{a.dtype}-{a.ndim}d",
)
def test_round_trip(tmp_path, suffix, array):
    path = tmp_path / f"image{suffix}"
    write_image(path, array)
    found = read_image(path)
    assert np.array_equal(found, array)
    assert found.shape == array.shape
    assert found.dtype.newbyteorder("=") == array.dtype.newbyteorder("=")
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
@given(
    array=hnp.arrays(
        st.sampled_from(["?", "u1", "<i4", ">u2", "f8", "c8"]),
        hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4),
    ),
    fortran=st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_round_trip_of_any_array(tmp_path_factory, suffix, array, fortran):
    path = tmp_path_factory.mktemp("any") / f"image{suffix}"
    array = np.asarray(array, order="F" if fortran else "C")
    write_image(path, array)
    found = read_image(path)
    assert found.dtype == array.dtype
    assert found.shape == array.shape
    assert found.tobytes() == array.tobytes()


@pytest.mark.parametrize(
    "array",
    [
        LABELS[0] > 0,
        np.arange(256, dtype=np.uint8).reshape(16, 16),
        np.array([[0, 65535]], np.uint16),
        np.arange(60, dtype=np.uint8).reshape(4, 5, 3),
        np.arange(80, dtype=np.uint8).reshape(4, 5, 4),
    ],
    ids=lambda a: f"{a.dtype}-{a.ndim}d",
)
def test_png_round_trip(tmp_path, array):
    write_image(tmp_path / "image.png", array)
    assert same(read_image(tmp_path / "image.png"), array)


@pytest.mark.parametrize(("largest", "dtype"), [(255, np.uint8), (256, np.uint16), (65535, "u2")])
def test_png_of_labels_keeps_every_value(tmp_path, largest, dtype):
    labels = np.array([[0, 1], [2, largest]], np.int64)
    write_image(tmp_path / "labels.png", labels)
    assert same(read_image(tmp_path / "labels.png"), labels.astype(dtype))


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("a.png", [[0, 65536]], r"a\.png: PNG cannot hold values from 0 to 65536; write \.tif"),
        ("a.png", [[-1, 5]], "values from -1 to 5"),
        ("a.png", [[0.5]], "dtype float64"),
        ("a.png", LABELS, r"shape \(2, 2, 3\)"),
        ("a.png", np.zeros((2, 3, 3), np.int32), "shape"),
        ("a.png", np.zeros((0, 3), np.uint8), "shape"),
        ("a.tif", np.zeros(3, np.uint8), r"shape \(3,\)"),
        ("a.tif", np.zeros((0, 3), np.uint8), "shape"),
        ("a.jpg", [[1]], r"cannot write \.jpg; use \.npy"),
        ("a", [[1]], "cannot write this"),
    ],
)
def test_refuses_what_a_format_cannot_hold(tmp_path, name, array, message):
    with pytest.raises(ValueError, match=message):
        write_image(tmp_path / name, array)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("array", [np.array([[object()]]), np.array(["a"])])
def test_refuses_what_is_not_of_numbers(tmp_path, array):
    with pytest.raises(TypeError, match="must be of numbers"):
        write_image(tmp_path / "a.npy", array)


def test_big_tiff(tmp_path, monkeypatch):
    monkeypatch.setattr(images, "CLASSIC_TIFF", 40)
    write_image(tmp_path / "a.tif", LABELS)
    assert (tmp_path / "a.tif").read_bytes()[2] == 43
    assert same(read_image(tmp_path / "a.tif"), LABELS)


def test_pages_of_other_programs_become_a_volume(tmp_path):
    from PIL import Image

    pages = [Image.fromarray(plane) for plane in LABELS]
    pages[0].save(tmp_path / "a.tif", save_all=True, append_images=pages[1:])
    assert same(read_image(tmp_path / "a.tif"), LABELS)


def test_other_formats_are_read(tmp_path):
    from PIL import Image

    grey = np.arange(12, dtype=np.uint8).reshape(3, 4)
    for name in ("a.bmp", "a.pgm"):
        Image.fromarray(grey).save(tmp_path / name)
        assert same(read_image(tmp_path / name), grey)


def test_keys_of_npz(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, image=LABELS, labels=LABELS[0])
    assert same(read_image(path, key="labels"), LABELS[0])
    with pytest.raises(ValueError, match=r"a\.npz: holds 2 arrays; .* 'image', 'labels'"):
        read_image(path)
    with pytest.raises(ValueError, match="holds no array 'mask'; its keys are 'image', 'labels'"):
        read_image(path, key="mask")
    np.savez(path)
    with pytest.raises(ValueError, match="holds 0 arrays"):
        read_image(path)
    write_image(path, LABELS)
    assert np.load(path).files == ["labels"]


def test_memory_map(tmp_path):
    path = tmp_path / "a.npy"
    write_image(path, LABELS)
    mapped = read_image(path, mmap=True)
    assert isinstance(mapped, np.memmap)
    assert same(mapped, LABELS)
    assert same(conncomp.label(mapped), conncomp.label(LABELS))
    mapped[:] = 0
    assert same(read_image(path), LABELS)
    write_image(path, LABELS[0])
    assert mapped.shape == LABELS.shape


@pytest.mark.parametrize("arguments", [{"key": "labels"}, {"mmap": True}])
def test_arguments_that_do_not_fit_the_file(tmp_path, arguments):
    write_image(tmp_path / "a.tif", LABELS)
    with pytest.raises(ValueError, match=f"{next(iter(arguments))}="):
        read_image(tmp_path / "a.tif", **arguments)


@pytest.mark.parametrize("name", ["a.npy", "a.npz", "a.tif", "a.png", "a.unknown"])
def test_files_that_are_no_images(tmp_path, name):
    path = tmp_path / name
    with pytest.raises(FileNotFoundError, match=name):
        read_image(path)
    for content in (b"", b"\x93NUMPY", b"PK\x03\x04", b"II*\0", b"no image at all\n" * 20):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=name) as caught:
            read_image(path)
        assert "\n" not in str(caught.value)
    path.unlink()
    path.mkdir()
    with pytest.raises(IsADirectoryError, match=name):
        read_image(path)
    with pytest.raises((IsADirectoryError, ValueError), match=name):
        write_image(path, LABELS[0] > 0)


def test_unwritable_output(tmp_path):
    with pytest.raises(FileNotFoundError, match="absent"):
        write_image(tmp_path / "absent" / "a.npy", LABELS)


def test_a_write_that_fails_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.npy"
    write_image(path, LABELS)

    def fail(file, array, allow_pickle):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", fail)
    with pytest.raises(OSError, match="No space left"):
        write_image(path, LABELS[0])
    assert os.listdir(tmp_path) == ["a.npy"]
    assert same(read_image(path), LABELS)


def forged_header(shape, descr="<i4", version=(1, 0)):
    file = io.BytesIO()
    header = {"descr": descr, "fortran_order": False, "shape": shape}
    write = npy.write_array_header_1_0 if version == (1, 0) else npy.write_array_header_2_0
    write(file, header)
    return file.getvalue()


def npz_of(path, content, packing=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", packing) as archive:
        archive.writestr("labels.npy", content)


FORGED = [
    forged_header((1 << 40,)),
    forged_header((1 << 40, 1 << 40)),
    forged_header((1 << 31, 1 << 31, 1 << 31), version=(2, 0)),
    forged_header((-5,)),
    forged_header((3,)) + b"1234567",
    forged_header((1 << 40,), "|V0"),
    forged_header((1,), "|O") + b"12345678",
    forged_header((1,), [("a", "<i4")]) + b"1234",
    b"\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr': '<i4'",
    b"\x93NUMPY\x03\x00\x10\x00\x00\x00{'descr': '<i4'}",
    b"\x93NUMPY\x01\x00\x10\x00" + b"(" * 500,
]


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
@pytest.mark.parametrize("content", FORGED)
def test_forged_headers_are_refused_without_allocating(tmp_path, suffix, content):
    path = tmp_path / f"a{suffix}"
    if suffix == ".npy":
        path.write_bytes(content)
    else:
        npz_of(path, content)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=path.name):
            read_image(path)
        assert tracemalloc.get_traced_memory()[1] < 20 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("packing", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_zip_directory_that_lies_about_a_member(tmp_path, packing):
    path = tmp_path / "a.npz"
    npz_of(path, forged_header((1 << 28,)) + bytes(1000), packing)
    content = bytearray(path.read_bytes())
    directory = content.rindex(b"PK\x01\x02")
    content[directory + 24 : directory + 28] = (0xFFFFFF00).to_bytes(4, "little")
    path.write_bytes(content)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="cannot hold"):
            read_image(path)
        assert tracemalloc.get_traced_memory()[1] < 20 << 20
    finally:
        tracemalloc.stop()


def test_a_compression_that_numpy_does_not_use(tmp_path):
    npz_of(tmp_path / "a.npz", forged_header((1,)) + b"1234", zipfile.ZIP_BZIP2)
    with pytest.raises(ValueError, match="NumPy does not use"):
        read_image(tmp_path / "a.npz")


def test_a_checksum_that_is_wrong(tmp_path):
    npz_of(tmp_path / "a.npz", forged_header((4,)) + b"0123456789abcdef", zipfile.ZIP_STORED)
    content = bytearray((tmp_path / "a.npz").read_bytes())
    content[content.index(b"0123456789abcdef")] ^= 1
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(ValueError, match="CRC"):
        read_image(tmp_path / "a.npz")


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".tif", ".png"])
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_damaged_files_give_an_array_or_a_value_error(tmp_path_factory, well_behaved, suffix, data):
    path = tmp_path_factory.mktemp("damaged") / f"a{suffix}"
    write_image(path, np.arange(200).reshape(10, 20))
    content = bytearray(path.read_bytes())
    for place, value in data.draw(
        st.lists(st.tuples(st.integers(0, len(content) - 1), st.integers(0, 255)), max_size=4)
    ):
        content[place] = value
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    with well_behaved(path):
        read_image(path)


WITHOUT_EXTRAS = """
import pathlib, sys
sys.modules.update(dict.fromkeys(("tifffile", "PIL")))
import numpy as np
import conncomp
folder = pathlib.Path(sys.argv[1])
for name in ("a.npy", "a.npz"):
    conncomp.write_image(folder / name, np.eye(3))
    assert (conncomp.read_image(folder / name) == np.eye(3)).all()
for name, content in (("a.tif", b"II*\\0"), ("a.png", b"\\x89PNG\\r\\n\\x1a\\n")):
    path = folder / name
    path.write_bytes(content)
    for call in (
        lambda: conncomp.read_image(path),
        lambda: conncomp.write_image(path, np.eye(3, dtype=np.uint8)),
    ):
        try:
            call()
        except ImportError as error:
            assert "pip install 'conncomp[io]'" in str(error)
        else:
            raise AssertionError(name)
    assert path.read_bytes() == content
"""


def test_numpy_formats_need_no_extras(tmp_path):
    subprocess.run([sys.executable, "-W", "error", "-c", WITHOUT_EXTRAS, tmp_path], check=True)
