"""Weigel 2011: labelling clusters on tiles, and Swendsen-Wang updates with it."""

from reproductions.paper import Paper, Show
from reproductions.weigel_2011 import claims, clusters, sweeps, tiles
from reproductions.weigel_2011.laboratory import Laboratory

WEIGEL_2011 = Paper.read(
    __file__,
    {
        "figure-2": Show(tiles.local, tiles.draw_local, claims.local),
        "figure-6": Show(tiles.relaxation, tiles.draw_relaxation, claims.relaxation),
        "figure-8": Show(tiles.sewing, tiles.draw_sewing, claims.sewing),
        "figure-9": Show(tiles.best_tile, tiles.draw_best_tile, claims.best_tile),
        "figure-10": Show(sweeps.by_length, sweeps.draw_by_length, claims.by_length),
        "figure-11": Show(sweeps.stages, sweeps.draw_stages, claims.stages),
        "figure-12": Show(sweeps.by_beta, sweeps.draw_by_beta, claims.by_beta),
        "figure-13": Show(sweeps.speed_up, sweeps.draw_speed_up, claims.speed_up),
        "figure-14": Show(clusters.few_clusters, clusters.draw_few_clusters, claims.few_clusters),
        "table-1": Show(sweeps.table, sweeps.draw_table),
        "autocorrelation": Show(
            clusters.autocorrelation, clusters.draw_autocorrelation, claims.autocorrelation
        ),
    },
    Laboratory,
)
