"""What the gallery's pages about GPUs print and draw on one, below what they do without one.

For a page ``gallery/gpu/NAME`` there are ``pictures/gpu/NAME.png``, as `savefig` writes it, and
``NAME.txt``, whose first line says which GPU and library that was, and the others what the page
printed. A page without them stays as it is.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

PAGES = "gallery/gpu/"
PICTURES = "pictures/gpu"
FOOTER = ".. _sphx_glr_download_"  # of sphinx-gallery, where files are to be downloaded
SECTION = """\
On a GPU
--------

The same page on one {machine}:

.. literalinclude:: /{files}.txt
   :language: none
   :lines: 2-

.. image:: /{files}.png
   :alt: The picture of this page, as a GPU has made it.
   :class: sphx-glr-single-img

"""


def with_section(text: str, docname: str, folder: Path) -> str:
    """Return the text of a page, with a section about GPUs if its files are in a folder."""
    files = f"{PICTURES}/{docname.removeprefix(PAGES)}"
    printed, picture = (folder / f"{files}{ending}" for ending in (".txt", ".png"))
    if not (docname.startswith(PAGES) and printed.is_file() and picture.is_file()):
        return text
    machine = printed.read_text().partition("\n")[0]
    body, footer, links = text.partition(FOOTER)
    return body + SECTION.format(machine=machine, files=files) + footer + links


def _add_section(app: Any, docname: str, source: list[str]) -> None:
    source[0] = with_section(source[0], docname, Path(app.srcdir))


def setup(app: Any) -> dict[str, bool]:
    """Let Sphinx add the sections as it reads the pages."""
    app.connect("source-read", _add_section)
    return {"parallel_read_safe": True}
