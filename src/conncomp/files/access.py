"""Write files completely or not at all, read them front to back, and name them in errors."""

from __future__ import annotations

import bz2
import errno
import fcntl
import gzip
import io
import lzma
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path, PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import shown
from conncomp._memory import in_words
from conncomp._terminal import printable

StrPath = str | os.PathLike[str]
Progress = Callable[[int, int], object]
Fill = Callable[[memoryview], int]  # fills a buffer, and returns how many bytes
Consume = Callable[[NDArray[np.uint8], bool], int]  # a chunk, and whether it is the last

TEMPORARY = "conncomp"
# Lines read in Python, headers and comments, are cut at this length.
LONGEST_LINE = 1 << 16
LINE_END = re.compile(rb"\r\n?|\n")
# Bytes to read at once of a packed file, and of text that is read line by line.
PACKED_BLOCK, BUFFER = 1 << 16, 1 << 13
LONGEST_MAGIC = 10
# Bytes that a packed byte may hold, once more than `FREE_EXPANSION` are unpacked: those of gzip. A
# few bytes of bzip2 or xz could unpack to blanks for days.
EXPANSION, FREE_EXPANSION = 1032, 1 << 26
# Memory for unpacking; `xz -9` takes 65 MiB.
XZ_MEMORY = 1 << 27


def as_path(path: Any, name: str = "path") -> str:
    """Return the name of a file; a TypeError or ValueError names the argument."""
    try:
        text = os.fspath(path)
    except TypeError:
        text = None
    if not isinstance(text, str):
        raise TypeError(f"{name}={shown(path)} must be a str, or path-like")
    if "\0" in text:
        raise ValueError(f"{name}={shown(path)} has a null character, as no name of a file has")
    return text


@contextmanager
def atomic_path(path: StrPath, size: int = 0) -> Iterator[Path]:
    """Give a temporary name to write to, and rename the file to `path` at the end.

    The temporary file lies beside `path` and has the same suffix. Failures remove it, and leave the
    old file as it was. If a process is killed, the next one that writes to `path` removes its
    temporary file. The file is on the disk before it gets its name. A device or a pipe gets a copy
    at the end.

    Parameters
    ----------
    path : str or path-like
        The final place of the file; a symbolic link is followed.
    size : int, optional
        How many bytes will be written, if known. An error is raised first if the disk lacks space.

    Yields
    ------
    pathlib.Path
        The name to write to, of an empty file.

    Raises
    ------
    OSError
        If `path` or the temporary file cannot be written: `IsADirectoryError`, `PermissionError`,
        `FileNotFoundError` if the folder is missing, ... The error names `path`.

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
    target = Path(os.path.realpath(as_path(path)))
    with blaming(path):
        mode = None
        with suppress(FileNotFoundError):
            mode = target.stat().st_mode
        if mode is not None and (stat.S_ISDIR(mode) or not os.access(target, os.W_OK)):
            problem = errno.EISDIR if stat.S_ISDIR(mode) else errno.EACCES
            raise OSError(problem, os.strerror(problem))
        if mode is not None and not stat.S_ISREG(mode):
            with tempfile.TemporaryDirectory() as spare:
                temporary = Path(spare, "copy".join(_temporary_affixes(target)))
                temporary.touch()
                yield temporary
                with temporary.open("rb") as source, target.open("wb") as device:
                    shutil.copyfileobj(source, device)
            return
        _remove_orphans(target)
        check_space(path, size)
        locked = False
        while not locked:
            # Files of `tempfile` would be readable by their owner only.
            temporary = target.with_name(secrets.token_hex(6).join(_temporary_affixes(target)))
            with removed(temporary), temporary.open("xb") as file:
                # Otherwise another process has taken it for an orphan.
                locked = lock(file.fileno()) is not False and temporary.exists()
                if locked:
                    if mode is not None:
                        temporary.chmod(stat.S_IMODE(mode))
                    yield temporary
                    os.fsync(file.fileno())
                    temporary.replace(target)
    with suppress(OSError), opened(target.parent) as folder:
        os.fsync(folder)


@contextmanager
def opened(path: StrPath, flags: int = os.O_RDONLY) -> Iterator[int]:
    """Open a file or a folder as a descriptor, and close it at the end."""
    descriptor = os.open(path, flags)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def removed(temporary: Path) -> Iterator[None]:
    """Remove a file at the end; try twice, as Ctrl-C may interrupt the first try."""
    try:
        try:
            yield
        finally:
            temporary.unlink(missing_ok=True)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def blaming(path: StrPath) -> Iterator[None]:
    """Let OSErrors that name no file, or a temporary one, name `path`."""
    try:
        yield
    except OSError as error:
        named = error.filename is not None and f".{TEMPORARY}-" not in os.fsdecode(error.filename)
        if error.errno is None:  # NumPy raises such errors
            raise OSError(f"{os.fspath(path)}: {error}") from error
        if named:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def _temporary_affixes(target: Path) -> tuple[str, str]:
    return f".{target.stem[:32]}.{TEMPORARY}-", target.suffix


def lock(descriptor: int) -> bool | None:
    """Try to lock a file; return whether that worked, or None if the drive has no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # some network drives have no locks
        return None
    return True


