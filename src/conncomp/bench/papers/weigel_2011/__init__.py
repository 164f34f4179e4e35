"""Weigel 2011: labelling clusters on tiles, and Swendsen-Wang updates with it."""

from conncomp.bench.papers.paper import Figure, Paper
from conncomp.bench.papers.weigel_2011 import clusters, sweeps, tiles
from conncomp.bench.papers.weigel_2011.laboratory import Laboratory

WEIGEL_2011 = Paper(
    "weigel-2011",
    'M. Weigel, "Connected-component identification and cluster update on graphics processing '
    'units", Phys. Rev. E 84, 036709 (2011)',
    {
        "2": Figure("Fig. 2: labelling tiles", tiles.local, tiles.draw_local, False),
        "6": Figure(
            "Fig. 6: sweeps of label relaxation", tiles.relaxation, tiles.draw_relaxation, False
        ),
        "8": Figure("Fig. 8: sewing", tiles.sewing, tiles.draw_sewing, False),
        "9": Figure("Fig. 9: the best tile", tiles.best_tile, tiles.draw_best_tile, False),
        "10": Figure("Fig. 10: a sweep", sweeps.by_length, sweeps.draw_by_length, True),
        "11": Figure("Fig. 11: stages of a sweep", sweeps.stages, sweeps.draw_stages, True),
        "12": Figure(
            "Fig. 12: a sweep against temperature", sweeps.by_beta, sweeps.draw_by_beta, True
        ),
        "13": Figure("Fig. 13: speed-up", sweeps.speed_up, sweeps.draw_speed_up, True),
        "14": Figure(
            "Fig. 14: speed-up of the few-cluster update",
            clusters.few_clusters,
            clusters.draw_few_clusters,
            True,
        ),
        "table-1": Figure("Table I: sweeps", sweeps.table, sweeps.draw_table, True),
        "autocorrelation": Figure(
            "Integrated autocorrelation times, 2-D Ising model at the critical point",
            clusters.autocorrelation,
            clusters.draw_autocorrelation,
            True,
        ),
    },
    Laboratory,
)
