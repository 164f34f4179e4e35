import gzip
import os
import re
import signal
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from conncomp import Graph, connected_components
from conncomp._core import native
from conncomp.io import graphs as graph_files

DATA = Path(__file__).parents[2] / ".." / "shared" / "data"


def arcs_of(graph):
    src = np.repeat(np.arange(graph.num_vertices), np.diff(graph.indptr))
    return sorted(zip(src.tolist(), graph.indices.tolist(), strict=True))


def both_ways(edges):
    return sorted([*edges, *((v, u) for u, v in edges if u != v)])


def rows(n, arcs):
    return [[v for u, v in arcs if u == w] for w in range(n)]


# Independent writers: text or bytes of a graph of n vertices, and the arcs that it then has. The
# edges are without duplicates or opposite pairs, so that the undirected formats can hold them.


def write_edge_list(n, edges):
    lines = [f"{u}\t{v}\n" for u, v in edges]
    return "# a comment\n" + "".join(lines), edges


def write_edge_list_with_trimmings(n, edges):
    lines = [f"  {u}, {v} 0.5 1998-01-01\r\n" for u, v in edges]
    return "\r\n  % a comment\r\n" + "\r\n".join(lines).rstrip(), edges


def write_matrix_market(n, edges):
    lines = [f"{u + 1} {v + 1} -1.5e3\n" for u, v in edges]
    head = f"%%MatrixMarket matrix coordinate real general\n% note\n\n{n} {n} {len(edges)}\n"
    return head + "".join(lines), edges


def write_symmetric_matrix_market(n, edges):
    lines = [f"{max(u, v) + 1} {min(u, v) + 1}\n" for u, v in edges]
    head = f"%%MatrixMarket MATRIX Coordinate pattern symmetric\n{n} {n} {len(edges)}\n"
    return head + "".join(lines), both_ways(edges)


def write_dimacs_arcs(n, edges):
    lines = [f"a {u + 1} {v + 1} 7\nc between\n" for u, v in edges]
    return f"c note\np sp {n} {len(edges)}\n" + "".join(lines), edges


def write_dimacs_edges(n, edges):
    lines = [f"e {u + 1} {v + 1}\n" for u, v in edges]
    return f"p edge {n} {len(edges)}\n" + "".join(lines), both_ways(edges)


def write_metis(n, edges):
    arcs = both_ways(edges)
    lines = [" ".join(str(v + 1) for v in row) + "\n" for row in rows(n, arcs)]
    return f"% note\n{n} {len(edges)}\n" + "% note\n".join(lines), arcs


def write_weighted_metis(n, edges):
    arcs = both_ways(edges)
    lines = ["9 8 7 " + " ".join(f"{v + 1} 0.25" for v in row) + "\n" for row in rows(n, arcs)]
    return f"{n} {len(edges)} 111 2\n" + "".join(lines) + "\n\n", arcs


def write_ecl(n, edges, weights=()):
    found = rows(n, edges)
    begin = np.cumsum([0, *map(len, found)])
    numbers = [n, len(edges), *begin, *(v for row in found for v in row), *weights]
    return struct.pack(f"<{len(numbers)}i", *numbers), edges


def write_weighted_ecl(n, edges):
    return write_ecl(n, edges, [5] * len(edges))


WRITERS = {
    write_edge_list: "edges.txt",
    write_edge_list_with_trimmings: "edges.csv",
    write_matrix_market: "graph.mtx",
    write_symmetric_matrix_market: "graph",
    write_dimacs_arcs: "graph.gr",
    write_dimacs_edges: "graph",
    write_metis: "a.graph",
    write_weighted_metis: "a.metis",
    write_ecl: "a.egr",
    write_weighted_ecl: "a",
}

each_writer = pytest.mark.parametrize("write", WRITERS, ids=lambda w: w.__name__)


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 12))
    vertex = st.integers(0, n - 1)
    pairs = draw(st.sets(st.tuples(vertex, vertex), max_size=20))
    return n, sorted({(u, v) for u, v in pairs if u <= v or (v, u) not in pairs})


def put(folder, name, content, packed=False):
    path = folder / (name + ".gz" * packed)
    content = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(content, mtime=0) if packed else content)
    return path


