"""``conncomp measure``: folders of images to one table, against scikit-image file by file."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
import tifffile
import zarr
from skimage import filters
from skimage.measure import label, regionprops_table

import conncomp
from cli.test_command import check_failure
from conncomp.cli import measure as command
from conncomp.cli.measure import tables
from conncomp.cli.measure.options import filled
from conncomp.files.parts import locked
from conncomp.generate import blobs
from measured_command import in_python

DEFAULTS = ["label", "num_pixels", "area", "bbox", "centroid"]
PLATE = "measure", "plate", "--threshold", 99, "-o", "c.parquet"
OF_INTENSITY = ["intensity_mean", "intensity_min", "intensity_max"]


def picture(seed, shape=(60, 80)):
    """A bright blob here and there, on a background that is dark."""
    mask = np.asarray(blobs(shape, seed=seed))
    return np.where(mask, 200, 20).astype(np.uint8) + np.arange(shape[-1], dtype=np.uint8) % 11


@pytest.fixture
def plate(tmp_path):
    """A folder of three images."""
    (tmp_path / "plate").mkdir()
    images = {f"a{k}": picture(k) for k in (1, 2, 10)}
    for stem, image in images.items():
        conncomp.write_image(tmp_path / "plate" / f"{stem}.tif", image)
    return images


def expected(image, threshold, properties=(*DEFAULTS, *OF_INTENSITY), **options):
    labels = label(image > threshold, connectivity=image.ndim)
    return pd.DataFrame(regionprops_table(labels, image, properties=properties, **options))


def read(path):
    if path.endswith(".parquet"):
        return pa.parquet.read_table(path)
    if path.endswith(".csv"):
        return pa.csv.read_csv(path)
    with pa.ipc.open_file(path) as file:
        return file.read_all()


def assert_measured(found, images, way=filters.threshold_otsu):
    found = found.to_pandas()
    assert list(found["file"].unique()) == [f"plate/{stem}.tif" for stem in images]
    for stem, image in images.items():
        rows = found[found["file"] == f"plate/{stem}.tif"].reset_index(drop=True)
        assert set(rows["series"]) == {0}
        assert rows["channel"].isna().all()
        rows = rows.drop(columns=["file", "series", "channel"])
        pd.testing.assert_frame_equal(rows, expected(image, way(image)), check_dtype=False)


@pytest.mark.parametrize("name", ["cells.parquet", "cells.csv", "cells.arrow", "cells.feather"])
@pytest.mark.parametrize("workers", [1, 3])
def test_a_folder(plate, run, name, workers):
    result = run("measure", "plate", "--threshold", "otsu", "-o", name, "--workers", workers)
    assert result.exit_code == 0, result.stderr
    assert_measured(read(name), plate)
    assert sorted(os.listdir()) == sorted([name, "plate"])


@pytest.mark.parametrize("way", ["li", "triangle", "otsu"])
def test_thresholds(plate, report, way):
    found = report("measure", "plate/*.tif", "--threshold", way, "-o", "cells.parquet")
    assert_measured(read("cells.parquet"), plate, getattr(filters, f"threshold_{way}"))
    wanted = [float(getattr(filters, f"threshold_{way}")(image)) for image in plate.values()]
    assert [file["threshold"] for file in found["files"]] == pytest.approx(wanted)


def test_a_local_threshold(plate, run):
    run("measure", "plate", "--threshold", "local:31", "-o", "cells.parquet")
    assert_measured(read("cells.parquet"), plate, lambda image: filters.threshold_local(image, 31))


def test_labels_and_pictures_are_written(plate, run):
    names = "--labels", "out/{stem}.tif", "--picture", "out/{parent}-{name}.png"
    result = run("measure", "plate/*.tif", "--threshold", 99, "-o", "cells.csv", *names)
    assert result.exit_code == 0, result.stderr
    for stem, image in plate.items():
        labels = label(image > 99, connectivity=2)
        np.testing.assert_array_equal(conncomp.read_image(f"out/{stem}.tif"), labels)
        assert conncomp.read_image(f"out/plate-{stem}.tif.png").shape == (60, 80, 3)


def test_the_folder_of_an_image_has_a_name_wherever_it_is_called_from(plate, run, monkeypatch):
    """Labels neither go to the root of the disk nor above the folder that is named."""
    common = "--threshold", 99, "-o", "c.csv", "--labels", "out/{parent}/{stem}.tif"
    monkeypatch.chdir("plate")
    assert run("measure", "a1.tif", *common).exit_code == 0
    Path("within").mkdir()
    monkeypatch.chdir("within")
    assert run("measure", "../a2.tif", "./../a1.tif", *common).exit_code == 0
    for folder, stems in {"..": ["a1"], ".": ["a1", "a2"]}.items():
        written = sorted(path.as_posix() for path in Path(folder).glob("out/**/*.tif"))
        assert written == [Path(folder, f"out/plate/{stem}.tif").as_posix() for stem in stems]


@pytest.mark.parametrize(
    ("name", "field"), [("/a.tif", "{parent}"), ("...tif", "{stem}"), ("..tif", "{stem}")]
)
def test_names_that_lead_elsewhere_are_refused(name, field):
    with pytest.raises(click.UsageError, match="which is no name; write one in its place"):
        filled(f"out/{field}/labels.tif", Path(name))


def test_quantiles(plate, run):
    names = "--properties", "intensity_quantile-0.25,label"
    run("measure", "plate/a1.tif", "--threshold", 99, "-o", "c.parquet", *names)
    labels = label(plate["a1"] > 99, connectivity=2)
    wanted = [np.quantile(plate["a1"][labels == k], 0.25) for k in range(1, labels.max() + 1)]
    assert read("c.parquet")["intensity_quantile-0.25"].to_pylist() == pytest.approx(wanted)


def test_small_objects_are_left_out(plate, report):
    found = report("measure", "plate", "--threshold", 99, "--min-size", 40, "-o", "cells.parquet")
    sizes = read("cells.parquet")["num_pixels"].to_numpy()
    assert found["objects"] == len(sizes) > 0
    assert sizes.min() >= 40


def test_dark_objects(plate, run):
    run("measure", "plate/a1.tif", "--threshold", 99, "--dark", "-o", "cells.parquet")
    wanted = label(plate["a1"] <= 99, connectivity=2)
    assert read("cells.parquet")["label"].to_pylist() == list(range(1, wanted.max() + 1))


def test_labels_of_another_program_stay(plate, run):
    labels = np.zeros((60, 80), np.int32)
    labels[3:9, 4:8], labels[20:22, 4:8], labels[40:50, 60:70] = 7, 7, 30  # 7 in two parts
    Path("masks").mkdir()
    conncomp.write_image("masks/a1_cp_masks.tif", labels)
    run("measure", "masks", "-o", "cells.parquet")
    assert read("cells.parquet")["label"].to_pylist() == [7, 30]
    assert read("cells.parquet")["num_pixels"].to_pylist() == [32, 100]
    assert "intensity_mean" not in read("cells.parquet").column_names
    os.rename("masks/a1_cp_masks.tif", "masks/a1.tif")
    run("measure", "masks", "--intensity", "plate/{stem}.tif", "-o", "cells.parquet")
    bright = read("cells.parquet")["intensity_mean"].to_pylist()
    assert bright == [plate["a1"][labels == k].mean() for k in (7, 30)]


def test_intensities_are_of_the_series_of_the_labels(plate, run):
    labels = label(plate["a1"] > 99, connectivity=2).astype(np.uint16)
    names = "masks.tif", "raw.tif"
    for name, first in zip(names, (np.ones((9, 9), np.uint16), plate["a2"]), strict=True):
        with tifffile.TiffWriter(name) as file:
            file.write(first)
            file.write(labels if name == "masks.tif" else plate["a10"])
    conncomp.write_image("one.npy", plate["a1"])
    common = "measure", "masks.tif", "-o", "cells.parquet", "--series"
    for intensity, image in {"raw.tif": "a10", "one.npy": "a1", "plate/a2.tif": "a2"}.items():
        result = run(*common, 1, "--intensity", intensity)
        assert result.exit_code == 0, result.stderr
        wanted = regionprops_table(labels, plate[image], properties=["intensity_mean"])
        found = read("cells.parquet")["intensity_mean"].to_numpy()
        np.testing.assert_allclose(found, wanted["intensity_mean"])
    with tifffile.TiffWriter("masks.tif", append=True) as file:
        file.write(labels[:, :70])
    result = run(*common, 2, "--intensity", "raw.tif")
    assert "masks.tif: raw.tif: has 2 series: there is no series=2" in result.stderr


@pytest.mark.parametrize("workers", [1, 2])
def test_all_series(plate, run, measured, workers):
    with tifffile.TiffWriter("plate/a2.tif", append=True) as file:
        file.write(plate["a1"][:40])
        file.write(plate["a2"].astype(complex))
    words = ["measure", "plate", "--threshold", "otsu", "--series", "all", "-o", "c.parquet"]
    words += ["--workers", workers, "--labels", "out/{stem}-{series}.npy"]
    result = run(*words)
    assert result.exit_code == 1
    assert "plate/a2.tif, series 2: holds values of dtype complex128" in result.stderr
    assert "1 of 5 series could not be measured" in result.stderr
    found = read("c.parquet").to_pandas()
    places = found[["file", "series"]].drop_duplicates().itertuples(index=False, name=None)
    parts = {("a1", 0): plate["a1"], ("a2", 0): plate["a2"], ("a2", 1): plate["a1"][:40]}
    parts["a10", 0] = plate["a10"]
    assert list(places) == [(f"plate/{stem}.tif", k) for stem, k in parts]
    for (stem, k), image in parts.items():
        rows = found[(found["file"] == f"plate/{stem}.tif") & (found["series"] == k)]
        wanted = expected(image, filters.threshold_otsu(image))
        assert rows["num_pixels"].tolist() == wanted["num_pixels"].tolist()
        assert conncomp.read_image(f"out/{stem}-{k}.npy").max() == len(rows)
    measured.clear()
    assert run(*words, "--resume").exit_code == 1
    assert len(measured) == 1


def test_images_in_grey_and_in_colour(plate, run):
    grey = plate["a2"]
    conncomp.write_image("plate/a3.png", np.stack([grey, grey, grey], -1))
    result = run("measure", "plate", "--threshold", "otsu", "--grey", "-o", "c.parquet")
    assert result.exit_code == 0, result.stderr
    found = read("c.parquet").to_pandas()
    sizes = [found[found["file"] == f"plate/a{k}"]["num_pixels"] for k in ("2.tif", "3.png")]
    assert sizes[0].tolist() == sizes[1].tolist() != []


def test_all_properties(plate, run):
    run("measure", "plate/a1.tif", "--threshold", "otsu", "--properties", "all", "-o", "c.parquet")
    labels = label(plate["a1"] > filters.threshold_otsu(plate["a1"]), connectivity=2)
    table = conncomp.component_statistics(labels, plate["a1"], properties="all").columns()
    assert read("c.parquet").column_names == ["file", "series", "channel", *table]
    conncomp.write_image("labels.tif", labels)
    run("measure", "labels.tif", "--properties", "all", "-o", "c.parquet")
    table = conncomp.component_statistics(labels, properties="all").columns()
    assert read("c.parquet").column_names == ["file", "series", "channel", *table]


def test_failures_are_named_in_the_order_of_files(plate, run):
    for name in ("a1", "a2", "a10"):
        Path(f"plate/{name}.tif").write_bytes(b"II*\0")
    result = run("measure", "plate", "--threshold", "otsu", "-o", "c.parquet", "--workers", 3)
    named = [line.split(": ")[1] for line in result.stderr.splitlines()]
    assert named[:-1] == [f"plate/{name}.tif" for name in ("a1", "a2", "a10")]
    assert named[-1] == "3 of 3 files could not be measured"
    assert os.listdir() == ["plate"]


@pytest.mark.parametrize(
    ("content", "reason"), [(b"II*\0", "cut short"), (b"II*\0" + bytes(4), "holds no page")]
)
def test_all_series_of_a_file_that_cannot_be_read(plate, run, content, reason):
    Path("plate/a2.tif").write_bytes(content)
    common = "--threshold", "9", "--series", "all", "-o", "c.parquet"
    result = run("measure", "plate", *common)
    assert result.exit_code == 1
    assert f"plate/a2.tif, series 0: {reason}" in result.stderr
    assert read("c.parquet")["file"].unique().to_pylist() == ["plate/a1.tif", "plate/a10.tif"]
    result = run("measure", "plate/a2.tif", *common)
    assert result.exit_code == 1
    assert "1 of 1 series could not be measured" in result.stderr


def test_channels(run):
    colours = np.stack([picture(k) for k in range(3)], axis=-1)
    conncomp.write_image("a.png", colours)
    result = run("measure", "a.png", "--threshold", 99, "-o", "cells.parquet")
    assert result.exit_code == 1
    assert "conncomp: a.png: is in colour" in result.stderr
    assert "choose one by --channel 0 to 2, or --grey" in result.stderr
    run("measure", "a.png", "--threshold", 99, "--channel", 1, "-o", "cells.parquet")
    found = read("cells.parquet").to_pandas()
    assert set(found["channel"]) == {1}
    labels = label(colours[..., 1] > 99, connectivity=2)
    wanted = regionprops_table(labels, colours, properties=OF_INTENSITY)
    for name, column in wanted.items():
        np.testing.assert_allclose(found[name], column)


def test_frames_and_planes(run):
    film = np.stack([[picture(k), picture(k + 5)] for k in range(3)])  # T, Z, Y, X
    tifffile.imwrite("a.tif", film, imagej=True, metadata={"axes": "TZYX"})
    run("measure", "a.tif", "--threshold", 99, "-o", "cells.parquet")
    found = read("cells.parquet").to_pandas()
    for frame, volume in enumerate(film):
        rows = found[found["frame"] == frame]
        np.testing.assert_array_equal(rows["num_pixels"], expected(volume, 99)["num_pixels"])
    run("measure", "a.tif", "--threshold", 99, "--planes", "-o", "cells.parquet")
    found = read("cells.parquet").to_pandas()
    for place in np.ndindex(3, 2):
        rows = found[(found["frame"] == place[0]) & (found["plane"] == place[1])]
        np.testing.assert_array_equal(rows["bbox-2"], expected(film[place], 99)["bbox-2"])


def write_scaled(name, unit="um", spacing=2.0):
    volume = np.stack([picture(k) for k in range(4)])
    about = {"axes": "ZYX", "spacing": spacing, "unit": unit}
    tifffile.imwrite(name, volume, imagej=True, resolution=(4, 2), metadata=about)
    return volume


def test_voxel_sizes_of_the_file(run):
    volume = write_scaled("a.tif")
    columns = ["area", "centroid", "inertia_tensor", "extent", "axis_major_length"]
    names = ",".join([*columns, "contact_area"])
    result = run("measure", "a.tif", "--threshold", 99, "--properties", names, "-o", "c.parquet")
    assert "in µm" in result.stdout
    found = read("c.parquet")
    assert found.schema.field("contact_area").metadata == {b"unit": "µm^2".encode()}
    wanted = expected(volume, 99, columns, spacing=(2, 0.5, 0.25))
    for name, column in wanted.items():
        np.testing.assert_allclose(found[name].to_numpy(), column, rtol=1e-6, atol=1e-9)
    units = {
        field.name: (field.metadata or {}).get(b"unit", b"").decode() for field in found.schema
    }
    assert (units["area"], units["centroid-2"], units["extent"]) == ("µm^3", "µm", "")
    assert (units["inertia_tensor-0-1"], units["axis_major_length"]) == ("µm^2", "µm")
    assert json.loads(found.schema.metadata[b"conncomp"])["unit"] == "µm"


def test_spacing_and_unit_of_the_command(run):
    write_scaled("a.tif")
    common = "measure", "a.tif", "--threshold", 99, "-o", "c.parquet"
    run(*common)
    plain = read("c.parquet")["area"].to_numpy()
    run(*common, "--unit", "mm")
    np.testing.assert_allclose(read("c.parquet")["area"].to_numpy(), plain / 1e9)
    run(*common, "--spacing", "3", "--unit", "nm")
    sizes = read("c.parquet")["num_pixels"].to_numpy()
    np.testing.assert_allclose(read("c.parquet")["area"].to_numpy(), 27 * sizes)
    assert read("c.parquet").schema.field("area").metadata == {b"unit": b"nm^3"}
    result = run(*common, "--spacing", "1,2")
    assert result.exit_code == 1
    assert "a.tif: --spacing has 2 lengths; the image has 3 axes" in result.stderr


def test_files_of_several_units_are_not_mixed(run):
    Path("in").mkdir()
    for name, unit in (("a", "um"), ("b", "mm"), ("c", "um"), ("d", "pixel")):
        write_scaled(f"in/{name}.tif", unit)
    common = "measure", "in", "--threshold", 99, "-o", "c.parquet"
    result = run(*common)
    assert result.exit_code == 1
    assert "in/b.tif: is in mm, and others are in µm; give --unit or --spacing" in result.stderr
    assert "in/d.tif: is in elements, and others are in µm" in result.stderr
    assert set(read("c.parquet")["file"].to_pylist()) == {"in/a.tif", "in/c.tif"}
    result = run(*common, "--unit", "um")
    assert "1 of 4 files" in result.stderr  # that without a voxel size
    found = read("c.parquet").to_pandas().groupby("file")["area"].sum()
    np.testing.assert_allclose(found["in/b.tif"], 1e9 * found["in/a.tif"])


def test_failures_of_several_kinds_are_named_in_the_order_of_files(run):
    Path("in").mkdir()
    for name, unit in (("a", "um"), ("b", "mm"), ("d", "mm")):
        write_scaled(f"in/{name}.tif", unit)
    for name in ("c", "e"):
        Path(f"in/{name}.tif").write_bytes(b"II*\0")
    for words in ([], ["--json"]):
        result = run("measure", "in", "--threshold", 99, "-o", "c.parquet", *words)
        named = [line.split(": ")[1] for line in result.stderr.splitlines()]
        assert named[:-1] == [f"in/{name}.tif" for name in "bcde"]
    failed = json.loads(result.stdout)["failed"]
    assert [file["path"] for file in failed] == [f"in/{name}.tif" for name in "bcde"]


def test_planes_and_volumes_are_not_mixed(plate, run):
    os.rename("plate/a2.tif", "plate/a3.tif")
    volume = np.stack([picture(k) for k in range(4)])
    conncomp.write_image("plate/a2.tif", volume)
    common = "measure", "plate", "--threshold", 99, "-o", "c.parquet", "--spacing", 2, "--unit"
    result = run(*common, "um")
    assert result.exit_code == 1
    assert "plate/a2.tif: has objects of 3 axes, and others of 2; measure them" in result.stderr
    assert "1 of 4 files could not be measured" in result.stderr
    assert read("c.parquet").schema.field("area").metadata == {b"unit": "µm^2".encode()}
    assert "plate/a2.tif" not in read("c.parquet")["file"].to_pylist()
    assert run(*common, "um", "--planes").exit_code == 0
    rows = read("c.parquet").to_pandas().query("file == 'plate/a2.tif'")
    wanted = np.concatenate([expected(plane, 99)["num_pixels"] for plane in volume])
    np.testing.assert_array_equal(rows["area"], 4 * wanted)


@pytest.fixture
def measured(monkeypatch):
    """Note the names of images that are measured."""
    names = []
    measure_image = command.measure_image

    def noted(source, *given):
        names.append(source.path.name)
        return measure_image(source, *given)

    monkeypatch.setattr(command, "measure_image", noted)
    return names


@pytest.mark.parametrize("workers", [1, 2])
def test_a_broken_file_does_not_stop_the_others(plate, run, measured, workers):
    good = Path("plate/a2.tif").read_bytes()
    Path("plate/a2.tif").write_bytes(good[:200])
    Path("plate/notes.tif").write_text("no image")
    command_line = "measure", "plate/*.tif", "--threshold", "otsu", "-o", "c.parquet"
    result = run(*command_line, "--workers", workers)
    assert result.exit_code == 1
    complaints = result.stderr.splitlines()
    assert sorted(line.split(":")[1] for line in complaints[:2]) == [
        " plate/a2.tif",
        " plate/notes.tif",
    ]
    assert complaints[2].startswith("conncomp: 2 of 4 files could not be measured")
    del plate["a2"]
    assert_measured(read("c.parquet"), plate)
    os.remove("plate/notes.tif")
    Path("plate/a2.tif").write_bytes(good)
    measured.clear()
    result = run(*command_line, "--resume")
    assert result.exit_code == 0, result.stderr
    assert measured == ["a2.tif"]
    assert_measured(read("c.parquet"), {"a1": plate["a1"], "a2": picture(2), "a10": plate["a10"]})
    assert sorted(os.listdir()) == ["c.parquet", "plate"]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_name_that_is_not_utf_8_does_not_stop_the_others(plate, run, workers):
    os.rename("plate/a2.tif", b"plate/a\xff.tif")
    names = "--labels", "out/{stem}.tif", "--workers", workers
    result = run("measure", "plate", "--threshold", "otsu", "-o", "c.parquet", *names)
    assert result.exit_code == 1
    reason = "has a name that is not UTF-8, which tables cannot hold; rename it"
    assert result.stderr.splitlines()[0] == rf"conncomp: plate/a\udcff.tif: {reason}"
    assert "1 of 3 files could not be measured" in result.stderr
    del plate["a2"]
    assert_measured(read("c.parquet"), plate)
    result = run("measure", "plate", "--threshold", "otsu", "-o", "c.parquet", "--json")
    failed = {"path": "plate/a\udcff.tif", "series": 0, "reason": reason}
    assert json.loads(result.stdout)["failed"] == [failed]


def test_resume_measures_again_what_has_changed(plate, run, measured):
    Path("plate/broken.tif").write_text("no image")
    common = "measure", "plate", "-o", "c.parquet", "--labels", "out/{stem}.npy", "--resume"
    run(*common, "--threshold", 99)
    conncomp.write_image("plate/a1.tif", picture(77))
    os.remove("out/a10.npy")
    measured.clear()
    run(*common, "--threshold", 99, "--workers", 1)
    assert measured == ["a1.tif", "a10.tif", "broken.tif"]
    measured.clear()
    run(*common, "--threshold", 98, "--workers", 1)
    assert len(measured) == 4
    for path in Path("c.parquet.partial").glob("*.arrow"):
        path.write_bytes(path.read_bytes()[:100])  # as after a fault of the disk
    measured.clear()
    assert run(*common, "--threshold", 98).exit_code == 1
    assert len(measured) == 4


def test_resume_writes_labels_again_that_another_command_has_written(plate, run, measured):
    Path("plate/broken.tif").write_text("no image")
    common = "measure", "plate", "-o", "c.parquet", "--labels", "out/{stem}.npy", "--resume"
    run(*common, "--threshold", 99)
    run(*common, "--threshold", 250)
    assert not conncomp.read_image("out/a1.npy").any()
    measured.clear()
    run(*common, "--threshold", 99)
    assert len(measured) == 4
    wanted = label(plate["a1"] > 99, connectivity=2)
    np.testing.assert_array_equal(conncomp.read_image("out/a1.npy"), wanted)
    measured.clear()
    run(*common, "--threshold", 99)
    assert measured == ["broken.tif"]


def test_a_file_that_changes_while_it_is_measured_is_measured_again(plate, run, monkeypatch):
    measure_image = command.measure_image

    def slow(source, *given):
        measured = measure_image(source, *given)
        conncomp.write_image(source.path, picture(77))
        return measured

    common = "measure", "plate/a1.tif", "no.tif", "--threshold", 99, "-o", "c.parquet", "--resume"
    monkeypatch.setattr(command, "measure_image", slow)
    Path("no.tif").write_text("no image")
    run(*common)
    monkeypatch.setattr(command, "measure_image", measure_image)
    run(*common)
    wanted = expected(picture(77), 99)["num_pixels"]
    np.testing.assert_array_equal(read("c.parquet")["num_pixels"], wanted)


@pytest.mark.parametrize("images", ["plate", "plate/*"])
def test_resume_goes_on_where_labels_lie_beside_images(plate, run, measured, images):
    Path("plate/broken.tif").write_text("no image")
    names = "--labels", "plate/{stem}-labels.tif", "--picture", "plate/{name}.png"
    common = "measure", images, "--threshold", "otsu", *names, "--resume", "-o", "plate/c.parquet"
    by_hand = Path("plate/a1-labels.tif")
    by_hand.write_bytes(Path("plate/a10.tif").read_bytes())
    refused = run(*common)
    assert refused.exit_code == 2
    assert by_hand.read_bytes() == Path("plate/a10.tif").read_bytes()
    by_hand.unlink()
    run(*common)
    measured.clear()
    assert "1 of 4 files could not be measured" in run(*common).stderr
    assert measured == ["broken.tif"]
    assert_measured(read("plate/c.parquet"), plate)
    labels = "plate/a1-labels.tif"
    assert f"{labels!r} is to be read, and to be written by --labels" in check_failure(
        run(*common, labels)
    )


def test_without_resume_all_begins_anew(plate, run, measured):
    Path("plate/broken.tif").write_text("no image")
    for _ in range(2):
        measured.clear()
        run(*PLATE)
        assert len(measured) == 4
    Path("c.parquet.partial/of-mine.txt").write_text("keep")
    os.remove("plate/broken.tif")
    assert run(*PLATE).exit_code == 0
    assert os.listdir("c.parquet.partial") == ["of-mine.txt"]


PROGRAM = "from conncomp.cli import main; import sys; sys.argv = ['conncomp', *{!r}]; main()"


def test_an_interrupt_leaves_what_is_finished(plate, run, measured):
    for k in range(20, 50):
        conncomp.write_image(f"plate/a{k}.tif", picture(k, (500, 500)))
    words = ["measure", "plate", "--threshold", "local:151", "-o", "c.parquet", "--workers", "2"]
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(words)],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    end = time.monotonic() + 60
    while len(list(Path("c.parquet.partial").glob("*.arrow"))) < 3 and time.monotonic() < end:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    complaint = process.communicate(timeout=60)[1]
    assert time.monotonic() - began < 5
    assert process.returncode == 130, complaint
    assert complaint.startswith("conncomp: interrupted; ")
    assert complaint.count("\n") == 1
    assert not Path("c.parquet").exists()
    done = len(list(Path("c.parquet.partial").glob("*.arrow")))
    assert 3 <= done < 33
    assert run(*words, "--resume").exit_code == 0
    assert len(measured) == 33 - done
    assert len(set(read("c.parquet")["file"].to_pylist())) == 33


def test_a_full_disk_is_named(plate, run, monkeypatch):
    write = Path.write_bytes

    def full(path, data):
        if path.parent.suffix == ".partial":
            write(path, data[: len(data) // 2])
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    assert "No space left on device" in check_failure(run(*PLATE))
    assert not Path("c.parquet").exists()
    assert os.listdir() == ["plate"]


def test_no_room_for_what_is_kept(plate, run, monkeypatch):
    usage = shutil.disk_usage(".")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=100))
    assert "and there are 0 MB free on the disk" in check_failure(run(*PLATE))
    assert os.listdir() == ["plate"]


@pytest.mark.parametrize("more", [[], ["--resume"]])
def test_two_commands_with_one_output(plate, run, more):
    """The second is told which process has it, and removes nothing of the first."""
    folder = Path("c.parquet.partial")
    with locked(folder):
        Path(folder, f"{'a' * 40}.arrow").write_text("of the first")
        result = run(*PLATE, *more)
        assert result.exit_code == 2
        assert f"c.parquet.partial: is in use by process {os.getpid()} of" in result.stderr
        assert "wait for it" in result.stderr
        assert result.stderr.count("\n") == 1
        assert len(os.listdir(folder)) == 2
    assert run(*PLATE, *more).exit_code == 0
    assert sorted(os.listdir()) == ["c.parquet", "plate"]


def test_a_folder_of_what_is_kept_that_is_a_link(plate, run):
    Path("elsewhere").mkdir()
    Path("c.parquet.partial").symlink_to("elsewhere")
    assert "c.parquet.partial is a link" in check_failure(run(*PLATE))
    assert os.listdir("elsewhere") == []


LIMITED = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
"""


