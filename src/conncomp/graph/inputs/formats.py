"""The formats of graph files, in Python; the numbers in them are read in C++."""

from __future__ import annotations

import errno
import io
import os
import re
import zipfile
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from scipy import sparse

from conncomp._arguments import INDEX_TYPES, INT32_MAX
from conncomp._core import native
from conncomp.files import access
from conncomp.files.access import FREE_EXPANSION, Source
from conncomp.files.csv_header import ENDS, SAMPLE, is_table, judge_first_row, rows_of
from conncomp.files.images import read_image
from conncomp.graph.inputs import parts
from conncomp.graph.inputs.conversions import as_arcs_or_rows
from conncomp.graph.inputs.parts import Ids, Parts
from conncomp.graph.inputs.xml_text import XmlText
from conncomp.kernels.graph import Indices

Names = NDArray[np.str_]

INT64_MAX = np.iinfo(np.int64).max
# Bytes of text that are parsed at once: they and their numbers stay in a cache.
CHUNK = 1 << 18
# Words of text that are read, and names of vertices, are shorter; and rows with names.
LONGEST_WORD: int = native.longest_word
LONGEST_ROW: int = native.longest_row
# A line before the header is read in Python; more of them are no file of ours.
LINES_BEFORE_HEADER = 1 << 16
# Bytes that tell the format of a file.
HEAD = 1 << 12
FIRST_LINE = re.compile(rb"[\r\n]*([^\r\n]*)")
# What names may take as an array: per character, and beyond what any machine has.
BYTES_PER_CHARACTER, FREE_NAMES = 64, 1 << 26
# The words that the banner of Matrix Market may have.
KINDS_OF_ENTRIES = "pattern real integer unsigned-integer"
MATRIX_MARKET = "matrix", "coordinate", KINDS_OF_ENTRIES, "general symmetric skew-symmetric"
# The arrays of an .npz file that tell where a matrix has entries.
LAYOUTS = {
    "csr": ("indptr", "indices"),
    "csc": ("indptr", "indices"),
    "coo": ("row", "col"),
    "bsr": ("data", "indices", "indptr"),
    "dia": ("data", "offsets"),
}


class Asked(NamedTuple):
    """The ids that the caller asks a file for, and the notes of its reader."""

    compact: bool  # whether vertices without arcs are dropped, and ids returned
    integers: bool  # whether ids are integers; otherwise they are text where compact asks for them
    # whether the first row of a CSV file has the names of columns; None to judge by the rows
    header: bool | None
    notes: list[str]  # warnings about the file that was read

    @property
    def as_text(self) -> bool:
        """Whether ids are text."""
        return self.compact and not self.integers


