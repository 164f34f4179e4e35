"""Lock folders of unfinished work, write files whole, and refuse links that lead elsewhere."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from time import ctime

from conncomp._terminal import printable
from conncomp.files.access import StrPath, blaming, lock, removed

# The file that a process locks in a folder; and how many bytes errors show of its owner.
LOCK, LONGEST_OWNER = "conncomp.lock", 200


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Create and lock a folder; raise FileExistsError if another process has locked it.

    The system releases the lock when the process ends. Drives without locks have none.
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
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        except FileNotFoundError:  # the owner has just removed the folder
            continue
        if lock(descriptor) is False:
            owner = printable(os.pread(descriptor, LONGEST_OWNER, 0).decode("utf-8", "replace"))
            os.close(descriptor)
            told = f"is in use by {owner or 'another process'}; wait for it"
            raise FileExistsError(17, told, str(path.parent))
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        os.close(descriptor)  # the owner of the lock has removed the file


def remove_lock(folder: Path) -> None:
    """Remove the lock of a folder, and the folder if it is empty then."""
    (folder / LOCK).unlink(missing_ok=True)
    with suppress(OSError):  # another process may have begun
        folder.rmdir()


@contextmanager
def whole(path: Path, unique: str = "") -> Iterator[Path]:
    """Yield a temporary name, renamed at the end; unlike `atomic_path`, kills leave the file."""
    temporary = path.with_suffix(f"{unique}.tmp")
    with blaming(path), removed(temporary):
        yield temporary
        temporary.replace(path)


def check_place(folder: StrPath, path: StrPath) -> None:
    """Raise ValueError if links below a folder lead elsewhere; the folder itself may be a link."""
    name = os.path.relpath(path, folder)
    if os.path.realpath(path) != os.path.join(os.path.realpath(folder), name):
        raise ValueError(f"{printable(name)} is a link; copy what it leads to")
