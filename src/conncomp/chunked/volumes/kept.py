"""What a labelling of files has done so far, kept beside the target, to go on after a kill.

The file of the state is written first and removed last: a folder without it is none of these. The
journal is written once there are empty labels, so that whatever lies beside a state without a
journal is of an earlier run, and goes.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import ctime
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np

from conncomp._text import printable
from conncomp.chunked.faces import Face, Report
from conncomp.chunked.layout import Index
from conncomp.chunked.volumes.targets import remove
from conncomp.files.access import blaming, lock, naming

# Reports that are kept in memory, as neighbours ask for them again.
RECENT = 16
LONGEST_OWNER = 200  # bytes that are shown of who has a lock

STATE, JOURNAL, LOCK = "state.json", "done.txt", "conncomp.lock"
# What a folder may have that a kill has left before its state was written, or after it was removed.
UNBEGUN = {f"{Path(STATE).stem}.tmp", LOCK}


@dataclass(frozen=True)
class SetAside:
    """Stands for an array, or a list of arrays, in a file."""

    path: Path
    is_list: bool

    def arrays(self) -> Any:
        """Read it."""
        with naming(self.path), np.load(self.path, allow_pickle=False) as arrays:
            parts = [arrays[name] for name in arrays]
        return parts if self.is_list else parts[0]


class Tally(NamedTuple):
    """What is known of a chunk whose labels are written.

    Attributes
    ----------
    kept : int
        How many components are kept that begin in it.
    elements : int
        How many elements of it are of components that are kept.
    components : int
        How many components it has, if it has whole ones only.
    summary : tuple of int
        The numbers of the summary of components that begin in it, if that is wanted.
    """

    kept: int = 0
    elements: int = 0
    components: int = 0
    summary: tuple[int, ...] = ()


def as_tally(numbers: list[int]) -> Tally:
    """Return the tally that has these numbers."""
    kept, elements, components, *summary = numbers
    return Tally(kept, elements, components, tuple(summary))


class Reports:
    """Reports of chunks, each in a file of a folder.

    Parameters
    ----------
    folder : Path
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.read = lru_cache(RECENT)(self._read)

    def _path(self, index: Index) -> Path:
        return self.folder / f"{'-'.join(map(str, index))}.npz"

    def has(self, index: Index) -> bool:
        """Say whether the report of a chunk is kept."""
        return self._path(index).exists()

    def keep(self, index: Index, report: Report) -> None:
        """Write the report of a chunk, whole or not at all."""
        arrays = {name: part for name, part in report._asdict().items() if name != "faces"}
        for bit, face in report.faces.items():
            arrays[f"ids-{bit}"] = face.ids
            if face.compared is not None:
                arrays[f"compared-{bit}"] = face.compared
        path = self._path(index)
        temporary = path.with_suffix(f".{uuid4().hex}.tmp")  # another worker may write the same
        with blaming(path):
            with temporary.open("wb") as file:
                np.savez(file, allow_pickle=False, **arrays)
            os.replace(temporary, path)

    def _read(self, index: Index) -> Report:
        path = self._path(index)
        with naming(path), np.load(path, allow_pickle=False) as arrays:
            faces = {
                int(name[4:]): Face(
                    arrays[name],
                    arrays.get(f"compared-{name[4:]}"),
                )
                for name in arrays
                if name.startswith("ids-")
            }
            fields = {name: arrays[name] for name in Report._fields if name != "faces"}
        return Report(**fields, faces=faces)


