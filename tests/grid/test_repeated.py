"""Recorded launches of `label` and `Labeller`, replayed: labels are the CPU's."""

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

from conncomp import Labeller, Workspace, label
from conncomp import _cuda_arrays as cuda_arrays
from conncomp.grid import answers, labeller, repeated
from conncomp.kernels import time_limit
from conncomp.kernels.cuda.launcher import PER_THREAD
from conncomp.kernels.cuda.workspace import OwnWorkspaces
from host_cupy import place_on_host
from stand_in import Array

SHAPE = 6, 33, 70


def decide_nothing(changes):
    """Let calls fail that decide which kernels are launched."""
    for module in (answers, labeller, repeated):
        changes.setattr(module, "fill_on_gpu", None)


@pytest.fixture
def cupy(monkeypatch):
    monkeypatch.setattr(repeated, "_workspaces", OwnWorkspaces())
    monkeypatch.setattr(repeated, "_too_large", {})
    monkeypatch.setattr(repeated, "cuda_library_named", lambda name: cuda_arrays.CuPyArrays())
    monkeypatch.setattr(cuda_arrays, "_LIBRARIES", {Array: cuda_arrays.CuPyArrays()})
    return place_on_host(monkeypatch)


def kept():
    """Return the launches that are kept for calls without a workspace, by kind."""
    return {k: v for held in repeated._workspaces.held(0).values() for k, v in held.calls.items()}


def images(dtype=np.uint8, count=3, shape=SHAPE):
    random = np.random.default_rng(0)
    return [random.integers(0, 1 + k % 2 + 1, shape).astype(dtype) for k in range(count)]


def check(image, **options):
    """Compare with the CPU, all of what `label` returns."""
    expected = label(image, **{**options, "device": None, "workspace": None})
    answer = label(Array(image), **options)  # with the strides that it has
    if not options.get("return_num"):
        expected, answer = (expected,), (answer,)
    np.testing.assert_array_equal(answer[0].get(), expected[0], strict=True)
    if len(answer) > 1:
        count = answer[1].get() if isinstance(answer[1], Array) else answer[1]
        np.testing.assert_array_equal(count, expected[1])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"numbering": "roots"},
        {"return_num": True},
        {"return_num": True, "numbering": "roots", "batch_axes": 1},
        {"return_num": True, "batch_axes": 2, "connectivity": 1},
        {"background": 1, "periodic": True},
        {"background": 0.5},
        {"background": 2, "tolerance": 1},
        {"device": "cuda", "connectivity": 2},
    ],
)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_later_calls_make_the_launches_of_the_first(cupy, monkeypatch, options, dtype):
    first, *later = images(dtype)
    check(first, **options)
    assert len(kept()) == 1
    decide_nothing(monkeypatch)  # no call decides anything anew
    for image in later:
        check(image, **options)


def test_large_images_are_labelled_by_bricks(cupy, monkeypatch):
    (first, *later), gpu, names = images(shape=(200, 300)), repeated.current_gpu(), set()
    add_to = gpu.add_to

    def noted(recorder, launch, places):
        names.add(launch.kernel.name)
        add_to(recorder, launch, places)

    monkeypatch.setattr(gpu, "add_to", noted)
    check(first)
    assert "label_tiles" in names
    decide_nothing(monkeypatch)
    for image in later:
        check(image)


def test_labels_of_one_call_are_not_those_of_the_next(cupy):
    placed = [cupy.asarray(image) for image in images()]
    results = [label(image, return_num=True, numbering="roots") for image in placed]
    for image, (labels, count) in zip(images(), results, strict=True):
        expected, number = label(image, return_num=True, numbering="roots")
        np.testing.assert_array_equal(labels.get(), expected)
        assert int(count) == number


