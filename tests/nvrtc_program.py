"""Programs of NVRTC, which compile without a GPU; tests that need them are skipped on macOS."""

import importlib
import sys

import pytest

if sys.platform == "darwin":
    pytest.skip("there is no NVRTC for macOS", allow_module_level=True)
nvrtc = importlib.import_module("cuda.bindings.nvrtc")


def checked(result):
    """Return what a call of NVRTC gives besides its status, once that is good."""
    status, *rest = result
    assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS, status
    return rest[0] if rest else None


def program_of(text, names):
    """Return a program that is to have kernels of these names."""
    program = checked(nvrtc.nvrtcCreateProgram(text.encode(), b"test.cu", 0, [], []))
    for name in names:
        checked(nvrtc.nvrtcAddNameExpression(program, f"conncomp::{name}".encode()))
    return program


def ptx_of(program):
    """Return what a program that is compiled gives the assembler, and end it."""
    ptx = bytearray(checked(nvrtc.nvrtcGetPTXSize(program)))
    checked(nvrtc.nvrtcGetPTX(program, ptx))
    nvrtc.nvrtcDestroyProgram(program)
    return ptx.decode()
