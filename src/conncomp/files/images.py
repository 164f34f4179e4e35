"""`read_image` and `write_image`, for NumPy's formats, TIFF, volumes and pictures."""

from __future__ import annotations

import gzip
import io
import math
import os
import re
import stat
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import PurePath
from types import SimpleNamespace
from typing import IO, Any, Literal, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import ArrayLike, NDArray

from conncomp._arguments import as_bool, shown
from conncomp._arrays import as_numpy
from conncomp._memory import check_memory
from conncomp._optional import optional
from conncomp.files._pictures import read_picture
from conncomp.files._volumes import (
    BLOCK,
    DEFLATE,
    NIFTI,
    read_member,
    read_mha,
    read_nifti,
    read_nrrd,
)
from conncomp.files.access import StrPath, as_path, atomic_path, naming, too_large
from conncomp.files.scales import Content
from conncomp.files.tiff.series import open_images

Image = NDArray[Any]

OME_XML, XML_HEAD = "OME-XML", rb"(\xef\xbb\xbf)?<(\?xml|!--|(\w{1,8}:)?OME)"
OF_SERIES = ("TIFF", OME_XML)

TIFF = (".tif", ".tiff", ".btf", ".lsm", ".stk")
PNM = (".pbm", ".pgm", ".ppm", ".pnm", ".pfm")
WRITTEN = (".npy", ".npz", ".tif", ".tiff", ".btf", ".png")
NPY_HEADER = 1 << 16  # bytes, at most
# Classic TIFF holds 4 GiB, and compression may make data larger.
CLASSIC_TIFF = 1 << 31
MOST_FROM_PIPE = 1 << 32  # bytes of what is no regular file
KEYS_SHOWN = 8


def read_image(path: StrPath, *, key: str | None = None, mmap: bool = False) -> Image:
    """Read an image or a volume from a file.

    Parameters
    ----------
    path : str or path-like
        A file in the format .npy, .npy.gz, .npz, TIFF, OME-XML, NIfTI, NRRD, MHA, PNG, JPEG, GIF,
        BMP, WebP or PNM, which the first bytes tell; a suffix of another format is an error. TIFF
        may be uncompressed or packed by DEFLATE, LZW or PackBits. The pages of its first series
        become the planes of one array, with those of other files in the folder that OME-XML, in
        the TIFF or a companion, names. A pipe, such as ``/dev/stdin``, is read up to 4 GiB.
    key : str, optional
        Which array of a .npz file to read, if it has several.
    mmap : bool, optional
        Whether to map a .npy file into memory instead of reading it. Changes to the array do not
        change the file.

    Returns
    -------
    ndarray
        As it is stored, the axis along which neighbours lie beside each other in the file last: z,
        y, x of NIfTI, NRRD and MHA. A colour image has an axis for its channels, in pictures the
        last. An image with a palette, as of GIF, is grey if all its colours are, and of red, green
        and blue (and opacity, where some of it is transparent) otherwise. Several frames are
        stacked.

    Raises
    ------
    ValueError
        If the content is damaged, of Python objects or of no kind that is read, or claims to be
        larger than the file can hold, or if the name, `key` or `mmap` does not fit the content.
    ImportError, OSError
        If the format needs a package that is not installed; if the file cannot be opened or read:
        `FileNotFoundError`, `IsADirectoryError`, ...

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import conncomp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "labels.npz")
    ...     conncomp.write_image(path, [[1, 1, 0], [0, 0, 2]])
    ...     conncomp.read_image(path)
    array([[1, 1, 0],
           [0, 0, 2]])
    """
    image = read_content(path, key=key, mmap=as_bool("mmap", mmap)).image
    return image if image.flags.writeable else image.copy()


def read_content(
    path: StrPath, *, key: str | None = None, mmap: bool = False, series: int = 0
) -> Content:
    """Do `read_image`, and return axes, channels and scale; `series` chooses one of TIFF."""
    path = as_path(path)
    with open(path, "rb") as given, naming(path), _seekable(given) as (file, kind):
        if key is not None and kind.name != ".npz":
            raise ValueError(f"key={key!r} chooses an array of a .npz file, which this is not")
        if mmap and kind.name != ".npy":
            raise ValueError("mmap=True maps a .npy file, which this is not")
        suffix = PurePath(path).suffix.lower()
        named = next((each.name for each in KINDS if suffix in each.suffixes), kind.name)
        if named != kind.name:
            raise ValueError(f"is named as {named}, but its content is {kind.name}; rename it")
        if series and kind.name not in OF_SERIES:
            raise ValueError(f"series={series} chooses one of TIFF, which this is not")
        options: dict[str, Any] = {"key": key} if kind.name == ".npz" else {}
        if kind.name in OF_SERIES:
            folder = os.path.dirname(path) or os.curdir
            options |= {"series": series, "folder": folder if file is given else None}
        return kind.read(file, **(options | ({"mmap": True} if mmap else {})))


