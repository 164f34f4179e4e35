"""Classes of errors: each parameter of each function is given what it cannot be.

A parameter's result is a letter for each of `WRONG`: the class of the error, or a dot for a result.
"""

import contextlib
import inspect
import math
import re
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from .inputs import rows
from .names import cc, generate, models
from .running import Classes

GRAPH = cc.Graph.from_edges([0, 1], [1, 2], 4)
IMAGE = np.eye(4, dtype=np.int64)
BONDS = np.ones((2, 3, 3), bool)
WRONG = {
    **{"None": None, "text": "abc", "no text": "", "bytes": b"abc", "7": 7, "-5": -5},
    **{"huge": 10**30, "half": 0.5, "one": 1.0, "NaN": math.nan, "True": True, "list": [1, 2]},
    **{"ragged": [[1], [2, 3]], "matrix": np.array([[0.5, np.nan], [1.0, 2.0]])},
    **{"empty": np.zeros(0), "objects": np.array([object(), None]), "complex": 1j},
    **{"function": len, "dictionary": {"a": 2}, "graph": GRAPH},
    **{"array of int": np.arange(4), "bool array": np.eye(4, dtype=bool)},
}
CLASSES = ["Type", "Value", "Overflow", "Index", "Key", "Memory", "Runtime", "Attribute"]
LETTERS = {f"{name}Error": name[0] for name in CLASSES}
SYSTEM = ["OS", "FileNotFound", "FileExists", "IsADirectory", "NotADirectory", "Permission"]
LETTERS |= {f"{name}Error": "F" for name in SYSTEM}
MEANING = {letter: name for name, letter in reversed(LETTERS.items())}
MEANING |= {".": "a result", "?": "another error", "_": "left out", "F": "OSError"}
# Values that would be called now and then, ask a network, or limit this process.
LEFT_OUT = {
    "progress": {"function"},
    "watch": {"function"},
    "scheduler": {"text", "no text", "bytes"},
    "memory": {"7", "huge", "text"},
    # What the system says of paths is its own.
    **{name: {"no text", "bytes"} for name in ("path", "source", "target", "output", "checkpoint")},
}


def calls():
    kinds = {_letters: of_functions() | of_models(), _letters_in_folders: of_files()}
    for letters, functions in kinds.items():
        for key, (function, options, names) in functions.items():
            yield key, partial(_classes, partial(letters, function, options), names)
    yield from rows(CONFLICTS, globals())
    fields = "fields of {dtype}: models.CahnHilliard((4, 4), dtype=dtype).field.dtype"
    yield from rows(fields, dtype=("float32", "float16", "int32"))


def _classes(letters, names):
    """Return the letters of each parameter, with how many times each stands in a row."""
    return Classes(" ".join(f"{name}={_packed(''.join(letters(name)))}" for name in names.split()))


def _packed(letters):
    """Write 3T for TTT."""
    return re.sub(r"(.)\1+", lambda run: f"{len(run[0])}{run[1]}", letters)


def explain(was, now):
    """Yield what differs between the letters of a function's parameters, in words."""
    was, now = (dict(part.split("=") for part in text.split()) for text in (was, now))
    for name in {**was, **now}:
        if was.get(name) == now.get(name):
            continue
        if name not in was or name not in now:
            yield f"{name}: {'no longer' if name in was else 'not yet'} recorded"
            continue
        pairs = zip(WRONG, _letters_of(was[name]), _letters_of(now[name]), strict=True)
        yield from (
            f"{name}={word}: was {MEANING[old]}, is {MEANING[new]}"
            for word, old, new in pairs
            if old != new
        )


def _letters_of(packed):
    return re.sub(r"(\d+)(\D)", lambda run: int(run[1]) * run[2], packed)


def _letters(function, options, name):
    for word in WRONG:
        yield _letter(function, options(), name, word)


def _letters_in_folders(function, options, name):
    for word in WRONG:
        made = tempfile.TemporaryDirectory(prefix="conncomp-bits-")
        with made as folder, contextlib.chdir(folder):
            yield _letter(function, options(Path(folder)), name, word)


