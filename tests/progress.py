"""What a run of the tests says of itself: what will be run, and what takes long just now."""

import threading
import time

from host_cuda.host_gpu import AVAILABLE, CACHE

PATIENCE = 30  # seconds without a result until a line tells what is at work


def header(gpu_missing):
    """Return the lines that stand above a run, but with ``-q``."""
    on_cpu = (
        f"run on the CPU, too; what was compiled stays in {CACHE}"
        if AVAILABLE
        else "not run on the CPU, which takes Linux and a C++ compiler"
    )
    return [
        "conncomp: the gate takes ten minutes of two cores, long tests first; --soak has all",
        f"  kernels for GPUs: {on_cpu}",
        f"  tests on a GPU: {gpu_missing or 'run'}",
    ]


class Progress:
    """A plugin that names the tests at work whenever none has ended for `patience` seconds.

    It is for the process that tells others of pytest-xdist what to run, and calls `write` with a
    line: what is written in one that runs tests itself is captured.
    """

    def __init__(self, write, patience=PATIENCE):
        self._write = write
        self._patience = patience
        self._begun = {}
        self._heard = time.monotonic()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def pytest_runtest_logstart(self, nodeid):
        self._begun[nodeid] = time.monotonic()

    def pytest_runtest_logfinish(self, nodeid):
        self._begun.pop(nodeid, None)
        self._heard = time.monotonic()

    def pytest_sessionstart(self):
        self._thread.start()

    def pytest_sessionfinish(self):
        self._over.set()
        self._thread.join()

    def at_work(self):
        """Return a line that says for how long which tests have been at work."""
        now = time.monotonic()
        return "; ".join(f"{now - begun:.0f} s: {name}" for name, begun in [*self._begun.items()])

    def _watch(self):
        while not self._over.wait(self._patience / 10):
            if time.monotonic() - self._heard >= self._patience and self._begun:
                self._write(f"at work for {self.at_work()}")
                self._heard = time.monotonic()
