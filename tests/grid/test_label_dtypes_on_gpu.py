"""Labels of every dtype from a GPU: those of the CPU, and errors that leave `out` as it was."""

import sys

import numpy as np
import pytest

from conncomp import _label_output, label
from conncomp.grid import answers, repeated
from conncomp.grid.algorithms import ALGORITHMS
from host_cupy import HOST_AND_GPU, cupy_of, place_on_host

IMAGE = np.random.default_rng(0).integers(0, 3, (20, 30))
MANY = np.arange(1, 301).reshape(3, 100)
DTYPES = [f"{sign}{size}" for sign in "iu" for size in (1, 2, 4, 8)]

cupy = pytest.fixture(place_on_host)


@pytest.fixture(params=HOST_AND_GPU)
def either(request, monkeypatch):
    return cupy_of(request.param, monkeypatch)


CASES = [(dtype, "consecutive") for dtype in (*DTYPES, "smallest")]
CASES += [(dtype, "roots") for dtype in ("i2", "i4", "i8", "smallest")]


@pytest.mark.parametrize(("dtype", "numbering"), CASES)
def test_dtypes(either, dtype, numbering):
    expected = label(IMAGE, numbering=numbering, dtype=dtype)
    placed = either.asarray(IMAGE)
    labels = label(placed, numbering=numbering, dtype=dtype)
    np.testing.assert_array_equal(labels.get(), expected, strict=True)
    out = either.asarray(np.full_like(expected, 77))
    labels, num = label(placed, numbering=numbering, out=out, return_num=True)
    assert labels is out
    assert int(num) == label(IMAGE, return_num=True)[1]
    np.testing.assert_array_equal(out.get(), expected)
    moved = label(IMAGE, numbering=numbering, dtype=dtype, device="cuda")
    np.testing.assert_array_equal(moved, expected, strict=True)


def test_dtypes_that_are_too_small(either):
    out = either.asarray(np.full(MANY.shape, 7, np.uint8))
    for options in ({"dtype": np.uint8}, {"out": out}):
        with pytest.raises(ValueError, match="is uint8, too small for labels up to 300; use uint1"):
            label(either.asarray(MANY), **options)
    assert (out.get() == 7).all()
    with pytest.raises(ValueError, match="dtype is uint16, without a -1"):
        label(either.asarray(MANY), dtype="u2", numbering="roots")


@pytest.mark.parametrize(
    ("algorithm", "options"),
    [(name, {}) for name, algorithm in ALGORITHMS["cuda"].items() if not algorithm.capturable]
    + [("tiles", {"merge": "relaxation"})],
)
def test_algorithms_that_sweep_work_on_labels_of_their_own(cupy, monkeypatch, algorithm, options):
    """Whatever the caller writes to `out` meanwhile, such an algorithm ends, and is right."""
    out = cupy.asarray(np.zeros(IMAGE.shape, np.int32))

    def scribble(*arguments, **launch_options):
        out.host[...] = 10**9
        launch(*arguments, **launch_options)

    for module in list(sys.modules.values()):
        if module.__name__.startswith("conncomp.kernels") and hasattr(module, "launch"):
            launch = module.launch
            monkeypatch.setattr(module, "launch", scribble)
    label(cupy.asarray(IMAGE), algorithm=algorithm, numbering="roots", out=out, **options)
    np.testing.assert_array_equal(out.get(), label(IMAGE, numbering="roots"))


@pytest.mark.parametrize("algorithm", [*ALGORITHMS["cuda"]])
def test_small_items_of_a_large_array(cupy, monkeypatch, algorithm):
    """Kernels keep indices in the whole array, which may not fit into the labels of its items."""
    monkeypatch.setattr(_label_output, "INT32_MAX", 200)
    filled = []

    def fill_on_gpu(question, gpu, image, labels, workspace):
        filled.append(labels.dtype)
        return fill(question, gpu, image, labels, workspace)

    fill = answers.fill_on_gpu
    for module in (answers, repeated):
        monkeypatch.setattr(module, "fill_on_gpu", fill_on_gpu)
    for items, kernel_dtype in ((4, np.int32), (5, np.int64)):
        batch = np.random.default_rng(items).integers(0, 3, (items, 10, 5))
        for numbering in ("consecutive", "roots"):
            task = {"batch_axes": 1, "numbering": numbering, "algorithm": algorithm}
            right = label(batch, batch_axes=1, numbering=numbering)
            assert right.dtype == np.int32
            out = cupy.asarray(np.full_like(right, 77))
            placed = cupy.asarray(batch)
            assert label(placed, out=out, **task) is out
            found = [out, label(placed, **task), label(placed, dtype=np.int32, **task)]
            for labels in (
                *(labels.get() for labels in found),
                label(batch, device="cuda", **task),
            ):
                np.testing.assert_array_equal(labels, right, strict=True)
            wide = label(placed, dtype=np.int64, **task)
            np.testing.assert_array_equal(wide.get(), right.astype(np.int64), strict=True)
            assert filled == [kernel_dtype] * 4 + [np.int64]
            filled.clear()
