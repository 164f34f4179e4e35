"""From roots to labels on the GPU, on the host executor and on a GPU, against NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from changing_memory import (
    ChangingGpu,
    SeparateWorkspace,
    change_between_launches,
    labels,
    written_by_another_thread,
)
from conncomp import Workspace
from conncomp.kernels.cuda.core.numbering import count_roots, number_roots, place_roots_within_items
from host_cuda.host_gpu import HostGpu
from reference import consecutive


def roots_of_items(items, length, values, generator, dtype=np.int32):
    """Return roots of random components of each item, as indices in all; -1 is background."""
    value = generator.integers(-1, values, (items, length))
    roots = np.full((items, length), -1, dtype)
    for item in range(items):
        for number in range(values):
            members = np.flatnonzero(value[item] == number)
            if len(members):
                roots[item, members] = item * length + members[0]
    return roots


def without_background(roots):
    """Return roots where background is joined to the first index of its item."""
    items, length = roots.shape
    return np.maximum(roots, (np.arange(items) * length).astype(roots.dtype)[:, None])


def expected(roots, first):
    """Return labels, numbers of components, and roots within items."""
    items, length = roots.shape
    begins = np.arange(items)[:, None] * length
    within = np.where(roots < 0, -1, roots - begins)
    numbered = [consecutive(item, first) for item in within]
    counts = [len(np.unique(item[item >= 0])) for item in within]
    return np.array(numbered).reshape(roots.shape), counts, within


def check(xp, gpu, roots, first):
    items = len(roots)
    numbered, counts, within = expected(roots, first)
    flat, workspace = xp.asarray(roots.reshape(-1).copy()), Workspace()
    fetch = (lambda array: array) if xp is np else xp.asnumpy
    counted = fetch(count_roots(gpu, flat, workspace, items)).copy()
    np.testing.assert_array_equal(counted, counts)
    np.testing.assert_array_equal(fetch(flat), roots.reshape(-1))
    local = flat.copy()
    place_roots_within_items(gpu, local, items)
    np.testing.assert_array_equal(fetch(local).reshape(roots.shape), within)
    components = number_roots(gpu, flat, first, workspace, items)
    np.testing.assert_array_equal(fetch(components), counts)
    np.testing.assert_array_equal(fetch(flat).reshape(roots.shape), numbered)


@settings(max_examples=150)
@given(
    st.integers(1, 9),
    st.integers(1, 200),
    st.sampled_from([1, 2, 5, 60]),
    st.sampled_from([np.int32, np.int64]),
    st.integers(0, 2**32),
)
def test_items(items, length, values, dtype, seed):
    """Items that end anywhere in a word, and several of them in one."""
    generator = np.random.default_rng(seed)
    check(np, HostGpu(), roots_of_items(items, length, values, generator, dtype), 1)


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize(("items", "length"), [(1, 40_000), (3, 9_000), (700, 3), (1, 1), (64, 32)])
def test_chunks(items, length, first):
    """More words than a block looks at in a round, and more chunks than blocks."""
    generator = np.random.default_rng(3)
    for values in (1, 300):
        roots = roots_of_items(items, length, values, generator)
        for multiprocessors in (1, 4):
            gpu = HostGpu(multiprocessors=multiprocessors, resident_threads=512)
            check(np, gpu, without_background(roots) if first == 0 else roots, first)


@pytest.mark.parametrize("items", [1, 3])
def test_nothing(items):
    flat = np.zeros(0, np.int32)
    for count in (
        number_roots(HostGpu(), flat, 1, Workspace(), items),
        count_roots(HostGpu(), flat, Workspace(), items),
    ):
        np.testing.assert_array_equal(count, np.zeros(items), strict=False)
    place_roots_within_items(HostGpu(), flat, items)


def number(gpu, flat, items):
    number_roots(gpu, flat, 1, SeparateWorkspace(), items)


def place(gpu, flat, items):
    count_roots(gpu, flat, SeparateWorkspace(), items)
    place_roots_within_items(gpu, flat, items)


SHAPE = (3, 700)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("items", [1, 3])
@pytest.mark.parametrize("work", [number, place])
def test_changes_between_launches(work, items, dtype):
    """Any labels, but no access out of bounds, which AddressSanitizer looks for."""
    flat = roots_of_items(*SHAPE, 40, np.random.default_rng(5), dtype).reshape(-1)
    wrong = [array.reshape(-1) for array in labels(SHAPE, dtype).values()]
    change_between_launches(lambda gpu: work(gpu, flat, items), flat, wrong)


@pytest.mark.parametrize("work", [number, place])
def test_changes_during_launches(work):
    right = roots_of_items(*SHAPE, 40, np.random.default_rng(5)).reshape(-1)
    flat = right.copy()
    wrong = [array.reshape(-1) for array in labels(SHAPE).values()]
    with written_by_another_thread((flat, [right, *wrong])):
        for seed in range(3):
            work(ChangingGpu(seed=seed), flat, 3)


@pytest.mark.gpu
class TestOnGpu:
    """On a GPU."""

    @pytest.mark.parametrize("dtype", [np.int32, np.int64])
    @pytest.mark.parametrize(
        ("items", "length"), [(1, 3_000_001), (5, 77_777), (1000, 129), (100_000, 5), (7, 4096)]
    )
    def test_items(self, items, length, dtype):
        import cupy

        from conncomp.kernels.cuda.launcher import current_gpu

        roots = roots_of_items(items, length, 3, np.random.default_rng(1), dtype)
        for first in (0, 1):
            check(cupy, current_gpu(), without_background(roots) if first == 0 else roots, first)
