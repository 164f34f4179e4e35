"""Hawick, Leist and Playne 2010: labelling graphs, fields, and inside simulations."""

from reproductions.hawick_2010 import (
    graph_tables,
    graphs,
    kawasaki,
    kernels,
    operations,
    phase_separation,
    spirals,
    thirty_graphs,
)
from reproductions.hawick_2010.laboratory import Laboratory
from reproductions.paper import Exhibit, Paper

HAWICK_2010 = Paper(
    "hawick-2010",
    'K. A. Hawick, A. Leist, D. P. Playne, "Parallel graph component labelling with GPUs and '
    'CUDA", Parallel Computing 36, 655 (2010)',
    {
        "figure-2": Exhibit(
            "Fig. 2: the minority of a quenched Ising model, and its largest component",
            kawasaki.quench,
            kawasaki.draw_quench,
            {"cpu": (1, 1, 60), "cuda": (2, 12, 60)},
            since="The paper does not say how long it took. Quench and labels take seconds on an "
            "H200.",
        ),
        "figure-3": Exhibit(
            "Fig. 3: the largest component over temperature and minority",
            kawasaki.surface,
            kawasaki.draw_surface,
            {"cpu": (1, 9000, 300_000), "cuda": (2, 40, 1500)},
            kawasaki.claims_of_surface,
            "All runs of all points are simulated side by side, in less than a minute on an H200. "
            "Each is labelled by one pass of union-find.",
            resumable=True,
        ),
        **graphs.FIGURES,
        "figure-17": operations.FIGURE_17,
        "figure-18": phase_separation.FIGURE_18,
        "figure-19": spirals.FIGURE_19,
        "table-1": kernels.TABLE_1,
        "table-3": graph_tables.TABLE_3,
        "speed-up": graph_tables.SPEED_UP,
        "rounds-of-graphs": kernels.ROUNDS,
        "rounds-of-arrays": spirals.ROUNDS,
        "blocks": kernels.BLOCKS_OF_THREADS,
        "rows-of-kernel-2": kernels.ROWS_OF_KERNEL_2,
        "thirty-graphs": thirty_graphs.THIRTY_GRAPHS,
    },
    Laboratory,
)