def test_labels_that_are_asked_for_ahead_are_those_of_one_later_call(cupy, monkeypatch):
    """Of the kind that was called last, if they are small; `out` needs none."""
    first, *later = images(count=8)
    for most in cuda_arrays.MOST_AHEAD, first.size * 4 - 1:
        monkeypatch.setattr(cuda_arrays, "MOST_AHEAD", most)
        monkeypatch.setattr(repeated, "_workspaces", OwnWorkspaces())
        check(first)
        check(first, return_num=True)
        (workspace,) = repeated._workspaces.held(0).values()
        out, results = cupy.asarray(np.zeros(SHAPE, np.int32)), []
        for number, image in enumerate(later):
            labels = label(
                Array(image), return_num=number % 3 == 0, out=out if number == 4 else None
            )
            results.append(labels[0] if number % 3 == 0 else labels)
            fills = [held._ahead for held in workspace.calls.values()]
            assert workspace.ahead in fills
            lists = [some for fill in fills if fill for some in fill._arrays.values()]
            arrays = [array for some in lists for array in some]
            assert len(arrays) == (most >= first.size * 4)
            assert all(array is not labels for labels in results for array in arrays)
        results[4] = cupy.asarray(results[4].get())
        for image, labels in zip(later, results, strict=True):
            np.testing.assert_array_equal(labels.get(), label(image))


def test_labels_of_pytorch_are_not_asked_for_ahead(cupy, monkeypatch):
    """They would be of the pool of memory, or of inference mode, of another call."""
    assert not cuda_arrays.TorchArrays.asks_ahead
    monkeypatch.setattr(cuda_arrays.CuPyArrays, "asks_ahead", False)
    for image in images():
        check(image)
    (workspace,) = repeated._workspaces.held(0).values()
    assert not workspace.ahead


def test_labels_that_are_asked_for_ahead_hold_no_memory_that_is_given_back(cupy):
    workspace = Workspace()
    for image in images(shape=(20, 40)):
        check(image, workspace=workspace)
    assert workspace.ahead._arrays
    (placed,) = workspace._memory.values()
    memory = placed.host if placed.host.base is None else placed.host.base
    alive, placed, memory = weakref.ref(memory), None, None
    workspace.take(repeated.current_gpu(), (workspace.nbytes + 1, np.dtype(np.uint8)))
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("moment", ["address", "empty"])
@pytest.mark.parametrize(
    "options", [{}, {"return_num": True}, {"return_num": True, "batch_axes": 1}]
)
def test_a_handler_of_signals_may_label_amid_a_call(cupy, monkeypatch, moment, options):
    (first, other), answers, is_handled = images(count=2), [], [True]
    method = getattr(cuda_arrays.CuPyArrays, moment)

    def interrupted(*arguments):
        answer = method(*arguments)
        if not is_handled[0]:
            is_handled[0] = True
            answers.append((other, label(Array(other), **options)))
            is_handled[0] = False
        return answer

    monkeypatch.setattr(cuda_arrays.CuPyArrays, moment, interrupted)
    for _ in range(2):
        check(first, **options)
    is_handled[0] = False
    for _ in range(3):
        answers.append((first, label(Array(first), **options)))
    is_handled[0] = True
    assert len(answers) > 3
    for image, answer in answers:
        expected = label(image, **options)
        if not options:
            answer, expected = (answer,), (expected,)
        np.testing.assert_array_equal(answer[0].get(), expected[0])
        if options:
            count = answer[1].get() if isinstance(answer[1], Array) else answer[1]
            np.testing.assert_array_equal(count, expected[1])


def test_numbers_that_stay_in_a_workspace_are_an_array_of_their_own(cupy):
    """Of each call, so that to change its shape changes no other one."""
    workspace, labeller = Workspace(), Labeller(SHAPE, np.uint8, batch_axes=1)
    for image in images():
        answer = label(Array(image), return_num=True, batch_axes=1, workspace=workspace)
        labeller(Array(image))
        for counts in answer[1], labeller.counts:
            assert counts.shape == SHAPE[:1]
            counts.host.shape = 2, 3


