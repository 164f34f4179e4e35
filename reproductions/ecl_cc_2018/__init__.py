"""Jaiganesh and Burtscher 2018: connected components of graphs by ECL-CC."""

from collections.abc import Callable, Mapping
from functools import partial

from conncomp.bench.devices import DeviceName
from reproductions.ecl_cc_2018 import across, graphs, l2, order, runtimes, scaling, variants
from reproductions.ecl_cc_2018.claims import explained
from reproductions.ecl_cc_2018.laboratory import KEPT, Laboratory
from reproductions.paper import Claim, Exhibit, Findings, Paper

# The exhibit that comes first measures the graphs for all.
GRAPHS_ON_CPU, GRAPHS_ON_GPU = (15.0, 200.0, 14_400.0), (30.0, 160.0, 500.0)
GRAPHS: Mapping[DeviceName, tuple[float, float, float]] = {
    "cpu": GRAPHS_ON_CPU,
    "cuda": GRAPHS_ON_GPU,
}
AT_ONCE = (0.1, 0.1, 0.1)


def _of_phase(
    number: int,
    title: str,
    phase: variants.Phase,
    claims: Callable[[Findings], list[Claim]],
    since: str,
) -> dict[str, Exhibit]:
    """Return the exhibit of a phase of the algorithm."""
    return {
        f"figure-{number}": Exhibit(
            f"Fig. {number}: {title}",
            partial(variants.measure, phase),
            variants.draw,
            GRAPHS,
            partial(explained, claims),
            since,
            resumable=True,
        )
    }


def _of_times(
    comparison: runtimes.Comparison, figure: int, table: int, title: str, since: str
) -> dict[str, Exhibit]:
    """Return the exhibits of relative times, with what is said of them, and of absolute ones."""
    device: DeviceName = "cuda" if comparison.section == "5.2" else "cpu"
    seconds = {device: GRAPHS[device]}
    measure = partial(runtimes.measure, comparison)
    return {
        f"figure-{figure}": Exhibit(
            f"Fig. {figure}: {title}, relative to ECL-CC",
            measure,
            runtimes.draw_figure,
            seconds,
            partial(explained, partial(runtimes.claims, comparison)),
            since,
            resumable=True,
        ),
        f"table-{table}": Exhibit(
            f"Table {table}: {title}, in milliseconds",
            measure,
            runtimes.draw_table,
            seconds,
            since=since,
            resumable=True,
        ),
    }


_ON_GPUS = (
    "The default of this library leaves out most arcs inside a giant component, after Sutton, "
    "Ben-Nun and Barak 2018. Soman's algorithm is written anew here, and Groute, Gunrock and IrGL "
    "are not built here, so their published columns stand alone."
)
_ON_CPUS = (
    "The default of this library samples a few arcs of each vertex first, after Sutton, Ben-Nun "
    "and Barak 2018. Of the libraries measured here NetworKit alone works on all threads."
)
_SERIAL = (
    "SciPy and NetworKit are measured beside igraph. Galois, Boost and Lemon are C++ that is not "
    "built here, and pip has no wheel of graph-tool, which has Boost's."
)

