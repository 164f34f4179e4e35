"""Batches of small items by bricks, whose words each block numbers for itself."""

import numpy as np
import pytest

from conncomp import Workspace, label
from conncomp.kernels.cuda.grid import tiled_bricks
from conncomp.kernels.cuda.launcher import kept_launches
from gpu_arrays import describe
from host_cuda.host_gpu import AVAILABLE, HostGpu

pytestmark = pytest.mark.skipif(not AVAILABLE, reason="needs Linux and a C++ compiler")


@pytest.fixture(autouse=True)
def few_tiles(monkeypatch):
    """Let all items be small."""
    monkeypatch.setattr(tiled_bricks, "FEW_TILES", 8)
    tiled_bricks.plan_of.cache_clear()
    yield
    tiled_bricks.plan_of.cache_clear()


def launched(image, consecutive, **asked):
    """Label a batch, compare it with the CPU, and return the kernels that did it."""
    labels = np.full(image.shape, -7, np.int32)
    with kept_launches() as launches:
        described = describe(image, batch_axes=1, **asked)
        counts = tiled_bricks.fill_labels(HostGpu(), described, labels, Workspace(), consecutive)
    expected, expected_counts = label(
        image,
        batch_axes=1,
        numbering="consecutive" if consecutive else "roots",
        return_num=True,
        **asked,
    )
    np.testing.assert_array_equal(labels, expected)
    np.testing.assert_array_equal(counts, expected_counts)
    return [launch.kernel.name for launch in launches]


@pytest.mark.parametrize("shape", [(3, 70, 150), (4, 64, 128), (2, 256, 256), (4, 33, 300)])
def test_numbered_in_blocks(shape):
    image = (np.random.default_rng(shape).random(shape) < 0.4).astype(np.uint8)
    assert launched(image, consecutive=True, connectivity=2)[-2:] == [
        "settle_roots",
        "write_labels",
    ]


def test_numbered_by_a_launch(monkeypatch):
    """Where items are larger, or tiles many."""
    random = np.random.default_rng(1)
    image = (random.random((2, 260, 256)) < 0.4).astype(np.uint8)
    names = launched(image, consecutive=True, connectivity=1)
    assert names[-3:] == ["gather_roots", "number_words", "write_labels"]
    monkeypatch.setattr(tiled_bricks, "FEW_TILES", 0)
    tiled_bricks.plan_of.cache_clear()
    assert "number_words" in launched(image[:, :64], consecutive=True, connectivity=1)
