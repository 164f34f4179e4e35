"""Every way to call `label` wrongly: the error's type, and that it names argument and value."""

import math

import numpy as np
import pandas
import pytest
import sparse
import xarray
from scipy import ndimage

from conncomp import label
from conncomp.kernels.cuda import launcher

IMAGE = np.eye(3, 4)
ONE_WAY = np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]])


class OnGPU:
    __cuda_array_interface__ = {"shape": (2,), "typestr": "<i4", "data": (0, False), "version": 3}  # noqa: RUF012


class OnGPUByDLPack:
    def __dlpack_device__(self):
        return (2, 0)


def huge(*shape):
    """Return an array of any size that takes one byte."""
    return np.broadcast_to(np.uint8(1), shape)


class Stubborn:
    """An object that fails to become an array, as a tensor of PyTorch that is on no CPU does."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("cannot be an array")


NO_IMAGES = {
    TypeError: [
        (np.zeros(3, complex), "image is of dtype complex128"),
        (None, "label_image is a NoneType; it must be of bool"),
        (["a", "b"], "image is of dtype <U1"),
        (np.zeros(3, "S2"), r"image is of dtype \|S2"),
        (np.zeros(3, "M8[s]"), r"image is of dtype datetime64\[s\]"),
        (np.zeros(3, "m8[s]"), r"image is of dtype timedelta64\[s\]"),
        (np.zeros(3, [("x", "i4")]), "image is of dtype"),
        (sparse.COO(IMAGE), r"a COO of sparse, which is sparse; .*\.todense\(\)"),
        (
            xarray.Dataset({"a": ("x", [1])}),
            "a Dataset of xarray, which holds several arrays; give one of them",
        ),
        (pandas.DataFrame({"a": [1], "b": ["x"]}), r"a DataFrame; it must be .*\.astype\(\)"),
        (Stubborn(), "cannot make an array of label_image, a Stubborn: cannot be an"),
    ],
    ValueError: [
        ([[1, 2], [3]], "cannot make an array of label_image, a list: .*inhomogeneous"),
        (5, "image is a scalar"),
        (np.float32(5), "image is a scalar"),
        (np.array(5), "image is a scalar"),
    ],
}


@pytest.mark.parametrize(
    ("error", "image", "message"),
    [(error, *row) for error in NO_IMAGES for row in NO_IMAGES[error]],
)
def test_image(image, error, message):
    with pytest.raises(error, match=message):
        label(image)


def test_both_names_or_none():
    with pytest.raises(TypeError, match="got 'image' besides 'label_image'"):
        label(image=IMAGE, label_image=IMAGE)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'label_image'"):
        label()


@pytest.mark.parametrize(
    ("ndim", "connectivity", "neighbours"),
    [(15, 5, 122026), (15, None, 3**15 - 1), (11, 11, 3**11 - 1)],
)
def test_too_many_neighbours(ndim, connectivity, neighbours):
    message = f"gives an element {neighbours} neighbours along the {ndim} axes .*lower connectivity"
    with pytest.raises(ValueError, match=message):
        label(np.ones((2, 1) * ndim), connectivity=connectivity)


@pytest.mark.parametrize(("ndim", "reach", "neighbours"), [(3, 1, 6), (3, 2, 18), (3, 3, 26)])
def test_connectivity_by_neighbours(ndim, reach, neighbours):
    message = f"connectivity={neighbours} .*for {neighbours} neighbours it is {reach}"
    with pytest.raises(ValueError, match=message):
        label(np.ones((2,) * ndim), connectivity=neighbours)


@pytest.mark.parametrize("numbering", ["consecutive", "roots"])
def test_dtypes_that_are_too_small(numbering):
    image = np.arange(1, 301).reshape(3, 100)
    largest = 300 if numbering == "consecutive" else 299
    out = np.full(image.shape, 7, np.int8)
    for options in ({"dtype": np.int8}, {"out": out}):
        message = f"is int8, too small for labels up to {largest}; use u?int16"
        with pytest.raises(ValueError, match=message):
            label(image, numbering=numbering, **options)
    assert (out == 7).all()


REFUSED = {
    ValueError: [
        ({"connectivity": 0}, "connectivity=0"),
        ({"connectivity": 3}, "connectivity=3 .* 2"),
        ({"connectivity": 4}, "connectivity=4 .*for 4 neighbours it is 1"),
        ({"connectivity": 8}, "connectivity=8 .*for 8 neighbours it is 2"),
        ({"connectivity": 10**5000}, "connectivity=a int must be from 1"),
        ({"periodic": [True]}, r"periodic=\[True\] has 1 entries; label_image has 2 axes"),
        ({"numbering": "root"}, "numbering='root' .*'roots'"),
        ({"algorithm": "runz"}, "algorithm='runz' .*'runs'"),
        ({"algorithm": "local-propagation"}, "algorithm='local-propagation' .*'runs'"),
        ({"algorithm": "runs", "device": "cuda"}, "algorithm='runs' .*'label-equiv"),
        ({"dtype": np.uint32, "numbering": "roots"}, "dtype is uint32, without a -1"),
        ({"dtype": "smallest", "out": np.zeros((3, 4), "u1")}, "dtype='smallest' and out"),
        ({"dtype": "smallest", "out": [0]}, "dtype='smallest' and out"),
        ({"dtype": ">i4"}, "dtype is >i4"),
        ({"out": np.zeros((4, 3), np.int32)}, r"out has shape \(4, 3\).*\(3, 4\)"),
        ({"out": np.zeros(12, np.int32)}, r"out has shape \(12,\)"),
        ({"out": np.zeros((3, 4), ">i4")}, "out is >i4"),
        ({"out": np.zeros((3, 4), np.int32, "F")}, "out must be .*C-contiguous"),
        ({"out": np.zeros((3, 8), np.int32)[:, ::2]}, "out must be .*C-contiguous"),
        ({"out": np.broadcast_to(np.int32(0), (3, 4))}, "out must be writeable"),
        ({"out": np.zeros(49, "u1")[1:].view("i4").reshape(3, 4)}, "out must be .*aligned"),
        ({"out": np.zeros((3, 4), np.int32), "dtype": np.int64}, "out .*int32.*int64"),
        (
            {"structure": np.ones((3, 3)), "connectivity": 1},
            "connectivity=1 and structure exclude each other",
        ),
        ({"structure": np.full((3, 3), 0.5)}, "values from 0.5 to 0.5; .*zeros and on"),
        ({"structure": np.full((3, 3), np.nan)}, "from nan to nan; .*zeros and ones"),
        ({"structure": [[0, 1, 0]] * 2}, r"structure has shape \(2, 3\); .*\(3, 3\)"),
        (
            {"structure": np.ones((3, 3, 3), bool)},
            r"structure has shape \(3, 3, 3\); label_image has 2 axes, .*\(3, 3\)",
        ),
        ({"structure": True}, r"structure has shape \(\)"),
        ({"structure": np.full((3, 3), 2)}, "structure has values from 2 to 2; .*zeros and ones"),
        ({"structure": np.full((3, 3), -1)}, "structure has values from -1 to -1"),
        (
            {"structure": ONE_WAY},
            r"structure has a step \(-1, 0\), but not the opposite one; .*numpy\.flip",
        ),
        ({"structure": ONE_WAY == 1, "periodic": True}, r"a step \(-1, 0\)"),
        ({"structure": np.ma.masked_equal(ONE_WAY, 1)}, "structure has masked elements"),
        ({"tolerance": np.float16("nan")}, "tolerance=.*nan"),
        ({"batch_axes": 2}, "batch_axes=2 must be from 0 to 1: label_image has 2 axes"),
        (
            {"batch_axes": 1, "periodic": (True, False)},
            r"periodic=\(True, False\) has 2 entries; an item of label_image has 1 axes",
        ),
        ({"batch_axes": 1, "connectivity": 2}, "connectivity=2 .*number of axes, 1"),
        (
            {"batch_axes": 1, "structure": np.ones((3, 3), bool)},
            r"structure has shape \(3, 3\); an item of label_image has 1 axes, .*\(3,\)",
        ),
    ],
    TypeError: [
        ({"connectivity": np.float32("nan")}, "connectivity=.*nan"),
        ({"connectivity": math.inf}, "connectivity=inf"),
        ({"delta": 1}, "no argument 'delta'; tolerance="),
        ({"neighbors": 4}, "no argument 'neighbors'; connectivity=1 stands for"),
        ({"out_dtype": "u2"}, "no argument 'out_dtype'; dtype="),
        ({"periodic_boundary": True}, "no argument 'periodic_boundary'; periodic="),
        ({"periodic": [[True, False]] * 2}, "periodic="),
        ({"block": (32, 6)}, "algorithm='auto' has no option 'block'; it has none"),
        ({"blocks": 1, "device": "cuda"}, "has no option 'blocks'"),
        ({"dtype": "smallish"}, "dtype='smallish' must be a dtype of integers or 'smal"),
        ({"dtype": float}, "dtype is float64"),
        ({"dtype": bool}, "dtype is bool"),
        ({"out": [[0] * 4] * 3}, "out must be a NumPy array, not list"),
        ({"out": np.ma.zeros((3, 4), np.int32)}, "out must .*, not MaskedArray"),
        ({"out": np.zeros((3, 4))}, "out is float64"),
        ({"structure": np.ones((3, 3), complex)}, "is of dtype complex128; .*of bool"),
        ({"connectivity": np.ones((3, 3))}, "must be an integer; structure= takes a st"),
        ({"axis": 0}, "label has no argument 'axis'; batch_axes= tells how many"),
        ({"tolerance": np.complex64(1)}, "tolerance=.*must be a real number"),
        ({"tolerance": np.bool_(False)}, "tolerance=.*must be a real number"),
        ({"tolerance": np.array(1)}, "tolerance=.*must be a real number"),
    ],
}


@pytest.mark.parametrize(
    ("error", "arguments", "message"),
    [(error, *row) for error in REFUSED for row in REFUSED[error]],
)
def test_other_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        label(IMAGE, **arguments)


@pytest.mark.parametrize("tolerance", [1, 0.5, math.inf])
def test_tolerance_of_bools(tolerance):
    message = f"tolerance={tolerance} is for numbers, but label_image is of dtype bool"
    with pytest.raises(ValueError, match=message):
        label(IMAGE == 1, tolerance=tolerance)
    assert label(IMAGE == 1, tolerance=0.0, return_num=True)[1] == 1


def test_structures_of_too_many_neighbours():
    structure = np.ones((3,) * 11, bool)
    message = f"structure gives an element {3**11 - 1} neighbours along the 11 axes .*fewer steps"
    with pytest.raises(ValueError, match=message):
        label(np.ones((2,) * 11), structure=structure)
    assert label(np.ones((1,) * 9 + (2, 2)), structure=structure, return_num=True)[1] == 1
    structure[(2,) * 11] = structure[(0,) * 11] = False
    structure[2:] = structure[:1] = False  # along 10 axes only
    assert label(np.ones((2,) * 11), structure=structure, return_num=True)[1] == 2


@pytest.mark.parametrize(
    "image_and_out",
    [
        lambda: [np.ones((3, 4), np.int32)] * 2,
        lambda: [(image := np.ones((6, 4), np.int32))[:3], image[2:5]],
        lambda: [(image := np.ones((4, 4), np.int32)).T, image],
        lambda: [(image := np.ones((3, 4), np.int32)).view(">i4"), image],
        lambda: [
            (image := np.ones((3, 4), np.longdouble)),
            image.view(np.int32).ravel()[:12].reshape(3, 4),
        ],
        lambda: [(memory := np.ones(49, np.uint8))[1:].view(np.int32), memory[:48].view(np.int32)],
    ],
    ids=["same", "overlapping rows", "transposed", "swapped bytes", "long double", "misaligned"],
)
def test_out_that_overlaps_the_image(image_and_out):
    image, out = image_and_out()
    before = image.copy()
    with pytest.raises(ValueError, match="out shares memory with the input"):
        label(image, out=out)
    np.testing.assert_array_equal(image, before)


def test_out_and_image_side_by_side():
    memory = np.ones((6, 4), np.int32)
    label(memory[:3], out=memory[3:])


def test_int32_is_too_small_for_two_to_the_31_elements():
    image = huge(2**16, 2**15 + 1)
    with pytest.raises(ValueError, match=f"int32 is too small for labels up to {image.size}"):
        label(image, dtype=np.int32)
    with pytest.raises(ValueError, match="numbering='other'"):
        label(image, numbering="other")


def test_out_is_untouched_after_an_error():
    out = np.full(IMAGE.shape, 7, np.int32)
    with pytest.raises(ValueError, match="connectivity=9"):
        label(IMAGE, connectivity=9, out=out)
    assert (out == 7).all()


@pytest.mark.parametrize(
    ("image", "options"), [(OnGPU(), {}), (OnGPUByDLPack(), {}), (IMAGE, {"device": "cuda"})]
)
def test_no_gpu(image, options, monkeypatch):
    def import_nothing():
        raise ImportError("work on a GPU needs CuPy")

    monkeypatch.setattr(launcher, "import_cupy", import_nothing)
    monkeypatch.setattr("conncomp._arrays.import_cupy", import_nothing)
    with pytest.raises(ImportError, match="needs CuPy"):
        label(image, **options)


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float16, np.float64, ">f4"])
def test_structures_of_zeros_and_ones_of_any_dtype(dtype):
    """As ``np.ones((3, 3))``, which is written for SciPy, and of floats."""
    cross = ndimage.generate_binary_structure(2, 1)
    np.testing.assert_array_equal(
        label(IMAGE, structure=cross.astype(dtype)), label(IMAGE, connectivity=1)
    )
    np.testing.assert_array_equal(label(IMAGE, structure=np.ones((3, 3), dtype)), label(IMAGE))