ECL_CC_2018 = Paper(
    "ecl-cc-2018",
    'J. Jaiganesh, M. Burtscher, "A High-Performance Connected Components Implementation for '
    'GPUs", HPDC 2018',
    {
        "table-1": Exhibit(
            "Table 1: the programs",
            graphs.programs,
            graphs.draw_programs,
            {"cpu": AT_ONCE, "cuda": AT_ONCE},
            since="igraph is the one program of the paper that is measured as it is today. SciPy "
            "and NetworKit were not in it, and are measured too.",
        ),
        "table-2": Exhibit(
            "Table 2: the graphs",
            graphs.inputs,
            graphs.draw_inputs,
            GRAPHS,
            partial(explained, graphs.claims_of_inputs),
            "Six graphs are from generators, and are made again; twelve are stand-ins of the same "
            "kind, mean degree and local order. Four are made smaller at size paper, as making "
            "and checking them would take most of the time.",
            resumable=True,
        ),
        **_of_phase(
            7,
            "ways to start",
            variants.INIT,
            variants.claims_of_start,
            "The stand-ins of the web begin with hubs that have no smaller neighbour, all of whose "
            "arcs one thread of Init2 and Init3 goes through. Small graphs are measured as CUDA "
            "graphs, without the launches.",
        ),
        **_of_phase(
            8,
            "ways to jump",
            variants.JUMP,
            variants.claims_of_jumps,
            "L2 caches have grown from 2 MB on the Titan X to tens of megabytes, which hold the "
            "parents of most of these graphs. Paths are walked there instead of in memory.",
        ),
        "table-3": Exhibit(
            "Table 3: accesses to the L2 cache, over those of Jump4",
            l2.measure,
            l2.draw,
            {"cuda": (60.0, 25.0, 200.0)},
            partial(explained, l2.claims),
            "Nsight Compute has taken the place of the profiler of 2018, and counts sectors of 32 "
            "bytes. Graphs of at most five million arcs are profiled, as each is made once more "
            "under it.",
        ),
        "table-4": Exhibit(
            "Table 4: lengths of paths",
            graphs.paths,
            graphs.draw_paths,
            {"cuda": GRAPHS_ON_GPU},
            partial(explained, graphs.claims_of_paths),
            "An H200 has room for 270,336 threads at once, the Titan X for 49,152, and what others "
            "have shortened meanwhile depends on that. The paper does not say whether it counts "
            "paths of no step, so there are averages with and without them.",
            resumable=True,
        ),
        **_of_phase(
            9,
            "ways to end",
            variants.FINISH,
            variants.claims_of_end,
            "A thread of ours loads the parents of four vertices at once, whichever way paths end. "
            "The paper does not tell of that.",
        ),
        "figure-10": Exhibit(
            "Fig. 10: shares of the kernels",
            graphs.kernels,
            graphs.draw_kernels,
            {"cuda": GRAPHS_ON_GPU},
            partial(explained, graphs.claims_of_kernels),
            "Each kernel is timed by events around its launch. In the stand-ins of the web one "
            "thread is long busy with a hub in the initialization.",
            resumable=True,
        ),
        **_of_times(runtimes.TITAN, 11, 5, "programs on the Titan X and here", _ON_GPUS),
        **_of_times(runtimes.KEPLER, 12, 6, "programs on the K40 and here", _ON_GPUS),
        **_of_times(runtimes.XEON, 13, 7, "parallel programs on the E5-2687W and here", _ON_CPUS),
        **_of_times(runtimes.OLD_XEON, 14, 8, "parallel programs on the X5690 and here", _ON_CPUS),
        **_of_times(
            runtimes.SERIAL_XEON, 15, 9, "serial programs on the E5-2687W and here", _SERIAL
        ),
        **_of_times(
            runtimes.SERIAL_OLD_XEON, 16, 10, "serial programs on the X5690 and here", _SERIAL
        ),
        "figure-17": Exhibit(
            "Fig. 17: geometric means across devices",
            across.measure,
            across.draw,
            GRAPHS,
            partial(explained, across.claims),
            "The memory of an H200 moves 4.8 TB/s, that of the Titan X 336 GB/s, by their makers' "
            "numbers. Which pair of devices is compared decides the ratio, as the paper says.",
            resumable=True,
        ),
        "thread-scaling": Exhibit(
            "Threads of the CPU",
            scaling.measure,
            scaling.draw,
            {"cpu": GRAPHS_ON_CPU},
            partial(explained, scaling.claims),
            "The paper tells of 10, 20 and 40 threads in words only. Here the default is measured "
            "beside its algorithm, on one thread up to all.",
            resumable=True,
        ),
        "vertex-order": Exhibit(
            "europa_osm in three orders of its vertices",
            order.measure,
            order.draw,
            {"cpu": (1.0, 80.0, 1500.0), "cuda": (5.0, 6.0, 100.0)},
            partial(explained, order.claims),
            "The paper tells of experiments with the order without their results. Here the same "
            "stand-in is measured in natural, shuffled and breadth-first order.",
        ),
    },
    Laboratory,
    (KEPT,),
)
