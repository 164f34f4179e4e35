"""`conncomp view`; what is in its pages is tested in tests/io/test_view.py."""

import json
import webbrowser
from pathlib import Path

import h5py
import numpy as np
import PIL.Image
import pytest
import tifffile

import conncomp
from cli.test_command import check_failure, snapshot
from view_page import ViewPage

RNG = np.random.default_rng(4)
LABELS = conncomp.label(RNG.random((5, 12, 13)) < 0.3, connectivity=1)


@pytest.fixture(autouse=True)
def _labels(monkeypatch):
    monkeypatch.setattr(webbrowser, "open", lambda url: pytest.fail("a browser was opened"))
    conncomp.write_image("labels.npy", LABELS)


@pytest.mark.parametrize("name", ["labels.npy", "labels.npz", "labels.tif", "slice.png"])
def test_reads_labels_as_other_commands_do(report, name):
    labels = LABELS[2] if name == "slice.png" else LABELS
    conncomp.write_image(name, labels)
    printed = report("view", name)
    page = ViewPage(Path(printed["written"]["page"]))
    assert printed["written"]["page"] == str(Path(name).with_suffix(".html"))
    assert printed["written"]["bytes"] == len(page.source.encode())
    assert printed["input"] == {"path": name, "shape": list(labels.shape), "dtype": page_type(name)}
    assert page.about["title"] == name
    np.testing.assert_array_equal(page.labels().reshape(labels.shape), labels)


def page_type(name):
    return str(conncomp.read_image(name).dtype)


def test_lies_in_the_current_folder(report):
    Path("folder").mkdir()
    conncomp.write_image("folder/deep.npy", LABELS)
    assert report("view", "folder/deep.npy")["written"]["page"] == "deep.html"
    report("view", "folder/deep.npy", "-o", "folder/other.html")
    assert Path("folder/other.html").exists()


def test_crop_and_key(report):
    np.savez("two.npz", a=LABELS, b=LABELS[::-1])
    report("view", "two.npz", "--key", "b", "--crop", "1:4, :, -9::2", "-o", "part.html")
    labels = ViewPage(Path("part.html")).labels()
    np.testing.assert_array_equal(labels, LABELS[::-1][1:4, :, -9::2])


def test_background(report):
    conncomp.write_image("roots.npy", conncomp.label(LABELS > 0, numbering="roots"))
    report("view", "roots.npy", "--background", "-1")
    np.testing.assert_array_equal(
        ViewPage(Path("roots.html")).labels(-1), conncomp.read_image("roots.npy")
    )
    report("view", "labels.npy", "--background", "none")
    assert ViewPage(Path("labels.html")).volume().all()


@pytest.mark.parametrize("opaque", [False, True])
def test_images_in_grey_and_colour(report, opaque):
    conncomp.write_image("slice.npy", LABELS[0])
    colour = RNG.integers(0, 256, (12, 13, 3 if opaque else 4)).astype(np.uint8)
    colour[0, 0, 0], colour[0, 0, 1] = 0, 255
    PIL.Image.fromarray(colour).save("image.png")
    report("view", "slice.npy", "--image", "image.png")
    page = ViewPage(Path("slice.html"))
    np.testing.assert_array_equal(page.volume("image")[0], colour[..., :3])
    conncomp.write_image("grey.tif", LABELS % 7 * 255 // 6)
    report("view", "labels.npy", "--image", "grey.tif")
    shades = ViewPage(Path("labels.html")).volume("image")
    np.testing.assert_array_equal(shades, LABELS % 7 * 255 // 6)


def test_open(run, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda url: not opened.append(url))
    result = run("view", "labels.npy", "--open", "--json")
    assert json.loads(result.stdout)["opened"] is True
    assert opened == [Path("labels.html").absolute().as_uri()]
    monkeypatch.setattr(webbrowser, "open", lambda url: False)
    assert "no browser was found" in run("view", "labels.npy", "--open").stdout


def test_table_and_help(run):
    lines = [" ".join(line.split()) for line in run("view", "labels.npy").stdout.splitlines()]
    assert lines[:2] == ["input labels.npy", "shape 5 x 12 x 13, int32"]
    assert lines[2].startswith("page labels.html, 0.0")
    help = run("view", "--help").stdout
    for option in ("--output", "--image", "--key", "--crop", "--background", "--open"):
        assert option in help


def test_names_are_no_markup(report):
    name = "<script>alert(1)<!--.npy"
    Path("labels.npy").rename(name)
    page = ViewPage(Path(report("view", name)["written"]["page"]))
    assert page.about["title"] == name
    assert page.tags.count("script") == 2 + 6


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("missing.npy", "'missing.npy' does not exist"),
        ("objects.npy", "objects.npy: "),
        ("forged.npy", "forged.npy: says that it has shape"),
        ("floats.npy", "labels is of dtype float64; it must be of integers"),
        ("labels.npy -o page.png", "'page.png' does not end in .html"),
        ("labels.npy -o nowhere/page.html", "there is no directory 'nowhere'"),
        ("labels.npy --crop 1:2", "--crop [slice(1, 2, None)] must have a slice for each axis"),
        ("labels.npy --crop 1,2,3", "'1,2,3' is not a slice for each axis"),
        ("labels.npy --crop :,:,::-1", "has the step -1; it must be 1 or more"),
        ("labels.npy --crop :,:,1:2:3:4", "is not a slice"),
        ("labels.npy --crop :,:,20:", "nothing to show"),
        ("labels.npy --image many.tif", "many.tif: has 5 channels"),
        ("labels.npy --image floats.npy", "image has shape (3,)"),
        ("labels.npy --image complex.npy", "image is of dtype complex128"),
        ("labels.npy --background 7", "'7' is not one of"),
        ("labels.npy --key a", "--key 'a' chooses an array of a .npz file"),
        ("page.html -o page.html", "are the same file"),
    ],
)
def test_failures_are_one_line(run, arguments, words):
    np.save("objects.npy", np.array([None]), allow_pickle=True)
    np.save("floats.npy", np.ones(3))
    np.save("complex.npy", np.ones((5, 12, 13), complex))
    tifffile.imwrite(
        "many.tif",
        np.ones((12, 13, 5), np.uint8),
        planarconfig="contig",
        photometric="rgb",
        extrasamples=[0, 0],
    )
    forged = Path("labels.npy").read_bytes().replace(b"(5, 12, 13)", b"(5,12,9999)")
    Path("forged.npy").write_bytes(forged)
    Path("page.html").touch()
    before = snapshot()
    assert words in check_failure(run("view", *arguments.split()))
    assert snapshot() == before


def test_proportions_of_the_file_and_of_the_command(report):
    about = {"axes": "ZYX", "spacing": 3, "unit": "um"}
    tifffile.imwrite("a.tif", LABELS.astype("u2"), imagej=True, resolution=(2, 1), metadata=about)
    report("view", "a.tif")
    assert ViewPage(Path("a.html")).about["spacing"] == [6, 2, 1]
    report("view", "a.tif", "--spacing", "1,2,3")
    assert ViewPage(Path("a.html")).about["spacing"] == [1, 2, 3]
    with h5py.File("a.h5", "w") as file:
        file.create_dataset("cells/labels", data=LABELS).attrs["element_size_um"] = [2, 1, 1]
    report("view", "a.h5", "--key", "cells/labels", "-o", "b.html")
    assert ViewPage(Path("b.html")).about["spacing"] == [2, 1, 1]
    np.testing.assert_array_equal(ViewPage(Path("b.html")).labels(), LABELS)