def is_ecl(source: Source) -> bool:
    """Whether the first bytes, and the length if known, are those of the format "ecl"."""
    head = source.peek(HEAD)
    numbers = np.frombuffer(head, "<i4", len(head) // 4).astype(np.int64)
    if len(numbers) < 3 or numbers[:2].min() < 0:
        return False
    vertices, arcs = numbers[:2].tolist()
    begins, targets = numbers[2 : vertices + 3], numbers[vertices + 3 : vertices + 3 + arcs]
    without_weights = 4 * (vertices + 3 + arcs)
    length = len(head) if len(head) < HEAD else source.length
    return bool(
        length in (None, without_weights, without_weights + 4 * arcs)
        and len(head) <= without_weights + 4 * arcs
        and begins[0] == 0
        and (begins[1:] >= begins[:-1]).all()
        and begins[-1] <= arcs
        and (len(begins) <= vertices or begins[-1] == arcs)
        and ((targets >= 0) & (targets < vertices)).all()
    )


def _read_edge_list(source: Source, asked: Asked) -> tuple[Parts, Ids | None]:
    if asked.as_text:
        reader: Any = native.DigitArcReader("#%", "", source.line)
    else:
        reader = native.ArcReader("#%", "", source.line, 0, INT64_MAX, True)
    arcs = _read_text(source, reader)
    names = _names_of(source, reader) if asked.as_text else None
    return Parts(reader.largest + 1, arcs=arcs), names


def _read_matrix_market(source: Source) -> Parts:
    banner = (source.read_line() or b"").lower().split()
    if banner[:1] != [b"%%matrixmarket"] or len(banner) != 5:
        raise source.error("expected '%%MatrixMarket matrix coordinate FIELD SYMMETRY'", 1)
    for word, known in zip(banner[1:], MATRIX_MARKET, strict=True):
        if word.decode("latin-1") not in known.split():
            expected = known.replace(" ", " or ")
            raise source.error(f"expected {expected}, found {_shown(word)}", 1)
    rows, columns, entries = _read_counts(source, _read_header(source, b"%"), 3)
    if rows != columns:
        told = f"{rows} rows and {columns} columns; an adjacency matrix is square"
        raise source.error(told, source.line)
    arcs = _read_text(source, native.ArcReader("%", "", source.line, 1, rows, False))
    _check_count(source, "entries", entries, len(arcs[0]))
    return Parts(rows, arcs) if banner[4] == b"general" else parts.undirected(rows, *arcs)


def _read_dimacs(source: Source) -> Parts:
    header = _read_header(source, b"c")
    if header[0] != b"p" or header[1:2] not in ([b"sp"], [b"edge"], [b"col"]):
        told = f"expected 'p sp' or 'p edge' and two counts, found {_shown(b' '.join(header))}"
        raise source.error(told, source.line)
    vertices, lines = _read_counts(source, header[2:], 2)
    mark = "a" if header[1] == b"sp" else "e"
    arcs = _read_text(source, native.ArcReader("c", mark, source.line, 1, vertices, False))
    _check_count(source, f"'{mark}' lines", lines, len(arcs[0]))
    return Parts(vertices, arcs=arcs) if mark == "a" else parts.undirected(vertices, *arcs)


def _read_metis(source: Source) -> Parts:
    header = _read_header(source, b"%")
    code = header[2] if len(header) > 2 else b"0"
    if not 2 <= len(header) <= 4 or not re.fullmatch(rb"[01]{1,3}", code):
        raise source.error(
            "expected two counts, a code of three digits 0 or 1 and a number of weights (the last "
            f"two are optional), found {_shown(b' '.join(header))}",
            source.line,
        )
    sizes, weights, edge_weights = (digit == ord("1") for digit in code.zfill(3))
    words = header[:2] + header[3:]
    vertices, edges, *number = _read_counts(source, words, len(words))
    skipped = sizes + (weights and (number or [1])[0])
    reader = native.NeighbourReader(vertices, skipped, edge_weights, source.line)
    degrees, indices = _read_text(source, reader)
    _check_count(source, "lines after it", vertices, len(degrees))
    # Some programs list a loop once, others twice.
    if 2 * edges not in (len(indices), len(indices) + reader.loops):
        _check_count(source, "neighbours, two an edge", 2 * edges, len(indices))
    indptr = np.zeros(vertices + 1, np.int64)
    np.cumsum(degrees, out=indptr[1:])
    return parts.mirrored(indptr, indices)


def _read_ecl(source: Source) -> Parts:
    def read(count: int) -> NDArray[np.int32]:
        data = source.read_bytes(4 * count)
        if len(data) < 4 * count:
            raise source.error(
                f"cut short: {len(data)} bytes where {4 * count} should be (number of vertices "
                "and of arcs, where arcs begin, where they lead, perhaps weights, all of int32)"
            )
        return np.frombuffer(data, "<i4").astype(np.int32, copy=False)

    vertices, arcs = (int(count) for count in read(2))
    if vertices < 0 or arcs < 0:
        raise source.error(f"says that it has {vertices} vertices and {arcs} arcs")
    indptr, indices = read(vertices + 1), read(arcs)
    try:
        parts.check_csr(indptr, indices)
    except ValueError as error:
        raise source.error(str(error)) from None
    weights = source.read_bytes(4 * arcs + 1)
    if len(weights) not in (0, 4 * arcs):
        raise source.error(f"{len(weights)} bytes or more follow arcs; weights are {4 * arcs}")
    return parts.mirrored(indptr, indices)


def _read_npz(source: Source) -> Parts:
    with source.regular_file(".npz") as name:
        try:
            with access.naming(name):
                return _graph_of_npz(name)
        except (ValueError, OSError) as error:
            # zipfile seeks to wherever a damaged directory says.
            if isinstance(error, OSError) and error.errno != errno.EINVAL:
                raise
            reason = str(error).replace(f"{name}: ", "")
            raise source.error(f"no matrix as SciPy's save_npz writes it: {reason:.200}") from None


def _graph_of_npz(path: str) -> Parts:
    layout, keys = _layout_of_npz(path)
    if layout not in LAYOUTS:
        raise ValueError(f"format {layout!r} is none of {', '.join(LAYOUTS)}")
    shape = tuple(int(length) for length in read_image(path, key="shape").ravel()[:3])
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"it has shape {shape}; an adjacency matrix is square")
    vertices = parts.check_num_vertices(shape[0])
    if "coords" in keys:  # as SciPy may write matrices of layout coo
        layout, arrays = "coo", [*read_image(path, key="coords")]
    else:
        arrays = [read_image(path, key=key) for key in LAYOUTS[layout]]
    if layout == "coo":
        row, column = arrays
        return parts.parts_of_arcs(row, column, vertices)
    if layout in ("csr", "csc"):
        indptr, indices = parts.as_rows(*arrays)
        parts.check_csr(indptr, indices)
        if len(indptr) - 1 != vertices:
            raise ValueError(f"it has shape {shape}, but indptr is for {len(indptr) - 1}")
        if layout == "csr":
            return parts.mirrored(indptr, indices)
        return Parts(vertices, arcs=(indices, parts.sources_of_rows(indptr, indices)))
    # An entry takes 16 bytes at least, and may be one that DEFLATE packs into nearly nothing.
    if 16 * arrays[0].size > FREE_EXPANSION + access.EXPANSION * os.path.getsize(path):
        raise ValueError(f"{arrays[0].size} entries are packed too well; save it as csr")
    make = {"bsr": sparse.bsr_array, "dia": sparse.dia_array}[layout]
    entries = as_arcs_or_rows(make((arrays[0], *arrays[1:]), shape=shape))
    return parts.parts_of_arcs(entries.row, entries.col, vertices)


