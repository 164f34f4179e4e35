"""Calls on graphs: components, strong ones, forests, graphs that grow and of other libraries."""

from functools import partial

import igraph
import networkx
import numpy as np
import rustworkx
import scipy.sparse

from .inputs import cases, ends, integers, rows, uniform
from .names import cc

ALGORITHMS = cases("""
    auto: ; afforest: algorithm="afforest"; bfs: algorithm="bfs"; strong: connection="strong";
    strong tarjan: connection="strong", algorithm="tarjan"; recolouring: algorithm="recolouring"
""")
for init, jump, finish in ((3, 4, 3), (1, 1, 1), (2, 2, 2), (3, 3, 1), (1, 4, 2)):
    options = {"algorithm": "ecl", "init": init, "jump": jump, "finish": finish}
    ALGORITHMS[f"ecl {init} {jump} {finish}"] = options
FORMS = {
    "arcs": cc.Graph.from_edges,
    "arcs i4": lambda src, dst, n: cc.Graph.from_edges(src.astype("i4"), dst.astype("u2"), n),
    "lists": lambda src, dst, n: cc.Graph(n, arcs=(src.tolist(), dst.tolist())),
    "rows": lambda *arcs: cc.Graph.from_scipy(_matrix(*arcs, "csr")),
    **{kind: lambda *arcs, kind=kind: _matrix(*arcs, kind) for kind in ("csr", "csc", "coo")},
    "matrix": lambda *arcs: _matrix(*arcs, "csr").toarray(),
}


def _matrix(src, dst, n, kind):
    return scipy.sparse.coo_array((np.ones(len(src)), (src, dst)), shape=(n, n)).asformat(kind)


def _graphs():
    src, dst = ends(60, 50, 1)
    path = np.arange(40)
    dense = ends(12, 90, 2)
    return {
        "sparse": (src, dst, 60),
        "dense": (*dense, 12),
        "path": (path[:-1], path[1:], 40),
        "star": (np.zeros(30, int), np.arange(1, 31), 33),
        "loops": (path, path, 40),
        "cycle": (path, np.roll(path, -1), 40),
        "no arc": (path[:0], path[:0], 7),
        "no vertex": (path[:0], path[:0], 0),
        "doubled": (np.r_[src, dst, src], np.r_[dst, src, dst], 60),
    }


def _components(graph):
    return (
        cc.connected_components(graph),
        cc.connected_components(graph, numbering="roots"),
        cc.connected_components(graph, connection="strong"),
        cc.condensation(graph, numbering="topological"),
    )


SPARSE = cc.Graph.from_edges(*ends(60, 50, 1), 60)
SRC, DST = ends(20, 30, 5)
GROWN = ends(50, 60, 7)


def _into(out):
    result = cc.connected_components(SPARSE, out=out)
    return (result[1] if isinstance(result, tuple) else result) is out, result


def _parts(graph):
    found = graph.num_vertices, graph.num_arcs, graph.device, graph.arcs
    return *found, graph.indptr, graph.indices, graph.is_symmetric(), repr(graph)


def _grow(dtype, step):
    (src, dst), grown, found = GROWN, cc.IncrementalComponents(50, dtype=dtype), []
    for begin in range(0, 60, step):
        grown.add_edges(src[begin : begin + step], dst[begin : begin + step])
        found += [grown.count, grown.labels(), grown.labels("roots")]
    found += [grown.roots([3, 1, 40]), grown.roots(7), grown.connected(1, 2)]
    found += [grown.connected(src, dst), grown.num_vertices, grown.dtype, grown.device]
    grown.check()
    return found


def _of_other_libraries():
    src, dst = (side.tolist() for side in ends(20, 25, 9))
    pairs = list(zip(src, dst, strict=True))
    weighted = list(zip(src, dst, integers((25,), 9, 1).tolist(), strict=True))
    kinds = (networkx.Graph, rustworkx.PyGraph), (networkx.DiGraph, rustworkx.PyDiGraph)
    for directed, word in enumerate(("", " directed")):
        made, rust = (make() for make in kinds[directed])
        made.add_nodes_from(range(20))
        made.add_weighted_edges_from(weighted)
        rust.add_nodes_from(range(20))
        rust.add_edges_from(weighted)
        other = igraph.Graph(20, pairs, directed=bool(directed))
        text = """
            graph of {of}WORD: getattr(cc.Graph, f"from_{of[0]}")(of[1]);
            components of {of}WORD: cc.connected_components(of[1]);
            strong of {of}WORD: cc.connected_components(of[1], connection="strong");
            forest of {of}WORD: cc.spanning_forest(of[1])
        """
        libraries = {"networkx": made, "igraph": other, "rustworkx": rust}
        of = {library: (library, graph) for library, graph in libraries.items()}
        yield from rows(text.replace("WORD", word), of=of)


def _of_networkx():
    """Functions of NetworkX by our backend."""
    src, dst = (side.tolist() for side in ends(20, 14, 9))
    graph, directed = networkx.Graph(), networkx.DiGraph()
    for made in (graph, directed):
        made.add_nodes_from("abcdefghijklmnopqrst")
        names = list(made)
        made.add_edges_from((names[i], names[j]) for i, j in zip(src, dst, strict=True))

    def by(name, given):
        found = getattr(networkx, name)(given, backend="conncomp")
        return found if isinstance(found, bool | int) else [sorted(each) for each in found]

    for name in ("connected_components", "number_connected_components", "is_connected"):
        yield f"networkx {name}", partial(by, name, graph)
    for kind in ("weakly", "strongly"):
        for name in (f"{kind}_connected_components", f"number_{kind}_connected_components"):
            yield f"networkx {name}", partial(by, name, directed)