@pytest.mark.parametrize("name", ["c.parquet", "c.csv", "c.arrow"])
def test_a_table_that_has_no_room(plate, name):
    """As seen through a limit of the sizes of files: an error of the system, EFBIG for ENOSPC."""
    points = (np.indices((200, 200)).sum(0) % 2).astype(np.uint8) * 200
    for k in range(8):
        conncomp.write_image(f"plate/b{k}.tif", points)
    words = ["measure", "plate", "--threshold", "99", "--connectivity", "1", "-o", name]
    program = LIMITED.format(limit=5 << 18) + PROGRAM.format(words)
    done = in_python(program)
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert "File too large" in done.stderr
    assert done.stderr.count("\n") == 1
    assert sorted(os.listdir()) == sorted([f"{name}.partial", "plate"])


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["no/*.tif"], "there is no file 'no/*.tif'"),
        (["plate", "--labels", "out.tif"], "would be written twice; put {stem}"),
        (["plate", "--labels", "plate/{stem}.tif"], "is to be read, and to be written by --labels"),
        (["plate", "--labels", "plate/a1.tif"], "'plate/a1.tif' would be written twice"),
        (["plate/a1.tif", "plate/a10.tif", "--labels", "plate/{stem}0.tif"], "written by --labels"),
        (["plate/a1.tif", "--intensity", "a.png", "--picture", "a.png"], "written by --picture"),
        (["plate/a1.tif", "--intensity", "c.parquet"], "written by --output"),
        (["plate", "--labels", "{stem.__class__}.tif"], "has a field that is none of {stem}"),
        (["plate", "--labels", "{stem"], "has a field that is none of {stem}"),
        (["plate", "--labels", "{stem}.jpg"], "does not end in .npy"),
        (["plate", "--threshold", "local:4"], "is no window of an odd number"),
        (["plate", "--threshold", "li", "--channel", "0", "--grey"], "exclude each other"),
        (["plate", "--dark"], "--dark is for --threshold"),
        (["plate", "--unit", "parsec"], "is none of m, cm"),
        (["plate", "--spacing", "0"], "is not a positive, finite number"),
        (["plate", "--properties", "area,areas", "--threshold", "1"], "did you mean 'area'"),
        (["plate", "--properties", "intensity_quantile-2"], "must end with a number of 0 to 1"),
        (["plate", "--properties", "coords,area,image"], "coords, image: a table of files has no"),
        (["plate", "--series", "one"], "'one' is neither a number nor 'all'"),
        (["plate", "--properties", "area,intensity_max"], "intensity_max: without --threshold"),
        (["plate", "--properties", "intensity_quantile-0.5"], "have no intensities; name the"),
        (["plate", "--properties", "slice"], "by conncomp.component_statistics in Python"),
        (["."], "holds no images"),
    ],
)
def test_options_that_are_wrong(plate, run, words, complaint):
    assert complaint in check_failure(run("measure", *words, "-o", "c.parquet"))
    assert os.listdir() == ["plate"]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--intensity", "no/{stem}.tif"], "a1.tif: no/a1.tif: No such file"),
        (["--intensity", "small.npy"], "a1.tif"),
        (["--series", "3", "--threshold", "1"], "there is no series=3"),
        (["--unit", "mm", "--threshold", "1"], "the file tells no voxel size; give --spacing"),
        (["--key", "x", "--threshold", "1"], "key='x' chooses an array"),
    ],
)
def test_files_that_do_not_fit_the_options(plate, run, options, complaint):
    conncomp.write_image("small.npy", np.ones((2, 3)))
    result = run("measure", "plate", "-o", "c.parquet", *options)
    assert result.exit_code == 1
    assert complaint in result.stderr
    assert "3 of 3 files could not be measured" in result.stderr
    assert not Path("c.parquet").exists()


