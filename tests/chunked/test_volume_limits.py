"""What `label_file` refuses of volumes before it reads them, and what it accepts."""

import json

import numpy as np
import pytest

import conncomp
from conncomp.chunked.volumes import volume
from conncomp.chunked.volumes.formats import ome_zarr, opened_volume
from conncomp.chunked.volumes.labelling import bytes_of_block
from volume_sources import write_image, write_zarr

numcodecs = pytest.importorskip("numcodecs")
zarr = pytest.importorskip("zarr")

VOLUME = np.random.default_rng(3).integers(0, 3, (8, 10)).astype(np.uint8)
MOVIE = np.random.default_rng(3).integers(0, 2, (12, 16, 20)).astype(np.uint8)


def of_codecs(*names):
    return [getattr(zarr.codecs, f"{name}Codec")() for name in names]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"compressors": of_codecs("Zstd", "Gzip")}, "by zstd and then by gzip"),
        ({"compressors": of_codecs("Zstd", "Crc32c", "Crc32c")}, "by zstd and then by crc32c"),
        ({"compressors": of_codecs("Blosc", "Gzip")}, "by blosc and then by gzip"),
        (
            {"compressors": of_codecs("Blosc", "Zstd"), "shards": (8, 10)},
            "by blosc and then by zstd",
        ),
        (
            {"zarr_format": 2, "filters": [numcodecs.Blosc()], "compressors": numcodecs.Zlib()},
            "by blosc and then by zlib",
        ),
        ({"compressors": of_codecs("Blosc", "Crc32c"), "shards": (8, 10)}, None),
        ({"compressors": of_codecs("Zstd", "Crc32c")}, None),
        ({"compressors": of_codecs("Gzip", "Crc32c", "Gzip")}, None),
        ({"compressors": of_codecs("Gzip", "Blosc")}, None),
        (
            {"zarr_format": 2, "filters": [numcodecs.LZ4()], "compressors": numcodecs.Zlib()},
            "by lz4 and then by zlib",
        ),
        (
            {"zarr_format": 2, "filters": [numcodecs.Zstd()], "compressors": numcodecs.CRC32C()},
            "by zstd and then by crc32c",
        ),
        ({"zarr_format": 2, "filters": [numcodecs.Delta("u1")]}, None),
        ({"zarr_format": 2, "filters": [numcodecs.FixedScaleOffset(0, 1, "u1", "u1")]}, None),
    ],
)
def test_steps_of_packing(tmp_path, options, words):
    source = write_zarr(tmp_path / "v.zarr", VOLUME, (4, 5), **options)
    if words is not None:
        with pytest.raises(ValueError, match=rf"v\.zarr: is packed {words}: .* cannot be checked"):
            conncomp.label_file(source, tmp_path / "l.npy")
        return
    conncomp.label_file(source, tmp_path / "l.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "l.npy"), conncomp.label(VOLUME))


def test_types_of_filters_are_numbers(tmp_path):
    source = write_zarr(
        tmp_path / "v.zarr", VOLUME, (4, 5), zarr_format=2, filters=[numcodecs.Delta("u1")]
    )
    metadata = json.loads((source / ".zarray").read_text())
    for name in ("|O", "M8[s]", "V10000000000"):
        metadata["filters"][0]["astype"] = name
        (source / ".zarray").write_text(json.dumps(metadata))
        with pytest.raises(ValueError, match=r"v\.zarr"):
            conncomp.label_file(source, tmp_path / "l.npy")


def test_checksums_that_are_wrong(tmp_path):
    source = write_zarr(
        tmp_path / "v.zarr", VOLUME, (4, 5), compressors=of_codecs("Zstd", "Crc32c")
    )
    chunk = source / "c/0/1"
    content = bytearray(chunk.read_bytes())
    content[-1] ^= 1
    chunk.write_bytes(content)
    with pytest.raises(ValueError, match=r"the chunk at \(0, 0\) cannot be read"):
        conncomp.label_file(source, tmp_path / "l.npy")


@pytest.mark.parametrize(
    ("write", "name"),
    [
        (lambda path: write_zarr(path, VOLUME, (4, 5)), "zarr.json"),
        (lambda path: write_zarr(path, VOLUME, (4, 5), zarr_format=2), ".zarray"),
        (lambda path: write_image(path, MOVIE, "zyx"), "zarr.json"),
        (lambda path: write_image(path, MOVIE, "zyx"), "s1/zarr.json"),
        (lambda path: write_image(path, MOVIE, "zyx", "0.4"), ".zattrs"),
        (lambda path: write_image(path, MOVIE, "zyx", "0.4"), "s0"),
    ],
)
def test_metadata_that_is_a_link(tmp_path, write, name):
    source = write(tmp_path / "v.zarr")
    (source / name).rename(tmp_path / "elsewhere")
    (source / name).symlink_to(tmp_path / "elsewhere")
    for read in (conncomp.plan_labels, conncomp.open_volume):
        with pytest.raises(ValueError, match="is a link; copy what it leads to"):
            read(source)


def test_a_volume_may_be_a_link_itself(tmp_path):
    write_zarr(tmp_path / "v.zarr", VOLUME, (4, 5))
    (tmp_path / "link.zarr").symlink_to(tmp_path / "v.zarr")
    conncomp.label_file(tmp_path / "link.zarr", tmp_path / "l.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "l.npy"), conncomp.label(VOLUME))


def test_limits_of_coarser_arrays(tmp_path, monkeypatch):
    image = write_image(tmp_path / "image.zarr", MOVIE, "zyx", chunks=(6, 8, 10), levels=2)
    with opened_volume(str(image)) as opened:
        whole = bytes_of_block(opened)
    zarr.create_array(
        store=str(image / "s1"), shape=(6, 8, 10), chunks=(10**4,) * 3, dtype="u1", overwrite=True
    )
    with opened_volume(str(image)) as opened:
        assert bytes_of_block(opened) == 3 * 8 * 10**12 > whole
    with pytest.raises(ValueError, match="rechunk it to smaller chunks"):
        conncomp.label_file(image, tmp_path / "l.zarr")
    monkeypatch.setattr(ome_zarr, "MOST_BLOCKS", 400)
    for shape, chunks, words in [
        ((6, 8, 10), (1, 1, 1), r"of shape \(6, 8, 10\) has 480 chunks; more than 400"),
        ((6, 8, 40), (6, 8, 10), r"ever coarser, but has shapes \(12, 16, 20\) and then \(6, 8"),
        ((6, 8), (6, 8), r"has axes \['z', 'y', 'x'\], but arrays of shapes"),
    ]:
        zarr.create_array(
            store=str(image / "s1"), shape=shape, chunks=chunks, dtype="u1", overwrite=True
        )
        with pytest.raises(ValueError, match=words):
            conncomp.label_file(image, tmp_path / "l.zarr")


@pytest.mark.parametrize("blocks", [2, 3])
def test_a_plan_counts_faces_of_few_blocks(tmp_path, monkeypatch, blocks):
    """What is kept of components on faces, and the memory that they take."""
    monkeypatch.setattr(volume, "BLOCK", 1)
    noise = np.random.default_rng(6).random((40, 40, 20 * blocks)) < 0.1
    source = write_zarr(tmp_path / "v.zarr", noise, (40, 40, 20))
    plan = conncomp.plan_labels(source, connectivity=1)
    assert (plan.blocks, plan.sampled) == (blocks, 2)
    empty = write_zarr(tmp_path / "e.zarr", np.zeros_like(noise), (40, 40, 20))
    assert plan.kept > conncomp.plan_labels(empty, connectivity=1).kept + 1000
