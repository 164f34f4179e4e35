"""The tables of algorithms, against drivers, kernels and what the documentation says."""

import importlib
import inspect
import pkgutil
import re

import numpy as np
import pytest

import conncomp.kernels.cuda
from conncomp import connected_components, label
from conncomp._algorithms import choose_algorithm
from conncomp.graph import algorithms as graph_algorithms
from conncomp.grid import algorithms as grid_algorithms
from native_program import KERNELS
from pages import ROOT

TABLES = {
    "arrays": grid_algorithms.ALGORITHMS,
    "graphs": graph_algorithms.ALGORITHMS,
    "strong": graph_algorithms.STRONG_ALGORITHMS,
}
FUNCTIONS = {"arrays": label, "graphs": connected_components, "strong": connected_components}
ALGORITHMS = [
    pytest.param(FUNCTIONS[kind], algorithm, id=f"{kind}-{device}-{name}")
    for kind, table in TABLES.items()
    for device, algorithms in table.items()
    for name, algorithm in algorithms.items()
]
OPTIONS = [
    pytest.param(algorithm, option, id=f"{algorithm.device}-{algorithm.name}-{option}")
    for table in TABLES.values()
    for algorithms in table.values()
    for algorithm in algorithms.values()
    for option in algorithm.options
]
# Where what the docstrings say of algorithms goes on.
PAGE_OF_GRAPHS = (ROOT / "docs/algorithms/graph_options.rst").read_text()
PAGE_OF_OPTIONS = "docs/algorithms/options.rst"
# Of algorithms on the CPU that share one.
FILES = dict.fromkeys(("raster-scan", "label-equivalence"), "cells")
FILES |= dict.fromkeys(("bfs", "recolouring"), "searches")
FOR_TESTS = {"tally"}  # arguments of drivers that are no options


def section(function, begin, end):
    """Return what lies between two pieces of a docstring, on one line."""
    text = inspect.getdoc(function).split(begin, 1)[1]
    return " ".join(text.split(end, 1)[0].split())


def is_listed(choice, option, text):
    """Whether a text that lists the choices of an option has this one."""
    about = text.split(f"{option}=", 1)[1]
    spans = re.match(r"(\d+)\.\.(\d+)", about)
    if spans and isinstance(choice, int):
        return int(spans[1]) <= choice <= int(spans[2])
    return re.search(rf"(?<!\w){re.escape(str(choice))}(?!\w)", about) is not None


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_an_algorithm_is_where_it_is_looked_for(table):
    for device, algorithms in table.items():
        for name, algorithm in algorithms.items():
            assert choose_algorithm(table, device, name) is algorithm
            assert (algorithm.device, algorithm.name) == (device, name)


@pytest.mark.parametrize(("function", "algorithm"), ALGORITHMS)
def test_one_signature(function, algorithm):
    _, task = list(inspect.signature(algorithm.fill).parameters)[:2]
    assert task == "task"


@pytest.mark.parametrize(("function", "algorithm"), ALGORITHMS)
def test_options_are_those_of_the_driver(function, algorithm):
    told = inspect.getclosurevars(algorithm.fill).nonlocals
    driver = told.get("fill_roots") or told.get("fill_labels") or algorithm.fill
    defaults = driver.__kwdefaults__ or {}
    assert algorithm.defaults == {k: v for k, v in defaults.items() if k not in FOR_TESTS}


@pytest.mark.parametrize(("algorithm", "option"), OPTIONS)
def test_choices_of_options(algorithm, option):
    for choice in algorithm.options[option]:
        choices = algorithm.check_options({option: choice})
        assert choices == {**algorithm.defaults, option: choice}
        if isinstance(choice, int):
            assert type(algorithm.check_options({option: np.int64(choice)})[option]) is int
        if isinstance(choice, tuple):
            assert algorithm.check_options({option: list(choice)})[option] == choice
    wrongs = [77, "77", (7, 7), np.arange(3), object()]
    # Where choices are words, too, they are only compared.
    wrongs += [4.0] if option != "sites" else []
    known = re.escape(", ".join(map(repr, algorithm.options[option])))
    message = f"^{option}=.* (is not one of {known}|must be an integer)$"
    for wrong in wrongs:
        with pytest.raises((TypeError, ValueError), match=message):
            algorithm.check_options({option: wrong})


@pytest.mark.parametrize(("function", "algorithm"), ALGORITHMS)
def test_unknown_options(function, algorithm):
    known = ", ".join(algorithm.options) or "none"
    message = f"algorithm='{algorithm.name}' has no option 'tally'; it has {known}$"
    with pytest.raises(TypeError, match=message):
        algorithm.check_options({"tally": None})


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("name", ["", "fast", None, ["auto"], np.zeros(2)])
def test_unknown_algorithms(table, device, name):
    known = ", ".join(map(repr, table[device]))
    with pytest.raises(ValueError, match=rf"^algorithm=.* is not one of {known}$"):
        choose_algorithm(table, device, name)