@pytest.mark.parametrize("values", [[0.5, 1], [np.nan, 1], [np.inf, 0], [1e300, 0], [True, False]])
@pytest.mark.parametrize("kind", ["a.npy", "a.zarr"])
def test_what_is_no_label_names_the_remedy(run, values, kind):
    image = np.array(values * 6).reshape(3, 4)
    options = []
    if kind == "a.zarr":
        zarr.create_array("a.zarr", data=image)
        options = ["--memory", "8G"]
    else:
        conncomp.write_image(kind, image)
    result = run("measure", kind, *options, "-o", "c.csv")
    assert "without --threshold, images are labels" in result.stderr
    assert "--threshold 0, which takes what is > 0, or save labels by .astype(int)" in result.stderr
    assert result.exit_code == 1


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_floating_labels_of_whole_numbers(run, dtype):
    """Tables are those of integers, in memory and block by block."""
    labels = label(picture(1) > 99, connectivity=2).astype(np.int64)
    labels[labels == 2] = 0
    conncomp.write_image("i.npy", labels)
    conncomp.write_image("f.npy", labels.astype(dtype))
    zarr.create_array("f.zarr", data=labels.astype(dtype))
    tables = []
    for words in (["i.npy"], ["f.npy"], ["f.zarr"], ["f.zarr", "--memory", "8G"]):
        result = run("measure", *words, "-o", "c.parquet")
        assert (result.exit_code, result.stderr) == (0, "")
        tables.append(read("c.parquet").to_pandas().drop(columns="file"))
    for table in tables[1:]:
        pd.testing.assert_frame_equal(table, tables[0])


