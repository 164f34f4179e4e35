"""The canonical form of a result: the same on every machine and for every version of a library.

Floating-point numbers have nine significant digits, and those below 10^-12, or in an array 10^12
times smaller than the largest, are 0, as processors and versions of NumPy round differently. Names
of classes and of their fields are left out, so that a rename shows nothing.
"""

import builtins
import dataclasses
import math
from collections.abc import Iterator, Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from hashlib import blake2b
from uuid import UUID

import numpy as np
import scipy.sparse

from .names import note_class

DIGITS, NOTHING = 9, 1e-12
errors_seen = set()  # classes of errors that calls raised, those inside results too


class Coarse:
    """A result of an iteration or of LAPACK, whose last digits depend on the library."""

    def __init__(self, value, digits=5):
        self.value, self.digits = value, digits


def digest(value):
    """Return twelve hexadecimal digits of a result."""
    found = blake2b(digest_size=6)
    for part in _parts(value, DIGITS):
        found.update(part.encode() if isinstance(part, str) else part)
        found.update(b"\0")
    return found.hexdigest()


def name_of_error(error):
    """Return the class of an error: that of Python which it is, as libraries have their own."""
    cls = next(cls for cls in type(error).__mro__ if cls.__module__ == builtins.__name__)
    errors_seen.add(cls)
    return f"error {cls.__name__}"


def _parts(value, digits):
    """Yield text and bytes."""
    note_class(type(value))
    if isinstance(value, Coarse):
        yield from _parts(value.value, value.digits)
    elif isinstance(value, np.ndarray | np.generic):
        yield from _parts_of_array(value, digits)
    elif isinstance(value, bool | int | str | bytes | type(None) | slice | np.dtype):
        yield repr(value)
    elif isinstance(value, float):
        yield f"float {_rounded(value if abs(value) >= NOTHING else 0.0, digits)}"
    elif isinstance(value, Enum):
        yield value.name
    elif isinstance(value, date | time | timedelta | Decimal | UUID):
        yield str(value)
    elif isinstance(value, tuple | list):
        yield f"{'tuple' if isinstance(value, tuple) else 'list'} {len(value)}"
        for item in value:
            yield from _parts(item, digits)
    elif isinstance(value, Mapping):
        yield f"dict {len(value)}"
        for name, item in value.items():
            yield from _parts(name, digits)
            yield from _parts(item, digits)
    elif isinstance(value, set | frozenset):
        yield f"set {sorted(map(digest, value))}"
    elif isinstance(value, Iterator | range):
        yield from _parts(list(value), digits)
    else:
        yield from _parts_of_object(value, digits)


def _parts_of_array(value, digits):
    array = np.asarray(value)
    if array.dtype.kind == "O":
        yield f"objects {array.shape}"
        yield from _parts(array.tolist(), digits)
        return
    if isinstance(value, np.ma.MaskedArray):
        yield np.ma.getmaskarray(value).tobytes()
        array = value.filled()
    yield f"{type(value).__name__} {array.dtype.name} {array.shape}"
    if array.dtype.kind == "c":
        array = array.view(array.real.dtype)
    if array.dtype.kind == "f":
        values = array.astype(np.float64).ravel()
        least = NOTHING * max((abs(x) for x in values.tolist() if math.isfinite(x)), default=0)
        yield " ".join(_rounded(x if abs(x) >= least else 0.0, digits) for x in values.tolist())
    else:
        yield array.astype(array.dtype.newbyteorder("<")).tobytes()


def _rounded(value, digits):
    return f"{value + 0.0:.{digits}g}"  # 0.0 for -0.0, too


def _parts_of_object(value, digits):
    """Yield the parts of an object of this package or of another library."""
    room = type(value).__module__.partition(".")[0]
    if hasattr(value, "num_vertices") and hasattr(value, "arcs"):
        yield f"graph {value.num_vertices}"
        yield from _parts(value.arcs, digits)
    elif room == "xarray":
        if hasattr(value, "data_vars"):
            yield from _parts({name: value[name] for name in value}, digits)
        else:
            yield from _parts((value.dims, dict(value.attrs), value.data), digits)
            coordinates = getattr(value, "coords", {})
            yield from _parts({name: at.values for name, at in coordinates.items()}, digits)
    elif room == "dask" or (hasattr(value, "chunks") and hasattr(value, "compute")):
        yield f"lazy {getattr(value, 'chunks', None)}"
        yield from _parts(value.compute(scheduler="sync"), digits)
    elif scipy.sparse.issparse(value):
        yield from _parts((value.shape, value.indptr, value.indices, value.data), digits)
    elif room == "pandas":
        table = value.to_frame() if hasattr(value, "to_frame") else value
        yield from _parts({str(k): table[k].tolist() for k in table.columns}, digits)
    elif room in ("polars", "pyarrow"):
        if hasattr(value, "columns"):
            values = value.to_dict(as_series=False) if room == "polars" else value.to_pydict()
        else:
            values = value.to_list() if room == "polars" else value.to_pylist()
        yield from _parts(values, digits)
    elif hasattr(value, "observables"):
        yield from _parts(value.observables(), digits)
    elif dataclasses.is_dataclass(value):
        fields = [field.name for field in dataclasses.fields(value)]
        yield from _parts([_field(value, name) for name in fields if name[0] != "_"], digits)
    elif hasattr(value, "parameters") and hasattr(value, "state"):  # a model
        yield from _parts((value.parameters(), value.state()), digits)
    elif isinstance(value, Exception):
        yield name_of_error(value)
    else:
        raise NotImplementedError(f"no canonical form of a {type(value).__name__}")


def _field(value, name):
    try:
        return getattr(value, name)
    except Exception as error:
        return error
