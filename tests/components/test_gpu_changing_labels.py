"""Labels that change after they were checked: any answer, but no access out of bounds.

The kernels run on the host executor, under AddressSanitizer, which is what finds faults.
"""

import numpy as np
import pytest

from changing_memory import ChangingGpu, labels, written_by_another_thread
from conncomp.components._labels import check_labels
from conncomp.kernels.cuda.components.members import list_members
from conncomp.kernels.cuda.components.tables import count_labels, measure_labels, replace_labels
from host_cuda.host_gpu import AVAILABLE, check_sanitized

pytestmark = pytest.mark.skipif(not AVAILABLE, reason="needs Linux and a C++ compiler")

SHAPE = (40, 33)


def members(gpu, array, ground, rows):
    counted = count_labels(gpu, array, ground, rows)
    return list_members(gpu, array.reshape(-1), ground, counted, np.dtype(np.int32), part=500)


TOOLS = {
    "sizes": count_labels,
    "statistics": measure_labels,
    "members": members,
    "replaced": lambda gpu, array, ground, rows: replace_labels(
        gpu, array, ground, np.arange(rows, dtype=array.dtype)
    ),
}


def few_labels(dtype):
    """Return labels of which some do not occur."""
    return 2 * np.random.default_rng(5).integers(0, 20, SHAPE).astype(dtype)


@pytest.mark.parametrize(("dtype", "background"), [(np.int32, 0), (np.int64, None)])
@pytest.mark.parametrize("tool", TOOLS)
def test_changes_between_launches(tool, dtype, background):
    right = few_labels(dtype)
    array, ground, rows = check_labels(right.copy(), background)
    wrong = [*labels(SHAPE, dtype).values(), right + 1, np.minimum(right, 1)]
    unchanged = ChangingGpu()
    TOOLS[tool](unchanged, array, ground, rows)
    for at in range(unchanged.launches):
        for other in wrong:

            def change(launch, at=at, other=other):
                if launch == at:
                    array[...] = other

            array[...] = right
            TOOLS[tool](ChangingGpu(change), array, ground, rows)


@pytest.mark.parametrize("tool", TOOLS)
def test_changes_during_launches(tool):
    right = few_labels(np.int32)
    array, ground, rows = check_labels(right.copy(), 0)
    with written_by_another_thread((array, [right, *labels(SHAPE).values()])):
        for seed in range(3):
            TOOLS[tool](ChangingGpu(seed=seed), array, ground, rows)


def test_sanitized():
    check_sanitized("address", __file__, "test_changes")