def test_an_image_without_objects(run):
    conncomp.write_image("a.npy", np.ones((3, 4)))
    assert run("measure", "a.npy", "--threshold", 2, "-o", "c.parquet").exit_code == 0
    assert len(read("c.parquet")) == 0
    assert "intensity_mean" in read("c.parquet").column_names


def test_units_follow_the_power_of_columns():
    names = tables.LENGTHS, tables.AREAS, tables.FACES, tables.SQUARES, tables.MOMENTS
    known = set(conncomp.components.columns.properties.PROPERTIES)
    assert set().union(*names) <= known
    assert sum(map(len, names)) == len(set().union(*names))


def test_columns_have_the_unit_by_which_they_scale(run):
    """A column in nm is 2 to the power of its unit larger than in lengths of 2 nm."""
    conncomp.write_image("a.png", np.stack([picture(k, (20, 30)) for k in range(3)], axis=-1))
    known = conncomp.components.columns.properties.PROPERTIES
    names = [name for name, entry in known.items() if not entry.is_lazy | entry.no_spacing]
    names = [name for name in names if not known[name].axes or 2 in known[name].axes]
    common = "measure", "a.png", "--channel", 0, "--threshold", 99, "-o", "c.parquet"
    found = []
    for spacing in (1, 2):
        options = "--properties", ",".join(names), "--spacing", spacing, "--unit", "nm"
        assert run(*common, *options).exit_code == 0
        found.append(read("c.parquet"))
    for field in found[0].schema:
        if pa.types.is_floating(field.type):
            unit = (field.metadata or {}).get(b"unit", b"nm^0").decode()
            power = int(unit.partition("^")[2] or 1)
            pair = [table[field.name].to_numpy() for table in found]
            np.testing.assert_allclose(pair[1], pair[0] * 2.0**power, 1e-6, 1e-6, err_msg=field)


