"""Sphinx configuration: `sphinx-build -W docs build/docs`."""

import importlib.metadata
import sys
from functools import partial
from pathlib import Path

from docutils import nodes
from jinja2 import FileSystemBytecodeCache
from numpydoc import docscrape_sphinx

from conncomp.graph import algorithms as graph_algorithms
from conncomp.grid import algorithms as grid_algorithms

HERE = Path(__file__).parent
sys.path[:0] = str(HERE), str(HERE.parent)

import papers_page  # noqa: E402
import public_api  # noqa: E402

project = "conncomp"
author = "The conncomp developers"
copyright = author
release = importlib.metadata.version("conncomp")

extensions = [
    "coming_from",
    "command_line_page",
    "figures",
    "gpu_pages",
    "myst_parser",
    "numpydoc",
    "speed",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx_copybutton",
    "sphinx_design",
]
# numpydoc compiles its template anew for each docstring, which was 15 % of the pages' first 40 s.
docscrape_sphinx.SandboxedEnvironment = partial(
    docscrape_sphinx.SandboxedEnvironment, bytecode_cache=FileSystemBytecodeCache()
)
default_role = "py:obj"
exclude_patterns = ["**/README.md"]  # as Markdown, which pages include, is read
nitpicky = True
templates_path = ["_templates"]
autosummary_context = {"public_members": public_api.members_of_classes()}
autodoc_typehints = "none"
autodoc_mock_imports = public_api.MISSING
maximum_signature_line_length = 60  # longer ones have a parameter a line
numpydoc_show_class_members = False
copybutton_exclude = ".linenos, .gp, .go"

# The names of other libraries that pages link to, so that a build needs no network: each folder of
# inventories/ has the part of that library's objects.inv that we use, as text.
SITES = {
    "cupy": "https://docs.cupy.dev/en/stable/",
    "networkx": "https://networkx.org/documentation/stable/",
    "numpy": "https://numpy.org/doc/stable/",
    "scipy": "https://docs.scipy.org/doc/scipy/",
    "skimage": "https://scikit-image.org/docs/stable/",
    "xarray": "https://docs.xarray.dev/en/stable/",
}
intersphinx_mapping = {
    name: (site, str(HERE / "inventories" / f"{name}.inv")) for name, site in SITES.items()
}

html_theme = "pydata_sphinx_theme"
html_title = "conncomp"
html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_copy_source = False
html_sidebars = {"**": ["navigation"]}
html_theme_options = {
    "logo": {
        "text": "conncomp",
        "image_light": "_static/logo.svg",
        "image_dark": "_static/logo.svg",
    },
    "navbar_center": [],
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
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
    for device, algorithms in table.items():
        for name, algorithm in algorithms.items():
            options = "; ".join(
                f"``{option}=`` {', '.join(f'``{choice!r}``' for choice in choices)}"
                for option, choices in algorithm.options.items()
            )
            waits = "" if device == "cpu" else "no" if algorithm.capturable else "yes"
            yield function, device, f"``{name}``", options, waits, algorithm.source


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
    results = Path(app.srcdir).parent / "reproductions" / "results"
    papers_page.write(results, Path(app.srcdir) / "generated" / "papers")


def _accept_explained_names(app, env, node, content):
    """Print a name in backticks as it is where the docstring that it stands in explains it."""
    folder, _, page = node.get("refdoc", "").rpartition("/")
    # A list has the first lines of docstrings, and a method may speak of what its class has.
    owners = public_api.names() if folder == "api" else (page, page.rpartition(".")[0])
    if any(node["reftarget"] in public_api.known(owner) for owner in owners):
        return nodes.literal("", content.astext())
    return None


def _find_in_other_modules(app, env, node, content):
    """Link a name in backticks to its object in the outermost module that has one of this name."""
    name, *member = node["reftarget"].split(".", 1)
    found = [full for full in public_api.names() if full.endswith(f".{name}")]
    if not found:
        return None
    target = ".".join([min(found, key=lambda full: full.count(".")), *member])
    domain, page = env.get_domain("py"), node.get("refdoc", "")
    return domain.resolve_xref(env, page, app.builder, "obj", target, node, content)


def _load_lazily(app, doctree, docname):
    """Let browsers load a picture when it comes into view, as a page may have a hundred."""
    for image in doctree.findall(nodes.image):
        image["loading"] = "lazy"


def setup(app):
    """Let Sphinx write what is generated from the package, and know what docstrings explain."""
    app.connect("builder-inited", _write_algorithms)
    app.connect("builder-inited", _write_papers)
    app.connect("missing-reference", _accept_explained_names)
    app.connect("missing-reference", _find_in_other_modules)
    app.connect("doctree-resolved", _load_lazily)
