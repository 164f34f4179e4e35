import json
from pathlib import Path

import pytest

from conncomp.bench.report import find_curves, render
from conncomp.bench.results import load, save
from conncomp.bench.suites import SUITES
from html_page import Page


@pytest.fixture
def sweep(make_result, make_row, make_run):
    def sweep(graph=False):
        rows = []
        for k in (256, 512, 1024):
            size = {"arcs": k**2} if graph else {"elements": k**2, "shape": (k, k)}
            runs = [make_run(seconds=(k / 1e5,) * 3), make_run("cc3d", (k / 2e4,) * 3, "peer")]
            rows.append(make_row(f"spiral-{k}", runs, graph=graph, **size))
        rows[0] = make_row(
            "spiral-256",
            [make_run(), make_run("cc3d", (), "peer", status="wrong", reason="7 is not 3")],
            graph=graph,
            stand_in=True,
        )
        return make_result(*rows)

    return sweep


def test_page(sweep):
    text = render([sweep(), sweep(graph=True)])
    page = Page(text)
    for word in ("spiral-256 *", "spiral-512", "spiral-1024", "a CPU", "0123abc", "numpy 2.0"):
        assert word in page.text
    for word in ("7 is not 3", "wrong", "10.0 GB/s", "10.2 ms", "51.2 ms", "5.00"):
        assert word in page.text
    # Curves and bars, for each of the two.
    assert page.tags.count("svg") == 4
    assert page.tags.count("script") == page.tags.count("img") == 0
    assert all(link.startswith("#") for link in page.links)
    assert "url(http" not in text
    assert "@import" not in text


def test_the_same_again(sweep):
    assert render([sweep()]) == render([sweep()])


@pytest.mark.parametrize(
    "evil", ["<script>alert(1)</script>", '"><b a="', "--><u>", "$x^$_{", "_a"]
)
def test_names_are_only_text(make_result, make_row, make_run, evil):
    def runs(k):
        wrong = make_run("wrong", (), "peer", status="wrong", reason=evil)
        return [make_run(), make_run(evil, (2.0 * k,) * 3, "peer"), wrong]

    rows = [
        make_row(f"{evil}{k}", runs(k), evil, description=evil, dtype=evil, elements=10**k)
        for k in (1, 2, 3)
    ]
    page = Page(render([make_result(*rows, commit=evil, versions={evil: evil}, size=evil)]))
    for tag in ("script", "b", "u"):
        assert tag not in page.tags
    assert page.tags.count("svg") == 2
    assert page.text.count(evil) > 20


def test_little_to_show(make_result, make_row, make_run):
    failed = make_run(seconds=(), status="failed", reason="no memory")
    rows = [
        make_row("nothing", ()),
        make_row("failed", [failed]),
        make_row("peer", [make_run("x", (1.0,), "peer")]),
        make_row("other", [make_run("y", (1.0,), "peer")], "peers only", floor_bytes=0),
        make_row("empty", suite="e", components=0, elements=0, shape=(0,), floor_bytes=0),
    ]
    for result in (make_result(), make_result(*rows)):
        assert "svg" not in Page(render([result])).tags


def test_curves(make_row):
    def rows(*names, graph=True, **extra):
        return [
            make_row(name, graph=graph, **{key: values[k] for key, values in extra.items()})
            for k, name in enumerate(names)
        ]

    (found,) = find_curves(rows("n-3m", "n-1m", "n-20m", arcs=[30, 10, 200]))
    assert (found.title, found.axis, found.sizes) == ("n-…m", "arcs", [10, 30, 200])
    (found,) = find_curves(rows("a-1", "a-2", "a-3", vertices=[1, 2, 3]))
    assert found.axis == "vertices"
    (found,) = find_curves(rows("k-1e0", "k-1e1", "k-1e2", components=[1, 10, 100]))
    assert found.axis == "components"
    assert find_curves(rows("a-1", "a-2", arcs=[1, 2])) == []
    assert find_curves(rows("a-1", "a-2", "a-3", arcs=[1, 3, 2])) == []
    assert find_curves(rows("a-1", "a-2", "a-3", arcs=[100, 101, 102])) == []
    assert find_curves(rows("p-10", "p-50", "p-90", graph=False, components=[9, 5, 1])) == []


def test_command(run, sweep):
    save("a.json", sweep())
    save("b.json", sweep(graph=True))
    result = run("report", "a.json", "b.json", "-o", "r.html")
    assert (result.exit_code, result.output) == (0, "")
    assert Page(Path("r.html").read_text()).tags.count("section") == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("a.json", "bad.json", "-o", "r.html"),
        ("a.json", "missing.json", "-o", "r.html"),
        ("a.json", "-o", "r.txt"),
        ("a.json", "-o", "nowhere/r.html"),
        ("a.json",),
        ("-o", "r.html"),
        ("r.html", "-o", "r.html"),
    ],
)
def test_command_on_bad_input(run, sweep, write, arguments):
    save("a.json", sweep())
    write("bad.json", "{")
    write("r.html", "before")
    before = sorted(Path().iterdir())
    result = run("report", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert len(result.stderr.splitlines()) == 1
    assert sorted(Path().iterdir()) == before
    assert Path("r.html").read_text() == "before"


def test_of_what_was_measured(run):
    arguments = ("graph", "--suite", "wang", "--size", "tiny", "--algorithm", "auto")
    assert run(*arguments, "--algorithm", "scipy", "-o", "a.json").exit_code == 0
    assert run("report", "a.json", "-o", "r.html").exit_code == 0
    page = Page(Path("r.html").read_text())
    for row in load("a.json").rows:
        assert row.input in page.text
    # By vertices and by components, and relative to ours.
    assert page.tags.count("svg") == 2
    assert "vertices-…m" in page.text
    assert "components-…" in page.text
    result = run("compare", "a.json", "a.json", "--json")
    assert {change["verdict"] for change in json.loads(result.stdout)["changes"]} == {"same"}


@pytest.mark.parametrize("kind", SUITES)
def test_of_every_kind(run, kind):
    """What `conncomp bench KIND` writes, `report` and `compare` read."""
    suite = next(iter(SUITES[kind]))
    measured = (kind, "--suite", suite, "--size", "tiny", "--algorithm", "auto", "-o", "a.json")
    result = run(*measured)
    assert result.exit_code == 0, result.output
    result = run("report", "a.json", "-o", "r.html")
    assert (result.exit_code, result.output) == (0, "")
    page = Page(Path("r.html").read_text())
    title = {"grid": "Arrays", "graph": "Graphs", "strong": "Strong components"}[kind]
    assert f"{title} on" in page.text
    result = run("compare", "a.json", "a.json")
    assert result.exit_code == 0, result.output


def test_kinds_are_told_apart(run, make_result, make_row):
    save("a.json", make_result(make_row(graph=True)))
    strong = json.loads(Path("a.json").read_text()) | {"kind": "strong"}
    Path("b.json").write_text(json.dumps(strong))
    result = run("compare", "a.json", "b.json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "conncomp: one result is of graphs, the other of strong components\n"
