"""Hawick, Leist and Playne 2010: labelling graphs, fields, and inside simulations."""

from reproductions.hawick_2010 import (
    graph_tables,
    graphs,
    kawasaki,
    kernels,
    operations,
    phase_separation,
    spirals,
)
from reproductions.hawick_2010.laboratory import Laboratory
from reproductions.paper import Paper, Show

HAWICK_2010 = Paper.read(
    __file__,
    {
        "figure-2": Show(kawasaki.quench, kawasaki.draw_quench),
        "figure-3": Show(
            kawasaki.surface, kawasaki.draw_surface, kawasaki.claims_of_surface, resumable=True
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
        "thirty-graphs": graphs.THIRTY_GRAPHS,
    },
    Laboratory,
)
