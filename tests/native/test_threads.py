"""Threads that cannot be had, that get no memory, or that the interpreter leaves behind."""

import os
import shutil
import subprocess
import sys

import pytest

from measured_command import in_python

COMPILER = os.environ.get("CC") or shutil.which("gcc") or shutil.which("clang")

# Put before the C library: refuses new threads, or memory to all threads but the first.
SHORTAGE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

int no_threads, no_memory;
void* __libc_malloc(size_t size);
void* __libc_memalign(size_t alignment, size_t size);
static int refused(void) { return no_memory && syscall(SYS_gettid) != getpid(); }
void* malloc(size_t size) { return refused() ? NULL : __libc_malloc(size); }
void* aligned_alloc(size_t alignment, size_t size) {
  return refused() ? NULL : __libc_memalign(alignment, size);
}
int pthread_create(pthread_t* thread, const pthread_attr_t* a, void* (*f)(void*), void* argument) {
  int (*create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) =
      dlsym(RTLD_NEXT, "pthread_create");
  return no_threads ? EAGAIN : create(thread, a, f, argument);
}
"""

LABEL = """
import ctypes, sys
import numpy as np
import conncomp

image = np.tile(np.eye(64, dtype=np.uint8), (32, 32))
conncomp.set_num_threads(1)
right = conncomp.label(image)
conncomp.set_num_threads(4)
ctypes.c_int.in_dll(ctypes.CDLL(None), sys.argv[1]).value = 1
for attempt in range(20):
    try:
        assert np.array_equal(conncomp.label(image), right)
    except MemoryError:
        pass
print("survived")
"""

AT_EXIT = """
import threading, time
import numpy as np
import conncomp

conncomp.set_num_threads({threads})
image = np.random.default_rng(0).random((3000, 3000)) < 0.5
begun = threading.Event()

def label_for_ever():
    while True:
        conncomp.label(image)
        begun.set()

for _ in range(3):
    threading.Thread(target=label_for_ever, daemon=True).start()
begun.wait()
time.sleep({seconds})
print("survived")
"""

# Two minutes of work, which other processes on the machine do not lengthen. The timeout is for one
# that hangs.
LIMIT = "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (120, 120))\n"


def run(script, *arguments, **environment):
    return in_python(LIMIT + script, *arguments, timeout=1800, env=os.environ | environment)


@pytest.mark.skipif(sys.platform != "linux", reason="interposes functions of glibc")
@pytest.mark.parametrize("shortage", ["no_threads", "no_memory"])
def test_shortage(shortage, tmp_path):
    """Fewer threads do the work, or the call raises MemoryError; the process goes on."""
    if COMPILER is None:
        pytest.skip("no C compiler on PATH")
    source, library = tmp_path / "shortage.c", tmp_path / "shortage.so"
    source.write_text(SHORTAGE)
    subprocess.run([COMPILER, "-shared", "-fPIC", source, "-o", library, "-ldl"], check=True)
    done = run(LABEL, shortage, LD_PRELOAD=str(library))
    assert (done.returncode, done.stdout) == (0, "survived\n"), done.stderr


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("seconds", [0.0, 0.11])
def test_threads_that_label_while_the_interpreter_exits(threads, seconds):
    done = run(AT_EXIT.format(threads=threads, seconds=seconds))
    assert (done.returncode, done.stdout, done.stderr) == (0, "survived\n", "")


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="there NumPy refuses subinterpreters")
def test_subinterpreters_are_refused():
    script = """
import warnings, _xxsubinterpreters
interpreter = _xxsubinterpreters.create(isolated=False)
print(_xxsubinterpreters.run_string(interpreter, '''
import warnings
warnings.simplefilter("ignore")
try:
    import conncomp.grid
except ImportError as error:
    assert "main interpreter only" in str(error)
else:
    raise AssertionError("imported")
'''))
"""
    done = run(script)
    assert (done.returncode, done.stdout) == (0, "None\n"), done.stderr


INTERRUPTED = """
import os, signal, threading, time
from functools import partial
import numpy as np
import conncomp

random = np.random.default_rng(0)

def noise(*shape):
    return np.resize(random.integers(0, 50, 10**6, np.int32), shape)

def arcs():
    return random.integers(0, 10**6, (2, 2 * 10**6))

def graph():
    return conncomp.Graph.from_edges(*arcs(), 10**6)

def weighted_graph():
    return graph(), random.random(2 * 10**6)

def line():
    return conncomp.Graph.from_edges(np.arange(10**6 - 1), np.arange(1, 10**6))

