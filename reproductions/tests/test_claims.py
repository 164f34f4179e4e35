"""Claims: each has bounds on both sides, and what is judged is in the words and in the results."""

import json
import math
from pathlib import Path
from string import Formatter

import pytest

import reproductions
from reproductions import PAPERS
from reproductions.claims import Bounds, Claim, Words, bounds_of, ratio, share
from reproductions.paper import Exhibit, judge

FOLDER = Path(reproductions.__file__).parent
WORDS = {name: Words(str(FOLDER / name.replace("-", "_") / "words")) for name in PAPERS}
CLAIMS = [
    (paper, f"{exhibit}.{name}")
    for paper, words in WORDS.items()
    for exhibit, named in words.claims.items()
    for name in named
]
# What is told and not measured, as another program or an idea would have to be.
TOLD = {
    ("ecl-cc-2018", "tables.remark"),
    ("ecl-cc-2018", "figure-17.parallel"),
    ("ecl-cc-2018", "figure-17.serial"),
    ("ecl-cc-2018", "figure-17.slowest"),
    ("ecl-cc-2018", "thread-scaling.small"),
    ("hawick-2010", "figure-19.textures"),
    ("hawick-2010", "rows-of-kernel-2.texture"),
    ("maddix-2014", "profile.image-data"),
    ("maddix-2014", "further-work.cpu"),
    ("maddix-2014", "further-work.kernel-d"),
    ("wang-2013", "rounds.approach"),
    ("wang-2013", "rounds.atomics"),
}
RESULTS = sorted((FOLDER / "results").glob("*/*/*.json"))


def judged(paper, key, value):
    """Return a claim of a value, with numbers in all its places."""
    exhibit, _, name = key.partition(".")
    words = WORDS[paper].claims[exhibit][name]
    reason = words.get("because") or WORDS[paper].reasons.get(words.get("reason"), "")
    places = {
        place
        for text in (words["says"], reason)
        for _, place, *_ in Formatter().parse(text)
        if place
    }
    said = words.get("said", 2.0)
    return WORDS[paper].claim(key, "", value, **dict.fromkeys(places | {"said"}, said))


@pytest.mark.parametrize(("paper", "key"), CLAIMS)
def test_each_judge_below_within_and_above(paper, key):
    if (paper, key) in TOLD:
        assert judged(paper, key, 1.0).holds is None
        return
    low, high = judged(paper, key, None).within
    assert -math.inf < low <= high
    below, above = low - max(1e-6, abs(low) / 100), high + max(1e-6, abs(high) / 100)
    assert judged(paper, key, below).holds is False
    for inside in (low, high, (low + high) / 2):
        assert judged(paper, key, inside).holds is True
    # An order alone is claimed where there is no highest value, and 1 is what it turns around at.
    assert judged(paper, key, above).holds is (high == math.inf)
    assert high < math.inf or low > 0
    assert judged(paper, key, None).holds is None


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: "/".join(path.parts[-3:]))
def test_results_are_judged_as_the_judges_judge(path):
    """So that no page has a verdict of another version; `--judge` writes them anew."""
    result = json.loads(path.read_text())
    exhibit = PAPERS[result["paper"]].exhibits[result["exhibit"]]
    claims = [claim.as_dict() for claim in judge(exhibit, result)]
    assert result["claims"] == json.loads(json.dumps(claims))
    for claim in claims:
        assert claim["holds"] is not False or claim["because"]


class TestJudge:
    CLAIMS = (
        Claim("twice", "3", True, value=3.0, within=Bounds(2, 4)),
        Claim("right", "all", True, value=1.0, within=Bounds(1, 1), of_inputs=False),
        Claim("thrice", "9", False, "of age", 9.0, Bounds(2, 4)),
    )

    def verdicts(self, paper_device=None, **result):
        exhibit = Exhibit(
            "", None, None, {}, lambda findings: list(self.CLAIMS), paper_device=paper_device
        )
        claims = judge(exhibit, {"device": "cpu", "size": "paper"} | result)
        return [claim.holds for claim in claims], {claim.because for claim in claims}

    def test_of_the_paper(self):
        assert self.verdicts() == ([True, True, False], {"", "of age"})
        assert self.verdicts(shares={"a": 1, "b": 2})[0] == [True, True, False]

    def test_toys_are_not_judged(self):
        verdicts, reasons = self.verdicts(size="small")
        assert verdicts == [None, True, None]
        assert "inputs of size small are toys" in reasons

    def test_smaller_inputs_are_not_judged(self):
        verdicts, reasons = self.verdicts(shares={"a": 1, "b": 0.25})
        assert verdicts == [None, True, None]
        assert "1 of 2 inputs are smaller than the paper's" in reasons

    def test_another_device_is_not_judged(self):
        assert self.verdicts("cuda")[0] == [None, True, None]
        assert self.verdicts("cuda", device="cuda")[0] == [True, True, False]


class TestBounds:
    def test_of_words(self):
        assert bounds_of({"within": [1, 2]}, 9) == (1, 2)
        assert bounds_of({"said": 4, "factor": 2}) == (2, 8)
        assert bounds_of({"said": 4, "factor": 2}, 6) == (3, 12)
        assert bounds_of({"difference": 1}, 6) == (5, 7)
        assert bounds_of({}) is None

    def test_in_json(self):
        claim = Claim("", "", True, value=math.inf, within=Bounds(1, math.inf))
        known = claim.as_dict()
        assert (known["value"], known["within"]) == (None, [1, None])
        json.dumps(known, allow_nan=False)

    def test_shares(self):
        assert share([True, True, False, True]) == 0.75
        assert share([]) is None
        assert ratio(1, 4) == 0.25
        assert ratio(None, 4) is ratio(4, None) is ratio(4, 0) is None


class TestWords:
    @pytest.fixture
    def words(self, tmp_path):
        (tmp_path / "claims.toml").write_text(
            "[reasons]\nhubs = 'of hubs'\n[figure-1]\n"
            "a.says = 'at most {most:.1f}'\na.within = [0, 2]\na.because = 'of {why}'\n"
            "b.says = 'never'\nb.within = [0, 0]\nb.reason = 'hubs'\n"
            "c.says = '{said:g} times'\nc.factor = 1.5\nc.of_inputs = false\nd.says = 'told'\n"
        )
        return Words(str(tmp_path / "words.py"))

    @pytest.mark.parametrize(("value", "holds"), [(0, True), (None, None)])
    def test_reasons_are_those_of_failures(self, words, value, holds):
        told = words.claim("figure-1.b", "at times", value)
        assert (told.says, told.here, told.holds, told.because) == ("never", "at times", holds, "")

    def test_failures(self, words):
        told = words.claim("figure-1.a", "3.0", 3.0, most=2, why="age")
        assert (told.says, told.holds, told.because) == ("at most 2.0", False, "of age")
        assert words.claim("figure-1.b", "once", 1).because == "of hubs"
        assert words.claim("figure-1.b", "once", 1, because="so").because == "so"

    def test_what_is_said(self, words):
        verdicts = [words.claim("figure-1.c", "", value, said=6).holds for value in (3, 5, 8, 10)]
        assert verdicts == [False, True, True, False]
        assert not words.claim("figure-1.c", "", said=6).of_inputs
        assert words.claim("figure-1.d", "", 1).holds is None

    def test_unknown(self, words):
        with pytest.raises(KeyError):
            words.claim("figure-1.e", "")
