"""Labels, areas, largest components and holes of masks, on the CPU and on a GPU."""

import doctest

import numpy as np
import pytest
import scipy.ndimage
from hypothesis import given
from hypothesis import strategies as st

import mask_reference as reference

torch = pytest.importorskip("torch")
tensors = pytest.importorskip("conncomp.torch")

RANDOM = np.random.default_rng(37)
SHAPES = [
    *((2, 1, 13, 17), (1, 3, 8, 9), (3, 2, 1, 1), (1, 1, 1, 11), (2, 1, 7, 1), (5, 1, 2, 2)),
    *((2, 1, 5, 7, 3), (1, 2, 4, 4, 5), (1, 1, 1, 1, 6)),
    *((0, 1, 5, 5), (2, 0, 3, 3), (1, 1, 0, 4), (1, 1, 4, 0), (1, 1, 3, 0, 2)),
]
DTYPES = [torch.bool, torch.uint8, torch.int8, torch.int64, torch.float16, torch.float32]

# Each function beside its reference of one mask, with arguments after masks.
CASES = [
    *[(tensors.label, reference.labels_of, (reach,)) for reach in (None, 1, 2)],
    *[(lambda m, c: tensors.label_and_count(m, c)[1], reference.areas_of, (c,)) for c in (None, 1)],
    *[(tensors.largest_components, reference.largest_of, (k,)) for k in (0, 1, 2, 1000)],
    (tensors.largest_components, reference.largest_of, (1, 1)),
    *[
        (
            tensors.remove_small_components,
            lambda mask, n: reference.areas_of(mask) >= max(n, 1),
            (n,),
        )
        for n in (-5, 0, 1, 2, 3, 2**40)
    ],
    *[(tensors.fill_holes, reference.without_holes, (most,)) for most in (None, 0, 1, 3, 2**40)],
    *[(tensors.fill_holes, reference.without_holes, (None, reach)) for reach in (1, 2)],
    (tensors.fill_holes, reference.without_holes, (2, 1)),
]


def check(masks, function, of_one, arguments):
    before = masks.clone()
    result = function(masks, *arguments)
    right = reference.each(of_one, masks.cpu().numpy(), *arguments)
    np.testing.assert_array_equal(result.cpu().numpy(), right)
    assert result.device == masks.device
    assert not result.requires_grad
    assert result.dtype == (torch.bool if right.dtype == bool else torch.int32)
    assert torch.equal(masks, before)


def noise(shape, density=0.6):
    return torch.from_numpy(RANDOM.random(shape) < density)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("function", "of_one", "arguments"), CASES)
def test_noise(device, shape, function, of_one, arguments):
    for density in (0.25, 0.6, 0.85):
        check(noise(shape, density).to(device), function, of_one, arguments)


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(device, dtype):
    """What is not 0 is foreground, whatever its value."""
    values = torch.from_numpy(RANDOM.integers(0, 4, (2, 2, 9, 7))).to(device).to(dtype)
    for case in CASES:
        check(values, *case)


def test_what_floats_are_foreground(device):
    masks = torch.tensor([[[[0.0, -0.0, 1e-40, -3.0, 0.0, float("nan"), float("inf")]]]])
    with pytest.warns(UserWarning, match="pass masks > 0 of logits"):
        labels = tensors.label(masks.to(device))
    assert labels.flatten().tolist() == [0, 0, 1, 1, 0, 2, 2]


FUNCTIONS = [
    tensors.label,
    tensors.label_and_count,
    tensors.largest_components,
    lambda masks: tensors.remove_small_components(masks, 2),
    tensors.fill_holes,
]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("values", [[-2.5, 3], [-1, 1], [0.1, 0.9], [0, float("nan")]])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_scores_are_told(function, values, dtype):
    """Nearly all of them are foreground, which nobody wants."""
    masks = torch.tensor(values, dtype=dtype).repeat(6).reshape(1, 1, 3, 4)
    with pytest.warns(UserWarning, match="pass masks > 0 of logits, or masks != 0 of masks"):
        function(masks)
    function(masks > 0)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("values", [[0.0, 1.0], [0.0, 255.0], [0, -1], [True, False]])
