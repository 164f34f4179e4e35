"""The text of XML for a reader in C++, while a parser checks that it is well-formed."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from xml.parsers import expat

import numpy as np

from conncomp._core import native
from conncomp.files import access
from conncomp.files.access import Source

# The first bytes of XML in UTF-16.
UTF_16_HEADS = dict.fromkeys((b"\xff\xfe", b"\xfe\xff"), "utf-16")
UTF_16_HEADS |= {b"<\0": "utf-16-le", b"\0<": "utf-16-be"}

# Each block lets the parser read an open piece, such as a comment, again: without a limit, time
# would grow with the square of its length.
LONGEST_PIECE = 1 << 20
# The parser sees this instead of plain elements.
PLAIN_ELEMENT = b"<a/>"


class XmlText:
    """The text of a file of XML in UTF-8, which a parser has found to be well-formed so far.

    For plain pieces (`native.plain_pieces`) it sees an element, line ends and blanks, which keep
    its place.
    """

    def __init__(self, source: Source, chunk: int, head: int) -> None:
        self._source, self._parser = source, expat.ParserCreate()
        self._size, self._first = chunk, max(chunk, head)  # of blocks; the first declares
        self._text, self._cut = memoryview(b""), b""  # the latter is a tag that a block's end cut
        self._is_over, self._parsed = False, 0
        self._declared: str | None = None
        self._decode: Callable[[bytes], bytes] | None = None
        self._parser.StartElementHandler = self._begin
        self._parser.StartDoctypeDeclHandler = self._refuse
        self._parser.XmlDeclHandler = self._declare

    def readinto(self, target: memoryview) -> int:
        """Fill memory with the next bytes in UTF-8; return how many there are."""
        while not self._text and not self._is_over:
            block = bytes(self._source.read_bytes(self._size if self._decode else self._first))
            self._is_over = not block
            with access.naming(self._source.path):
                if self._is_plain():
                    block = self._parse_around_pieces(self._cut + block)
                else:
                    block, self._cut = self._cut + block, b""
                    self._parse(block)
                self._decode = self._decode or self._decoder(block[:2])
                self._text = memoryview(self._decode(block))
        count = min(len(target), len(self._text))
        target[:count] = self._text[:count]
        self._text = self._text[count:]
        return count

    def _begin(self, *element: object) -> None:
        self._parser.StartElementHandler = None  # which says that the first element has begun

    def _is_plain(self) -> bool:
        """Whether the next byte is outside of tags, in the first element, and in ASCII."""
        is_read = self._parsed == self._parser.CurrentByteIndex
        has_begun = self._parser.StartElementHandler is None
        return self._decode is bytes and has_begun and is_read and not self._is_over

    def _parse_around_pieces(self, block: bytes) -> bytes:
        """Parse a block up to a tag that its end may cut, and return that part."""
        tag = block.rfind(b"<")
        is_cut = tag >= 0 and block.find(b">", tag) < 0 and len(block) - tag <= native.longest_row
        whole = tag if is_cut else len(block)
        block, self._cut = block[:whole], block[whole:]
        parsed = 0
        for begin, end, lines in native.plain_pieces(np.frombuffer(block, np.uint8)):
            self._parse(block[parsed:begin])
            if not self._is_plain():  # it is in a comment or an instruction
                parsed = begin
                break
            piece = block[begin:end]
            if b"\r" in piece:
                lines += piece.count(b"\r") - piece.count(b"\r\n")
            column = end - begin - 1 - max(piece.rfind(b"\n"), piece.rfind(b"\r"))
            blanks = b" " * (column if lines else column - len(PLAIN_ELEMENT))
            self._parse(PLAIN_ELEMENT + b"\n" * lines + blanks)
            parsed = end
        self._parse(block[parsed:])
        return block

    def _parse(self, text: bytes) -> None:
        self._parser.Parse(text, self._is_over)
        self._parsed += len(text)
        # What the parser keeps, as its end has not come yet.
        if self._parsed - self._parser.CurrentByteIndex > LONGEST_PIECE:
            told = f"has a comment, or another piece of XML, of more than {LONGEST_PIECE} bytes"
            raise ValueError(f"{told}; leave it out: line {self._parser.CurrentLineNumber}")

    def _refuse(self, *declaration: object) -> None:
        told = "has a DOCTYPE, which can expand without end and which GraphML does not need"
        raise ValueError(f"{told}: line {self._parser.CurrentLineNumber}")

    def _declare(self, version: str, encoding: str | None, standalone: int) -> None:
        self._declared = encoding

    def _decoder(self, head: bytes) -> Callable[[bytes], bytes]:
        """Return what makes UTF-8 of the encoding that the parser has taken."""
        if head in UTF_16_HEADS:
            decoder = codecs.getincrementaldecoder(UTF_16_HEADS[head])()
            return lambda block: decoder.decode(block).encode()
        if (self._declared or "utf-8").lower() in ("utf-8", "us-ascii"):
            return bytes
        # As the parser has it: a table of 256 characters.
        table = bytes(range(256)).decode(self._declared or "", "replace")
        return lambda block: codecs.charmap_decode(block, "strict", table)[0].encode()
