"""`native.Launches` against a stand-in for CUDA's driver that writes down what it is asked for."""

import ctypes
import signal
from time import perf_counter

import numpy as np
import pytest

from conncomp._core import native
from cuda_driver import driver_stand_in
from host_cuda.host_gpu import AVAILABLE

pytestmark = pytest.mark.skipif(not AVAILABLE, reason="needs Linux and a C++ compiler")
CONTEXT = 103  # of device 3
TOGETHER, OVERLAPS = 2, 6  # attributes of a launch


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return driver_stand_in(tmp_path_factory.mktemp("driver"))


@pytest.fixture
def driver(library):
    loaded = ctypes.CDLL(library)
    loaded.begin(None, -1)
    loaded.begin_graphs(0)
    return loaded


def launches_of(library, count=2, overlap=False, together=False):
    """Return launches of which the first argument is the address of the second array, and so on."""
    launches = native.Launches(3, overlap, library)
    for k in range(count):
        struct = np.array([1, 2, 30 + k], np.uint64)
        packed = np.uint64(0xDEAD).tobytes() + struct.tobytes() + np.uint32(7 + k).tobytes()
        launches.add(
            1000 + k, (10 + k, 128, 64 * k), together, packed, [8, 24, 4], [(0, 0, 8, 1 - k)]
        )
    return launches


def rows(driver):
    kept = np.zeros((driver.number_of_launches(), 9), np.uint64)
    for number, row in enumerate(kept):
        driver.copy_launch(number, row.ctypes.data_as(ctypes.c_void_p))
    return kept.tolist()


def test_arguments_arrive_with_new_addresses(library, driver):
    launches = launches_of(library)
    launches.run(5, (111, 222))
    launches.run(6, (333, 444))
    assert rows(driver) == [
        [1000, 10, 128, 0, 5, 222, 30, 7, 0],
        [1001, 11, 128, 64, 5, 111, 31, 8, 0],
        [1000, 10, 128, 0, 6, 444, 30, 7, 0],
        [1001, 11, 128, 64, 6, 333, 31, 8, 0],
    ]


def test_what_is_launched_again_is_a_graph(library, driver):
    """From the second run on; nodes are told of addresses that have changed, and of no others."""
    launches = launches_of(library, overlap=True)
    expected = []
    for run, (stream, first, second) in enumerate(
        [(5, 1, 2), (5, 1, 2), (5, 1, 2), (6, 3, 2), (6, 3, 4), (5, 5, 6), (5, 5, 6)]
    ):
        launches.run(stream, (first, second))
        expected += [
            [1000, 10, 128, 0, stream, second, 30, 7, 0],
            [1001, 11, 128, 64, stream, first, 31, 8, OVERLAPS],
        ]
        assert rows(driver) == expected
        assert driver.graph_launches() == run
    assert driver.nodes_told() == 4
    assert driver.thread_capture_mode() == 0  # as it was
    assert (driver.number_of_graphs(), driver.number_of_streams()) == (1, 0)
    del launches
    assert driver.number_of_graphs() == 0


def test_the_callers_graph_gets_launches(library, driver):
    """And what these were given is no news to the graph that is launched after."""
    launches = launches_of(library)
    captures = ctypes.c_int.in_dll(driver, "caller_captures")
    for caller_captures, value in [(0, 1), (1, 2), (0, 3), (1, 4), (0, 4), (1, 5), (0, 3)]:
        captures.value = caller_captures
        launches.run(5, (value, 0))
        assert [row[5] for row in rows(driver)][-2:] == [0, value]
    assert driver.graph_launches() == 3
    assert driver.nodes_told() == 2


def test_launches_are_made_one_by_one_where_there_is_no_graph(library, driver):
    driver.begin_graphs(1)
    launches = launches_of(library)
    for value in range(4):
        launches.run(5, (value, 0))
    assert [row[5] for row in rows(driver)][1::2] == [0, 1, 2, 3]
    assert (driver.graph_launches(), driver.number_of_streams()) == (0, 0)


