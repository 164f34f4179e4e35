"""Graph files: what the formats are, in Python; the numbers in them are read in C++."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp._arrays import INT32_MAX, check_choice
from conncomp._core import native
from conncomp.graph.graph import Graph
from conncomp.io.files import Progress, Source, StrPath

Indices = NDArray[Any]

INT64_MAX = np.iinfo(np.int64).max

# Bytes of text that are parsed at once: few enough that they and their numbers stay in a cache.
CHUNK = 1 << 18

# More vertices than this for each arc, beyond a number that any machine can hold, are a mistake:
# ids that are no vertex numbers, or a damaged header.
VERTICES_PER_ARC, FREE_VERTICES = 64, 1 << 26


def read_graph(
    path: StrPath,
    compact_ids: bool,
    format: str | None,
    progress: Progress | None,
) -> Graph | tuple[Graph, NDArray[np.int64]]:
    """Read a graph; see `Graph.read`."""
    if format is not None:
        check_choice("format", format, tuple(FORMATS))
    with Source(path, progress) as source:
        graph = FORMATS[format or _find_format(source)](source)
        if compact_ids:
            return _compact(graph)
        if graph.num_vertices > FREE_VERTICES + VERTICES_PER_ARC * graph.num_arcs:
            raise source.error(
                f"{graph.num_vertices} vertices, but only {graph.num_arcs} arcs; "
                "compact_ids=True keeps only the vertices that have arcs"
            )
    return graph


def _find_format(source: Source) -> str:
    """Return the format that the file's name says, or else its first bytes."""
    suffix = PurePath(source.path.removesuffix(".gz")).suffix.lower()
    if suffix in SUFFIXES:
        return SUFFIXES[suffix]
    head = source.peek(4096)
    if head[:14].lower() == b"%%matrixmarket":
        return "matrix-market"
    if b"\0" in head:
        return "ecl"
    return "dimacs" if re.match(rb"[cp]\s", head) else "edge-list"


def _read_edge_list(source: Source) -> Graph:
    reader = native.ArcReader("#%", "", 0, INT64_MAX, source.line)
    arcs = _read_text(source, reader)
    return Graph(reader.largest + 1, arcs=arcs)


def _read_matrix_market(source: Source) -> Graph:
    banner = (source.read_line() or b"").lower().split()
    if banner[:1] != [b"%%matrixmarket"] or len(banner) != 5:
        raise source.error("expected '%%MatrixMarket matrix coordinate FIELD SYMMETRY'", 1)
    for word, known in zip(
        banner[1:],
        (
            ("matrix",),
            ("coordinate",),
            ("pattern", "real", "integer", "unsigned-integer"),
            ("general", "symmetric", "skew-symmetric"),
        ),
        strict=True,
    ):
        if word.decode("latin-1") not in known:
            raise source.error(f"expected {' or '.join(known)}, found {_shown(word)}", 1)
    rows, columns, entries = _read_counts(source, _read_header(source, b"%"), 3)
    if rows != columns:
        raise source.error(
            f"{rows} rows and {columns} columns; an adjacency matrix is square", source.line
        )
    arcs = _read_text(source, native.ArcReader("%", "", 1, rows, source.line))
    _check_count(source, "entries", entries, len(arcs[0]))
    if banner[4] == b"general":
        return Graph(rows, arcs=arcs)
    return _undirected(rows, *arcs)


def _read_dimacs(source: Source) -> Graph:
    header = _read_header(source, b"c")
    if header[0] != b"p" or header[1:2] not in ([b"sp"], [b"edge"], [b"col"]):
        raise source.error(
            f"expected 'p sp' or 'p edge' and two counts, found {_shown(b' '.join(header))}",
            source.line,
        )
    vertices, lines = _read_counts(source, header[2:], 2)
    mark = "a" if header[1] == b"sp" else "e"
    arcs = _read_text(source, native.ArcReader("c", mark, 1, vertices, source.line))
    _check_count(source, f"'{mark}' lines", lines, len(arcs[0]))
    return Graph(vertices, arcs=arcs) if mark == "a" else _undirected(vertices, *arcs)


def _read_metis(source: Source) -> Graph:
    header = _read_header(source, b"%")
    code = header[2] if len(header) > 2 else b"0"
    if not 2 <= len(header) <= 4 or not re.fullmatch(rb"[01]{1,3}", code):
        raise source.error(
            "expected two counts, a code of three digits 0 or 1 and a number of weights (the last "
            f"two are optional), found {_shown(b' '.join(header))}",
            source.line,
        )
    sizes, weights, edge_weights = (digit == ord("1") for digit in code.zfill(3))
    vertices, edges, *number = _read_counts(
        source, header[:2] + header[3:], len(header[:2] + header[3:])
    )
    skipped = sizes + (weights and (number or [1])[0])
    reader = native.NeighbourReader(vertices, skipped, edge_weights, source.line)
    degrees, indices = _read_text(source, reader)
    _check_count(source, "lines after it", vertices, len(degrees))
    # Some programs list a loop once, others twice.
    if 2 * edges not in (len(indices), len(indices) + reader.loops):
        _check_count(source, "neighbours, two an edge", 2 * edges, len(indices))
    indptr = np.zeros(vertices + 1, np.int64)
    np.cumsum(degrees, out=indptr[1:])
    return _mirrored(indptr, indices)


