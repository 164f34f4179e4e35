"""What a labelling of files has done so far, kept beside the target, to go on after a kill."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from conncomp.chunked.faces import Face, Report
from conncomp.chunked.layout import Index
from conncomp.files.access import naming

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
        state = folder / "state.json"
        # What is written last when a folder is begun.
        self.is_new = not state.exists()
        if self.is_new:
            (folder / "reports").mkdir(parents=True, exist_ok=True)
            self._journal.write_text("")
        else:
            with naming(state):
                known = json.loads(state.read_text())
            differing = [name for name in wanted if known.get(name) != wanted[name]]
            if differing:
                raise ValueError(
                    f"{folder}: is what was kept of another labelling, as {', '.join(differing)} "
                    "differ; remove it to begin anew"
                )
        self._state, self._wanted = state, wanted
        self.done = set() if self.is_new else self._finished()
        self.report = lru_cache(RECENT)(self._report)

    def begin(self) -> None:
        """Say that the labels' volume is there, empty."""
        self._state.write_text(json.dumps(self._wanted))

    def _finished(self) -> set[Index]:
        # A line that was cut short by a kill is no answer.
        lines = self._journal.read_text().split("\n")[:-1]
        return {tuple(map(int, line.split(","))) for line in lines}

    def finish(self, index: Index) -> None:
        """Keep that labels of a chunk are written."""
        with self._lock, self._journal.open("a") as file:
            file.write(",".join(map(str, index)) + "\n")

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
        with temporary.open("wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
        os.replace(temporary, path)

    def set_aside(self, name: str, result: Any) -> SetAside:
        """Write what is needed again later, but not by another run."""
        path = self.folder / "reports" / f"{name}.npz"
        is_list = isinstance(result, list)
        with path.open("wb") as file:
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