@pytest.mark.parametrize("error", [MemoryError, RuntimeError])
def test_a_call_needs_no_memory_for_the_next_one(cupy, monkeypatch, error):
    first, *later = images()
    check(first, return_num=True)
    (repeats,) = kept().values()
    given, new_labels = [], repeats._ahead._new

    def one_that_fits(*kind):
        if len(given) % 2:
            given.append(None)
            raise error("no memory")
        given.append(new_labels(*kind))
        return given[-1]

    monkeypatch.setattr(repeats._ahead, "_new", one_that_fits)
    for image in later:
        check(image, return_num=True)
    assert len(given) == 2 * len(later)


def test_out_is_filled_by_recorded_launches(cupy, monkeypatch):
    first, *later = images()
    out = cupy.asarray(np.zeros(SHAPE, np.int32))
    assert label(Array(first), out=out) is out
    np.testing.assert_array_equal(out.get(), label(first))
    decide_nothing(monkeypatch)
    for image in later:
        check(image)
        assert label(Array(image), out=out) is out
        np.testing.assert_array_equal(out.get(), label(image))


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (lambda memory: memory[2:8], "shares memory"),
        (lambda memory: memory[:6], "shares memory"),
        (lambda memory: memory[11:], "shape"),
        (lambda memory: memory[::2][6:12], "C-contiguous"),
    ],
)
def test_an_out_that_does_not_fit_is_refused_by_later_calls(cupy, out, message):
    memory = np.zeros((40, *SHAPE[1:]), np.int32)
    image = Array(memory[5:11][::-1])  # the first element lies in the last of these
    for _ in range(2):
        with pytest.raises((ValueError, TypeError), match=message):
            label(image, out=Array(out(memory)))
        label(image, out=Array(memory[11:17]))  # which begins where the image ends


@pytest.mark.parametrize("dtype", [np.int64, np.uint32, np.uint8])
def test_out_of_another_type_is_filled(cupy, dtype):
    for image in images(shape=(3, 8, 9)):
        out = Array(np.zeros((3, 8, 9), dtype))
        label(Array(image), out=out)
        np.testing.assert_array_equal(out.get(), label(image))


def test_kinds_are_told_apart(cupy):
    base = images()[0]
    kinds = [
        (base, {}),
        (base.astype(bool), {}),
        (base.view(np.int8), {}),
        (base[:, :, ::-1], {}),
        (base[:, ::2], {}),
        (base.transpose(2, 0, 1), {}),
        (base, {"background": 1}),
        (base, {"connectivity": 1}),
        (base, {"periodic": True}),
        (base, {"batch_axes": 1}),
        (base, {"return_num": True}),
        (base, {"numbering": "roots"}),
    ]
    for _ in range(2):
        for image, options in kinds:
            check(image, **options)
    assert len(kept()) == len(kinds)


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("batch_axes", False, TypeError),
        ("background", "0", TypeError),
        ("numbering", "root", ValueError),
        ("connectivity", 4, ValueError),
    ],
)
def test_what_is_refused_is_refused_again(cupy, name, value, error):
    image = cupy.asarray(images()[0])
    for given in ({}, {"return_num": True}, {"connectivity": 1}):
        label(image, **given)
    for _ in range(2):
        with pytest.raises(error, match=name):
            label(image, **{name: value})


@pytest.mark.parametrize(
    "options",
    [
        {"tolerance": 1.0},
        {"algorithm": "label-equivalence"},
        {"dtype": np.int64},
        {"structure": np.ones((3, 3, 3), bool)},
        {"periodic": (True, False, True)},
        {"background": np.float64(0)},
    ],
)
def test_other_calls_are_not_kept(cupy, options):
    for image in images():
        check(image, **options)
    assert not kept()


