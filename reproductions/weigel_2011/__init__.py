"""Weigel 2011: labelling clusters on tiles, and Swendsen-Wang updates with it."""

from reproductions.paper import Exhibit, Paper
from reproductions.weigel_2011 import claims, clusters, sweeps, tiles
from reproductions.weigel_2011.laboratory import Laboratory

WEIGEL_2011 = Paper(
    "weigel-2011",
    'M. Weigel, "Connected-component identification and cluster update on graphics processing '
    'units", Phys. Rev. E 84, 036709 (2011)',
    {
        "figure-2": Exhibit(
            "Fig. 2: labelling tiles",
            tiles.local,
            tiles.draw_local,
            {"cuda": (9, 8, 10)},
            claims=claims.local,
            since=(
                "Tiles of up to 64 x 64 sites fit the shared memory that had room for 32 x 32. "
                "All ways take a hundredth of the time, and those of one thread a tile most of "
                "all have caught up."
            ),
        ),
        "figure-6": Exhibit(
            "Fig. 6: sweeps of label relaxation",
            tiles.relaxation,
            tiles.draw_relaxation,
            {"cuda": (9, 15, 50)},
            claims=claims.relaxation,
            since=(
                "Roots of all tiles are relaxed at once, so a label may pass several tiles in a "
                "sweep. The number of sweeps still grows nearly as the number of tiles along an "
                "axis."
            ),
        ),
        "figure-8": Exhibit(
            "Fig. 8: sewing",
            tiles.sewing,
            tiles.draw_sewing,
            {"cuda": (9, 10, 40)},
            claims=claims.sewing,
            since=(
                "His kernel gave each four tiles a block; ours gives each site of the seams of a "
                "level a thread. So the last levels no longer leave the card idle, and what is "
                "left of them is the time of a launch."
            ),
        ),
        "figure-9": Exhibit(
            "Fig. 9: the best tile",
            tiles.best_tile,
            tiles.draw_best_tile,
            {"cuda": (9, 20, 60)},
            claims=claims.best_tile,
            since=(
                "Sewing is still best with tiles of 16 x 16. Relaxation takes the largest tiles "
                "that fit, as a sweep over them costs little now."
            ),
        ),
        "figure-10": Exhibit(
            "Fig. 10: a sweep",
            sweeps.by_length,
            sweeps.draw_by_length,
            {"cpu": (1, 30, 400), "cuda": (9, 6, 30)},
            claims=claims.by_length,
            since=(
                "A sweep takes a thirtieth of the time on a card with twenty times the bandwidth. "
                "The default of this library takes a sixth of that, and does not label by tiles."
            ),
        ),
        "figure-11": Exhibit(
            "Fig. 11: stages of a sweep",
            sweeps.stages,
            sweeps.draw_stages,
            {"cpu": (1, 35, 500), "cuda": (9, 15, 80)},
            claims=claims.stages,
            since=(
                "Activating bonds and flipping take a word of 64 sites a thread. Labelling tiles "
                "is the longest stage from 2048 x 2048 on."
            ),
        ),
        "figure-12": Exhibit(
            "Fig. 12: a sweep against temperature",
            sweeps.by_beta,
            sweeps.draw_by_beta,
            {"cpu": (1, 180, 180), "cuda": (9, 20, 20)},
            claims=claims.by_beta,
            since=(
                "Sewing depends on the temperature as it did up to the critical point. Relaxation "
                "still has its peak there."
            ),
        ),
        "figure-13": Exhibit(
            "Fig. 13: speed-up",
            sweeps.speed_up,
            sweeps.draw_speed_up,
            {"cpu": (1, 35, 500), "cuda": (9, 15, 80)},
            claims=claims.speed_up,
            since=(
                "The card has grown by more than the core of a processor that it is compared "
                "with. The serial code labels by breadth-first search, as his."
            ),
        ),
        "figure-14": Exhibit(
            "Fig. 14: speed-up of the few-cluster update",
            clusters.few_clusters,
            clusters.draw_few_clusters,
            {"cpu": (1, 95, 300), "cuda": (9, 22, 60)},
            claims=claims.few_clusters,
            since=(
                "Both updates label all clusters and flip those with a seed, so their time hardly "
                "depends on the tiles. Short lattices are left to the CPU: a launch takes longer "
                "than they do."
            ),
        ),
        "table-1": Exhibit(
            "Table I: sweeps",
            sweeps.table,
            sweeps.draw_table,
            {"cpu": (1, 120, 600), "cuda": (9, 20, 80)},
            since=(
                "His cards and processors are the published columns. Ours are one card and one "
                "core, by his merge and by the default."
            ),
        ),
        "autocorrelation": Exhibit(
            "Integrated autocorrelation times, 2-D Ising model at the critical point",
            clusters.autocorrelation,
            clusters.draw_autocorrelation,
            {"cpu": (3, 3600, 9000), "cuda": (9, 40, 300)},
            claims=claims.autocorrelation,
            since=(
                "Times are measured in sweeps: in as many updates as flip as many spins as there "
                "are sites. Hundreds of replicas run side by side, which the paper did not have."
            ),
        ),
    },
    Laboratory,
)