def count_series(path: StrPath) -> int:
    """Return the number of series that `read_content` can choose from, 1 for most formats."""
    path = as_path(path)
    if os.path.exists(path) and (not os.path.isfile(path) or is_hdf5(path)):
        return 1
    with open(path, "rb") as file, naming(path):
        kind = kind_of(file.read(SIGNATURE)).name
        file.seek(0)
        if kind not in OF_SERIES:
            return 1
        companion = kind == OME_XML
        with open_images(file, os.curdir if companion else None, companion) as images:
            return images.count


@contextmanager
def opened_series(path: StrPath) -> Iterator[Callable[[int], Content]]:
    """Open a file of series once; yield a function that reads one, as `read_content` does."""
    path = as_path(path)
    folder = os.path.dirname(path) or os.curdir
    with ExitStack() as opened:
        with naming(path):
            file = opened.enter_context(open(path, "rb"))
            companion = kind_of(file.read(SIGNATURE)).name == OME_XML
            file.seek(0)
            images = opened.enter_context(open_images(file, folder, companion))

        def read(series: int) -> Content:
            with naming(path):
                return images.read(series)

        yield read


@contextmanager
def _seekable(given: IO[bytes]) -> Iterator[tuple[IO[bytes], FileKind]]:
    """Yield a regular file, or a temporary copy, and the kind that its first bytes tell."""
    head = given.read(SIGNATURE)
    kind = kind_of(head)
    if stat.S_ISREG(os.fstat(given.fileno()).st_mode):
        given.seek(0)
        yield given, kind
        return
    with tempfile.NamedTemporaryFile() as file:  # tifffile wants a name
        while head:
            if file.tell() + len(head) > MOST_FROM_PIPE:
                told = f"is no regular file and has more than {MOST_FROM_PIPE >> 20} MiB"
                raise ValueError(f"{told}; save it")
            file.write(head)
            head = given.read(BLOCK)
        file.seek(0)
        yield file, kind


def kind_of(head: bytes) -> FileKind:
    """Return the kind of a file by its first bytes."""
    if not head:
        raise ValueError("is empty")
    kind = next((kind for kind in KINDS if re.match(kind.signature, head, re.DOTALL)), None)
    if kind is None and head.startswith(HDF5):
        raise ValueError("is of HDF5, which conncomp.open_volume and conncomp.label_file read")
    if kind is None:
        kinds = ", ".join(kind.name for kind in KINDS)
        raise ValueError(f"is of none of the kinds {kinds}; conncomp measure --bioio reads others")
    return kind


def write_image(path: StrPath, image: ArrayLike, *, axes: str = "") -> None:
    """Write an image, a volume or labels to a file, which appears only when it is complete.

    Parameters
    ----------
    path : str or path-like
        .npy, .npz (compressed, key ``labels``), .tif, .tiff, .btf (compressed, values of any type)
        or .png (two axes and values below 65536, or an image of 8-bit colours). Formats that do not
        keep every value are refused.
    image : array_like
        Numbers or bool.
    axes : str, optional
        A letter for each axis, such as ``"TYX"`` for a film. TIFF keeps them; other formats have no
        place for them.

    Raises
    ------
    TypeError, ValueError
        If `image` is not of numbers, the format cannot hold it, or `axes` does not fit it.
    ImportError, OSError
        If the format needs a package that is not installed; if the file cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import conncomp
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "labels.npy")
    ...     conncomp.write_image(path, [[1, 1, 0], [0, 0, 2]])
    ...     conncomp.read_image(path, mmap=True).shape
    (2, 3)
    """
    path, array = as_path(path), as_numpy(image, "image")
    if array.dtype.kind not in "biufc":
        raise TypeError(f"image is of dtype {array.dtype}; it must be of numbers")
    check_format(path, array.shape)
    if not isinstance(axes, str):
        raise TypeError(f"axes={shown(axes)} must be text, a letter for each axis, such as 'ZYX'")
    if axes and not (len(axes) == array.ndim and re.fullmatch("[A-Z]+", axes)):
        raise ValueError(f"axes={axes!r} must have a letter for each of {array.ndim} axes")
    suffix = PurePath(path).suffix.lower()
    if suffix == ".png":
        check_memory(f"image, of shape {array.shape},", array.nbytes)
        array = _as_png(array, path)
    size = array.nbytes if suffix == ".npy" else 0  # others are packed
    with atomic_path(path, size) as temporary, temporary.open("wb") as file:
        if suffix == ".npy":
            # Given a real file, NumPy would raise errors without the reason of the system.
            np.save(SimpleNamespace(write=file.write), array, allow_pickle=False)
        elif suffix == ".npz":
            np.savez_compressed(file, labels=array)
        elif suffix == ".png":
            optional("PIL.Image").fromarray(array).save(file, "PNG")
        else:
            _write_tiff(file, array, axes)


