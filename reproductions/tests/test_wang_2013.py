"""``python -m reproductions wang-2013``, on the CPU and on the host executor with its own clock."""

from itertools import permutations

import pytest

from reproductions import PAPERS
from reproductions.tests.paper_results import measured
from reproductions.wang_2013 import graphs, published
from reproductions.wang_2013.hooking import MOST_ROUNDS, hook, jump, soman, wang

EXHIBITS = PAPERS["wang-2013"].exhibits
ON_CPU = {name for name, exhibit in EXHIBITS.items() if "cpu" in exhibit.seconds}
COMMAND = "wang-2013", "--all", "-o", "out"


def test_published_values():
    for gpu, cpu, speedup in published.CHARITIES.values():
        assert cpu / gpu == pytest.approx(speedup, abs=0.05)


class TestHooking:
    def test_first_rounds_of_the_report(self):
        """Its parents after round 1, and the two trees where '1' wins."""
        outcome = hook(6, published.EDGES, wang, (0, 2, 3, 4, 1))
        assert outcome.history[1] == published.FIRST_ROUND
        assert outcome.history[2] == [1, 1, 2, 1, 2, 2]
        assert (outcome.sent_back, len(set(outcome.roots))) == (1, 1)

    def test_soman_as_printed_does_not_end(self):
        outcome = hook(6, published.EDGES, soman)
        assert len(outcome.history) == MOST_ROUNDS + 1
        assert outcome.unmarked == published.NEVER_MARKED

    def test_every_order_ends_in_a_star(self):
        for order in permutations(range(5)):
            outcome = hook(6, published.EDGES, wang, order)
            assert outcome.unmarked == []
            assert len(set(outcome.roots)) == 1

    def test_jump(self):
        assert jump([1, 2, 2, 2]) == [2, 2, 2, 2]
        assert jump([1, 0, 0]) is None


def test_on_the_cpu(run):
    results = measured(run, *COMMAND)
    assert set(results) == ON_CPU
    claims = [claim["holds"] for claim in results["worked-example"]["claims"]]
    assert claims == [True] * 5
    for name in ON_CPU - {"worked-example"}:
        assert {row["status"] for row in results[name]["rows"]} == {"ok"}


@pytest.mark.soak
def test_on_a_gpu(run, kernels_on_host):
    results = measured(run, *COMMAND, "--device", "cuda")
    assert set(results) == set(EXHIBITS)
    charities = results["charities"]["rows"]
    sizes = {(row["graph"], row["vertices"], row["edges"]) for row in charities}
    assert sizes == {("charity-2k", 1953, 1999), ("charity-4k", 3831, 3999)}
    ways = {row["way"] for row in charities}
    assert {graphs.HOOKING, graphs.ONE_JUMP, graphs.SERIAL} < ways
    for name in ("charities", "sizes", "components", "rounds"):
        assert {row["status"] for row in results[name]["rows"]} == {"ok"}
    assert {row["components"] for row in results["sizes"]["rows"]} == {5}
    components = [
        row["components"] for row in results["components"]["rows"] if row["way"] == graphs.HOOKING
    ]
    assert components[0] == 1
    assert components == sorted(set(components))
    for row in results["rounds"]["rows"]:
        assert 1 <= row["sweeps"] < 20


@pytest.mark.soak
def test_all_given_up(run, kernels_on_host, monkeypatch):
    """Where everything takes too long, results say so."""
    monkeypatch.setitem(graphs.LIMITS, "small", 1e-9)
    results = measured(run, *COMMAND, "--device", "cuda")
    for row in results["rounds"]["rows"]:
        assert (row["seconds"], row["sweeps"]) == (None, None)
        assert row["reason"].startswith("given up")
