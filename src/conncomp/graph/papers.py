"""The papers' algorithms for graphs on the CPU: their `fill`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from conncomp._core import native

if TYPE_CHECKING:
    from conncomp.graph.graph import Graph


def fill_by_ecl(
    gpu: None,
    graph: Graph,
    labels: Any,
    workspace: None,
    consecutive: bool,
    counted: bool,
    *,
    init: int = 3,
    jump: int = 4,
    finish: int = 3,
) -> tuple[int]:
    """Label by union-find; the options are those of the same algorithm on a GPU."""
    choices = init, jump, finish
    if graph._csr is None:
        assert graph._arcs is not None
        return (native.ecl_of_arcs(*graph._arcs, *choices, consecutive, labels),)
    symmetric = bool(graph._symmetric)
    return (native.ecl_of_csr(*graph._csr, symmetric, *choices, consecutive, labels),)


def _filling_by_rows(kernel: Callable[..., int]) -> Callable[..., tuple[int]]:
    """Return a `fill` of a kernel that goes from vertex to vertex, both ways along each arc."""

    def fill(
        gpu: None, graph: Graph, labels: Any, workspace: None, consecutive: bool, counted: bool
    ) -> tuple[int]:
        mirrored = graph._is_mirrored()
        return (kernel(*graph._rows(), mirrored, consecutive, labels),)

    return fill


fill_by_bfs = _filling_by_rows(native.bfs_of_csr)
fill_by_recolouring = _filling_by_rows(native.recolouring_of_csr)
