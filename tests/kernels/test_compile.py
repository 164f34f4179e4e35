"""Every CUDA kernel that can be asked for compiles, for every kind of GPU, without a warning."""

import importlib
import pkgutil
from collections import defaultdict

import pytest

import conncomp.kernels
from conncomp.kernels.launcher import SOURCES, compile_options, source

nvrtc = pytest.importorskip("cuda.bindings.nvrtc", reason="needs cuda-bindings and NVRTC")

CAPABILITIES = ("75", "80", "90", "100")


def names_by_file():
    """Every kernel file with all the names that its driver can load from it."""
    found = defaultdict(dict)  # a dict keeps the order
    for module in pkgutil.walk_packages(conncomp.kernels.__path__, "conncomp.kernels."):
        driver = importlib.import_module(module.name)
        if hasattr(driver, "specialisations"):
            for file, names in driver.specialisations():
                found[file] |= dict.fromkeys(names)
    return {file: tuple(names) for file, names in found.items()}


NAMES = names_by_file()


def compile_kernels(text, names, options):
    """Compile with NVRTC; return its log, which is empty if there is nothing to say."""

    def check(result):
        status, *rest = result
        assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS, status
        return rest[0] if rest else None

    program = check(nvrtc.nvrtcCreateProgram(text.encode(), b"test.cu", 0, [], []))
    for name in names:
        check(nvrtc.nvrtcAddNameExpression(program, f"conncomp::{name}".encode()))
    encoded = [option.encode() for option in options]
    (status,) = nvrtc.nvrtcCompileProgram(program, len(encoded), encoded)
    log = b" " * check(nvrtc.nvrtcGetProgramLogSize(program))
    check(nvrtc.nvrtcGetProgramLog(program, log))
    nvrtc.nvrtcDestroyProgram(program)
    text = log.rstrip(b"\0 ").decode()
    return text if status == nvrtc.nvrtcResult.NVRTC_SUCCESS else text or str(status)


@pytest.mark.parametrize("capability", CAPABILITIES)
@pytest.mark.parametrize("file", NAMES)
def test_every_kernel_compiles(file, capability):
    options = (*compile_options(), f"-arch=sm_{capability}")
    assert compile_kernels(source(file), NAMES[file], options) == ""


def test_warnings_are_seen():
    text = "__global__ void f(int* x) { int unused; x[0] = 1; }"
    assert "unused" in compile_kernels(text, (), ("-arch=sm_80",))
    assert "error" in compile_kernels("__global__ void f() { g(); }", (), ("-arch=sm_80",))


def test_every_kernel_file_has_a_driver():
    shared = {f"core/{name}.cuh" for name in ("launch", "scan", "sweeps", "warp")}
    shared |= {"graph/roots.cuh", "grid/cells.cuh", "grid/words.cuh"}
    files = {str(path.relative_to(SOURCES)) for path in SOURCES.rglob("*.cuh")}
    assert files - shared == set(NAMES)
