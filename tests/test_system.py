"""What `conncomp info` says of the machine and of GPUs, where libraries are missing or broken."""

import os
import sys
from time import perf_counter

import pytest

from conncomp import _system
from conncomp._config import config
from conncomp._core import BUILDS, instruction_set

# A CuPy of two GPUs that says what CuPy says, as far as it is asked.
CUPY = """
from types import SimpleNamespace

class CUDARuntimeError(RuntimeError):
    pass

def properties(device):
    return {"name": b"A GPU", "totalGlobalMem": 8 * 10**9, "major": 9, "minor": device}

__version__ = "14.9"
runtime = SimpleNamespace(
    CUDARuntimeError=CUDARuntimeError,
    getDeviceCount=lambda: 2,
    getDeviceProperties=properties,
    driverGetVersion=lambda: 13010,
    runtimeGetVersion=lambda: 12090,
)
cuda = SimpleNamespace(runtime=runtime, nvrtc=SimpleNamespace(getVersion=lambda: (13, 1)))
"""


@pytest.fixture
def with_cupy(tmp_path, monkeypatch):
    """Let new processes import a module `cupy` of a given text."""

    def install(text):
        (tmp_path / "cupy.py").write_text(text)
        monkeypatch.syspath_prepend(tmp_path)

    return install


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Put a script first on the path, under a name."""

    def install(name, text):
        script = tmp_path / name
        script.write_text(f"#!/bin/sh\n{text}\n")
        script.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    return install


def test_gpus_of_this_machine(with_cupy, command):
    with_cupy(CUPY)
    command("nvidia-smi", "echo 'A GPU, 580.65'; echo 'A GPU, 580.65'")
    assert _system.gpu_facts() == {
        "gpu": "A GPU, 8.0 GB, compute capability 9.0; A GPU, 8.0 GB, compute capability 9.1",
        "cupy": "14.9",
        "cuda of the driver": "13.1",
        "cuda runtime": "12.9",
        "nvrtc": "13.1",
        "nvidia-smi": "A GPU, 580.65; A GPU, 580.65",
    }


@pytest.mark.parametrize(
    ("flaw", "said"),
    [
        ("raise ImportError('no CuPy')", "work on a GPU needs CuPy"),
        ("raise OSError('libcuda.so.1 is cut off')", "libcuda.so.1 is cut off"),
        ("import os; os.abort()", "ended with status -6"),
        ("import os; os._exit(3)", "ended with status 3"),
        ("import os; os._exit(0)", "ended without an answer"),
    ],
)
def test_broken_cupy(with_cupy, flaw, said):
    with_cupy(flaw)
    facts = _system.gpu_facts()
    assert said in facts["gpu"]
    assert set(facts) == {"gpu", "nvidia-smi"}


def test_no_gpu_and_no_compiler(with_cupy):
    with_cupy(
        f"{CUPY}\n"
        "def fail(*arguments):\n    raise CUDARuntimeError('no driver')\n"
        "runtime.driverGetVersion = cuda.nvrtc.getVersion = fail\n"
    )
    facts = _system.gpu_facts()
    assert facts["cuda of the driver"] == facts["nvrtc"] == "no driver"
    assert facts["cuda runtime"] == "12.9"


def test_what_hangs_is_not_waited_for(with_cupy, command):
    with_cupy("import time; time.sleep(300)")
    command("nvidia-smi", "exec sleep 300")
    start = perf_counter()
    facts = _system.gpu_facts(patience=1.0)
    assert perf_counter() - start < 30
    assert facts["gpu"].endswith("did not answer within 1 s")
    assert facts["nvidia-smi"] == "nvidia-smi did not answer within 1 s"


def test_no_interpreter(monkeypatch):
    monkeypatch.setattr(sys, "executable", "")
    assert _system.gpu_facts()["gpu"] == "the interpreter cannot be run"


def test_variables(monkeypatch):
    for name in _system.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CUPY_CACHE_DIR", "/somewhere")
    monkeypatch.setenv("A_SECRET", "of the user")
    assert _system.variables() == {"CUPY_CACHE_DIR": "/somewhere"}


def test_config_names_the_builds(monkeypatch):
    monkeypatch.delenv("CONNCOMP_CPU", raising=False)
    facts = config()
    assert facts["instruction set"] == instruction_set
    assert facts[f"build {instruction_set}"] == "loaded, as the best one"
    assert {f"build {name}" for name in BUILDS} <= set(facts)
    assert facts["extension"].startswith(BUILDS[instruction_set].rpartition(".")[2] + ".")
    assert facts["numpy"] == sys.modules["numpy"].__version__
    assert all(isinstance(value, str | int | None) for value in facts.values())


def test_a_system_that_tells_little(monkeypatch):
    monkeypatch.setattr(_system.Path, "read_text", lambda path: "processor: 0")
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "sysconf", _fail)
    facts = _system.machine_facts()
    assert facts["processor"]
    assert facts["processors"].isdigit()
    assert facts["memory"] == "unknown"


def _fail(name):
    raise ValueError("unrecognized configuration name")
