"""Beside the libraries that the functions take the place of: what their texts say, or they do."""

import importlib.util

import numpy as np
import pytest

import mask_reference as reference

torch = pytest.importorskip("torch")
tensors = pytest.importorskip("conncomp.torch")

RANDOM = np.random.default_rng(5)
DENSITIES = 0.2, 0.5, 0.8


def noise(shape, density):
    return torch.from_numpy(RANDOM.random(shape) < density).to(torch.uint8)


def blobs(shape, seed):
    """Scores about 0 of neighbouring pixels that are alike."""
    scores = torch.randn(shape, generator=torch.Generator().manual_seed(seed))
    return torch.nn.functional.avg_pool2d(scores, 3, 1, 1) if len(shape) == 4 else scores


def same_components(one, other):
    """Whether two arrays of labels divide each item (b, c) alike, whatever the numbers are."""
    for item in np.ndindex(*one.shape[:2]):
        a, b = np.asarray(one[item]).ravel(), np.asarray(other[item]).ravel()
        pairs = set(zip(a.tolist(), b.tolist(), strict=True))
        if not len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs}):
            return False
        if any((a == 0) != (b == 0) for a, b in pairs):
            return False
    return True


def test_what_are_the_same_components():
    one = np.array([[[[1, 1, 0, 2]]]])
    assert same_components(one, np.array([[[[7, 7, 0, 3]]]]))
    for other in ([7, 7, 0, 7], [7, 3, 0, 4], [7, 7, 1, 3], [7, 7, 7, 3], [0, 0, 1, 2]):
        assert not same_components(one, np.array([[[other]]]))


@pytest.mark.parametrize("density", DENSITIES)
@pytest.mark.parametrize("shape", [(12, 18), (2, 2), (6, 4, 8)])
def test_cc_torch(device, shape, density):
    """cc_torch takes one uint8 image or volume of even lengths, and numbers by places."""
    image = noise(shape, density).to(device)
    ours = tensors.label(image[None, None])[0, 0]
    theirs = reference.labels_of_cc_torch(image.cpu().numpy())
    assert ours.dtype == torch.int32
    assert ours.shape == shape
    assert same_components(ours.cpu()[None, None], theirs[None, None])


@pytest.mark.parametrize("density", DENSITIES)
@pytest.mark.parametrize("shape", [(3, 1, 10, 14), (2, 1, 9, 13)])
def test_get_connected_components(device, shape, density):
    """SAM 2's and `cc_2d`: labels and areas of (N, 1, H, W), by 8 neighbours, as int32.

    Transformers pads odd sizes by background, which changes nothing of what is inside.
    """
    masks = noise(shape, density)
    labels, counts = tensors.label_and_count(masks.to(device))
    padded = torch.nn.functional.pad(masks, (0, shape[3] % 2, 0, shape[2] % 2)).numpy()
    inside = (..., slice(shape[2]), slice(shape[3]))
    theirs = reference.each(reference.labels_of_cc_torch, padded)[inside]
    assert labels.dtype == counts.dtype == torch.int32
    assert same_components(labels.cpu(), theirs)
    np.testing.assert_array_equal(counts.cpu(), reference.each(reference.areas_of, padded)[inside])


@pytest.mark.parametrize("density", DENSITIES)
@pytest.mark.parametrize("shape", [(3, 1, 9, 14), (1, 1, 1, 5)])
def test_kornia(device, shape, density):
    """Kornia numbers by places in the batch, in int64, and takes for foreground what is 1."""
    images = (
        noise(shape, density) * torch.from_numpy(RANDOM.choice([0.5, 1, 1, 1], shape))
    ).float()
    theirs = reference.labels_of_kornia(images.numpy())
    assert same_components(tensors.label((images == 1).to(device)).cpu(), theirs)
    if importlib.util.find_spec("kornia"):
        from kornia.contrib import connected_components

        np.testing.assert_array_equal(connected_components(images, num_iterations=200), theirs)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("max_area", [0, 1, 3, 8, 2**40])
@pytest.mark.parametrize("steps", [(True, True), (True, False), (False, True), (False, False)])
def test_scores_of_sam(device, max_area, seed, steps):
    """SAM 3's function; SAM 2's is its first step."""
    for shape in ((2, 1, 13, 18), (1, 2, 1, 7), (1, 1, 4, 5, 6), (0, 1, 3, 3)):
        for scores in (blobs(shape, seed), blobs(shape, seed) - 0.4, blobs(shape, seed).half()):
            placed = scores.to(device)
            ours = tensors.fill_holes_in_mask_scores(placed, max_area, *steps)
            theirs = reference.each(reference.scores_of_sam, scores.numpy(), max_area, *steps)
            assert ours.dtype == scores.dtype
            np.testing.assert_array_equal(ours.cpu(), theirs)
            assert torch.equal(placed.cpu(), scores)


