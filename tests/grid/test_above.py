"""Bricks that label real numbers above a threshold, against `label` of what is above."""

import numpy as np
import pytest

import conncomp
from conncomp import Workspace
from conncomp.kernels.cuda.grid import tiled_bricks
from conncomp.kernels.cuda.grid.image import Image
from conncomp.kernels.links import values_above
from conncomp.kernels.neighbourhood import Neighbourhood
from conncomp.models import CahnHilliard
from host_cuda.host_gpu import HostGpu


@pytest.mark.soak(gate="pairs")
@pytest.mark.parametrize("numbering", ["roots", "consecutive"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("seed", range(12))
def test_equals_label_of_what_is_above(seed, dtype, numbering):
    """Smooth and rough fields, cut at a number that they have, with NaN and infinities."""
    random = np.random.default_rng(seed)
    shapes = [(130, 70), (64, 128), (40, 300), (17, 19, 23), (9, 33, 40), (2, 50, 90)]
    shape, batch_axes = shapes[seed % 6], int(seed % 6 == 5)
    field = random.standard_normal(shape).astype(dtype)
    if seed < 6:
        field += np.roll(field, 1, -1) + np.roll(field, 1, -2)
    field.flat[random.integers(0, field.size, 30)] = random.choice([np.nan, np.inf, -np.inf], 30)
    threshold = 0.0 if seed % 2 else float(np.sort(field, axis=None)[field.size // 2])
    connectivity = int(random.integers(1, len(shape) - batch_axes + 1))
    periodic = tuple((random.random(len(shape) - batch_axes) < 0.5).tolist())
    gpu, labels = HostGpu(seed=seed), np.empty(shape, np.int32)
    image = Image(
        field,
        values_above(threshold, field.dtype),
        Neighbourhood(connectivity, None, periodic),
        batch_axes,
    )
    assert tiled_bricks.can_label(image.geometry, image.links)
    counts = tiled_bricks.fill_labels(gpu, image, labels, Workspace(), numbering == "consecutive")
    expected, number = conncomp.label(
        field > threshold,
        connectivity=connectivity,
        periodic=periodic,
        batch_axes=batch_axes,
        numbering=numbering,
        return_num=True,
    )
    np.testing.assert_array_equal(labels, expected)
    np.testing.assert_array_equal(counts, np.reshape(number, -1))


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("shape", "replicas"), [((1024, 640), 1), ((96, 100, 96), None), ((300, 2048), 2)]
)
def test_labels_of_a_model_on_a_gpu(shape, replicas, dtype):
    options = {"dtype": dtype, "replicas": replicas, "seed": 4}
    models = [CahnHilliard(shape, **options, device=device) for device in ("cpu", "cuda")]
    for model in models:
        model.step(200)
    for threshold, numbering in ((0.0, "consecutive"), (0.1, "roots")):
        labels = [model.labels(threshold=threshold, numbering=numbering) for model in models]
        np.testing.assert_array_equal(labels[0], labels[1].get())