def _layout_of_npz(path: str) -> tuple[str, set[str]]:
    """Return the word in the array "format", of bytes or text, and the names of all arrays."""
    with zipfile.ZipFile(path) as archive:
        packing = archive.getinfo("format.npy").compress_type
        if packing not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError("format.npy is compressed in a way that NumPy does not use")
        with archive.open("format.npy") as member:
            head = io.BytesIO(member.read(1 << 10))
        keys = {name.removesuffix(".npy") for name in archive.namelist()}
    npy.read_magic(head)
    shape, _, dtype = npy.read_array_header_1_0(head)
    if shape != () or dtype.kind not in "SU" or dtype.itemsize > 1 << 6:
        raise ValueError(f"format is of shape {shape} and dtype {dtype}")
    word = np.frombuffer(head.read(dtype.itemsize), dtype)[0]
    return word.decode("ascii") if isinstance(word, bytes) else str(word), keys


def _read_graphml(source: Source) -> tuple[Parts, Names]:
    reader = native.GraphmlReader()
    src, dst = _read_text(source, reader, LONGEST_ROW, XmlText(source, CHUNK, HEAD).readinto)
    if not reader.has_graph:
        raise source.error("has no <graph> in its <graphml>")
    vertices = reader.largest + 1
    is_directed = reader.is_directed
    made = Parts(vertices, (src, dst)) if is_directed else parts.undirected(vertices, src, dst)
    return made, _names_of(source, reader)


def _read_csv(source: Source, asked: Asked) -> tuple[Parts, Ids | None]:
    separator, columns, first, second = _read_first_row(source, asked)
    place = first, second, source.line
    reader = native.NamedArcReader(separator, columns, *place, not asked.as_text)
    src, dst = _read_text(source, reader, LONGEST_ROW)
    if reader.as_numbers:
        return Parts(reader.largest + 1, arcs=(src, dst)), None
    try:
        numbers = None if asked.as_text else reader.numbers(asked.integers)
    except ValueError as error:
        raise ValueError(f"{source.path}:{error}") from None
    if numbers is None:
        return Parts(reader.largest + 1, arcs=(src, dst)), _names_of(source, reader)
    largest = int(numbers.max(initial=-1))
    numbers = numbers.astype(np.int32 if largest <= INT32_MAX else np.int64)
    return Parts(largest + 1, arcs=(numbers[src], numbers[dst])), None


def _read_first_row(source: Source, asked: Asked) -> tuple[str, int, int, int]:
    """Read a header, if any; return the separator, the number of columns, and those of ends."""
    sample = bytes(source.peek(SAMPLE))
    line = FIRST_LINE.match(sample)
    assert line is not None
    if len(line[1]) >= access.LONGEST_LINE:
        raise source.error(f"expected a header of fewer than {access.LONGEST_LINE} characters", 1)
    marks = [mark for mark in "\t;," if mark.encode() in line[1]] or [","]
    separators = [mark for mark in marks if is_table(rows_of(sample, mark)[0])] or marks
    rows, lines = rows_of(sample, separators[0])
    if not rows or len(rows[0]) < 2:
        raise source.error("expected a header of two columns or more", 1)
    names = [field.strip(" #").lower() for field in rows[0]]
    ends = next((pair for pair in ENDS if set(pair) <= set(names)), ())
    first, second = (names.index(name) for name in ends) if ends else (0, 1)
    found = judge_first_row(rows, (first, second))
    if asked.header is None and not found.is_clear:
        asked.notes.append(found.note(source.path, rows[0]))
    if not (found.is_header if asked.header is None else asked.header):
        if separators[0] != "\t" and len(separators) > 1:
            told = "its columns may be apart by ';' or by ','; quote names that hold one of these"
            raise source.error(f"{told}, or put a header above them", 1)
        return separators[0], len(names), 0, 1
    for name in ends:
        if names.count(name) > 1:
            raise source.error(f"has more than one column {name!r}", 1)
    for _ in range(lines):
        source.read_line()
    return separators[0], len(names), first, second


