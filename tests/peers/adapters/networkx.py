"""NetworkX' components are made of our labels."""

import importlib

from networkx.utils import not_implemented_for

import conncomp


def components(graph, **options):
    _, labels = conncomp.connected_components(graph, **options)
    sets = {}
    for node, number in zip(graph, labels.tolist(), strict=True):
        sets.setdefault(number, set()).add(node)
    return list(sets.values())


@not_implemented_for("directed")
def connected_components(G):
    yield from components(G)


@not_implemented_for("directed")
def number_connected_components(G):
    return conncomp.connected_components(G, return_labels=False)


@not_implemented_for("undirected")
def weakly_connected_components(G):
    yield from components(G)


@not_implemented_for("undirected")
def number_weakly_connected_components(G):
    return conncomp.connected_components(G, return_labels=False)


@not_implemented_for("undirected")
def strongly_connected_components(G):
    yield from components(G, connection="strong")


@not_implemented_for("undirected")
def number_strongly_connected_components(G):
    return conncomp.connected_components(G, connection="strong", return_labels=False)


# Not by attributes: `networkx.algorithms.components` has functions of the names of its modules.
PLACES = [
    importlib.import_module(f"networkx{place}")
    for place in (
        "",
        ".algorithms",
        ".algorithms.components",
        ".algorithms.components.connected",
        ".algorithms.components.weakly_connected",
        ".algorithms.components.strongly_connected",
    )
]
for function in (
    connected_components,
    number_connected_components,
    weakly_connected_components,
    number_weakly_connected_components,
    strongly_connected_components,
    number_strongly_connected_components,
):
    for place in PLACES:
        if hasattr(place, function.__name__):
            setattr(place, function.__name__, function)
