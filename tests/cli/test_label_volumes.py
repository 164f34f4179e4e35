"""``conncomp label`` of volumes in Zarr."""

import os

import numpy as np
import pytest

import conncomp
from cli.test_command import check_failure
from conncomp.chunked.volumes import volume
from volume_sources import write_hdf5, write_image

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
    assert (found["components"], found["written"]["labels"]) == (count, "l.zarr")
    assert found["input"] == {"path": source, "shape": [9, 8, 7], "dtype": "uint8"}
    np.testing.assert_array_equal(zarr.open_array("l.zarr", mode="r")[...], labels)


@pytest.mark.parametrize("chunk", [3, 9])
@pytest.mark.parametrize(
    "words", [(), ("--top", 4), ("--min-size", 3), ("--min-size", 9, "--top", 5)]
)
def test_json_tells_what_it_tells_of_images(report, monkeypatch, chunk, words):
    """All but times and memory, of volumes in many blocks and in one."""
    monkeypatch.setattr(volume, "BLOCK", 1)
    source = zarr.create_array(store="c.zarr", shape=VOLUME.shape, chunks=(chunk,) * 3, dtype="u1")
    source[...] = VOLUME
    given = ("--threshold", 1, "--connectivity", 1, *words)
    found, want = (
        report("label", "c.zarr", "-o", "l.zarr", *given),
        report("label", "v.npy", *given),
    )
    of_volumes = {"memory", "batch_axes", "scheduler"}
    assert set(found) == {*want, *of_volumes}
    apart = {"input", "seconds", "elements_per_second", "written", *of_volumes}
    assert {k: found[k] for k in found if k not in apart} == {
        k: want[k] for k in want if k not in apart
    }


@pytest.mark.parametrize("chunk", [4, 9])
def test_largest_of_several_images(report, monkeypatch, chunk):
    monkeypatch.setattr(volume, "BLOCK", 1)
    movie = np.stack([VOLUME == 1, VOLUME == 2, VOLUME > 0]).astype(np.uint8)
    write_image("m.zarr", movie, "tzyx", chunks=(2, chunk, chunk, chunk))
    found = report("label", "m.zarr", "-o", "l.zarr", "--connectivity", 1, "--top", 6)
    sizes = conncomp.component_sizes(
        conncomp.label(movie, connectivity=1, batch_axes=1), batch_axes=1
    )
    want = sorted((-size, *place) for place, size in np.ndenumerate(sizes))[:6]
    assert [(-one["size"], *one["item"], one["label"]) for one in found["largest"]] == want
    assert found["foreground"] == sizes.sum()
    shown = sum(part["elements"] for part in found["sizes"])
    assert shown == sizes.sum()


def test_to_npy_as_a_table(run):
    result = run("label", "v.zarr", "-o", "l.npy", "--memory", "8G")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "9 x 8 x 7, uint8" in result.stdout
    np.testing.assert_array_equal(np.load("l.npy"), conncomp.label(VOLUME))


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["v.zarr"], "-o must say where"),
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
    assert line in check_failure(run("label", *words))
    assert sorted(os.listdir()) == ["empty", "v.npy", "v.zarr"]


@pytest.mark.parametrize("source", ["v.zarr", "v.npy"])
def test_a_plan(run, report, source):
    found = report("plan", source, "--connectivity", 1, "--memory", "8G", "--threshold", 1)
    assert found["input"] == {"path": source, "shape": [9, 8, 7], "dtype": "uint8"}
    assert (found["blocks"], found["block_shape"], found["limit"]) == (1, [9, 8, 7], 8 * 10**9)
    assert found["memory"] > 50_000_000
    result = run("plan", source)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "1 of 9 x 8 x 7, 1 at once" in result.stdout
    result = run("plan", source, "--threshold", "otsu")
    assert "--threshold otsu needs the whole image" in result.stderr
    result = run("plan", source, "--connectivity", 5)
    assert "--connectivity 5 must be" in result.stderr


