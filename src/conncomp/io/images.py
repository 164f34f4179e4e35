"""`read_image` and `write_image`: arrays in NumPy's files, TIFF and pictures."""

from __future__ import annotations

import io
import math
import os
import zipfile
from importlib import import_module
from pathlib import PurePath
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import ArrayLike, NDArray

from conncomp._arrays import as_numpy
from conncomp.io.files import StrPath, atomic_path, naming

Image = NDArray[Any]

TIFF = (".tif", ".tiff", ".btf", ".lsm", ".stk")
WRITTEN = (".npy", ".npz", ".tif", ".tiff", ".btf", ".png")

# The header of a .npy file is shorter than this.
NPY_HEADER = 1 << 16

# How many bytes one can expand to, by DEFLATE and by whatever TIFF knows: a file that claims more
# is damaged, and must not make us allocate it.
DEFLATE, ANY_PACKING = 1032, 1 << 16

# Classic TIFF holds 4 GiB, and compression may make data larger.
CLASSIC_TIFF = 1 << 31

BLOCK = 1 << 24


def read_image(path: StrPath, *, key: str | None = None, mmap: bool = False) -> Image:
    """Read an image or a volume from a file.

    Parameters
    ----------
    path : str or path-like
        A .npy or .npz file, a TIFF file, or any other that imageio opens. Of TIFF, the pages of the
        first series are the planes of one array.
    key : str, optional
        Which array of a .npz file; needed if there are several.
    mmap : bool, optional
        Whether to map a .npy file into memory instead of reading it. Changes of the array do not
        reach the file.

    Returns
    -------
    ndarray
        As it is stored: a colour image has a last axis for its channels.

    Raises
    ------
    ImportError
        If the format needs a package that is not installed.
    ValueError
        If the content is damaged, or of Python objects, or `key` or `mmap` does not fit the file.
    OSError
        If the file cannot be opened or read: `FileNotFoundError`, `IsADirectoryError`,
        `PermissionError`, ...

    See Also
    --------
    write_image : The opposite.

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
    suffix = PurePath(path).suffix.lower()
    if key is not None and suffix != ".npz":
        raise ValueError(f"key={key!r} chooses an array of a .npz file, which {path} is not")
    if mmap and suffix != ".npy":
        raise ValueError(f"mmap=True maps a .npy file, which {path} is not")
    with open(path, "rb") as file, naming(path):
        if os.fstat(file.fileno()).st_size == 0:
            raise ValueError("is empty")
        if suffix == ".npy":
            return _read_npy(file, mmap)
        if suffix == ".npz":
            return _read_npz(file, key)
        if suffix in TIFF:
            return _read_tiff(file)
        return np.asarray(_optional("imageio.v3").imread(file, extension=suffix))


def write_image(path: StrPath, image: ArrayLike) -> None:
    """Write an image, a volume or labels to a file, which appears only when it is complete.

    Parameters
    ----------
    path : str or path-like
        .npy, .npz (compressed, key ``labels``), .tif, .tiff, .btf (compressed, values of any type)
        or .png (two axes and values below 65536, or an image of 8-bit colours). Formats that do not
        keep every value are refused.
    image : array_like
        Of numbers or bool.

    Raises
    ------
    ImportError
        If the format needs a package that is not installed.
    TypeError
        If `image` is not of numbers.
    ValueError
        If the format cannot hold it.
    OSError
        If the file cannot be written.

    See Also
    --------
    read_image : The opposite.
    atomic_path : How the file is kept whole.

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
    array = as_numpy(image, "image")
    if array.dtype.kind not in "biufc":
        raise TypeError(f"image is of dtype {array.dtype}; it must be of numbers")
    suffix = PurePath(path).suffix.lower()
    if suffix not in WRITTEN:
        raise ValueError(f"{path}: cannot write {suffix or 'this'}; use {', '.join(WRITTEN)}")
    if suffix == ".png":
        array = _as_png(array, path)
    elif suffix in TIFF and (array.ndim < 2 or array.size == 0):
        raise ValueError(f"{path}: TIFF cannot hold an array of shape {array.shape}; write .npy")
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        if suffix == ".npy":
            np.save(file, array, allow_pickle=False)
        elif suffix == ".npz":
            np.savez_compressed(file, labels=array)
        elif suffix == ".png":
            _optional("imageio.v3").imwrite(file, array, extension=suffix)
        else:
            _write_tiff(file, array)


