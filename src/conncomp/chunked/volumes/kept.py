"""The progress of a labelling of files, kept beside the target, to go on after a kill.

The state is written first and removed last: a folder without it is none of these. The journal is
written once there are empty labels: what lies beside a state alone is of an earlier run, and goes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from conncomp.chunked.labelling import Face, Report
from conncomp.chunked.layout import Index
from conncomp.chunked.volumes.targets import Target, remove
from conncomp.files.access import blaming, naming
from conncomp.files.parts import LOCK, remove_lock, whole

RECENT = 16  # reports that are kept in memory, as neighbours ask again
ARRAYS = [name for name in Report._fields if name not in ("faces", "runs")]

STATE, JOURNAL = "state.json", "done.txt"
# Files that a kill may leave in a folder without a state.
UNBEGUN = {f"{Path(STATE).stem}.tmp", LOCK}


@dataclass(frozen=True)
class SetAside:
    """Stands for arrays in a file: a list, or what `make` makes of one."""

    path: Path
    make: Callable[[list[NDArray[Any]]], Any]

    def arrays(self) -> Any:
        """Read it."""
        with _arrays_in(self.path) as arrays:
            return self.make([arrays[name] for name in arrays])


@contextmanager
def _arrays_in(path: Path) -> Iterator[Any]:
    with (
        intact(path, path.parent.parent),
        path.open("rb") as file,  # which NumPy leaves open if it is damaged
        np.load(file, allow_pickle=False) as arrays,
    ):
        yield arrays


class Tally(NamedTuple):
    """The counts of a chunk whose labels are written."""

    kept: int = 0  # components that begin in it
    elements: int = 0  # of it, of components that are kept
    components: int = 0  # if it has whole ones only
    summary: tuple[int, ...] = ()  # its numbers, of components that begin in it, if it is wanted


class Reports:
    """Reports of chunks, each in a file of a folder."""

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
        arrays = {name: getattr(report, name) for name in ARRAYS}
        for bit, face in report.faces.items():
            arrays[f"ids-{bit}"] = face.ids
            if face.compared is not None:
                arrays[f"compared-{bit}"] = face.compared
        # Another worker may write the same.
        with whole(self._path(index), f".{uuid4().hex}") as path, path.open("wb") as file:
            np.savez(file, allow_pickle=False, **arrays)

    def _read(self, index: Index) -> Report:
        path = self._path(index)
        with _arrays_in(path) as arrays:
            bits = [name[4:] for name in arrays if name.startswith("ids-")]
            ids = {bit: (arrays[f"ids-{bit}"], arrays.get(f"compared-{bit}")) for bit in bits}
            faces = {int(bit): Face(*face) for bit, face in ids.items()}
            return Report(**{name: arrays[name] for name in ARRAYS}, faces=faces)


class Kept:
    """A folder that has reports of chunks, labels, and which chunks of these are finished.

    `wanted` has input and arguments; those of the folder that are others are `differing`. Once all
    labels are written, `result` has the counts. A folder that no labelling has made raises
    FileExistsError, a damaged one ValueError.
    """

    def __init__(self, folder: Path, wanted: dict[str, Any], suffix: str) -> None:
        self.folder, self.labels = folder, folder / f"labels{suffix}"
        self._journal = folder / JOURNAL
        self._state, self._wanted = folder / STATE, wanted
        check_folder(folder)
        known = _known(self._state) if self._state.exists() else dict(wanted)
        self.differing = [name for name in wanted if known.get(name) != wanted[name]]
        self.result: list[int] | None = known.get("result")
        self.is_new = not self._journal.exists() and self.result is None
        self.done = {} if not self._journal.exists() else self._finished()
        self.reports = Reports(folder / "reports")

    def clear(self) -> None:
        """Make the folder, with nothing in it but the state."""
        self.result, self.is_new, self.done, self.differing = None, True, {}, []
        with blaming(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            _write_whole(self._state, json.dumps(self._wanted))
            _remove_all_but_state(self.folder)
            self.reports.folder.mkdir()

    def begin(self, target: Target) -> None:
        """Make the folder, with empty labels in it."""
        self.clear()
        target.create()
        with blaming(self._journal):
            self._journal.touch()

    def _finished(self) -> dict[Index, Tally]:
        # A line that was cut short by a kill is no answer.
        with intact(self._journal, self.folder):
            text = self._journal.read_text()
            lines = text.split("\n")[:-1]
            done = {}
            for index, tally in (line.partition(" ")[::2] for line in lines):
                kept, elements, components, *summary = map(int, tally.split())
                of_index = Tally(kept, elements, components, tuple(summary))
                done[tuple(map(int, index.split(",")))] = of_index
        if not text.endswith("\n"):
            _write_whole(self._journal, "".join(f"{line}\n" for line in lines))
        return done

    def finish(self, index: Index, tally: Tally) -> None:
        """Keep that labels of a chunk are written."""
        line = f"{','.join(map(str, index))} {' '.join(map(str, (*tally[:3], *tally.summary)))}\n"
        with blaming(self._journal), self._journal.open("a") as file:
            file.write(line)
        self.done[index] = tally

    def conclude(self, result: list[int]) -> None:
        """Keep that all labels are written, and numbers that are told of them."""
        _write_whole(self._state, json.dumps({**self._wanted, "result": result}))
        self.result = result

    def set_aside(self, name: str, result: Sequence[NDArray[Any]]) -> SetAside:
        """Write what is needed again later, but not by another run."""
        path = self.reports.folder / f"{name}.npz"
        with whole(path) as temporary, temporary.open("wb") as file:
            np.savez(file, *result, allow_pickle=False)
        # Workers have other folders to begin at.
        return SetAside(path.absolute(), getattr(result, "_make", list))


def check_folder(folder: Path) -> None:
    """Raise FileExistsError if a path is not that of a kept folder, and not free."""
    if os.path.lexists(folder) and (
        folder.is_symlink()
        or not folder.is_dir()
        or not ((folder / STATE).is_file() or set(os.listdir(folder)) <= UNBEGUN)
    ):
        told = "is not what an unfinished labelling has kept; choose another target"
        raise FileExistsError(17, told, str(folder))


def remove_kept(folder: Path) -> None:
    """Remove a folder that is locked, the state and then the lock last."""
    with blaming(folder):
        _remove_all_but_state(folder)
        (folder / STATE).unlink(missing_ok=True)
        remove_lock(folder)


def _remove_all_but_state(folder: Path) -> None:
    (folder / JOURNAL).unlink(missing_ok=True)
    for path in folder.iterdir():
        if path.name not in (STATE, LOCK):
            remove(path)


def is_concluded(folder: Path) -> bool:
    """Say whether a labelling that a folder is of has written all labels."""
    check_folder(folder)
    return (folder / STATE).exists() and "result" in _known(folder / STATE)


def _known(state: Path) -> dict[str, Any]:
    with intact(state, state.parent):
        known = json.loads(state.read_text())
        result = known.get("result", []) if isinstance(known, dict) else None
        if not isinstance(result, list) or not all(isinstance(number, int) for number in result):
            raise ValueError("has no numbers")
    return dict(known)


@contextmanager
def intact(path: Path, folder: Path) -> Iterator[None]:
    """Let errors of what was kept in a folder name its file, and what to do."""
    try:
        with naming(path):
            yield
    except (FileNotFoundError, ValueError) as error:
        reason = str(error).removeprefix(f"{path}: ")
        named = reason if reason.startswith(str(path)) else f"{path}: {reason}"
        raise ValueError(f"{named}; remove {folder} to begin anew") from error


def _write_whole(path: Path, text: str) -> None:
    with whole(path) as temporary:
        temporary.write_text(text)