class Kept:
    """A folder that has reports of chunks, labels, and which chunks of these are finished.

    Parameters
    ----------
    folder : Path
    wanted : dict
        What input and arguments are.
    suffix : str
        Of the labels' name.

    Raises
    ------
    FileExistsError
        If the folder is none that a labelling has made.
    ValueError
        If the folder is that of another input or of other arguments, or damaged.
    """

    def __init__(self, folder: Path, wanted: dict[str, Any], suffix: str) -> None:
        self.folder, self.labels = folder, folder / f"labels{suffix}"
        self._journal = folder / JOURNAL
        self._state, self._wanted = folder / STATE, wanted
        check_folder(folder)
        self.result: list[int] | None = None
        if self._state.exists():
            known = _known(self._state)
            differing = [name for name in wanted if known.get(name) != wanted[name]]
            if differing:
                raise ValueError(
                    f"{folder}: is what was kept of another labelling, as {', '.join(differing)} "
                    "differ; remove it to begin anew"
                )
            self.result = known.get("result")
        self.is_new = not self._journal.exists() and self.result is None
        self.done = {} if not self._journal.exists() else self._finished()
        self.reports = Reports(folder / "reports")

    def clear(self) -> None:
        """Make the folder, with nothing in it but the state."""
        self.result, self.is_new, self.done = None, True, {}
        with blaming(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            _write_whole(self._state, json.dumps(self._wanted))
            self._remove_all_but_state()
            self.reports.folder.mkdir()

    def begin(self) -> None:
        """Say that the labels' volume is there, empty."""
        with blaming(self._journal):
            self._journal.touch()

    def remove(self) -> None:
        """Remove the folder, the state and then the lock last."""
        with blaming(self.folder):
            self._remove_all_but_state()
            self._state.unlink()
            (self.folder / LOCK).unlink(missing_ok=True)
            with suppress(OSError):  # of another process that has begun anew
                self.folder.rmdir()

    def _remove_all_but_state(self) -> None:
        self._journal.unlink(missing_ok=True)
        for path in self.folder.iterdir():
            if path.name not in (STATE, LOCK):
                remove(path)

    def _finished(self) -> dict[Index, Tally]:
        # A line that was cut short by a kill is no answer.
        with naming(self._journal):
            text = self._journal.read_text()
            lines = text.split("\n")[:-1]
            parts = [line.partition(" ")[::2] for line in lines]
            done = {
                tuple(map(int, index.split(","))): as_tally(list(map(int, tally.split())))
                for index, tally in parts
            }
        if not text.endswith("\n"):
            _write_whole(self._journal, "".join(f"{line}\n" for line in lines))
        return done

    def finish(self, index: Index, tally: Tally) -> None:
        """Keep that labels of a chunk are written."""
        numbers = *tally[:3], *tally.summary
        line = f"{','.join(map(str, index))} {' '.join(map(str, numbers))}\n"
        with blaming(self._journal), self._journal.open("a") as file:
            file.write(line)
        self.done[index] = tally

    def conclude(self, result: list[int]) -> None:
        """Keep that all labels are written, and numbers that are told of them."""
        _write_whole(self._state, json.dumps({**self._wanted, "result": result}))
        self.result = result

    def set_aside(self, name: str, result: Any) -> SetAside:
        """Write what is needed again later, but not by another run."""
        path = self.reports.folder / f"{name}.npz"
        is_list = isinstance(result, list)
        with blaming(path), path.open("wb") as file:
            np.savez(file, *(result if is_list else [result]), allow_pickle=False)
        return SetAside(path.absolute(), is_list)  # workers have other folders to begin at


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make a folder, if it is not there, and let no other process do the same until the end.

    The lock is the system's, and goes with the process: what a kill leaves holds up nobody. There
    is none on drives that have no locks.

    Raises
    ------
    FileExistsError
        If another process has the lock, or the folder is none that a labelling has made.
    """
    check_folder(folder)
    path = folder / LOCK
    with blaming(folder):
        descriptor = _open_locked(path)
        try:
            os.ftruncate(descriptor, 0)
            told = f"process {os.getpid()} of {platform.node()}, which began at {ctime()}"
            os.write(descriptor, told.encode())
        except BaseException:
            os.close(descriptor)
            raise
    try:
        yield
    finally:
        os.close(descriptor)


def _open_locked(path: Path) -> int:
    """Return a descriptor that has the lock of a file, which is there."""
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
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


def check_folder(folder: Path) -> None:
    """Raise FileExistsError if what has the name of a kept folder is something else."""
    if os.path.lexists(folder) and (
        folder.is_symlink()
        or not folder.is_dir()
        or not ((folder / STATE).is_file() or set(os.listdir(folder)) <= UNBEGUN)
    ):
        raise FileExistsError(
            17, "is not what an unfinished labelling has kept; choose another target", str(folder)
        )


def is_concluded(folder: Path) -> bool:
    """Say whether a folder is what was kept of a labelling whose labels are all written."""
    check_folder(folder)
    return (folder / STATE).exists() and "result" in _known(folder / STATE)


def _known(state: Path) -> dict[str, Any]:
    with naming(state):
        known = json.loads(state.read_text())
        result = known.get("result", []) if isinstance(known, dict) else None
        if not isinstance(result, list) or not all(isinstance(number, int) for number in result):
            raise ValueError("is damaged; remove its folder to begin anew")
    return dict(known)


def _write_whole(path: Path, text: str) -> None:
    """Write a file that is there when it is complete."""
    temporary = path.with_suffix(".tmp")
    with blaming(path):
        temporary.write_text(text)
        os.replace(temporary, path)