def test_calls_that_are_watched_or_captured_are_not_recorded(cupy, monkeypatch):
    image = images()[0]
    with time_limit(100):
        check(image)
    gpu = repeated.current_gpu()
    monkeypatch.setattr(gpu, "current_stream", lambda: 7)  # the default one cannot be
    monkeypatch.setattr(gpu, "is_capturing", lambda stream: True)
    check(image)
    assert not kept()


def test_calls_on_a_stream_of_each_thread_are_recorded_by_thread(cupy, monkeypatch):
    monkeypatch.setattr(repeated.current_gpu(), "current_stream", lambda: PER_THREAD)
    held, workspace = Labeller(SHAPE, np.uint8), Workspace()

    def label_all():
        for image in images():
            check(image)
            check(image, workspace=workspace)
            check_labeller(held, image)
        (own,) = repeated._workspaces.held(PER_THREAD).values()
        assert len(own.calls) == 1
        return weakref.ref(own)

    label_all()
    with ThreadPoolExecutor(1) as pool:
        of_other = pool.submit(label_all).result()
    label_all()  # as memory of another stream makes a workspace forget
    assert not kept()
    assert len(workspace.calls) == len(held._recorded) == 2
    gc.collect()
    assert of_other() is None  # as its thread has ended


def test_batches_at_uneven_distances_and_large_or_empty_arrays_are_not_kept(cupy, monkeypatch):
    many = np.random.default_rng(1).integers(0, 2, (3, 4, 9, 9)).astype(np.uint8)
    for _ in range(2):
        check(many[:, :3], batch_axes=2)
        check(many[:0], batch_axes=2)
    monkeypatch.setattr(repeated, "MOST_ELEMENTS", many.size - 1)
    check(many)
    assert not kept()


def test_what_needs_much_memory_is_not_kept_nor_tried_again(cupy, monkeypatch):
    small, large = images(shape=(20, 40)), images(shape=(90, 90))
    check(small[0])
    monkeypatch.setattr(repeated, "MOST_MEMORY", 1000)
    check(large[0])
    assert not kept()
    assert not repeated._workspaces.held(0)
    monkeypatch.setattr(repeated, "record_fill", None)
    check(large[1])


def test_kinds_are_forgotten_when_there_are_too_many(cupy, monkeypatch):
    monkeypatch.setattr(repeated, "MOST_ON_GPU", 2)
    image = images()[0]
    for width in (20, 30, 40):
        check(image[:, :, :width])
    assert len(kept()) == 1


def test_a_larger_kind_takes_more_memory_and_that_of_smaller_ones_is_given_back(cupy):
    small, large = images(shape=(20, 40)), images(shape=(90, 90))
    check(small[0])
    (workspace,) = repeated._workspaces.held(0).values()
    (placed,) = workspace._memory.values()
    memory = placed.host if placed.host.base is None else placed.host.base
    alive, placed, memory = weakref.ref(memory), None, None
    for pair in zip(large, small, strict=True):
        for image in pair:
            check(image)
        gc.collect()
        assert alive() is None
    assert len(kept()) == 2


@pytest.mark.parametrize("options", [{}, {"numbering": "roots"}, {"batch_axes": 1}])
def test_launches_are_recorded_with_a_workspace(cupy, monkeypatch, options):
    """Of large images, too; a workspace that is dropped is gone at once, and with it the memory."""
    monkeypatch.setattr(repeated, "MOST_ELEMENTS", 0)
    workspace, other = Workspace(), Workspace()
    first, *later = images()
    for held in workspace, other:
        check(first, return_num=True, workspace=held, **options)
        check(first, workspace=held, **options)
    assert not repeated._workspaces.held(0)
    with monkeypatch.context() as changes:
        decide_nothing(changes)
        for image in later:
            check(image, return_num=True, workspace=other, **options)
            check(image, workspace=workspace, **options)
    other.take(repeated.current_gpu(), (other.nbytes + 1, np.dtype(np.uint8)))
    assert not other.calls  # as the memory lies elsewhere
    there = weakref.ref(workspace)
    del workspace, held
    assert there() is None


