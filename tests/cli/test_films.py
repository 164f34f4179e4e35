"""Films, volumes and single channels from all formats: which axes are joined, and who says so."""

import json
import re
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
import pytest
import tifffile

import conncomp
from cli.test_command import check_failure
from cli.test_label import rows_of
from volume_sources import NAMED, write_image

RNG = np.random.default_rng(59)
FILM = (RNG.random((5, 16, 18)) < 0.35).astype(np.uint8)
APART = conncomp.label(FILM, batch_axes=1)
JOINED = conncomp.label(FILM)

IN_BLOCKS = [kind for kind in NAMED if kind not in ("nifti", "nrrd", "gif")]


@pytest.fixture(params=list(NAMED))
def kind(request):
    return request.param


def written(kind, image=FILM, axes="tyx"):
    name, write = NAMED[kind]
    write(name, image, axes)
    return name


def labels_in(path):
    if not path.endswith(".zarr"):
        return conncomp.read_image(path)
    with conncomp.open_volume(path) as opened:
        return opened[...]


def test_films_are_labelled_frame_by_frame(kind, report, run):
    name = written(kind)
    found = report("label", name, "-o", "o.npy")
    np.testing.assert_array_equal(conncomp.read_image("o.npy"), APART)
    assert (found["axes"], found["separate"], found["batch_axes"]) == ("TYX", [0], 1)
    assert found["components"] == sum(int(frame.max()) for frame in APART)
    assert found["connectivity"] == 2
    shown = run("label", name, "-o", "p.npy").stdout
    assert re.search(r"axes +TYX; each of the 5 images along T alone", shown)


def test_films_are_joined_when_asked_to(kind, report, run):
    name = written(kind)
    found = report("label", name, "-o", "o.npy", "--join-time")
    np.testing.assert_array_equal(conncomp.read_image("o.npy"), JOINED)
    assert (found["axes"], found["separate"], found["components"]) == ("TYX", [], JOINED.max())
    shown = run("label", name, "-o", "p.npy", "--join-time").stdout
    assert re.search(r"axes +TYX; one image", shown)


def test_volumes_have_no_time_to_join(kind, report, run):
    if kind == "gif":
        pytest.skip("it holds films only")
    name = written(kind, axes="zyx")
    found = report("label", name, "-o", "o.npy")
    np.testing.assert_array_equal(conncomp.read_image("o.npy"), JOINED)
    assert found["separate"] == []
    (Path("p") if name.endswith("zarr") else Path("o.npy")).unlink(missing_ok=True)
    for words in (["label", name, "-o", "p.npy"], ["view", name], ["measure", name, "-o", "c.csv"]):
        result = run(*words, "--join-time")
        assert result.exit_code in (1, 2)
        assert "--join-time" in result.stderr or "join_time" in result.stderr
        assert "none of time" in result.stderr or "does not tell its axes" in result.stderr
    assert not Path("p.npy").exists()


def test_tables_have_a_column_of_frames(kind, report):
    name = written(kind)
    found = report("measure", name, "--threshold", 0, "-o", "c.parquet")
    table = parquet.read_table("c.parquet").to_pandas()
    sizes = conncomp.component_statistics(APART, background=0, batch_axes=1)
    np.testing.assert_array_equal(table["frame"], sizes.batch[:, 0])
    np.testing.assert_array_equal(table["num_pixels"], sizes.sizes)
    assert (found["files"][0]["axes"], found["files"][0]["separate"]) == ("TYX", [0])
    report("measure", name, "--threshold", 0, "-o", "c.parquet", "--join-time")
    table = parquet.read_table("c.parquet").to_pandas()
    assert "frame" not in table
    assert len(table) == JOINED.max()


@pytest.mark.parametrize("kind", IN_BLOCKS)
def test_label_file(kind):
    name = written(kind)
    conncomp.label_file(name, "o.npy")
    np.testing.assert_array_equal(np.load("o.npy"), APART)
    conncomp.label_file(name, "p.npy", batch_axes=0)
    np.testing.assert_array_equal(np.load("p.npy"), JOINED)
    with conncomp.open_volume(name) as opened:
        assert (opened.axes, opened.batch_axes) == ("TYX", 1)
    assert conncomp.plan_labels(name, connectivity=2).blocks >= 1
    with pytest.raises(ValueError, match="connectivity"):
        conncomp.plan_labels(name, connectivity=3)