def check_format(path: StrPath, shape: tuple[int, ...]) -> None:
    """Raise unless an array of `shape` can be written in the format that `path` names."""
    suffix = PurePath(path).suffix.lower()
    if suffix not in WRITTEN:
        raise ValueError(f"{path}: cannot write {suffix or 'this'}; use {', '.join(WRITTEN)}")
    if suffix == ".png":
        optional("PIL.Image")
        if 0 in shape or not (len(shape) == 2 or (len(shape) == 3 and shape[2] in (3, 4))):
            told = f"{path}: PNG holds two axes, or three with 3 or 4 colours, and no empty ones"
            raise ValueError(f"{told}, but the shape is {shape}; write .tif or .npy")
    elif suffix in TIFF:
        optional("tifffile")
        if len(shape) < 2 or 0 in shape:
            raise ValueError(f"{path}: TIFF cannot hold an array of shape {shape}; write .npy")


class NpyHeader(NamedTuple):
    """The header of a .npy file, and where its data begin."""

    shape: tuple[int, ...]
    order: Literal["C", "F"]
    dtype: np.dtype[Any]
    begin: int


def read_header(file: IO[bytes], size: int) -> NpyHeader:
    """Read the header of a .npy file of `size` bytes."""
    # Parse a copy of the first bytes, so that a forged length of the header reads no more.
    head = io.BytesIO(file.read(NPY_HEADER))
    version = npy.read_magic(head)
    if version == (1, 0):
        shape, fortran_order, dtype = npy.read_array_header_1_0(head)
    elif version == (2, 0):
        shape, fortran_order, dtype = npy.read_array_header_2_0(head)
    else:
        raise ValueError(f"version {version} of .npy is for arrays of records")
    if dtype.kind not in "biufc":
        raise ValueError(f"holds values of dtype {dtype}, not numbers")
    if min(shape, default=0) < 0 or head.tell() + math.prod(shape) * dtype.itemsize > size:
        raise too_large(shape, dtype, size)
    return NpyHeader(shape, "F" if fortran_order else "C", dtype, head.tell())


def _read_series(file: IO[bytes], companion: bool, series: int, folder: str | None) -> Content:
    with open_images(file, folder, companion) as images:
        return images.read(series)


def _read_npy(file: IO[bytes], mmap: bool = False) -> Content:
    shape, order, dtype, begin = read_header(file, os.fstat(file.fileno()).st_size)
    count = math.prod(shape)
    if mmap and count:
        return Content(np.memmap(file, dtype, mode="c", offset=begin, shape=shape, order=order))
    file.seek(begin)
    return Content(np.fromfile(file, dtype, count).reshape(shape, order=order))


def _read_gzip(file: IO[bytes]) -> Content:
    size = os.fstat(file.fileno()).st_size
    with gzip.GzipFile(fileobj=file) as member:
        head = member.peek(SIGNATURE)
        if re.match(NIFTI, head):
            return read_nifti(member, DEFLATE * size)
        if not head.startswith(npy.MAGIC_PREFIX):
            raise ValueError("is gzipped, but not of .npy; unpack it first, by gunzip")
        return Content(_read_stream(member, DEFLATE * size))


def _read_stream(member: Any, size: int) -> Image:
    header = read_header(member, size)
    values = read_member(member, header.begin, (math.prod(header.shape),), header.dtype)
    return values.reshape(header.shape, order=header.order)


