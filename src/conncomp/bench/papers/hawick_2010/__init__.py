"""Hawick, Leist and Playne 2010: labelling inside simulations of phase separation."""

from conncomp.bench.papers.hawick_2010 import kawasaki, phase_separation
from conncomp.bench.papers.hawick_2010.laboratory import Laboratory
from conncomp.bench.papers.paper import Figure, Paper

HAWICK_2010 = Paper(
    "hawick-2010",
    'K. A. Hawick, A. Leist, D. P. Playne, "Parallel graph component labelling with GPUs and '
    'CUDA", Parallel Computing 36, 655 (2010)',
    {
        "2": Figure(
            "Fig. 2: the minority of a quenched Ising model, and its largest component",
            kawasaki.quench,
            kawasaki.draw_quench,
            True,
        ),
        "3": Figure(
            "Fig. 3: the largest component over temperature and minority",
            kawasaki.surface,
            kawasaki.draw_surface,
            True,
            resumable=True,
        ),
        "18": Figure(
            "Fig. 18: labelling Cahn-Hilliard systems",
            phase_separation.labelling,
            phase_separation.draw_labelling,
            True,
        ),
    },
    Laboratory,
)
