"""Volumes of medicine: NIfTI, NRRD and MHA, in one file each, with voxel sizes.

nibabel reads the header of NIfTI, pynrrd that of NRRD; that of MHA is text. Values are read here,
and never more than the file can hold. Headers list the densest axis first, and arrays in C order
last, so a volume has axes z, y, x, as in TIFF.
"""

from __future__ import annotations

import io
import math
import os
import re
import warnings
import zlib
from collections.abc import Callable, Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from conncomp._optional import optional
from conncomp.files.access import too_large
from conncomp.files.scales import Content, Scale, scale_of

LONGEST_HEADER = 1 << 16  # bytes; a longer one is damaged
# The most bytes that DEFLATE packs into one, and no more are allocated; and those unpacked at once.
DEFLATE, BLOCK = 1032, 1 << 24
NIFTI = rb"\x5c\x01\0\0|\0\0\x01\x5c|\x1c\x02\0\0|\0\0\x02\x1c"
AXES = "XYZT"  # the densest first

NRRD_TYPES = {
    **dict.fromkeys(("signed char", "int8", "int8_t"), "i1"),
    **dict.fromkeys(("uchar", "unsigned char", "uint8", "uint8_t"), "u1"),
    **dict.fromkeys(("short", "short int", "signed short", "int16", "int16_t"), "i2"),
    **dict.fromkeys(("ushort", "unsigned short", "unsigned short int", "uint16", "uint16_t"), "u2"),
    **dict.fromkeys(("int", "signed int", "int32", "int32_t"), "i4"),
    **dict.fromkeys(("uint", "unsigned int", "uint32", "uint32_t"), "u4"),
    **dict.fromkeys(("longlong", "long long", "int64", "int64_t"), "i8"),
    **dict.fromkeys(("ulonglong", "unsigned long long", "uint64", "uint64_t"), "u8"),
    "float": "f4",
    "double": "f8",
}
# Kinds of NRRD axes along which elements are neighbours.
IN_SPACE = {"space", "domain", "???", "none", ""}

MHA_TYPES = {
    **{"MET_CHAR": "i1", "MET_UCHAR": "u1", "MET_SHORT": "i2", "MET_USHORT": "u2"},
    **{"MET_INT": "i4", "MET_UINT": "u4", "MET_LONG_LONG": "i8", "MET_ULONG_LONG": "u8"},
    **{"MET_FLOAT": "f4", "MET_DOUBLE": "f8"},
}


def read_nifti(file: Any, size: int | None = None) -> Content:
    """Return a volume of NIfTI 1 or 2, with the scale of its values applied.

    With `size`, `file` is a stream that unpacks the volume, to at most `size` bytes.
    """
    header = _nifti_header(file.read(LONGEST_HEADER))
    shape, dtype, begin = _nifti_layout(header)
    if size is None:
        return _of_nifti(header, _read_values(file, begin, shape, dtype))
    if begin + math.prod(shape) * dtype.itemsize > size:
        raise ValueError(f"says that it has shape {shape}, which this file cannot hold")
    return _of_nifti(header, read_member(file, begin, shape, dtype))


def _nifti_header(head: bytes) -> Any:
    nibabel = optional("nibabel")
    second = head[:4] in (b"\x1c\2\0\0", b"\0\0\2\x1c")
    kind = nibabel.Nifti2Header if second else nibabel.Nifti1Header
    length = 540 if second else 348
    if len(head) < length:
        raise ValueError("cut short: it ends in its header")
    magic = head[4:8] if second else head[344:348]
    if magic[:3] not in (b"n+1", b"n+2"):
        raise ValueError("is no NIfTI in one file; save it as .nii")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kind(head[:length], check=False)


def _nifti_layout(header: Any) -> tuple[tuple[int, ...], np.dtype[Any], int]:
    ndim = int(header["dim"][0])
    if not 1 <= ndim <= 7:
        raise ValueError(f"says that it has {ndim} axes")
    dtype = header.get_data_dtype()
    if dtype.kind not in "biuf":
        raise ValueError(f"holds values of dtype {dtype}, not real numbers")
    begin, least = float(header["vox_offset"]), int(header["sizeof_hdr"])
    if not (math.isfinite(begin) and begin >= least):
        raise ValueError(f"says that its values begin at {begin}, in a header of {least} bytes")
    shape = tuple(int(length) for length in reversed(header["dim"][1 : ndim + 1]))
    if min(shape) < 1:
        raise ValueError(f"says that it has shape {shape}")
    kept = [length for k, length in enumerate(shape) if length != 1 or k >= ndim - 2]
    return tuple(kept), dtype, int(begin)