def test_pictures_have_true_proportions(run):
    conncomp.write_image("a.npy", picture(1))
    common = "measure", "a.npy", "--threshold", 99, "-o", "c.parquet", "--picture", "a.png"
    for spacing, shape in {
        "1": (60, 80),
        "2,1": (120, 80),
        "0.5,1": (60, 160),
        "1,1.5": (60, 120),
        "1e6,1": (2000, 1),
        "100,1": (2000, 27),
    }.items():
        assert run(*common, "--spacing", spacing).exit_code == 0
        assert conncomp.read_image("a.png").shape == (*shape, 3), spacing
    run(*common, "--spacing", "2,1")
    tall = conncomp.read_image("a.png")
    np.testing.assert_array_equal(tall[::2], tall[1::2])
    run(*common)
    np.testing.assert_array_equal(tall[::2], conncomp.read_image("a.png"))


def test_ome_zarr_of_times_and_channels(run):
    image = np.stack([[picture(k), picture(k + 5)] for k in range(3)])  # t, c, y, x
    group = zarr.open_group("a.zarr", mode="w", zarr_format=3)
    group.create_array("0", data=image)
    kinds = {"t": "time", "c": "channel", "y": "space", "x": "space"}
    axes = [{"name": k, "type": kind, "unit": "micrometer"} for k, kind in kinds.items()]
    scales = [{"type": "scale", "scale": [60, 1, 0.5, 0.25]}]
    datasets = [{"path": "0", "coordinateTransformations": scales}]
    multiscales = [{"axes": axes, "datasets": datasets}]
    group.attrs["ome"] = {"version": "0.5", "multiscales": multiscales}
    result = run("measure", "a.zarr", "--channel", 1, "--threshold", 99, "-o", "c.parquet")
    assert result.exit_code == 0, result.stderr
    found = read("c.parquet").to_pandas()
    for frame in range(3):
        rows = found[found["frame"] == frame]
        labels = label(image[frame, 1] > 99, connectivity=2)
        colours = np.moveaxis(image[frame], 0, -1)
        names = ("area", "centroid", "intensity_mean")
        wanted = regionprops_table(labels, colours, properties=names, spacing=(0.5, 0.25))
        for name, column in wanted.items():
            np.testing.assert_allclose(rows[name], column)
    assert read("c.parquet").schema.field("area").metadata == {b"unit": b"\xc2\xb5m^2"}


