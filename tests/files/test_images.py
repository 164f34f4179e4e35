import copy
import gzip
import io
import os
import struct
import subprocess
import sys
import threading
import warnings
import zipfile
import zlib
from time import perf_counter

import numpy as np
import PIL.Image
import pyarrow
import pytest
import tifffile
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.lib import format as npy

import conncomp
from conncomp import read_image, write_image
from conncomp.files import images
from measured_command import allocates_little

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
@settings(max_examples=40)
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
    with allocates_little(), pytest.raises(ValueError, match=path.name):
        read_image(path)


@pytest.mark.parametrize("packing", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_zip_directory_that_lies_about_a_member(tmp_path, packing):
    path = tmp_path / "a.npz"
    npz_of(path, forged_header((1 << 28,)) + bytes(1000), packing)
    content = bytearray(path.read_bytes())
    directory = content.rindex(b"PK\x01\x02")
    content[directory + 24 : directory + 28] = (0xFFFFFF00).to_bytes(4, "little")
    path.write_bytes(content)
    with allocates_little(), pytest.raises(ValueError, match="cannot hold"):
        read_image(path)


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
@settings(max_examples=60)
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


# What follows is about files from strangers.

GREY = np.arange(24 * 20, dtype=np.uint8).reshape(24, 20)
RGB = np.stack([GREY, GREY // 2, 255 - GREY], axis=2)


def picture(array, form, **options):
    file = io.BytesIO()
    PIL.Image.fromarray(array).save(file, form, **options)
    return file.getvalue()


def tiff(array, **options):
    file = io.BytesIO()
    tifffile.imwrite(file, array, **{"photometric": "minisblack"} | options)
    return file.getvalue()


def pyramid():
    file = io.BytesIO()
    with tifffile.TiffWriter(file) as writer:
        writer.write(GREY, subifds=1, photometric="minisblack")
        writer.write(GREY[::2, ::2], subfiletype=1, photometric="minisblack")
    return file.getvalue()


def numpy_file(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


VOLUME = np.stack([GREY, GREY // 2, GREY // 3])
OME = tiff(VOLUME, ome=True, metadata={"axes": "ZYX"})
# By name, contents of each kind, the simplest first.
WHOLE = {
    "a.npy": [numpy_file(GREY), numpy_file(GREY.astype(">f8"))],
    "a.npy.gz": [gzip.compress(numpy_file(GREY))],
    "a.png": [picture(GREY, "PNG"), picture(RGB, "PNG"), picture(GREY > 9, "PNG")],
    "a.jpg": [picture(GREY, "JPEG"), picture(RGB, "JPEG", progressive=True)],
    "a.gif": [picture(GREY, "GIF"), picture(RGB, "GIF")],
    "a.bmp": [picture(GREY, "BMP"), picture(RGB, "BMP")],
    "a.webp": [picture(RGB, "WebP"), picture(RGB, "WebP", lossless=True)],
    "a.pgm": [picture(GREY, "PPM"), b"P2\n3 2\n255\n1 2 3\n4 5 6\n", b"P1\n2 1\n1 0\n"],
    "a.tif": [
        *(
            tiff(VOLUME, byteorder=order, bigtiff=big, compression=packing)
            for order in "<>"
            for big in (False, True)
            for packing in (None, "zlib")
        ),
        pyramid(),
        OME,
        tiff(VOLUME[:, None, None, ..., None], imagej=True),
        tiff(RGB, photometric="rgb"),
        tiff(GREY > 9),
        picture(GREY, "TIFF", compression="packbits"),
    ],
}


@pytest.mark.parametrize("name", WHOLE)
def test_content_tells_the_kind(tmp_path, name):
    for content in WHOLE[name]:
        (tmp_path / name).write_bytes(content)
        (tmp_path / "plain").write_bytes(content)
        assert same(read_image(tmp_path / name), read_image(tmp_path / "plain"))
        for other in {"a.npy", "a.png", "a.tif", "a.gif"} - {name}:
            (tmp_path / other).write_bytes(content)
            with pytest.raises(ValueError, match=rf"{other}: is named as .*; rename it"):
                read_image(tmp_path / other)


@pytest.mark.parametrize("name", WHOLE)
def test_mutations_end_soon_in_an_image_or_a_line(tmp_path, well_behaved, name):
    random = np.random.default_rng(list(name.encode()))
    path = tmp_path / name
    for turn in range(120):
        content = bytearray(WHOLE[name][turn % len(WHOLE[name])])
        for _ in range(random.integers(1, 6)):
            place, width = random.integers(len(content)), 1 << random.integers(3)
            match random.integers(4):
                case 0:
                    content[place] = random.integers(256)
                case 1:
                    content[place : place + width] = b"\xff" * width
                case 2:
                    order = random.choice(["little", "big"])
                    value = int(random.integers(len(content) % 256**width or 1))
                    content[place : place + width] = value.to_bytes(width, order)
                case _:
                    del content[place : place + width]
        path.write_bytes(content)
        start = perf_counter()
        with well_behaved(path), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read_image(path)
        assert perf_counter() - start < 10


def test_no_program_is_started(tmp_path, monkeypatch):
    script = tmp_path / "gs"
    script.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    eps = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n%%EOF\n"
    for name in ("evil.png", "evil.eps", "evil"):
        (tmp_path / name).write_bytes(eps)
        with pytest.raises(ValueError, match=r"evil.*: is of none of the kinds \.npy, "):
            read_image(tmp_path / name)
    assert not (tmp_path / "started").exists()


def test_files_of_hdf5_are_volumes(tmp_path):
    (tmp_path / "scan.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(99))
    with pytest.raises(ValueError, match=r"scan.h5: is of HDF5, which conncomp.open_volume and"):
        read_image(tmp_path / "scan.h5")


def directory(tags, following, order="<", big=False):
    """Return a directory of TIFF from (code, type, count, value)."""
    number, word = ("Q", "Q") if big else ("H", "I")
    entries = [
        struct.pack(f"{order}HH{word}", *tag[:3])
        + struct.pack(order + {3: "H", 4: "I"}.get(tag[1], word), tag[3]).ljust(
            8 if big else 4, b"\0"
        )
        for tag in tags
    ]
    return (
        struct.pack(order + number, len(tags))
        + b"".join(entries)
        + struct.pack(order + word, following)
    )


def header(first, order="<", big=False):
    mark = b"II" if order == "<" else b"MM"
    if big:
        return mark + struct.pack(f"{order}HHHQ", 43, 8, 0, first)
    return mark + struct.pack(f"{order}HI", 42, first)


BASELINE = [(256, 3, 1, 2), (257, 3, 1, 2), (258, 3, 1, 8), (273, 4, 1, 8), (279, 4, 1, 4)]


@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize("order", ["<", ">"])
def test_directories_in_a_circle(tmp_path, order, big):
    path = tmp_path / "a.tif"
    first = 16
    length = len(directory(BASELINE, 0, order, big))

    def write(*directories):
        path.write_bytes(header(first, order, big).ljust(first, b"\0") + b"".join(directories))

    write(directory(BASELINE, 0, order, big))
    assert read_image(path).shape == (2, 2)
    write(directory(BASELINE, first + length, order, big), directory(BASELINE, first, order, big))
    with pytest.raises(ValueError, match="form a circle"):
        read_image(path)
    for code in (330, 34665):
        write(directory([*BASELINE, (code, 4, 1, first)], 0, order, big))
        with pytest.raises(ValueError, match="form a circle"):
            read_image(path)
    write(directory(BASELINE, 1 << 20, order, big))
    with pytest.raises(ValueError, match="cut short"):
        read_image(path)


def test_directories_and_values_that_overlap(tmp_path):
    path = tmp_path / "a.tif"
    # Every fourth byte begins a directory of 200 tags, which ends in the place of the next one.
    following = b"".join(struct.pack("<I", place) for place in range(12, 2012, 4))
    path.write_bytes(header(8) + struct.pack("<H", 200) * 1201 + following)
    with pytest.raises(ValueError, match="tags that overlap"):
        read_image(path)
    tags = [*BASELINE, *((65000 + k, 1, 4000, 8) for k in range(50))]
    path.write_bytes(header(8) + directory(tags, 0) + bytes(4000))
    with pytest.raises(ValueError, match="tags that overlap"):
        read_image(path)


def test_strips_that_overlap(tmp_path):
    # 100 strips of one row each, all of the same bytes.
    rows, packed = 100, zlib.compress(bytes(1 << 12))
    offsets = 8 + len(packed)
    tags = [(256, 4, 1, 1 << 12), (257, 4, 1, rows), (258, 3, 1, 8), (259, 3, 1, 8)]
    tags += [(273, 4, rows, offsets), (278, 4, 1, 1), (279, 4, rows, offsets + 4 * rows)]
    content = header(offsets + 8 * rows) + packed + struct.pack("<I", 8) * rows
    content += struct.pack("<I", len(packed)) * rows + directory(tags, 0)
    (tmp_path / "a.tif").write_bytes(content)
    with pytest.raises(ValueError, match="more strips than fit"):
        read_image(tmp_path / "a.tif")


@pytest.mark.parametrize("packing", [34925, 50000, 34712])
def test_compressions_of_tiff_without_a_bound(tmp_path, packing):
    tags = sorted([*BASELINE, (259, 3, 1, packing)])
    (tmp_path / "a.tif").write_bytes(header(16).ljust(16, b"\0") + directory(tags, 0))
    with pytest.raises(ValueError, match="which is not read; save it with DEFLATE"):
        read_image(tmp_path / "a.tif")


def huge_png(width, height):
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(bytes(1000))), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.png", huge_png(1 << 20, 1 << 20)),
        (
            "a.bmp",
            picture(GREY, "BMP")[:18]
            + struct.pack("<ii", 1 << 17, 1 << 17)
            + picture(GREY, "BMP")[26:],
        ),
        ("a.gif", b"GIF89a" + b"\xff" * 4 + picture(GREY, "GIF")[10:]),
        ("a.pgm", b"P5 99999 99999 255\n1234"),
        ("a.npy.gz", gzip.compress(forged_header((1 << 40,)) + bytes(1 << 16))),
        (
            "a.tif",
            header(16).ljust(16, b"\0")
            + directory([(256, 4, 1, 1 << 24), (257, 4, 1, 1 << 24), *BASELINE[2:]], 0),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_forged_sizes_are_refused_without_allocating(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    read_whole(tmp_path, name)
    with allocates_little(), pytest.raises(ValueError, match="says that it has"):
        read_image(tmp_path / name)


def read_whole(folder, name):
    """Read a whole file of a kind, so that its libraries are loaded."""
    path = folder / f"whole-{name}"
    path.write_bytes(WHOLE[name][0])
    read_image(path)


def test_what_is_too_large_is_told_by_the_file_and_not_by_pixels(tmp_path, monkeypatch):
    monkeypatch.setattr(PIL.Image, "MAX_IMAGE_PIXELS", 100)
    for name in ("a.png", "a.bmp", "a.pgm"):
        (tmp_path / name).write_bytes(WHOLE[name][0])
        assert same(read_image(tmp_path / name), GREY)


def test_gzip_that_is_cut_or_of_something_else(tmp_path):
    path = tmp_path / "a.npy.gz"
    content = gzip.compress(numpy_file(LABELS))
    path.write_bytes(content)
    assert same(read_image(path), LABELS)
    path.write_bytes(content[:-9])
    with pytest.raises(ValueError, match=r"a\.npy\.gz: "):
        read_image(path)
    path.write_bytes(gzip.compress(picture(GREY, "PNG")))
    with pytest.raises(ValueError, match=r"is gzipped, but not of \.npy; unpack it first"):
        read_image(path)


def test_keys_of_many_members_are_not_all_named(tmp_path):
    np.savez(tmp_path / "a.npz", **{f"k{n}": np.ones(1) for n in range(100)})
    with pytest.raises(ValueError, match=r"holds 100 arrays; .* 'k0', .*'k7', \.\.\.$"):
        read_image(tmp_path / "a.npz")


def test_zip64_that_is_forged(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        with archive.open("labels.npy", "w", force_zip64=True) as member:
            member.write(forged_header((1 << 40,)))
        archive.getinfo("labels.npy").file_size = 1 << 42
        archive.getinfo("labels.npy").compress_size = 1 << 41
    with pytest.raises(ValueError, match="cannot hold"):
        read_image(tmp_path / "a.npz")


def test_members_that_overlap(tmp_path):
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", numpy_file(np.zeros(1 << 16)))
        first = archive.getinfo("a.npy")
        for n in range(50):
            other = copy.copy(first)
            other.filename = f"{n}.npy"
            archive.filelist.append(other)
    with pytest.raises(ValueError, match="holds 51 arrays"):
        read_image(path)
    assert not read_image(path, key="a").any()


@pytest.mark.parametrize("form", ["GIF", "PNG"])
def test_palettes(tmp_path, form):
    path = tmp_path / f"a.{form.lower()}"
    palette = PIL.Image.fromarray(GREY).convert("P")
    palette.save(path)
    assert same(read_image(path), GREY)
    colours = PIL.Image.fromarray(RGB).quantize(16)
    colours.save(path)
    assert same(read_image(path), np.asarray(colours.convert("RGB")))
    colours.save(path, transparency=0)
    found = read_image(path)
    assert found.shape == (24, 20, 4)
    assert np.array_equal(found[..., 3] == 0, np.asarray(colours) == 0)


@pytest.mark.parametrize("form", ["GIF", "PNG", "WebP"])
def test_frames_are_stacked(tmp_path, form, monkeypatch):
    """Frames that Pillow hands over by Arrow share memory with the next one."""
    monkeypatch.setitem(sys.modules, "pyarrow", pyarrow)
    path = tmp_path / f"a.{form.lower()}"
    frames = [PIL.Image.fromarray(plane) for plane in VOLUME]
    options = {"lossless": True} if form == "WebP" else {}
    frames[0].save(path, save_all=True, append_images=frames[1:], **options)
    found, channels, *_ = images.read_content(path)
    assert np.array_equal(found if channels is None else found[..., 0], VOLUME)
    assert channels == (3 if form == "WebP" else None)


@pytest.mark.parametrize(
    ("content", "name", "shape", "axis"),
    [
        (tiff(RGB, photometric="rgb"), "a.tif", (24, 20, 3), 2),
        (
            tiff(RGB.transpose(2, 0, 1), photometric="rgb", planarconfig="separate"),
            "a.tif",
            (3, 24, 20),
            0,
        ),
        (tiff(VOLUME), "a.tif", (3, 24, 20), None),
        (OME, "a.tif", (3, 24, 20), None),
        (OME.replace(b"XYCZT", b"XYZCT"), "a.tif", (3, 24, 20), None),
        (
            tiff(np.stack([VOLUME, VOLUME]), ome=True, metadata={"axes": "CZYX"}),
            "a.tif",
            (2, 3, 24, 20),
            0,
        ),
        (
            tiff(np.stack([VOLUME, VOLUME], axis=1), imagej=True, metadata={"axes": "ZCYX"}),
            "a.tif",
            (3, 2, 24, 20),
            1,
        ),
        (pyramid(), "a.tif", (24, 20), None),
        (picture(np.stack([GREY, GREY], axis=2), "PNG"), "a.png", (24, 20, 2), 2),
        (picture(GREY, "PNG"), "a.png", (24, 20), None),
    ],
)
def test_axes_of_channels(tmp_path, content, name, shape, axis):
    (tmp_path / name).write_bytes(content)
    image, channels, *_ = images.read_content(tmp_path / name)
    assert (image.shape, channels) == (shape, axis)


@pytest.mark.parametrize(
    ("old", "new"),
    [(b'SizeZ="3"', b'SizeZ="9"'), (b'"XYCZT"', b'"XYZZT"'), (b'"XYCZT"', b'"XXXXX"')],
)
def test_ome_that_does_not_fit_its_pages(tmp_path, old, new):
    assert old in OME
    (tmp_path / "a.tif").write_bytes(OME.replace(old, new))
    with pytest.raises(ValueError, match="has OME metadata"):
        read_image(tmp_path / "a.tif")


def test_other_files_are_not_followed(tmp_path, monkeypatch):
    (tmp_path / "secret.tif").write_bytes(tiff(VOLUME))
    metadata = (
        '<!DOCTYPE x [<!ENTITY y SYSTEM "secret.tif">]><OME><Image><Pixels DimensionOrder="XYZCT" '
        'SizeX="20" SizeY="24" SizeZ="3" SizeC="1" SizeT="1"><TiffData><UUID FileName="secret.tif">'
        "u</UUID></TiffData></Pixels></Image></OME>"
    )
    (tmp_path / "a.tif").write_bytes(tiff(VOLUME // 5, description=metadata, metadata=None))
    opened = []

    def note(name, *arguments, real=open, **options):
        opened.append(os.path.basename(name))
        return real(name, *arguments, **options)

    monkeypatch.setattr("builtins.open", note)
    assert same(read_image(tmp_path / "a.tif"), VOLUME // 5)
    assert opened == ["a.tif"]


@pytest.mark.parametrize("name", ["a.npy", "a.png", "a.tif"])
def test_pipes(tmp_path, name, monkeypatch):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    content = WHOLE[name][0]

    def read():
        writer = threading.Thread(target=lambda: pipe.write_bytes(content))
        writer.start()
        try:
            return read_image(pipe)
        finally:
            writer.join(timeout=10)

    (tmp_path / name).write_bytes(content)
    assert same(read(), read_image(tmp_path / name))
    monkeypatch.setattr(images, "MOST_FROM_PIPE", len(content) - 1)
    with pytest.raises(ValueError, match="is no regular file and has more than"):
        read()


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs a device without an end")
def test_a_device_without_an_end():
    with pytest.raises(ValueError, match="/dev/zero: is of none of the kinds"):
        read_image("/dev/zero")


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (64, 64), (5000, 4000)])
def test_grey_pictures_are_the_same_with_arrow(tmp_path, monkeypatch, shape):
    """Pillow hands over memory that is one piece by Arrow; that of the largest here is not."""
    picture = np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8)
    conncomp.write_image(tmp_path / "a.png", picture)
    monkeypatch.setitem(sys.modules, "pyarrow", pyarrow)
    with_arrow = conncomp.read_image(tmp_path / "a.png")
    monkeypatch.delitem(sys.modules, "pyarrow")
    without = conncomp.read_image(tmp_path / "a.png")
    for found in (with_arrow, without):
        np.testing.assert_array_equal(found, picture)
        assert found.flags.writeable
