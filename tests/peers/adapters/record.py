"""Write what became of each test, and how often ours was called, to a file.

CONNCOMP_PEERS_OUTCOMES names it. Loaded before the adapters, so that they find what is counted.
"""

import functools
import json
import os
from pathlib import Path

import conncomp

OUTCOMES = {}
CALLS = {}


def counted(function, name):
    @functools.wraps(function)
    def call(*arguments, **options):
        CALLS[name] = CALLS.get(name, 0) + 1
        return function(*arguments, **options)

    return call


for name in ("label", "connected_components"):
    setattr(conncomp, name, counted(getattr(conncomp, name), name))


def pytest_runtest_logreport(report):
    if report.when != "call" and report.outcome == "passed":
        return
    outcome = report.outcome
    if hasattr(report, "wasxfail"):
        outcome = "xpassed" if outcome == "passed" else "xfailed"
    OUTCOMES[report.nodeid] = outcome


def pytest_collectreport(report):
    if report.failed:
        OUTCOMES[report.nodeid] = "failed"


def pytest_sessionfinish():
    found = {"outcomes": OUTCOMES, "calls": CALLS}
    Path(os.environ["CONNCOMP_PEERS_OUTCOMES"]).write_text(json.dumps(found))
