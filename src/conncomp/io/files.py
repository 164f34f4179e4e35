"""Files as such: written whole or not at all, read from front to back, named when they are bad."""

from __future__ import annotations

import errno
import gzip
import io
import os
import secrets
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

StrPath = str | os.PathLike[str]
Progress = Callable[[int, int], object]

GZIP = b"\x1f\x8b"

# A line that is read in Python, a header or a comment, is cut here.
LONGEST_LINE = 1 << 16


@contextmanager
def atomic_path(path: StrPath) -> Iterator[Path]:
    """Give a temporary name to write to, and rename the file to `path` at the end.

    The temporary file lies beside `path` and has the same suffix. After any failure it is gone, and
    what was at `path` before is untouched. A device or a pipe is written to directly.

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
        where its folder is missing, ...

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
    mode = target.stat().st_mode if target.exists() else None
    if mode is not None:
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        if not target.is_file():
            yield target
            return
    # Not through `tempfile`, whose files are for their owner only.
    temporary = target.with_name(f".{target.stem[:32]}.{secrets.token_hex(6)}{target.suffix}")
    try:
        temporary.open("xb").close()
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    try:
        if mode is not None:
            temporary.chmod(stat.S_IMODE(mode))
        yield temporary
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def naming(path: StrPath) -> Iterator[None]:
    """Turn whatever a reader makes of bad content into a one-line ValueError that names `path`."""
    try:
        yield
    except (ImportError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        reason = " ".join(str(error).split()) or type(error).__name__
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