def read_npz(file: IO[bytes], key: str | None = None) -> Content:
    """Read an array of numbers, and allocate no more than the file can hold."""
    with zipfile.ZipFile(file) as archive:
        members = {name.removesuffix(".npy"): name for name in archive.namelist()}
        keys = ", ".join(map(repr, list(members)[:KEYS_SHOWN]))
        keys += ", ..." if len(members) > KEYS_SHOWN else ""
        if key is None and len(members) != 1:
            raise ValueError(f"holds {len(members)} arrays; choose one by key= from {keys}")
        if key is not None and key not in members:
            raise ValueError(f"holds no array {key!r}; its keys are {keys}")
        info = archive.getinfo(next(iter(members.values())) if key is None else members[key])
        size = os.fstat(file.fileno()).st_size
        packing = {zipfile.ZIP_STORED: 1, zipfile.ZIP_DEFLATED: DEFLATE}.get(info.compress_type)
        if packing is None:
            raise ValueError(f"{info.filename} is compressed in a way that NumPy does not use")
        if info.compress_size > size or info.file_size > packing * info.compress_size:
            held = f"{info.file_size} bytes packed into {info.compress_size}"
            told = f"says that {info.filename} has {held}"
            raise ValueError(f"{told}, which this file of {size} bytes cannot hold")
        with archive.open(info) as member:
            return Content(_read_stream(member, info.file_size))


class FileKind(NamedTuple):
    """A kind of file: how its content begins, how its name may end, and what reads it."""

    name: str
    signature: bytes
    suffixes: tuple[str, ...]
    read: Callable[..., Content]


KINDS = (
    FileKind(".npy", rb"\x93NUMPY", (".npy",), _read_npy),
    FileKind(".npz", rb"PK(\x03\x04|\x05\x06)", (".npz",), read_npz),
    FileKind(".npy.gz", rb"\x1f\x8b", (".gz",), _read_gzip),
    FileKind("TIFF", rb"II[*+]\0|MM\0[*+]", TIFF, partial(_read_series, companion=False)),
    FileKind(OME_XML, XML_HEAD, (".ome",), partial(_read_series, companion=True)),
    FileKind("NIfTI", NIFTI, (".nii",), read_nifti),
    FileKind("NRRD", rb"NRRD000[1-5]\r?\n", (".nrrd",), read_nrrd),
    FileKind("MHA", rb"(ObjectType|NDims|Comment)[ \t]*=", (".mha",), read_mha),
    FileKind("PNG", rb"\x89PNG\r\n\x1a\n", (".png",), partial(read_picture, reader="Png")),
    FileKind("JPEG", rb"\xff\xd8\xff", (".jpg", ".jpeg"), partial(read_picture, reader="Jpeg")),
    FileKind("GIF", rb"GIF8[79]a", (".gif",), partial(read_picture, reader="Gif")),
    FileKind("BMP", rb"BM", (".bmp",), partial(read_picture, reader="Bmp")),
    FileKind("WebP", rb"RIFF....WEBP", (".webp",), partial(read_picture, reader="WebP")),
    FileKind("PNM", rb"P([1-6]\s|[fF]\s)", PNM, partial(read_picture, reader="Ppm")),
)

SIGNATURE = 16  # bytes, at most


def _as_png(image: Image, path: StrPath) -> Image:
    remedy = "write .tif or .npy"
    if image.ndim == 3 and image.dtype != np.uint8:
        held = f"colours of dtype {image.dtype}, in shape {image.shape}"
        raise ValueError(f"{path}: PNG cannot hold {held}; {remedy}")
    if image.dtype in (np.dtype(np.bool_), np.dtype(np.uint8), np.dtype(np.uint16)):
        return image
    if image.dtype.kind not in "iu":
        raise ValueError(f"{path}: PNG cannot hold values of dtype {image.dtype}; {remedy}")
    low, high = int(image.min()), int(image.max())
    if low < 0 or high > 0xFFFF:
        raise ValueError(f"{path}: PNG cannot hold values from {low} to {high}; {remedy}")
    return image.astype(np.uint8 if high <= 0xFF else np.uint16)


def _write_tiff(file: IO[bytes], image: Image, axes: str) -> None:
    colours = image.ndim == 3 and image.dtype == np.uint8 and image.shape[2] in (3, 4)
    options: dict[str, Any] = {"photometric": "rgb" if colours else "minisblack"}
    options |= {"compression": "zlib", "metadata": {"axes": axes} if axes else {}}
    optional("tifffile").imwrite(file, image, bigtiff=image.nbytes > CLASSIC_TIFF, **options)


HDF5 = b"\x89HDF\r\n\x1a\n"


def is_hdf5(path: StrPath) -> bool:
    """Whether a file begins as HDF5 does."""
    with open(path, "rb") as file:
        return file.read(len(HDF5)) == HDF5
