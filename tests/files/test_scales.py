"""Voxel sizes and axes of files: written by each format's own library, read by ours."""

import gzip
import io
import struct
import time
import zlib

import h5py
import nibabel
import nrrd
import numpy as np
import pytest
import SimpleITK
import tifffile
import zarr

import conncomp
from conncomp.cli._input import read_any
from conncomp.files.images import count_series, read_content
from conncomp.files.scales import Scale, in_unit, scale_of
from conncomp.files.slabs import open_slabs
from conncomp.files.tiff.ome import ome_images, other_holders

VOLUME = np.arange(2 * 3 * 4).reshape(2, 3, 4)
SPACING = (2.0, 0.5, 0.25)  # z, y, x


def test_imagej(tmp_path):
    path = tmp_path / "a.tif"
    tifffile.imwrite(
        path, VOLUME.astype(np.uint16), imagej=True, resolution=(4, 2),
        metadata={"axes": "ZYX", "spacing": 2, "unit": "um"},
    )  # fmt: skip
    found = read_content(path)
    np.testing.assert_array_equal(found.image, VOLUME)
    assert found[1:] == (None, "ZYX", Scale(SPACING, "µm"))


def test_imagej_without_a_unit_has_no_scale(tmp_path):
    tifffile.imwrite(tmp_path / "a.tif", VOLUME.astype(np.uint8), imagej=True, resolution=(72, 72))
    assert read_content(tmp_path / "a.tif").scale is None


@pytest.mark.parametrize("axes", ["ZYX", "TZYX", "CZYX", "TCZYX"])
def test_ome_tiff(tmp_path, axes):
    path = tmp_path / "a.ome.tif"
    shape = tuple({"T": 2, "C": 3, "Z": 2, "Y": 4, "X": 5}[axis] for axis in axes)
    image = np.arange(np.prod(shape), dtype=np.uint16).reshape(shape)
    sizes = {"PhysicalSizeX": 250, "PhysicalSizeXUnit": "nm", "PhysicalSizeY": 500}
    sizes |= {"PhysicalSizeYUnit": "nm", "PhysicalSizeZ": 2}  # of micrometres, if that is not said
    metadata = {"axes": axes, **sizes}
    tifffile.imwrite(path, image, metadata=metadata, ome=True, photometric="minisblack")
    found = read_content(path)
    np.testing.assert_array_equal(found.image, image)
    channels = axes.find("C")
    assert (found.axes, found.channels) == (axes, None if channels < 0 else channels)
    ones = (1.0,) * (len(axes) - 3)
    assert found.scale.unit == "nm"
    assert found.scale.spacing == pytest.approx((*ones, 2000, 500, 250))


@pytest.mark.parametrize(
    "shapes",
    [
        [(3, 4), (3, 4)],
        [(2, 3, 4), (3, 4)],
        [(3, 4), (5, 6)],
        [(3, 4), (3, 4), (5, 6), (2, 3, 4)],  # pages of one shape, and others between them
    ],
)
def test_series_of_ome_tiff(tmp_path, shapes):
    path = tmp_path / "a.ome.tif"
    images = [np.full(shape, k + 1, np.uint8) for k, shape in enumerate(shapes)]
    with tifffile.TiffWriter(path, ome=True) as tiff:
        for k, image in enumerate(images):
            axes = "ZYX"[-image.ndim :]
            about = {"axes": axes, "PhysicalSizeX": 1 + k, "PhysicalSizeY": 1, "PhysicalSizeZ": 1}
            tiff.write(image, metadata=about, photometric="minisblack")
    for k, image in enumerate(images):
        found = read_content(path, series=k)
        np.testing.assert_array_equal(found.image, image)
        assert found.scale == scale_of((1,) * (image.ndim - 1) + (1 + k,), "µm")
    assert count_series(path) == len(shapes)
    with pytest.raises(ValueError, match=rf"series: there is no series={len(shapes)}"):
        read_content(path, series=len(shapes))


PLANES = np.arange(6 * 3 * 4, dtype=np.uint8).reshape(6, 3, 4)


def ome(*images, planes=PLANES, root="<OME>", **options):
    """Return pages that are described by the attributes of images, and their blocks."""
    pixels = "".join(f"<Pixels {about}>{blocks}</Pixels>" for about, blocks in images)
    file = io.BytesIO()
    options = {"photometric": "minisblack", "metadata": None} | options
    tifffile.imwrite(file, planes, description=f"{root}{pixels}</OME>", **options)
    return file.getvalue()