def test_launches_overlap_with_those_before_but_the_first(library, driver):
    launches_of(library, overlap=True).run(0, (1, 2))
    assert [row[-1] for row in rows(driver)] == [0, OVERLAPS]


@pytest.mark.parametrize("overlap", [False, True])
def test_blocks_run_together_where_they_must(library, driver, overlap):
    launches_of(library, overlap=overlap, together=True).run(0, (1, 2))
    assert [row[-1] for row in rows(driver)] == [TOGETHER, TOGETHER]


def test_the_context_of_the_device_is_current_and_then_that_of_before(library, driver):
    launches = launches_of(library)
    current = ctypes.c_void_p()
    launches.run(0, (1, 2))
    driver.cuCtxGetCurrent(ctypes.byref(current))
    assert current.value == CONTEXT  # there was none
    driver.begin(ctypes.c_void_p(77), -1)
    launches.run(0, (1, 2))
    driver.cuCtxGetCurrent(ctypes.byref(current))
    assert current.value == 77
    driver.begin(ctypes.c_void_p(CONTEXT), -1)
    launches.run(0, (1, 2))
    assert ctypes.c_int.in_dll(driver, "contexts_set").value == 0


def test_errors_are_those_of_the_driver(library, driver):
    launches = launches_of(library)
    driver.begin(ctypes.c_void_p(77), 1)
    with pytest.raises(RuntimeError, match="CUDA: launch failed"):
        launches.run(0, (1, 2))
    assert len(rows(driver)) == 1
    current = ctypes.c_void_p()
    driver.cuCtxGetCurrent(ctypes.byref(current))
    assert current.value == 77
    with pytest.raises(IndexError):
        launches.run(0, (1,))
    with pytest.raises(RuntimeError, match=r"nowhere\.so, cannot be loaded"):
        native.Launches(0, False, "/nowhere.so")
    with pytest.raises(RuntimeError, match="has no cuGetErrorString"):
        native.Launches(0, False, "libm.so.6")


def test_arguments_that_are_shorter_than_their_sizes_are_refused(library, driver):
    launches = native.Launches(3, False, library)
    with pytest.raises(ValueError, match="arguments have 8 bytes, and their sizes say 12"):
        launches.add(1, (1, 1, 0), False, bytes(8), [8, 4], [])
    for place in [(1, 0, 8, 0), (0, 4, 8, 0), (2, 0, 1, 0), (0, 2**64 - 4, 8, 0), (0, 0, 9, 0)]:
        message = rf"argument {place[0]} has no such bytes at {place[1]}$"
        with pytest.raises(ValueError, match=message):
            launches.add(1, (1, 1, 0), False, bytes(12), [8, 4], [place])


def test_bytes_of_arguments_take_new_values(library, driver):
    launches = native.Launches(3, False, library)
    struct = np.array([1, 2, 30], np.uint64)
    packed = np.uint64(5).tobytes() + struct.tobytes() + np.uint32(7).tobytes()
    launches.add(9, (1, 32, 0), False, packed, [8, 24, 4], [(1, 20, 4, 1), (2, 0, 4, 0)])
    launches.run(0, (2**40 + 3, 8))
    assert rows(driver) == [[9, 1, 32, 0, 0, 5, (8 << 32) + 30, 3, 0]]


def test_a_number_is_read_once_what_was_launched_is_done(library, driver):
    launches, number = launches_of(library), np.array([5, -(2**40)], np.int64)
    driver.begin_copies(-1)
    assert launches.read(7, number[1:].ctypes.data) == -(2**40)
    assert driver.number_of_copies() == 1
    assert driver.bytes_of_copy(0) == 8
    assert driver.thread_capture_mode() == 0
    assert driver.events_alive() == driver.copies_under_way() == 0
    assert launches.read_all(7, number.ctypes.data, 2) == [5, -(2**40)]
    assert driver.bytes_of_copy(1) == 16
    driver.begin_copies(0)
    with pytest.raises(RuntimeError, match="CUDA: launch failed"):
        launches.read(7, number.ctypes.data)
    assert driver.events_alive() == 0


