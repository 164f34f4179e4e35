"""The pages of the papers: what they tell of results beside the pictures."""

import json
import sys

import pytest

from pages import ROOT

sys.path.append(str(ROOT / "docs"))
sys.path.append(str(ROOT))

pytest.importorskip("click")
pytest.importorskip("PIL")

import papers_page

from reproductions import PAPERS

RESULTS = ROOT / "reproductions" / "results"


@pytest.mark.parametrize("paper", PAPERS.values(), ids=PAPERS)
def test_summaries(paper):
    """Five lines: what was found, what holds and what has turned around, in this order."""
    kinds = [line.partition(":")[0] for line in paper.summary]
    assert len(kinds) == 5
    order = ["Found", "Holds today", "Turned around"]
    assert set(kinds) == set(order)
    assert kinds == sorted(kinds, key=order.index)


@pytest.mark.parametrize("paper", PAPERS.values(), ids=PAPERS)
def test_a_page_has_all_that_was_measured(paper, tmp_path, monkeypatch):
    """A title, a small picture that leads to each exhibit, and a verdict with bounds for claims."""
    monkeypatch.setattr(papers_page, "_draw", lambda exhibit, result, path: None)
    text = "\n".join(papers_page._paper(paper, RESULTS, tmp_path))
    first, underline, *_ = text.splitlines()
    assert (first, set(underline)) == (paper.title, {"="})
    for name, exhibit in paper.exhibits.items():
        assert f".. _{paper.name}-{name}:" in text
        measured = papers_page._measured(paper, name, RESULTS)
        assert (f":link: {paper.name}-{name}\n" in text) == bool(measured)
        for result in measured.values():
            assert result["created"][:10] in text
        assert papers_page._plain(exhibit.title) in text
    verdicts = [line.strip("- ") for line in text.splitlines() if line.strip("- ") in VERDICTS]
    claims = [
        claim["holds"]
        for path in sorted((RESULTS / paper.name).rglob("*.json"))
        for claim in json.loads(path.read_text())["claims"]
    ]
    told = [papers_page.VERDICTS[holds] for holds in claims]
    assert sorted(verdicts) == sorted(told)


VERDICTS = set(papers_page.VERDICTS.values())


@pytest.mark.parametrize(
    ("within", "words"),
    [
        ([1, 1], "all"),
        ([32, 32], "32"),
        ([3.3333333, 7.5], "3.33 to 7.5"),
        ([2, None], "from 2 on"),
        (None, ""),
    ],
)
def test_bounds(within, words):
    assert papers_page._bounds({"within": within}) == words


def test_smaller_inputs_are_named():
    shares = {"internet": 1, "uk-2002": 5_000_000 / 523_574_516, "grid": 4}
    assert papers_page._shares({"shares": shares}) == " Smaller than published: uk-2002 1/105."
    assert papers_page._shares({}) == papers_page._shares({"shares": {"a": 1}}) == ""


def test_versions():
    result = {"created": "2026-11-22T10:00:00+00:00", "versions": {"conncomp": "0.1.0"}}
    assert papers_page._version(result | {"commit": None}) == "2026-11-22, version 0.1.0"
    assert papers_page._version(result | {"commit": "abcdef0123"}).endswith("commit abcdef0")
