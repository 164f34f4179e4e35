"""Weigel 2011: labelling clusters on tiles, and Swendsen-Wang updates with it."""

from conncomp.bench.papers.paper import Exhibit, Paper
from conncomp.bench.papers.weigel_2011 import clusters, sweeps, tiles
from conncomp.bench.papers.weigel_2011.laboratory import Laboratory

WEIGEL_2011 = Paper(
    "weigel-2011",
    'M. Weigel, "Connected-component identification and cluster update on graphics processing '
    'units", Phys. Rev. E 84, 036709 (2011)',
    {
        "figure-2": Exhibit(
            "Fig. 2: labelling tiles", tiles.local, tiles.draw_local, {"cuda": (9, 20, 20)}
        ),
        "figure-6": Exhibit(
            "Fig. 6: sweeps of label relaxation",
            tiles.relaxation,
            tiles.draw_relaxation,
            {"cuda": (9, 60, 120)},
        ),
        "figure-8": Exhibit(
            "Fig. 8: sewing", tiles.sewing, tiles.draw_sewing, {"cuda": (9, 20, 60)}
        ),
        "figure-9": Exhibit(
            "Fig. 9: the best tile", tiles.best_tile, tiles.draw_best_tile, {"cuda": (9, 60, 120)}
        ),
        "figure-10": Exhibit(
            "Fig. 10: a sweep",
            sweeps.by_length,
            sweeps.draw_by_length,
            {"cpu": (1, 60, 900), "cuda": (9, 20, 60)},
        ),
        "figure-11": Exhibit(
            "Fig. 11: stages of a sweep",
            sweeps.stages,
            sweeps.draw_stages,
            {"cpu": (1, 90, 900), "cuda": (9, 60, 300)},
        ),
        "figure-12": Exhibit(
            "Fig. 12: a sweep against temperature",
            sweeps.by_beta,
            sweeps.draw_by_beta,
            {"cpu": (1, 90, 90), "cuda": (9, 20, 20)},
        ),
        "figure-13": Exhibit(
            "Fig. 13: speed-up",
            sweeps.speed_up,
            sweeps.draw_speed_up,
            {"cpu": (1, 60, 900), "cuda": (9, 60, 300)},
        ),
        "figure-14": Exhibit(
            "Fig. 14: speed-up of the few-cluster update",
            clusters.few_clusters,
            clusters.draw_few_clusters,
            {"cpu": (1, 120, 300), "cuda": (9, 60, 120)},
        ),
        "table-1": Exhibit(
            "Table I: sweeps",
            sweeps.table,
            sweeps.draw_table,
            {"cpu": (1, 300, 900), "cuda": (9, 90, 300)},
        ),
        "autocorrelation": Exhibit(
            "Integrated autocorrelation times, 2-D Ising model at the critical point",
            clusters.autocorrelation,
            clusters.draw_autocorrelation,
            {"cpu": (3, 3600, 9000), "cuda": (9, 120, 600)},
        ),
    },
    Laboratory,
)