def _optional(name: str) -> Any:
    """Import a package of the extra "io"."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise ImportError(
            f"this file format needs {name.partition('.')[0]}: pip install 'conncomp[io]'"
        ) from error


def _read_header(file: IO[bytes], size: int) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Return shape, order and dtype of a .npy file of `size` bytes, and where its data begin."""
    # From a piece of the file, so that a forged length of the header cannot ask for more.
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
        raise ValueError(
            f"says that it has shape {shape} and dtype {dtype}, but is of {size} bytes"
        )
    return shape, fortran_order, dtype, head.tell()


def _read_npy(file: IO[bytes], mmap: bool) -> Image:
    shape, fortran_order, dtype, begin = _read_header(file, os.fstat(file.fileno()).st_size)
    order: Any = "F" if fortran_order else "C"
    count = math.prod(shape)
    if mmap and count:
        return np.memmap(file, dtype, mode="c", offset=begin, shape=shape, order=order)
    file.seek(begin)
    return np.fromfile(file, dtype, count).reshape(shape, order=order)


def _read_npz(file: IO[bytes], key: str | None) -> Image:
    with zipfile.ZipFile(file) as archive:
        members = {name.removesuffix(".npy"): name for name in archive.namelist()}
        keys = ", ".join(map(repr, members))
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
            raise ValueError(
                f"says that {info.filename} has {info.file_size} bytes packed into "
                f"{info.compress_size}, which this file of {size} bytes cannot hold"
            )
        with archive.open(info) as member:
            shape, fortran_order, dtype, begin = _read_header(member, info.file_size)
        array = np.empty(math.prod(shape), dtype)
        with archive.open(info) as member:
            member.read(begin)
            _fill(array, member)
        return array.reshape(shape, order="F" if fortran_order else "C")


def _fill(array: Image, member: IO[bytes]) -> None:
    """Read all values of `array`, and to the member's end, where its checksum is compared."""
    target = array.view(np.uint8).data
    done = 0
    while block := member.read(BLOCK):
        target[done : done + len(block)] = block[: len(target) - done]
        done += len(block)
    if done < len(target):
        raise ValueError(f"cut short: {done} bytes of {len(target)}")


def _read_tiff(file: IO[bytes]) -> Image:
    with _optional("tifffile").TiffFile(file) as tiff:
        series = tiff.series[0]
        size = os.fstat(file.fileno()).st_size
        if math.prod(series.shape) * series.dtype.itemsize > ANY_PACKING * size:
            raise ValueError(f"says that it has shape {series.shape}, but is of {size} bytes")
        return np.asarray(series.asarray())


def _as_png(image: Image, path: StrPath) -> Image:
    """Return `image` in a dtype that PNG has, with the same values."""
    remedy = "write .tif or .npy"
    colours = image.ndim == 3 and image.dtype == np.uint8 and image.shape[2] in (3, 4)
    if not (colours or image.ndim == 2) or image.size == 0:
        raise ValueError(
            f"{path}: PNG cannot hold an array of shape {image.shape} and dtype {image.dtype}; "
            f"{remedy}"
        )
    if image.dtype in (np.dtype(np.bool_), np.dtype(np.uint8), np.dtype(np.uint16)):
        return image
    if image.dtype.kind not in "iu":
        raise ValueError(f"{path}: PNG cannot hold values of dtype {image.dtype}; {remedy}")
    low, high = int(image.min()), int(image.max())
    if low < 0 or high > 0xFFFF:
        raise ValueError(f"{path}: PNG cannot hold values from {low} to {high}; {remedy}")
    return image.astype(np.uint8 if high <= 0xFF else np.uint16)


def _write_tiff(file: IO[bytes], image: Image) -> None:
    colours = image.ndim == 3 and image.dtype == np.uint8 and image.shape[2] in (3, 4)
    _optional("tifffile").imwrite(
        file,
        image,
        bigtiff=image.nbytes > CLASSIC_TIFF,
        photometric="rgb" if colours else "minisblack",
        compression="zlib",
    )
