"""``python -m tests.fuzz.gate``: which faults of `broken` the gate finds, for `planted_faults.md`.

The soak finds all of them, by its targets. Of the gate, tests of `TESTS` are run for each fault
until one fails: what is not found by these may still be found by others.
"""

import argparse
import contextlib
import inspect
import os
import re
import signal
import tempfile
import time
from collections import Counter
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import Phase, settings

from .broken import BREAKAGES, installed

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_name("planted_faults.md")
NOTHING = installed, "__doc__", installed.__doc__  # a fault of which nothing is wrong
SECONDS, TOO_LONG = 90, "?"  # for a fault; and what is told where no test had failed by then

# That test compares functions by identity.
IDENTITY = "tests/test_wrong_arguments.py::test_every_public_function_is_here"
OPTIONS = ["-q", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
OPTIONS += ["--deselect", IDENTITY]

POTTS = "models/test_potts_arguments models/test_any_model models/test_against_reference"
EDGES = "models/test_potts_on_edges models/test_vectors_on_edges models/test_protocol"
STRANGERS = "chunked/test_volume_strangers chunked/test_volume_limits"
VOLUMES = "chunked/test_volumes chunked/test_volume_sources chunked/test_volume_strangers"
TESTS = {
    "read-image": "files/test_images",
    "read-graph": "graph/test_connected_components graph/test_reading",
    "read-pairs": "tables/test_files cli/test_cluster",
    "edge-files": "tables/test_edges",
    "names-in-text": "tables/test_edges graph/test_reading cli/test_cluster tables/test_files",
    "arguments": "test_wrong_arguments",
    "options": "cli/test_rules",
    "label": "grid/test_known grid/test_label",
    "label-bonds": "grid/test_label_bonds",
    "wrapping": "grid/test_wrapping components/test_spanning",
    "tables": "components/test_tools components/test_spanning",
    "selection": "components/test_tools",
    "relabelling": "components/test_renumbering components/test_tools",
    "statistics": "components/test_tools components/test_walking components/test_intensities "
    "components/test_columns components/test_solids",
    "columns": "components/test_columns components/test_shapes components/test_column_requests",
    "containers": "test_nulls test_spacing_of_images chunked/test_xarray test_other_libraries",
    "contacts": "components/test_contacts",
    "match": "components/test_matching",
    "holes": "components/test_holes",
    "colours": "components/test_colouring",
    "graphs": "graph/test_conversions graph/test_connected_components graph/test_reading",
    "connected-components": "graph/test_connected_components graph/test_conversions",
    "strong-components": "graph/test_strong_components",
    "forests": "graph/test_forests",
    "clusters-of-pairs": "tables/test_cluster_pairs tables/test_objects",
    "ids-of-objects": "tables/test_objects",
    "quality-of-clusters": "tables/test_quality",
    "duplicates": "tables/test_dups",
    "label-files": f"{VOLUMES} chunked/test_volume_plan",
    "films": f"cli/test_films {VOLUMES}",
    "label-volumes": "components/test_tools components/test_contacts chunked/test_selection "
    "chunked/test_open_volume",
    "packed-volumes": f"{STRANGERS} chunked/test_volume_damage",
    "damaged-volumes": f"{STRANGERS} chunked/test_volumes",
    "forged-volumes": "chunked/test_volume_space chunked/test_volumes",
    "streams": "chunked/test_streams",
    "growing-graphs": "graph/test_incremental",
    "networkx": "graph/test_networkx_backend",
    "potts": f"{POTTS} models/test_potts_wrapping models/test_local_updates models/test_exact",
    "ising": "models/test_ising models/test_protocol models/test_against_reference",
    "observables": "models/test_structure models/test_observables_on_lattices",
    "vectors": "models/test_vectors models/test_protocol",
    "ising-graphs": "models/test_ising_on_edges models/test_protocol models/test_disorder",
    "spins-on-edges": EDGES,
    "analysis": "models/test_analysis",
    "tempering": "models/test_tempering",
    "percolation": "models/test_percolation",
    "percolation-sweeps": "models/test_percolation models/test_thresholds",
    "kawasaki": "models/test_kawasaki_reference models/test_kawasaki_arguments",
    "spin-glass": "models/test_spin_glass models/test_spin_glass_pairs",
    "cahn-hilliard": "models/test_cahn_hilliard models/test_protocol",
    "simulations": "models/test_simulation",
    "series": "models/test_statistics models/test_simulation",
}


class Faults:
    """Runs the tests that pytest has collected for each fault of a target, until one fails."""

    def __init__(self, name):
        self.faults, self.finders = BREAKAGES[name], []

    def pytest_sessionstart(self):
        """Let Hypothesis not look for the smallest example."""
        phases = [Phase.explicit, Phase.generate]
        settings.register_profile("first", settings.get_profile("conncomp"), phases=phases)
        settings.load_profile("first")

    def pytest_runtestloop(self, session):
        """Try each fault, first by the tests that found others."""
        items = list(session.items)
        for fault in self.faults:
            test = finder(fault, items)
            if test not in ("", TOO_LONG, *self.finders):
                of_test = [item for item in items if name_of(item) == test]
                assert not finder(None, of_test), f"{test} fails without"
                items = [*of_test, *(item for item in items if name_of(item) != test)]
            self.finders.append(test)
        return True


def name_of(item):
    return item.nodeid.partition("[")[0].removeprefix("tests/")


def finder(fault, items):
    """Return the test that finds a fault, or fails without one; "" if all pass, or TOO_LONG."""
    with tempfile.TemporaryFile() as told:
        child = os.fork()
        if child == 0:
            os.setsid()
            with contextlib.suppress(BaseException), installed(*(fault or NOTHING)):
                name = first_failure(fault, items)
                os.write(told.fileno(), name.encode())
                os._exit(0)
            os._exit(1)
        end, ended = time.monotonic() + SECONDS, (0, 0)
        while ended[0] == 0:
            time.sleep(0.02)
            if time.monotonic() > end:
                os.killpg(child, signal.SIGKILL)
            ended = os.waitpid(child, os.WNOHANG)
        code = os.waitstatus_to_exitcode(ended[1])
        assert code in (0, -signal.SIGKILL), f"the process that runs the tests ends with {code}"
        told.seek(0)
        return told.read().decode() if code == 0 else TOO_LONG


def first_failure(fault, items):
    """Run tests, in which a fault is installed; return the name of the first that fails, or ""."""
    owner, _, broken = fault or NOTHING
    function = getattr(broken, "__wrapped__", None)
    for module in {item.module for item in items if hasattr(item, "module")}:
        for name, value in list(vars(module).items()):
            if value is function and inspect.ismodule(owner):
                setattr(module, name, broken)
    for item in items:
        if any(report.failed for report in runtestprotocol(item, log=False, nextitem=None)):
            return name_of(item)
    return ""


def row(name):
    """Return the line of the list that is of a target, once its faults have been tried."""
    faults = Faults(name)
    pytest.main([*OPTIONS, *(f"tests/{file}.py" for file in TESTS[name].split())], [faults])
    tests = Counter(test for test in faults.finders if test not in ("", TOO_LONG))
    missed = [
        f"{place}: `{fault[0].__name__.rpartition('.')[2]}.{fault[1]}`{test}"
        for place, (fault, test) in enumerate(zip(faults.faults, faults.finders, strict=True))
        if test in ("", TOO_LONG)
    ]
    shown = ", ".join(f"`{test}` {count}" for test, count in tests.items())
    return f"| {name} | {len(faults.faults)} | {tests.total()} | {shown} | {', '.join(missed)} |"


def main():
    parser = argparse.ArgumentParser("python -m tests.fuzz.gate", description=__doc__)
    parser.add_argument("target", nargs="*", help=", ".join(BREAKAGES))
    os.chdir(ROOT)
    for name in parser.parse_args().target or list(BREAKAGES):
        if os.fork() == 0:
            line, text = row(name), LIST.read_text()
            line_of = re.compile(rf"^\| {name} \|.*\n|\Z", re.M)
            LIST.write_text(line_of.sub(lambda _, line=line: f"{line}\n", text, count=1))
            os._exit(0)
        os.wait()


if __name__ == "__main__":
    main()
