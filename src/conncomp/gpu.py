"""What a user of the GPU may hold: memory to use again, and the times of kernels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from conncomp._arguments import shown
from conncomp.kernels.cuda import launcher
from conncomp.kernels.cuda.workspace import Workspace

__all__ = ["Workspace", "kernel_times"]


def check_workspace(workspace: Any) -> None:
    """Raise unless it is a `Workspace` or None."""
    if not isinstance(workspace, Workspace | None):
        raise TypeError(f"workspace={shown(workspace)} must be a conncomp.Workspace, or None")


@contextmanager
def kernel_times() -> Iterator[dict[str, float]]:
    """Measure how long each kernel takes on the GPU.

    Yields
    ------
    dict
        Filled when the context ends: seconds by name of kernel, in the order of first launches.

    Examples
    --------
    >>> import conncomp
    >>> with conncomp.kernel_times() as times:
    ...     pass  # conncomp.connected_components(graph_on_gpu, algorithm="ecl")
    >>> times
    {}
    """
    times: dict[str, float] = {}
    with launcher.recorded_launches() as launches:
        yield times
        for name, first, last in launches:
            last.synchronize()
            elapsed = launcher.import_cupy().cuda.get_elapsed_time(first, last) / 1e3
            times[name] = times.get(name, 0.0) + elapsed