def test_masks_are_not_told(function, values):
    """Masks are often of floats."""
    function(torch.tensor(values).repeat(6).reshape(1, 1, 3, 4))


@pytest.mark.parametrize("density", [0, 1])
@pytest.mark.parametrize("shape", SHAPES)
def test_one_value(device, shape, density):
    for case in CASES:
        check(noise(shape, density).to(device), *case)


def test_single_elements(device):
    """As many components as there can be: more rows no table needs."""
    for shape in [(1, 2, 7, 9), (1, 1, 6, 8), (1, 1, 3, 5, 4), (1, 1, 1, 9)]:
        corners = torch.zeros(shape, dtype=torch.bool)
        corners[(..., *[slice(None, None, 2)] * (len(shape) - 2))] = True
        parity = torch.from_numpy(np.indices(shape[2:]).sum(0) % 2 == 0).expand(shape)
        for reach, masks in ((None, corners), (1, parity)):
            labels, areas = tensors.label_and_count(masks.to(device), reach)
            assert labels.max() == masks[0, 0].sum()
            assert torch.equal(areas.cpu(), masks.int())


STRIDES = {
    "channels_last": lambda m: m.contiguous(memory_format=torch.channels_last),
    "transposed": lambda m: m.transpose(2, 3),
    "every other": lambda m: m[:, :, ::2, 1::2],
    "a part": lambda m: m[:, 1:, 2:-1, 1:-3],
    "batch last": lambda m: m.permute(2, 3, 0, 1),
    "one channel for all": lambda m: m[:, :1].expand(-1, 4, -1, -1),
}


@pytest.mark.parametrize("view", STRIDES.values(), ids=STRIDES)
def test_strides(device, view):
    for masks in (noise((3, 4, 11, 13)), noise((3, 4, 11, 13)).float()):
        for case in CASES:
            check(view(masks.to(device)), *case)


@st.composite
def batches(draw):
    lengths = st.integers(1, 9)
    shape = (draw(st.integers(0, 3)), draw(st.integers(1, 2)), draw(lengths), draw(lengths))
    if draw(st.booleans()):
        shape += (draw(st.integers(1, 4)),)
    seed, density = draw(st.integers(0, 2**32 - 1)), draw(st.floats(0, 1))
    return torch.from_numpy(np.random.default_rng(seed).random(shape) < density)


@given(batches(), st.sampled_from(CASES))
def test_any_masks(masks, case):
    check(masks, *case)


@given(batches(), st.integers(0, 4), st.integers(0, 9))
def test_beside_scipy(masks, k, least):
    """Every mask as SciPy sees it, which knows nothing of batches."""
    areas = tensors.remove_small_components(masks, least).numpy()
    filled = tensors.fill_holes(masks).numpy()
    kept = tensors.largest_components(masks, k).numpy()
    for item in np.ndindex(*masks.shape[:2]):
        mask = masks[item].numpy()
        labels, num = scipy.ndimage.label(mask, np.ones((3,) * mask.ndim))
        sizes = np.bincount(labels.ravel(), minlength=num + 1)
        np.testing.assert_array_equal(areas[item], mask & (sizes[labels] >= least))
        np.testing.assert_array_equal(filled[item], scipy.ndimage.binary_fill_holes(mask))
        left = np.unique(labels[kept[item]])
        assert sorted(sizes[left]) == sorted(sizes[1:])[num - min(k, num) :]


def test_larger_masks(device):
    """Sizes at which SciPy is asked rather than a flood fill in Python."""
    masks = torch.nn.functional.avg_pool2d(torch.rand(4, 1, 263, 513), 7, 1, 3) > 0.5
    labels, areas = (part.cpu().numpy() for part in tensors.label_and_count(masks.to(device)))
    for k in range(4):
        right, _ = scipy.ndimage.label(masks[k, 0].numpy(), np.ones((3, 3)))
        sizes = np.bincount(right.ravel())
        sizes[0] = 0
        np.testing.assert_array_equal(labels[k, 0], right)
        np.testing.assert_array_equal(areas[k, 0], sizes[right])
        filled = tensors.fill_holes(masks[k : k + 1].to(device))[0, 0].cpu().numpy()
        np.testing.assert_array_equal(filled, scipy.ndimage.binary_fill_holes(masks[k, 0]))