GRAPHS = {kind: cc.Graph.from_edges(*arcs) for kind, arcs in _graphs().items()}
WEIGHTS = """
    integers: integers((m,), 9, 3); floats: uniform((m,), 4) - 0.5; equal: np.ones(m, "f4");
    u1: integers((m,), 4, 5).astype("u1"); NaN: np.where(mask((m,), 0.2, 6), np.nan, 1.0)
"""
MANY = cc.Graph.from_edges(*ends(9000, 20_000, 3), 9000)
MATRIX = scipy.sparse.coo_array((uniform((90,), 3) + 0.5, ends(30, 90, 4)), (30, 30))
DIRECTED = {"directed ": True, "": False}
five = partial(cc.IncrementalComponents, 5)
CALLS = """
graph of above: cc.Graph.from_edges([0, 5], [1, 2], 5);
graph of below: cc.Graph.from_edges([0, -1], [1, 2]);
graph of lengths: cc.Graph.from_edges([0, 1], [1]);
graph of floats: cc.Graph.from_edges([0.5], [1.0]);
graph of rows that fall: cc.Graph.from_csr([0, 2, 1], [0, 1]);
graph of rows too long: cc.Graph.from_csr([0, 2, 5], [0, 1]);
graph of columns above: cc.Graph.from_csr([0, 1, 2], [0, 7]);
graph of both: cc.Graph(3, arcs=([0], [1]), csr=([0, 0, 0, 0], []));
graph of not square: cc.Graph.from_scipy(scipy.sparse.csr_array(np.ones((2, 3))));
graph of rows: cc.Graph.from_csr([0, 1, 2], [1, 0]); graph of nothing: cc.Graph.from_edges([], []);
graph of neither: cc.Graph(3);
graph of unsigned: cc.Graph.from_edges(np.array([1], "u8"), np.array([2], "u8"));
graph of beyond: cc.Graph.from_edges(np.array([1 << 63], "u8"), [0]);
graph of vertices below 0: cc.Graph(-1, arcs=([], []))
@ form={form: FORMS[form] for form in ("arcs", "arcs i4", "lists", "rows")}
parts of {form}: _parts(form(SRC, DST, 20)); {form} to the CPU: form(SRC, DST, 20).to("cpu");
arc order of {form}: form(SRC, DST, 20).in_arc_order(np.arange(30))
@ arcs=_graphs(), form=FORMS
components {arcs} as {form}: _components(form(*arcs))
@ by=ALGORITHMS
components by {by}:
    each(each_numbering(cc.connected_components, graph, **by) for graph in GRAPHS.values())()
@with_threads by=ALGORITHMS, many=[cc.Graph.from_edges(*ends(20_000, 24_000, 3), 20_000)]
many vertices by {by}: cc.connected_components(many, **by)
@ dtype=("i4", "i8", "smallest", "u1", "f4")
components as {dtype}: each_numbering(cc.connected_components, SPARSE, dtype=dtype)()
@ directed=DIRECTED, kind=("weak", "strong"), labels={"": True, " number": False}
components {directed}{kind}{labels}: cc.connected_components(SPARSE, directed, kind, labels)
@ numbering=("consecutive", "topological"), by=("auto", "tarjan")
condensation {numbering} by {by}: cc.condensation(SPARSE, numbering=numbering, algorithm=by)
@ arcs=_graphs()
forest {arcs}: each(partial(cc.spanning_forest, FORMS[form](*arcs))
    for form in ("arcs", "rows", "csr", "matrix"))()
@ kind=list(GRAPHS), w=dict(rows(WEIGHTS))
minimum forest {kind} of {w}:
    cc.minimum_spanning_forest(GRAPHS[kind], w(m=len(_graphs()[kind][0])))
@with_threads
forest of many: cc.spanning_forest(MANY);
minimum forest of many: cc.minimum_spanning_forest(MANY, integers((20_000,), 50, 8))
@ dtype=(None, "i4", "i8"), step=(1, 7, 60)
growing {dtype} by {step}: _grow(dtype, step)
@
components out i4: _into(np.zeros(60, "i4")); components out i8: _into(np.zeros(60, "i8"));
components out strided: _into(np.zeros(120, "i4")[::2]);
components out short: _into(np.zeros(59, "i4")); components out u1: _into(np.zeros(60, "u1"));
minimum forest of a matrix: cc.minimum_spanning_forest(MATRIX);
minimum forest without weights: cc.minimum_spanning_forest(cc.Graph.from_edges([0], [1]));
minimum forest of too few:
    cc.minimum_spanning_forest(cc.Graph.from_edges([0, 1], [1, 2]), [1]);
growing a vertex above: five().add_edges([5], [0]);
growing a vertex below: five().add_edges([-1], [0]);
growing lengths: five().add_edges([1, 2], [0]); growing roots above: five().roots(5);
growing floats: five().add_edges([1.5], [0]); growing labels as i8: five().labels(dtype="i8");
growing labels as u1: five().labels(dtype="u1");
growing labels out: five().labels(out=np.zeros(5, "i8"));
growing labels out short: five().labels(out=np.zeros(4, "i8"));
growing labels by no numbering: five().labels("topological")
"""
