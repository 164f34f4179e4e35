"""Images of many components of several values, which the default for large ones labels by rows."""

import numpy as np
import pytest

from changing_memory import label_while_changed
from conncomp import generate, label
from conncomp.kernels.cuda.grid import row_tiles, tiled_bricks, tiled_elements
from dealt import SOAK
from gpu_arrays import check_bricks, describe, modules_of_first_call, without_limits
from hard_images import HARD_IMAGES, placed

every_size = without_limits({tiled_elements: "MOST", row_tiles: "LEAST"}, tiled_bricks.plan_of)


@pytest.fixture
def by_rows(monkeypatch):
    """Label every image by rows."""

    def launch(kernel, grid, *arguments, shared=0, made=row_tiles.launch):
        made(kernel, grid, *arguments, shared=shared)
        if kernel.name == "sample_rows":
            arguments[-2][:] = 1, 0, 0

    monkeypatch.setattr(row_tiles, "launch", launch)


def check(image, connectivity, seed=0, background=0, expected=None):
    """Compare labels; return whether the image was labelled by rows."""
    table = check_bricks(image, connectivity, False, seed, background, expected)
    return table["elsewhere"][0]


@pytest.mark.soak(gate="values")
@pytest.mark.parametrize("shape", [(64, 256), (130, 300), (70, 140), (200, 260), (40, 520)])
@pytest.mark.parametrize("connectivity", [1, 2])
def test_noise(by_rows, shape, connectivity):
    random = np.random.default_rng(shape[1])
    for values in (1, 2, 3, 9):
        image = random.integers(0, values + 1, shape).astype(np.int32)
        assert check(image, connectivity, values)
        assert check(image, connectivity, values, background=99)


@pytest.mark.parametrize("name", sorted(HARD_IMAGES))
def test_hard_images(by_rows, name):
    """Long paths, and unions of many, where four tiles meet."""
    image = HARD_IMAGES[name]
    if image.ndim != 2:
        return
    for hard in (image, image[::-1, ::-1], image.T):
        whole = placed(hard, (120, 320), (64, 256)).astype(np.int32)
        for connectivity in (1, 2):
            assert check(whole, connectivity)


def test_patterns(by_rows):
    y, x = np.indices((150, 280))
    steps = (x + 2 * y) % 24 < 2
    roofs = (x + 3 * y) % 40 < 20  # each row unites what began apart in the one above
    teeth = (y + x // 2 % 32 > 40) & (x % 2 == 0) | (y % 70 == 69)
    for image in (
        steps,
        steps[:, ::-1],
        roofs,
        teeth,
        teeth[:, ::-1],
        generate.patterns.spiral(200),
    ):
        for connectivity in (1, 2):
            assert check(np.ascontiguousarray(image).astype(np.int32), connectivity)


# One of each width, and real numbers, of which some equal nothing; the others are for a soak.
@pytest.mark.parametrize("dtype", ["i2", "u4", "i8", "f4", "f8"] if SOAK else ["i2", "i8", "f4"])
def test_types(by_rows, dtype):
    image = np.random.default_rng(3).integers(0, 3, (70, 140)).astype(dtype)
    assert check(image, 2)
    assert check(image[::2, ::-1], 1, background=2)
    if dtype[0] == "f":
        image[image == 1] = np.nan  # nothing equals it
        image[:, ::2] *= -1  # -0.0 equals 0.0
        check(image, 2)
        by_cpu = label(image, background=np.nan, connectivity=1, numbering="roots")
        check(image, 1, background=np.nan, expected=by_cpu)


def test_who_is_taken():
    random = np.random.default_rng(7)
    shape = 140, 280
    y, x = np.indices(shape)
    three, two = random.integers(0, 3, shape), random.integers(0, 2, shape)
    for image, connectivity, background, by_rows in (
        (three + 1, 2, 0, True),
        (three, 2, 0, True),
        (three, 1, 99, True),
        (two, 2, 0, False),
        (two, 1, 0, False),
        (two, 1, 99, True),
        (two, 2, 99, False),
        (random.integers(1, 9, (35, 70)).repeat(4, 0).repeat(4, 1), 2, 0, False),
        ((x + y) % 2, 1, 0, False),
        ((x + y) % 2, 2, 99, False),
        (random.random(shape) < 0.1, 2, 0, False),
        (0 * three, 2, 0, False),
        (0 * three, 2, 99, False),
    ):
        found = check(image.astype(np.int32), connectivity, background=background)
        assert found == by_rows


def test_who_is_asked():
    def asks(image, index=np.int32, consecutive=False, **asked):
        described = describe(image, **asked)
        kind = described.geometry, described.links, np.dtype(index)
        return tiled_bricks.plan_of(*kind, 1, consecutive).instead is not None

    image = np.zeros((140, 280), np.int32)
    assert asks(image)
    assert asks(image, connectivity=1)
    assert asks(image.astype(np.float32))
    assert not asks(image, index=np.int64)
    assert not asks(image, consecutive=True)
    assert not asks(image, periodic=True)
    assert not asks(image, tolerance=1)
    assert not asks(image, structure=np.eye(3))
    assert not asks(image, batch_axes=1)
    assert not asks(image.astype(np.uint8))
    assert not asks(image.astype(np.float16))
    assert not asks(image.reshape(70, 2, 280))
    assert not asks(image[:1])


def test_modules_of_a_first_call_are_compiled_at_once():
    at_once, besides = modules_of_first_call(np.zeros((70, 140), np.int32))
    assert len(at_once) == 4
    assert besides == []


@pytest.mark.parametrize("at", range(6))
def test_changes_between_launches(at):
    """Of values, and of labels that are entries: any answer, but no access out of bounds."""
    first = np.random.default_rng(2).integers(0, 4, (70, 140)).astype(np.int32)
    label_while_changed(first, at, 7, 2)