def ome_set(count, of):
    """Return the XML of a stack of planes, each in a file of its own."""
    blocks = "".join(
        f'<TiffData FirstZ="{k}" IFD="0" PlaneCount="1"><UUID FileName="z{k}.ome.tif">{k}</UUID>'
        "</TiffData>"
        for k in range(count)
    )
    about = f'SizeZ="{count}" PhysicalSizeX="0.5" PhysicalSizeY="0.5" PhysicalSizeZ="2"'
    root = f'<OME UUID="{of}">'
    return f'<?xml version="1.0"?>{root}<Pixels {about}>{blocks}</Pixels></OME>'


@pytest.mark.parametrize("companion", [False, True])
def test_a_set_of_ome_tiff_is_one_image(run, companion):
    Path("set").mkdir()
    volume = np.stack([picture(k) for k in range(4)])
    only = '<?xml version="1.0"?><OME><BinaryOnly MetadataFile="all.companion.ome" UUID="9"/></OME>'
    for k, plane in enumerate(volume):
        about = only if companion else ome_set(4, k)
        options = {"photometric": "minisblack", "metadata": None}
        tifffile.imwrite(f"set/z{k}.ome.tif", plane, description=about, **options)
    if companion:
        Path("set/all.companion.ome").write_text(ome_set(4, "x"))
    words = "measure", "set", "--threshold", "100", "-o", "a.csv", "--labels", "{stem}.npy"
    assert run(*words).exit_code == 0
    table = pd.read_csv("a.csv")
    head = "all.companion.ome" if companion else "z0.ome.tif"
    assert set(table["file"]) == {f"set/{head}"}
    wanted = expected(volume, 100, ["area", "centroid"], spacing=(2, 0.5, 0.5))
    np.testing.assert_allclose(table["area"], wanted["area"])
    assert Path("all.npy" if companion else "z0.npy").exists()
    # A file of the set that has changed is measured again, and one that is missing is named.
    Path("bad.tif").write_bytes(b"II*\0")
    with_bad = (*words[:2], "bad.tif", *words[2:])
    assert run(*with_bad).exit_code == 1
    tifffile.imwrite("set/z3.ome.tif", volume[0], description=about, **options)
    assert run(*with_bad, "--resume").exit_code == 1
    volume[3] = volume[0]
    wanted = expected(volume, 100, ["area"], spacing=(2, 0.5, 0.5))
    np.testing.assert_allclose(pd.read_csv("a.csv")["area"], wanted["area"])
    Path("set/z3.ome.tif").unlink()
    done = run(*words)
    assert done.exit_code == 1
    assert "of which 'z3.ome.tif' is not in its folder; put them there" in done.stderr