def free_space(path: StrPath) -> int:
    """Return the free bytes on a file's disk; network drives that report 0 count as endless."""
    folder = Path(os.path.realpath(path))
    while not folder.exists():
        folder = folder.parent
    usage = shutil.disk_usage(folder)
    return usage.free if usage.total else sys.maxsize


def check_space(path: StrPath, size: int) -> None:
    """Raise OSError if the disk of a file has fewer free bytes than `size`."""
    if size > (free := free_space(path)):
        told = f"takes {in_words(size)}, and there are {in_words(free)} free on the disk"
        raise OSError(errno.ENOSPC, f"{told}; choose another disk", os.fspath(path))


@contextmanager
def alone_in(folder: StrPath) -> Iterator[None]:
    """Hold the lock of a folder, and wait for it; drives without locks have none."""
    with opened(folder, os.O_RDONLY | os.O_DIRECTORY) as descriptor:
        with suppress(OSError):  # some network drives have none
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield


def _remove_orphans(target: Path) -> None:
    """Remove the temporary files of killed processes, which nobody has locked any more."""
    begin, end = _temporary_affixes(target)
    names: list[str] = []
    with suppress(OSError):
        names = os.listdir(target.parent)
    for name in names:
        if name.startswith(begin) and name.endswith(end):
            path, flags = target.with_name(name), os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK
            with suppress(OSError), opened(path, flags) as descriptor:
                if stat.S_ISREG(os.fstat(descriptor).st_mode) and lock(descriptor):
                    path.unlink()


@contextmanager
def naming(path: StrPath) -> Iterator[None]:
    """Turn any error about bad content into a one-line ValueError that names `path`."""
    try:
        yield
    except (ImportError, MemoryError):
        raise
    except Exception as error:
        # Damaged content may ask to seek where no file can reach: an invalid argument.
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        reason = printable(str(error)) or type(error).__name__
        raise ValueError(f"{os.fspath(path)}: {reason}") from error


def too_large(shape: Sequence[int], dtype: np.dtype[Any], size: int) -> ValueError:
    """Return the error for a file whose `size` bytes cannot hold the array it claims."""
    return ValueError(f"says that it has shape {shape} and dtype {dtype}, but is of {size} bytes")


class Bounded(io.BufferedReader):
    """A file, or an open descriptor, of which no read asks for more bytes than it holds."""

    def __init__(self, file: str | int) -> None:
        super().__init__(io.FileIO(file, closefd=isinstance(file, str)))
        self._size = os.fstat(self.fileno()).st_size
        self.seek(0)

    def read(self, size: int | None = -1) -> bytes:
        """Return `size` bytes, or fewer at the end; a forged length allocates no memory."""
        left = max(self._size - self.tell(), 0)
        return super().read(left if size is None or size < 0 else min(size, left)) or b""