TELLING, NEVER = (
    4242,
    1 << 30,
)  # the kernel of the stand-in that tells a number; questions before it does


def telling(library, number, answer):
    """Return launches, the last of which tells a number."""
    launches = launches_of(library)
    packed = np.array([number.ctypes.data, answer.ctypes.data], np.uint64).tobytes()
    launches.add(TELLING, (1, 1, 0), False, packed, [8, 8], [])
    launches.tell(answer.ctypes.data)
    return launches


@pytest.mark.parametrize("questions", [0, 1, 7])
def test_a_number_is_told_by_the_last_launch(library, driver, questions):
    number, answer = np.zeros(1, np.int64), np.zeros(1, np.int64)
    ctypes.c_int.in_dll(driver, "questions_before_it_tells").value = questions
    ctypes.c_int.in_dll(driver, "status_of_stream").value = 600  # not ready
    launches = telling(library, number, answer)
    for run, expected in enumerate([5, 2**40, 0, -3]):
        number[0] = expected
        launches.run(7, (run, 2))
        assert launches.answer(7) == expected
        assert driver.graph_launches() == run
        assert ctypes.c_int.in_dll(driver, "questions").value == questions
    with pytest.raises(ValueError, match="no launches are under way that tell a number"):
        launches.answer(7)


@pytest.mark.parametrize(
    ("status", "message"), [(719, "CUDA: launch failed"), (0, "told no number")]
)
def test_a_number_that_is_not_told_is_not_waited_for(library, driver, status, message):
    number, answer = np.array([5], np.int64), np.zeros(1, np.int64)
    ctypes.c_int.in_dll(driver, "questions_before_it_tells").value = NEVER
    ctypes.c_int.in_dll(driver, "status_of_stream").value = status
    launches = telling(library, number, answer)
    launches.run(7, (1, 2))
    with pytest.raises(RuntimeError, match=message):
        launches.answer(7)


def test_a_signal_ends_the_wait_and_the_next_call_waits_for_both(library, driver, monkeypatch):
    number, answer = np.array([5], np.int64), np.zeros(1, np.int64)
    before_it_tells = ctypes.c_int.in_dll(driver, "questions_before_it_tells")
    before_it_tells.value = NEVER
    ctypes.c_int.in_dll(driver, "status_of_stream").value = 600
    launches = telling(library, number, answer)

    def give_up(*_):
        raise TimeoutError("given up")

    before = signal.signal(signal.SIGALRM, give_up)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        start = perf_counter()
        launches.run(7, (1, 2))
        with pytest.raises(TimeoutError, match="given up"):
            launches.answer(7)
        assert 0.1 < perf_counter() - start < 1
    finally:
        signal.signal(signal.SIGALRM, before)
    before_it_tells.value = ctypes.c_int.in_dll(driver, "questions").value + 3
    launches.run(7, (3, 4))
    assert len(rows(driver)) == 4
    assert launches.answer(7) == 5
    assert ctypes.c_int.in_dll(driver, "launched_before_it_told").value == 0


def test_pinned_memory_is_given_back_without_a_context_and_beside_captures(library, driver):
    """By a thread that collects garbage, maybe, while others capture graphs."""
    number = np.array([5], np.int64)
    driver.begin_copies(-1)
    launches = launches_of(library)
    assert launches.read(7, number.ctypes.data) == 5
    driver.begin(None, -1)
    freed = ctypes.c_int.in_dll(driver, "pinned_freed")
    before = freed.value
    del launches
    assert freed.value == before + 1
    assert driver.thread_capture_mode() == 0