def _of_nifti(header: Any, values: NDArray[Any]) -> Content:
    slope, offset = (float(header[f"scl_{name}"]) for name in ("slope", "inter"))
    changes = slope not in (0.0, 1.0) or (slope != 0 and offset != 0)
    if changes and math.isfinite(slope) and math.isfinite(offset):
        values = values * slope + offset
    ndim = int(header["dim"][0])
    kept = [k for k in reversed(range(ndim)) if header["dim"][k + 1] != 1 or k < 2]
    axes = "".join(AXES[k] if k < len(AXES) else "Q" for k in kept)
    lengths = dict(zip(AXES, map(float, header["pixdim"][1:]), strict=False))
    spacing = [abs(lengths[axis]) if axis in "XYZ" else 1.0 for axis in axes]
    # Programs that read NIfTI take lengths without a unit as millimetres; ones mean no length.
    code = int(header["xyzt_units"]) & 7
    unknown = "" if set(spacing) == {1.0} else "mm"
    unit = {0: unknown, 1: "m", 2: "mm", 3: "µm"}.get(code, "")
    return Content(values, None, axes, scale_of(spacing, unit))


def read_nrrd(file: IO[bytes]) -> Content:
    """Return a volume of NRRD with its values in the same file, packed by gzip or not."""
    nrrd = optional("nrrd")
    head = file.read(LONGEST_HEADER)
    end = re.search(rb"\r?\n\r?\n", head)
    if end is None:
        raise ValueError("has no end of its header")
    if re.search(rb"^data ?file[ \t]*:", head[: end.end()], re.MULTILINE):
        raise ValueError("has its values in another file; save it as one .nrrd")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        header = nrrd.read_header(io.BytesIO(head[: end.end()]))
    absent = "line skip", "lineskip", "byte skip", "byteskip"
    _check_fields(header, ("sizes", "dimension", "type", "encoding"), absent)
    shape = tuple(int(length) for length in reversed(header["sizes"]))
    if len(shape) != header["dimension"]:
        raise ValueError(f"says that it has {header['dimension']} axes, and lengths {shape}")
    dtype = _typed(NRRD_TYPES, header["type"], header.get("endian") == "big")
    encoding = header["encoding"]
    if encoding not in ("raw", "gzip", "gz"):
        raise ValueError(f"is packed by {str(encoding)[:20]!r}, which is not read; save it by gzip")
    values = _read_values(file, end.end(), shape, dtype, packed=encoding != "raw")
    kinds = list(reversed(header.get("kinds", ["domain"] * len(shape))))
    times = [k for k, kind in enumerate(kinds) if kind == "time"]
    others = [k for k, kind in enumerate(kinds) if kind not in IN_SPACE and k not in times]
    if len(others) > 1 or len(kinds) != len(shape):
        raise ValueError(f"has axes of the kinds {', '.join(map(str, kinds))[:80]}")
    scale = _scale_of_nrrd(header, len(shape), others + times)
    axes = _names(len(shape), others, times)
    return Content(values, others[0] if others else None, axes, scale)


def _scale_of_nrrd(header: Any, ndim: int, others: list[int]) -> Scale | None:
    units = header.get("space units", header.get("units", []))
    unit = next((str(unit) for unit in units if str(unit)), "")
    if "space directions" in header:
        directions = header["space directions"]
        lengths = [math.nan if d is None else float(np.linalg.norm(d)) for d in directions]
    else:
        lengths = [float(length) for length in header.get("spacings", ())]
    lengths.reverse()
    if len(lengths) != ndim:
        return None
    return scale_of([1.0 if k in others else length for k, length in enumerate(lengths)], unit)


