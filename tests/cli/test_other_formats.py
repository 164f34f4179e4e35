"""``conncomp measure --bioio``: what no reader of conncomp knows, by a stand-in for bioio."""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import tifffile

CONTENT = b"ZISRAWFILE" + b"\0" * 90
SPOTS = np.zeros((2, 3, 6, 8), np.uint8)
SPOTS[0, :, 1:3, 1:4], SPOTS[1, 1, 2:5, 5:7] = 200, 100


class BioImage:
    """Two scenes: a film of one frame with two channels and a stack; a plane in colour."""

    scenes = ("first", "second")
    physical_pixel_sizes = SimpleNamespace(Z=2.0, Y=0.5, X=0.5)
    units = dict.fromkeys("ZYX", "micrometer")

    def __init__(self, path):
        if path.read_bytes() != CONTENT:
            raise RuntimeError("unsupported; install one of: bioio-czi")
        self.set_scene(0)

    def set_scene(self, number):
        colours = np.stack([SPOTS[0, 0]] * 3, axis=-1)
        order, self.data = [("TCZYX", SPOTS[None]), ("TCZYXS", colours[None, None, None])][number]
        self.dims, self.shape, self.dtype = SimpleNamespace(order=order), *about(self.data)

    @property
    def dimension_properties(self):
        return SimpleNamespace(**{k: SimpleNamespace(unit=v) for k, v in self.units.items()})


def about(array):
    return array.shape, array.dtype


@pytest.fixture
def bioio(monkeypatch):
    Path("a.czi").write_bytes(CONTENT)
    module = ModuleType("bioio")
    module.BioImage = type("BioImage", (BioImage,), {})
    monkeypatch.setitem(sys.modules, "bioio", module)
    return module.BioImage


MEASURE = "measure", "-o", "a.csv", "--threshold", "50"


def test_only_where_it_is_asked_for(run, bioio):
    done = run(*MEASURE, "a.czi", "--channel", "0")
    assert done.exit_code == 1
    assert "a.czi: is of none of the kinds .npy" in done.stderr
    assert "measure --bioio reads others" in done.stderr
    assert run(*MEASURE, "a.czi", "--channel", "0", "--bioio").exit_code == 0


def test_scenes_channels_and_voxel_sizes(run, report, bioio):
    assert report(*MEASURE, "a.czi", "--channel", "1", "--bioio")["unit"] == "µm"
    table = pd.read_csv("a.csv")
    np.testing.assert_allclose(table["area"], [6 * 2 * 0.5 * 0.5])
    np.testing.assert_allclose(table["centroid-0"], [2])
    np.testing.assert_allclose(table["intensity_max-1"], [100])
    assert run(*MEASURE, "a.czi", "--grey", "--series", "1", "--bioio").exit_code == 0
    np.testing.assert_allclose(pd.read_csv("a.csv")["area"], [6 * 0.25])
    done = run(*MEASURE, "a.czi", "--series", "2", "--bioio")
    assert "a.czi: has 2 series: there is no series=2" in done.stderr
    bioio.scenes = ("first", "first")
    bioio.set_scene = lambda self, number: BioImage.set_scene(self, 0)
    assert run(*MEASURE, "a.czi", "--channel", "0", "--series", "all", "--bioio").exit_code == 0
    assert pd.read_csv("a.csv")["series"].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("sizes", "units", "unit"),
    [
        ((2.0, 0.5, 0.5), "mm", "mm"),
        ((2.0, 0.5, 0.5), None, ""),
        ((None, 0.5, 0.5), "mm", ""),
        ((None, None, None), None, ""),
        ((2.0, 0.0, 0.5), "mm", ""),
    ],
)
def test_sizes_that_are_known_in_part(report, bioio, sizes, units, unit):
    bioio.physical_pixel_sizes = SimpleNamespace(**dict(zip("ZYX", sizes, strict=True)))
    bioio.units = dict.fromkeys("ZYX", units)
    assert report(*MEASURE, "a.czi", "--channel", "0", "--bioio")["unit"] == unit


def test_a_folder_has_files_of_other_formats_and_known_ones(run, bioio):
    Path("in").mkdir()
    for name, content in {"a.czi": CONTENT, "b.czi": b"damaged", "c.czi": b""}.items():
        Path("in", name).write_bytes(content)
    tifffile.imwrite("in/e.lif", SPOTS, metadata={"axes": "CZYX"}, ome=True)  # known by its content
    tifffile.imwrite("in/f.tif", SPOTS, metadata={"axes": "CZYX"}, ome=True)
    bioio.units = dict.fromkeys("ZYX", "")
    bioio.physical_pixel_sizes = SimpleNamespace(Z=1, Y=1, X=1)
    words = *MEASURE, "in", "--channel", "0"
    done = run(*words, "--bioio")
    assert done.exit_code == 1
    assert set(pd.read_csv("a.csv")["file"]) == {"in/a.czi", "in/e.lif", "in/f.tif"}
    for reason in (
        "in/b.czi: bioio does not read it; a plugin for the format, such as bioio-czi, may be",
        "install one of: bioio-czi",
        "in/c.czi: is empty",
    ):
        assert reason in done.stderr
    assert run(*words).exit_code == 0
    assert set(pd.read_csv("a.csv")["file"]) == {"in/f.tif"}


def test_more_than_memory_holds_is_refused_before_it_is_read(run, bioio):
    bioio.shape = property(lambda self: (1 << 32, 1 << 32), lambda self, shape: None)
    done = run(*MEASURE, "a.czi", "--bioio")
    assert done.exit_code == 1
    assert "an image of shape (4294967296, 4294967296)" in done.stderr


def test_what_is_missing_is_named(run, bioio, monkeypatch):
    monkeypatch.setitem(sys.modules, "bioio", None)
    done = run(*MEASURE, "a.czi", "--bioio")
    assert "this file format needs bioio: pip install 'conncomp[bioio]'" in done.stderr
