"""Leyuan Wang 2013: hooking and pointer jumping after Soman, against a serial program."""

from reproductions.laboratory import Laboratory
from reproductions.paper import Exhibit, Paper
from reproductions.wang_2013 import graphs, worked_example

WANG_2013 = Paper(
    "wang-2013",
    'Leyuan Wang, "An Implementation of Connected Component Algorithm on GPU", project report '
    "(2013)",
    {
        "worked-example": Exhibit(
            "Figs. (a) to (e) and steps 2 to 4: the parents of the worked example",
            worked_example.work_out,
            worked_example.draw_example,
            {"cpu": (1, 1, 1), "cuda": (1, 1, 1)},
            worked_example.claims_of_example,
            since="What keeps parents from going round in a circle is to hook roots alone, all "
            "of them in one direction. Ours does so, and then loses no edge by stores "
            "that compete.",
        ),
        "charities": Exhibit(
            "Table: two graphs of some thousand vertices",
            graphs.measure_charities,
            graphs.draw_charities,
            {"cpu": (1, 1, 1), "cuda": (3, 6, 6)},
            graphs.claims_of_charities,
            since="A serial search of graphs of this size takes a CPU some ten microseconds "
            "today, as long as a few launches of kernels take. Boost was given 8 and 20 "
            "ms then, so that a GPU won.",
        ),
        "sizes": Exhibit(
            "Plot: seconds over the number of vertices",
            graphs.measure_sizes,
            graphs.draw_sizes,
            {"cpu": (1, 60, 300), "cuda": (3, 50, 300)},
            graphs.claims_of_sweeps,
            since="Algorithms since then go over arcs once, by union-find whose roots are "
            "replaced by compare-and-swap. Hooking goes over edges and vertices again in "
            "every sweep.",
        ),
        "components": Exhibit(
            "Plot: seconds over the number of components",
            graphs.measure_components,
            graphs.draw_components,
            {"cpu": (1, 20, 120), "cuda": (3, 25, 120)},
            graphs.claims_of_sweeps,
            since="The number of components matters to what begins anew for each of them, as a "
            "search on a GPU does. Hooking and union-find treat all of them at once.",
        ),
        "rounds": Exhibit(
            "Hooking rounds, and jumping after every sweep or once",
            graphs.measure_rounds,
            graphs.draw_rounds,
            {"cuda": (8, 80, 450)},
            graphs.claims_of_rounds,
            since="Jumping after every sweep keeps trees flat, so that an edge reads two "
            "parents; jumping once lets edges follow long paths. Union-find of today "
            "shortens paths while it follows them.",
        ),
    },
    Laboratory,
)
