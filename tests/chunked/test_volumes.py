"""`label_file`, held against `label` of the whole volume; changes and bad volumes."""

import os

import numpy as np
import pytest

import conncomp
from conncomp.chunked.volumes import volume
from conncomp.chunked.volumes.formats import slices, zarr_arrays
from volume_sources import read_labels, write_zarr

zarr = pytest.importorskip("zarr")

RNG = np.random.default_rng(8)
VOLUME = RNG.integers(0, 3, (13, 17, 11)).astype(np.uint8)


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    """Let each chunk be a block."""
    monkeypatch.setattr(volume, "BLOCK", 1)


CASES = {
    "zarr 3": ({"zarr_format": 3}, {}),
    "zarr 2, roots": ({"zarr_format": 2}, {"numbering": "roots"}),
    "shards": ({"zarr_format": 3, "shards": (8, 10, 12)}, {"connectivity": 1}),
    "periodic": ({}, {"periodic": (True, False, True), "dtype": "int64"}),
    "tolerance": ({}, {"tolerance": 1, "background": 2}),
    "structure": ({}, {"structure": RNG.random((3, 3, 3)) < 0}),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("target", ["labels.zarr", "labels.npy"])
def test_zarr(tmp_path, case, target):
    stored, options = CASES[case]
    source = write_zarr(tmp_path / "v.zarr", VOLUME, (4, 5, 6), **stored)
    told = []
    count = conncomp.label_file(
        source, tmp_path / target, progress=lambda *now: told.append(now), **options
    )
    wanted, number = conncomp.label(VOLUME, return_num=True, **options)
    found = read_labels(tmp_path / target)
    assert count == number
    np.testing.assert_array_equal(found, wanted, strict=True)
    assert told[-1][0] == told[-1][1]
    assert sorted(os.listdir(tmp_path)) == sorted([target, "v.zarr"])
    if target.endswith(".zarr"):
        array = zarr.open_array(str(tmp_path / target), mode="r")
        assert array.chunks == (4, 5, 6)
        assert array.shards == stored.get("shards")
        assert array.metadata.zarr_format == stored.get("zarr_format", 3)


@pytest.mark.parametrize("target", ["labels.zarr", "labels.npy"])
@pytest.mark.parametrize("elements", [1, 400, 1 << 24])
def test_npy(tmp_path, monkeypatch, target, elements):
    monkeypatch.setattr(slices, "SLAB", elements)
    np.save(tmp_path / "v.npy", VOLUME)
    count = conncomp.label_file(tmp_path / "v.npy", tmp_path / target, memory="8G")
    wanted, number = conncomp.label(VOLUME, return_num=True)
    assert count == number
    np.testing.assert_array_equal(read_labels(tmp_path / target), wanted, strict=True)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(12))
def test_random_volumes(tmp_path, seed):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 12, rng.integers(1, 5)))
    array = rng.integers(0, 3, shape).astype(rng.choice(["u1", "i4", "f4"]))
    chunks = tuple(int(rng.integers(1, length + 1)) for length in shape)
    source = write_zarr(tmp_path / "v.zarr", array, chunks)
    options = {
        "connectivity": int(rng.integers(1, len(shape) + 1)),
        "periodic": tuple(bool(x) for x in rng.random(len(shape)) < 0.4),
        "numbering": ["roots", "consecutive"][seed % 2],
    }
    conncomp.label_file(source, tmp_path / "l.npy", **options)
    np.testing.assert_array_equal(np.load(tmp_path / "l.npy"), conncomp.label(array, **options))