# What is called, and what of.
call, *inputs = {{
    "image": (lambda image: conncomp.label(image, connectivity=1), noise, 4000, 4000),
    "row": (conncomp.label, noise, 16 * 10**6),
    "pairs": (lambda pairs: conncomp.label(pairs.T), noise, 8 * 10**6, 2),
    "graph": (conncomp.connected_components, graph),
    "ecl": (partial(conncomp.connected_components, algorithm="ecl"), graph),
    "long paths": (partial(conncomp.connected_components, algorithm="ecl", jump=3), line),
    "bfs": (partial(conncomp.connected_components, algorithm="bfs"), graph),
    "recolouring": (partial(conncomp.connected_components, algorithm="recolouring"), graph),
    "rows": (lambda ends: conncomp.Graph.from_edges(*ends, 10**6).indptr, arcs),
    "sizes": (conncomp.component_sizes, noise, 4000, 4000),
    "statistics": (conncomp.component_statistics, noise, 4000, 4000),
    "items": (partial(conncomp.sort_by_size, batch_axes=1), noise, 4000, 40, 100),
    "forest": (conncomp.spanning_forest, graph),
    "lightest forest": (lambda of: conncomp.minimum_spanning_forest(*of), weighted_graph),
}}["{kind}"]
make, *shape = inputs
given = make(*shape)
signalled = 0

def handler(number, frame):
    global signalled
    signalled += 1
    raise InterruptedError("by the handler")

signal.signal(signal.SIGALRM, handler)
for turn in range(6):
    conncomp.set_num_threads(1 + turn % 2)
    delay = 0.02 + 0.05 * (turn // 2)
    due = time.perf_counter() + delay
    signal.setitimer(signal.ITIMER_REAL, delay)
    try:
        while True:
            call(given)
    except InterruptedError:
        pass
    assert time.perf_counter() - due < 1, "slow to end"
assert signalled == 6
small = np.eye(3, dtype=int)
assert conncomp.label(small, return_num=True)[1] == 1
print("survived", threading.active_count())
"""


@pytest.mark.parametrize(
    "kind",
    [
        *("image", "graph", "statistics"),
        *(
            pytest.param(kind, marks=pytest.mark.soak)
            for kind in (
                *("row", "pairs", "ecl", "long paths", "bfs", "recolouring", "rows", "sizes"),
                *("items", "forest", "lightest forest"),
            )
        ),
    ],
)
def test_signals_end_calls(kind):
    """A handler that raises ends the call; the next one works, and no thread is left behind."""
    done = run(INTERRUPTED.format(kind=kind))
    assert (done.returncode, done.stdout) == (0, "survived 1\n"), done.stderr


LONG_CALL = """
import os, signal, threading, time
import numpy as np
import conncomp

conncomp.set_num_threads(2)
# Each element differs from the one before: the most work for an element.
image = np.resize(np.arange(7, dtype=np.uint8), (10**9 // 5 // 4000, 4000))
sent = []

def interrupt():
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)

threading.Timer(0.5, interrupt).start()
try:
    for _ in range(100):
        conncomp.label(image)
except KeyboardInterrupt:
    print(time.perf_counter() - sent[0])
"""


def test_ctrl_c_is_quick():
    """On 2 * 10^8 elements, which take a second or more; 0.2 s where the machine is free."""
    done = run(LONG_CALL)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 1


# How much work of the processor there is after a signal, wherever it comes: that other processes
# make no more.
WORK_AFTER_SIGNALS = """
import signal, time
import numpy as np
import conncomp

conncomp.set_num_threads(1)

def forest():
    random = np.random.default_rng(0)
    n, arcs = 2 * 10**6, 6 * 10**6
    graph = conncomp.Graph.from_edges(*random.integers(0, n, (2, arcs), np.int32), n)
    weights = random.random(arcs)
    return lambda: conncomp.minimum_spanning_forest(graph, weights)

def rows():
    image = np.zeros((2, 2**29), np.uint8)  # pages of which come when they are first written to
    image[0, 0] = 1
    return lambda: conncomp.label(image)

def handler(number, frame):
    raise InterruptedError

call = {kind}()
signal.signal(signal.SIGPROF, handler)
longest = 0
for delay in {delays}:
    due = time.process_time() + delay
    signal.setitimer(signal.ITIMER_PROF, delay)
    try:
        while True:
            call()
    except InterruptedError:
        longest = max(longest, time.process_time() - due)
print(longest)
"""


# Even where a sort is the first to write to new memory, in any order, which takes 0.2 s; and in the
# first half second of rows of 2^29 elements, which are masks by then, and numbered.
@pytest.mark.soak
@pytest.mark.parametrize(
    ("kind", "delays", "most"),
    [
        ("forest", [0.075 * (part + 0.5) for part in range(12)], 0.1),
        ("rows", [0.04 * part for part in range(1, 15)], 0.1),
    ],
)
def test_signals_wherever_they_come(kind, delays, most):
    done = run(WORK_AFTER_SIGNALS.format(kind=kind, delays=delays))
    assert done.returncode == 0, done.stderr
    assert 0 < float(done.stdout) < most
