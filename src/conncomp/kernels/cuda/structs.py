"""Structs that kernels take by value, packed from fields by name.

CuPy passes plain bytes as fast as an integer, but a NumPy record field by field.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from struct import Struct as Format
from typing import TYPE_CHECKING, Any

import numpy as np

from conncomp.kernels import layout
from conncomp.kernels.cuda.launcher import are_recorded

if TYPE_CHECKING:
    from conncomp.kernels.cuda.launcher import Gpu

# The dtype of fields that are addresses; metadata tell it apart from other uintp.
POINTER = np.dtype(np.uintp, metadata={"is": "a pointer"})


class Struct:
    """A struct as C++ declares it, which ``tests/kernels/test_structs.py`` compares.

    `name` is in namespace conncomp. Fields are `given` in the declared order: names between spaces
    for pointers, (names, dtype) for numbers or inner structs.
    """

    def __init__(self, name: str, *given: str | tuple[str, Any]) -> None:
        self.name = name
        typed = ((names, POINTER) if isinstance(names, str) else names for names in given)
        self.dtype = layout(*typed)
        self._fields = fields = self.dtype.names or ()
        # Values of a dict in order, in a third of a loop's time; but for one field it is no tuple.
        self._in_order: Callable[[Mapping[str, Any]], Sequence[Any]] = (
            itemgetter(*fields)
            if len(fields) > 1
            else lambda values: [values[field] for field in fields]
        )
        self._pointers = tuple(field for field in fields if self.dtype[field] is POINTER)
        self._structs = tuple(field for field in fields if self.dtype[field].kind == "V")
        code, end = "=", 0
        for kind, begin, *_ in (self.dtype.fields or {}).values():
            code += f"{begin - end}x{_code(kind)}"
            end = begin + kind.itemsize
        size = max(self.dtype.itemsize, 1)  # an empty struct has a byte
        self._format = Format(f"{code}{size - end}x")

    def pack(self, values: Mapping[str, Any]) -> np.void:
        """Return the struct as `numpy.void`, given an address, a number or a struct for each field.

        While launches are recorded it has named fields, which a replay replaces.
        """
        if self._structs:
            values = {**values, **{field: values[field].tobytes() for field in self._structs}}
        try:
            packed = self._format.pack(*self._in_order(values))
        except KeyError:
            packed = b""
        if not packed or len(values) != len(self._fields):
            raise TypeError(f"{self.name} has the fields {self._fields}, not {tuple(values)}")
        if are_recorded() and self._fields:
            record: np.void = np.frombuffer(packed, self.dtype)[0]
            return record
        return np.void(packed)

    def of(self, gpu: Gpu, **values: Any) -> np.void:
        """Return the struct, given an array or None, a number or a struct for each field.

        The caller keeps the arrays as long as kernels use the struct.
        """
        for field in self._pointers:
            array = values.get(field)
            if array is not None:
                values[field] = gpu.address(array)
            elif field in values:
                values[field] = 0
        return self.pack(values)


def _code(kind: np.dtype[Any]) -> str:
    """Return the format of a dtype for `struct.Struct`."""
    if kind.kind == "V":
        return f"{kind.itemsize}s"
    by_size = {"i": "bhiq", "u": "BHIQ", "f": " efd", "b": "?"}[kind.kind]
    return by_size[kind.itemsize.bit_length() - 1]