@each_writer
@given(graph=graphs(), packed=st.booleans(), chunk=st.sampled_from([300, 1 << 18]))
@settings(max_examples=60, deadline=None)
def test_round_trip(tmp_path_factory, write, graph, packed, chunk):
    n, edges = graph
    content, arcs = write(n, edges)
    path = put(tmp_path_factory.mktemp("graph"), WRITERS[write], content, packed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph_files, "CHUNK", chunk)
        found = Graph.read(path)
        compact, ids = Graph.read(path, compact_ids=True)
    if "edge_list" in write.__name__:
        n = 1 + max((max(arc) for arc in arcs), default=-1)
    assert found.num_vertices == n
    assert arcs_of(found) == arcs
    assert {a.dtype for a in found.arrays} <= {np.dtype(np.int32), np.dtype(np.int64)}
    assert ids.tolist() == sorted({v for arc in arcs for v in arc})
    assert [(ids[u], ids[v]) for u, v in arcs_of(compact)] == arcs
    for made in (found, compact):
        if made._symmetric:
            made._symmetric = None
            assert made.is_symmetric()
        want = Graph.from_csr(made.indptr, made.indices)
        labels = connected_components(made)[1]
        assert labels.tolist() == connected_components(want)[1].tolist()


@pytest.mark.parametrize("cut", range(1, 60))
def test_a_number_cut_at_a_chunks_border(tmp_path, monkeypatch, cut):
    arcs = [(123456789 + i, 987654321 + i) for i in range(60)]
    lines = [f"{u} {v} # tail {i}\n" for i, (u, v) in enumerate(arcs)]
    path = put(tmp_path, "edges.txt", "#" + "x" * cut + "\n" + "".join(lines))
    monkeypatch.setattr(graph_files, "CHUNK", 300)
    graph, ids = Graph.read(path, compact_ids=True)
    src, dst = graph.arrays
    assert list(zip(ids[src], ids[dst], strict=True)) == arcs


def test_lines_longer_than_a_chunk(tmp_path, monkeypatch):
    monkeypatch.setattr(graph_files, "CHUNK", 300)
    note = "x" * 1000
    path = put(tmp_path, "a.txt", f"#{note}\n0 1 {note} {note}\n{' ' * 1000}2 3\n#{note}")
    assert arcs_of(Graph.read(path)) == [(0, 1), (2, 3)]
    leaves = range(2, 2002)
    star = " ".join(map(str, leaves)) + "\n" + "1\n" * len(leaves)
    graph = Graph.read(put(tmp_path, "a.graph", f"%{note * 100}\n2001 2000\n{star}"))
    assert graph.num_arcs == 4000
    assert graph._symmetric


def test_ids_up_to_the_largest_int64(tmp_path):
    largest = 2**63 - 1
    path = put(tmp_path, "a.txt", f"5 {largest}\n007 5\n")
    graph, ids = Graph.read(path, compact_ids=True)
    assert ids.tolist() == [5, 7, largest]
    assert arcs_of(graph) == [(0, 2), (1, 0)]
    assert graph.arrays[0].dtype == np.int32
    with pytest.raises(ValueError, match=r"9223372036854775808 vertices.*compact_ids=True"):
        Graph.read(path)


@pytest.mark.parametrize("ids", [[0, 2**31 - 2], [0, 2**31 - 1], [0, 2**31]])
def test_int32_where_it_fits(tmp_path, ids, monkeypatch):
    monkeypatch.setattr(graph_files, "FREE_VERTICES", 1 << 40)
    graph = Graph.read(put(tmp_path, "a.txt", f"0 0\n{ids[0]} {ids[1]}\n"))
    assert graph.num_vertices == ids[1] + 1
    assert {a.dtype for a in graph.arrays} == {np.dtype(np.int32 if ids[1] < 2**31 else np.int64)}


