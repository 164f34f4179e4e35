"""A stand-in for CuPy where there is no GPU: NumPy arrays that mix with their own kind only.

It refuses what CuPy refuses and NumPy would let pass: operands that are NumPy arrays, conversion to
a NumPy array unasked, counts that are arrays in `repeat`. A single element is an array, too.
"""

from functools import wraps
from types import SimpleNamespace

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin


def _to_host(value):
    if isinstance(value, Array):
        return value.host
    if isinstance(value, np.ndarray):
        raise TypeError("a NumPy array among those on the GPU")
    if isinstance(value, dict):
        return {key: _to_host(item) for key, item in value.items()}
    return type(value)(map(_to_host, value)) if type(value) in (tuple, list) else value


def _to_gpu(value):
    if isinstance(value, np.ndarray | np.generic):
        return Array(value)
    return tuple(map(_to_gpu, value)) if isinstance(value, tuple) else value


def _lift(function):
    @wraps(function)
    def lifted(*arguments, **options):
        return _to_gpu(function(*_to_host(arguments), **_to_host(options)))

    return lifted


class Array(NDArrayOperatorsMixin):
    """An array on the GPU."""

    device = SimpleNamespace(id=0)

    def __dlpack_device__(self):
        return 2, 0

    def __init__(self, host, dtype=None):
        """Take an array of the host, or a shape with a dtype, as CuPy's."""
        self.host = np.asarray(host) if dtype is None else np.empty(host, dtype)

    @property
    def data(self):
        return SimpleNamespace(ptr=self.host.ctypes.data, device_id=self.device.id)

    def get(self, out=None):
        if out is None:
            return self.host.copy()
        out[...] = self.host
        return out

    def __array__(self, *arguments, **options):
        raise TypeError("conversion to a NumPy array, unasked")

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return _lift(getattr(ufunc, method))(*inputs, **options)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(self.host, name)
        return _lift(value) if callable(value) else _to_gpu(value)

    def repeat(self, repeats, axis=None):
        return Array(self.host.repeat(int(repeats), axis))

    def __getitem__(self, key):
        return _to_gpu(self.host[_to_host(key)])

    def __setitem__(self, key, value):
        self.host[_to_host(key)] = _to_host(value)

    def __len__(self):
        return len(self.host)

    def __bool__(self):
        return bool(self.host)

    def __int__(self):
        return int(self.host)

    def __float__(self):
        return float(self.host)


class CuPy:
    """The module."""

    ndarray = Array
    linalg = SimpleNamespace(eigh=_lift(np.linalg.eigh), eigvalsh=_lift(np.linalg.eigvalsh))

    def __getattr__(self, name):
        value = getattr(np, name)
        return value if isinstance(value, type) else _lift(value)

    def asarray(self, values, dtype=None):
        return values if isinstance(values, Array) else Array(np.array(values, dtype))

    def asnumpy(self, values):
        return values.get() if isinstance(values, Array) else np.asarray(values)

    def argsort(self, values, kind=None):
        assert kind in (None, "stable")  # both are stable, and there is no other
        return Array(values.host.argsort(kind="stable"))

    def repeat(self, values, repeats, axis=None):
        return values.repeat(repeats, axis)
