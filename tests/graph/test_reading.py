import bz2
import codecs
import csv
import gzip
import io
import lzma
import os
import re
import signal
import struct
import threading
import tracemalloc
import typing
import warnings
import zlib
from pathlib import Path
from types import SimpleNamespace
from xml.parsers import expat

import networkx
import numpy as np
import pytest
import scipy.io
import scipy.sparse
import scipy.sparse.csgraph
from hypothesis import given, settings
from hypothesis import strategies as st

from conncomp import Graph, connected_components
from conncomp._core import native
from conncomp.files import access as files
from conncomp.graph import graph as graph_module
from conncomp.graph.inputs import formats as graph_files
from conncomp.graph.inputs.parts import FREE_VERTICES, VERTICES_PER_ARC

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


PACKERS = {
    "": bytes,
    ".gz": lambda content: gzip.compress(content, mtime=0),
    ".bz2": bz2.compress,
    ".xz": lambda content: lzma.compress(content, preset=0),
}


def put(folder, name, content, packing=""):
    path = folder / (name + packing)
    path.write_bytes(PACKERS[packing](as_bytes(content)))
    return path


def as_bytes(content):
    return content.encode() if isinstance(content, str) else content


@each_writer
@given(
    graph=graphs(),
    packing=st.sampled_from(list(PACKERS)),
    chunk=st.sampled_from([1, 2, 3, 8, 300, 1 << 18]),
)
@settings(max_examples=60)
def test_round_trip(tmp_path_factory, write, graph, packing, chunk):
    n, edges = graph
    content, arcs = write(n, edges)
    path = put(tmp_path_factory.mktemp("graph"), WRITERS[write], content, packing)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph_files, "CHUNK", chunk)
        found = Graph.read(path)
        has_ids = "edge_list" in write.__name__
        compact, ids = Graph.read(path, compact_ids=True, integers=has_ids)
        named, names = Graph.read(path, compact_ids=True)
    if has_ids:
        n = 1 + max((max(arc) for arc in arcs), default=-1)
        assert [(int(names[u]), int(names[v])) for u, v in zip(*named.arrays, strict=True)] == edges
        assert names.tolist() == [*dict.fromkeys(str(v) for arc in edges for v in arc)]
    assert found.num_vertices == n
    assert arcs_of(found) == arcs
    assert {a.dtype for a in found.arrays} <= {np.dtype(np.int32), np.dtype(np.int64)}
    assert ids.tolist() == sorted({v for arc in arcs for v in arc})
    assert [(ids[u], ids[v]) for u, v in arcs_of(compact)] == arcs
    for made in (found, compact):
        if made._parts.symmetric:
            made._parts.symmetric = None
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
    for kind, integers in ((str, False), (int, True)):
        graph, ids = Graph.read(path, compact_ids=True, integers=integers)
        src, dst = graph.arrays
        assert list(zip(ids[src], ids[dst], strict=True)) == [(kind(u), kind(v)) for u, v in arcs]


def test_lines_longer_than_a_chunk(tmp_path, monkeypatch):
    monkeypatch.setattr(graph_files, "CHUNK", 300)
    note = "x" * 1000
    path = put(tmp_path, "a.txt", f"#{note}\n0 1 {note} {note}\n{' ' * 1000}2 3\n#{note}")
    assert arcs_of(Graph.read(path)) == [(0, 1), (2, 3)]
    leaves = range(2, 2002)
    star = " ".join(map(str, leaves)) + "\n" + "1\n" * len(leaves)
    graph = Graph.read(put(tmp_path, "a.graph", f"%{note * 100}\n2001 2000\n{star}"))
    assert graph.num_arcs == 4000
    assert graph._parts.symmetric


TEXT_WRITERS = [write for write in WRITERS if "ecl" not in write.__name__]
LINE_ENDS = ["\n", "\r\n", "\r"]


