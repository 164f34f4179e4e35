"""Calls on graphs: components, strong ones, forests, graphs that grow and of other libraries."""

from functools import partial
from itertools import product

import igraph
import networkx
import numpy as np
import rustworkx
import scipy.sparse

from .inputs import each, each_numbering, ends, integers, mask, uniform, with_threads
from .names import cc

ALGORITHMS = {
    "auto": {},
    "afforest": {"algorithm": "afforest"},
    "bfs": {"algorithm": "bfs"},
    "recolouring": {"algorithm": "recolouring"},
    **{
        f"ecl {init} {jump} {finish}": {
            "algorithm": "ecl",
            "init": init,
            "jump": jump,
            "finish": finish,
        }
        for init, jump, finish in ((3, 4, 3), (1, 1, 1), (2, 2, 2), (3, 3, 1), (1, 4, 2))
    },
}
STRONG = {"strong": {}, "strong tarjan": {"algorithm": "tarjan"}}


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


def _forms():
    """Return ways to write arcs down."""

    def matrix(src, dst, n, kind):
        return scipy.sparse.coo_array((np.ones(len(src)), (src, dst)), shape=(n, n)).asformat(kind)

    return {
        "arcs": lambda src, dst, n: cc.Graph.from_edges(src, dst, n),
        "arcs i4": lambda src, dst, n: cc.Graph.from_edges(src.astype("i4"), dst.astype("u2"), n),
        "lists": lambda src, dst, n: cc.Graph(n, arcs=(src.tolist(), dst.tolist())),
        "rows": lambda src, dst, n: cc.Graph.from_scipy(matrix(src, dst, n, "csr")),
        "csr": lambda src, dst, n: matrix(src, dst, n, "csr"),
        "csc": lambda src, dst, n: matrix(src, dst, n, "csc"),
        "coo": lambda src, dst, n: matrix(src, dst, n, "coo"),
        "matrix": lambda src, dst, n: matrix(src, dst, n, "csr").toarray(),
    }


def _of_forms():
    for (kind, (src, dst, n)), (form, make) in product(_graphs().items(), _forms().items()):

        def find(src=src, dst=dst, n=n, make=make):
            graph = make(src, dst, n)
            return (
                cc.connected_components(graph),
                cc.connected_components(graph, numbering="roots"),
                cc.connected_components(graph, connection="strong"),
                cc.condensation(graph, numbering="topological"),
            )

        yield f"components {kind} as {form}", find


def _of_algorithms():
    graphs = [cc.Graph.from_edges(*each) for each in _graphs().values()]
    many = cc.Graph.from_edges(*ends(20_000, 24_000, 3), 20_000)
    for name, options in (ALGORITHMS | STRONG).items():
        kind = {"connection": "strong"} if name in STRONG else {}
        find = partial(cc.connected_components, **options, **kind)
        yield f"components by {name}", each(each_numbering(find, graph) for graph in graphs)
        yield f"many vertices by {name}", with_threads(partial(find, many))


def _into(function, *given, out, **options):
    result = function(*given, out=out, **options)
    return (result[1] if isinstance(result, tuple) else result) is out, result


def _of_answers():
    graph = cc.Graph.from_edges(*ends(60, 50, 1), 60)
    for dtype in ("i4", "i8", "smallest", "u1", "f4"):
        yield f"components as {dtype}", each_numbering(cc.connected_components, graph, dtype=dtype)
    for word, out in {
        "i4": np.zeros(60, "i4"),
        "i8": np.zeros(60, "i8"),
        "strided": np.zeros(120, "i4")[::2],
        "short": np.zeros(59, "i4"),
        "u1": np.zeros(60, "u1"),
    }.items():
        yield f"components out {word}", partial(_into, cc.connected_components, graph, out=out)
    for directed, connection, labels in product((True, False), ("weak", "strong"), (True, False)):
        words = "directed " * directed, connection, "" if labels else " number"
        yield (
            f"components {''.join(words)}",
            partial(cc.connected_components, graph, directed, connection, labels),
        )
    for numbering, algorithm in product(("consecutive", "topological"), ("auto", "tarjan")):
        yield (
            f"condensation {numbering} by {algorithm}",
            partial(cc.condensation, graph, numbering=numbering, algorithm=algorithm),
        )


def _of_graphs():
    src, dst = ends(20, 30, 5)
    for form, make in list(_forms().items())[:4]:

        def parts(make=make):
            graph = make(src, dst, 20)
            found = graph.num_vertices, graph.num_arcs, graph.device, graph.arcs
            return *found, graph.indptr, graph.indices, graph.is_symmetric(), repr(graph)

        yield f"parts of {form}", parts
        yield (
            f"arc order of {form}",
            lambda make=make: make(src, dst, 20).in_arc_order(np.arange(30)),
        )
        yield f"{form} to the CPU", lambda make=make: make(src, dst, 20).to("cpu")
    for word, call in {
        "above": lambda: cc.Graph.from_edges([0, 5], [1, 2], 5),
        "below": lambda: cc.Graph.from_edges([0, -1], [1, 2]),
        "lengths": lambda: cc.Graph.from_edges([0, 1], [1]),
        "floats": lambda: cc.Graph.from_edges([0.5], [1.0]),
        "rows that fall": lambda: cc.Graph.from_csr([0, 2, 1], [0, 1]),
        "rows too long": lambda: cc.Graph.from_csr([0, 2, 5], [0, 1]),
        "columns above": lambda: cc.Graph.from_csr([0, 1, 2], [0, 7]),
        "neither": lambda: cc.Graph(3),
        "both": lambda: cc.Graph(3, arcs=([0], [1]), csr=([0, 0, 0, 0], [])),
        "not square": lambda: cc.Graph.from_scipy(scipy.sparse.csr_array(np.ones((2, 3)))),
        "rows": lambda: cc.Graph.from_csr([0, 1, 2], [1, 0]),
        "nothing": lambda: cc.Graph.from_edges([], []),
        "unsigned": lambda: cc.Graph.from_edges(np.array([1], "u8"), np.array([2], "u8")),
        "beyond": lambda: cc.Graph.from_edges(np.array([1 << 63], "u8"), [0]),
        "vertices below 0": lambda: cc.Graph(-1, arcs=([], [])),
    }.items():
        yield f"graph of {word}", call