def _letter(function, options, name, word):
    if word in LEFT_OUT.get(name, ()):
        return "_"
    before = cc.get_num_threads()
    try:
        result = function(**(options | {name: WRONG[word]}))
        if hasattr(result, "__next__"):
            list(result)
    except Exception as error:
        classes = [cls.__name__ for cls in type(error).__mro__]
        return next((LETTERS[each] for each in classes if each in LETTERS), "?")
    finally:
        cc.set_num_threads(before)
    return "."


def _of(make, method):
    """Return a function that makes an object and calls a method of it."""

    def call(**options):
        return getattr(make(), method)(**options)

    call.__signature__ = inspect.signature(getattr(make(), method))
    return call


def _read(text):
    """Read functions, what makes their other arguments, and the names of the wrong ones."""
    found = {}
    for row in text.split(";"):
        key, _, rest = row.partition(": ")
        function, options, names = (" ".join(part.split()) for part in rest.split("|"))
        made = eval(function, globals()), partial(_options, options), names.format_map(WORDS)
        found[key.strip()] = made
    return found


def _options(text, folder=None):
    return eval(f"dict({text})", globals() | {"folder": folder})


def _reweight(function=np.mean, **options):
    return models.reweight(function, [1.0, 2.0, 4.0], **options)


def _jackknife(function=np.mean, **options):
    return models.jackknife(function, np.arange(9.0), **options)


def _image(folder):
    np.save(folder / "image.npy", IMAGE)
    return folder / "image.npy"


def _edges(folder):
    (folder / "edges.csv").write_text("src,dst,weight\n0,1,0.5\n1,2,0.5\n")
    return folder / "edges.csv"


