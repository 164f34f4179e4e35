"""Small valid files of every format that is read, made here, and cases written as files."""

import bz2
import contextlib
import gzip
import io
import lzma
import struct
import tempfile
import zipfile
import zlib
from functools import cache
from pathlib import Path

import numpy as np


def _in_zip(content):
    """Put a .npy file into a .npz file, so that what is inside is damaged, not its checksum."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("labels.npy", content)
    return packed.getvalue()


def _with_checksums(content):
    """Correct the checksums of the chunks of a PNG file."""
    repaired, at = bytearray(content), 8
    while at + 12 <= len(repaired):
        end = at + 8 + int.from_bytes(repaired[at : at + 4])
        if end + 4 > len(repaired):
            break
        repaired[end : end + 4] = struct.pack(">I", zlib.crc32(repaired[at + 4 : end]))
        at = end + 4
    return bytes(repaired)


# The first byte of a case chooses a name, and what is done to the content to make the file.
IMAGES = [
    ("in.npy", bytes),
    ("in.npz", bytes),
    ("in.npz", _in_zip),
    ("in.npy.gz", gzip.compress),
    ("in.tif", bytes),
    ("in.png", bytes),
    ("in.png", _with_checksums),
    ("in.gif", bytes),
    ("in.jpg", bytes),
    ("in.bmp", bytes),
    ("in.pgm", bytes),
    ("in.webp", bytes),
    ("in", bytes),
    ("in.nii", bytes),
    ("in.nii.gz", gzip.compress),
    ("in.nrrd", bytes),
    ("in.mha", bytes),
    ("in.companion.ome", bytes),
]
# Of a set of OME-TIFF, another file, which lies beside one whose name ends so.
BESIDE, WITH_OTHERS = "beside.tif", (".tif", ".ome")
GRAPHS = [
    ("in.txt", bytes),
    ("in.mtx", bytes),
    ("in.gr", bytes),
    ("in.graph", bytes),
    ("in.egr", bytes),
    ("in.txt.gz", bytes),
    ("in.txt.gz", gzip.compress),
    ("in.mtx.bz2", bytes),
    ("in.mtx.bz2", bz2.compress),
    ("in.gr.xz", bytes),
    ("in.gr.xz", lambda content: lzma.compress(content, preset=0)),
    ("in.npz", bytes),
    ("in.csv", bytes),
    ("in.tsv", bytes),
    ("in.graphml", bytes),
    ("in", bytes),
]
PAIRS = [
    ("in.parquet", bytes),
    ("in.arrow", bytes),
    ("in.arrows", bytes),
    ("in.csv", bytes),
    ("in.csv.gz", bytes),
    ("in.csv.gz", gzip.compress),
    ("in.tsv", bytes),
    ("in.dups", bytes),
]


@contextlib.contextmanager
def in_a_folder(names, data):
    """Write a case to a file in a folder that is removed at the end."""
    name, pack = names[data[0] % len(names) if data else 0]
    with tempfile.TemporaryDirectory(prefix="conncomp-fuzz-") as folder:
        path = Path(folder, name)
        path.write_bytes(pack(data[1:]))
        if name.endswith(WITH_OTHERS):
            Path(folder, BESIDE).write_bytes(_beside())
        yield path


@cache
def _beside():
    import tifffile

    planes = np.arange(80, dtype=np.uint16).reshape(4, 4, 5)
    return _saved(tifffile.imwrite, planes, photometric="minisblack")


OME = """<?xml version="1.0"?><OME UUID="0"><Pixels DimensionOrder="XYZCT" SizeZ="2" SizeC="2">
<TiffData FirstZ="0" FirstC="0" IFD="%d" PlaneCount="1"><UUID FileName="%s">%d</UUID></TiffData>
<TiffData FirstZ="1" IFD="0" PlaneCount="1"><UUID FileName="beside.tif">1</UUID></TiffData>
<TiffData FirstC="1" IFD="1" PlaneCount="2"><UUID FileName="beside.tif">1</UUID></TiffData>
</Pixels></OME>"""


def seeds_of(names):
    """Return a valid case or more for each name."""
    if names is PAIRS:
        return _pair_seeds()
    return _image_seeds() if names is IMAGES else _graph_seeds()


def _cases(names, contents):
    return [
        bytes([number]) + content
        for number, (name, pack) in enumerate(names)
        for content in contents(name, pack)
    ]


@cache
def _image_seeds():
    grey = (np.arange(48).reshape(6, 8) % 5 * 50).astype(np.uint8)
    volume = np.arange(60, dtype=np.uint16).reshape(3, 4, 5) % 4

    def contents(name, pack):
        suffix = Path(name).suffix
        if name == "in.npz" and pack is bytes:
            return [_saved(np.savez_compressed, labels=grey), _saved(np.savez, a=grey, b=volume)]
        if name.startswith("in.nii"):
            return _nifti_files(volume)
        if suffix == ".nrrd":
            return _nrrd_files(volume)
        if suffix == ".mha":
            return _mha_files(volume)
        if suffix == ".ome":
            return [(OME % (page, "beside.tif", 1)).encode() for page in (3, 9)]
        if suffix in (".npy", ".npz", ".gz"):
            arrays = grey, volume, grey > 100, grey.astype(">f4"), np.asfortranarray(volume)
            return [_saved(np.save, array) for array in arrays]
        if suffix == ".tif":
            return _tiffs(grey, volume)
        if suffix == ".png":
            modes = "L", "P", "1", "LA", "RGB", "RGBA", "I;16"
            return [_picture(grey, "PNG", mode) for mode in modes]
        if suffix == ".gif":
            from PIL import Image

            frames = [Image.fromarray(plane) for plane in (grey, grey[::-1])]
            film = _saved(frames[0].save, "GIF", save_all=True, append_images=frames[1:])
            return [_picture(grey, "GIF", "L"), _picture(grey, "GIF", "P"), film]
        if suffix == "":
            return [_picture(grey, "PNG", "L"), _saved(np.save, grey), b"\x80\x04N."]
        kind = {".jpg": "JPEG", ".bmp": "BMP", ".pgm": "PPM", ".webp": "WEBP"}[suffix]
        return [_picture(grey, kind, "L")]

    return _cases(IMAGES, contents)


def _saved(function, *arrays, **named):
    file = io.BytesIO()
    function(file, *arrays, **named)
    return file.getvalue()


def _tiffs(grey, volume):
    import tifffile

    options = [{}, {"compression": "zlib"}, {"bigtiff": True}, {"byteorder": ">"}]
    options += [{"rowsperstrip": 1}, {"tile": (16, 16)}]
    of_set = {"description": OME % (0, "in.tif", 0), "metadata": None}
    of_axes = [{"metadata": {"axes": axes}, "ome": True} for axes in ("TYX", "ZYX")]
    of_axes += [{"metadata": {"axes": axes}, "imagej": True} for axes in ("TYX", "ZYX")]
    of_axes += [{"metadata": {"axes": "TYX"}, "compression": "zlib"}, of_set]
    return [
        _saved(tifffile.imwrite, image, photometric="minisblack", **chosen)
        for image in (grey, volume)
        for chosen in options
    ] + [_saved(tifffile.imwrite, volume, photometric="minisblack", **more) for more in of_axes]


def _nifti_files(volume):
    import nibabel

    kinds = nibabel.Nifti1Image, nibabel.Nifti2Image
    film = volume.T[:, :, None]  # x, y, z, t
    return [
        kind(image.astype(dtype), np.diag([0.5, 0.5, 2, 1])).to_bytes()
        for kind in kinds
        for image, dtype in ((volume, "i2"), (volume, ">f4"), (film, "i2"))
    ]


NRRD = (
    b"NRRD0004\n# x\ntype: ushort\ndimension: 3\nsizes: 5 4 3\nencoding: %s\nendian: little\n%s\n"
)
MHA = b"ObjectType = Image\nNDims = 3\nDimSize = 5 4 3\nElementType = MET_USHORT\n%s"


def _nrrd_files(volume):
    values = volume.tobytes()
    directions = b"space dimension: 3\nspace directions: (0.5,0,0) (0,0.5,0) (0,0,2)\n"
    directions += b'space units: "mm" "mm" "mm"\n'
    kinds = b"kinds: domain domain list\nspacings: 0.5 0.5 NaN\n"
    film = b"kinds: domain domain time\n"
    return [
        NRRD % (b"raw", film) + values,
        NRRD % (b"raw", directions) + values,
        NRRD % (b"gzip", kinds) + gzip.compress(values),
    ]


def _mha_files(volume):
    values = volume.tobytes()
    packed = b"CompressedData = True\nElementSpacing = 0.5 0.5 2\nElementDataFile = LOCAL\n"
    plain = b"BinaryData = True\nElementByteOrderMSB = True\nElementDataFile = LOCAL\n"
    return [MHA % packed + zlib.compress(values), MHA % plain + values]


def _picture(grey, kind, mode):
    from PIL import Image

    picture = Image.fromarray(grey.astype(np.uint16)) if mode == "I;16" else Image.fromarray(grey)
    return _saved((picture if mode == "I;16" else picture.convert(mode)).save, kind)


EDGE_LISTS = [
    b"# from to\n0 1\n1 2\n\n5 4 0.5\n",
    b"0,1\r\n2,3\r\n",
    b"% x\n30\t7\n30\t9",
    b"0 1\r2 3\r",
    b"source,target\nanna,bert\nbert,carl\n",
    b'source,target\n02139,"2139"\n 2139,12345678901234567890\n',
    b"anna,bert\nbert,carl\n",
    b"007 8\n7 9\n",
]
MATRICES = [
    b"%%MatrixMarket matrix coordinate pattern symmetric\n% x\n4 4 3\n2 1\n3 1\n4 4\n",
    b"%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 0.5\n3 1 -1e9\n",
]
DIMACS = [b"c x\np sp 4 3\na 1 2 7\na 2 1 7\na 3 4 1\n", b"p edge 3 2\ne 1 2\ne 2 3\n"]
METIS = [b"% x\n4 3\n2 3\n1 3\n1 2\n\n", b"3 2 011 1\n5 2 1\n5 1 1 3 2\n5 2 2\n"]
GRAPHML = [
    b'<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    b'<graph edgedefault="undirected"><node id="a"/><node id="b"/><edge source="a" target="b"/>'
    b"</graph></graphml>",
    b'<?xml version="1.0"?><!DOCTYPE g [<!ENTITY a "x"><!ENTITY b "&a;&a;&a;&a;">]>'
    b'<graphml><graph edgedefault="directed"><node id="&b;"/></graph></graphml>',
]


@cache
def _graph_seeds():
    rows = np.array([0, 2, 3, 4], "<i4").tobytes() + np.array([1, 2, 0, 0], "<i4").tobytes()
    ecl = [struct.pack("<2i", 3, 4) + rows, struct.pack("<2i", 3, 4) + rows + bytes(16)]

    def contents(name, pack):
        plain = {
            ".txt": EDGE_LISTS,
            ".mtx": MATRICES,
            ".gr": DIMACS,
            ".graph": METIS,
            ".egr": ecl,
            ".csv": EDGE_LISTS,
            ".tsv": [text.replace(b",", b"\t") for text in EDGE_LISTS],
            ".graphml": GRAPHML,
            "": [*EDGE_LISTS, *MATRICES, *DIMACS, *ecl],
        }
        path = Path(name)
        if path.suffix == ".npz":
            return [_sparse_npz()]
        if path.suffix not in (".gz", ".bz2", ".xz"):
            return plain[path.suffix]
        texts = plain[path.with_suffix("").suffix]
        compress = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}[path.suffix]
        return [compress(text) if pack is bytes else text for text in texts]

    return _cases(GRAPHS, contents)


def _sparse_npz():
    import scipy.sparse

    return _saved(scipy.sparse.save_npz, scipy.sparse.eye_array(3, k=1, format="csr"))


@cache
def _pair_seeds():
    import pyarrow as pa

    ids = [1, 2, 3, 7, 2, 5], [2, 3, 1, 8, 2, 1]
    weights = [0.5, 1, None, -1e300, float("nan"), 0.25]
    texts = [[f"{k:03}\u00e9" for k in side] for side in ids]
    decimal = pa.decimal128(12, 2)
    tables = [
        pa.table({"l": left, "r": right, "w": weights, "x": ["not wanted"] * 6})
        for left, right in (
            ids,
            texts,
            [pa.array(side).dictionary_encode() for side in texts],
            [pa.array(side, pa.int32()).cast(decimal) for side in ids],
        )
    ]
    tables.append(tables[0].set_column(2, "w", pa.array([1, 2, 3] * 2, pa.int32()).cast(decimal)))
    dups = [struct.pack("<8I", 0, 1, 0, 2, 2**32 - 1, 2**32 - 1, 0, 1), b""]

    def contents(name, pack):
        text = pack is not bytes or not name.endswith(".gz")
        if name == "in.dups":
            return dups
        if name in ("in.parquet", "in.arrow", "in.arrows"):
            return [_pairs(name, table, **kind) for table in tables for kind in _kinds(name)]
        delimiter = b"\t" if name == "in.tsv" else b","
        written = [
            line.replace(b",", delimiter)
            for line in (b'l,r,w\n1,2,3\n"a\n",b,\n', b"l,r,w\n", b'l,r,w\n01,"1",3\n')
        ]
        return written if text else [*map(gzip.compress, written)]

    return _cases(PAIRS, contents)


def _kinds(name):
    """Return options of the writers, each once."""
    if name != "in.parquet":
        return [{}, {"compression": "zstd"}]
    options = [{}, {"compression": "none"}, {"compression": "zstd", "data_page_version": "2.0"}]
    return [*options, {"use_dictionary": False, "row_group_size": 4}]


def _pairs(name, table, **options):
    import pyarrow as pa
    import pyarrow.parquet

    file = io.BytesIO()
    if name == "in.parquet":
        pa.parquet.write_table(table, file, **options)
        return file.getvalue()
    opened = pa.ipc.new_stream if name == "in.arrows" else pa.ipc.new_file
    with opened(file, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, 4)
    return file.getvalue()
