"""``conncomp label --stats-only``, held against the same command with the volume in memory."""

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest
import tifffile

from cli.test_command import check_failure
from cli.test_label import rows_of
from conncomp.cli.label import stream
from measured_command import measured

VOLUME = (np.random.default_rng(3).random((19, 8, 9)) < 0.2).astype(np.uint8)
VOLUME *= np.random.default_rng(4).integers(1, 4, VOLUME.shape, np.uint8)


def table(path):
    rows = rows_of(path)
    return {name: np.array([float(row[name]) for row in rows]) for name in (rows or [{}])[0]}


@pytest.fixture(params=[1, 200, 1 << 23])
def _piece(request, monkeypatch):
    monkeypatch.setattr(stream, "LARGEST_SLAB", request.param)


@pytest.mark.usefixtures("_piece")
@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--connectivity", 1],
        ["--periodic", "0,2"],
        ["--threshold", 1, "--spacing", "2,1,0.5"],
        ["--background", 2, "--min-size", 3],
    ],
)
@pytest.mark.parametrize("name", ["v.npy", "v.tif", "v.raw"])
def test_measures_what_the_volume_in_memory_has(report, name, options):
    np.save("v.npy", VOLUME)
    tifffile.imwrite("v.tif", VOLUME, compression="zlib", photometric="minisblack")
    VOLUME.tofile("v.raw")
    raw = ["--raw", "19,8,9:uint8"] if name == "v.raw" else []
    found = report("label", name, "--stats-only", "--stats", "a.csv", *raw, *options)
    wanted = report("label", "v.npy", "--stats", "b.csv", *options)
    for key in ("components", "foreground", "sizes", "kept", "connectivity", "periodic"):
        assert found[key] == wanted[key]
    assert found["largest"][0]["size"] == wanted["largest"][0]["size"]
    assert found["input"] == {"path": name, "shape": [19, 8, 9], "dtype": "uint8"}
    a, b = table("a.csv"), table("b.csv")
    order = np.argsort(a["label"])
    shared = [column for column in a if column != "label"]
    assert set(b) - set(shared) == {
        "label",
        *(column for column in b if column.startswith(("moment", "wraps"))),
    }
    for column in shared:
        np.testing.assert_array_equal(a[column][order], b[column], column)


def test_prints_a_table(run):
    np.save("v.npy", VOLUME)
    result = run("label", "v.npy", "--stats-only")
    assert result.exit_code == 0
    assert "19 x 8 x 9, uint8" in result.stdout
    assert "memory" in result.stdout


def test_an_empty_volume(report):
    np.save("v.npy", VOLUME[:0])
    assert report("label", "v.npy", "--stats-only", "--stats", "a.csv")["components"] == 0
    np.save("v.npy", VOLUME * 0)
    assert report("label", "v.npy", "--stats-only", "--stats", "a.csv")["components"] == 0
    assert Path("a.csv").read_text().startswith("label,num_pixels,bbox-0,bbox-1,bbox-2,bbox-3")
    assert Path("a.csv").read_text().count("\n") == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--stats-only", "-o", "l.npy"], "--output needs the whole image"),
        (["--stats-only", "--threshold", "otsu"], "--threshold otsu needs the whole image"),
        (["--raw", "3:u1"], "--raw is for --stats-only"),
        (["--memory", "3G"], "--memory is for --stats-only"),
        (["--stats-only", "--raw", "x"], "'x' is no shape and dtype"),
        (["--stats-only", "--raw", "3:u1"], "is of 1496 bytes, but shape (3,)"),
        (["--stats-only", "--memory", "lots"], "'lots' is no number of bytes"),
        (["--stats-only", "--memory", "1M"], "--memory 1 MB: the program and one slice of 72"),
        (["--stats-only", "--stats", "a.csv", "--spacing", "1,2"], "--spacing has 2 lengths"),
        (["--stats-only", "--spacing", "1,2,3"], "--spacing is for --stats"),
        (["--stats-only", "--periodic", "7"], "there is no axis 7"),
        (["--stats-only", "--connectivity", 4], "--connectivity 4 must be from 1"),
    ],
)
def test_options_that_do_not_go_together(run, options, words):
    np.save("v.npy", VOLUME)
    assert words in check_failure(run("label", "v.npy", *options))
    assert sorted(os.listdir()) == ["v.npy"]


def test_a_damaged_volume_leaves_no_table(run):
    np.save("v.npy", VOLUME)
    os.truncate("v.npy", 900)
    check_failure(run("label", "v.npy", "--stats-only", "--stats", "a.csv"))
    assert os.listdir() == ["v.npy"]


@pytest.mark.soak
@pytest.mark.skipif(sys.platform != "linux", reason="of other systems, kilobytes mean others")
def test_ten_times_the_memory_runs_in_that_memory(tmp_path):
    limit, shape = 160_000_000, (6400, 500, 500)
    path = tmp_path / "large.raw"
    with open(path, "wb") as file:  # with holes: it takes no place on the disk
        for z in range(0, 6400, 400):
            file.seek(z * 250_000 + 5_000)
            file.write(bytes([1] * 500))
        file.truncate(1_600_000_000)
    raw = "--raw", f"{','.join(map(str, shape))}:uint8"
    status, out, error, peak = measured(path, "--stats-only", *raw, "--memory", str(limit))
    assert (status, error) == (0, "")
    found = json.loads(out)
    assert (found["components"], found["foreground"]) == (16, 8000)
    assert found["memory"]["peak"] <= peak * 1.01
    assert peak <= limit


@pytest.mark.skipif(sys.platform != "linux", reason="of other systems, kilobytes mean others")
def test_components_that_outgrow_the_memory_are_an_error(tmp_path):
    # Every element of a slice is a component, and goes on until the end.
    path = tmp_path / "threads.npy"
    np.save(path, np.broadcast_to(np.arange(1, 1 << 20, dtype=np.int32), (6, (1 << 20) - 1)))
    status, _, error, peak = measured(path, "--stats-only", "--memory", "300M")
    assert status == 2
    assert "--memory 300 MB is too little for a slab" in error
    assert error.count("\n") == 1
    assert peak <= 300_000_000
