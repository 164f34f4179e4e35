"""Checkpoints: facts and arrays in one file, which tells by itself if it is damaged.

    conncomp checkpoint 1          a line: what this is, and the version of the format
    {"q": 2, ...}                  a line of JSON: the facts
    ...                            the arrays, one after the other, as they lie in memory
    ...                            the SHA-256 of all that is before

The reader knows the sizes of the arrays, so that a forged file cannot ask for memory, as it could
of HDF5.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import shown
from conncomp.files.access import LONGEST_LINE, StrPath, atomic_path

MAGIC, FORMAT = b"conncomp checkpoint ", 1
PIECE = 1 << 24  # bytes that are hashed, read or written at once, so that Ctrl-C is seen
DIGEST = hashlib.sha256


def write_checkpoint(path: StrPath, facts: dict[str, Any], arrays: Sequence[NDArray[Any]]) -> None:
    """Write facts and C-contiguous arrays; after a failure, the checkpoint before is untouched."""
    digest, size = DIGEST(), sum(array.nbytes for array in arrays)
    with atomic_path(path, size) as temporary, temporary.open("wb") as file:
        head = b"%s%d\n%s\n" % (MAGIC, FORMAT, json.dumps(facts).encode("ascii"))
        for array in (np.frombuffer(head, np.uint8), *arrays):
            for piece in _pieces(array):
                digest.update(piece)
                file.write(piece)
        file.write(digest.digest())


class OtherSimulationError(ValueError):
    """A checkpoint is of another simulation than the one that is to go on from it."""

    def __init__(self, path: str, reason: str, remedy: str = "give another checkpoint") -> None:
        super().__init__(path, reason, remedy)  # by which it is copied to another process
        self.path, self.reason, self.remedy = path, reason, remedy

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}; {self.remedy}"


class Checkpoint:
    """A checkpoint that is whole and of this format, as an open file; else OSError, ValueError."""

    def __init__(self, path: StrPath) -> None:
        self.path = os.fspath(path)
        # A pipe would be waited for.
        descriptor = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        self._file: BinaryIO = open(descriptor, "rb")  # noqa: SIM115
        try:
            self.facts = self._check()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def error(self, reason: str) -> ValueError:
        """Return an error that names the file."""
        return ValueError(f"{self.path}: {reason}")

    def read(self, arrays: Iterable[NDArray[Any]]) -> None:
        """Fill C-contiguous arrays with those of the file; ValueError unless they are as large."""
        targets = list(arrays)
        wanted, held = sum(target.nbytes for target in targets), self._end - self._file.tell()
        if held != wanted:
            raise self.error(f"holds {held} bytes of arrays; {wanted} belong to this simulation")
        for target in targets:
            for piece in _pieces(target):
                if self._file.readinto(piece) != len(piece):  # type: ignore[attr-defined]
                    raise self.error("was cut short while it was read")

    def _check(self) -> dict[str, Any]:
        status, digest = os.fstat(self._file.fileno()), DIGEST()
        self._end = status.st_size - digest.digest_size
        first = self._file.readline(len(MAGIC) + 20) if stat.S_ISREG(status.st_mode) else b""
        if not first.startswith(MAGIC):
            raise self.error("is no checkpoint of a simulation")
        version = first[len(MAGIC) :].strip().decode("ascii", "replace")
        if version != str(FORMAT):
            raise self.error(
                f"is a checkpoint of format {shown(version)}; this conncomp reads format {FORMAT}"
            )
        after_head = self._file.tell()
        self._file.seek(0)
        for begin in range(0, self._end, PIECE):
            digest.update(self._file.read(min(PIECE, self._end - begin)))
        if self._end < 0 or self._file.read() != digest.digest():
            raise self.error("is damaged: its SHA-256 is not that of its content")
        self._file.seek(after_head)
        try:
            facts = json.loads(self._file.readline(LONGEST_LINE))
        except (ValueError, RecursionError):
            facts = None
        if not isinstance(facts, dict):
            raise self.error("is damaged: it has no facts of a simulation")
        return facts


def _pieces(array: NDArray[Any]) -> Iterator[memoryview]:
    flat: memoryview = array.reshape(-1).view(np.uint8).data
    return (flat[begin : begin + PIECE] for begin in range(0, len(flat), PIECE))