def read_mha(file: IO[bytes]) -> Content:
    """Return a volume of MetaImage with its values in the same file (.mha)."""
    head = file.read(LONGEST_HEADER)
    end = re.search(rb"(?:^|\n)ElementDataFile[ \t]*=[ \t]*([^\r\n]*)\r?\n", head)
    if end is None or end[1].strip() != b"LOCAL":
        raise ValueError("has its values in another file; save it as one .mha")
    lines = head[: end.start()].decode("ascii", "replace").splitlines()
    pairs = [line.partition("=") for line in lines if "=" in line]
    fields = {name.strip(): value.strip() for name, _, value in pairs}
    absent = "HeaderSize", "HeaderSizePerSlice"
    _check_fields(fields, ("NDims", "DimSize", "ElementType"), absent)
    shape = tuple(int(length) for length in reversed(fields["DimSize"].split()))
    if len(shape) != int(fields["NDims"]):
        raise ValueError(f"says that it has {fields['NDims']} axes, and lengths {shape}")
    channels = int(fields.get("ElementNumberOfChannels", 1))
    if channels > 1:
        shape = (*shape, channels)
    if not _is_true(fields, "BinaryData", default=True):
        raise ValueError("holds its values as text, which is not read; save them as binary")
    orders = ("BinaryDataByteOrderMSB", "ElementByteOrderMSB")
    order = next((name for name in orders if name in fields), orders[0])
    dtype = _typed(MHA_TYPES, fields["ElementType"], _is_true(fields, order, default=False))
    packed = _is_true(fields, "CompressedData", default=False)
    values = _read_values(file, end.end(), shape, dtype, packed=packed)
    others = [len(shape) - 1] if channels > 1 else []
    text = fields.get("ElementSpacing", fields.get("ElementSize", ""))
    lengths = [abs(float(length)) for length in reversed(text.split())] + [1.0] * len(others)
    scale = scale_of(lengths, "mm") if len(lengths) == len(shape) else None
    return Content(values, others[0] if others else None, _names(len(shape), others), scale)


def _is_true(fields: dict[str, str], name: str, default: bool) -> bool:
    """Whether a field of MetaImage is true; as in MetaIO, only the first letter counts."""
    text = fields.get(name, str(default))
    if text[:1] not in set("TtFf10"):
        raise ValueError(f"says {name} = {text[:20]!r}, which is neither True nor False")
    return text[:1] in set("Tt1")


def _check_fields(header: Any, present: tuple[str, ...], absent: tuple[str, ...]) -> None:
    for name in absent:
        if str(header.get(name, 0)) != "0":
            raise ValueError(f"has {name!r} in its header, which is not read")
    for name in present:
        if name not in header:
            raise ValueError(f"has no {name!r} in its header")


def _typed(types: dict[str, str], name: Any, big: bool) -> np.dtype[Any]:
    if name not in types:
        raise ValueError(f"holds values of type {str(name)[:30]!r}, which are not read")
    return np.dtype((">" if big else "<") + types[name])


def _names(ndim: int, others: list[int], times: Sequence[int] = ()) -> str:
    """Return a letter for each axis; `others` are channels, and `times` axes of time."""
    letters = iter(AXES)
    known = dict.fromkeys(others, "C") | dict.fromkeys(times, "T")
    names = [known[k] if k in known else next(letters, "Q") for k in reversed(range(ndim))]
    return "".join(reversed(names))


def _read_values(
    file: IO[bytes], begin: int, shape: tuple[int, ...], dtype: np.dtype[Any], packed: bool = False
) -> NDArray[Any]:
    """Read values from `begin` on, and allocate no more than the file can hold."""
    size = os.fstat(file.fileno()).st_size
    needed = math.prod(shape) * dtype.itemsize
    if min(shape, default=0) < 1 or needed > (size - begin) * (DEFLATE if packed else 1):
        raise too_large(shape, dtype, size)
    file.seek(begin)
    if not packed:
        return np.fromfile(file, dtype, math.prod(shape)).reshape(shape)
    values = np.empty(shape, dtype)
    unpacker = zlib.decompressobj(wbits=47)  # of gzip or zlib, as the first bytes tell

    def unpacked() -> bytes:
        while not unpacker.eof:
            block = unpacker.unconsumed_tail or file.read(1 << 20)
            if not block:
                return b""
            if out := unpacker.decompress(block, BLOCK):
                return out
        return b""

    _fill(values, unpacked)
    if not unpacker.eof:
        raise ValueError("cut short: what packed its values has no end")
    return values


def read_member(member: Any, begin: int, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Return values of a stream that unpacks a file, known to hold so many."""
    member.seek(begin)
    values = np.empty(shape, dtype)
    _fill(values, lambda: member.read(BLOCK))
    return values


def _fill(values: NDArray[Any], read: Callable[[], bytes]) -> None:
    """Fill an array, and read on to the end, where the checksum is compared."""
    target = values.reshape(-1).view(np.uint8).data
    done = 0
    while block := read():
        kept = block[: max(0, len(target) - done)]
        target[done : done + len(kept)] = kept
        done += len(block)
    if done < len(target):
        raise ValueError(f"cut short: {done} bytes of {len(target)}")
