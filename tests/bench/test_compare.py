import json

import numpy as np
import pytest

from conncomp.bench.compare import compare, median_interval
from conncomp.bench.results import save


@pytest.fixture
def times():
    """Return times with the long tail of real ones."""

    def times(median, seed, count=9, noise=0.02):
        found = np.random.default_rng(seed).gamma(2, noise, count)
        return tuple((median * (1 + found)).tolist())

    return times


@pytest.fixture
def judge(make_result, make_row, make_run):
    def judge(old, new, **extra):
        pair = (make_result(make_row(runs=[make_run(seconds=s)])) for s in (old, new))
        (change,) = compare(*pair, **extra).changes
        return change

    return judge


@pytest.mark.parametrize("count", [3, 5, 9, 30])
def test_twofold_is_seen(judge, times, count):
    slower = judge(times(1, 1, count), times(2, 2, count))
    assert slower.verdict == "slower"
    assert slower.ratio == pytest.approx(2, rel=0.1)
    faster = judge(times(2, 2, count), times(1, 1, count))
    assert faster.verdict == "faster"
    assert faster.ratio == pytest.approx(1 / slower.ratio)


def test_noise_is_not(judge, times):
    # Of widely spread times that are alike, few pairs may look different.
    pairs = [(times(1, seed, noise=0.5), times(1, -seed % 10**6, noise=0.5)) for seed in range(300)]
    verdicts = [judge(*pair).verdict for pair in pairs]
    assert verdicts.count("same") >= 290


def test_a_small_change_is_not(judge):
    old, new = (1.0,) * 9, (1.04,) * 9
    assert judge(old, new).verdict == judge(new, old).verdict == "same"
    assert judge(old, new, smallest_change=0.03).verdict == "slower"
    assert judge(new, old, smallest_change=0.03).verdict == "faster"


def test_too_few(judge):
    assert judge((1.0, 1.0), (2.0,) * 9).verdict == "too few times"


@pytest.mark.soak
def test_interval_covers_the_median():
    rng = np.random.default_rng(0)
    for count in (6, 9, 20):
        inside = 0
        for sample in rng.exponential(size=(2000, count)):
            low, high = median_interval(sample.tolist())
            inside += low <= np.log(2) <= high
        assert inside / 2000 > 0.94


def test_status_and_input(make_result, make_row, make_run):
    wrong = make_run(seconds=(), status="wrong", reason="no")
    rows = [make_row("a"), make_row("b", [wrong]), make_row("c", [wrong]), make_row("d")]
    new = [make_row("a", [wrong]), make_row("b"), make_row("c", [wrong])]
    new.append(make_row("d", elements=400, shape=(20, 20)))
    found = compare(make_result(*rows), make_result(*new))
    verdicts = [change.verdict for change in found.changes]
    assert verdicts == ["broken", "mended", "not timed", "other input"]
    assert found.means == []


def test_notes_and_means(make_result, make_row, make_run):
    def rows(factors, *others):
        for name, factor in zip("ab", factors, strict=True):
            peers = [make_run(other, (1.0,) * 6, "peer") for other in others]
            yield make_row(name, [make_run(seconds=(factor,) * 6), *peers])

    old = make_result(*rows((1.0, 1.0), "cc3d", "gone"), make_row("c"))
    new = make_result(*rows((0.5, 2.0), "cc3d"), threads=4, copy_bytes_per_second=2e10)
    found = compare(old, new)
    assert found.notes == ["threads: 2, then 4"]
    assert found.only_before == ["images/a/gone", "images/b/gone", "images/c/auto"]
    assert found.only_after == []
    means = {mean.name: mean for mean in found.means}
    assert list(means) == ["auto", "cc3d"]
    assert (means["auto"].faster, means["auto"].slower, means["auto"].inputs) == (1, 1, 2)
    assert means["auto"].ratio == pytest.approx(1)
    # A machine that copies twice as fast, and takes as long, is twice as slow.
    assert means["cc3d"].normalised == pytest.approx(2)


def test_other_kind(make_result, make_row):
    with pytest.raises(ValueError, match=r"arrays.*graphs"):
        compare(make_result(make_row()), make_result(make_row(graph=True)))


def test_command(run, make_result, make_row, make_run):
    save("a.json", make_result(make_row("[b]x[/b]")))
    save("b.json", make_result(make_row("[b]x[/b]", [make_run(seconds=(2.0,) * 6)])))
    result = run("compare", "a.json", "b.json")
    assert result.exit_code == 0, result.stderr
    assert "[b]x[/b]" in result.stdout
    assert "slower" in result.stdout
    result = run("compare", "a.json", "b.json", "--json")
    found = json.loads(result.stdout)
    assert found["changes"][0]["verdict"] == "slower"
    assert found["means"][0]["ratio"] == 2


def test_command_without_rows(run, make_result):
    save("a.json", make_result())
    assert run("compare", "a.json", "a.json").exit_code == 0


def test_command_on_bad_files(run, make_result, make_row, write):
    save("a.json", make_result(make_row()))
    save("graph.json", make_result(make_row(graph=True)))
    write("bad.json", '{"format": "conn')
    for other in ("bad.json", "graph.json", "missing.json", "."):
        result = run("compare", "a.json", other)
        assert (result.exit_code, result.stdout) == (2, "")
        assert len(result.stderr.splitlines()) == 1
