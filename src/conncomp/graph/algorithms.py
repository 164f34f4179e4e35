"""The algorithms for graphs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from conncomp._algorithms import Algorithm, Task, by_roots, paper_on_gpu, table_of
from conncomp._core import native
from conncomp.graph.inputs.parts import Parts
from conncomp.kernels.cuda.graph import blocked_afforest, ecl, strong_components
from conncomp.kernels.cuda.papers import hawick_graphs as hawick
from conncomp.kernels.cuda.papers import soman, strong

AFFOREST = "Sutton, Ben-Nun, Barak 2018"
JAIGANESH = "Jaiganesh, Burtscher 2018"
HAWICK = "Hawick, Leist, Playne 2010"
TARJAN = "Tarjan 1972; Tarjan, Zwick 2024"
SLOTA = "Slota, Rajamanickam, Madduri 2014"
ALABANDI = "Alabandi, Sands, Biros, Burtscher 2023"
FLEISCHER = "Fleischer, Hendrickson, Pinar 2000"
BARNAT = "Barnat, Bauch, Brim, Češka 2011"


def _fill_by_afforest(graph: Parts, task: Task) -> tuple[int]:
    return (graph.fill_labels(task.labels, task.consecutive),)


def _fill_by_ecl(
    graph: Parts, task: Task, *, init: int = 3, jump: int = 4, finish: int = 3
) -> tuple[int]:
    """Label by union-find; the options are those of the same algorithm on a GPU."""
    of_task = init, jump, finish, task.consecutive, task.labels
    if graph.csr is None:
        return (native.ecl_of_arcs(*graph.lists, *of_task),)
    return (native.ecl_of_csr(*graph.csr, bool(graph.symmetric), *of_task),)


def _by_rows(kernel: Callable[..., int], flag: bool | None = None) -> Callable[..., tuple[int]]:
    """Return a `fill` of a kernel of rows; its flag is by default whether arcs are mirrored."""

    def fill(graph: Parts, task: Task) -> tuple[int]:
        given = graph.is_mirrored() if flag is None else flag
        return (kernel(*graph.rows(), given, task.consecutive, task.labels),)

    return fill


_by_roots = partial(by_roots, first=0)
_paper_on_gpu = partial(paper_on_gpu, first=0)

# A problem is the `Parts` of a graph, which is one item, on the device of the algorithm.
ALGORITHMS = table_of(
    Algorithm("auto", "cpu", _fill_by_afforest, source=AFFOREST),
    Algorithm("afforest", "cpu", _fill_by_afforest, source=AFFOREST),
    Algorithm("ecl", "cpu", _fill_by_ecl, source=JAIGANESH, options=ecl.OPTIONS),
    Algorithm("bfs", "cpu", _by_rows(native.bfs_of_csr), source=HAWICK),
    Algorithm("recolouring", "cpu", _by_rows(native.recolouring_of_csr), source=HAWICK),
    Algorithm("auto", "cuda", _by_roots(blocked_afforest.fill_roots), f"{AFFOREST}; {JAIGANESH}"),
    Algorithm("ecl", "cuda", _by_roots(ecl.fill_roots), JAIGANESH, ecl.OPTIONS),
    _paper_on_gpu(
        "soman",
        soman.fill_roots,
        "Soman, Kothapalli, Narayanan 2010; Wang 2013",
        options=soman.OPTIONS,
    ),
    _paper_on_gpu("edge-propagation", hawick.fill_by_edges, HAWICK, options=hawick.OPTIONS),
    _paper_on_gpu(
        "vertex-propagation", hawick.fill_by_vertices, HAWICK, options=hawick.VERTEX_OPTIONS
    ),
    _paper_on_gpu("bfs", hawick.fill_by_bfs, HAWICK, options=hawick.OPTIONS),
)

# The algorithms for strong components.
STRONG_ALGORITHMS = table_of(
    Algorithm("auto", "cpu", _by_rows(native.strong_of_csr, True), source=f"{SLOTA}; {TARJAN}"),
    Algorithm("tarjan", "cpu", _by_rows(native.strong_of_csr, False), source=TARJAN),
    Algorithm("auto", "cuda", _by_roots(strong_components.fill_roots), f"{FLEISCHER}; {ALABANDI}"),
    _paper_on_gpu("ecl-scc", strong.fill_by_ecl_scc, ALABANDI),
    _paper_on_gpu("forward-backward", strong.fill_by_division, BARNAT),
)
