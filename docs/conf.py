"""Sphinx configuration: `sphinx-build -W docs build/docs`."""

import importlib.metadata

project = "conncomp"
author = "The conncomp developers"
release = importlib.metadata.version("conncomp")

extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
default_role = "py:obj"
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
html_theme = "alabaster"
html_theme_options = {
    "description": "Connected components of arrays and graphs",
    "page_width": "70em",
}
