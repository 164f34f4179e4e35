"""Graphs, images and fields that are generated, and random numbers."""

from functools import partial
from itertools import product

from .inputs import each, with_threads
from .names import generate

IMAGES = {
    "all_equal": ({}, {"value": 3}),
    "blobs": ({"sigma": 2}, {"sigma": 3, "density": 0.3, "seed": 5}),
    "checkerboard": ({}, {}),
    "comb": ({}, {}),
    "photograph": ({}, {"seed": 3}),
    "random_array": ({}, {"density": 0.3, "values": 4, "block": 2, "seed": 1}),
    "rings": ({}, {}),
    "voronoi": ({"cells": 5}, {"cells": 9, "seed": 2}),
}
GRAPHS = {
    "barabasi_albert": {"num_vertices": 30, "edges_per_vertex": 3},
    "bow_tie": {"num_vertices": 30, "links_per_vertex": 3},
    "chain_of_cycles": {"num_cycles": 4, "length": 5},
    "cycle": {"num_vertices": 13},
    "directed_rmat": {"scale": 5, "arcs_per_vertex": 3},
    "grid": {"shape": (5, 6)},
    "line": {"num_vertices": 11},
    "mesh_sweep": {"shape": (3, 4, 3)},
    "overlapping_cliques": {"num_vertices": 40, "max_size": 9},
    "rmat": {"scale": 5, "edges_per_vertex": 3},
    "road_like": {"shape": (6, 7)},
    "wang": {"num_vertices": 30, "num_edges": 40, "num_components": 3},
    "watts_strogatz": {"num_vertices": 30, "degree": 4, "probability": 0.3},
    "web_like": {"num_vertices": 40, "links_per_vertex": 3},
}
# Those that are never shuffled.
OTHERS = {
    "delaunay": {"num_vertices": 20},
    "disjoint": {"num_vertices": 30, "num_edges": 40, "num_components": 3},
    "random_directed": {"num_vertices": 30, "mean_degree": 2.5},
    "random_neighbours": {"num_vertices": 30, "degree": 3},
    "star": {"num_vertices": 9},
    "uniform_random": {"num_vertices": 30, "num_edges": 40},
}
SPECIAL = {
    "rmat simple": ("rmat", {"scale": 5, "simple": True, "a": 0.4, "b": 0.2, "c": 0.2}),
    "disjoint connected": ("disjoint", OTHERS["disjoint"] | {"connected": True}),
    "grid periodic": ("grid", {"shape": (4, 5, 3), "periodic": (True, False, True)}),
    "road_like segments": ("road_like", {"shape": (5, 5), "segments": 3, "connected": True}),
    "delaunay strip": ("delaunay", {"num_vertices": 20, "order": "strip"}),
    "delaunay hilbert": ("delaunay", {"num_vertices": 20, "order": "hilbert"}),
    "star of another": ("star", {"num_vertices": 9, "hub": 4}),
    "web_like window": ("web_like", GRAPHS["web_like"] | {"window": 5, "copying": 0.8}),
    **{
        f"mesh_sweep {form} {elements}": (
            "mesh_sweep",
            {"shape": (3, 4, 3), "form": form, "elements": elements},
        )
        for form, elements in product(("klein-bottle", "twisted-beam"), ("hexahedra", "tetrahedra"))
    },
    "hilbert_curve": ("hilbert_curve", {"order": 4}),
    "spiral": ("spiral", {"size": 13}),
    "maze": ("maze", {"shape": (9, 11)}),
    "no vertex": ("line", {"num_vertices": 0}),
    "vertices below 0": ("line", {"num_vertices": -1}),
    "too many edges": ("uniform_random", {"num_vertices": 2, "num_edges": 1000}),
}


def calls():
    for (name, options), shape in product(IMAGES.items(), ((30,), (9, 14), (5, 6, 7))):
        make = partial(getattr(generate, name), shape)
        yield f"{name} {len(shape)}d", each(partial(make, **given) for given in options)
    for name, options in (GRAPHS | OTHERS).items():
        make = partial(getattr(generate, name), **options)
        yield name, make
        if name in GRAPHS:
            yield f"{name} shuffled", partial(make, shuffle=True, seed=3)
        elif name != "star":
            yield f"{name} seed", partial(make, seed=3)
    for key, (name, options) in SPECIAL.items():
        yield key, partial(getattr(generate, name), **options)
    yield "many", with_threads(partial(generate.uniform_random, 5000, 90_000, seed=2))
    random = generate.random
    for seed, start in product((0, 7, (1 << 64) - 1), (0, 5)):
        options = {"seed": seed, "start": start}
        yield f"integers {seed} {start}", partial(random.integers, 20, 10**12, **options)
        yield f"uniform {seed} {start}", partial(random.uniform, 20, **options)
        yield f"bits {seed} {start}", partial(random.uniform_bits, 20, **options)
    for dtype in ("i4", "u8", "f4", "f8", "u1"):
        yield f"integers {dtype}", partial(random.integers, 20, [3, 50] * 10, dtype=dtype)
        yield f"uniform {dtype}", partial(random.uniform, 20, dtype=dtype)
        yield f"bits {dtype}", partial(random.uniform_bits, 20, dtype=dtype)
    yield "permutation", partial(random.permutation, 40, seed=3)
    yield "philox", partial(random.philox, 5, (1, 2, 3, 4))
