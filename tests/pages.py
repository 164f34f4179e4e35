"""The README and the pages of the documentation, and the blocks in them that are run as tests.

Doctest runs what has prompts. What begins with an import is an example for a GPU. Shell blocks are
run page by page; text that is not to be run is in blocks of another language.
"""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text()
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.rst")))
}
FENCED = r"^```{}\n(.*?)^```$"
INDENTED = r"^\.\. code-block:: {}\n((?:   +.*\n|\n)+)"


def blocks(page, language):
    """Return the blocks of a language in a page."""
    pattern = FENCED if page.endswith(".md") else INDENTED
    texts = re.findall(pattern.format(language), PAGES[page], re.M | re.S * page.endswith(".md"))
    return [re.sub(r"^   ", "", text, flags=re.M).strip() + "\n" for text in texts]


def gpu_examples():
    """Return the examples in Python that need a GPU, by page and number."""
    return {
        f"{page}-{number}": block
        for page in PAGES
        for number, block in enumerate(blocks(page, "python"))
        if block.startswith("import ")
    }