@pytest.mark.parametrize("target", ["o.tif", "o.zarr"])
def test_labels_keep_their_axes(kind, target, report):
    """So that they are measured as they were labelled."""
    name = written(kind)
    if target == "o.tif" and name.endswith((".zarr", ".h5")):
        pytest.skip("labels of volumes in chunks are not written as TIFF")
    if target == "o.zarr" and kind in ("nifti", "nrrd", "gif"):
        pytest.skip("it is not labelled block by block")
    report("label", name, "-o", target)
    np.testing.assert_array_equal(labels_in(target), APART)
    found = report("measure", target, "-o", "c.parquet")
    table = parquet.read_table("c.parquet").to_pandas()
    assert len(table) == sum(int(frame.max()) for frame in APART)
    assert (set(table["frame"]), found["files"][0]["axes"]) == (set(range(5)), "TYX")
    page = report("view", target)
    assert (page["axes"], page["separate"]) == ("TYX", [0])


def about_page(path):
    text = Path(path).read_text()
    return json.loads(re.search(r'id="about">(.*?)</script>', text)[1])


def test_pages_tell_components_of_frames_apart(report):
    tifffile.imwrite("a.tif", APART, metadata={"axes": "TYX"}, photometric="minisblack")
    report("view", "a.tif")
    assert about_page("a.html")["components"] == sum(int(frame.max()) for frame in APART)
    report("view", "a.tif", "--join-time")
    assert about_page("a.html")["components"] == APART.max()


@pytest.mark.parametrize("order", ["ZTYX", "TZYX"])
@pytest.mark.parametrize("command", ["label", "measure", "view"])
def test_time_behind_depth(report, run, order, command):
    """In memory the order is that of the file; block by block it is refused."""
    film = (RNG.random((3, 4, 9, 10)) < 0.2).astype(np.uint8)  # T, Z, Y, X
    wanted = conncomp.label(film, batch_axes=1)
    moved = (lambda array: array.swapaxes(0, 1)) if order == "ZTYX" else np.asarray
    if command == "view":
        film = wanted.astype(np.uint16)
    tifffile.imwrite("a.ome.tif", moved(film), metadata={"axes": order})
    if command == "label":
        found = report(
            "label", "a.ome.tif", "-o", "o.tif", "--stats", "s.csv", "--picture", "p.png"
        )
        np.testing.assert_array_equal(conncomp.read_image("o.tif"), moved(wanted))
        assert (found["axes"], found["separate"]) == (order, [order.index("T")])
        rows = rows_of("s.csv")
        assert [int(row["frame"]) for row in rows] == sorted(int(row["frame"]) for row in rows)
        assert len(rows) == sum(int(volume.max()) for volume in wanted)
        if order == "ZTYX":
            assert "lies behind" in run("label", "a.ome.tif", "-o", "o.zarr").stderr
            with pytest.raises(ValueError, match=r"a\.ome\.tif: has axes ZTYX"):
                conncomp.label_file("a.ome.tif", "o.npy")
    elif command == "measure":
        names = "--labels", "o.tif", "--picture", "p.png"
        report("measure", "a.ome.tif", "--threshold", 0, "-o", "c.parquet", *names)
        np.testing.assert_array_equal(conncomp.read_image("o.tif"), moved(wanted))
        assert len(set(parquet.read_table("c.parquet")["frame"].to_pylist())) == 3
    else:
        report("view", "a.ome.tif", "--crop", "0:1,:,:,:", "-o", "v.html")
        assert about_page("v.html")["components"] > 0


def test_local_thresholds_look_at_one_frame(report):
    film = RNG.integers(0, 255, (3, 20, 22)).astype(np.uint8)
    tifffile.imwrite("a.tif", film, metadata={"axes": "TYX"}, photometric="minisblack")
    report("label", "a.tif", "-o", "o.npy", "--threshold", "local:5")
    for k, frame in enumerate(film):
        conncomp.write_image("b.npy", frame)
        report("label", "b.npy", "-o", "p.npy", "--threshold", "local:5")
        np.testing.assert_array_equal(np.load("o.npy")[k], np.load("p.npy"))


@pytest.mark.parametrize("options", [[], ["--top", 2], ["--min-size", 4]])
def test_statistics_of_frames(report, options):
    written("imagej")
    words = "--periodic", "2", "--stats", "s.csv", "-o", "o.npy", "--connectivity", 1
    found = report("label", "a.tif", *words, *options)
    labels = np.load("o.npy")
    stats = conncomp.component_statistics(labels, background=0, batch_axes=1)
    rows = rows_of("s.csv")
    assert [int(row["frame"]) for row in rows] == stats.batch[:, 0].tolist()
    assert [int(row["num_pixels"]) for row in rows] == stats.sizes.tolist()
    assert (found["periodic"], found["kept"]["components"]) == ([False, False, True], len(rows))
    for row in rows:
        frame = FILM[int(row["frame"])]
        wrapping = conncomp.component_wrapping(frame, connectivity=1, periodic=(False, True))
        assert (row["wraps-1"] == "1") == wrapping.axes[int(row["label"]) - 1, 1]
        part = np.where(labels[int(row["frame"])] == int(row["label"]), 1, 0)
        assert (row["spans-0"] == "1") == conncomp.component_spans(part, background=0)[1, 0]
    largest = found["largest"][0]
    assert conncomp.component_sizes(APART[largest["item"][0]]).max() >= 1
    assert len(found["largest"]) == (2 if "--top" in options else 1)


