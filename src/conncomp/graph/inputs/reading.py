"""Graph files: which format a file is of, and what is checked whatever the format."""

from __future__ import annotations

import re

from conncomp._arguments import check_choice
from conncomp.files.access import Progress, Source, StrPath
from conncomp.graph.inputs import formats, parts
from conncomp.graph.inputs.formats import FORMATS, SUFFIXES, Asked
from conncomp.graph.inputs.parts import Ids, Parts

# The first line that is neither empty nor a comment starts with no number.
NAMES_AHEAD = re.compile(rb"\s*+(?:[#%][^\r\n]*+\s*+)*+[^\s\d#%+.-]")
# The first line that is not empty is no comment, and has columns as CSV has them.
COLUMNS_AHEAD = re.compile(rb"\s*+[^\s#%][^\r\n\t;,]*+([\t;,])")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
UTF_16 = re.compile(
    rb"(?:\xff\xfe|\xfe\xff)(?:[^\0].|\0[^\0])*|(?:[\t\n\r -~]\0)+|(?:\0[\t\n\r -~])+", re.DOTALL
)


def read_parts(
    path: StrPath, asked: Asked, format: str | None, progress: Progress | None, remedy: str
) -> tuple[Parts, Ids | None]:
    """Read what `read_graph` does, as the parts of a graph."""
    if format is not None:
        check_choice("format", format, tuple(FORMATS))
    with Source(path, progress) as source:
        graph, names = _read_as(format or _find_format(source, asked), source, asked)
        if asked.compact:
            graph, ids = parts.compacted(graph)
            return graph, ids if names is None else names[ids]
        # Vertices that only a number tells of may need much memory and time.
        rows_were_read = graph.csr is not None
        problem = None if rows_were_read else parts.excess(graph.num_vertices, graph.num_arcs)
        if problem:
            raise source.error(f"{problem}; {remedy} keeps only the vertices that have arcs")
    return graph, names


def _read_as(format: str, source: Source, asked: Asked) -> tuple[Parts, Ids | None]:
    for name, given, known in (
        ("integers=True", asked.integers, [key for key, each in FORMATS.items() if each.has_ids]),
        (f"header={asked.header}", asked.header is not None, ["csv"]),
    ):
        if given and format not in known:
            told = (
                f"{name} is for the format {' or '.join(known)}, but the file is read as {format}"
            )
            raise source.error(f"{told}; leave it out, or give another format=")
    chosen = FORMATS[format]
    if chosen.is_text:
        head = source.peek(formats.HEAD)
        if UTF_16.fullmatch(head[: len(head) // 2 * 2]):
            raise source.error("looks like text in UTF-16; save it as UTF-8 or ASCII")
        if head.startswith(BYTE_ORDER_MARK):
            source.read_bytes(len(BYTE_ORDER_MARK))
    made = chosen.read(source, asked) if chosen.has_ids else chosen.read(source)
    return (made, None) if isinstance(made, Parts) else made


def _find_format(source: Source, asked: Asked) -> str:
    """Return the format that the file's name says, or else its first bytes."""
    if source.suffix in SUFFIXES:
        return SUFFIXES[source.suffix]
    head = source.peek(formats.HEAD).removeprefix(BYTE_ORDER_MARK)
    if source.suffix in (".csv", ".tsv"):
        if asked.header is not None or NAMES_AHEAD.match(head):
            return "csv"
        columns = COLUMNS_AHEAD.match(head)
        if columns and (asked.as_text or columns[1] == b";" or b'"' in head):
            return "csv"
        return "edge-list"
    if head[:14].lower() == b"%%matrixmarket":
        return "matrix-market"
    if head.startswith(b"PK\3\4"):
        return "npz"
    if head.startswith(b"\x93NUMPY"):
        raise source.error("is an array of NumPy; scipy.sparse.save_npz saves matrices")
    if b"\0" in head and not UTF_16.fullmatch(head[: len(head) // 2 * 2]):
        if formats.is_ecl(source):
            return "ecl"
        told = f"is binary, and of none of the formats {', '.join(FORMATS)}"
        raise source.error(f"{told}; where it is one of them, say so by format=")
    if re.match(rb"\s*<\?xml|\s*<graphml", head):
        return "graphml"
    return "dimacs" if re.match(rb"[cp]\s", head) else "edge-list"
