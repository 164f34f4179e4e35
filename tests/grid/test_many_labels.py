"""Labels that are too many to stay in caches, which are written past these, on the CPU."""

import numpy as np
import pytest

from conncomp import label, set_num_threads
from reference import consecutive, label_by_neighbour_pairs

# More than ``kCachedLabels`` bytes of int32: rows that end where words do, beside, and where no
# line of a cache does; rows of less than a word; one row.
SHAPES = [(3, 1100, 704), (1500, 1450), (40, 300, 201), (50, 1000, 47), (2_300_000,)]
BEYOND = 77  # in what lies beside labels


@pytest.fixture(scope="module", params=SHAPES, ids=str)
def image_and_roots(request):
    """An image whose rows have long runs, short ones, or none, for whole stretches of rows."""
    rng = np.random.default_rng(request.param)
    cells = rng.random(-(-np.prod(request.param) // 64)) < 0.5
    image = np.repeat(cells, 64)[: np.prod(request.param)].reshape(request.param)
    image &= rng.random(image.shape) < 0.98
    image[image.shape[0] // 3 : image.shape[0] // 2] = False
    image = image.astype(np.uint8)
    return image, label_by_neighbour_pairs(image, connectivity=image.ndim)


@pytest.mark.parametrize("threads", [1, 3])
def test_labels_begin_anywhere(image_and_roots, threads):
    """Where a line begins, and at each other place in it; nothing beside them changes."""
    image, roots = image_and_roots
    labels = consecutive(roots, first=1)
    set_num_threads(threads)
    np.testing.assert_array_equal(label(image, connectivity=image.ndim), labels)
    memory = np.empty(image.size + 32, np.int32)
    for begin in range(16):
        memory[:] = BEYOND
        out = memory[begin : begin + image.size].reshape(image.shape)
        numbering, wanted = [("consecutive", labels), ("roots", roots)][begin % 2]
        assert label(image, connectivity=image.ndim, numbering=numbering, out=out) is out
        np.testing.assert_array_equal(out, wanted)
        assert (memory[:begin] == BEYOND).all()
        assert (memory[begin + image.size :] == BEYOND).all()


def test_other_layouts(image_and_roots):
    """Labels of 64 bits, of columns in memory, and of many values."""
    image, roots = image_and_roots
    wide = label(image, connectivity=image.ndim, numbering="roots", dtype=np.int64)
    np.testing.assert_array_equal(wide, roots)
    labels = label(np.asfortranarray(image), connectivity=image.ndim, numbering="roots")
    np.testing.assert_array_equal(labels, roots)
    values = image * np.where(consecutive(roots, first=0) % 2, 3, 5)
    labels = label(values, connectivity=image.ndim, numbering="roots")
    np.testing.assert_array_equal(labels, roots)


def test_labels_of_nothing(image_and_roots):
    image, _ = image_and_roots
    for out in np.full((2, image.size + 3), BEYOND, np.int32)[:, 3:]:
        label(np.zeros_like(image), out=out.reshape(image.shape))
        assert not out.any()