def test_names_in_the_docstring_of_label():
    listed = section(label, "algorithm : str", "dtype :")
    on_cpu, on_gpu = listed.split("on a GPU")
    for text, device in (on_cpu, "cpu"), (on_gpu, "cuda"):
        assert set(re.findall('"([^"]*)"', text)) == {*grid_algorithms.ALGORITHMS[device]}


def test_names_in_the_docstring_of_connected_components():
    listed = section(connected_components, "algorithm : str", "dtype :")
    on_cpu = listed.split("on a GPU")[0].split("for strong components")
    for text, kind in zip(on_cpu, ("graphs", "strong"), strict=True):
        assert set(re.findall('"([^"]*)"', text)) == {*TABLES[kind]["cpu"]}
    for kind, which in ("graphs", ""), ("strong", " for strong components"):
        for device, place in ("cpu", "the CPU"), ("cuda", "a GPU"):
            about = PAGE_OF_GRAPHS.partition(f"The algorithms on {place}{which}:")[2]
            part = about.partition("The algorithms on ")[0]
            headings = re.findall(r"^([a-z][a-z, -]*)\n    ", part, re.MULTILINE)
            names = [name for heading in headings for name in heading.split(", ")]
            assert sorted(names) == sorted(TABLES[kind][device])


@pytest.mark.parametrize(("function", "algorithm"), ALGORITHMS)
def test_options_in_the_docstring(function, algorithm):
    text = section(function, "**options", "Returns\n")
    if function is connected_components:
        text = PAGE_OF_GRAPHS.split("Options\n")[1].split("The algorithms on")[0]
    assert all(option in text for option in algorithm.options)
    if function is label:  # which refers to a page
        assert PAGE_OF_OPTIONS in text
        page = (ROOT / PAGE_OF_OPTIONS).read_text()
        text = page[page.index(f'\n"{algorithm.name}"\n') :] if algorithm.options else ""
        text = text[: text.find('\n"', 1)]
    for option, choices in algorithm.options.items():
        assert f'"{algorithm.name}"' in text
        for choice in choices:
            assert choice is None or is_listed(choice, option, text)


@pytest.mark.parametrize(("function", "algorithm"), ALGORITHMS)
def test_what_can_be_captured_in_the_docstring(function, algorithm):
    if algorithm.device == "cuda":
        notes = section(function, "Notes\n", "Examples\n")
        sentence = next(part for part in re.split(r"\. (?=[A-Z])", notes) if "captured" in part)
        assert (f'"{algorithm.name}"' in sentence) == algorithm.capturable
    else:
        assert not algorithm.capturable


def driver_of(algorithm):
    """Return the name of the module that fills roots on a GPU, or None."""
    fill_roots = inspect.getclosurevars(algorithm.fill).nonlocals.get("fill_roots")
    return fill_roots and fill_roots.__module__


def files_of(algorithm):
    """Return the kernel files of an algorithm, in the tree: wheels have what was compiled of it."""
    name = algorithm.name.replace("-", "_")
    if algorithm.device == "cpu":
        return list((KERNELS / "cpu").glob(f"*/{FILES.get(algorithm.name, name)}.h"))
    if name == "auto" and driver_of(algorithm):
        name = driver_of(algorithm).rpartition(".")[2]
    return list((KERNELS / "cuda").glob(f"*/{name}.cuh"))


@pytest.mark.parametrize(("function", "algorithm"), ALGORITHMS)
def test_sources(function, algorithm):
    """They are in the references, and in the header of the kernel or its driver."""
    references = PAGE_OF_GRAPHS.split("Sources\n")[1]
    if function is label:
        references = (ROOT / PAGE_OF_OPTIONS).read_text().split("Sources\n")[1]
    words = re.findall(r"[^\W\d_]{2,}|\d{4}", algorithm.source)
    assert all(word in references for word in words)
    files = files_of(algorithm)
    assert files or (algorithm.name == "auto" and (function is label or algorithm.device == "cpu"))
    for file in files:
        header = file.read_text().split("#pragma once")[0]
        assert all(word in header for word in words)


def test_every_driver_of_an_algorithm_is_in_a_table():
    held = {driver.__name__ for driver in grid_algorithms.DEFAULTS_ON_GPU}
    for table in TABLES.values():
        held |= {driver_of(algorithm) for algorithm in table["cuda"].values()}
    for module in pkgutil.walk_packages(conncomp.kernels.cuda.__path__, "conncomp.kernels.cuda."):
        driver = importlib.import_module(module.name)
        if any(name.startswith("fill_") for name in vars(driver)):
            assert module.name in held


def test_tiles_that_wait():
    tiles = grid_algorithms.ALGORITHMS["cuda"]["tiles"]
    assert not tiles.waits(tiles.check_options({"merge": "sewing"}))
    assert tiles.waits(tiles.check_options({"merge": "relaxation"}))