def _read_ecl(source: Source) -> Graph:
    def read(count: int) -> NDArray[np.int32]:
        found = source.read_bytes(4 * count)
        if len(found) < 4 * count:
            raise source.error(
                f"cut short: {len(found)} bytes where {4 * count} should be (number of vertices "
                "and of arcs, where arcs begin, where they lead, perhaps weights, all of int32)"
            )
        return np.frombuffer(found, "<i4").astype(np.int32, copy=False)

    vertices, arcs = (int(count) for count in read(2))
    if vertices < 0 or arcs < 0:
        raise source.error(f"says that it has {vertices} vertices and {arcs} arcs")
    indptr, indices = read(vertices + 1), read(arcs)
    try:
        Graph.from_csr(indptr, indices)
    except ValueError as error:
        raise source.error(str(error)) from None
    rest = source.read_bytes(4 * arcs + 1)
    if len(rest) not in (0, 4 * arcs):
        raise source.error(
            f"{len(rest)} bytes or more follow the arcs; weights would be {4 * arcs}"
        )
    return _mirrored(indptr, indices)


FORMATS: dict[str, Callable[[Source], Graph]] = {
    "edge-list": _read_edge_list,
    "matrix-market": _read_matrix_market,
    "dimacs": _read_dimacs,
    "metis": _read_metis,
    "ecl": _read_ecl,
}

SUFFIXES = {
    ".mtx": "matrix-market",
    ".gr": "dimacs",
    ".col": "dimacs",
    ".graph": "metis",
    ".metis": "metis",
    ".egr": "ecl",
}


def _read_header(source: Source, comment: bytes) -> list[bytes]:
    """Return the words of the first line that is neither empty nor a comment."""
    while (line := source.read_line()) is not None:
        words = line.split()
        if words and not words[0].startswith(comment):
            return words
    raise source.error("ends before its header" if source.line > 1 else "is empty")


def _read_counts(source: Source, words: list[bytes], number: int) -> list[int]:
    for word in words:
        if not word.isdigit() or len(word) > 18:
            raise source.error(f"expected a count below 10^18, found {_shown(word)}", source.line)
    if len(words) != number:
        raise source.error(f"expected {number} counts, found {len(words)}", source.line)
    return [int(word) for word in words]


def _shown(word: bytes) -> str:
    return ascii(word[:40].decode("latin-1"))


def _check_count(source: Source, things: str, promised: int, found: int) -> None:
    if promised != found:
        raise source.error(f"the header promises {promised} {things}, but there are {found}")


def _read_text(source: Source, reader: Any) -> tuple[Indices, Indices]:
    """Return the two arrays that `reader` makes of the rest of the file.

    Of int32 if all vertices fit. Nothing is allocated on the word of a header.
    """
    blocks = np.empty((2, CHUNK + 1), np.int64)
    pieces: tuple[list[Indices], list[Indices]] = [], []

    def consume(chunk: NDArray[np.uint8], last: bool) -> int:
        used, *counts = reader.read(chunk, last, *blocks)
        dtype = np.int32 if reader.largest <= INT32_MAX else np.int64
        for block, count, found in zip(blocks, counts, pieces, strict=True):
            found.append(block[:count].astype(dtype))
        return int(used)

    source.feed(consume, CHUNK)
    return _join(pieces[0]), _join(pieces[1])


def _join(pieces: list[Indices]) -> Indices:
    joined = np.concatenate(pieces)
    pieces.clear()
    return joined


def _undirected(num_vertices: int, src: Indices, dst: Indices) -> Graph:
    """Make a graph of edges that are listed once."""
    back = src != dst
    arcs = np.concatenate((src, dst[back])), np.concatenate((dst, src[back]))
    return Graph(num_vertices, arcs=arcs, symmetric=True)


def _mirrored(indptr: Indices, indices: Indices) -> Graph:
    """Make a graph of rows that should list every edge from both ends, but are not trusted to."""
    symmetric = native.csr_is_mirrored(indptr, indices, secrets.randbits(64)) or None
    return Graph(len(indptr) - 1, csr=(indptr, indices), symmetric=symmetric)


def _compact(graph: Graph) -> tuple[Graph, NDArray[np.int64]]:
    """Renumber the vertices that have arcs; return their old numbers too."""
    if graph._arcs is not None:
        src, dst = graph._arcs
    else:
        dst = graph.indices
        src = np.repeat(np.arange(graph.num_vertices, dtype=dst.dtype), np.diff(graph.indptr))
    if graph.num_vertices <= FREE_VERTICES + VERTICES_PER_ARC * len(src):
        # nanobind's int64 is C's long long, which NumPy prints unlike its own.
        ids = native.compact_arcs(src, dst, graph.num_vertices).view(np.int64)
    else:
        ids = np.unique(np.concatenate((src, dst))).astype(np.int64, copy=False)
        src, dst = np.searchsorted(ids, src), np.searchsorted(ids, dst)
    if len(ids) <= INT32_MAX:
        src, dst = src.astype(np.int32, copy=False), dst.astype(np.int32, copy=False)
    return Graph(len(ids), arcs=(src, dst), symmetric=graph._symmetric), ids