def test_options_that_do_not_fit_films(run):
    written("imagej")
    for words, complaint in (
        ("label a.tif --periodic 0", "axis 0 is one of time or channels"),
        ("label a.tif --stats s.csv --spacing 1,1,1", "the image has 2 axes"),
        ("label a.tif --stats-only", "--stats-only measures one volume"),
        ("measure a.tif --threshold 0 -o c.csv --planes --join-time", "exclude each other"),
    ):
        assert complaint in check_failure(run(*words.split()))
    assert run("label", "a.tif", "--stats-only", "--join-time").exit_code == 0


# Channels.

STACK = conncomp.label((RNG.random((3, 9, 11)) < 0.2).astype(np.uint8))


@pytest.mark.parametrize("axes", ["cyx", "czyx", "tcyx", "tczyx"])
@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_own_labels_of_one_channel(report, axes, version):
    """Labels of one channel have its axis, which is no colour."""
    shape = [{"t": 2, "c": 3, "z": 4}.get(axis, 20) for axis in axes]
    image = (RNG.random(shape) < 0.2).astype(np.uint8)
    write_image("i.zarr", image, axes, version)
    report("label", "i.zarr", "--channel", 1, "-o", "i.zarr/labels/cells")
    chosen = image.take([1], axes.index("c"))
    batch = axes.index("c") + 1
    wanted = conncomp.component_statistics(
        conncomp.label(chosen, batch_axes=batch), batch_axes=batch
    )
    labels = "i.zarr/labels/cells"
    tables = []
    for more in ([], ["--memory", "8G"]):
        report("measure", labels, "-o", "c.parquet", *more)
        tables.append(parquet.read_table("c.parquet").to_pandas())
        np.testing.assert_array_equal(tables[-1]["num_pixels"], wanted.sizes)
    assert list(tables[0].columns) == list(tables[1].columns)
    assert ("frame" in tables[0]) == ("t" in axes)
    assert not any(name.startswith("batch") for name in tables[0])
    if len(axes) < 5:
        assert report("view", labels, "-o", "v.html")["axes"] == axes.upper().replace("C", "")
    found = report("label", labels, "-o", "o.npy")
    assert found["axes"] == axes.upper()


@pytest.mark.parametrize("axes", ["CYX", "CZYX", "TCYX"])
def test_single_channels_of_other_formats(report, axes):
    labels = STACK[: 1 if axes == "CYX" else 3].astype(np.uint16)
    stored = labels if axes == "CYX" else labels[None] if axes == "CZYX" else labels[:, None]
    tifffile.imwrite("a.tif", stored, metadata={"axes": axes}, photometric="minisblack")
    found = report("label", "a.tif", "-o", "o.npy")
    assert found["axes"] == axes.replace("C", "")
    assert np.load("o.npy").ndim == len(axes) - 1
    report("measure", "a.tif", "-o", "c.parquet")
    assert "intensity_mean-0" not in parquet.read_table("c.parquet").column_names
    report("view", "a.tif")
    conncomp.label_file("a.tif", "p.npy")
    np.testing.assert_array_equal(np.load("p.npy"), np.load("o.npy"))


def test_several_channels_are_still_asked_for(run):
    write_image("i.zarr", np.ones((2, 8, 9), np.uint8), "cyx")
    for words in (["measure", "i.zarr", "-o", "c.csv"], ["view", "i.zarr"]):
        result = run(*words)
        assert result.exit_code in (1, 2)
        assert "several channels" in result.stderr


@pytest.mark.parametrize("version", ["0.4", "0.5"])
@pytest.mark.parametrize("axes", ["zyx", "czyx", "tyx"])
@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("more", [[], ["--memory", "8G"]])
def test_arrays_of_a_group_keep_its_scale(report, version, axes, level, more):
    labels = STACK[None] if axes == "czyx" else STACK
    write_image("i.zarr", labels, axes, version)
    step = 0.5 * 2**level
    ndim = 2 if axes == "tyx" else 3
    for place in (["i.zarr", "--key", f"s{level}"], [f"i.zarr/s{level}"]):
        found = report("measure", *place, "-o", "c.parquet", *more)
        assert (found["unit"], found["files"][0]["spacing"]) == ("µm", [step] * ndim)
        table = parquet.read_table("c.parquet").to_pandas()
        np.testing.assert_allclose(table["area"], table["num_pixels"] * step**ndim)
        assert ("frame" in table) == (axes == "tyx")
