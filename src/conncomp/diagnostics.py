"""What kernels do on a GPU: how long each takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from conncomp.kernels.cuda import launcher

__all__ = ["kernel_times"]


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
    >>> with conncomp.diagnostics.kernel_times() as times:
    ...     pass  # conncomp.connected_components(graph_on_gpu, algorithm="ecl")
    >>> times
    {}
    """
    times: dict[str, float] = {}
    with launcher.timed_launches() as launches:
        yield times
        for name, first, last in launches:
            last.synchronize()
            elapsed = launcher.import_cupy().cuda.get_elapsed_time(first, last) / 1e3
            times[name] = times.get(name, 0.0) + elapsed