def test_filters_and_thresholds(report, run):
    found = report("label", "v.zarr", "-o", "l.npy", "--threshold", 1, "--min-size", 3, "--top", 2)
    labels, count = conncomp.label(VOLUME > 1, return_num=True)
    kept = conncomp.largest_components(conncomp.remove_small_components(labels, 3), 2)
    np.testing.assert_array_equal(np.load("l.npy"), kept)
    numbers = {"components": len(np.unique(kept)) - 1, "elements": np.count_nonzero(kept)}
    assert (found["components"], found["kept"]) == (count, numbers)
    shown = run("label", "v.zarr", "-o", "m.npy", "--top", 1).stdout
    assert "kept" in shown


def test_an_image_of_ome_zarr(report, run):
    movie = np.stack([[VOLUME, VOLUME[::-1]]] * 2)
    write_image("movie.zarr", movie, "tczyx", chunks=(1, 1, 4, 4, 4))
    words = ("label", "movie.zarr", "-o", "movie.zarr/labels/parts", "--channel", 1)
    found = report(*words, "--periodic", "4", "--connectivity", 1)
    labels = conncomp.label(
        movie[:, 1:], batch_axes=2, connectivity=1, periodic=(False, False, True)
    )
    np.testing.assert_array_equal(zarr.open("movie.zarr/labels/parts/0", mode="r")[...], labels)
    assert (found["batch_axes"], found["periodic"]) == (2, [False] * 4 + [True])
    assert found["components"] == labels.max(axis=(1, 2, 3, 4)).sum()
    for words, line in [
        (["-o", "movie.zarr/labels/parts"], "is a directory"),
        (["-o", "no/labels/parts"], "does not end in"),
        (["-o", "l.zarr", "--periodic", "0"], "axis 0 is one of time or channels"),
        (["-o", "movie.zarr/s0/l.zarr"], "lies in what is labelled"),
    ]:
        assert line in check_failure(run("label", "movie.zarr", *words))


def test_hdf5(report):
    write_hdf5("v.h5", VOLUME, chunks=(3, 4, 5))
    found = report("label", "v.h5", "-o", "l.npy", "--key", "image")
    np.testing.assert_array_equal(np.load("l.npy"), conncomp.label(VOLUME))
    assert found["components"] == np.load("l.npy").max()


def _interrupt(*arguments, **options):
    raise KeyboardInterrupt


def test_an_interrupt_says_what_is_kept(run, report, monkeypatch):
    words = ["label", "v.zarr", "-o", "l.zarr", "--connectivity", 1]
    with monkeypatch.context() as changes:
        changes.setattr("conncomp.chunked.volumes.labelling.Job.label", _interrupt)
        result = run(*words)
    line = "conncomp: interrupted; what is done is kept in l.zarr.partial: the same command goes on"
    assert (result.exit_code, result.stderr, result.stdout) == (130, f"{line}\n", "")
    assert os.path.isdir("l.zarr.partial")
    assert report(*words)["components"] == conncomp.label(VOLUME, connectivity=1).max()


@pytest.mark.parametrize(
    ("where", "words", "kept"),
    [
        ("conncomp.chunked.volumes.labelling.label_volume", "v.zarr -o l.npy", "nothing"),
        ("conncomp.chunked.streams.batches.measure_slabs", "v.npy --stats-only", "nothing"),
        ("conncomp.label", "v.npy -o l.npy", "nothing"),
        (
            "conncomp.component_statistics",
            "v.npy -o l.npy --stats s.csv",
            "l.npy, complete, and nothing else",
        ),
    ],
)
def test_an_interrupt_says_that_nothing_is_kept(run, monkeypatch, where, words, kept):
    monkeypatch.setattr(where, _interrupt)
    result = run("label", *words.split())
    line = f"conncomp: interrupted; {kept} is kept: the same command begins anew\n"
    assert (result.exit_code, result.stderr) == (130, line)
    made = ["l.npy"] * ("complete" in kept)
    assert sorted(os.listdir()) == [*made, "v.npy", "v.zarr"]
