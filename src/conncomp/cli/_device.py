"""Stages of a command on the CPU or on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import click

from conncomp.cli._report import Stages
from conncomp.kernels.cuda import launcher

Stage = Callable[[str], AbstractContextManager[None]]


def stages_on(device: str, stage: Stages) -> Stage:
    """Return what runs a stage on a device; on a GPU it ends when the GPU has finished."""

    @contextmanager
    def run(name: str) -> Iterator[None]:
        with stage(name):
            if device == "cpu":
                yield
                return
            try:
                yield
                launcher.import_cupy().cuda.get_current_stream().synchronize()
            except RuntimeError as error:
                raise click.ClickException(f"--device cuda: {error}") from error

    return run