CURVES = {n: [[x, x * n, 0.1] for x in (-1.0, 0.0, 1.0, 2.0)] for n in (2, 3)}
PAIRS = {"pairs": {"l": ["a", "b"], "r": ["b", "c"], "w": [0.5, 0.9]}, "left": "l", "right": "r"}
MASK = IMAGE > 0
label, strong = partial(cc.label, IMAGE), partial(cc.connected_components, GRAPH)
grow, match = partial(cc.IncrementalComponents, 4), partial(cc.match, IMAGE, IMAGE)
ising, potts = partial(models.Ising, (4, 4)), partial(models.Potts, (4, 4))
warm, xy = partial(ising, beta=[0.4, 0.5], seed=1), partial(models.XY, (4, 4))
glass = partial(models.SpinGlass, (2, 3), beta=0.5, copies=2)
glass_of_one = partial(models.SpinGlass, (4, 4), beta=1.0)
kawasaki, fields = partial(models.Kawasaki, 4), partial(models.CahnHilliard, (4, 4))
percolation = partial(models.Percolation, (4, 4))
WORDS = {
    "RULE": "connectivity structure tolerance periodic batch_axes",
    "ANSWER": "numbering algorithm dtype out device workspace",
    "LABELS": "labels background batch_axes",
    "MODEL": "shape replicas seed first_replica start device",
    "EDGES": "src dst num_vertices format header progress",
    "DRAWN": "seed purpose start dtype device",
    "MEASURED": "measure observe",
}
WORDS["SPINS"] = f"{WORDS['MODEL']} lattice temperature beta coupling field periodic"
FUNCTIONS = """
label: cc.label | label_image=IMAGE | label_image background return_num {RULE} {ANSWER};
label_bonds: cc.label_bonds | bonds=BONDS | bonds return_num periodic batch_axes {ANSWER};
stream: cc.stream_labels | slabs=[IMAGE] | slabs background connectivity structure tolerance
    periodic surfaces spacing;
component wrapping: cc.component_wrapping | label_image=IMAGE | label_image background {RULE} device
    workspace;
cluster wrapping: cc.cluster_wrapping | bonds=BONDS | bonds periodic batch_axes device workspace;
percolates: cc.percolates | image=IMAGE, axis=0 | image axis background connectivity structure
    tolerance periodic device;
match: cc.match | labels_a=IMAGE, labels_b=IMAGE | labels_a labels_b background batch_axes;
scores: _of(match, "scores") | | threshold; threads: cc.set_num_threads | | n;
colours: cc.colour_components | labels=IMAGE | {LABELS} image alpha boundaries value_range;
members: cc.component_members | labels=IMAGE | {LABELS};
sizes: cc.component_sizes | labels=IMAGE | {LABELS};
spans: cc.component_spans | labels=IMAGE | {LABELS};
statistics: cc.component_statistics | labels=IMAGE | {LABELS} image properties moments surfaces
    classes spacing; contacts: cc.contacts | labels=IMAGE | {LABELS} connectivity spacing periodic;
each: cc.each | labels=IMAGE | {LABELS};
holes: cc.fill_holes | labels=IMAGE | {LABELS} connectivity max_size;
largest: cc.largest_components | labels=IMAGE | {LABELS} k by connectivity;
adjacency: cc.region_adjacency | labels=IMAGE | {LABELS} connectivity periodic;
consecutive: cc.relabel_consecutive | labels=IMAGE | {LABELS} return_labels;
not small: cc.remove_small_components | labels=IMAGE, min_size=2 | {LABELS} min_size max_size invert
    connectivity; histogram: cc.size_histogram | labels=IMAGE | {LABELS};
sorted: cc.sort_by_size | labels=IMAGE | {LABELS};
components: cc.connected_components | csgraph=GRAPH | csgraph directed connection return_labels
    {ANSWER}; condensation: cc.condensation | csgraph=GRAPH | csgraph numbering algorithm;
forest: cc.spanning_forest | graph=GRAPH | graph device workspace;
minimum forest: cc.minimum_spanning_forest | graph=GRAPH, weights=[1, 2] | graph weights device
    workspace; growing: cc.IncrementalComponents | num_vertices=4 | num_vertices device dtype;
growing edges: _of(grow, "add_edges") | src=[0], dst=[1] | src dst wait;
growing connected: _of(grow, "connected") | u=[0], v=[1] | u v wait;
growing roots: _of(grow, "roots") | vertices=[0] | vertices wait;
growing labels: _of(grow, "labels") | | numbering dtype out;
graph: cc.Graph | num_vertices=3, arcs=([0], [1]) | num_vertices arcs csr;
graph of edges: cc.Graph.from_edges | src=[0], dst=[1] | src dst num_vertices;
graph of rows: cc.Graph.from_csr | indptr=[0, 1, 1], indices=[1] | indptr indices;
graph of SciPy: cc.Graph.from_scipy | | matrix; graph of networkx: cc.Graph.from_networkx | | graph;
arc order: GRAPH.in_arc_order | | values; graph to: GRAPH.to | | device;
pairs: cc.cluster_pairs | **PAIRS | pairs left right weights threshold nodes max_size cluster_ids
    nulls device;
quality: cc.cluster_quality | clusters=cc.cluster_pairs(**PAIRS), **PAIRS | clusters pairs left
    right weights threshold node cluster nulls; batches: cc.ClusterPairs | | threshold nulls device;
batch: _of(cc.ClusterPairs, "add") | left=["a"], right=["b"] | left right weights;
integers: generate.random.integers | count=3, high=5 | count high {DRAWN};
uniform: generate.random.uniform | count=3 | count {DRAWN};
bits: generate.random.uniform_bits | count=3 | count {DRAWN};
permutation: generate.random.permutation | count=3 | count seed purpose device;
philox: generate.random.philox | seed=1, counter=(1, 2, 3, 4) | seed counter
"""
# The first of these have a shape or vertices, too, and most of those with vertices a seed.
OF_SHAPES = """
all_equal | value; blobs | sigma density seed; checkerboard |; comb |; grid | periodic shuffle;
maze | seed; photograph | seed; random_array | density values block seed; rings |;
road_like | keep segments connected shuffle; voronoi cells=3 | cells seed
"""
OF_VERTICES = """
barabasi_albert edges_per_vertex=2 | edges_per_vertex shuffle seed;
bow_tie links_per_vertex=2 | links_per_vertex shuffle seed; cycle | shuffle seed;
delaunay | order seed; line | shuffle seed; star | hub;
random_directed mean_degree=2.0 | mean_degree seed;
disjoint num_edges=12, num_components=2 | num_edges num_components connected seed;
overlapping_cliques max_size=4 | max_size exponent shared shuffle seed;
random_neighbours degree=2 | degree seed; uniform_random num_edges=9 | num_edges seed;
wang num_edges=12, num_components=2 | num_edges num_components shuffle seed;
watts_strogatz degree=2, probability=0.5 | degree probability shuffle seed;
web_like links_per_vertex=2 | links_per_vertex copying window shuffle seed
"""
OTHERS = """
chain_of_cycles num_cycles=2, length=3 | num_cycles length shuffle;
rmat scale=3, edges_per_vertex=2 | scale edges_per_vertex a b c simple;
directed_rmat scale=3, arcs_per_vertex=2 | scale arcs_per_vertex a b c;
hilbert_curve order=2 | order; spiral size=5 | size;
mesh_sweep shape=(3, 3, 3) | shape form elements direction shuffle
"""
SPIN_MODELS = """
Ising: models.Ising | shape=(4, 4), beta=0.5 | {SPINS};
Ising of a graph: models.Ising | shape=GRAPH, beta=0.5 | {SPINS};
Potts: models.Potts | shape=(4, 4), beta=0.5 | {SPINS} q labelling;
XY: models.XY | shape=(4, 4), beta=0.5 | {SPINS};
Heisenberg: models.Heisenberg | shape=(4, 4), beta=0.5 | {SPINS};
Clock: models.Clock | shape=(4, 4), beta=0.5, q=5 | {SPINS} q;
O(n): models.ON | shape=(4, 4), beta=0.5, n=4 | {SPINS} n;
glass: models.SpinGlass | shape=(4, 4), beta=0.5 | {MODEL} couplings beta temperature periodic
    samples copies update positive dilution field first_sample;
glass step: _of(glass, "step") | | n houdayer;
glass updater: _of(glass, "updater") | | houdayer overlaps tempering;
Ising heat_bath: _of(warm, "heat_bath") | | sweeps {MEASURED};
Ising updater: _of(warm, "updater") | | update observe;
Potts heat_bath: _of(potts, "heat_bath") | | sweeps {MEASURED};
Potts few_cluster: _of(potts, "few_cluster") | tile=2, p_flip=0.5 | updates tile p_flip measure;
Potts updater: _of(potts, "updater") | | update tile p_flip clusters;
XY updater: _of(partial(xy, beta=0.5), "updater") | | update observe;
critical beta: models.Potts.critical_beta | q=2 | q ndim lattice;
critical temperature: models.Ising.critical_temperature | | lattice;
cell: models.UnitCell | vectors=[[1.0]], sites=[[0.0], [0.5]], bonds=[(0, 1, [0]), (1, 0, [1])] |
    vectors sites bonds;
couplings: models.random_couplings | size=4 | size kind seed sample positive dilution;
random fields: models.random_fields | size=4 | size kind seed sample
"""
OF_SPINS = """
{kind} swendsen_wang: _of({make}, "swendsen_wang") | | sweeps measure clusters wrapping observe;
{kind} wolff: _of({make}, "wolff") | | updates measure observe;
{kind} metropolis: _of({make}, "metropolis") | | sweeps measure observe;
{kind} step: _of({make}, "step") | | n;
{kind} labels: _of({make}, "labels") | | numbering return_num
"""
OTHER_MODELS = """
Kawasaki: models.Kawasaki | shape=(4, 4, 4) | {MODEL} lattice temperature beta fraction coupling;
Kawasaki step: _of(kawasaki, "step") | | n;
Kawasaki labels: _of(kawasaki, "labels") | | numbering return_num;
fields: models.CahnHilliard | shape=(4, 4) | {MODEL} mobility b u K dx dt mean amplitude noise
    dtype; fields step: _of(fields, "step") | | n;
fields labels: _of(fields, "labels") | | numbering return_num threshold connectivity;
percolation: models.Percolation | shape=(4, 4) | shape kind p lattice periodic replicas
    first_replica seed device; percolation step: _of(percolation, "step") | | n;
percolation labels: _of(percolation, "labels") | | p numbering return_num;
sweep: _of(percolation, "sweep") | runs=2 | runs first_run batches between;
critical p: models.Percolation.critical_p | | kind ndim lattice;
stable time step: models.CahnHilliard.stable_time_step | ndim=2 | ndim mobility b u K dx largest;
simulate: models.simulate | model=warm(), sweeps=2 | model sweeps thermalise measure_every
    checkpoint_every progress force watch update clusters wrapping observe;
tempering: models.parallel_tempering | model=warm(), rounds=2 | model rounds sweeps_between watch
    update; autocorrelation: models.autocorrelation_time | series=np.linspace(0, 1, 64) | series;
logarithmic bins: models.logarithmic_bins | series=np.eye(8) | series agreeing;
crossing: models.crossing | curves=CURVES, degree=1 | curves degree seed;
collapse: models.collapse | curves=CURVES, critical=0.1, exponent=0.0, degree=1 | curves critical nu
    exponent degree;
reweight: _reweight | energy=[1.0, 2.0, 4.0], beta=0.5, at=0.6, bins=2 | energy beta at bins;
jackknife: _jackknife | | bin_length;
Katzgraber: models.katzgraber_young | energy=[1.0, 2.0], link_overlap=[0.1, 0.2], beta=0.5, bonds=3
    | energy link_overlap beta bonds variance;
overlap distribution: models.overlap_distribution | measured=[glass().overlaps()], beta=0.5, bins=4
    | measured beta bins;
overlap summary: models.summarise_overlaps | measured=[glass().overlaps()] * 9, shape=(2, 3) |
    measured shape;
summary: models.summarise | series=warm().swendsen_wang(9), beta=0.5 | series beta measure_every
"""
OF_FILES = """
read image: cc.read_image | path=_image(folder) | path key mmap;
write image: cc.write_image | path=folder / "a.tif", image=IMAGE | path image axes;
view: cc.write_view | path=folder / "a.html", labels=IMAGE | labels image part title value_range
    background spacing batch_axes;
label file: cc.label_file | source=_image(folder), target=folder / "l.npy" | source target
    background {RULE} key channel threshold min_size largest numbering dtype memory scheduler
    progress;
plan: cc.plan_labels | source=_image(folder) | source background connectivity periodic batch_axes
    key channel threshold memory;
open: cc.open_volume | source=_image(folder) | source key channel memory progress;
read graph: cc.Graph.read | path=_edges(folder) | path compact_ids integers header format progress;
edges: cc.label_edge_files | files=_edges(folder) | {EDGES};
forest of edges: cc.forest_of_edge_files | files=_edges(folder) | {EDGES};
minimum forest of edges: cc.minimum_forest_of_edge_files | files=_edges(folder) | {EDGES} weights;
simulation: models.simulate | model=models.Ising((4, 4), seed=1), sweeps=2 | output checkpoint
"""


