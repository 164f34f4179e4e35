"""`label_file` on a full disk, and killed: nothing that looks whole is wrong."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import numpy as np
import pytest

import conncomp
from conncomp.chunked.volumes import volume
from conncomp.chunked.volumes.formats import slices
from volume_sources import SOURCES, read_labels

numcodecs = pytest.importorskip("numcodecs")
zarr = pytest.importorskip("zarr")
for module in ("h5py", "tifffile"):
    pytest.importorskip(module)

VOLUME = np.random.default_rng(3).integers(0, 3, (16, 20, 24)).astype(np.uint8)
CHUNKS = (8, 10, 12)
WANTED = conncomp.label(VOLUME, connectivity=1)


def written(kind, folder):
    suffix, write = SOURCES[kind]
    return write(folder / f"v{suffix}", VOLUME, CHUNKS)


@contextmanager
def largest_file(size):
    """Let no file grow beyond so many bytes, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize(
    ("kind", "target"), [("zarr 3", "l.zarr"), ("zarr 2", "l.npy"), ("ome 0.5", "l.zarr")]
)
@pytest.mark.parametrize("numbering", ["consecutive", "roots"])
def test_a_full_disk(tmp_path, monkeypatch, kind, target, numbering):
    """Wherever a write fails, the file is named, and the next call with room ends well."""
    monkeypatch.setattr(volume, "BLOCK", 1)
    arguments = {"source": written(kind, tmp_path), "target": tmp_path / target}
    arguments |= {"connectivity": 1, "numbering": numbering}
    if numbering == "roots":  # all that is left is to write labels
        with pytest.raises(KeyboardInterrupt):
            conncomp.label_file(**arguments, progress=stop_half_way)
    errors = []
    for size in (0, 10, 100, 500, 900, 1500, 2500, 4000, 8000, 16000, 10**9):
        with largest_file(size):
            error = error_of(arguments)
        if error is None:
            break
        errors.append(error)
        assert not (tmp_path / target).exists()
    assert len(errors) > 1
    assert all(f"{target}.partial" in error for error in errors), errors
    expected = conncomp.label(VOLUME, connectivity=1, numbering=numbering)
    np.testing.assert_array_equal(read_labels(tmp_path / target), expected)


def stop_half_way(done, total):
    if done == total // 2:
        raise KeyboardInterrupt


def error_of(arguments):
    """Label; return what an error of the system says, None where there is none."""
    try:
        conncomp.label_file(**arguments)
    except OSError as error:
        return str(error)
    return None


KILLED = """
import sys, time, conncomp
from conncomp.chunked.volumes import volume
from conncomp.chunked.volumes.formats import slices
volume.BLOCK, slices.SLAB = 1, 500
def slow(done, total):
    print(done, flush=True)
    time.sleep(0.01)
conncomp.label_file(sys.argv[1], sys.argv[2], connectivity=1, progress=slow)
"""


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["zarr 3", "ome 0.4", "hdf5, packed", "tiff, packed", "folder"])
def test_killed_at_random_moments(tmp_path, monkeypatch, kind):
    source, wanted = written(kind, tmp_path), tmp_path / "l.zarr"
    for steps, seconds in np.random.default_rng(7).random((4, 2)):
        with subprocess.Popen(
            [sys.executable, "-c", KILLED, source, wanted], stdout=subprocess.PIPE
        ) as process:
            for _ in range(int(12 * steps)):
                assert process.stdout.readline()
            time.sleep(0.02 * seconds)
            process.send_signal(signal.SIGKILL)
        assert sorted(os.listdir(tmp_path)) == sorted(["l.zarr.partial", source.name])
    monkeypatch.setattr(volume, "BLOCK", 1)
    monkeypatch.setattr(slices, "SLAB", 500)
    conncomp.label_file(source, wanted, connectivity=1)
    np.testing.assert_array_equal(read_labels(wanted), WANTED)


def of_version_2(compressor):
    return {"zarr_format": 2, "compressors": compressor}


PACKED = {
    "blosc 2": lambda: of_version_2(numcodecs.Blosc()),
    "lz4 2": lambda: of_version_2(numcodecs.LZ4()),
    "zstd 2": lambda: of_version_2(numcodecs.Zstd()),
    "blosc 3": lambda: {"compressors": zarr.codecs.BloscCodec()},
    "zstd 3": dict,
    "blosc in shards": lambda: {
        "compressors": zarr.codecs.BloscCodec(),
        "shards": tuple(2 * length for length in CHUNKS),
    },
}


@pytest.mark.parametrize("packing", PACKED)
@pytest.mark.parametrize("damage", ["cut", "bomb", "nothing"])
def test_chunks_that_lie_about_their_size(tmp_path, packing, damage):
    """Blosc would read beyond a chunk's end; others would make room for what a chunk says."""
    source = SOURCES["zarr 3"][1](tmp_path / "v.zarr", VOLUME, CHUNKS, **PACKED[packing]())
    (chunk, *_) = sorted(
        path for path in source.rglob("*") if path.name[0].isdigit() and path.is_file()
    )
    content = bytearray(chunk.read_bytes())
    if damage == "cut" and "shards" not in packing:
        content = content[:-20]
    elif damage == "cut":
        content[12:16] = (2**31 - 1).to_bytes(4, "little")
    elif damage == "bomb":
        if packing.startswith("zstd"):
            content = numcodecs.Zstd().encode(bytes(10**8))
        else:
            at = 0 if packing.startswith("lz4") else 4
            content[at : at + 4] = (2**31 - 1).to_bytes(4, "little")
    chunk.write_bytes(content)
    if damage == "nothing":
        conncomp.label_file(source, tmp_path / "l.npy", connectivity=1)
        np.testing.assert_array_equal(np.load(tmp_path / "l.npy"), WANTED)
        return
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ValueError, match=r"v\.zarr: the chunk at \(0, 0, 0\) cannot be read: "):
        conncomp.label_file(source, tmp_path / "l.npy")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + 50_000
    assert not (tmp_path / "l.npy").exists()


def test_a_shard_that_lies_about_its_chunks(tmp_path):
    source = SOURCES["shards"][1](tmp_path / "v.zarr", VOLUME, CHUNKS)
    (shard,) = (path for path in (source / "c").rglob("*") if path.is_file())
    content = shard.read_bytes()
    forged = (2**40).to_bytes(8, "little") * 16
    for other, words in {
        content[:100]: "and its index has 132",
        content[:-132] + forged + bytes(4): "with a chunk to byte",
    }.items():
        shard.write_bytes(other)
        with pytest.raises(ValueError, match=words):
            conncomp.label_file(source, tmp_path / f"{len(other)}.npy")


def test_chunks_that_are_none_or_huge(tmp_path):
    source = SOURCES["zarr, plain"][1](tmp_path / "v.zarr", VOLUME, CHUNKS)
    told = json.loads((source / "zarr.json").read_text())
    for chunks, words in [([0, 1, 1], "says that it has chunks"), ([2**40, 1, 1], "rechunk it")]:
        told["chunk_grid"]["configuration"]["chunk_shape"] = chunks
        (source / "zarr.json").write_text(json.dumps(told))
        with pytest.raises(ValueError, match=words):
            conncomp.label_file(source, tmp_path / "l.npy")
