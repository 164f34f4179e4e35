"""A builder that reads all pages and writes most: ``sphinx-build -b a_page_of_ten docs build``.

Every page is read, and every name on it looked up. The pages of functions, classes and their
members, which are five of six, are of one template each, and writing them is half of a build: of
these one of `SHARE` is written, chosen by its name. `.ci/run` builds so, and in a soak all of them.
"""

from __future__ import annotations

from typing import Any
from zlib import crc32

from docutils import nodes
from sphinx.builders.html import StandaloneHTMLBuilder

OF_ONE_TEMPLATE = "api/generated/"
SHARE = 10


def is_written(docname: str) -> bool:
    """Return whether a page is among those that are written."""
    return not docname.startswith(OF_ONE_TEMPLATE) or crc32(docname.encode()) % SHARE == 0


class APageOfTen(StandaloneHTMLBuilder):
    """HTML, of those that are of one template for one of `SHARE`."""

    name = "a_page_of_ten"

    def write_doc(self, docname: str, doctree: nodes.document) -> None:
        """Write a page, whose names are looked up by now, or leave it out."""
        if is_written(docname):
            super().write_doc(docname, doctree)


def setup(app: Any) -> dict[str, bool]:
    """Let Sphinx know the builder."""
    app.add_builder(APageOfTen)
    return {"parallel_read_safe": True}
