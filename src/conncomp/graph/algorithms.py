"""The algorithms for graphs.

Defaults for weak components: rows by afforest; lists of edges by ``arcs.h``, on a GPU ``ecl.cuh``.
From the 2nd or 16th call for a list on, the CPU may make rows, and keep them in the caller's
`Graph` (`on_cpu.fill_weak`).
"""

from __future__ import annotations

from functools import partial

from conncomp._algorithms import Algorithm, by_roots, paper_on_gpu, table_of
from conncomp.graph import on_cpu
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
SOMAN = "Soman, Kothapalli, Narayanan 2010; Wang 2013"
BARNAT = "Barnat, Bauch, Brim, Češka 2011"

_by_roots = partial(by_roots, first=0)
_paper = partial(paper_on_gpu, first=0)

# A problem is the `Parts` of a graph, which is one item, on the device of the algorithm.
ALGORITHMS = table_of(
    Algorithm("auto", "cpu", on_cpu.fill_weak, AFFOREST),
    Algorithm("afforest", "cpu", on_cpu.fill_weak, AFFOREST),
    Algorithm("ecl", "cpu", on_cpu.fill_by_ecl, JAIGANESH, ecl.OPTIONS),
    Algorithm("bfs", "cpu", on_cpu.fill_by_bfs, HAWICK),
    Algorithm("recolouring", "cpu", on_cpu.fill_by_recolouring, HAWICK),
    Algorithm("auto", "cuda", _by_roots(blocked_afforest.fill_roots), f"{AFFOREST}; {JAIGANESH}"),
    Algorithm("ecl", "cuda", _by_roots(ecl.fill_roots), JAIGANESH, ecl.OPTIONS),
    _paper("soman", soman.fill_roots, SOMAN, options=soman.OPTIONS),
    _paper("edge-propagation", hawick.fill_by_edges, HAWICK, options=hawick.OPTIONS),
    _paper("vertex-propagation", hawick.fill_by_vertices, HAWICK, options=hawick.VERTEX_OPTIONS),
    _paper("bfs", hawick.fill_by_bfs, HAWICK, options=hawick.OPTIONS),
)

STRONG_ALGORITHMS = table_of(
    Algorithm("auto", "cpu", on_cpu.fill_strong, f"{SLOTA}; {TARJAN}"),
    Algorithm("tarjan", "cpu", on_cpu.fill_by_tarjan, TARJAN),
    Algorithm("auto", "cuda", _by_roots(strong_components.fill_roots), f"{FLEISCHER}; {ALABANDI}"),
    _paper("ecl-scc", strong.fill_by_ecl_scc, ALABANDI),
    _paper("forward-backward", strong.fill_by_division, BARNAT),
)
