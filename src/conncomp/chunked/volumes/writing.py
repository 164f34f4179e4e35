"""Labels written under a temporary name by one process at a time, and named in the end.

What is done is kept beside the target, so that after a kill the same call goes on.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from conncomp._arguments import TooSmallError, shown
from conncomp._optional import optional
from conncomp.chunked.volumes.kept import (
    JOURNAL,
    UNBEGUN,
    Kept,
    check_folder,
    intact,
    is_concluded,
    remove_kept,
)
from conncomp.chunked.volumes.sample import Run, check_room
from conncomp.chunked.volumes.targets import (
    Target,
    check_free,
    check_kind_of_target,
    is_npy,
    target_of,
)
from conncomp.chunked.volumes.volume import Volume, block_shape
from conncomp.files.access import StrPath, as_path, blaming
from conncomp.files.parts import locked
from conncomp.kernels.cuda.launcher import DType


def as_target(target: StrPath) -> Path:
    """Return what is to be written; it is free, or all but named by a run that was killed."""
    wanted = Path(as_path(target, "target"))
    check_kind_of_target(wanted)
    folder = folder_of(wanted)
    if os.path.lexists(wanted) and not is_concluded(folder):
        if folder.exists() and set(os.listdir(folder)) <= UNBEGUN:
            with locked(folder):
                remove_kept(folder)
        check_free(wanted)
    if not is_npy(str(wanted)):
        optional("zarr")
    return wanted


def folder_of(wanted: Path) -> Path:
    """Return the folder that keeps what is done of a target."""
    return Path(f"{wanted}.partial")


def write_labels(wanted: Path, volume: Volume, dtype: DType, digest: str, run: Run) -> list[int]:
    """Write labels of the blocks of a volume; return the numbers of `run`, which a kill keeps.

    Its files must not change meanwhile. The digest is of all other arguments.
    """
    folder = folder_of(wanted)
    _check_outside(wanted, folder, volume)
    source = volume.identity()
    known: dict[str, Any] = {"shape": list(volume.shape), "blocks": list(block_shape(volume))}
    known |= {"dtype": [str(volume.dtype), str(dtype)], "arguments": digest, "source": source}
    check_folder(folder)
    if not (folder / JOURNAL).exists() and not is_concluded(folder):
        check_room(wanted, volume, dtype, run)
    with locked(folder):
        kept = Kept(folder, known, ".npy" if is_npy(str(wanted)) else "")
        _forget_published(kept, wanted)
        target = target_of(wanted, kept.labels, volume, dtype)
        if kept.result is None:
            check_free(wanted)
            _open_target(target, kept)
            try:
                result = run(volume, kept, target)
            except TooSmallError:  # as it would be again
                remove_kept(folder)
                raise
            if volume.identity() != source:
                remove_kept(folder)
                raise ValueError(f"{volume.path}: was changed while it was read")
            kept.conclude(result)
        assert kept.result is not None
        target.publish(wanted)
        remove_kept(folder)
        return kept.result


def _forget_published(kept: Kept, wanted: Path) -> None:
    """Drop what a kill has left of labels that had their name; raise if others are wanted."""
    exists = os.path.lexists(wanted)
    has_name = not kept.labels.exists() or (exists and kept.labels.samefile(wanted))
    if kept.result is not None and has_name:
        if not exists:
            kept.clear()  # whoever removed the labels wants them again
        elif kept.differing:
            remove_kept(kept.folder)
            check_free(wanted)
    if kept.differing:
        told = f"{kept.folder}: is what was kept of another labelling"
        raise ValueError(f"{told}, as {', '.join(kept.differing)} differ; remove it to begin anew")


def _open_target(target: Target, kept: Kept) -> None:
    with blaming(kept.labels):
        if kept.is_new:
            try:
                kept.begin(target)
            except BaseException:
                remove_kept(kept.folder)
                raise
        with intact(kept.labels, kept.folder):
            target.open()


def _check_outside(wanted: Path, kept: Path, volume: Volume) -> None:
    """Raise if a target would lie among the files that are read, or these in `kept`."""
    folder = os.path.realpath(getattr(volume, "place", volume.path))
    named = f"target={shown(str(wanted))}"
    if os.path.realpath(wanted).startswith(folder + os.sep):
        raise ValueError(f"{named} lies in what is labelled, {folder}; choose another")
    if folder.startswith(os.path.realpath(kept) + os.sep):
        told = f"{named}: what is labelled lies in {kept}, which is removed at the end"
        raise ValueError(f"{told}; choose another")
