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
