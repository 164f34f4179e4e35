"""Labels that change after they were checked: any answer, but no access out of bounds.

The kernels run on the host executor, under AddressSanitizer, which is what finds faults.
"""

import numpy as np
import pytest

from changing_memory import ChangingGpu, change_between_launches, labels, written_by_another_thread
from conncomp.components._labels import check_items
from conncomp.kernels.cuda.components.runs import find_runs
from conncomp.kernels.cuda.components.shapes import measure_shapes
from conncomp.kernels.cuda.components.tables import (
    combine_labels,
    count_labels,
    list_members,
    replace_labels,
)

SHAPE = (40, 33)


def members(gpu, array, background, rows):
    sizes, index = count_labels(gpu, array, background, rows), np.dtype(np.int32)
    flat = array.reshape(-1)
    return list_members(gpu, flat, background, sizes, array.size // 4, index, part=500)


def number_apart(gpu, array, background, rows):
    combined = np.empty(array.shape, array.dtype)
    combine_labels(gpu, array, array.shape[1], background, rows, combined)
    table = np.arange(array.shape[0] * rows, dtype=array.dtype)
    return replace_labels(gpu, combined, background, table)


def shapes(gpu, *described):
    return measure_shapes(gpu, find_runs(gpu, *described, SHAPE[-1]), SHAPE, moments=True)


TOOLS = {
    "sizes": count_labels,
    "statistics": shapes,
    "members": members,
    "replaced": lambda gpu, array, background, rows: replace_labels(
        gpu, array, background, np.arange(rows, dtype=array.dtype)
    ),
    "items": number_apart,
}


def few_labels(dtype):
    """Return labels of which some do not occur."""
    return 2 * np.random.default_rng(5).integers(0, 20, SHAPE).astype(dtype)


@pytest.mark.parametrize(("dtype", "background"), [(np.int32, 0), (np.int64, None)])
@pytest.mark.parametrize("tool", TOOLS)
def test_changes_between_launches(tool, dtype, background):
    right = few_labels(dtype)
    items = check_items(right.copy(), background, 0)
    wrong = [*labels(SHAPE, dtype).values(), right + 1, np.minimum(right, 1)]
    task = items.labels, items.background, items.rows
    change_between_launches(lambda gpu: TOOLS[tool](gpu, *task), items.labels, wrong)


@pytest.mark.parametrize("tool", TOOLS)
def test_changes_during_launches(tool):
    right = few_labels(np.int32)
    items = check_items(right.copy(), 0, 0)
    array, empty, rows = items.labels, items.background, items.rows
    with written_by_another_thread((array, [right, *labels(SHAPE).values()])):
        for seed in range(3):
            TOOLS[tool](ChangingGpu(seed=seed), array, empty, rows)