def _of_forests():
    for kind, (src, dst, n) in _graphs().items():
        weights = {
            "integers": integers((len(src),), 9, 3),
            "floats": uniform((len(src),), 4) - 0.5,
            "u1": integers((len(src),), 4, 5).astype("u1"),
            "equal": np.ones(len(src), "f4"),
            "NaN": np.where(mask((len(src),), 0.2, 6), np.nan, 1.0),
        }
        forms = [_forms()[form](src, dst, n) for form in ("arcs", "rows", "csr", "matrix")]
        yield f"forest {kind}", each(partial(cc.spanning_forest, graph) for graph in forms)
        for word, given in weights.items():
            graph = cc.Graph.from_edges(src, dst, n)
            yield (
                f"minimum forest {kind} of {word}",
                partial(cc.minimum_spanning_forest, graph, given),
            )
    matrix = scipy.sparse.coo_array((uniform((90,), 3) + 0.5, ends(30, 90, 4)), (30, 30))
    yield "minimum forest of a matrix", partial(cc.minimum_spanning_forest, matrix)
    yield (
        "minimum forest without weights",
        lambda: cc.minimum_spanning_forest(cc.Graph.from_edges([0], [1])),
    )
    yield "minimum forest of too few", lambda: cc.minimum_spanning_forest(_small(), [1])
    many = cc.Graph.from_edges(*ends(9000, 20_000, 3), 9000)
    weights = integers((20_000,), 50, 8)
    yield "forest of many", with_threads(partial(cc.spanning_forest, many))
    yield "minimum forest of many", with_threads(partial(cc.minimum_spanning_forest, many, weights))


def _small():
    return cc.Graph.from_edges([0, 1], [1, 2])


def _of_growing():
    src, dst = ends(50, 60, 7)
    for dtype, step in product((None, "i4", "i8"), (1, 7, 60)):

        def grow(dtype=dtype, step=step):
            grown, found = cc.IncrementalComponents(50, dtype=dtype), []
            for begin in range(0, 60, step):
                grown.add_edges(src[begin : begin + step], dst[begin : begin + step])
                found += [grown.count, grown.labels(), grown.labels("roots")]
            found += [grown.roots([3, 1, 40]), grown.roots(7), grown.connected(1, 2)]
            found += [grown.connected(src, dst), grown.num_vertices, grown.dtype, grown.device]
            grown.check()
            return found

        yield f"growing {dtype} by {step}", grow

    def asked(method, *given, **options):
        return getattr(cc.IncrementalComponents(5), method)(*given, **options)

    for word, call in {
        "a vertex above": partial(asked, "add_edges", [5], [0]),
        "a vertex below": partial(asked, "add_edges", [-1], [0]),
        "lengths": partial(asked, "add_edges", [1, 2], [0]),
        "floats": partial(asked, "add_edges", [1.5], [0]),
        "roots above": partial(asked, "roots", 5),
        "labels as i8": partial(asked, "labels", dtype="i8"),
        "labels as u1": partial(asked, "labels", dtype="u1"),
        "labels out": partial(asked, "labels", out=np.zeros(5, "i8")),
        "labels out short": partial(asked, "labels", out=np.zeros(4, "i8")),
        "labels by no numbering": partial(asked, "labels", "topological"),
    }.items():
        yield f"growing {word}", call


def _of_other_libraries():
    src, dst = (side.tolist() for side in ends(20, 25, 9))
    weights = integers((25,), 9, 1).tolist()
    for directed in (False, True):
        word = " directed" if directed else ""
        made = networkx.DiGraph() if directed else networkx.Graph()
        made.add_nodes_from(range(20))
        made.add_weighted_edges_from(zip(src, dst, weights, strict=True))
        other = igraph.Graph(20, list(zip(src, dst, strict=True)), directed=directed)
        rust = rustworkx.PyDiGraph() if directed else rustworkx.PyGraph()
        rust.add_nodes_from(range(20))
        rust.add_edges_from(list(zip(src, dst, weights, strict=True)))
        for library, graph in {"networkx": made, "igraph": other, "rustworkx": rust}.items():
            yield f"graph of {library}{word}", partial(getattr(cc.Graph, f"from_{library}"), graph)
            yield f"components of {library}{word}", partial(cc.connected_components, graph)
            yield (
                f"strong of {library}{word}",
                partial(cc.connected_components, graph, connection="strong"),
            )
            yield f"forest of {library}{word}", partial(cc.spanning_forest, graph)


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
