"""Kernels that a driver declares: their names for what a call chooses, and all that there are."""

import numpy as np
import pytest

from conncomp._arguments import INDEX_TYPES
from conncomp.kernels.cuda.launcher import Templates, every
from host_cuda.host_gpu import HostGpu

INT32, INT64 = INDEX_TYPES
KERNELS = Templates(
    "file.cuh",
    "f<{value}, {flag}>",
    "g<{kind[0]}, {index}, {kind[1]}>",
    "h<>",
    value=(np.dtype("f4"), np.dtype("u2")),
    flag=(False, True),
    kind={None: ("kNone", 0), (1, 2): ("kPair", 12)},
    indices="index",
)


def test_names_follow_from_choices_in_order():
    names = "f<float, true>", "g<kPair, int64_t, 12>", "h<>"
    assert KERNELS.module(np.dtype("f4"), True, (1, 2), INT64) == ("file.cuh", names)
    names = "f<uint16_t, false>", "g<kNone, int32_t, 0>", "h<>"
    assert KERNELS.module(np.dtype("u2"), False, None, INT32) == ("file.cuh", names)


def test_a_name_alone_takes_all_choices():
    kernels = Templates("file.cuh", "f", "g<{index}>", flag=(False, True), indices="index")
    assert kernels.module(True, INT64) == ("file.cuh", ("f<true, int64_t>", "g<int64_t>"))
    assert Templates("file.cuh", "f g").module() == ("file.cuh", ("f<>", "g<>"))


def test_a_module_that_is_asked_for_again_is_the_same_object():
    chosen = np.dtype("f4"), True, None, INT32
    assert KERNELS.module(*chosen) is KERNELS.module(*chosen)


def test_all_modules_are_those_of_all_choices():
    assert len(set(KERNELS.modules())) == 2 * 2 * 2 * 2
    alone = Templates("other.cuh", "k<>")
    assert list(alone.modules()) == [("other.cuh", ("k<>",))]
    assert set(every(KERNELS, alone)()) == {*KERNELS.modules(), *alone.modules()}


def test_as_many_values_as_choices():
    with pytest.raises(ValueError, match="zip"):
        KERNELS.module(np.dtype("f4"), True)


def test_grids():
    gpu = HostGpu(multiprocessors=2, resident_threads=1024)
    assert gpu.grid(257) == (2, 256)
    assert gpu.grid(0, 64) == (1, 64)
    assert gpu.grid(1 << 20) == (4, 256)
    assert gpu.grid(4097, 512, each=8) == (2, 512)