@pytest.mark.filterwarnings("ignore:masks is of dtype")
def test_no_gradient(device):
    scores = torch.randn(2, 1, 6, 5, device=device, requires_grad=True)
    for function, _, arguments in CASES:
        assert not function(scores, *arguments).requires_grad
    (scores * tensors.largest_components(scores > 0)).sum().backward()
    assert torch.equal(scores.grad != 0, tensors.largest_components(scores > 0))


BAD_MASKS = [
    (np.ones((1, 1, 2, 2)), TypeError, "masks is a ndarray; it must be a tensor"),
    (torch.ones(3, 3), ValueError, r"masks has shape \(3, 3\); .* such as masks\[None, None\]"),
    (torch.ones(1, 3, 3), ValueError, r"masks has shape \(1, 3, 3\)"),
    (torch.ones((1,) * 6), ValueError, r"it must be \(B, C, H, W\) or \(B, C, D, H, W\)"),
    (torch.ones(1, 1, 2, 2, dtype=torch.complex64), TypeError, "dtype torch.complex64; .*real"),
    (
        torch.ones(1, 1, 2, 2).to_sparse(),
        TypeError,
        r"torch.sparse_coo; make it dense by masks\.to",
    ),
]


@pytest.mark.parametrize(("masks", "kind", "message"), BAD_MASKS)
def test_bad_masks(masks, kind, message):
    functions = tensors.label, tensors.label_and_count, tensors.largest_components
    for function in (
        *functions,
        tensors.fill_holes,
        lambda m: tensors.remove_small_components(m, 1),
    ):
        with pytest.raises(kind, match=message):
            function(masks)


MASKS = torch.ones(1, 1, 3, 3)
BAD_CALLS = [
    (lambda: tensors.label(MASKS, 0), ValueError, "connectivity=0 must be from 1 to 2"),
    (lambda: tensors.label(MASKS, 3), ValueError, "connectivity=3 must be from 1 to 2"),
    (lambda: tensors.label(MASKS, 8), ValueError, "connectivity=8 must be from 1 to 2"),
    (lambda: tensors.label(MASKS, 1.5), TypeError, r"connectivity=1\.5 must be an integer"),
    (lambda: tensors.label(MASKS, True), TypeError, "connectivity=True must be an integer"),
    (lambda: tensors.largest_components(MASKS, -1), ValueError, "k=-1 components; use 0 or more"),
    (lambda: tensors.largest_components(MASKS, 0.5), TypeError, r"k=0\.5 must be an integer"),
    (lambda: tensors.remove_small_components(MASKS, "3"), TypeError, "min_size='3' must be an int"),
    (lambda: tensors.fill_holes(MASKS, -2), ValueError, "max_size=-2 elements; use 0 or more"),
    (lambda: tensors.fill_holes(MASKS, 2.0), TypeError, r"max_size=2\.0 must be an integer"),
]


@pytest.mark.parametrize(("call", "kind", "message"), BAD_CALLS)
def test_bad_arguments(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


def test_nested_masks():
    masks = torch.nested.nested_tensor(
        [torch.ones(1, 2, 2), torch.ones(1, 3, 2)], layout=torch.jagged
    )
    with pytest.raises(
        TypeError, match=r"masks is nested; make it dense by masks.to_padded_tensor"
    ):
        tensors.label(masks)


def test_masks_of_too_many_elements():
    with pytest.raises(ValueError, match="masks has items of 2147549184 elements"):
        tensors.label(torch.zeros(1, dtype=torch.bool).expand(1, 1, 65536, 32768 + 1))


@pytest.mark.parametrize("name", ["", ".masks", ".scores", ".operator"])
def test_docstrings(name):
    module = pytest.importorskip(f"conncomp.torch{name}")
    assert doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0
