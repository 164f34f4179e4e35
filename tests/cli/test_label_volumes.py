"""``conncomp label`` of volumes in Zarr."""

import os

import numpy as np
import pytest

import conncomp

zarr = pytest.importorskip("zarr")

VOLUME = np.random.default_rng(3).integers(0, 3, (9, 8, 7)).astype(np.uint8)


@pytest.fixture(autouse=True)
def _volume(run):
    zarr.create_array(store="v.zarr", shape=VOLUME.shape, chunks=(4, 4, 4), dtype="u1")[...] = (
        VOLUME
    )
    np.save("v.npy", VOLUME)


@pytest.mark.parametrize("source", ["v.zarr", "v.npy"])
def test_labels_of_zarr(report, source):
    found = report("label", source, "-o", "l.zarr", "--connectivity", 1, "--periodic", "0")
    labels, count = conncomp.label(
        VOLUME, return_num=True, connectivity=1, periodic=(True, False, False)
    )
    assert (found["components"], found["written"]) == (count, {"labels": "l.zarr"})
    assert found["input"] == {"path": source, "shape": [9, 8, 7], "dtype": "uint8"}
    np.testing.assert_array_equal(zarr.open_array("l.zarr", mode="r")[...], labels)


def test_to_npy_as_a_table(run):
    result = run("label", "v.zarr", "-o", "l.npy", "--memory", "8G")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "9 x 8 x 7, uint8" in result.stdout
    np.testing.assert_array_equal(np.load("l.npy"), conncomp.label(VOLUME))


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["v.zarr"], "-o must say where"),
        (
            ["v.zarr", "-o", "l.zarr", "--picture", "p.png"],
            "--picture is not for volumes in chunks",
        ),
        (["v.zarr", "--stats-only"], "--stats-only is not for volumes in chunks"),
        (["v.npy", "-o", "l.zarr", "--threshold", "otsu"], "--threshold otsu needs"),
        (["v.zarr", "-o", "l.zarr", "--channel", 1], "--channel 1 has no meaning"),
        (["v.npy", "-o", "l.zarr", "--channel", 1], "--channel 1 chooses one of OME-Zarr"),
        (["v.npy", "-o", "l.zarr", "--key", "a"], "--key 'a' chooses an array"),
        (["v.zarr", "-o", "w.zarr/labels/a.tif", "--key", "b"], "--key 'b'"),
        (["v.zarr", "-o", "l.zarr", "--memory", "1M"], "is too little"),
        (["v.zarr", "-o", "l.zarr", "--connectivity", 5], "--connectivity 5 must be"),
        (["v.zarr", "-o", "l.tif"], "labels of volumes in chunks"),
        (["v.zarr", "-o", "v.zarr"], "'v.zarr'"),
        (["v.npy", "-o", "l.npy", "--memory", "1G"], "--memory is for --stats-only, or labels"),
        (["none.zarr", "-o", "l.zarr"], "does not exist"),
        (["empty", "-o", "l.zarr"], "empty"),
    ],
)
def test_options_that_do_not_go_together(run, words, line):
    os.mkdir("empty")
    result = run("label", *words)
    assert result.exit_code == 2
    assert line in result.stderr
    assert result.stderr.count("\n") == 1
    assert sorted(os.listdir()) == ["empty", "v.npy", "v.zarr"]
