"""One small member of every family of graphs and arrays that `conncomp.generate` makes."""

from conncomp import generate

GRAPHS = {
    "line": lambda **k: generate.line(500, **k),
    "star": lambda **k: generate.star(500, 7, **k),
    "grid": lambda **k: generate.grid((9, 8, 7), (True, False, True), **k),
    "road_like": lambda **k: generate.road_like((20, 30), segments=3, **k),
    "road_like connected": lambda **k: generate.road_like((20, 30), connected=True, **k),
    "delaunay": lambda **k: generate.delaunay(500, "hilbert", **k),
    "uniform_random": lambda **k: generate.uniform_random(500, 2000, **k),
    "random_neighbours": lambda **k: generate.random_neighbours(500, 3, **k),
    "disjoint": lambda **k: generate.disjoint(500, 2000, 9, **k),
    "disjoint connected": lambda **k: generate.disjoint(500, 2000, 9, connected=True, **k),
    "wang": lambda **k: generate.equal_components(500, 2000, 9, **k),
    "barabasi_albert": lambda **k: generate.barabasi_albert(500, 3, **k),
    "watts_strogatz": lambda **k: generate.watts_strogatz(500, 6, 0.3, **k),
    "rmat": lambda **k: generate.rmat(9, 5, **k),
    "rmat simple": lambda **k: generate.rmat(9, 5, simple=True, **k),
    "web_like": lambda **k: generate.web_like(500, 4, window=20, **k),
    "overlapping_cliques": lambda **k: generate.overlapping_cliques(500, **k),
}
UNSEEDED_GRAPHS = ("star",)
SHUFFLED_GRAPHS = tuple(
    name
    for name in GRAPHS
    if name
    not in (
        *("star", "delaunay", "uniform_random", "random_neighbours"),
        *("disjoint", "disjoint connected"),
    )
)

ARRAYS = {
    "random_array": lambda **k: generate.random_array((40, 50), 0.6, values=3, **k),
    "random_array in blocks": lambda **k: generate.random_array((23, 31), 0.8, block=4, **k),
    "maze": lambda **k: generate.patterns.maze((31, 41), **k),
    "blobs": lambda **k: generate.blobs((60, 70), 3, **k),
    "voronoi": lambda **k: generate.voronoi((60, 70), 40, **k),
    "photograph": lambda **k: generate.photograph((60, 70), **k),
}
UNSEEDED_ARRAYS = {
    "spiral": lambda **k: generate.patterns.spiral(33, **k),
    "rings": lambda **k: generate.patterns.rings((9, 20, 11), **k),
    "comb": lambda **k: generate.patterns.comb((5, 7, 6), **k),
    "hilbert_curve": lambda **k: generate.patterns.hilbert_curve(4, **k),
    "checkerboard": lambda **k: generate.patterns.checkerboard((4, 5, 6), **k),
    "all_equal": lambda **k: generate.patterns.all_equal((2, 3), 7, **k),
}