@pytest.mark.parametrize("end", LINE_ENDS, ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("write", TEXT_WRITERS, ids=lambda w: w.__name__)
def test_any_line_end_at_any_chunks_border(tmp_path, monkeypatch, write, end):
    content, arcs = write(9, [(0, 1), (1, 8), (3, 3), (2, 7)])
    path = put(tmp_path, WRITERS[write], content.replace("\r", "").replace("\n", end))
    for chunk in (*range(1, 9), 1 << 18):
        monkeypatch.setattr(graph_files, "CHUNK", chunk)
        assert arcs_of(Graph.read(path)) == sorted(arcs)


@pytest.mark.parametrize("cut", range(16))
def test_line_ends_at_the_buffers_border(tmp_path, monkeypatch, cut):
    """The buffer is that from which a header is read."""
    monkeypatch.setattr(graph_files, "HEAD", 1)
    monkeypatch.setattr(files, "BUFFER", 8)
    path = put(tmp_path, "a.graph", f"%{'x' * cut}\r\n3 1\r\n2\r\n1\r\n\r\n")
    assert arcs_of(Graph.read(path)) == [(0, 1), (1, 0)]


def test_line_ends_may_be_mixed(tmp_path):
    path = put(tmp_path, "a.txt", "0 1\n\r1 2\r\r\n2 3\n\n3\r4 x\n")
    with pytest.raises(ValueError, match=":7: the line ends where a vertex"):
        Graph.read(path)


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n", ""], ids=["CR", "CRLF", "LF", "none"])
def test_the_last_line_of_metis(tmp_path, monkeypatch, end):
    for chunk in (1, 1 << 18):
        monkeypatch.setattr(graph_files, "CHUNK", chunk)
        assert Graph.read(put(tmp_path, "a.graph", f"3 2\r\n2\r1\n3{end}")).num_arcs == 3
        if end:
            assert Graph.read(put(tmp_path, "a.graph", "3 1\r\n2\r1\n" + end)).num_vertices == 3


@pytest.mark.parametrize("chunk", [1, 7, 100, 255, 256, 257, 1 << 18])
def test_words_that_are_too_long(tmp_path, monkeypatch, chunk):
    """No word of 256 characters or more, wherever chunks end, even if it is but a weight."""
    monkeypatch.setattr(graph_files, "CHUNK", chunk)
    for length in (255, 256, 257, 1000):
        path = put(tmp_path, "a.graph", f"2 1 1\n2 {'7' * length}\n1 {'x' * 255}\n")
        if length == 255:
            assert Graph.read(path).num_arcs == 2
            continue
        with pytest.raises(ValueError, match=r":2: expected a word of fewer than 256 char.*'7777"):
            Graph.read(path)


def test_long_headers(tmp_path, monkeypatch):
    monkeypatch.setattr(graph_files, "LINES_BEFORE_HEADER", 100)
    assert Graph.read(put(tmp_path, "a.gr", "c\n" * 99 + "p sp 1 0\n")).num_vertices == 1
    with pytest.raises(ValueError, match=r"a\.gr: has no header in its first 100 lines"):
        Graph.read(put(tmp_path, "a.gr", "c\n" * 100 + "p sp 1 0\n"))


@pytest.mark.parametrize("name", ["edges.txt", "edges", "a.mtx", "a.gr", "a.graph", "a.csv"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_text_in_utf_16(tmp_path, name, encoding):
    for text in (
        "0 1\r\n1 2\r\n",
        "0 1\n" * 5000,
        "# ä 中\n0 1\n" if encoding == "utf-16" else "1",
    ):
        path = put(tmp_path, name, text.encode(encoding))
        with pytest.raises(ValueError, match=r": looks like text in UTF-16; save it as UTF-8"):
            Graph.read(path)


def test_a_file_of_ecl_is_not_taken_for_text(tmp_path):
    vertices = int.from_bytes(codecs.BOM_UTF16_LE, "little")
    path = put(tmp_path, "a", write_ecl(vertices, [(0, 1)])[0])
    assert repr(Graph.read(path)) == f"Graph(num_vertices={vertices}, num_arcs=1)"


def words(*numbers):
    return struct.pack(f"<{len(numbers)}i", *numbers)


BINARIES = {
    "tiff": b"II*\0" + struct.pack("<I", 8) + bytes(range(256)) * 4,
    "parquet": b"PAR1\x15\x04\x15\x10\x15\x14L\x15\x02\x15\0\x12\0\0" + bytes(40) + b"PAR1",
    "png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0\0\0\1\0\x08\0\0\0\0",
    "hdf5": b"\x89HDF\r\n\x1a\n\0\0\0\0\0\x08\x08\0",
    "a program": b"\x7fELF\2\1\1\0" + bytes(8) + b"\3\0>\0\1\0\0\0",
    "zeros": bytes(5000),
    "a zero": b"\0",
    "one count": words(0),
    "no rows": words(0, 0),
    "negative counts": words(-1, 0, 0),
    "rows that begin late": words(1, 1, 1, 1, 0),
    "rows that fall": words(3, 3, 0, 2, 1, 3, 0, 1, 2),
    "rows beyond the arcs": words(3, 2, 0, 1, 3, 3, 0, 1),
    "rows that end early": words(3, 2, 0, 1, 1, 1, 0, 1),
    "no vertex": words(2, 1, 0, 1, 1, 2),
    "a negative vertex": words(2, 1, 0, 1, 1, -1),
    "a byte less": write_ecl(3, [(0, 1)])[0][:-1],
    "a byte more": write_ecl(3, [(0, 1)])[0] + b"\0",
    "weights of some arcs": write_ecl(3, [(0, 1), (0, 2)], [1])[0],
}


@pytest.mark.parametrize("packing", ["", ".gz"])
@pytest.mark.parametrize("case", BINARIES)
def test_binaries_of_no_format(tmp_path, case, packing):
    path = put(tmp_path, "a.dat", BINARIES[case], packing)
    with pytest.raises(ValueError, match=r"binary.* none of .*edge-list, .*ecl, npz.* format="):
        Graph.read(path)
    with pytest.raises(ValueError, match=re.escape(str(path))) as caught:
        Graph.read(path, format="ecl")
    assert "none of" not in str(caught.value)


def test_the_length_of_a_file_of_ecl(tmp_path):
    """Of one that is no pipe and not packed it is known, and agrees to the byte."""
    content, edges = write_weighted_ecl(5000, [(v, v + 1) for v in range(4999)])
    for end in (-4 * len(edges), len(content)):
        path = put(tmp_path, "a", content[:end])
        assert repr(Graph.read(path)) == "Graph(num_vertices=5000, num_arcs=4999)"
        for wrong in (content[: end - 1], content[:end] + b"\0"):
            with pytest.raises(ValueError, match="binary"):
                Graph.read(put(tmp_path, "a", wrong))
            with pytest.raises(ValueError, match=r"cut short|more follow|weights would be"):
                Graph.read(put(tmp_path, "a", wrong, ".gz"))


@pytest.mark.parametrize("write", TEXT_WRITERS, ids=lambda w: w.__name__)
def test_byte_order_mark_of_utf_8(tmp_path, write):
    content, arcs = write(5, [(0, 4), (1, 1)])
    path = put(tmp_path, WRITERS[write], codecs.BOM_UTF8 + content.encode())
    assert arcs_of(Graph.read(path)) == sorted(arcs)


def test_vertices_that_would_need_much_memory(tmp_path):
    """Labels, their sizes and the order of those would take seconds and gigabytes."""
    path = put(tmp_path, "a.txt", "0 67108863\n")
    with pytest.raises(ValueError, match=r": 67108864 vertices, but only 1 arcs: .* 2\.1 GB"):
        Graph.read(path)
    assert Graph.read(path, compact_ids=True)[0].num_vertices == 2
    limit = FREE_VERTICES + VERTICES_PER_ARC
    assert Graph.read(put(tmp_path, "a.txt", f"0 {limit - 1}")).num_vertices == limit


def test_rows_that_are_there_are_not_too_many(tmp_path, monkeypatch):
    monkeypatch.setattr("conncomp.graph.inputs.parts.FREE_VERTICES", 0)
    assert Graph.read(put(tmp_path, "a.graph", "1000 0\n" + "\n" * 1000)).num_vertices == 1000
    assert Graph.read(put(tmp_path, "a.egr", write_ecl(1000, [])[0])).num_vertices == 1000


MATRIX = "%%MatrixMarket matrix coordinate real general\n"

IDS = {
    "digits": ("a.txt", "9 7\n", np.str_, ["9", "7"]),
    "numbers": ("a.txt", "9 7\n", np.int64, [7, 9]),
    "a matrix": ("a.mtx", MATRIX + "3 3 1\n1 3 1\n", np.int64, [0, 2]),
    "names": ("a.csv", "from,to\nanna,7\n", np.str_, ["anna", "7"]),
    "digits in CSV": ("a.csv", "from,to\n9,7\n", np.str_, ["9", "7"]),
    "numbers in CSV": ("a.csv", "from,to\n9,7\n", np.int64, [7, 9]),
    "GraphML": ("a.graphml", networkx.path_graph(2), np.str_, ["0", "1"]),
}


@pytest.mark.parametrize("case", IDS)
def test_ids_are_what_is_annotated(tmp_path, case):
    name, content, kind, expected = IDS[case]
    content = content if isinstance(content, str) else "\n".join(networkx.generate_graphml(content))
    integers = case.startswith("numbers")
    ids = Graph.read(put(tmp_path, name, content), compact_ids=True, integers=integers)[1]
    assert ids.tolist() == expected
    assert ids.dtype.type is kind
    annotated = typing.get_overloads(Graph.read)[1].__annotations__["return"]
    _, arrays = typing.get_args(eval(annotated, vars(graph_module)))
    kinds = [typing.get_args(typing.get_args(array)[1])[0] for array in typing.get_args(arrays)]
    assert set(kinds) == {np.int64, np.str_}


def test_ids_up_to_the_largest_int64(tmp_path):
    largest = 2**63 - 1
    path = put(tmp_path, "a.txt", f"5 {largest}\n7 5\n")
    graph, ids = Graph.read(path, compact_ids=True, integers=True)
    assert ids.tolist() == [5, 7, largest]
    assert arcs_of(graph) == [(0, 2), (1, 0)]
    assert graph.arrays[0].dtype == np.int32
    with pytest.raises(ValueError, match=r"9223372036854775808 vertices.*compact_ids=True"):
        Graph.read(path)


@pytest.mark.parametrize("ids", [[0, 2**31 - 2], [0, 2**31 - 1], [0, 2**31]])
def test_int32_where_it_fits(tmp_path, ids, monkeypatch):
    monkeypatch.setattr("conncomp.graph.inputs.parts.FREE_VERTICES", 1 << 40)
    graph = Graph.read(put(tmp_path, "a.txt", f"0 0\n{ids[0]} {ids[1]}\n"))
    assert graph.num_vertices == ids[1] + 1
    assert {a.dtype for a in graph.arrays} == {np.dtype(np.int32 if ids[1] < 2**31 else np.int64)}


@given(
    ids=st.lists(st.integers(0, 2**63 - 1) | st.integers(0, 300), min_size=2, max_size=60),
    table=st.booleans(),
)
@settings(max_examples=60)
def test_compact_ids_by_table_and_by_sorting(tmp_path_factory, ids, table):
    ids = [i % 10**6 for i in ids[: len(ids) // 2 * 2]] if table else ids[: len(ids) // 2 * 2]
    pairs = list(zip(ids[::2], ids[1::2], strict=True))
    path = put(tmp_path_factory.mktemp("a"), "a.txt", "".join(f"{u} {v}\n" for u, v in pairs))
    graph, found = Graph.read(path, compact_ids=True, integers=True)
    assert found.dtype == np.int64
    assert found.tolist() == sorted(set(ids))
    assert [(found[u], found[v]) for u, v in zip(*graph.arrays, strict=True)] == pairs


@pytest.mark.parametrize("content", ["", "# nothing\n", "\n\n"])
@pytest.mark.parametrize("packing", PACKERS)
def test_an_edge_list_may_be_empty(tmp_path, content, packing):
    path = put(tmp_path, "a.txt", content, packing)
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
        assert graph._parts.symmetric is None
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
    random = np.random.default_rng(1)
    drawn = random.integers(1, 10, (50, 50)) * (random.random((50, 50)) < 0.05)
    if symmetry != "general":
        drawn = drawn + drawn.T if symmetry == "symmetric" else drawn - drawn.T
        np.fill_diagonal(drawn, 0)
    matrix = scipy.sparse.csr_array(drawn.astype(float))
    path = tmp_path / "a.mtx"
    scipy.io.mmwrite(path, matrix.tocoo(), field=field, symmetry=symmetry)
    want = sorted(zip(*(part.tolist() for part in matrix.nonzero()), strict=True))
    assert arcs_of(Graph.read(path)) == want
    assert Graph.read(path)._parts.symmetric is (True if symmetry != "general" else None)


@pytest.mark.parametrize("packing", PACKERS)
def test_progress(tmp_path, packing, monkeypatch):
    monkeypatch.setattr(graph_files, "CHUNK", 300)
    path = put(tmp_path, "a.txt", "".join(f"{i} {i + 1}\n" for i in range(5000)), packing)
    calls = []
    Graph.read(path, progress=lambda *call: calls.append(call))
    done, total = zip(*calls, strict=True)
    assert len(calls) > 10
    assert list(done) == sorted(done)
    assert {*total, done[-1]} == {path.stat().st_size}


INTERRUPTED = {
    "arcs": ("a.txt", "0 1\n" * 10**5, ""),
    "blanks": ("a.txt", " " * 10**6, ".xz"),
    "comments": ("a.gr", "c\n" * 10**5, ".bz2"),
    "names": ("a.csv", "a,b\n" * 10**5, ".gz"),
    "GraphML": ("a.graphml", "<graphml>" + " " * 10**6, ".xz"),
}


@pytest.mark.parametrize("case", INTERRUPTED)
def test_can_be_interrupted(tmp_path, monkeypatch, case):
    monkeypatch.setattr(graph_files, "CHUNK", 300)
    seen = []

    def press_ctrl_c(done, total):
        seen.append(done)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        Graph.read(put(tmp_path, *INTERRUPTED[case]), progress=press_ctrl_c)
    assert len(seen) == 1


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


@pytest.mark.parametrize("packing", ["", ".gz"])
@pytest.mark.parametrize("case", BAD)
def test_bad_content(tmp_path, case, packing):
    name, content, message = BAD[case]
    path = put(tmp_path, name, content, packing)
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


PACKING_NAMES = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz"}

each_packing = pytest.mark.parametrize(("packing", "name"), PACKING_NAMES.items())


@each_packing
@pytest.mark.parametrize("cut", [3, 15, 200, -9, -1])
def test_packed_file_cut_short(tmp_path, packing, name, cut):
    content = PACKERS[packing](np.random.default_rng(0).bytes(600).hex().encode())
    path = tmp_path / ("a.txt" + packing)
    path.write_bytes(content[:cut])
    if cut == 3 and packing != ".gz":
        message = f"is named {packing}, but is not packed by {name}"
    else:
        message = f"the {name} data are cut short"
    with pytest.raises(ValueError, match=re.escape(f"{path}: {message}")):
        Graph.read(path, format="edge-list")


@each_packing
@pytest.mark.parametrize("place", [13, -6])
def test_packed_file_corrupt(tmp_path, packing, name, place):
    content = bytearray(PACKERS[packing](b"0 1\n" * 100))
    content[place] ^= 0xFF
    path = tmp_path / ("a.txt" + packing)
    path.write_bytes(content)
    with pytest.raises(ValueError, match=re.escape(f"{path}: the {name} data are corrupt")):
        Graph.read(path)


@each_packing
@pytest.mark.parametrize("content", [b"", b"0 1\n"])
def test_packed_in_name_only(tmp_path, packing, name, content):
    path = tmp_path / ("a.txt" + packing)
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"is named {packing}, but is not packed by {name}"):
        Graph.read(path)


@each_packing
def test_packed_in_parts(tmp_path, packing, name):
    """As bgzip, pbzip2 and `xz` make them; zeros may follow a part of gzip or xz."""
    pack, padding = PACKERS[packing], b"" if packing == ".bz2" else bytes(8)
    path = tmp_path / "a.txt"
    path.write_bytes(pack(b"0 1\n") + padding + pack(b"") + pack(b"1 2\n2 ") + pack(b"3") + padding)
    assert arcs_of(Graph.read(path)) == [(0, 1), (1, 2), (2, 3)]


@pytest.mark.parametrize("packing", [".bz2", ".xz"])
@pytest.mark.parametrize("line", [b" ", b"\n", b"#", b"0 1\n"], ids=ascii)
def test_bombs(tmp_path, packing, line, monkeypatch):
    """Text that needs no memory is not read for ever; what gzip can pack, the others may, too."""
    monkeypatch.setattr(files, "FREE_EXPANSION", 1 << 20)
    bomb = line * ((1 << 22) // len(line))
    path = put(tmp_path, "a.txt", bomb, packing)
    with pytest.raises(ValueError, match=r"bytes packed by .* unpack the file first") as caught:
        Graph.read(path)
    packed, unpacked = map(int, re.search(r"(\d+) bytes .* than (\d+)", str(caught.value)).groups())
    assert packed <= path.stat().st_size
    assert unpacked < (1 << 20) + 1032 * packed + (1 << 19)
    assert Graph.read(put(tmp_path, "a.txt", bomb, ".gz")).num_vertices in (0, 2)


def test_xz_may_not_ask_for_much_memory(tmp_path):
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 16}]
    content = bytearray(lzma.compress(b"0 1\n", filters=filters))
    assert content[12:17] == b"\x02\x00\x21\x01\x08"
    content[16] = 39  # a dictionary of 3 GiB
    content[20:24] = struct.pack("<I", zlib.crc32(content[12:20]))
    path = tmp_path / "a.xz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="the xz data are corrupt: Memory usage limit exceeded"):
        Graph.read(path)


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


KARATE = networkx.karate_club_graph()
NAMESPACE = "http://graphml.graphdrawing.org/xmlns"


def as_graphml(graph):
    file = io.BytesIO()
    networkx.write_graphml_xml(graph, file)
    return file.getvalue()


def as_npz(matrix, **changes):
    """Return what `save_npz` writes, with some of its arrays changed, or left out if None."""
    file = io.BytesIO()
    scipy.sparse.save_npz(file, matrix)
    file.seek(0)
    with np.load(file) as saved:
        arrays = {**saved, **changes}
    file = io.BytesIO()
    np.savez_compressed(file, **{key: array for key, array in arrays.items() if array is not None})
    return file.getvalue()


def some_matrix(layout="csr", n=12):
    row, column = np.divmod(np.arange(0, n * n, 7), n)
    return scipy.sparse.coo_array((row + 1.5, (row, column)), shape=(n, n)).asformat(layout)


LAYOUTS = ["csr", "csc", "coo", "bsr", "dia"]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("name", ["a.npz", "a"])
def test_matrices_that_scipy_saves(tmp_path, layout, compressed, name):
    matrix = some_matrix(layout)
    with (tmp_path / name).open("wb") as file:
        scipy.sparse.save_npz(file, matrix, compressed=compressed)
    graph = Graph.read(tmp_path / name)
    assert arcs_of(graph) == arcs_of(Graph.from_scipy(matrix))
    assert Graph.read(
        put(tmp_path, "symmetric.npz", as_npz((matrix + matrix.T).tocsr()))
    )._parts.symmetric
    coordinates = matrix.tocoo()
    changed = as_npz(
        coordinates, row=None, col=None, coords=np.array([coordinates.row, coordinates.col])
    )
    assert arcs_of(Graph.read(put(tmp_path, "b.npz", changed))) == arcs_of(graph)


def test_matrices_on_a_large_square(tmp_path):
    matrix = scipy.sparse.coo_array(([1.0], ([5], [10**12 - 1])), shape=(10**12, 10**12))
    path = put(tmp_path, "a.npz", as_npz(matrix))
    with pytest.raises(ValueError, match=r"1000000000000 vertices, but only 1 arcs"):
        Graph.read(path)
    assert Graph.read(path, compact_ids=True)[1].tolist() == [5, 10**12 - 1]


CSR, BSR = some_matrix(), some_matrix("bsr")
RECTANGLE = scipy.sparse.csr_array((3, 4))

BAD_NPZ = {
    "empty": (b"", "File is not a zip file"),
    "cut": (as_npz(CSR)[:-30], "File is not a zip file"),
    "no matrix": (as_npz(CSR, format=None), "no item named 'format.npy'"),
    "no indices": (as_npz(CSR, indices=None), "holds no array 'indices'"),
    "layout": (as_npz(CSR, format=np.array(b"lil")), "format 'lil' is none of csr, csc"),
    "long layout": (as_npz(CSR, format=np.array(b"c" * 999)), "format is of shape"),
    "layouts": (as_npz(CSR, format=np.array([b"csr"] * 2)), "format is of shape"),
    "not square": (as_npz(RECTANGLE), "shape \\(3, 4\\); an adjacency matrix is square"),
    "shape": (as_npz(CSR, shape=np.array(12)), "shape \\(12,\\); an adj"),
    "long indptr": (as_npz(CSR, shape=np.array([11, 11])), "but indptr is for 12"),
    "short indptr": (as_npz(CSR, shape=np.array([13, 13])), "but indptr is for 12"),
    "falling indptr": (as_npz(CSR, indptr=CSR.indptr[::-1]), "indptr starts with"),
    "beyond": (as_npz(CSR, indices=CSR.indices + 9), r"indices\[\d+\] is 20"),
    "negative": (as_npz(CSR, indices=CSR.indices - 1), r"indices\[\d+\] is -1"),
    "fractions": (as_npz(CSR, indices=CSR.indices + 0.5), "indices is of dtype float64"),
    "objects": (as_npz(CSR, indices=np.array([{}, 1])), "holds values of dtype object"),
    "object layout": (as_npz(CSR, format=np.array({})), "format is of shape|not numbers|dtype"),
    "bsr: beyond": (as_npz(BSR, indices=BSR.indices + 12), "index values must be < 12"),
    "bsr: blocks": (as_npz(BSR, data=BSR.data[:-1]), "indices and data should have the same size"),
    "coo: lengths": (as_npz(CSR.tocoo(), row=np.arange(3)), "src has 3 entries and dst has 21"),
    "coords": (as_npz(CSR.tocoo(), coords=np.zeros((3, 2), int)), "too many values"),
    "dia: offsets": (as_npz(CSR.todia(), offsets=np.arange(2)), "number of diagonals"),
}


@pytest.mark.parametrize("case", BAD_NPZ)
def test_bad_npz(tmp_path, case):
    content, message = BAD_NPZ[case]
    path = put(tmp_path, "a.npz", content)
    with pytest.raises(ValueError, match=re.escape(str(path)) + ": no matrix as .*" + message):
        Graph.read(path)


def test_a_damaged_directory_of_npz(tmp_path):
    """It sends zipfile to before the beginning of the file."""
    content = bytearray(as_npz(CSR))
    content[-6:-2] = struct.pack("<I", len(content))
    with pytest.raises(ValueError, match=r"a\.npz: no matrix as .*"):
        Graph.read(put(tmp_path, "a.npz", content))


def test_npz_may_not_expand_without_bound(tmp_path, monkeypatch):
    """Entries of blocks are arcs of 16 bytes each, and nothing in the file."""
    monkeypatch.setattr(graph_files, "FREE_EXPANSION", 0)
    blocks = scipy.sparse.bsr_array(np.ones((4, 4)), blocksize=(4, 4))
    assert Graph.read(put(tmp_path, "a.npz", as_npz(blocks))).num_arcs == 16
    zeros = scipy.sparse.bsr_array(np.ones((1500, 1500), bool), blocksize=(1500, 1500))
    with pytest.raises(ValueError, match="2250000 entries are packed too well; save it as csr"):
        Graph.read(put(tmp_path, "a.npz", as_npz(zeros)))


def test_graphml(tmp_path):
    path = put(tmp_path, "a.graphml", as_graphml(KARATE))
    graph, names = Graph.read(path, compact_ids=True)
    assert names.tolist() == [str(node) for node in KARATE]
    assert arcs_of(graph) == arcs_of(Graph.read(path)) == arcs_of(Graph.from_networkx(KARATE))
    assert graph._parts.symmetric
    directed = networkx.MultiDiGraph([("b", "a"), ("b", "a"), ("a", "ä ö")])
    directed.add_node("alone")
    text = as_graphml(directed).decode()
    for content in (text.encode(), text.replace("utf-8", "utf-16").encode("utf-16")):
        path = put(tmp_path, "b.graphml", content)
        graph, names = Graph.read(path, compact_ids=True)
        assert names.tolist() == ["b", "a", "ä ö"]
        assert arcs_of(graph) == [(0, 1), (0, 1), (1, 2)]
        assert Graph.read(path).num_vertices == 4
    assert Graph.read(put(tmp_path, "c", text)).num_vertices == 4


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\t"])
def test_graphml_has_a_blank_for_an_end_of_a_line_in_a_name(tmp_path, end):
    text = GRAPHML.format(f"<edge source='a{end}b' target='a b'/>")
    assert Graph.read(put(tmp_path, "a.graphml", text.encode())).num_vertices == 1


def test_graphml_has_two_words_for_each_truth(tmp_path):
    edges = "".join(f"<edge source='a' target='b' directed='{word}'/>" for word in ("true", "1"))
    assert Graph.read(put(tmp_path, "a.graphml", GRAPHML.format(edges))).num_arcs == 2
    with pytest.raises(ValueError, match="an edge is undirected"):
        Graph.read(put(tmp_path, "b.graphml", GRAPHML.format(edges.replace("1", "0"))))


LAUGHS = (
    '<!DOCTYPE graphml [<!ENTITY a "ha">'
    + "".join(
        f'<!ENTITY {b} "{10 * f"&{a};"}">' for a, b in zip("abcdefghi", "bcdefghij", strict=True)
    )
    + "]><graphml>&j;</graphml>"
)
DECLARED = '<?xml version="1.0" encoding="{}"?>\n'

GRAPHML = "<graphml><graph edgedefault='directed'>{}</graph></graphml>"

BAD_GRAPHML = {
    "laughs": (LAUGHS, "has a DOCTYPE, .*: line 1"),
    "laughs in utf-16": (LAUGHS.encode("utf-16"), "has a DOCTYPE"),
    "laughs in a page": ((DECLARED.format("cp1251") + LAUGHS).encode("cp1251"), "has a DOCTYPE"),
    "a file": ('\n<!DOCTYPE graphml SYSTEM "/etc/passwd"><graphml/>', "has a DOCTYPE, .*: line 2"),
    "an entity": ("<graphml>\n&lol;</graphml>", "undefined entity.*: line 2"),
    "cut": (as_graphml(KARATE)[:-20], "(no element found|unclosed token): line"),
    "empty": ("", "no element found: line 1"),
    "another XML": ("<html/>", "begins with <html>; GraphML begins with <graphml>"),
    "no graph": ("<graphml><node id='a'/></graphml>", "has no <graph>"),
    "no such encoding": (DECLARED.format("utf-9") + "<graphml/>", "unknown encoding"),
    "no encoding of bytes": (DECLARED.format("utf-32") + "<graphml/>", "encoding"),
    "deep": ("<a>" * 10**5 + "</a>" * 10**5, "begins with <a>"),
    "a node without a name": (GRAPHML.format("<node/>"), "1: a node has no id"),
    "an edge without an end": (GRAPHML.format("\n<edge source='a'/>"), "2: an edge has no target"),
    "lines of all kinds": (GRAPHML.format("\r<!--\r\n-->\r\r\n\n<node/>"), "6: a node has no id"),
    "a hyperedge": (GRAPHML.format("<hyperedge/>"), "a hyperedge has any number of ends"),
    "edges of both kinds": (
        GRAPHML.format("<edge source='a' target='b' directed='false'/>"),
        "an edge is undirected, and others of its graph are not",
    ),
    "a long comment": (GRAPHML.format("\n<!--" + "-x" * (1 << 20) + "-->"), "more than .*: line 2"),
    "a long instruction": (f"<?a {'x' * (1 << 21)}?><graphml/>", "another piece of XML, of more"),
    "a long entity": (f"<graphml>&{'x' * (1 << 21)};</graphml>", "another piece of XML, of more"),
    "a long tag": (GRAPHML.format(f"<node {' ' * (1 << 17)} id='a'/>"), "tag of fewer than 65536"),
    "a control character": (
        GRAPHML.format("\n<node id='a&#13;'/>"),
        r"2: a vertex has '\\r' in its",
    ),
    "no character": (GRAPHML.format("<node id='&#xd800;'/>"), "reference to invalid character"),
    "a long name": (as_graphml(networkx.Graph([("x" * 256, "y")])), "name of 256 characters"),
    "no name": (as_graphml(networkx.Graph([("", "y")])), "name of 0 characters"),
}


@pytest.mark.parametrize("case", BAD_GRAPHML)
def test_bad_graphml(tmp_path, case):
    content, message = BAD_GRAPHML[case]
    path = put(tmp_path, "a.graphml", content)
    with pytest.raises(ValueError, match=re.escape(str(path)) + ":.*" + message) as caught:
        Graph.read(path)
    assert str(caught.value).isprintable()


def escaped(text):
    return "".join(f"&#x{ord(c):x};" if c in "<&'\"" or ord(c) > 0x2000 else c for c in text)


# Characters of names, among them what XML and CSV have a use for.
CHARACTERS = st.sampled_from("ab1 <>&'\",;ä\u20ac\U0001f600")
NAMES = st.text(CHARACTERS, min_size=1, max_size=4).filter(lambda name: name == name.strip())
# What is no part of a graph, with P for a prefix of tags.
HIDDEN = st.sampled_from(
    [
        "",
        "\n",
        "<!-- <Pnode id='x'/> -->",
        "<![CDATA[<Pnode id='y'/>]]>",
        "<?a <Pnode id='z'/>?>",
        "<Pdata key='k'>&lt;Pnode&gt;</Pdata>",
        "<Pport name='p'/>",
        "<Pgraph edgedefault='directed'><Pnode id='inside'/></Pgraph>",
    ]
)


@given(data=st.data(), encoding=st.sampled_from(["utf-8", "utf-16", "iso-8859-15"]))
def test_graphml_is_what_networkx_reads(tmp_path_factory, data, encoding):
    names = data.draw(st.lists(NAMES, min_size=1, max_size=6, unique=True))
    directed, prefix = data.draw(st.sampled_from([("directed", ""), ("undirected", "g:")]))
    space = "xmlns" + (f":{prefix[:-1]}" if prefix else "")
    head = f"{DECLARED.format(encoding)}<{prefix}graphml {space}='{NAMESPACE}'>"
    parts = [f"<{prefix}node id='{escaped(name)}'/>" for name in names]
    name = st.sampled_from(names)
    edges = data.draw(st.lists(st.tuples(name, name), max_size=8, unique=True))
    for source, target in edges:
        hidden = data.draw(HIDDEN).replace("P", prefix)
        parts.append(
            f'<{prefix}edge id="{len(parts)}"\n target = "{escaped(target)}" '
            f'source="{escaped(source)}">'
            f"{hidden}</{prefix}edge >"
        )
    text = (
        f"{head}<{prefix}key id='k' for='edge' attr.name='w' attr.type='string'/>"
        f"<{prefix}graph edgedefault='{directed}'>{''.join(parts)}</{prefix}graph>"
        f"<{prefix}graph edgedefault='directed'><{prefix}node id='other'/></{prefix}graph>"
        f"</{prefix}graphml>"
    )
    path = tmp_path_factory.mktemp("graphml") / "a.graphml"
    path.write_bytes(text.encode(encoding, "xmlcharrefreplace"))
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = networkx.read_graphml(path, force_multigraph=True)
        patch.setattr(graph_files, "CHUNK", data.draw(st.sampled_from([1, 7, 1 << 18])))
        graph = Graph.read(path)
        _, ids = Graph.read(path, compact_ids=True)
    assert graph.num_vertices == len(want)
    assert arcs_of(graph) == arcs_of(Graph.from_networkx(want))
    with_arcs = {end for edge in edges for end in edge}
    assert ids.tolist() == [name for name in want if name in with_arcs]


# Of a graph's text: what a parser need not see, and what it must see.
PIECES_OF_XML = [
    "".join(f'<edge source="{k}" target="n{k % 7}"/>\n' for k in range(40)),
    "".join(f"<node id='{k % 5}'><data key='k'>{'v' * (k % 37)}</data></node>" for k in range(30)),
    "".join(f"<a b='{c}'/>" for c in "xyz.>-&x<x]x'x\"xx\nxx\rxx\x7fxx\u00e4x" * 3),
    "".join(f"<a b='c'>{c}</a>" for c in "xyz.>-&x<x]x'x\"xx\nxx\rxx\x7fxx\u00e4x" * 3),
    "<edge source='a' target='b'/>\n" * 12,
    "<node id='n'><data key = \"k\">1 > 0</data>\r\n</node >\r" * 8,
    "<a><b><c><d/></c></b></a>" * 12,
    "<a><b><c><d><e/></d></c></b></a>" * 9,
    "<!-- ",
    " -- ",
    "-->",
    "<![CDATA[",
    "]]>",
    "]",
    "<?i ",
    "?>",
    "&amp;",
    "&no;",
    "ä",
    "\x01",
    "<a b='1' b='2'/>" * 20,
    "<a b='<'/>",
    "<a b='1'c='2'/>" * 20,
    "<a b=']]>'/>" * 24,
    "<a>",
    "</a>",
    "</graph></graphml>",
    "<node id='",
    ' "',
]


def outcome_of(path):
    try:
        graph = Graph.read(path)
    except ValueError as error:
        return str(error)
    return graph.num_vertices, arcs_of(graph)


@given(data=st.data())
@settings(max_examples=400)
def test_plain_xml_is_what_a_parser_takes(tmp_path_factory, data):
    """Files, most of them malformed, with and without the pieces that no parser sees."""
    parts = data.draw(st.lists(st.sampled_from(PIECES_OF_XML), min_size=1, max_size=8))
    text = bytearray(GRAPHML.format("".join(parts)).encode())
    if data.draw(st.booleans()):
        place = data.draw(st.integers(0, len(text) - 1))
        text[place : place + data.draw(st.integers(0, 1))] = data.draw(
            st.sampled_from(b"<>/='&]a \0")
        ).to_bytes()
    for begin, end, lines in native.plain_pieces(np.frombuffer(text, np.uint8)):
        expat.ParserCreate().Parse(b"<r>" + text[begin:end] + b"</r>", True)
        assert lines == text[begin:end].count(b"\n")
    path = tmp_path_factory.mktemp("xml") / "a.graphml"
    path.write_bytes(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph_files, "HEAD", 64)
        patch.setattr(graph_files, "CHUNK", data.draw(st.sampled_from([50, 700, 1 << 12])))
        outcome = outcome_of(path)
        patch.setattr(graph_files.native, "plain_pieces", lambda block: [])
        assert outcome == outcome_of(path)


@pytest.mark.parametrize(("end", "is_well_formed"), [("", True), ("]]>", False)])
def test_a_section_ends_in_what_looks_like_a_value(end, is_well_formed, tmp_path, monkeypatch):
    """The section has begun before, as a scan of a later block does not know."""
    monkeypatch.setattr(graph_files, "HEAD", 64)
    monkeypatch.setattr(graph_files, "CHUNK", 1 << 10)
    text = " " * 2000 + "<![CDATA[ " + "<a b=']]>'/>" * 200 + end
    outcome = outcome_of(put(tmp_path, "a.graphml", GRAPHML.format(text)))
    assert isinstance(outcome, str) != is_well_formed


def test_graphml_of_any_length(tmp_path):
    """What a parser of XML has no need to hold, we do not hold either."""
    path = put(tmp_path, "a.graphml", GRAPHML.format("<node id='a'/>" + " " * (1 << 26)), ".xz")
    tracemalloc.start()
    try:
        assert Graph.read(path).num_vertices == 1
        assert tracemalloc.get_traced_memory()[1] < 1 << 24
    finally:
        tracemalloc.stop()


@given(data=st.data(), separator=st.sampled_from(",;\t"), end=st.sampled_from(["\n", "\r", "\r\n"]))
@settings(max_examples=150)
def test_csv_is_what_python_reads(tmp_path_factory, data, separator, end):
    """Names, and other columns that hold anything, quoted where need be or always."""
    name = st.text(CHARACTERS, min_size=1, max_size=4).filter(lambda text: text.strip())
    fields = [name, name, st.text(st.sampled_from('ab,"\n\r; '), max_size=4)]
    places = data.draw(st.permutations(range(3)))
    table = data.draw(st.lists(st.tuples(*fields), max_size=12))
    file = io.StringIO(newline="")
    # Python does not quote ends of lines that it does not write itself.
    quoting = csv.QUOTE_ALL if end != "\r\n" or data.draw(st.booleans()) else csv.QUOTE_MINIMAL
    writer = csv.writer(file, delimiter=separator, lineterminator=end, quoting=quoting)
    writer.writerows([row[k] for k in places] for row in [("source", "target", "note"), *table])
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    path.write_bytes(file.getvalue().encode()[: -len(end) if data.draw(st.booleans()) else None])
    rows = list(csv.DictReader(io.StringIO(file.getvalue(), newline=""), delimiter=separator))
    pairs = [(row["source"], row["target"]) for row in rows]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph_files, "CHUNK", data.draw(st.sampled_from([1, 7, 1 << 18])))
        graph, ids = Graph.read(path, compact_ids=True)
    assert sorted((ids[u], ids[v]) for u, v in arcs_of(graph)) == sorted(pairs)
    assert ids.tolist() == list(dict.fromkeys(end for pair in pairs for end in pair))


FIELDS = ["0", "1", "7", "12", "300", str(2**31), str(2**63 - 1)]
ODD_FIELDS = ["", "01", "+7", "-7", " 7", "7 ", "7.0", "1e3", str(2**63), "x", "ä", "#5", '"', "'7"]


@given(data=st.data(), separator=st.sampled_from(",;\t"), end=st.sampled_from(["\n", "\r", "\r\n"]))
@settings(max_examples=300)
def test_numbers_in_csv_are_read_as_names_are(tmp_path_factory, data, separator, end):
    """Also where another name, or an error, comes after many numbers."""
    draw, often = data.draw, st.sampled_from(FIELDS)
    header = draw(st.sampled_from(["source,target", "to,x,from", "x,dst,y,src", "3,4", "a,a"]))
    columns = header.count(",") + 1
    seldom = st.sampled_from(FIELDS + ODD_FIELDS) if draw(st.booleans()) else often
    rows = [[draw(often) for _ in range(columns)] for _ in range(draw(st.integers(0, 6)))]
    rows += [[draw(seldom) for _ in range(columns)] for _ in range(draw(st.integers(0, 6)))]
    lines = [header.replace(",", separator)]
    for row in rows:
        quote = draw(st.sampled_from(["", "", "", '"']))
        missing = draw(st.integers(0, 40)) == 0
        lines.append(separator.join(quote + field + quote for field in row[missing:]))
        lines += [""] * draw(st.integers(0, 1))
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    path.write_text(end.join(lines) + end * draw(st.booleans()), encoding="utf-8", newline="")
    options = {
        "compact_ids": draw(st.booleans()),
        "integers": draw(st.booleans()),
        "header": draw(st.sampled_from([None, True, False])),
        "format": "csv",
    }

    def outcome():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                read = Graph.read(path, **options)
            except ValueError as error:
                return str(error)
        graph, ids = read if options["compact_ids"] else (read, np.zeros(0))
        src, dst = graph.arcs
        arcs = src.tolist(), dst.tolist(), src.dtype
        return graph.num_vertices, *arcs, ids.tolist(), ids.dtype

    def of_names(*table):
        return native.NamedArcReader(*table[:-1], False)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph_files, "CHUNK", draw(st.sampled_from([1, 7, 64, 1 << 18])))
        found = outcome()
        slow = SimpleNamespace(**{**vars(native), "NamedArcReader": of_names})
        patch.setattr(graph_files, "native", slow)
        assert found == outcome()


CSV = {
    "the first two": ("a,b\nx,y\ny,z\n", "xyz", [(0, 1), (1, 2)]),
    "by header": ("Id, Target ,SOURCE\n1,y,x\n2,z,y\n", "xyz", [(0, 1), (1, 2)]),
    "from and to": ("w,To,From\n1,y,x\n", "xy", [(0, 1)]),
    "src and dst": ("dst,src\ny,x\n", "xy", [(0, 1)]),
    "a comment sign": ("#source,target\nx,y\n", "xy", [(0, 1)]),
    "tabs": ("a\tb,c\nx, x\ty\n", ["x, x", "y"], [(0, 1)]),
    "semicolons": ("Source;Target;Type, long\nx;y;1,5\n", "xy", [(0, 1)]),
    "quotes": ('a,b\n"x, ""x""",y\n', ['x, "x"', "y"], [(0, 1)]),
    "a quoted line end": ('a,b,c\nx,y,"1\r\n2"\ny,x,\n', "xy", [(0, 1), (1, 0)]),
    "blanks": ("a,b\n x ,y\n\ny, x\n\n", [" x ", "y", " x"], [(0, 1), (1, 2)]),
    "no last line end": ("a,b\nx,ä", "xä", [(0, 1)]),
    "nothing": ("a,b\n", "", []),
    "numbers": ("a,b\n3,1\n1,0\n", "310", [(1, 0), (3, 1)]),
    "quoted numbers": ('a,b\n"3",1\n"1","0"\n', "310", [(1, 0), (3, 1)]),
    "quoted numbers alone": ('"3","1"\n"1","0"\n', "310", [(1, 0), (3, 1)]),
    "a word among digits": ("a,b\n3,1\nx,01\n", ["3", "1", "x", "01"], [(0, 1), (2, 3)]),
    "large digits": (f"a,b\n1,{2**63}\n", ["1", str(2**63)], [(0, 1)]),
    "no header": ("3,1\n1,0\n", "310", [(1, 0), (3, 1)]),
    "no header, but a comment": ("# a b\n\n% c\n 3,1\n", "31", [(3, 1)]),
    "no line": ("", "", []),
}


@pytest.mark.soak(gate="pairs")
@pytest.mark.parametrize("case", CSV)
@pytest.mark.parametrize("end", LINE_ENDS, ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
def test_csv(tmp_path, case, end, mark):
    content, names, arcs = CSV[case]
    path = put(tmp_path, "a.csv", mark + content.replace("\n", end).encode())
    graph, ids = Graph.read(path, compact_ids=True)
    assert ids.dtype.kind == "U"
    assert ids.tolist() == list(names)
    if "numbers" in case or "no header" in case:  # vertices have the names as their numbers
        arcs_of_ids = [(ids.tolist().index(str(u)), ids.tolist().index(str(v))) for u, v in arcs]
        whole, numbers = Graph.read(path, compact_ids=True, integers=True)
        assert numbers.tolist() == sorted(map(int, names))
        assert [(numbers[u], numbers[v]) for u, v in arcs_of(whole)] == sorted(arcs)
    else:
        arcs_of_ids = arcs
    assert arcs_of(graph) == sorted(arcs_of_ids)
    assert {array.dtype for array in Graph.read(path).arrays} == {np.dtype(np.int32)}
    assert arcs_of(Graph.read(path)) == sorted(arcs)


BAD_CSV = {
    "one column": ("a\nx\n", ":1: expected a header of two columns"),
    "names without a header": ("1,x\n2,y\n", ":1: expected a vertex number .* found 'x'"),
    "few columns": ("a,b,c\n1,2,3\n\n1,2\n", ":4: expected 3 columns, found 2"),
    "many columns": ("a,b\nNew York, NY,x\n", ":2: expected 2 columns, found 3"),
    "no name": ("a,b\nx,\n", ":2: a vertex has a name of 0 characters; it may have 1 to 255"),
    "long name": ("a,b\nx," + "y" * 256, ":2: a vertex has a name of 256 characters"),
    "long line": ("a,b,c\nx,y," + "z" * (1 << 17), ":2: expected a line of fewer than 65536"),
    "long header": ("a," * (1 << 17), ":1: expected a header of fewer than 65536"),
    "open quote": ('a,b\nx,"y\n1,2\n', ":3: unexpected end of data"),
    "open for long": ('a,b\nx,"y' + "\n1,2" * 10**5, ":2: expected a line of fewer than 65536"),
    "bad quote": ('a,b\nx,"y"z\n', ":2: ',' expected after '\"'"),
    "bad quote before a tab": ('a\tb\n"x"y\tz\n', r":2: '\\t' expected after '\"'"),
    "latin": ("a,b\nx,y\nÄ,y\n".encode("latin-1"), r":3: a vertex has '\\udcc4' in its name"),
    "control": ("a,b\nx,\x1b[2J\n", r":2: a vertex has '\\x1b' in its name; names are UTF-8 text"),
    "control of ISO 8859": ("a,b\nx,\x9b2J\n", r":2: a vertex has '\\x9b' in its name"),
    "NUL": ("a,b\nx,y\0\n", r":2: a vertex has '\\x00' in its name"),
    "quoted line end": ('a,b\nx,"y\nz"\n', r":3: a vertex has '\\n' in its name"),
}


@pytest.mark.parametrize("case", BAD_CSV)
def test_bad_csv(tmp_path, case):
    content, message = BAD_CSV[case]
    path = put(tmp_path, "a.csv", content)
    with pytest.raises(ValueError, match=re.escape(str(path)) + message) as caught:
        Graph.read(path)
    assert str(caught.value).isprintable()


# Entries that are not written as an integer of 64 bits is, and what some readers take them for.
ODD_NUMBERS = [
    "02139",
    "00",
    "+7",
    "7.0",
    "7.",
    " 7",
    "7 ",
    "-0",
    "-7",
    "0x7",
    "1e3",
    "7_0",
    "\u0667",
]
FAR_NUMBERS = [str(2**63), "1" + "0" * 20, "9" * 250]
PLAIN = {
    "7.0": "7",
    "7.": "7",
    "-0": "0",
    "-7": "7",
    "0x7": "7",
    "1e3": "1000",
    "7_0": "70",
    "\u0667": "7",
}


@pytest.mark.parametrize("mark", [",", "\t", ";"])
@pytest.mark.parametrize("head", ["source,target\n", ""])
@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize("odd", [*ODD_NUMBERS, *FAR_NUMBERS, "0", str(2**63 - 1)])
def test_names_that_look_like_numbers(tmp_path, mark, head, quoted, odd):
    """They are what is written there, with no other merged, or an error with its line."""
    plain = PLAIN.get(odd, odd.strip("+ ").lstrip("0") or "0")
    field = f'"{odd}"' if quoted else odd
    rows = f"{plain},10001\n{field},10002\n".replace(",", mark)
    name = "a.tsv" if mark == "\t" else "a.csv"
    path = put(tmp_path, name, head.replace(",", mark) + rows)
    graph, ids = Graph.read(path, compact_ids=True)
    assert ids.tolist() == [*dict.fromkeys([plain, "10001", odd, "10002"])]
    assert connected_components(graph)[0] == (1 if plain == odd else 2)
    line = 2 + bool(head)
    shown = re.escape(odd[-9:]) if odd.isascii() else ""
    is_split = not head and not quoted and odd != odd.strip() and mark != ";"  # as in edge lists
    if (plain == odd and odd not in FAR_NUMBERS) or is_split:
        _, numbers = Graph.read(path, compact_ids=True, integers=True)
        assert numbers.tolist() == sorted({int(plain), 10001, 10002})
        return
    line -= odd in FAR_NUMBERS  # which the first row has as well
    with pytest.raises(ValueError, match=rf":{line}: expected .*found '.*{shown}"):
        Graph.read(path, compact_ids=True, integers=True)
    if odd in ODD_NUMBERS[:9] and head:
        with pytest.raises(ValueError, match=rf":{line}: expected an integer .*compact_ids=True"):
            Graph.read(path)


@pytest.mark.parametrize("chunk", [1, 3, 1 << 18])
def test_ids_of_an_edge_list_are_text(tmp_path, monkeypatch, chunk):
    monkeypatch.setattr(graph_files, "CHUNK", chunk)
    far = "1" * 21
    path = put(tmp_path, "a.txt", f"# x\n02139 02140\n2139\t{far} .5\n 2139,7\n")
    graph, ids = Graph.read(path, compact_ids=True)
    assert ids.tolist() == ["02139", "02140", "2139", far, "7"]
    assert arcs_of(graph) == [(0, 1), (2, 3), (2, 4)]
    for options in ({}, {"integers": True}, {"compact_ids": True, "integers": True}):
        with pytest.raises(ValueError, match=r":2: expected an integer .* found '02139'"):
            Graph.read(path, **options)
    with pytest.raises(ValueError, match=r":1: expected a vertex number \(names are .* CSV\)"):
        Graph.read(put(tmp_path, "a.txt", "Ada Grace\n"), compact_ids=True)


def test_integers_are_no_names(tmp_path):
    path = put(tmp_path, "a.csv", "source,target\n1,2\nAda,2\n")
    with pytest.raises(ValueError, match=r"a\.csv:3: expected an integer .* found 'Ada'"):
        Graph.read(path, integers=True)
    assert Graph.read(path).num_vertices == 3
    for name in ("a.mtx", "a.graphml", "a.npz"):
        with pytest.raises(ValueError, match="integers=True is for the format edge-list or csv"):
            Graph.read(put(tmp_path, name, ""), integers=True)


HEADERLESS = [
    ("Ada,Grace\nGrace,Emmy\nSofia,Hypatia\n", 5),
    ("ann,bob\nbob,carl\n", 3),
    ("doc_17;doc_3\ndoc_5;doc_9\n", 4),
    ("Ada\tAda\nGrace\tGrace\n", 2),
    ('"x, y","z"\n"z","x, y"\n', 2),
]


@pytest.mark.parametrize(("content", "count"), HEADERLESS)
def test_a_first_row_like_the_others_is_data(tmp_path, content, count):
    path = put(tmp_path, "a.csv", content)
    words = (
        r"a\.csv: the first row, .*, is taken as data, .* header=True takes it as the names of col"
    )
    with pytest.warns(UserWarning, match=words) as caught:
        graph, _ = Graph.read(path, compact_ids=True)
    assert caught[0].filename == __file__
    assert (graph.num_vertices, graph.num_arcs) == (count, content.count("\n"))
    whole, _ = Graph.read(path, compact_ids=True, header=False)
    assert arcs_of(whole) == arcs_of(graph)
    assert Graph.read(path, header=True).num_arcs == graph.num_arcs - 1


def test_columns_apart_by_what_all_rows_have(tmp_path):
    def ids(content):
        path = put(tmp_path, "a.csv", content)
        return Graph.read(path, compact_ids=True, header=False)[1].tolist()

    assert ids("x; y,z\nz,w\n") == ["x; y", "z", "w"]
    assert ids('"x;y",z\n') == ["x;y", "z"]
    assert ids('"x, y";z\n') == ["x, y", "z"]
    assert ids("x,y\tz\n") == ["x,y", "z"]
    with pytest.raises(ValueError, match=":1: its columns may be apart by ';' or by ','; quote"):
        ids("x;y,z\nu;v,w\n")


def test_a_header_is_read_as_one(tmp_path):
    for name, content in (("a.csv", "person,friend\nAda,Grace\n"), ("b.csv", "u,v\n0,1\n")):
        assert Graph.read(put(tmp_path, name, content)).num_arcs == 1
    numbers = put(tmp_path, "c.csv", "1,2\n3,4\n")
    assert arcs_of(Graph.read(numbers)) == [(1, 2), (3, 4)]
    assert arcs_of(Graph.read(numbers, header=False)) == [(1, 2), (3, 4)]
    assert arcs_of(Graph.read(numbers, header=True)) == [(3, 4)]
    with pytest.warns(UserWarning, match="is taken as the names of columns; header=False takes"):
        Graph.read(put(tmp_path, "d.csv", "O'Neil,McDonald\nAda,Grace\n"))
    for content in ('"a\nb",c\nx,y\n', "\n\na,c\nx,y\n"):
        assert Graph.read(put(tmp_path, "e.csv", content), compact_ids=True)[1].tolist() == [*"xy"]
    with pytest.raises(ValueError, match=r":1: has more than one column 'source'"):
        Graph.read(put(tmp_path, "f.csv", "source,source,target\nx,y,z\n"))
    assert arcs_of(Graph.read(put(tmp_path, "g.csv", "node,node\n0,1\n"))) == [(0, 1)]
    with pytest.raises(ValueError, match=r"header=True is for the format csv, but .* edge-list"):
        Graph.read(put(tmp_path, "a.txt", "0 1\n"), header=True)


def test_arrays_of_names_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(graph_files, "FREE_NAMES", 0)
    pairs = "".join(f"{i},x\n" for i in range(1000))
    assert Graph.read(put(tmp_path, "a.csv", "a,b\n" + pairs)).num_vertices == 1001
    with pytest.raises(ValueError, match=r"array of 1002 names of up to 200 characters"):
        Graph.read(put(tmp_path, "a.csv", "a,b\n" + pairs + f"{'y' * 200},x\n"))


# Files of all kinds, small, to be damaged and to be sent through pipes.
EDGES = [(u, v) for u in range(12) for v in range(u, 12, 3)]
SAMPLES = {
    **{write.__name__: (name, as_bytes(write(12, EDGES)[0])) for write, name in WRITERS.items()},
    "names": ("a.csv", 'id,Source,Target\n0,"a, ""b""",ä\n\n1,c,ä\n'.encode()),
    "numbers": ("a.tsv", b"from\tto\n5\t7\n7\t9\n"),
    "graphml": ("a.graphml", as_graphml(networkx.MultiDiGraph([(0, 1), (0, 1), (1, 2)]))),
    **{layout: ("a.npz", as_npz(some_matrix(layout))) for layout in LAYOUTS},
}


@pytest.mark.parametrize("packing", ["", ".bz2"])
@pytest.mark.parametrize("sample", SAMPLES)
def test_pipes(tmp_path, sample, packing):
    """Also those that give a few bytes at a time."""
    name, content = SAMPLES[sample]
    path = put(tmp_path, name, content, packing)
    want = Graph.read(path)
    read_end, write_end = os.pipe()

    def write():
        with open(write_end, "wb", buffering=0) as file:
            packed = path.read_bytes()
            for part in (packed[:1], packed[1:3], packed[3:20], packed[20:]):
                file.write(part)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        form = "metis" if "metis" in sample else "csv" if sample in ("names", "numbers") else None
        graph = Graph.read(f"/dev/fd/{read_end}", format=form, progress=pytest.fail)
    finally:
        writer.join()
        os.close(read_end)
    assert repr(graph) == repr(want)
    assert arcs_of(graph) == arcs_of(want)


@pytest.mark.parametrize("sample", SAMPLES)
@given(data=st.data())
@settings(max_examples=60)
@pytest.mark.filterwarnings("ignore:GraphML")
def test_damaged_files_give_a_graph_or_a_value_error(tmp_path_factory, well_behaved, sample, data):
    name, content = SAMPLES[sample]
    packing = data.draw(st.sampled_from(["", "", *PACKERS]))
    content = bytearray(PACKERS[packing](content))
    for place, value in data.draw(
        st.lists(st.tuples(st.integers(0, len(content) - 1), st.integers(0, 255)), max_size=4)
    ):
        content[place] = value
    path = tmp_path_factory.mktemp("damaged") / (name + packing)
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
    assert graph.is_symmetric() == bool(graph._parts.symmetric) == name.endswith(".graph")
    matrix = scipy.sparse.csr_array((np.ones(arcs), graph.indices, graph.indptr))
    expected = scipy.sparse.csgraph.connected_components(matrix)[1]
    count, labels = connected_components(graph)
    assert count == components
    np.testing.assert_array_equal(labels, expected)


@pytest.mark.skipif(not DATA.is_dir(), reason="the folder of real inputs is absent")
def test_real_ids():
    graph, ids = Graph.read(DATA / "wiki-Vote.txt.gz", compact_ids=True, integers=True)
    assert (len(ids), ids[-1]) == (7115, 8297)
    assert set(Graph.read(DATA / "wiki-Vote.txt.gz", compact_ids=True)[1]) == set(map(str, ids))
    assert connected_components(graph)[0] == 24
    assert connected_components(graph, connection="strong")[0] == 5816


def test_an_array_of_numpy_is_no_graph(tmp_path):
    path = tmp_path / "labels.npy"
    np.save(path, np.eye(3))
    with pytest.raises(
        ValueError, match=r"labels\.npy: is an array of NumPy; scipy.sparse.save_npz"
    ):
        Graph.read(path)
