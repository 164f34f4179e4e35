"""Which tests and cases the gate has, and which a soak."""

import signal
import subprocess
import sys
from collections import Counter
from itertools import combinations, product
from pathlib import Path
from types import SimpleNamespace

import pytest

import dealt
from dealt import covering, deal

ROOT = Path(__file__).parents[1]
PAIRS, EACH_VALUE, NOTHING = {"gate": "pairs"}, {"gate": "values"}, {}
VALUES = {"axis": (0, 1, 2), "kind": ("a", "b", "c"), "shape": ([2], [3]), "whole": (True, 1)}
CASES = [dict(zip(VALUES, case, strict=True)) for case in product(*VALUES.values())]

WAYS = [("a", {}), ("a", {"tile": 4}), ("b", {}), ("b", {"tile": 8})]


@pytest.fixture(autouse=True)
def _without_a_soak(monkeypatch):
    for name in ("SOAK", "SANITIZED"):
        monkeypatch.setattr(dealt, name, False)


class Item:
    """What `deal` asks of a test of pytest, whose axis and kind are given together."""

    def __init__(self, name, values, marks=(), gpu=False):
        self.parent, self.originalname, self.gpu = "test_this.py", name, gpu
        self.callspec, self.marks = SimpleNamespace(params=values), marks

    def get_closest_marker(self, name):
        assert name == "gpu"
        return self.gpu or None

    def iter_markers(self, name):
        if name == "soak":
            return [SimpleNamespace(kwargs=given) for given in self.marks]
        return [SimpleNamespace(args=[names]) for names in ("axis, kind", ["shape"])]


def items(*marks, gpu=False):
    return [Item("test_it", values, marks, gpu) for values in CASES]


def pairs(found):
    """Return the pairs of values that cases have; `repr` tells True from 1."""
    values = [
        [f"{name}={value!r}" for name, value in each.callspec.params.items()] for each in found
    ]
    return {pair for case in values for pair in combinations(case, 2)}


def test_each_pair_of_values_is_in_a_case():
    everything = items(PAIRS)
    kept, left_out = deal(everything)
    assert pairs(kept) == pairs(everything)
    assert 9 <= len(kept) <= 12 < len(everything)
    assert kept == [each for each in everything if each not in left_out]
    assert len(kept) + len(left_out) == len(everything)


def test_what_is_not_marked_or_needs_a_gpu_is_kept():
    others = [*items(), *items(PAIRS, gpu=True)]
    assert deal(others) == (others, [])


def test_tests_are_dealt_one_by_one():
    both = [Item(name, values, [PAIRS]) for values in CASES for name in ("test_a", "test_b")]
    kept, _ = deal(both)
    for name in ("test_a", "test_b"):
        assert pairs([each for each in kept if each.originalname == name]) == pairs(both)


def test_each_value_is_in_a_case_and_none_in_many_more():
    """Nine values of axes with kinds, two of shapes, and two of what no decorator has."""
    everything = items(EACH_VALUE)
    kept, left_out = deal(everything)
    values = [each.callspec.params for each in kept]
    assert len({(of["axis"], of["kind"]) for of in values}) == len(kept) == 9
    for name in ("shape", "whole"):
        counts = Counter(repr(of[name]) for of in values)
        assert sorted(counts.values()) == [4, 5]
    assert len(kept) + len(left_out) == len(everything)


def test_what_is_for_a_soak_is_left_out():
    """Whether the test is marked, or one of its cases."""
    others, soaked = items(PAIRS), [*items(PAIRS, NOTHING), *items(NOTHING)]
    kept, left_out = deal([*others, *soaked])
    assert set(soaked) <= set(left_out)
    assert kept == deal(others)[0]


def test_all_of_them_in_a_soak(monkeypatch):
    monkeypatch.setattr(dealt, "SOAK", True)
    everything = [*items(PAIRS), *items(NOTHING)]
    assert deal(everything) == (everything, [])


def test_values_of_one_parameter_are_all_kept():
    alone = [Item("test_it", {"seed": seed}, [PAIRS]) for seed in range(9)]
    assert deal(alone) == (alone, [])


def inputs_of_ways(forms):
    """Return which of six graphs in three forms each has: two ways, each before a variant of it."""
    graphs = [f"{name}{form}" for name, form in product("uvwxyz", range(3))]
    triples = dealt.dealt(WAYS, graphs, forms=forms)
    return [[graph for name, options, graph in triples if (name, options) == way] for way in WAYS]


def test_a_way_has_each_graph_in_a_form_and_a_variant_a_share():
    first, variant, second, other = inputs_of_ways(forms=3)
    for graphs in (first, second):
        assert [name for name, form in graphs] == list("uvwxyz")
        assert {form for name, form in graphs} == set("012")
    assert not set(first) & set(second)
    assert len(variant) == len(other) == 3
    assert not set(variant) & set(other)
    assert [len(graphs) for graphs in inputs_of_ways(forms=1)] == [18, 3, 18, 3]


@pytest.mark.parametrize(("name", "counts"), [("SOAK", [18, 6, 18, 6]), ("SANITIZED", [6] * 4)])
def test_a_soak_and_sanitizers_have_a_larger_share(monkeypatch, name, counts):
    monkeypatch.setattr(dealt, name, True)
    assert [len(graphs) for graphs in inputs_of_ways(forms=3)] == counts


def test_few_sets_have_what_all_have():
    assert covering([{1}, {1, 2}, {3}, {2, 3}]) == [1, 2]
    assert covering([]) == []


def test_a_share_that_there_is_not():
    with pytest.raises(ValueError, match="gate must be 'pairs' or 'values', got 'some'"):
        deal(items({"gate": "some"}))


def pytest_in_a_process(*words, **options):
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_modules_know_the_switch_when_they_are_imported():
    file, test = "tests/graph/test_connected_components.py", "test_large_graphs_equal_scipy["
    gate, soak = (
        pytest_in_a_process("--collect-only", file, *of).count(test) for of in ([], ["--soak"])
    )
    assert 0 < gate < soak


def test_workers_know_the_switch():
    said = pytest_in_a_process("-n", "1", "--soak", __file__, "-k", "this_is_a_soak")
    assert "1 passed" in said


@pytest.mark.soak
def test_this_is_a_soak(request):
    assert request.config.getoption("soak")


def test_ctrl_c_interrupts_where_a_shell_ignores_it():
    """As one does that starts the tests in the background."""
    test = "tests/graph/test_reading.py::test_can_be_interrupted"
    for workers in "01":
        pytest_in_a_process(
            *("-n", workers, test), preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)
        )
