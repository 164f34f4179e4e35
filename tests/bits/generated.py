"""Graphs, images and fields that are generated, and random numbers."""

from .inputs import cases, rows, with_threads
from .names import generate

IMAGES = cases("""
    all_equal: value=3; blobs: sigma=3, density=0.3, seed=5; checkerboard:; comb:;
    photograph: seed=3; random_array: density=0.3, values=4, block=2, seed=1; rings:;
    voronoi: cells=9, seed=2
""")
FIRST = cases("blobs: sigma=2; voronoi: cells=5")
GRAPHS = cases("""
    barabasi_albert: num_vertices=30, edges_per_vertex=3; grid: shape=(5, 6);
    bow_tie: num_vertices=30, links_per_vertex=3; chain_of_cycles: num_cycles=4, length=5;
    cycle: num_vertices=13; directed_rmat: scale=5, arcs_per_vertex=3; line: num_vertices=11;
    mesh_sweep: shape=(3, 4, 3); overlapping_cliques: num_vertices=40, max_size=9;
    rmat: scale=5, edges_per_vertex=3; road_like: shape=(6, 7);
    wang: num_vertices=30, num_edges=40, num_components=3;
    watts_strogatz: num_vertices=30, degree=4, probability=0.3;
    web_like: num_vertices=40, links_per_vertex=3
""")
# Those that are never shuffled.
OTHERS = cases("""
    delaunay: num_vertices=20; random_directed: num_vertices=30, mean_degree=2.5;
    disjoint: num_vertices=30, num_edges=40, num_components=3;
    random_neighbours: num_vertices=30, degree=3; uniform_random: num_vertices=30, num_edges=40
""")
SPECIAL = """
    rmat simple: generate.rmat(scale=5, simple=True, a=0.4, b=0.2, c=0.2);
    disjoint connected: generate.disjoint(**OTHERS["disjoint"], connected=True);
    grid periodic: generate.grid(shape=(4, 5, 3), periodic=(True, False, True));
    road_like segments: generate.road_like(shape=(5, 5), segments=3, connected=True);
    delaunay strip: generate.delaunay(num_vertices=20, order="strip");
    delaunay hilbert: generate.delaunay(num_vertices=20, order="hilbert");
    star: generate.star(num_vertices=9); star of another: generate.star(num_vertices=9, hub=4);
    web_like window: generate.web_like( num_vertices=40, links_per_vertex=3, window=5, copying=0.8);
    hilbert_curve: generate.hilbert_curve(order=4); spiral: generate.spiral(size=13);
    maze: generate.maze(shape=(9, 11)); no vertex: generate.line(num_vertices=0);
    vertices below 0: generate.line(num_vertices=-1);
    too many edges: generate.uniform_random(num_vertices=2, num_edges=1000);
    permutation: generate.random.permutation(40, seed=3);
    philox: generate.random.philox(5, (1, 2, 3, 4))
"""


def calls():
    images = {name: (name, FIRST.get(name, {}), options) for name, options in IMAGES.items()}
    text = """{of} {shape}d:
        each(partial(getattr(generate, of[0]), shape, **options) for options in of[1:])()"""
    yield from rows(text, of=images, shape={1: (30,), 2: (9, 14), 3: (5, 6, 7)})
    more = {"{f} shuffled": ("shuffle=True, seed=3", GRAPHS), "{f} seed": ("seed=3", OTHERS)}
    for key, (options, graphs) in more.items():
        functions = {name: (getattr(generate, name), given) for name, given in graphs.items()}
        yield from rows(f"{{f}}: f[0](**f[1]); {key}: f[0](**f[1], {options})", f=functions)
    yield from rows(SPECIAL, globals())
    text = """mesh_sweep {form} {elements}:
        generate.mesh_sweep(shape=(3, 4, 3), form=form, elements=elements)"""
    forms, elements = ("klein-bottle", "twisted-beam"), ("hexahedra", "tetrahedra")
    yield from rows(text, form=forms, elements=elements)
    text = "many: generate.uniform_random(5000, 90_000, seed=2)"
    yield from rows(text, wrap=with_threads)
    text = """
        integers {seed} {start}: generate.random.integers(20, 10**12, seed=seed, start=start);
        uniform {seed} {start}: generate.random.uniform(20, seed=seed, start=start);
        bits {seed} {start}: generate.random.uniform_bits(20, seed=seed, start=start)
    """
    yield from rows(text, seed=(0, 7, (1 << 64) - 1), start=(0, 5))
    text = """
        integers {dtype}: generate.random.integers(20, [3, 50] * 10, dtype=dtype);
        uniform {dtype}: generate.random.uniform(20, dtype=dtype);
        bits {dtype}: generate.random.uniform_bits(20, dtype=dtype)
    """
    yield from rows(text, dtype=("i4", "u8", "f4", "f8", "u1"))
