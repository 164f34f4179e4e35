"""`plan_labels`: what it reckons of memory, time and files, and what it leaves behind."""

import os
import tempfile

import numpy as np
import pytest

import conncomp
from conncomp.chunked.volumes import job, volume
from conncomp.chunked.volumes.formats import opened_volume, slices
from conncomp.chunked.volumes.labelling import FIXED
from conncomp.chunked.volumes.sample import window_of
from measured_command import in_python
from volume_sources import SOURCES, write_hdf5, write_zarr

for module in ("zarr", "h5py", "tifffile"):
    pytest.importorskip(module)

VOLUME = np.random.default_rng(6).integers(0, 2, (40, 48, 56)).astype(np.uint8)


@pytest.mark.parametrize("kind", SOURCES)
def test_of_every_source(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(volume, "BLOCK", 1)
    monkeypatch.setattr(slices, "SLAB", 5 * 48 * 56)
    suffix, write = SOURCES[kind]
    source = write(tmp_path / f"v{suffix}", VOLUME, (5, 6, 7))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    plan = conncomp.plan_labels(source)
    with opened_volume(str(source)) as opened:
        block = volume.block_shape(opened)
    assert (plan.shape, plan.dtype, plan.block_shape) == (VOLUME.shape, "uint8", block)
    counts = [-(-n // b) for n, b in zip(VOLUME.shape, block, strict=True)]
    assert plan.blocks == np.prod(counts)
    assert plan.sampled == np.prod([2 if count >= 4 else 1 for count in counts])
    assert plan.seconds > 0
    assert os.listdir(tmp_path) == [source.name]


def test_of_labels_that_are_made(tmp_path, monkeypatch):
    """Sizes of files, and how many blocks are labelled to know; of noise all blocks are alike."""
    monkeypatch.setattr(volume, "BLOCK", 1)
    source = write_zarr(tmp_path / "v.zarr", VOLUME, (10, 12, 14))
    plan = conncomp.plan_labels(source, connectivity=1)
    assert (plan.blocks, plan.sampled) == (64, 8)
    kept = []

    class Watched(job.Job):
        def label(self, *asked):
            counts = super().label(*asked)
            kept.append(sum(path.stat().st_size for path in self._kept.folder.glob("reports/*")))
            return counts

    monkeypatch.setattr(conncomp.chunked.volumes.labelling, "Job", Watched)
    conncomp.label_file(source, tmp_path / "l.zarr", connectivity=1)
    chunks = (tmp_path / "l.zarr" / "c").rglob("*")
    labels = sum(path.stat().st_size for path in chunks if path.is_file())
    assert 0.9 < plan.labels / labels < 1.1
    assert 0.5 < plan.kept / kept[0] < 2


def test_a_window_is_a_part_in_the_middle(tmp_path, monkeypatch):
    monkeypatch.setattr(volume, "BLOCK", 1)
    source = write_hdf5(tmp_path / "v.h5", VOLUME, (5, 20, 7))
    with opened_volume(str(source)) as opened:
        window = window_of(opened)
        assert (window.begin, window.shape) == ((15, 0, 21), (10, 40, 14))
        place = (slice(0, 5), slice(0, 20), slice(7, 14))
        np.testing.assert_array_equal(window.read(place), VOLUME[15:20, :20, 28:35])


PLANNED = """
import sys
import numpy as np
import conncomp
held = np.ones(int(sys.argv[2]), np.uint8)
plan = conncomp.plan_labels(sys.argv[1], memory=sys.argv[3] or None)
print(plan.memory, plan.process, plan.threads)
"""


@pytest.mark.soak
@pytest.mark.parametrize("limit", ["", "400M"])
def test_memory_is_what_a_call_adds(tmp_path, limit):
    """Whatever the process holds already, and beyond the limit of a process of its own."""
    np.save(tmp_path / "v.npy", np.zeros((90, 90, 90), np.uint8))
    told = [
        in_python(PLANNED, tmp_path / "v.npy", held, limit, check=True).stdout.split()
        for held in ("0", "500000000")
    ]
    assert told[0] == told[1]
    memory, process, _ = map(int, told[0])
    assert memory < 10**8 < process < 1.6 * 10**8


def test_a_process_of_its_own_keeps_to_what_was_planned(tmp_path):
    """As its limit; with less, there is no room for a block."""
    source = write_zarr(tmp_path / "v.zarr", VOLUME, (40, 48, 56))
    process = conncomp.plan_labels(source).process
    program = "import sys, conncomp; conncomp.label_file(*sys.argv[1:3], memory=int(sys.argv[3]))"
    for limit, status in ((process, 0), (FIXED, 1)):
        done = in_python(program, source, tmp_path / f"l{status}.zarr", str(limit))
        assert done.returncode == status, done.stderr
        assert ("is too little" in done.stderr) == bool(status)


def test_memory_and_bad_arguments(tmp_path):
    np.save(tmp_path / "v.npy", VOLUME)
    plan = conncomp.plan_labels(tmp_path / "v.npy", memory="8G")
    assert plan.threads == 1  # as there is one block
    for arguments, error, words in [
        ({"memory": "1M"}, ValueError, "memory=1 MB is too little"),
        ({"memory": []}, TypeError, r"memory=\[\]"),
        ({"key": "a"}, ValueError, "key='a' chooses"),
        ({"connectivity": 4}, ValueError, "connectivity=4"),
    ]:
        with pytest.raises(error, match=words):
            conncomp.plan_labels(tmp_path / "v.npy", **arguments)
    with pytest.raises(TypeError, match="source=5 must be"):
        conncomp.plan_labels(5)
    with pytest.raises(FileNotFoundError):
        conncomp.plan_labels(tmp_path / "none.npy")