def write_planes(paths, texts):
    for k, (path, text) in enumerate(zip(paths, texts, strict=True)):
        options = {"photometric": "minisblack", "metadata": None}
        tifffile.imwrite(path, picture(k), description=text, **options)


def test_links_to_files_of_a_set_are_not_followed(run):
    """A file that is named may be a link, but not one that the XML of a stranger names."""
    Path("set").mkdir()
    stores = [Path(f"store{k}") for k in range(2)]
    for k, store in enumerate(stores):
        store.mkdir()
        Path(f"set/z{k}.ome.tif").symlink_to(Path("..", store, "content"))
    write_planes([store / "content" for store in stores], [ome_set(2, k) for k in range(2)])
    done = run("measure", "set", "--threshold", "100", "-o", "a.csv")
    assert done.exit_code == 1
    assert "set/z0.ome.tif: z1.ome.tif is a link; copy what it leads to" in done.stderr
    Path("set/z1.ome.tif").unlink()
    Path("store1/content").rename("set/z1.ome.tif")
    assert run("measure", "set", "--threshold", "100", "-o", "a.csv").exit_code == 0
    assert set(pd.read_csv("a.csv")["file"]) == {"set/z0.ome.tif"}


@pytest.mark.parametrize("count", [2, 3])
def test_files_that_name_each_other_are_all_measured(run, count):
    Path("set").mkdir()
    names = [f"z{k}.ome.tif" for k in range(count)]
    blocks = [f'<TiffData><UUID FileName="{name}"/></TiffData>' for name in names[1:] + names[:1]]
    texts = [f'<?xml version="1.0"?><OME UUID="x"><Pixels>{b}</Pixels></OME>' for b in blocks]
    write_planes([Path("set", name) for name in names], texts)
    assert run("measure", "set", "--threshold", "100", "-o", "a.csv").exit_code == 0
    assert set(pd.read_csv("a.csv")["file"]) == {f"set/{name}" for name in names}
