"""Hawick, Leist and Playne 2010: labelling inside simulations of phase separation."""

from conncomp.bench.papers.hawick_2010 import kawasaki, phase_separation
from conncomp.bench.papers.laboratory import Laboratory
from conncomp.bench.papers.paper import Exhibit, Paper

HAWICK_2010 = Paper(
    "hawick-2010",
    'K. A. Hawick, A. Leist, D. P. Playne, "Parallel graph component labelling with GPUs and '
    'CUDA", Parallel Computing 36, 655 (2010)',
    {
        "figure-2": Exhibit(
            "Fig. 2: the minority of a quenched Ising model, and its largest component",
            kawasaki.quench,
            kawasaki.draw_quench,
            {"cpu": (1, 10, 300), "cuda": (2, 5, 60)},
        ),
        "figure-3": Exhibit(
            "Fig. 3: the largest component over temperature and minority",
            kawasaki.surface,
            kawasaki.draw_surface,
            {"cpu": (1, 9000, 300_000), "cuda": (2, 40, 1500)},
            resumable=True,
        ),
        "figure-18": Exhibit(
            "Fig. 18: labelling Cahn-Hilliard systems",
            phase_separation.labelling,
            phase_separation.draw_labelling,
            {"cpu": (1, 900, 4000), "cuda": (5, 120, 500)},
        ),
    },
    Laboratory,
)
