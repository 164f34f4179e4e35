"""Arguments of functions that have no effect beside others are errors that name them."""

import dask.array
import numpy as np
import pytest
import xarray as xr

import conncomp
from conncomp import Workspace

IMAGE = np.eye(4, dtype=np.uint8)
BONDS = np.ones((2, 4, 4), bool)
GRAPH = conncomp.Graph.from_edges([0, 1], [1, 2])


@pytest.mark.parametrize(
    ("function", "data"),
    [
        (conncomp.label, IMAGE),
        (conncomp.label, dask.array.from_array(IMAGE)),
        (conncomp.label, xr.DataArray(IMAGE, dims=("y", "x"))),
        (conncomp.label_bonds, BONDS),
        (conncomp.component_wrapping, IMAGE),
        (conncomp.cluster_wrapping, BONDS),
        (conncomp.connected_components, GRAPH),
        (conncomp.spanning_forest, GRAPH),
        (conncomp.minimum_spanning_forest, np.eye(3, k=1)),
    ],
)
def test_memory_of_a_gpu_for_data_that_is_not_there(function, data):
    with pytest.raises(ValueError, match=r"^workspace is for arrays on a GPU, but .*; leave it"):
        function(data, workspace=Workspace())


def test_a_range_of_values_of_no_image(tmp_path):
    for function in (conncomp.colour_components, lambda *a, **b: conncomp.write_view("a", *a, **b)):
        with pytest.raises(
            ValueError, match=r"^value_range=\(0.0, 1.0\) is of an image, and there"
        ):
            function(IMAGE, value_range=(0, 1))


@pytest.mark.parametrize("background", [7, -1, 0.5, np.nan])
def test_a_background_that_a_threshold_does_not_make(tmp_path, background):
    np.save(tmp_path / "v.npy", IMAGE)
    source, target = tmp_path / "v.npy", tmp_path / "l.npy"
    for function, paths in (
        (conncomp.label_file, (source, target)),
        (conncomp.plan_labels, [source]),
    ):
        with pytest.raises(ValueError, match=r"^background=.*: with threshold the volume has the"):
            function(*paths, background, threshold=0.5)
        for fine in (None, 0, 1):
            function(*paths, fine, threshold=0.5)
            target.unlink(missing_ok=True)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: conncomp.label(IMAGE, connectivity=1, structure=np.ones((3, 3))), "exclude"),
        (lambda: conncomp.label(IMAGE > 0, tolerance=1), "tolerance=1 is for numbers"),
        (lambda: conncomp.label(IMAGE, algorithm="runs", tile=8), "has no option 'tile'"),
        (
            lambda: conncomp.label(IMAGE, out=IMAGE.astype("i4"), dtype="i8"),
            "out is of dtype int32",
        ),
        (lambda: conncomp.connected_components(GRAPH, tile=8), "has no option 'tile'"),
        (lambda: conncomp.largest_components(IMAGE, connectivity=1), "connectivity=1 is for masks"),
        (lambda: conncomp.largest_components(IMAGE > 0, background=-1), "background=-1"),
        (lambda: conncomp.fill_holes(IMAGE > 0, background=-1), "background=-1"),
        (lambda: conncomp.remove_small_components(IMAGE, invert=True), "neither min_size nor"),
    ],
)
def test_what_was_refused_before(call, words):
    with pytest.raises((TypeError, ValueError), match=words):
        call()
