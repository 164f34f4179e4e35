"""A process for a sanitizer that has pytest begun, and runs scripts and tests in forks of it.

To begin takes 5 s there, a fork next to nothing. Each line of its input is a list of JSON: a script
and its arguments, or "pytest", a file and which of its tests. It answers with the exit status, on
the file descriptor that it is given. `host_gpu.Forks` starts it.
"""

import gc
import importlib
import json
import os
import runpy
import sys
from pathlib import Path

import pytest

# What tests of kernels import, but for test files.
MODULES = (
    *("hypothesis.extra.numpy", "scipy.sparse.csgraph", "conncomp.generate", "conncomp.models"),
    *("host_cuda.host_gpu", "host_cupy", "reference", "stand_in", "strategies"),
)


class Requests:
    """A plugin that waits for requests where pytest would begin to collect."""

    def __init__(self, answers):
        self.answers = answers

    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self, config):
        for name in MODULES:
            importlib.import_module(name)
        gc.collect()
        gc.freeze()
        for line in sys.stdin:
            program, *arguments = json.loads(line)
            if child := os.fork():
                status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
                os.write(self.answers, f"{status}\n".encode())
            elif program == "pytest":
                config.args[:], config.option.keyword = arguments[:1], arguments[1]
                return None  # and pytest goes on
            else:
                sys.argv = [program, *arguments]
                runpy.run_path(program, run_name="__main__")
                sys.exit(0)
        return 0


if __name__ == "__main__":
    options = ["-v", "-x", "-s", "-p", "no:cacheprovider", "-p", "no:faulthandler"]
    tests = str(Path(__file__).parents[1])
    sys.exit(pytest.main([*options, *sys.argv[2:], tests], plugins=[Requests(int(sys.argv[1]))]))
