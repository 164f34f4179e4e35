"""Files of HDF5, by their first bytes."""

from __future__ import annotations

from conncomp.files.access import StrPath

SIGNATURE = b"\x89HDF\r\n\x1a\n"


def is_hdf5(path: StrPath) -> bool:
    """Say whether a file begins as HDF5 does."""
    with open(path, "rb") as file:
        return file.read(len(SIGNATURE)) == SIGNATURE
