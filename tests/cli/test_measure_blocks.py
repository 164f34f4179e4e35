"""``conncomp measure --memory``: labels in files block by block, as they are measured whole."""

import h5py
import numpy as np
import pandas as pd
import pytest
import zarr

import conncomp
from measured_command import measured

RANDOM = np.random.default_rng(0)
LABELS = conncomp.label(RANDOM.random((20, 30, 40)) < 0.2, connectivity=1)
VALUES = RANDOM.integers(0, 1000, LABELS.shape).astype(np.uint16)
COLUMNS = "num_pixels,area,bbox,centroid,intensity_mean,intensity_min,intensity_max"


@pytest.fixture
def files(tmp_path):
    """Labels and values in Zarr and HDF5."""
    for name, array in (("labels", LABELS), ("values", VALUES)):
        options = {"shape": array.shape, "chunks": (8, 16, 16), "dtype": array.dtype}
        zarr.create_array(tmp_path / f"{name}.zarr", **options)[...] = array
        with h5py.File(tmp_path / f"{name}.h5", "w") as file:
            data = file.create_dataset("data", data=array, chunks=(8, 16, 16))
            data.attrs["element_size_um"] = (2.0, 0.5, 0.25)
    time = {"name": "t", "type": "time"}
    space = [{"name": name, "type": "space", "unit": "micrometer"} for name in "zyx"]
    scale = {"type": "scale", "scale": [1, 2, 0.5, 0.25]}
    dataset = {"path": "0", "coordinateTransformations": [scale]}
    group = zarr.open_group(tmp_path / "film.zarr", mode="w")
    ome = {"version": "0.5", "multiscales": [{"axes": [time, *space], "datasets": [dataset]}]}
    group.attrs["ome"] = ome
    film = LABELS.reshape(2, 10, 30, 40)
    group.create_array("0", shape=film.shape, chunks=(1, 8, 16, 16), dtype=film.dtype)[...] = film
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        "labels.zarr",
        "labels.zarr --intensity values.zarr",
        f"labels.zarr --intensity values.zarr --properties {COLUMNS}",
        "labels.zarr --intensity values.zarr --properties centroid_weighted,label",
        "labels.h5 --intensity values.h5 --key data --min-size 4",
        "labels.zarr --planes --spacing 2",
        "film.zarr",
        "film.zarr --unit nm",
    ],
)
def test_tables_are_those_of_labels_in_memory(files, report, words):
    of_memory = report("measure", *words.split(), "-o", "memory.parquet")
    of_blocks = report("measure", *words.split(), "-o", "blocks.parquet", "--memory", "8G")
    assert of_blocks["unit"] == of_memory["unit"]
    tables = [pd.read_parquet(f"{name}.parquet") for name in ("memory", "blocks")]
    assert len(tables[0]) > 100
    pd.testing.assert_frame_equal(*tables, rtol=1e-12)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["labels.zarr", "--threshold", "3"], "--threshold has no meaning with --memory"),
        (["labels.zarr", "--picture", "a.png"], "--picture has no meaning with --memory"),
        (["labels.zarr", "--properties", "solidity"], "solidity: with --memory, columns are"),
        (["labels.zarr", "--properties", "all"], "all: with --memory, columns are"),
        (["labels.npy"], "is neither Zarr nor HDF5; leave --memory out"),
        (["floats.zarr"], "images are labels, and these are values of dtype float64"),
    ],
)
def test_what_is_not_measured_in_blocks(files, run, words, complaint):
    np.save(files / "labels.npy", LABELS)
    zarr.create_array(files / "floats.zarr", shape=(3, 4), chunks=(3, 4), dtype="f8")[...] = 0.5
    result = run("measure", *words, "--memory", "8G", "-o", "a.csv")
    assert result.exit_code in (1, 2)
    assert complaint in result.stderr
    assert not (files / "a.csv").exists()


def test_labels_larger_than_the_memory(tmp_path):
    """640 MB of labels, of which few chunks are stored."""
    shape, chunk = (160, 1000, 1000), (40, 250, 250)
    array = zarr.create_array(tmp_path / "a.zarr", shape=shape, chunks=chunk, dtype="i4")
    array[:3, :4, :5] = 1
    array[39:41, 249:251, 249:251] = 2
    table = str(tmp_path / "a.csv")
    words = (str(tmp_path / "a.zarr"), "-o", table, "--memory", "450M", "--threads", "1")
    status, _, error, peak = measured(*words, name="measure")
    assert status == 0, error
    assert peak <= 450_000_000
    assert pd.read_csv(table)["num_pixels"].tolist() == [60, 8]
