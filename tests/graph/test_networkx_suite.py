"""NetworkX's own tests of components and trees, which call the backend."""

import json
from pathlib import Path

import networkx
import pytest

from _conncomp_networkx import FUNCTIONS
from peers.test_peers import Suite, compare, run

FOLDERS = ("networkx/algorithms/components", "networkx/algorithms/tree")


@pytest.mark.soak
def test_suite_of_networkx(tmp_path):
    root = Path(networkx.__file__).parents[1]
    outcomes, _ = run(Suite("networkx", (), FOLDERS), tmp_path, root, tmp_path)
    assert compare(outcomes, {}) == []
    assert len(outcomes) > 200
    calls = json.loads((tmp_path / "outcomes.json").read_text())["calls"]
    assert set(FUNCTIONS) <= set(calls)