@given(
    ids=st.lists(st.integers(0, 2**63 - 1) | st.integers(0, 300), min_size=2, max_size=60),
    table=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_compact_ids_by_table_and_by_sorting(tmp_path_factory, ids, table):
    ids = [i % 10**6 for i in ids[: len(ids) // 2 * 2]] if table else ids[: len(ids) // 2 * 2]
    pairs = list(zip(ids[::2], ids[1::2], strict=True))
    path = put(tmp_path_factory.mktemp("a"), "a.txt", "".join(f"{u} {v}\n" for u, v in pairs))
    graph, found = Graph.read(path, compact_ids=True)
    assert found.dtype == np.int64
    assert found.tolist() == sorted(set(ids))
    assert [(found[u], found[v]) for u, v in zip(*graph.arrays, strict=True)] == pairs


@pytest.mark.parametrize("content", ["", "# nothing\n", "\n\n"])
@pytest.mark.parametrize("packed", [False, True])
def test_an_edge_list_may_be_empty(tmp_path, content, packed):
    path = put(tmp_path, "a.txt", content, packed)
    assert repr(Graph.read(path)) == "Graph(num_vertices=0, num_arcs=0)"
    graph, ids = Graph.read(path, compact_ids=True)
    assert connected_components(graph)[0] == len(ids) == 0


def test_an_empty_line_of_metis_is_a_vertex(tmp_path):
    graph = Graph.read(put(tmp_path, "a.graph", "4 1\n\n3\n2\n\n"))
    assert connected_components(graph)[0] == 3


def test_loops_of_metis_count_once_or_twice(tmp_path):
    for row in ("1 2", "1 1 2"):
        graph = Graph.read(put(tmp_path, "a.graph", f"2 2\n{row}\n1\n"))
        assert graph.is_symmetric()


def test_rows_that_are_not_mirrored_are_read_as_they_are(tmp_path):
    for name, content in (
        ("a.graph", "4 2\n2 2 3 3\n\n\n\n"),
        ("a.egr", write_ecl(4, [(0, 1), (0, 1), (0, 2), (0, 2)])[0]),
    ):
        graph = Graph.read(put(tmp_path, name, content))
        assert graph._symmetric is None
        assert connected_components(graph)[1].tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize("key", [0, 1, 2**64 - 1])
def test_mirrored_by_any_key(key):
    """The key is drawn for every file, so that none can be made for it."""
    indptr = np.array([0, 3, 4, 6])
    for indices, mirrored in (([0, 1, 2, 0, 0, 2], True), ([0, 1, 2, 0, 1, 2], False)):
        assert native.csr_is_mirrored(indptr, np.array(indices), key) == mirrored


def test_a_format_can_be_forced(tmp_path):
    assert Graph.read(put(tmp_path, "a", "2 1\n2\n1\n"), format="metis").num_vertices == 2
    assert arcs_of(Graph.read(put(tmp_path, "a.graph", "2 1\n"), format="edge-list")) == [(2, 1)]
    with pytest.raises(ValueError, match="format='snap' is not one of 'edge-list'"):
        Graph.read(tmp_path / "a", format="snap")


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
@pytest.mark.parametrize("field", ["real", "integer", "pattern"])
def test_files_that_scipy_writes(tmp_path, symmetry, field):
    matrix = scipy.sparse.random_array((50, 50), density=0.05, rng=1, format="csr")
    matrix.data = np.ceil(matrix.data * 9)
    if symmetry != "general":
        matrix = matrix + matrix.T if symmetry == "symmetric" else matrix - matrix.T
        matrix.setdiag(0)
        matrix.eliminate_zeros()
    path = tmp_path / "a.mtx"
    scipy.io.mmwrite(path, matrix.tocoo(), field=field, symmetry=symmetry)
    want = sorted(zip(*(part.tolist() for part in matrix.nonzero()), strict=True))
    assert arcs_of(Graph.read(path)) == want
    assert Graph.read(path)._symmetric is (True if symmetry != "general" else None)


@pytest.mark.parametrize("packed", [False, True])
def test_progress(tmp_path, packed, monkeypatch):
    monkeypatch.setattr(graph_files, "CHUNK", 300)
    path = put(tmp_path, "a.txt", "".join(f"{i} {i + 1}\n" for i in range(5000)), packed)
    calls = []
    Graph.read(path, progress=lambda *call: calls.append(call))
    done, total = zip(*calls, strict=True)
    assert len(calls) > 10
    assert list(done) == sorted(done)
    assert {*total, done[-1]} == {path.stat().st_size}


def test_can_be_interrupted(tmp_path, monkeypatch):
    monkeypatch.setattr(graph_files, "CHUNK", 300)
    path = put(tmp_path, "a.txt", "".join(f"{i} {i + 1}\n" for i in range(5000)))
    seen = []

    def press_ctrl_c(done, total):
        seen.append(done)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        Graph.read(path, progress=press_ctrl_c)
    assert len(seen) == 1


def test_reads_from_a_pipe():
    read_end, write_end = os.pipe()
    os.write(write_end, b"0 1\n1 2\n")
    os.close(write_end)
    try:
        graph = Graph.read(f"/dev/fd/{read_end}", progress=pytest.fail)
    finally:
        os.close(read_end)
    assert arcs_of(graph) == [(0, 1), (1, 2)]


MATRIX = "%%MatrixMarket matrix coordinate real general\n"

BAD = {
    "a letter": ("a.txt", "0 1\n# note\n2 x3\n", ":3: expected a vertex number .* found 'x3'"),
    "a tail": ("a.txt", "0 1a\n", ":1: .* found '1a'"),
    "a fraction": ("a.txt", "0 1.5\n", ":1: .* found '1.5'"),
    "a negative id": ("a.txt", "0 1\n1 -2\n", ":2: .* found '-2'"),
    "overflow": ("a.txt", "0 9223372036854775808\n", ":1: .*below 2\\^63, found '922"),
    "overflow of 64 bits": ("a.txt", "1 36893488147419103233\n", ":1: .* found '3689"),
    "endless digits": ("a.txt", "1 " + "0" * 10**6, ":1: .* found '00*...'"),
    "endless letters": ("a.txt", "0 1\n" + "x" * 10**6, ":2: .* found 'xx*...'"),
    "one column": ("a.txt", "0 1\n2\n3 4\n", ":2: the line ends where a vertex"),
    "cut after one column": ("a.txt", "0 1\n2", ":2: the line ends where a vertex"),
    "bytes": ("a.txt", "0 1\n\x7f\x01 \n", r":2: .* found '\\x7f\\x01'"),
    "far ids": ("a.txt", "0 1000000000000000\n", ": 1000000000000001 vertices.*compact_ids=True"),
    "html": ("a.txt", "<!DOCTYPE html>\n", ":1: .* found '<!DOCTYPE'"),
    "mtx: empty": ("a.mtx", "", ":1: expected '%%MatrixMarket"),
    "mtx: no banner": ("a.mtx", "3 3 1\n1 1 1\n", ":1: expected '%%MatrixMarket"),
    "mtx: banner alone": ("a.mtx", MATRIX, ": ends before its header"),
    "mtx: complex": ("a.mtx", MATRIX.replace("real", "complex"), ":1: .*found 'complex'"),
    "mtx: dense": ("a.mtx", MATRIX.replace("coordinate", "array"), ":1: .*found 'array'"),
    "mtx: hermitian": ("a.mtx", MATRIX.replace("general", "hermitian"), ":1: .*found 'hermitian'"),
    "mtx: two counts": ("a.mtx", MATRIX + "3 3\n", ":2: expected 3 counts, found 2"),
    "mtx: a word": ("a.mtx", MATRIX + "3 x 1\n", ":2: expected a count .* found 'x'"),
    "mtx: huge": ("a.mtx", MATRIX + "1 1 1" + "0" * 30, ":2: expected a count below"),
    "mtx: not square": ("a.mtx", MATRIX + "3 4 0\n", ":2: 3 rows and 4 columns"),
    "mtx: few": ("a.mtx", MATRIX + "3 3 2\n1 1 1\n", "promises 2 entries, but there are 1"),
    "mtx: many": ("a.mtx", MATRIX + "3 3 1\n1 1 1\n1 2 1\n", "promises 1 entries, but there are 2"),
    "mtx: forged count": ("a.mtx", MATRIX + "3 3 999999999999\n1 1 1\n", "promises 999999999999"),
    "mtx: forged size": (
        "a.mtx",
        MATRIX + "1000000000000 1000000000000 0\n",
        ": 1000000000000 vertices, but only 0 arcs",
    ),
    "mtx: zero": ("a.mtx", MATRIX + "3 3 1\n0 1 1\n", ":3: .* from 1 to 3, found '0'"),
    "mtx: beyond": ("a.mtx", MATRIX + "3 3 1\n% c\n1 4 1\n", ":4: .* from 1 to 3, found '4'"),
    "gr: empty": ("a.gr", "", ": is empty"),
    "gr: comments": ("a.gr", "c\nc\n", ": ends before its header"),
    "gr: no header": ("a.gr", "c\na 1 2 3\n", ":2: expected 'p sp'.* found 'a 1 2 3'"),
    "gr: other problem": ("a.gr", "p cnf 3 4\n", ":1: expected 'p sp'"),
    "gr: no counts": ("a.gr", "p sp\n", ":1: expected 2 counts, found 0"),
    "gr: wrong mark": ("a.gr", "p sp 2 1\ne 1 2\n", ":2: expected 'a', found 'e'"),
    "gr: second header": ("a.gr", "p sp 2 0\np sp 2 0\n", ":2: expected 'a', found 'p'"),
    "gr: mark alone": ("a.gr", "p sp 2 1\na\n", ":2: the line ends where"),
    "gr: few": ("a.gr", "p sp 2 3\na 1 2 1\n", "promises 3 'a' lines, but there are 1"),
    "gr: many": ("a.gr", "p edge 2 0\ne 1 2\n", "promises 0 'e' lines, but there are 1"),
    "gr: beyond": ("a.gr", "p sp 2 1\na 1 3 1\n", ":2: .* from 1 to 2, found '3'"),
    "gr: forged": ("a.gr", "p sp 999999999999999999 999999999999999999\n", "promises 9999"),
    "metis: empty": ("a.graph", "", ": is empty"),
    "metis: one count": ("a.graph", "3\n\n\n\n", ":1: expected two counts.* found '3'"),
    "metis: code": ("a.graph", "3 0 12\n", ":1: expected two counts"),
    "metis: a word": ("a.graph", "%\nx 0\n", ":2: expected a count .* found 'x'"),
    "metis: zero": ("a.graph", "2 1\n2\n0\n", ":3: .* from 1 to 2, found '0'"),
    "metis: beyond": ("a.graph", "2 1\n3\n1\n", ":2: .* from 1 to 2, found '3'"),
    "metis: a letter": ("a.graph", "2 1\n2\nx\n", ":3: .* found 'x'"),
    "metis: few lines": ("a.graph", "3 1\n2\n1\n", "promises 3 lines after it, but there are 2"),
    "metis: many lines": ("a.graph", "1 0\n\n\n1\n", ":4: expected no more than the 1 lines"),
    "metis: few edges": ("a.graph", "2 2\n2\n1\n", "promises 4 neighbours.* there are 2"),
    "metis: no edge weight": ("a.graph", "2 1 1\n2 5\n1\n", ":3: the line ends where a weight"),
    "metis: no weight": ("a.graph", "2 1 11 2\n1 1 2 5\n1\n", ":3: the line ends where a weight"),
    "metis: forged": ("a.graph", "999999999999999999 1\n2\n1\n", "promises 9999"),
    "egr: empty": ("a.egr", b"", ": cut short: 0 bytes where 8"),
    "egr: cut": ("a.egr", write_ecl(3, [(0, 1)])[0][:-1], ": cut short: 3 bytes where 4"),
    "egr: text": ("a.egr", "# a text\n0 1\n", ": cut short"),
    "egr: negative": ("a.egr", struct.pack("<2i", -1, 0), "says that it has -1 vertices"),
    "egr: forged": ("a.egr", struct.pack("<3i", 2**31 - 1, 2**31 - 1, 0), ": cut short: 4 bytes"),
    "egr: falls": ("a.egr", struct.pack("<7i", 2, 2, 0, 3, 2, 0, 1), ": indptr decreases"),
    "egr: total": ("a.egr", struct.pack("<6i", 2, 1, 0, 1, 2, 1), ": indptr ends with 2"),
    "egr: beyond": ("a.egr", struct.pack("<6i", 2, 1, 0, 1, 1, 2), r": indices\[0\] is 2"),
    "egr: more": ("a.egr", write_ecl(3, [(0, 1), (0, 2)], [1])[0], ": 4 bytes or more follow"),
    "egr: too much": ("a.egr", write_ecl(3, [(0, 1)], [1, 1])[0], ": 5 bytes or more follow"),
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("case", BAD)
def test_bad_content(tmp_path, case, packed):
    name, content, message = BAD[case]
    path = put(tmp_path, name, content, packed)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=re.escape(str(path)) + ".*" + message) as caught:
            Graph.read(path)
        assert tracemalloc.get_traced_memory()[1] < 40 << 20
    finally:
        tracemalloc.stop()
    assert str(caught.value).isprintable()


def test_vertices_without_arcs_can_be_dropped(tmp_path):
    path = put(tmp_path, "a.mtx", MATRIX + "1000000000000 1000000000000 1\n5 900000000000 1\n")
    graph, ids = Graph.read(path, compact_ids=True)
    assert ids.tolist() == [4, 899999999999]
    assert arcs_of(graph) == [(0, 1)]


@pytest.mark.parametrize("cut", [3, 15, 200, -9, -1])
def test_gzip_cut_short(tmp_path, cut):
    content = gzip.compress(np.random.default_rng(0).bytes(600).hex().encode())
    path = tmp_path / "a.txt.gz"
    path.write_bytes(content[:cut])
    with pytest.raises(ValueError, match=r"a\.txt\.gz: the gzip data are cut short"):
        Graph.read(path, format="edge-list")


@pytest.mark.parametrize(("place", "message"), [(2, "corrupt"), (12, "corrupt"), (-6, "corrupt")])
def test_gzip_corrupt(tmp_path, place, message):
    content = bytearray(gzip.compress(b"0 1\n" * 100))
    content[place] ^= 0xFF
    path = tmp_path / "a.txt.gz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"a\.txt\.gz: the gzip data are {message}"):
        Graph.read(path)


@pytest.mark.parametrize("content", [b"", b"0 1\n"])
def test_gzip_in_name_only(tmp_path, content):
    (tmp_path / "a.txt.gz").write_bytes(content)
    with pytest.raises(ValueError, match=r"is named \.gz, but is not packed by gzip"):
        Graph.read(tmp_path / "a.txt.gz")


def test_files_that_cannot_be_opened(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"absent\.txt"):
        Graph.read(tmp_path / "absent.txt")
    with pytest.raises(IsADirectoryError, match=str(tmp_path)):
        Graph.read(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_files_that_may_not_be_read(tmp_path):
    path = put(tmp_path, "a.txt", "0 1\n")
    path.chmod(0)
    with pytest.raises(PermissionError, match=r"a\.txt"):
        Graph.read(path)


@each_writer
@given(data=st.data())
@settings(max_examples=80, deadline=None)
def test_damaged_files_give_a_graph_or_a_value_error(tmp_path_factory, well_behaved, write, data):
    content = write(12, [(u, v) for u in range(12) for v in range(u, 12, 3)])[0]
    content = bytearray(content.encode() if isinstance(content, str) else content)
    if packed := data.draw(st.booleans()):
        content = bytearray(gzip.compress(content, mtime=0))
    for place, value in data.draw(
        st.lists(st.tuples(st.integers(0, len(content) - 1), st.integers(0, 255)), max_size=4)
    ):
        content[place] = value
    path = tmp_path_factory.mktemp("damaged") / (WRITERS[write] + ".gz" * packed)
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    with well_behaved(path):
        graph, ids = Graph.read(path, compact_ids=True)
        assert connected_components(graph)[0] <= len(ids)


@pytest.mark.skipif(not DATA.is_dir(), reason="the folder of real inputs is absent")
@pytest.mark.parametrize(
    ("name", "arcs", "components"),
    [
        ("wiki-Vote.txt.gz", 103_689, 1207),
        ("wing.graph", 2 * 121_544, 1),
        ("power.graph", 2 * 6_594, 1),
        ("PGPgiantcompo.graph", 2 * 24_316, 1),
        ("hep-th.graph", 2 * 15_751, 1332),
    ],
)
def test_real_files(name, arcs, components):
    graph = Graph.read(DATA / name)
    assert graph.num_arcs == arcs
    assert connected_components(graph)[0] == components
    assert bool(graph._symmetric) == name.endswith(".graph")


@pytest.mark.skipif(not DATA.is_dir(), reason="the folder of real inputs is absent")
def test_real_ids():
    graph, ids = Graph.read(DATA / "wiki-Vote.txt.gz", compact_ids=True)
    assert (len(ids), ids[-1]) == (7115, 8297)
    assert connected_components(graph)[0] == 24
    assert connected_components(graph, connection="strong")[0] == 5816