def test_a_call_with_an_array_of_an_unknown_library_is_not_kept(cupy, monkeypatch):
    monkeypatch.setattr(cuda_arrays, "_LIBRARIES", {})
    check(images()[0])
    assert not kept()


def check_labeller(labeller, image, out=None, **options):
    expected, count = label(image, return_num=True, **options)
    labels = labeller(Array(image), out=out)
    assert out is None or labels is out
    np.testing.assert_array_equal(labels.get(), expected, strict=True)
    np.testing.assert_array_equal(labeller.counts.get(), count)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"numbering": "roots", "connectivity": 1},
        {"batch_axes": 1, "background": 1},
        {"tolerance": 1, "periodic": (True, False, True)},
        {"structure": np.array([1, 0, 0, 0, 1, 0, 0, 0, 1], bool)[[0, 4, 8] * 9].reshape(3, 3, 3)},
    ],
)
def test_labeller(cupy, monkeypatch, options):
    labeller = Labeller(SHAPE, np.uint8, **options)
    assert (labeller.shape, labeller.dtype, labeller.label_dtype) == (SHAPE, np.uint8, np.int32)
    first, *later = images()
    out = cupy.asarray(np.zeros(SHAPE, np.int32))
    check_labeller(labeller, first, out, **options)
    held = labeller.nbytes
    decide_nothing(monkeypatch)
    for image in later:
        check_labeller(labeller, image, **options)
        check_labeller(labeller, image, out, **options)
    assert labeller.nbytes == held > 0


def test_labeller_of_any_strides(cupy):
    labeller = Labeller((33, 30), np.uint8)
    for image in images(shape=(30, 33)):
        check_labeller(labeller, image.T)
        check_labeller(labeller, np.ascontiguousarray(image.T))
        check_labeller(labeller, image.T[::-1])


def test_labeller_of_batches_at_uneven_distances_and_of_nothing(cupy):
    many = np.random.default_rng(1).integers(0, 2, (3, 4, 9, 9)).astype(np.uint8)
    labeller = Labeller((3, 3, 9, 9), np.uint8, batch_axes=2)
    for k in range(2):
        check_labeller(labeller, many[:, k : 3 + k], batch_axes=2)
    check_labeller(Labeller((2, 0, 9), np.uint8, batch_axes=1), many[0, :2, :0], batch_axes=1)


def test_labeller_refuses_arrays_of_another_kind(cupy):
    labeller = Labeller((9, 9), np.uint8)
    given = np.zeros((9, 9), np.uint8)
    for image, error, message in [
        (given, TypeError, "label_image is a ndarray in main memory"),
        (Array(given[:8]), ValueError, r"shape \(8, 9\), and this Labeller is for \(9, 9\)"),
        (Array(given.view(np.int8)), TypeError, "dtype int8, and this Labeller is for uint8"),
    ]:
        with pytest.raises(error, match=message):
            labeller(image)
    elsewhere = Array(given)
    elsewhere.device = SimpleNamespace(id=1)
    with pytest.raises(ValueError, match="lies on GPU 1, and this Labeller works on GPU 0"):
        labeller(elsewhere)
    for out, error, message in [
        (Array(np.zeros((9, 9), np.int64)), ValueError, "out is of dtype int64, but dtype=int32"),
        (Array(np.zeros((9, 8), np.int32)), ValueError, "out has shape"),
        (np.zeros((9, 9), np.int32), TypeError, "out must lie in GPU memory"),
    ]:
        with pytest.raises(error, match=message):
            labeller(Array(given), out=out)
    with pytest.raises(ValueError, match="connectivity=3"):
        Labeller((9, 9), np.uint8, connectivity=3)
    with pytest.raises(TypeError, match="complex"):
        Labeller((9, 9), complex)