def test_scores_of_small_masks_stay(device):
    """A mask that is all of one island stays, as do two that are equal; NaN is neither side."""
    scores = torch.full((3, 1, 3, 5), -2.0)
    scores[0, 0, 1, 1:3] = 2
    scores[1, 0, 1, [0, 2, 3, 4]] = 2
    scores[2, 0, 1, [0, 2]] = torch.tensor([1.0, float("nan")])
    ours = tensors.fill_holes_in_mask_scores(scores.to(device), 5, fill_holes=False).cpu()
    assert torch.equal(ours[0], scores[0])
    assert (ours[1, 0, 1] > 0).tolist() == [False, False, True, True, True]
    assert torch.equal(ours[2].nan_to_num(9), scores[2].nan_to_num(9))


def test_gradients_of_scores(device):
    scores = blobs((2, 1, 13, 18), 1).to(device).requires_grad_()
    changed = tensors.fill_holes_in_mask_scores(scores, 4)
    changed.sum().backward()
    assert torch.equal(scores.grad == 1, changed == scores)
    assert set(scores.grad.flatten().tolist()) == {0, 1}


@pytest.mark.parametrize(
    ("mask", "max_area", "kind", "message"),
    [
        (torch.ones(1, 1, 2, 2, dtype=torch.bool), 1, TypeError, "mask is of dtype torch.bool; sc"),
        (torch.ones(2, 2), 1, ValueError, r"mask has shape \(2, 2\); .* mask\[None, None\]"),
        (np.ones((1, 1, 2, 2)), 1, TypeError, "mask is a ndarray"),
        (torch.ones(1, 1, 2, 2), 1.5, TypeError, r"max_area=1\.5 must be an integer"),
    ],
)
def test_bad_scores(mask, max_area, kind, message):
    with pytest.raises(kind, match=message):
        tensors.fill_holes_in_mask_scores(mask, max_area)


@pytest.fixture(scope="module")
def monai():
    pytest.importorskip("skimage")
    return pytest.importorskip("monai.transforms")


VOLUMES = (3, 11, 14), (2, 5, 6, 7)


def distinct(masks, connectivity):
    """Whether no two components of a mask are of one size; of two, MONAI keeps either."""
    for channel in masks.numpy():
        labels = reference.labels_of(channel, connectivity)
        sizes = np.bincount(labels.ravel())[1:]
        if len(set(sizes.tolist())) < len(sizes):
            return False
    return True


@pytest.mark.parametrize("shape", VOLUMES)
@pytest.mark.parametrize("connectivity", [None, 1])
@pytest.mark.parametrize("k", [1, 2])
def test_monai_keeps_the_largest(device, monai, shape, connectivity, k):
    """Of images (C, ...) that are one-hot, channel by channel."""
    keep = monai.KeepLargestConnectedComponent(
        applied_labels=range(shape[0]), is_onehot=True, connectivity=connectivity, num_components=k
    )
    compared = 0
    for density in np.linspace(0.05, 0.95, 181):
        image = noise(shape, density)
        if distinct(image, connectivity):
            ours = tensors.largest_components(image[None].to(device), k, connectivity)[0]
            theirs = np.asarray(keep(image.clone()))
            np.testing.assert_array_equal(ours.cpu(), theirs)
            compared += 1
    assert compared > 20


@pytest.mark.parametrize("shape", VOLUMES)
@pytest.mark.parametrize("connectivity", [None, 1])
def test_monai_fills_holes(device, monai, shape, connectivity):
    """MONAI's connectivity is that of the holes, whose complement is that of the objects."""
    channels = range(shape[0])
    fill = monai.FillHoles(applied_labels=channels, connectivity=connectivity)
    for density in (0.4, 0.6, 0.7, 0.9):
        image = noise(shape, density)
        image[0] = 0  # MONAI's background
        objects = 1 if connectivity is None else None
        ours = tensors.fill_holes(image[None].to(device), connectivity=objects)[0]
        np.testing.assert_array_equal(ours.cpu(), np.asarray(fill(image.clone())))
