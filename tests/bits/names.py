"""The public names that calls use, by the names that calls know them by.

A rename of a public function or class is one entry in `RENAMED`, and so is a move into a module
within a room: neither calls nor keys change.
"""

from operator import attrgetter

import conncomp
import conncomp.diagnostics
import conncomp.generate
import conncomp.models
import conncomp.results

RESULTS = (
    *("Component", "ComponentStatistics", "ComponentTable", "ComponentWrapping", "Condensation"),
    *("Contacts", "LabelPlan", "MatchScores", "Matches", "VolumeFile"),
)
RESULTS_OF_MODELS = (
    *("Collapse", "Crossing", "DomainMeasurements", "Estimate", "GlassMeasurements"),
    *("GlassSeries", "IsingMeasurements", "KawasakiMeasurements", "LogarithmicBins"),
    *("Measurements", "OverlapDistribution", "OverlapSummary", "Overlaps"),
    *("PercolationMeasurements", "PercolationSummary", "PercolationSweep", "Reweighted"),
    *("Simulation", "Summary", "SweepEstimates", "Tempering", "VectorMeasurements"),
    "WrappingSummary",
)
PATTERNS = ("all_equal", "checkerboard", "comb", "hilbert_curve", "maze", "rings", "spiral")
# By room: the name in the calls, and its name today where it is another one.
RENAMED = {
    "conncomp": {
        **{name: f"results.{name}" for name in RESULTS},
        "each": "iterate_components",
        "forest_of_edge_files": "spanning_forest_of_files",
        "kernel_times": "diagnostics.kernel_times",
        "match": "match_labels",
        "minimum_forest_of_edge_files": "minimum_spanning_forest_of_files",
    },
    "models": {
        **{name: f"results.{name}" for name in RESULTS_OF_MODELS},
        "Series": "ModelSeries",
        "State": "ModelState",
        "Summarised": "SummarisedModel",
        "Update": "ModelUpdate",
        "katzgraber_young": "glass_equilibration_test",
    },
    "generate": {
        **{name: f"patterns.{name}" for name in PATTERNS},
        **{name: f"directed.{name}" for name in ("bow_tie", "chain_of_cycles", "cycle")},
        "directed_rmat": "directed.rmat",
        "random_directed": "directed.random_arcs",
        "wang": "equal_components",
    },
}
MODULES = {"conncomp": conncomp, "models": conncomp.models, "generate": conncomp.generate}
# The modules of a room that have public names of their own.
WITHIN = {
    "conncomp": ("diagnostics", "results"),
    "models": ("results",),
    "generate": ("directed", "patterns"),
}
# Pairs of a room and a name that calls have asked for, or got a value of, since it was cleared.
reached = set()


class Room:
    """A public module; an attribute is what a name stands for today."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        reached.add((self._name, name))
        return find(self._name, name)


cc, models, generate = map(Room, MODULES)


def find(room, name):
    """Return what calls know by a name."""
    return attrgetter(RENAMED[room].get(name, name))(MODULES[room])


def public(room):
    """Return the public names of a room, as calls know them."""
    known = {today: name for name, today in RENAMED[room].items()}
    names = [name for name in MODULES[room].__all__ if name not in WITHIN[room]]
    for module in WITHIN[room]:
        names += [f"{module}.{name}" for name in getattr(MODULES[room], module).__all__]
    return {known.get(name, name) for name in names}


def _classes():
    for room in MODULES:
        for name in public(room):
            value = find(room, name)
            if isinstance(value, type):
                yield value, (room, name)


CLASSES = dict(_classes())


def note_class(cls):
    """Take down that a result was of this class."""
    reached.update(CLASSES[base] for base in cls.__mro__ if base in CLASSES)
