"""What a labelling of files has done so far, kept beside the target, to go on after a kill."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from conncomp.chunked.faces import Face, Report
from conncomp.chunked.layout import Index
from conncomp.files.access import blaming, naming

# Reports that are kept in memory, as neighbours ask for them again.
RECENT = 16


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
    """

    kept: int = 0
    elements: int = 0
    components: int = 0


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
    ValueError
        If the folder is that of another input or of other arguments.
    """

    def __init__(self, folder: Path, wanted: dict[str, Any], suffix: str) -> None:
        self.folder, self.labels = folder, folder / f"labels{suffix}"
        self._lock, self._journal = Lock(), folder / "done.txt"
        self._state, self._result = folder / "state.json", folder / "result.json"
        self._wanted = wanted
        # What is written last when a folder is begun.
        self.is_new = not self._state.exists()
        if self.is_new:
            with blaming(folder):
                (folder / "reports").mkdir(parents=True, exist_ok=True)
                self._journal.write_text("")
        else:
            with naming(self._state):
                known = json.loads(self._state.read_text())
            differing = [name for name in wanted if known.get(name) != wanted[name]]
            if differing:
                raise ValueError(
                    f"{folder}: is what was kept of another labelling, as {', '.join(differing)} "
                    "differ; remove it to begin anew"
                )
        self.done = {} if self.is_new else self._finished()
        self.report = lru_cache(RECENT)(self._report)

    def begin(self) -> None:
        """Say that the labels' volume is there, empty."""
        _write_whole(self._state, json.dumps(self._wanted))

    def _finished(self) -> dict[Index, Tally]:
        # A line that was cut short by a kill is no answer.
        text = self._journal.read_text()
        lines = text.split("\n")[:-1]
        if not text.endswith("\n"):
            _write_whole(self._journal, "".join(f"{line}\n" for line in lines))
        parts = [line.partition(" ")[::2] for line in lines]
        return {
            tuple(map(int, index.split(","))): Tally(*map(int, tally.split()))
            for index, tally in parts
        }

    def finish(self, index: Index, tally: Tally) -> None:
        """Keep that labels of a chunk are written."""
        line = f"{','.join(map(str, index))} {' '.join(map(str, tally))}\n"
        with self._lock, blaming(self._journal), self._journal.open("a") as file:
            file.write(line)
        self.done[index] = tally

    @property
    def result(self) -> list[int] | None:
        """What `conclude` was told, if all labels are written."""
        if not self._result.exists():
            return None
        with naming(self._result):
            result: list[int] = json.loads(self._result.read_text())
        return result

    def conclude(self, result: list[int]) -> None:
        """Keep that all labels are written, and numbers that are told of them."""
        _write_whole(self._result, json.dumps(result))

    def _path(self, index: Index) -> Path:
        return self.folder / "reports" / f"{'-'.join(map(str, index))}.npz"

    def has_report(self, index: Index) -> bool:
        """Say whether the report of a chunk is kept."""
        return self._path(index).exists()

    def keep_report(self, index: Index, report: Report) -> None:
        """Write the report of a chunk, whole or not at all."""
        arrays = {name: part for name, part in report._asdict().items() if name != "faces"}
        for bit, face in report.faces.items():
            arrays[f"ids-{bit}"] = face.ids
            if face.compared is not None:
                arrays[f"compared-{bit}"] = face.compared
        path = self._path(index)
        temporary = path.with_suffix(".tmp")
        with blaming(path):
            with temporary.open("wb") as file:
                np.savez(file, allow_pickle=False, **arrays)
            os.replace(temporary, path)

    def set_aside(self, name: str, result: Any) -> SetAside:
        """Write what is needed again later, but not by another run."""
        path = self.folder / "reports" / f"{name}.npz"
        is_list = isinstance(result, list)
        with blaming(path), path.open("wb") as file:
            np.savez(file, *(result if is_list else [result]), allow_pickle=False)
        return SetAside(path, is_list)

    def _report(self, index: Index) -> Report:
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


def _write_whole(path: Path, text: str) -> None:
    """Write a file that is there when it is complete."""
    temporary = path.with_suffix(".tmp")
    with blaming(path):
        temporary.write_text(text)
        os.replace(temporary, path)