def block(page, count=None, **first):
    """Return that planes from one on are pages from one on."""
    fields = {"IFD": page, "PlaneCount": count, **{f"First{axis}": k for axis, k in first.items()}}
    text = " ".join(f'{name}="{value}"' for name, value in fields.items() if value is not None)
    return f"<TiffData {text}/>"


ZCT = 'DimensionOrder="XYZCT" SizeZ="3" SizeC="2"'
SIX = range(6)


@pytest.mark.parametrize(
    ("images", "pages"),
    [
        ([('SizeZ="2"', ""), ('SizeZ="4"', "")], [SIX[:2], SIX[2:]]),
        ([("", block(1, 1)), ("", block(0, 1))], [1, 0]),
        ([('SizeZ="2"', block(4)), ("", block(0)), ('SizeT="3"', block(1, 3))],
         [SIX[4:], 0, SIX[1:4]]),
        ([('SizeZ="2"', block(4)), ("", "")], [SIX[4:], None]),  # it would follow the last page
        ([('SizeZ="3"', block(2, 1) + block(0, 2, Z=1))], [[2, 0, 1]]),
        ([('SizeZ="3"', block(0, 2, Z=1) + block(2, 1))], [[2, 0, 1]]),
        ([('SizeZ="3"', block(3))], [[3, 4, 5]]),
        ([('SizeZ="3"', block(3, 9))], [[3, 4, 5]]),
        ([('SizeZ="3"', block(3, 3) + block(0, 1, Z=3))], [[3, 4, 5]]),  # as ImageJ crops
        ([(ZCT, block(0, 1) + block(2, 1, Z=1) + block(4, 1, Z=2)
           + block(1, 1, C=1) + block(3, 1, Z=1, C=1) + block(5, 1, Z=2, C=1))],
         [[[0, 2, 4], [1, 3, 5]]]),
        ([(ZCT, block(0, 3) + block(3, 3, C=1) + block(9, 1, Z=3))], [[SIX[:3], SIX[3:]]]),
        ([('SizeZ="2"', block(None)), ('SizeZ="4"', block(None))], [SIX[:2], SIX[2:]]),
        ([('SizeZ="2"', block(3)), ("", block(0)), ("", "")], [[3, 4], 0, 5]),
        ([(f'SizeZ="{9**30}"', "")], [None]),
        ([(f'SizeZ="{9**30}"', ""), ("", "")], [None, None]),
        ([('SizeZ="3"', block(0, 2))], [None]),
        ([('SizeZ="3"', block(0, 0))], [None]),
        ([('SizeZ="3"', block(0, 3, Z=3))], [None]),
        ([('SizeZ="3"', block(4, 3))], [None]),
        ([('SizeZ="3"', block(0, 2) + block(1, 1, Z=2))], [None]),
        ([('SizeZ="3"', block(-1, 3))], [None]),
        ([('SizeZ="3"', block(0, 3, Z="x"))], [None]),
        ([('SizeZ="3"', block(0, 3, Z=9**30))], [None]),
        ([('SizeZ="3"', block(9**30, 3))], [None]),
        ([("", block(0, 1)), ("", block(0, 1))], [0, None]),
    ],
)  # fmt: skip
def test_planes_are_the_pages_that_ome_names(tmp_path, images, pages):
    path = tmp_path / "a.tif"
    path.write_bytes(ome(*images))
    assert count_series(path) == len(pages)
    for series, chosen in enumerate(pages):
        if chosen is None:
            with pytest.raises(ValueError, match="has OME metadata"):
                read_content(path, series=series)
        else:
            found = read_content(path, series=series).image
            np.testing.assert_array_equal(found, PLANES[np.array(chosen)])


