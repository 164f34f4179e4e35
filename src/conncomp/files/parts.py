"""Folders of unfinished work, which one process has at a time; and whether names lead elsewhere."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from time import ctime

from conncomp._text import printable
from conncomp.files.access import StrPath, blaming, lock, removed

# In a folder of which a process has the lock; and bytes that are shown of who has it.
LOCK, LONGEST_OWNER = "conncomp.lock", 200


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make a folder, and let no other process do so until the end; FileExistsError if one has.

    The lock is the system's: it ends with the process. Drives without locks have none.
    """
    with ExitStack() as held:
        with blaming(folder):
            descriptor = _open_locked(folder / LOCK)
            held.callback(os.close, descriptor)
            os.ftruncate(descriptor, 0)
            told = f"process {os.getpid()} of {platform.node()}, which began at {ctime()}"
            os.write(descriptor, told.encode())
        yield


def _open_locked(path: Path) -> int:
    """Return a descriptor that has the lock of a file, which is there."""
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        except FileNotFoundError:  # who had the folder has removed it just now
            continue
        if lock(descriptor) is False:
            owner = printable(os.pread(descriptor, LONGEST_OWNER, 0).decode("utf-8", "replace"))
            os.close(descriptor)
            raise FileExistsError(
                17, f"is in use by {owner or 'another process'}; wait for it", str(path.parent)
            )
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        os.close(descriptor)  # whoever had the lock has removed it


def remove_lock(folder: Path) -> None:
    """Remove the lock of a folder that is empty but for it, and the folder."""
    (folder / LOCK).unlink(missing_ok=True)
    with suppress(OSError):  # of another process that has begun anew
        folder.rmdir()


@contextmanager
def whole(path: Path, unique: str = "") -> Iterator[Path]:
    """Give a temporary name, renamed at the end; kills leave it, and it may not be on the disk."""
    temporary = path.with_suffix(f"{unique}.tmp")
    with blaming(path), removed(temporary):
        yield temporary
        temporary.replace(path)


def check_place(folder: StrPath, path: StrPath) -> None:
    """Raise ValueError if links lead from what a folder has elsewhere; itself it may be a link."""
    name = os.path.relpath(path, folder)
    if os.path.realpath(path) != os.path.join(os.path.realpath(folder), name):
        raise ValueError(f"{printable(name)} is a link; copy what it leads to")
