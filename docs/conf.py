"""Sphinx configuration: `sphinx-build -W docs build/docs`."""

import importlib.metadata
import sys
from pathlib import Path

from conncomp.graph import algorithms as graph_algorithms
from conncomp.grid import algorithms as grid_algorithms

sys.path.insert(0, str(Path(__file__).parent))

import papers_page

project = "conncomp"
author = "The conncomp developers"
release = importlib.metadata.version("conncomp")

extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "myst_parser"]
extensions += ["coming_from", "figures", "speed"]
default_role = "py:obj"
exclude_patterns = ["**/README.md"]  # as Markdown, which pages include, is read
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
html_theme = "alabaster"
html_theme_options = {
    "description": "Connected components of arrays and graphs",
    "page_width": "70em",
}

# ------------------------------------------------------------------------------------- the gallery

# Examples are run as the docs are built, and one that fails makes the build fail. Those that did
# not change since the last build are not run again, unless docs/gallery is removed. Pages tell no
# times, so that equal programs make equal pages.
extensions.append("sphinx_gallery.gen_gallery")
sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "subsection_order": [
        f"../examples/gallery/{name}" for name in ("images", "graphs", "physics", "gpu")
    ],
    "within_subsection_order": "ExampleTitleSortKey",
    "capture_repr": (),
    "download_all_examples": False,
    "min_reported_time": 600,
    "show_signature": False,
    "write_computation_times": False,
    "thumbnail_size": (200, 140),
    "remove_config_comments": True,
}


def _rows_of(table, function):
    """Yield the rows about the algorithms of a table, which a function has."""
    for device, records in table.items():
        for name, record in records.items():
            options = "; ".join(
                f"``{option}=`` {', '.join(f'``{choice!r}``' for choice in choices)}"
                for option, choices in record.options.items()
            )
            waits = "" if device == "cpu" else "no" if record.capturable else "yes"
            yield function, device, f"``{name}``", options, waits, record.source


def _write_algorithms(app):
    """Write the page's table of algorithms."""
    rows = [
        ("function", "device", "name", "options", "waits for the GPU, by default", "source"),
        *_rows_of(grid_algorithms.ALGORITHMS, "`~conncomp.label`"),
        *_rows_of(graph_algorithms.ALGORITHMS, "`~conncomp.connected_components`"),
        *_rows_of(
            graph_algorithms.STRONG_ALGORITHMS,
            "`~conncomp.connected_components`, strong components",
        ),
    ]
    page = Path(app.srcdir) / "generated" / "algorithms.inc"
    page.parent.mkdir(exist_ok=True)
    page.write_text("\n".join(papers_page.list_table(rows)) + "\n")


def _write_papers(app):
    """Write the pages of the papers' figures and tables."""
    results = Path(app.srcdir).parent / "benchmarks" / "papers"
    papers_page.write(results, Path(app.srcdir) / "generated" / "papers")


def setup(app):
    """Let Sphinx write what is generated from the package."""
    app.connect("builder-inited", _write_algorithms)
    app.connect("builder-inited", _write_papers)