@pytest.mark.parametrize("piece", ["<OME ", "<UUID", "<TiffData", '<UUID FileName="', "UUID = "])
def test_damaged_ome_takes_no_longer_than_its_length(piece):
    text = "<OME " + piece * (4_000_000 // len(piece))
    begin = time.process_time()
    assert other_holders(text, ome_images(text)) == []
    assert time.process_time() - begin < 3


@pytest.mark.parametrize("options", [{}, {"compression": "zlib"}])
def test_slabs_are_of_the_pages_that_ome_names(tmp_path, options):
    (tmp_path / "a.tif").write_bytes(ome(('SizeZ="3"', block(2, 1) + block(0, 2, Z=1)), **options))
    with open_slabs(tmp_path / "a.tif") as file:
        slabs = [file.read(0, 2).copy(), file.read(2, 3)]
    np.testing.assert_array_equal(np.concatenate(slabs), PLANES[[2, 0, 1]])


@pytest.mark.parametrize("colours", ["contig", "separate"])
@pytest.mark.parametrize("left_out", [b"none", b"TiffData", b"IFD"])
def test_images_of_ome_are_grey_and_in_colour(tmp_path, colours, left_out):
    """Each has as many planes as its own pages need for its channels."""
    colour = np.arange(5 * 6 * 3, dtype=np.uint8).reshape(5, 6, 3)
    colour = colour if colours == "contig" else colour.transpose(2, 0, 1)
    axes = "YXS" if colours == "contig" else "SYX"
    parts = [
        (VOLUME.astype(np.uint8), "ZYX"),
        (colour, axes),
        (np.stack([colour, colour + 1]), f"T{axes}"),
        (VOLUME[0].astype(np.uint8), "YX"),
    ]
    with tifffile.TiffWriter(tmp_path / "a.tif", ome=True) as tiff:
        for part, names in parts:
            options = {"photometric": "minisblack"}
            if "S" in names:
                options = {"photometric": "rgb", "planarconfig": colours}
            tiff.write(part, metadata={"axes": names}, **options)
    content = (tmp_path / "a.tif").read_bytes()
    assert (left_out in content) == (left_out != b"none")
    (tmp_path / "a.tif").write_bytes(content.replace(left_out, b"x" * len(left_out)))
    for k, (part, _) in enumerate(parts):
        np.testing.assert_array_equal(read_content(tmp_path / "a.tif", series=k).image, part)


def test_more_images_than_are_read_are_refused(tmp_path):
    text = '<Pixels SizeX="4"/>'
    assert len(ome_images(text * 1000)) == 1000
    (tmp_path / "a.tif").write_bytes(ome(*[("", "")] * 1001))
    for read in (count_series, read_content):
        with pytest.raises(ValueError, match=r"a\.tif: has OME metadata of more than 1000 images"):
            read(tmp_path / "a.tif")


@pytest.mark.parametrize(
    ("about", "complaint"),
    [
        ('SizeZ="-1" SizeT="-1"', "SizeT='-1'"),
        ('SizeZ="-1"', "SizeZ='-1'"),
        ('SizeZ="0"', "SizeZ='0'"),
        ('SizeZ="abc"', "SizeZ='abc'"),
        ('SizeT="1.5"', "SizeT='1.5'"),
    ],
)
@pytest.mark.parametrize("images", [1, 2])
def test_lengths_of_ome_that_are_none(tmp_path, about, complaint, images):
    (tmp_path / "a.tif").write_bytes(ome(*[(about, "")] * images))
    with pytest.raises(ValueError, match=rf"a\.tif: has OME metadata with {complaint}"):
        read_content(tmp_path / "a.tif")


def test_a_page_of_ome_that_is_a_volume(tmp_path):
    volume = np.arange(3 * 16 * 16, dtype=np.uint16).reshape(3, 16, 16)
    content = ome(('SizeZ="3"', block(0, 1)), planes=volume, volumetric=True, tile=(1, 16, 16))
    (tmp_path / "a.tif").write_bytes(content)
    np.testing.assert_array_equal(read_content(tmp_path / "a.tif").image, volume)


@pytest.mark.parametrize("count", [1, 2])
def test_fewer_channels_of_ome_than_a_page_holds(tmp_path, count):
    about = f'SizeC="{count}"'
    content = ome((about, ""), planes=PLANES[:3].transpose(1, 2, 0), photometric="rgb")
    (tmp_path / "a.tif").write_bytes(content)
    with pytest.raises(ValueError, match=f"SizeC='{count}', but pages of 3 samples"):
        read_content(tmp_path / "a.tif")


@pytest.mark.parametrize("name", ["a.nii", "a.nii.gz"])
@pytest.mark.parametrize("kind", [nibabel.Nifti1Image, nibabel.Nifti2Image])
@pytest.mark.parametrize("dtype", [np.int16, np.float32, np.dtype(">i4")])
def test_nifti(tmp_path, name, kind, dtype):
    image = kind(VOLUME.transpose().astype(dtype), np.diag([0.25, 0.5, 2, 1]))
    image.header.set_xyzt_units("micron")
    image.to_filename(tmp_path / name)
    found = read_content(tmp_path / name)
    np.testing.assert_array_equal(found.image, VOLUME)
    assert found[1:] == (None, "ZYX", Scale(SPACING, "µm"))
    assert found.image.flags.c_contiguous


@pytest.mark.parametrize(
    ("spacing", "unit", "found"),
    [
        ((0.25, 0.5, 2), "unknown", Scale(SPACING, "mm")),
        ((1, 1, 1), "unknown", None),
        ((1, 1, 1), "mm", Scale((1.0, 1.0, 1.0), "mm")),
        ((0.25, 0.5, 2), "meter", Scale(SPACING, "m")),
    ],
)
def test_units_of_nifti(tmp_path, spacing, unit, found):
    image = nibabel.Nifti1Image(VOLUME.transpose().astype("i2"), np.diag([*spacing, 1]))
    image.header.set_xyzt_units(unit)
    image.to_filename(tmp_path / "a.nii")
    assert read_content(tmp_path / "a.nii").scale == found


def test_nifti_with_a_scale_of_values(tmp_path):
    values = VOLUME.transpose() * 0.5 - 3
    image = nibabel.Nifti1Image(values, np.eye(4))
    image.header.set_data_dtype(np.int16)
    image.to_filename(tmp_path / "a.nii")
    found = read_content(tmp_path / "a.nii").image.transpose()
    np.testing.assert_allclose(found, nibabel.load(tmp_path / "a.nii").get_fdata())
    np.testing.assert_allclose(found, values, atol=1e-3)


@pytest.mark.parametrize("encoding", ["raw", "gzip"])
@pytest.mark.parametrize("dtype", ["<u2", ">f4", "i1"])
def test_nrrd(tmp_path, encoding, dtype):
    header = {"space directions": np.diag([0.25, 0.5, 2]), "space units": ["mm"] * 3}
    header |= {"space dimension": 3, "encoding": encoding}
    nrrd.write(str(tmp_path / "a.nrrd"), VOLUME.transpose().astype(dtype), header)
    found = read_content(tmp_path / "a.nrrd")
    np.testing.assert_array_equal(found.image, VOLUME)
    assert found[1:] == (None, "ZYX", Scale(SPACING, "mm"))


def test_nrrd_with_channels(tmp_path):
    header = {"kinds": ["RGB-color", "domain", "domain"], "spacings": [float("nan"), 0.25, 0.5]}
    nrrd.write(str(tmp_path / "a.nrrd"), VOLUME.transpose().astype("u1")[:3], header)
    found = read_content(tmp_path / "a.nrrd")
    np.testing.assert_array_equal(found.image, VOLUME[..., :3])
    assert found[1:] == (2, "YXC", Scale((0.5, 0.25, 1.0), ""))


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("channels", [False, True])
def test_mha(tmp_path, packed, channels):
    values = np.stack([VOLUME, VOLUME + 1], axis=-1) if channels else VOLUME
    image = SimpleITK.GetImageFromArray(values.astype(np.int16), isVector=channels)
    image.SetSpacing([0.25, 0.5, 2])
    SimpleITK.WriteImage(image, str(tmp_path / "a.mha"), packed)
    found = read_content(tmp_path / "a.mha")
    np.testing.assert_array_equal(found.image, values)
    ones = (1.0,) if channels else ()
    assert found.scale == Scale((*SPACING, *ones), "mm")
    assert (found.channels, found.axes) == ((3, "ZYXC") if channels else (None, "ZYX"))


@pytest.mark.parametrize("way", ["attribute", "scales"])
def test_hdf5(tmp_path, way):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        dataset = file.create_dataset("volumes/cells", data=VOLUME, compression="gzip")
        if way == "attribute":
            dataset.attrs["element_size_um"] = SPACING
        else:
            for k, length in enumerate(SPACING):
                positions = file.create_dataset(
                    f"along{k}", data=length * np.arange(VOLUME.shape[k])
                )
                positions.attrs["units"] = "um"
                positions.make_scale("zyx"[k])
                dataset.dims[k].attach_scale(positions)
    found = read_any(tmp_path / "a.h5", "volumes/cells")
    np.testing.assert_array_equal(found.image, VOLUME)
    assert found.scale == Scale(SPACING, "µm")


@pytest.mark.parametrize("version", [2, 3])
def test_ome_zarr(tmp_path, version):
    group = zarr.open_group(tmp_path / "a.zarr", mode="w", zarr_format=version)
    group.create_array("0", data=VOLUME[None].astype(np.uint16))
    axes = [{"name": "c", "type": "channel"}]
    axes += [{"name": name, "type": "space", "unit": "micrometer"} for name in "zyx"]
    scales = [{"type": "scale", "scale": [1, 1, 0.5, 0.25]}]
    scale = {"axes": axes, "datasets": [{"path": "0", "coordinateTransformations": scales}]}
    scale["coordinateTransformations"] = [{"type": "scale", "scale": [1, 2, 1, 1]}]
    if version == 2:
        group.attrs["multiscales"] = [{"version": "0.4", **scale}]
    else:
        group.attrs["ome"] = {"version": "0.5", "multiscales": [scale]}
    found = read_any(tmp_path / "a.zarr")
    np.testing.assert_array_equal(found.image, VOLUME[None])
    assert found[1:] == (0, "CZYX", Scale((1.0, *SPACING), "µm"))


def test_a_huge_empty_dataset_is_refused(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("a", (1 << 14,) * 3, "u1", chunks=(64, 64, 64))
    with pytest.raises(ValueError, match=r"a\.h5: says that it has shape \(16384, 16384, 16384\)"):
        read_any(tmp_path / "a.h5")


def nifti(shape, begin=352.0, code=4, magic=b"n+1\0", values=b"\0" * 48):
    header = bytearray(352)
    header[:4] = struct.pack("<i", 348)
    header[40 : 42 + 2 * len(shape)] = struct.pack(f"<{len(shape) + 1}h", len(shape), *shape)
    header[70:74] = struct.pack("<2h", code, 16)
    header[108:112] = struct.pack("<f", begin)
    header[344:348] = magic
    return bytes(header) + values


def packed(content):
    """Return the same bytes at any time, as those of a test's name."""
    return gzip.compress(content, mtime=0)


NRRD = b"NRRD0004\ntype: short\ndimension: 2\nsizes: %s\nencoding: %s\nendian: little\n\n"
MHA = b"ObjectType = Image\nNDims = 2\n%sDimSize = %s\nElementType = MET_SHORT\n"
MHA += b"ElementDataFile = %s\n"
DAMAGED = {
    "a.nii": [
        nifti((30000,) * 4),
        nifti((4, -2)),
        nifti((4,), begin=float("nan")),
        nifti((4,), begin=1e30),
        nifti((4,), code=128),  # colours
        nifti((4,), code=1, magic=b"ni1\0"),  # its values in another file
        nifti((4,))[:300],
        nifti((1,) * 9),
        nifti((4, 0)),
        nifti((4, 4), begin=0.0),
    ],
    "a.nii.gz": [
        packed(nifti((30000,) * 4)),
        packed(nifti((8, 8))),
        packed(nifti((4, 4)))[:40],
        packed(nifti((4, 4)))[:-8],
        packed(nifti((4, 0))),
    ],
    "a.nrrd": [
        NRRD % (b"1000000 1000000", b"raw") + bytes(64),
        NRRD % (b"1000 1000", b"gzip") + zlib.compress(bytes(64)),
        NRRD % (b"4 4", b"bzip2") + bytes(64),
        NRRD % (b"-4 -4", b"raw") + bytes(64),
        NRRD % (b"4 4", b"raw\ndata file: /etc/passwd"),
        NRRD % (b"4 4", b"raw\nbyte skip: -1") + bytes(64),
        NRRD % (b"4", b"raw") + bytes(64),
        NRRD % (b"4 4", b"raw\ndatafile: LIST"),
        NRRD % (b"4 4", b"gzip") + packed(bytes(32))[:-8],
        b"NRRD0004\ntype: short\ndimension: 2\nsizes: 4 4\nendian: little\n\n" + bytes(32),
        b"NRRD0004\n" + b"a:=" + b"b" * 70000,
        b"NRRD0004\ntype: block\ndimension: 1\nsizes: 1\nencoding: raw\n\n" + bytes(8),
    ],
    "a.mha": [
        MHA % (b"", b"1000000 1000000", b"LOCAL") + bytes(64),
        MHA % (b"CompressedData = True\n", b"4 4", b"LOCAL") + zlib.compress(bytes(8)),
        MHA % (b"CompressedData = True\n", b"4 4", b"LOCAL") + bytes(64),
        MHA % (b"", b"4 4", b"/etc/passwd"),
        MHA % (b"", b"4 4 4", b"LOCAL") + bytes(200),
        MHA % (b"", b"4 x", b"LOCAL") + bytes(200),
        MHA % (b"BinaryData = False\n", b"4 4", b"LOCAL") + bytes(200),
        MHA % (b"HeaderSize = -1\n", b"4 4", b"LOCAL") + bytes(200),
        MHA % (b"ElementNumberOfChannels = -3\n", b"4 4", b"LOCAL"),
        MHA % (b"CompressedData = yes\n", b"4 4", b"LOCAL") + bytes(32),
        (MHA % (b"", b"4 4", b"LOCAL")).replace(b"DimSize", b"Sizes") + bytes(32),
        b"ObjectType = Image\n",
    ],
}  # fmt: skip


def test_checksum_of_values_that_end_with_a_block(tmp_path):
    values = bytes(1 << 24)
    packed = bytearray(gzip.compress(nifti((1 << 12, 1 << 12), code=2, values=values), 0))
    packed[len(packed) // 2] ^= 1
    (tmp_path / "a.nii.gz").write_bytes(packed)
    with pytest.raises(ValueError, match="CRC"):
        conncomp.read_image(tmp_path / "a.nii.gz")


@pytest.mark.parametrize("true", [b"True", b"T", b"1", b"true"])
def test_what_is_true_in_mha(tmp_path, true):
    values = np.arange(16, dtype=">i2").reshape(4, 4)
    fields = b"BinaryDataByteOrderMSB = %s\nCompressedData = %s\nHeaderSize = 0\n" % (true, true)
    content = MHA % (fields, b"4 4", b"LOCAL") + zlib.compress(values.tobytes())
    (tmp_path / "a.mha").write_bytes(content)
    np.testing.assert_array_equal(conncomp.read_image(tmp_path / "a.mha"), values)


@pytest.mark.parametrize(
    ("name", "content"), [(name, content) for name in DAMAGED for content in DAMAGED[name]]
)
def test_what_is_damaged_is_refused(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=r"a\.\w+") as error:
        conncomp.read_image(tmp_path / name)
    assert "\n" not in str(error.value)


def test_valid_counterparts_of_the_damaged_are_read(tmp_path):
    contents = {"a.nii": nifti((4, 6)), "a.nii.gz": gzip.compress(nifti((4, 6)))}
    contents["a.nrrd"] = NRRD % (b"4 4", b"raw") + bytes(32)
    contents["a.mha"] = MHA % (b"CompressedData = True\n", b"4 4", b"LOCAL") + zlib.compress(
        bytes(32)
    )
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        assert conncomp.read_image(tmp_path / name).dtype == np.int16


@pytest.mark.parametrize("spacing", [(0, 1), (-1, 1), (float("inf"), 1), (1e-9, 1), ()])
def test_nonsense_is_no_scale(spacing):
    assert scale_of(spacing, "mm") is None


def test_a_unit_that_is_unknown_is_not_converted():
    with pytest.raises(ValueError, match="its unit is parsec, which is not mm"):
        in_unit(Scale((1.0,), "parsec"), "mm")


@pytest.mark.parametrize("filler", ["a", "a ", " ", "a=", 'a="', "<Pixels ", "&#"])
def test_long_descriptions_end_soon(filler):
    """Patterns take a time that is that of the text."""
    text = '<OME><Pixels SizeX="3" ' + filler * (1 << 20) + ' PhysicalSizeX="2">'
    begin = time.process_time()
    images = ome_images(text)
    assert images[0].attributes["SizeX"] == "3"
    assert time.process_time() - begin < 5
