"""An array, or the labels, that change while kernels work: any answer, but no access out of bounds.

Whoever owns the array or `out` can write to it from another stream or thread. Each test here is
also run under AddressSanitizer, which is what finds faults.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from changing_memory import (
    ChangingGpu,
    SeparateWorkspace,
    images,
    labels,
    written_by_another_thread,
)
from conncomp.grid.algorithms import ALGORITHMS
from conncomp.kernels.cuda.grid import tiled_bricks, tiled_elements, tiled_quads
from conncomp.kernels.cuda.grid.tiling import tiling
from conncomp.kernels.cuda.launcher import launch
from gpu_arrays import describe, label_on_gpu
from host_cuda.host_gpu import SANITIZER, interleavings

ON_GPU = ALGORITHMS["cuda"]
DEFAULTS = "bricks", "elements", "quads"
# Algorithms with their options, and numberings: those of the same kernels once.
CASES: list[tuple[str, dict[str, Any], str]] = [
    *((name, {}, "consecutive") for name in (*DEFAULTS, "tiles")),
    *((name, {}, "roots") for name in (*DEFAULTS, *ON_GPU) if name != "auto"),
    *(("tiles", {"local": local}, "roots") for local in ("bfs", "union-find")),
    ("tiles", {"merge": "relaxation"}, "roots"),
]
SHAPE = (41, 75)  # bricks and tiles at the end are cut off, the former to a single row


def only_writes_or_checks(algorithm, options):
    """Whether `out` may change, too: others keep what they read again in an array of their own."""
    return algorithm in DEFAULTS or (algorithm == "tiles" and "merge" not in options)


@pytest.fixture
def run(monkeypatch, request):
    """Label an image with an algorithm, in small tiles, or with one of the defaults."""
    for default, logs in (tiled_bricks, (2, 3, 0)), (tiled_elements, (3, 3, 0)):
        monkeypatch.setattr(default, "LOGS", dict.fromkeys((1, 2, 3), logs))
        default.plan_of.cache_clear()
    monkeypatch.setattr(tiled_bricks, "FIXED", ())

    def run_algorithm(gpu, algorithm, options, image, out, numbering):
        if algorithm == "tiles":
            options = {"tile": 8, **options}
        monkeypatch.setattr(tiled_elements, "MOST", 2**31 if algorithm == "elements" else 0)
        monkeypatch.setattr(tiled_quads, "MOST", 2**31 if algorithm == "quads" else 0)
        name = "auto" if algorithm in DEFAULTS else algorithm
        described = describe(image, connectivity=2, periodic=(algorithm != "quads", False))
        assert described.values is image
        task = numbering, name, True, SeparateWorkspace()
        label_on_gpu(gpu, described, out, *task, **options)

    yield run_algorithm
    for default in tiled_bricks, tiled_elements:
        default.plan_of.cache_clear()


@pytest.mark.soak
@pytest.mark.parametrize(("algorithm", "options", "numbering"), CASES, ids=str)
def test_changes_between_launches(run, algorithm, options, numbering):
    values, wrong = images(SHAPE), labels(SHAPE)
    image, out = np.empty(SHAPE, np.uint8), np.empty(SHAPE, np.int32)
    targets = {name: (image, array) for name, array in values.items()}
    if only_writes_or_checks(algorithm, options):
        targets |= {name: (out, array) for name, array in wrong.items()}
    first = values["noise of three values"]
    image[...] = first
    unchanged = ChangingGpu()
    run(unchanged, algorithm, options, image, out, numbering)
    for at in range(1, min(unchanged.launches, 8), 2 if SANITIZER else 1):
        for target, array in targets.values():

            def change(launch, at=at, target=target, array=array):
                if launch == at:
                    target[...] = array

            image[...], out[...] = first, wrong["largest"]
            run(ChangingGpu(change), algorithm, options, image, out, numbering)


@pytest.mark.soak(gate="values")
@pytest.mark.parametrize("seed", range(1 if SANITIZER else 3))
@pytest.mark.parametrize(("algorithm", "options", "numbering"), CASES, ids=str)
def test_changes_ahead_of_each_launch(run, algorithm, options, numbering, seed):
    random = np.random.default_rng(seed)
    values, wrong = list(images(SHAPE).values()), list(labels(SHAPE).values())
    image, out = values[3].copy(), wrong[2].copy()

    def change(launch):
        where = random.random(SHAPE) < random.choice([0.01, 0.3, 1])
        np.copyto(image, random.permuted(values[random.integers(len(values))]), where=where)
        if only_writes_or_checks(algorithm, options):
            np.copyto(out, wrong[random.integers(len(wrong))], where=where)

    gpu = ChangingGpu(change, seed=seed)
    run(gpu, algorithm, options, image, out, numbering)


@pytest.mark.soak
@pytest.mark.parametrize(("algorithm", "options", "numbering"), CASES, ids=str)
def test_changes_during_launches(run, algorithm, options, numbering):
    values, wrong = list(images(SHAPE).values()), list(labels(SHAPE).values())
    image, out = values[3].copy(), wrong[2].copy()
    writes = [(image, values)]
    if only_writes_or_checks(algorithm, options):
        writes.append((out, wrong))
    with written_by_another_thread(*writes):
        for seed in interleavings(3):
            run(ChangingGpu(seed=seed), algorithm, options, image, out, numbering)


def test_values_that_no_longer_equal_themselves():
    """A component has the element that it is asked for, whatever its value is by now."""
    image = describe(np.full((9, 13), np.nan, np.float32))
    logs = (2, 3, 0)
    named = tiled_bricks._named("conncomp::Equal<float>", 2, None, False, np.dtype("i4"), False)
    names = (f"entries<{named.links}, {named.tiles}, {named.label}>",)
    gpu = ChangingGpu(include=Path(__file__).parent / "kernels")
    (kernel,) = gpu.load("entries.cuh", names)
    every_bit = np.full(1 << sum(logs), -1, np.int64).view(np.uint64)
    entry = np.empty(image.size, np.int32)
    tiles = tiling(image.geometry, logs)
    by_values = np.full(1, 2, np.uint8)  # Comparison::kValues
    fields = dict.fromkeys(tiled_bricks.TABLE.dtype.names) | {"bricks": 0}
    fields |= {"foreground": every_bit, "comparison": by_values}
    table = tiled_bricks.TABLE.of(gpu, **fields)
    launch(kernel, (2, 32), tiles, image.values, table, entry)
    np.testing.assert_array_equal(entry, np.arange(image.size))