def of_functions():
    found = _read(FUNCTIONS)
    kinds = {OF_SHAPES: ("shape", (4, 4)), OF_VERTICES: ("num_vertices", 8), OTHERS: None}
    for text, first in kinds.items():
        for row in text.split(";"):
            given, names = (part.strip() for part in row.split("|"))
            name, _, options = given.partition(" ")
            if first:
                names, options = f"{first[0]} {names}", f"{first[0]}={first[1]}, {options}"
            found[name] = getattr(generate, name), partial(_options, options), f"{names} device"
    return found


def of_models():
    makers = {"Ising": "warm", "Potts": "potts", "XY": "partial(xy, beta=0.5)"}
    found = _read(SPIN_MODELS) | _read(OTHER_MODELS)
    for kind, make in makers.items():
        found |= _read(OF_SPINS.format(kind=kind, make=make))
    return found


def of_files():
    return _read(OF_FILES)


CONFLICTS = """
connectivity and structure: label(connectivity=1, structure=np.ones((3, 3)));
structure that is not symmetric: label(structure=[[1, 0, 0]] * 3);
structure of another size: label(structure=np.ones((5, 5)));
structure of other axes: label(structure=np.ones(3));
tolerance of a mask: cc.label(MASK, tolerance=1); tolerance below 0: label(tolerance=-1);
option of none: label(algorithm="runs", tile=8); option of auto: label(tile=8);
tile of 5: label(algorithm="tiles", tile=5); out that overlaps: label(out=IMAGE);
out and another dtype: label(out=np.zeros((4, 4), "i4"), dtype="i8");
periodic of other axes: label(periodic=(True, True, True));
periodic and batches: label(periodic=(True, True), batch_axes=1);
all axes are batches: label(batch_axes=2);
connectivity of batches: label(connectivity=2, batch_axes=1);
workspace on the CPU: label(workspace=cc.Workspace()); neighbors: label(neighbors=4);
algorithm of strong: strong(algorithm="tarjan"); option of no algorithm: strong(jump=1);
strong by another: strong(connection="strong", algorithm="ecl");
labels that are not asked for: strong(return_labels=False, out=np.zeros(4, "i4"));
weak and undirected: strong(directed=False, connection="strong");
largest of labels by connectivity: cc.largest_components(IMAGE, connectivity=1);
largest of a mask with a background: cc.largest_components(MASK, background=-1);
holes with a background: cc.fill_holes(MASK, background=-1);
neither size: cc.remove_small_components(IMAGE, invert=True);
range without image: cc.colour_components(IMAGE, value_range=(0, 1));
alpha without image: cc.colour_components(IMAGE, alpha=0.5);
image of another shape: cc.component_statistics(IMAGE, np.ones((3, 4)));
classes of another shape: cc.component_statistics(IMAGE, classes=np.ones(3, int));
spacing of other axes: cc.component_statistics(IMAGE, spacing=(1, 1, 1));
beta and temperature: ising(beta=0.5, temperature=2.0); neither beta: xy();
critical of a graph: models.Ising(GRAPH); no lattice: ising(lattice="none");
lattice of a graph: models.Ising(GRAPH, beta=0.5, lattice="kagome");
axes of a lattice: models.Ising((4, 4, 4), lattice="triangular");
replicas and temperatures: ising(temperature=[1.0, 2.0], replicas=3);
labelling on the CPU: potts(labelling="tiles");
wave front on the CPU: potts(labelling="wave-front");
labelling of a field: potts(field=0.1, beta=0.5, labelling="serial");
options of auto: potts(tile=4); couplings of other bonds: ising(beta=0.5, coupling=np.ones(5));
field of another shape: ising(beta=0.5, field=np.ones(5));
antiperiodic field: ising(beta=0.5, field=1.0, periodic="antiperiodic");
start of another shape: ising(start=np.ones((3, 4)));
start of no spins: ising(start=np.full((4, 4), 3));
clusters of metropolis: ising().updater(update="metropolis", clusters=True);
tile of wolff: potts().updater(update="wolff", tile=2);
no tile: potts().updater(update="few-cluster");
tile that does not divide: potts().few_cluster(tile=3, p_flip=0.5);
probability above 1: potts().few_cluster(tile=2, p_flip=1.5);
observed twice: ising().metropolis(observe=["structure", "structure"]);
houdayer of one copy: glass_of_one().step(houdayer=True);
overlaps of one copy: glass_of_one().overlaps();
positive of gaussian: models.SpinGlass((4, 4), "gaussian", beta=1.0, positive=0.3);
length of 5: models.Kawasaki((5, 4, 4)); no fraction: models.Kawasaki(4, fraction=1.5);
time step too long: models.CahnHilliard((4, 4), dt=10.0);
state of another: ising().restore(models.State(1, ()));
state of other arrays: ising().restore(potts().state());
state before the first: ising().restore(ising().state()._replace(updates=-1));
configurations of no p: percolation().labels(1.5); bonds of sites: percolation().bonds();
sites of bonds: models.Percolation((4, 4), "bond").occupied();
no interval: percolation().sweep(2, between=(0.5, 0.4))
"""