def _names_of(source: Source, reader: Any) -> Names:
    """Return names as an array, where each takes as much memory as the longest."""
    count, longest = reader.largest + 1, reader.longest
    if 4 * longest * count > FREE_NAMES + BYTES_PER_CHARACTER * reader.characters:
        array = f"an array of {count} names of up to {longest} characters"
        raise source.error(f"{array} takes {4e-9 * longest * count:,.1f} GB; shorten the longest")
    names = np.empty(count, f"<U{max(longest, 1)}")
    reader.write_names(names.view("<u4")[: count * longest])
    return names


class Format(NamedTuple):
    """A format: its reader, the suffixes of its files, and what these hold."""

    read: Callable[..., Any]
    suffixes: tuple[str, ...] = ()
    is_text: bool = False
    has_ids: bool = False  # which may be text; `read` takes what is asked of them, too


FORMATS = {
    "edge-list": Format(_read_edge_list, is_text=True, has_ids=True),
    "csv": Format(_read_csv, is_text=True, has_ids=True),
    "matrix-market": Format(_read_matrix_market, (".mtx",), is_text=True),
    "dimacs": Format(_read_dimacs, (".gr", ".col"), is_text=True),
    "metis": Format(_read_metis, (".graph", ".metis"), is_text=True),
    "graphml": Format(_read_graphml, (".graphml",)),
    "ecl": Format(_read_ecl, (".egr",)),
    "npz": Format(_read_npz, (".npz",)),
}

SUFFIXES = {suffix: name for name, known in FORMATS.items() for suffix in known.suffixes}


def _read_header(source: Source, comment: bytes) -> list[bytes]:
    """Return the words of the first line that is neither empty nor a comment."""
    while source.line < LINES_BEFORE_HEADER:
        line = source.read_line()
        if line is None:
            raise source.error("ends before its header" if source.line else "is empty")
        words = line.split()
        if words and not words[0].startswith(comment):
            return words
    raise source.error(f"has no header in its first {LINES_BEFORE_HEADER} lines")


def _read_counts(source: Source, words: list[bytes], number: int) -> list[int]:
    for word in words:
        if not word.isdigit() or len(word) > 18:
            raise source.error(f"expected a count below 10^18, found {_shown(word)}", source.line)
    if len(words) != number:
        raise source.error(f"expected {number} counts, found {len(words)}", source.line)
    return [int(word) for word in words]


def _shown(word: bytes) -> str:
    return ascii(word[:40].decode("latin-1"))


def _check_count(source: Source, things: str, promised: int, actual: int) -> None:
    if promised != actual:
        raise source.error(f"the header promises {promised} {things}, but there are {actual}")


def _read_text(
    source: Source,
    reader: Any,
    longest: int = LONGEST_WORD,
    fill: Callable[[memoryview], int] | None = None,
) -> tuple[Indices, Indices]:
    """Return the two arrays, of int32 if they fit, that `reader` makes of the file, or of `fill`.

    No header decides how much is allocated. The reader leaves fewer than `longest` bytes over.
    """
    blocks = np.empty((2, CHUNK + longest + 1), np.int64)
    pieces: tuple[list[Indices], list[Indices]] = [], []

    def consume(chunk: NDArray[np.uint8], last: bool) -> int:
        as_numbers = getattr(reader, "as_numbers", False)
        used, *counts = reader.read(chunk, last, *blocks)
        for block, count, kept in zip(blocks, counts, pieces, strict=True):
            kept.append(block[:count].astype(dtype()))
        if as_numbers and not reader.as_numbers:  # it stopped at another name
            for src, dst in zip(*pieces, strict=True):
                reader.rename(src, dst)
            used += consume(chunk[used:], last)
        return int(used)

    def dtype() -> np.dtype[Any]:
        return INDEX_TYPES[reader.largest > INT32_MAX]

    source.feed(consume, CHUNK, longest, fill)
    return _join(pieces[0], dtype()), _join(pieces[1], dtype())


def _join(pieces: list[Indices], dtype: np.dtype[Any]) -> Indices:
    joined = np.concatenate(pieces, dtype=dtype, casting="same_kind")
    pieces.clear()
    return joined
