"""Files as such: written whole or not at all, read from front to back, named when they are bad."""

from __future__ import annotations

import errno
import fcntl
import gzip
import io
import os
import secrets
import shutil
import stat
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

StrPath = str | os.PathLike[str]
Progress = Callable[[int, int], object]

# Temporary files have this in their names.
TEMPORARY = "conncomp"

GZIP = b"\x1f\x8b"

# A line that is read in Python, a header or a comment, is cut here.
LONGEST_LINE = 1 << 16


@contextmanager
def atomic_path(path: StrPath) -> Iterator[Path]:
    """Give a temporary name to write to, and rename the file to `path` at the end.

    The temporary file lies beside `path` and has the same suffix. After any failure it is gone, and
    what was at `path` before is untouched; one that a killed process has left behind is removed by
    the next that writes to `path`. The file is on the disk before it gets its name. A device or a
    pipe gets a copy at the end.

    Parameters
    ----------
    path : str or path-like
        Where the file is to be in the end; a symbolic link is followed.

    Yields
    ------
    pathlib.Path
        The name to write to; an empty file is there already.

    Raises
    ------
    OSError
        If `path` cannot be written: `IsADirectoryError`, `PermissionError`, `FileNotFoundError`
        where its folder is missing, ... It names `path`, also where writing to the temporary file
        failed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from conncomp.io import atomic_path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "answer.txt")
    ...     with atomic_path(path) as temporary:
    ...         _ = temporary.write_text("42")
    ...     path.read_text()
    '42'
    """
    target = Path(os.path.realpath(path))
    with _blaming(path):
        mode = _mode(target)
        if mode is not None:
            if stat.S_ISDIR(mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            if not os.access(target, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        if mode is not None and not stat.S_ISREG(mode):
            with tempfile.TemporaryDirectory() as folder:
                temporary = Path(folder, "copy".join(_temporary_affixes(target)))
                temporary.touch()
                yield temporary
                with temporary.open("rb") as source, target.open("wb") as device:
                    shutil.copyfileobj(source, device)
            return
        _remove_orphans(target)
        temporary, lock = _open_temporary(target)
        try:
            if mode is not None:
                temporary.chmod(stat.S_IMODE(mode))
            yield temporary
            os.fsync(lock)
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        finally:
            os.close(lock)
    _sync_folder(target.parent)


def _mode(target: Path) -> int | None:
    """Return what is at `target` and who may use it, or None if nothing is there."""
    try:
        return target.stat().st_mode
    except FileNotFoundError:
        return None


@contextmanager
def _blaming(path: StrPath) -> Iterator[None]:
    """Let errors of the system that name no file, or a temporary one, name `path`."""
    try:
        yield
    except OSError as error:
        named = error.filename is not None and f".{TEMPORARY}-" not in os.fsdecode(error.filename)
        if error.errno is None:  # NumPy and others count bytes in its place
            raise OSError(f"{os.fspath(path)}: {error}") from error
        if named:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def _temporary_affixes(target: Path) -> tuple[str, str]:
    """Return how the names of temporary files for `target` begin and end."""
    return f".{target.stem[:32]}.{TEMPORARY}-", target.suffix


def _open_temporary(target: Path) -> tuple[Path, int]:
    """Create a temporary file beside `target`; return it, and a descriptor that holds its lock."""
    while True:
        # Not through `tempfile`, whose files are for their owner only.
        temporary = target.with_name(secrets.token_hex(6).join(_temporary_affixes(target)))
        lock = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        if _lock(lock) is not False and temporary.exists():
            return temporary, lock
        os.close(lock)  # another process took it for an orphan, before it was locked


def _lock(descriptor: int) -> bool | None:
    """Lock a file if nobody else has; return whether that went well, None where none can be."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # some network drives have no locks
        return None
    return True


def _remove_orphans(target: Path) -> None:
    """Remove temporary files of processes that were killed while they wrote to `target`.

    Their locks are gone with them. Where files cannot be locked, orphans stay.
    """
    begin, end = _temporary_affixes(target)
    with suppress(OSError):
        for name in os.listdir(target.parent):
            if name.startswith(begin) and name.endswith(end):
                _remove_orphan(target.with_name(name))


def _remove_orphan(path: Path) -> None:
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if stat.S_ISREG(os.fstat(descriptor).st_mode) and _lock(descriptor):
                path.unlink()
        finally:
            os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    """Let the names in a folder reach the disk, where the system can do that."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def printable(text: str) -> str:
    r"""Return `text` as one line without what would control a terminal, or that it cannot show.

    Examples
    --------
    >>> print(printable("in red: \x1b[31m\nnext"))
    in red: \x1b[31m next
    """
    text = " ".join(text.split())
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
        for letter in text
    )


@contextmanager
def naming(path: StrPath) -> Iterator[None]:
    """Turn whatever a reader makes of bad content into a one-line ValueError that names `path`."""
    try:
        yield
    except (ImportError, MemoryError):
        raise
    except Exception as error:
        # To seek beyond what a file can have, as damaged content may say, is an invalid argument.
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        reason = printable(str(error)) or type(error).__name__
        raise ValueError(f"{os.fspath(path)}: {reason}") from error


class Source:
    """A file, unpacked if it is gzipped, that is read once from front to back.

    Parameters
    ----------
    path : str or path-like
        Its name.
    progress : callable, optional
        Called with the bytes of the file that have been read, and with those that it has.

    Attributes
    ----------
    path : str
    line : int
        How many lines `read_line` has returned.
    """

    def __init__(self, path: StrPath, progress: Progress | None = None) -> None:
        self.path = os.fspath(path)
        self.line = 0
        self._file = open(self.path, "rb")  # noqa: SIM115
        self._total = os.fstat(self._file.fileno()).st_size
        self._progress = progress if self._file.seekable() else None
        self._stream: io.BufferedReader | gzip.GzipFile = self._file

    def __enter__(self) -> Source:
        try:
            if self._file.peek(2).startswith(GZIP):
                self._stream = gzip.GzipFile(fileobj=self._file)
            elif self.path.endswith(".gz"):
                raise self.error("is named .gz, but is not gzipped")
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stream.close()
        self._file.close()

    def error(self, reason: str, line: int | None = None) -> ValueError:
        """Return an error that names the file and, if given, the line."""
        return ValueError(
            f"{self.path}: {reason}" if line is None else f"{self.path}:{line}: {reason}"
        )

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except EOFError:
            raise self.error("the gzipped data are cut short") from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise self.error(f"the gzipped data are corrupt: {error}") from None

    def _report(self) -> None:
        if self._progress is not None:
            self._progress(self._file.tell(), self._total)

    def peek(self, size: int) -> bytes:
        """Return about `size` bytes from here on, to be read again."""
        with self._reading():
            return self._stream.peek(size)[:size]

    def read_line(self) -> bytes | None:
        """Return the next line, without its end; None after the last."""
        with self._reading():
            line = rest = self._stream.readline(LONGEST_LINE)
            while len(rest) == LONGEST_LINE and not rest.endswith(b"\n"):
                rest = self._stream.readline(LONGEST_LINE)
        self.line += 1
        return line.rstrip(b"\r\n") if line else None

    def read_bytes(self, size: int) -> bytearray:
        """Return the next `size` bytes, or fewer at the file's end, with no more memory."""
        found = bytearray()
        while len(found) < size:
            with self._reading():
                block = self._stream.read(min(size - len(found), 1 << 24))
            if not block:
                break
            found += block
            self._report()
        return found

    def feed(self, consume: Callable[[NDArray[np.uint8], bool], int], size: int) -> None:
        """Call ``consume(chunk, last)`` for the rest of the file, in chunks of up to `size` bytes.

        It returns how many bytes it used; the next chunk starts with the others. The last chunk
        holds nothing new. A ValueError of it starts with the number of a line.
        """
        buffer = np.empty(size, np.uint8)
        held, last = 0, False
        while not last:
            with self._reading():
                count = self._stream.readinto(buffer[held:].data)
            self._report()
            last = count == 0
            filled = held + count
            try:
                used = consume(buffer[:filled], last)
            except ValueError as error:
                raise ValueError(f"{self.path}:{error}") from None
            held = filled - used
            buffer[:held] = buffer[used:filled]