class Stream(io.RawIOBase):
    """A stream of bytes from a function that fills a buffer and returns how many; 0 is the end."""

    def __init__(self, fill: Fill) -> None:
        self._fill = fill

    def readable(self) -> bool:
        """Whether it can be read: yes."""
        return True

    def readinto(self, target: Any) -> int:
        """Fill `target` from its beginning; return how far."""
        return self._fill(memoryview(target).cast("B"))


class _Xz(Stream):
    """Unpacks xz; unlike `lzma.open`, it limits the memory that a header may ask for."""

    def __init__(self, packed: io.BufferedReader) -> None:
        self._packed = packed
        self._new_decoder = partial(lzma.LZMADecompressor, lzma.FORMAT_XZ, memlimit=XZ_MEMORY)
        self._decoder = self._new_decoder()

    def readinto(self, target: Any) -> int:
        block = b""
        while not block:
            packed = b""
            if self._decoder.eof:  # zeros and another stream may follow
                packed = self._decoder.unused_data.lstrip(b"\0")
                while not packed:
                    if not (packed := self._packed.read1()):
                        return 0
                    packed = packed.lstrip(b"\0")
                self._decoder = self._new_decoder()
            elif self._decoder.needs_input and not (packed := self._packed.read1()):
                raise EOFError
            block = self._decoder.decompress(packed, len(target))
        memoryview(target)[: len(block)] = block
        return len(block)


