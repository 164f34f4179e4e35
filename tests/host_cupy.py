"""The host executor with the stand-in for CuPy as its array library, for calls on arrays there."""

import sys
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

import stand_in
from conncomp import _array_storage, _arrays, components, graph, grid, tables
from conncomp.kernels.cuda import launcher
from conncomp.kernels.cuda.components import measures
from host_cuda.host_gpu import HostGpu
from stand_in import Array, CuPy

ROOMS = components, graph, grid, tables  # whose modules are imported, as they are to work on it


class HostCuPyGpu(HostGpu):
    """A GPU that the CPU plays, and whose arrays are of the stand-in."""

    def __init__(self, cupy, **options):
        super().__init__(**options)
        self.xp = cupy

    def address(self, array):
        return getattr(array, "host", array).ctypes.data

    def _compile(self, file, names):
        def unwrapping(function):
            def launch(grid, block, arguments, **options):
                # What a launch asks for, as the executor checks it.
                function.max_dynamic_shared_size_bytes = launch.max_dynamic_shared_size_bytes
                values = [a.host if isinstance(a, Array) else a for a in arguments]
                function(grid, block, tuple(values), **options)

            launch.max_dynamic_shared_size_bytes = function.max_dynamic_shared_size_bytes
            launch.preferred_shared_memory_carveout = function.preferred_shared_memory_carveout
            return launch

        return [unwrapping(function) for function in super()._compile(file, names)]


def place_on_host(monkeypatch):
    """Let arrays lie, and all work be done, on such a GPU; return the stand-in for CuPy."""
    cupy = CuPy()
    runtime = SimpleNamespace(getDevice=lambda: 0)
    cupy.cuda = SimpleNamespace(runtime=runtime, Device=lambda number: nullcontext())
    for module in (_arrays, _array_storage):
        monkeypatch.setattr(module, "import_cupy", lambda: cupy)
    place_on(monkeypatch, HostCuPyGpu(cupy))
    return cupy


# Of a fixture that runs tests on the host executor, and where there is a GPU on that.
HOST_AND_GPU = ["host", pytest.param("gpu", marks=pytest.mark.gpu)]


def cupy_of(place, monkeypatch):
    """Return CuPy where the place is "gpu", or else its stand-in, as `place_on_host` does."""
    return pytest.importorskip("cupy") if place == "gpu" else place_on_host(monkeypatch)


def place_elsewhere(monkeypatch):
    """The same of GPU 1 while GPU 0 is current, from where operations on arrays are refused.

    They may be made, copied to main memory and asked where they lie.
    """
    cupy, current = place_on_host(monkeypatch), [0]

    @contextmanager
    def device(number):
        current.append(number)
        yield
        current.pop()

    def of_current(value, unchecked=stand_in._to_host):
        assert current[-1] == 1, "an operation on an array of another GPU than the current one"
        return unchecked(value)

    cupy.cuda.Device, cupy.cuda.runtime.getDevice = device, lambda: current[-1]
    monkeypatch.setattr(Array, "device", SimpleNamespace(id=1))
    monkeypatch.setattr(stand_in, "_to_host", of_current)
    return cupy


def place_on(monkeypatch, gpu):
    """Let all modules that were imported work on a GPU, for which no launches are kept."""
    monkeypatch.setattr(measures, "_recorded", {})
    names = [name for name in sys.modules if name.startswith("conncomp.")]
    names.remove(launcher.__name__)  # modules that are imported later must find it as it is
    for module in map(sys.modules.get, names):
        if "current_gpu" in vars(module):
            monkeypatch.setattr(module, "current_gpu", lambda: gpu)


def check_functions(cupy, functions, labels, placed=None, **options):
    """Compare functions, by name, on an array and on a copy of it on the GPU, which stays."""
    placed = cupy.asarray(labels) if placed is None else placed
    before = placed.get()
    for name, function in functions.items():
        results = function(placed, **options), function(labels, **options)
        in_tuples = (each if isinstance(each, tuple) else (each,) for each in results)
        for on_device, in_memory in zip(*in_tuples, strict=True):
            assert isinstance(on_device, cupy.ndarray), name
            np.testing.assert_array_equal(on_device.get(), in_memory, strict=True, err_msg=name)
    np.testing.assert_array_equal(placed.get(), before)