def test_goes_on_where_it_ended(tmp_path, monkeypatch):
    """Chunks that are done are neither labelled nor written again; any call may be the last."""
    source = write_zarr(tmp_path / "v.zarr", VOLUME, (4, 5, 6))
    wanted, number = conncomp.label(VOLUME, return_num=True)
    threads = conncomp.get_num_threads()
    conncomp.set_num_threads(1)
    read = zarr_arrays.ZarrVolume.read
    reads = []

    def failing(self, place):
        if len(reads) == most:
            raise KeyboardInterrupt
        reads.append(place)
        return read(self, place)

    monkeypatch.setattr(zarr_arrays.ZarrVolume, "read", failing)
    chunks, total = 4 * 4 * 2, 0
    for most in (0, 9, 39, 8, 1000):
        reads.clear()
        if most < 1000:
            with pytest.raises(KeyboardInterrupt):
                conncomp.label_file(source, tmp_path / "l.zarr")
            assert sorted(os.listdir(tmp_path)) == ["l.zarr.partial", "v.zarr"]
        else:
            assert conncomp.label_file(source, tmp_path / "l.zarr") == number
        total += len(reads)
    conncomp.set_num_threads(threads)
    assert total == 2 * chunks
    np.testing.assert_array_equal(read_labels(tmp_path / "l.zarr"), wanted)


def test_other_input_or_arguments_are_noticed(tmp_path, monkeypatch):
    source = write_zarr(tmp_path / "v.zarr", VOLUME, (4, 5, 6))
    with monkeypatch.context() as patch:
        patch.setattr(zarr_arrays.ZarrVolume, "read", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            conncomp.label_file(source, tmp_path / "l.zarr")
    with pytest.raises(ValueError, match="as arguments differ; remove it"):
        conncomp.label_file(source, tmp_path / "l.zarr", connectivity=1)
    zarr.open_array(str(source), mode="r+")[0, 0, 0] = 2
    with pytest.raises(ValueError, match="as source differ; remove it"):
        conncomp.label_file(source, tmp_path / "l.zarr")


def test_bad_volumes(tmp_path):
    source, target = write_zarr(tmp_path / "v.zarr", VOLUME, (4, 5, 6)), tmp_path / "l.zarr"
    (tmp_path / "v.zarr/c/1/1/1").write_bytes(b"nonsense")
    with pytest.raises(ValueError, match=r"v.zarr: the chunk at \(4, 5, 6\) cannot be read"):
        conncomp.label_file(source, target)
    assert not target.exists()
    (tmp_path / "v.zarr/zarr.json").write_text("{")
    with pytest.raises(ValueError, match=r"v\.zarr: "):
        conncomp.label_file(source, tmp_path / "m.zarr")
    zarr.create_group(store=str(tmp_path / "g.zarr")).create_array("a", shape=(3,), dtype="u1")
    with pytest.raises(ValueError, match=r"is a group of Zarr, not an array .* by key= \('a'\)"):
        conncomp.label_file(tmp_path / "g.zarr", target)
    zarr.create_array(store=str(tmp_path / "c.zarr"), shape=(3,), dtype="c8")
    with pytest.raises(ValueError, match="not real numbers"):
        conncomp.label_file(tmp_path / "c.zarr", target)
    zarr.create_array(store=str(tmp_path / "h.zarr"), shape=(2**50,), chunks=(2**50,), dtype="u1")
    with pytest.raises(ValueError, match=r"and there are .* rechunk it"):
        conncomp.label_file(tmp_path / "h.zarr", target)
    (tmp_path / "e").mkdir()
    with pytest.raises((ValueError, FileNotFoundError), match="e"):
        conncomp.label_file(tmp_path / "e", target)


def test_bad_arguments(tmp_path):
    np.save(tmp_path / "v.npy", np.arange(1, 1000))
    source, target = tmp_path / "v.npy", tmp_path / "l.npy"
    for options, error, words in [
        ({"memory": "1M"}, ValueError, "memory=1 MB is too little: the program and a block"),
        ({"memory": "much"}, ValueError, "memory='much' is no number of bytes"),
        ({"memory": -1}, TypeError, "memory=-1"),
        ({"dtype": "f4"}, TypeError, "dtype is float32; labels are integers"),
        ({"dtype": "u1"}, ValueError, "dtype is uint8, too small"),
        ({"connectivity": 9}, ValueError, "connectivity=9"),
    ]:
        with pytest.raises(error, match=words):
            conncomp.label_file(source, target, **options)
    target.touch()
    with pytest.raises(FileExistsError, match="exists; remove it"):
        conncomp.label_file(source, target)
    with pytest.raises(FileNotFoundError):
        conncomp.label_file(tmp_path / "none.npy", tmp_path / "m.npy")
