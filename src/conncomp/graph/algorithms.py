"""The algorithms for graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conncomp._algorithms import Algorithm, always_waits, table_of
from conncomp._core import native
from conncomp.graph.inputs.parts import Parts
from conncomp.kernels.cuda.core import numbering
from conncomp.kernels.cuda.core.numbering import number_roots
from conncomp.kernels.cuda.graph import blocked_afforest, ecl, strong_components
from conncomp.kernels.cuda.launcher import Gpu
from conncomp.kernels.cuda.papers import hawick_graphs as hawick
from conncomp.kernels.cuda.papers import soman, strong
from conncomp.kernels.cuda.workspace import Workspace

JAIGANESH = "Jaiganesh, Burtscher 2018"
HAWICK = "Hawick, Leist, Playne 2010"
TARJAN = "Tarjan 1972; Tarjan, Zwick 2024"
SLOTA = "Slota, Rajamanickam, Madduri 2014"
ALABANDI = "Alabandi, Sands, Biros, Burtscher 2023"
FLEISCHER = "Fleischer, Hendrickson, Pinar 2000"
BARNAT = "Barnat, Bauch, Brim, Češka 2011"


def _fill_by_afforest(
    gpu: None, graph: Parts, labels: Any, workspace: None, consecutive: bool, counted: bool
) -> tuple[int]:
    return (graph.fill_labels(labels, consecutive),)


def _fill_by_ecl(
    gpu: None,
    graph: Parts,
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
    if graph.csr is None:
        return (native.ecl_of_arcs(*graph.lists, *choices, consecutive, labels),)
    symmetric = bool(graph.symmetric)
    return (native.ecl_of_csr(*graph.csr, symmetric, *choices, consecutive, labels),)


def _by_rows(kernel: Callable[..., int], flag: bool | None = None) -> Callable[..., tuple[int]]:
    """Return a `fill` of a kernel of rows; its flag is by default whether arcs are mirrored."""

    def fill(
        gpu: None, graph: Parts, labels: Any, workspace: None, consecutive: bool, counted: bool
    ) -> tuple[int]:
        given = graph.is_mirrored() if flag is None else flag
        return (kernel(*graph.rows(), given, consecutive, labels),)

    return fill


def _numbering(fill_roots: Callable[..., Any]) -> Callable[..., Any]:
    """Return a `fill` of what fills roots, and counts components meanwhile."""

    def fill(
        gpu: Gpu,
        graph: Parts,
        labels: Any,
        workspace: Workspace,
        consecutive: bool,
        counted: bool,
        **options: Any,
    ) -> Any:
        with gpu.loading(numbering.modules_of(labels) if consecutive else ()):
            counts = fill_roots(gpu, graph, labels, workspace, **options)
        return number_roots(gpu, labels, 0, workspace) if consecutive else counts

    return fill


def _on_gpu(name: str, fill_roots: Callable[..., Any], source: str, **traits: Any) -> Algorithm:
    return Algorithm(name, "cuda", _numbering(fill_roots), source, **traits)


def _of_paper(name: str, fill_roots: Callable[..., Any], source: str, **traits: Any) -> Algorithm:
    return _on_gpu(name, fill_roots, source, waits=always_waits, **traits)


# A problem is the `Parts` of a graph, which is one item, on the device of the algorithm.
ALGORITHMS = table_of(
    Algorithm("auto", "cpu", _fill_by_afforest, source="Sutton, Ben-Nun, Barak 2018"),
    Algorithm("afforest", "cpu", _fill_by_afforest, source="Sutton, Ben-Nun, Barak 2018"),
    Algorithm("ecl", "cpu", _fill_by_ecl, source=JAIGANESH, options=ecl.OPTIONS),
    Algorithm("bfs", "cpu", _by_rows(native.bfs_of_csr), source=HAWICK),
    Algorithm("recolouring", "cpu", _by_rows(native.recolouring_of_csr), source=HAWICK),
    _on_gpu("auto", blocked_afforest.fill_roots, f"Sutton, Ben-Nun, Barak 2018; {JAIGANESH}"),
    _on_gpu("ecl", ecl.fill_roots, JAIGANESH, options=ecl.OPTIONS),
    _of_paper(
        "soman",
        soman.fill_roots,
        "Soman, Kothapalli, Narayanan 2010; Wang 2013",
        options=soman.OPTIONS,
    ),
    _of_paper("edge-propagation", hawick.fill_by_edges, HAWICK, options=hawick.OPTIONS),
    _of_paper("vertex-propagation", hawick.fill_by_vertices, HAWICK, options=hawick.VERTEX_OPTIONS),
    _of_paper("bfs", hawick.fill_by_bfs, HAWICK, options=hawick.OPTIONS),
)

# The same for strong components.
STRONG_ALGORITHMS = table_of(
    Algorithm("auto", "cpu", _by_rows(native.strong_of_csr, True), source=f"{SLOTA}; {TARJAN}"),
    Algorithm("tarjan", "cpu", _by_rows(native.strong_of_csr, False), source=TARJAN),
    _on_gpu("auto", strong_components.fill_roots, f"{FLEISCHER}; {ALABANDI}"),
    _of_paper("ecl-scc", strong.fill_by_ecl_scc, ALABANDI),
    _of_paper("forward-backward", strong.fill_by_division, BARNAT),
)
