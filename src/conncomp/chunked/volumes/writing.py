"""Labels written under a temporary name, by one process at a time, and given their own at the end.

What is done is kept beside the target, so that after a kill the same call goes on.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from conncomp._arguments import shown
from conncomp._optional import optional
from conncomp.chunked.volumes.kept import Kept, is_concluded, locked
from conncomp.chunked.volumes.targets import (
    Target,
    check_free,
    check_kind_of_target,
    is_npy,
    target_of,
)
from conncomp.chunked.volumes.volume import Volume, block_shape
from conncomp.files.access import StrPath, as_path, blaming


def as_target(target: StrPath) -> Path:
    """Return the name of what is to be written, without slashes at its end.

    Raises
    ------
    FileExistsError
        If it is there, but for labels whose last steps a kill has cut short.
    ValueError
        If its name is that of files that labels are not written to.
    ImportError
        If it needs zarr.
    """
    wanted = Path(as_path(target, "target"))
    check_kind_of_target(wanted)
    if not is_concluded(folder_of(wanted)):
        check_free(wanted)
    if not is_npy(str(wanted)):
        optional("zarr")
    return wanted


def folder_of(wanted: Path) -> Path:
    """Return the folder that keeps what is done of a target."""
    return Path(f"{wanted}.partial")


def write_labels(
    wanted: Path,
    volume: Volume,
    dtype: np.dtype[Any],
    told: dict[str, Any],
    run: Callable[[Kept, Target], list[int]],
) -> list[int]:
    """Write labels of the blocks of a volume.

    Parameters
    ----------
    wanted : Path
        What `as_target` returned.
    volume : Volume
        What is read, whose files must not change meanwhile.
    dtype : dtype
        Of the labels.
    told : dict
        What tells this writing from others of the same volume.
    run : callable
        Writes to a target that is open, and returns numbers that are told of the labels.

    Returns
    -------
    list of int
        What `run` returned, here or before a kill.

    Raises
    ------
    FileExistsError
        If there is a target by now, or another process writes it.
    ValueError
        If the volume was changed, the target lies in it, or what is kept is of something else.
    """
    folder = folder_of(wanted)
    _check_outside(wanted, folder, volume)
    source = volume.identity()
    known = {
        "shape": list(volume.shape),
        "blocks": list(block_shape(volume)),
        "dtype": [str(volume.dtype), str(dtype)],
        **told,
        "source": source,
    }
    with locked(folder):
        kept = Kept(folder, known, ".npy" if is_npy(str(wanted)) else "")
        target = target_of(wanted, kept.labels, volume, dtype)
        if kept.result is not None and not kept.labels.exists() and not os.path.lexists(wanted):
            kept.clear()  # whoever removed the labels wants them again
        if kept.result is None:
            check_free(wanted)
            with blaming(kept.labels):
                if kept.is_new:
                    kept.clear()
                    target.create()
                    kept.begin()
                target.open()
            result = run(kept, target)
            if volume.identity() != source:
                raise ValueError(f"{volume.path}: was changed while it was read")
            kept.conclude(result)
        assert kept.result is not None
        target.publish(wanted)
        kept.remove()
        return kept.result


def _check_outside(wanted: Path, kept: Path, volume: Volume) -> None:
    """Raise ValueError if a target would lie among the files that are read, or these in `kept`."""
    folder = os.path.realpath(getattr(volume, "place", volume.path))
    if os.path.realpath(wanted).startswith(folder + os.sep):
        raise ValueError(
            f"target={shown(str(wanted))} lies in what is labelled, {folder}; choose another"
        )
    if folder.startswith(os.path.realpath(kept) + os.sep):
        raise ValueError(
            f"target={shown(str(wanted))}: what is labelled lies in {kept}, which is removed at "
            "the end; choose another"
        )
