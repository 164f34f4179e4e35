"""Jaiganesh and Burtscher 2018: connected components of graphs by ECL-CC."""

from collections.abc import Callable
from functools import partial

from reproductions.claims import Claim
from reproductions.ecl_cc_2018 import across, graphs, l2, order, runtimes, scaling, variants
from reproductions.ecl_cc_2018.laboratory import KEPT, Laboratory
from reproductions.paper import Findings, Paper, Show


def _of_phase(phase: variants.Phase, claims: Callable[[Findings], list[Claim]]) -> Show:
    measure = partial(variants.measure, phase)
    return Show(measure, variants.draw, claims, resumable=True)


def _of_times(comparison: runtimes.Comparison, figure: int, table: int) -> dict[str, Show]:
    """Return the exhibits of relative times, with what is said of them, and of absolute ones."""
    measure = partial(runtimes.measure, comparison)
    claims = partial(runtimes.claims, comparison)
    return {
        f"figure-{figure}": Show(measure, runtimes.draw_figure, claims, resumable=True),
        f"table-{table}": Show(measure, runtimes.draw_table, resumable=True),
    }


ECL_CC_2018 = Paper.read(
    __file__,
    {
        "table-1": Show(graphs.programs, graphs.draw_programs),
        "table-2": Show(graphs.inputs, graphs.draw_inputs, graphs.claims_of_inputs, resumable=True),
        "figure-7": _of_phase(variants.INIT, variants.claims_of_start),
        "figure-8": _of_phase(variants.JUMP, variants.claims_of_jumps),
        "table-3": Show(l2.measure, l2.draw, l2.claims),
        "table-4": Show(graphs.paths, graphs.draw_paths, graphs.claims_of_paths, resumable=True),
        "figure-9": _of_phase(variants.FINISH, variants.claims_of_end),
        "figure-10": Show(
            graphs.kernels, graphs.draw_kernels, graphs.claims_of_kernels, resumable=True
        ),
        **_of_times(runtimes.TITAN, 11, 5),
        **_of_times(runtimes.KEPLER, 12, 6),
        **_of_times(runtimes.XEON, 13, 7),
        **_of_times(runtimes.OLD_XEON, 14, 8),
        **_of_times(runtimes.SERIAL_XEON, 15, 9),
        **_of_times(runtimes.SERIAL_OLD_XEON, 16, 10),
        "figure-17": Show(across.measure, across.draw, across.claims, resumable=True),
        "thread-scaling": Show(scaling.measure, scaling.draw, scaling.claims, resumable=True),
        "vertex-order": Show(order.measure, order.draw, order.claims),
    },
    Laboratory,
    (KEPT,),
    takes_data=True,
)