# By suffix: how packed files begin, the name of the packing, and what unpacks it.
PACKINGS: dict[str, tuple[re.Pattern[bytes], str, Callable[[Any], Any]]] = {
    ".gz": (re.compile(rb"\x1f\x8b"), "gzip", lambda packed: gzip.GzipFile(fileobj=packed)),
    ".bz2": (re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"), "bzip2", bz2.BZ2File),
    ".xz": (re.compile(rb"\xfd7zXZ\0"), "xz", lambda packed: io.BufferedReader(_Xz(packed))),
}


class Source:
    """A file that is read once, front to back, and unpacked from gzip, bzip2 or xz.

    `progress` is called with the bytes read and the size of the file. `suffix`, in lower case, is
    without that of the packing. `line` counts lines.
    """

    def __init__(self, path: StrPath, progress: Progress | None = None) -> None:
        self.path = as_path(path)
        self.line = 0
        name = PurePath(self.path)
        self._named = name.suffix if name.suffix in PACKINGS else ""
        self.suffix = PurePath(self.path.removesuffix(self._named)).suffix.lower()
        # A buffer would wait for a pipe to fill it, and ignore Ctrl-C meanwhile.
        self._file = open(self.path, "rb", buffering=0)  # noqa: SIM115
        self._total = os.fstat(self._file.fileno()).st_size
        self._progress = progress if self._file.seekable() else None
        self._head = b""  # read to recognise the packing
        self.packing = ""  # or "gzip", "bzip2" or "xz"
        self._stream: Any = None
        self._consumed = self._produced = 0
        self._buffer, self._at = b"", 0  # unpacked bytes, and how many of them are read

    def __enter__(self) -> Source:
        try:
            self._open()
        except BaseException:
            self._file.close()
            raise
        return self

    def _open(self) -> None:
        while block := self._file.read(LONGEST_MAGIC - len(self._head)):
            self._head += block
        packed = io.BufferedReader(Stream(self._read_packed), PACKED_BLOCK)
        self._stream = packed
        for suffix, (magic, packing, unpack) in PACKINGS.items():
            if magic.match(self._head):
                self.packing, self._stream = packing, unpack(packed)
            elif suffix == self._named:
                raise self.error(f"is named {suffix}, but is not packed by {packing}")

    def _read_packed(self, target: memoryview) -> int:
        if self._head:
            count = min(len(target), len(self._head))
            target[:count] = self._head[:count]
            self._head = self._head[count:]
        else:
            count = self._file.readinto(target) or 0
        self._consumed += count
        return count

    def __exit__(self, *error: object) -> None:
        self._stream.close()
        self._file.close()

    def error(self, reason: str, line: int | None = None) -> ValueError:
        """Return an error that names the file and, if given, the line."""
        place = self.path if line is None else f"{self.path}:{line}"
        return ValueError(f"{place}: {reason}")

    @property
    def length(self) -> int | None:
        """The number of bytes, or None for a pipe or a packed file."""
        regular = stat.S_ISREG(os.fstat(self._file.fileno()).st_mode)
        return self._total if regular and not self.packing else None

    def _read(self, target: Any) -> int:
        """Unpack the next bytes into `target`; return how many, 0 at the end."""
        try:
            count: int = self._stream.readinto(target)
        except EOFError:
            raise self.error(f"the {self.packing} data are cut short") from None
        except (OSError, zlib.error, lzma.LZMAError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise self.error(f"the {self.packing} data are corrupt: {error}") from None
        self._produced += count
        if self.packing and self._produced > FREE_EXPANSION + EXPANSION * self._consumed:
            packed = f"{self._consumed} bytes packed by {self.packing}"
            told = f"{packed} hold more than {self._produced}"
            raise self.error(f"{told}; if that is right, unpack the file first")
        if self._progress is not None:
            self._progress(self._consumed, self._total)
        return count

    def readinto(self, target: memoryview) -> int:
        """Fill `target` with the next bytes; return how many, 0 at the end."""
        if self._at == len(self._buffer):
            return self._read(target)
        count = min(len(target), len(self._buffer) - self._at)
        target[:count] = self._buffer[self._at : self._at + count]
        self._at += count
        return count

    def peek(self, size: int) -> bytes:
        """Return the next `size` bytes, or fewer at the end, without consuming them."""
        while len(self._buffer) - self._at < size:
            block = bytearray(BUFFER)
            count = self._read(block)
            if count == 0:
                break
            self._buffer = self._buffer[self._at :] + block[:count]
            self._at = 0
        return self._buffer[self._at : self._at + size]

    def read_line(self) -> bytes | None:
        """Return the next line without CR and LF at its end, or None after the last."""
        line = b""
        while self.peek(1):
            end = LINE_END.search(self._buffer, self._at)
            stop = end.start() if end else len(self._buffer)
            line += self._buffer[self._at : min(stop, self._at + LONGEST_LINE - len(line))]
            self._at = end.end() if end else stop
            if end:
                if end.group() == b"\r" and self.peek(1) == b"\n":
                    self._at += 1
                break
        else:
            if not line:
                return None
        self.line += 1
        return line

    def read_bytes(self, size: int) -> bytearray:
        """Return the next `size` bytes, or fewer at the end, in no more memory than these."""
        content = bytearray()
        while len(content) < size:
            block = memoryview(bytearray(min(size - len(content), 1 << 24)))
            count = self.readinto(block)
            if not count:
                break
            content += block[:count]
        return content

    @contextmanager
    def regular_file(self, suffix: str) -> Iterator[str]:
        """Yield the name of a regular file with this suffix and the same bytes."""
        if self.length is not None and self.suffix == suffix:
            yield self.path
            return
        with tempfile.NamedTemporaryFile(suffix=suffix) as copy:
            while block := self.read_bytes(1 << 24):
                copy.write(block)
            copy.flush()
            yield copy.name

    def feed(self, consume: Consume, size: int, longest: int, fill: Fill | None = None) -> None:
        """Call ``consume(chunk, last)`` for the rest of the file, or for the bytes of `fill`.

        A chunk begins with the bytes, fewer than `longest`, that the call before did not use. At
        most `size` new bytes follow, and none in the last chunk. ValueErrors of `consume` must
        start with the number of a line.
        """
        buffer = np.empty(longest + size, np.uint8)
        held, last = 0, False
        while not last:
            count = (fill or self.readinto)(buffer[held : held + size].data)
            last = count == 0
            filled = held + count
            try:
                used = consume(buffer[:filled], last)
            except ValueError as error:
                raise ValueError(f"{self.path}:{error}") from None
            held = filled - used
            buffer[:held] = buffer[used:filled]
