"""What kernels do on a GPU: how long each takes, and how long the paths are that "ecl" walks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from conncomp.graph.labelling import as_graph
from conncomp.kernels.cuda import launcher
from conncomp.kernels.cuda.graph import ecl

__all__ = ["PathLengths", "kernel_times", "path_lengths"]


class PathLengths(NamedTuple):
    """The paths that were walked in searches for roots.

    Attributes
    ----------
    paths : int
        How many.
    average : float
        Of their lengths; 0 if there are none.
    maximum : int
        The length of the longest.
    walked : int
        How many have a length other than 0.
    """

    paths: int
    average: float
    maximum: int
    walked: int

    @property
    def average_walked(self) -> float:
        """The average of the lengths that are not 0; 0 if there are none."""
        return self.average * self.paths / self.walked if self.walked else 0.0


def path_lengths(graph: Any, *, init: int = 3, jump: int = 4) -> PathLengths:
    """Measure the paths that algorithm "ecl" walks on a GPU.

    Parameters
    ----------
    graph : Graph, sparse matrix or array, dense adjacency matrix, or NetworkX graph
        As for `connected_components`; arcs count in both directions. One in main memory is moved to
        the current GPU.
    init : {3, 1, 2}, optional
        How vertices start: 1 alone, 2 under their smallest neighbour, 3 under the first smaller
        one.
    jump : {4, 1, 2, 3}, optional
        Which pointers are jumped: 1 multiple, 2 single, 3 none, 4 intermediate.

    Returns
    -------
    PathLengths
        Of the searches, while arcs are gone through, for the root of a vertex, once by each of its
        threads, and for those of its neighbours: 0 where it is a root itself, 1 where its parent
        is. Those of the finish are not counted.

    Raises
    ------
    TypeError, ValueError, ImportError, RuntimeError, MemoryError
        As of `connected_components` on a GPU.

    Notes
    -----
    This is Table 4 of [1]_. The lengths depend on the order in which threads come to work, so they
    vary from call to call, and counting changes it a little. It takes time: do not time this run.

    References
    ----------
    .. [1] J. Jaiganesh, M. Burtscher, "A High-Performance Connected Components Implementation for
       GPUs", HPDC 2018.

    Examples
    --------
    On a line in which each vertex starts under the one before, nothing is left to unite:

    >>> import conncomp
    >>> line = conncomp.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> conncomp.diagnostics.path_lengths(line, init=2, jump=3)  # doctest: +SKIP
    PathLengths(paths=6, average=1.5, maximum=3, walked=5)
    """
    placed = as_graph(graph).to("cuda")._parts
    with placed.stream():
        counted = ecl.count_paths(launcher.current_gpu(), placed, init, jump)
    average = counted.steps / counted.paths if counted.paths else 0.0
    return PathLengths(counted.paths, average, counted.longest, counted.walked)


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
    with launcher.recorded_launches() as launches:
        yield times
        for name, first, last in launches:
            last.synchronize()
            elapsed = launcher.import_cupy().cuda.get_elapsed_time(first, last) / 1e3
            times[name] = times.get(name, 0.0) + elapsed
