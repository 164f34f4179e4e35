"""The package: how its command is called, what is installed, and the results in the repository."""

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import click.testing
import pytest
import yaml

import conncomp
import reproductions
from conncomp.cli._command import command
from conncomp.cli.bench import report as bench_paper
from reproductions import PAPERS
from reproductions.paper import files_of, is_done

FOLDER = Path(reproductions.__file__).parent
ROOT = FOLDER.parent
BOUNDS = {"within", "said", "factor", "difference"}
KEYS_OF_CLAIMS = {"says", "because", "reason", "of_inputs"} | BOUNDS
PROJECT = tomllib.loads((FOLDER / "pyproject.toml").read_text())


def test_the_product_knows_nothing_of_it():
    imported = re.compile(r"^\s*(?:from|import) reproductions\b", re.MULTILINE)
    for path in Path(conncomp.__file__).parent.rglob("*.py"):
        assert not imported.search(path.read_text()), path


def run(*words, cwd=ROOT, **options):
    command = [sys.executable, *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=120, **options)


def test_it_runs_in_a_clone():
    done = run("-m", "reproductions", "wang-2013", "--list")
    assert (done.returncode, done.stderr) == (0, "")
    assert all(exhibit in done.stdout for exhibit in PAPERS["wang-2013"].exhibits)


def test_a_mistake_is_one_line():
    done = run("-m", "reproductions", "wang-2013", "--figure", "99")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("conncomp: wang-2013 has no figure-99; there are ")
    assert line.endswith("See 'python -m reproductions --help'.")


def test_where_it_is_installed_it_is_a_command_of_conncomp(monkeypatch):
    ((group, entries),) = PROJECT["project"]["entry-points"].items()
    known = EntryPoints(EntryPoint(name, value, group) for name, value in entries.items())
    monkeypatch.setattr(bench_paper, "entry_points", lambda **wanted: known.select(**wanted))
    runner = click.testing.CliRunner()
    done = runner.invoke(command, ["bench", "paper", "weigel-2011", "--list"])
    assert (done.exit_code, done.stderr) == (0, "")
    assert all(exhibit in done.stdout for exhibit in PAPERS["weigel-2011"].exhibits)
    done = runner.invoke(command, ["bench", "paper", "weigel-2011"], prog_name="conncomp")
    assert done.exit_code == 2
    assert done.stderr.endswith("See 'conncomp bench paper --help'.\n")


def test_nothing_is_drawn_without_matplotlib(tmp_path):
    blocked = (
        "import sys; sys.modules['matplotlib'] = None; "
        "sys.argv[1:] = ['wang-2013', '--exhibit', 'sizes', '-o', 'out']; "
        "import runpy; runpy.run_module('reproductions', run_name='__main__')"
    )
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = run("-c", blocked, cwd=tmp_path, env=os.environ | {"PYTHONPATH": paths})
    assert done.returncode == 2
    assert done.stderr == (
        "conncomp: this drawing needs matplotlib: pip install 'conncomp[plots]'\n"
    )
    assert not list(tmp_path.iterdir())


def test_citation_has_the_papers():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors", "references"} <= set(citation)
    references = {
        (reference["authors"][0]["family-names"].lower(), reference["year"]): reference
        for reference in citation["references"]
    }
    assert len(citation["references"]) == len(references) == len(PAPERS) == 5
    for paper in PAPERS.values():
        matches = [
            reference
            for (author, year), reference in references.items()
            if author in paper.citation.lower() and str(year) in paper.citation
        ]
        assert len(matches) == 1, paper.citation
        assert all(a["family-names"] in paper.citation for a in matches[0]["authors"])


@pytest.mark.parametrize("paper", PAPERS.values(), ids=PAPERS)
def test_results_are_of_exhibits(paper):
    """So that a page shows each, and none is of an exhibit that there is no more."""
    measured = [*(FOLDER / "results" / paper.name).rglob("*.json")]
    assert measured
    for path in measured:
        assert path == files_of(path.stem, path.parent)[0]
        assert path.stem in paper.exhibits
        size = json.loads(path.read_text())["size"]
        assert is_done(paper, path.stem, path.parent, path.parent.name, size)


@pytest.mark.parametrize("paper", PAPERS.values(), ids=PAPERS)
def test_exhibits_are_those_of_the_file(paper):
    """In its order, with an estimate for each size on each device."""
    folder = FOLDER / paper.name.replace("-", "_")
    told = tomllib.loads((folder / "exhibits.toml").read_text())["exhibits"]
    assert list(told) == list(paper.exhibits)
    for exhibit in paper.exhibits.values():
        assert exhibit.seconds.keys() <= {"cpu", "cuda"}
        assert {len(of_sizes) for of_sizes in exhibit.seconds.values()} == {3}


@pytest.mark.parametrize("paper", PAPERS.values(), ids=PAPERS)
def test_published_tables_are_whole(paper):
    """Each names its source, and has a value, or a dash, in every column of every row."""
    folder = FOLDER / paper.name.replace("-", "_")
    published = tomllib.loads((folder / "published.toml").read_text())
    assert published["source"].split(",")[0].split()[-1] in paper.citation
    tables = [value for value in published.values() if isinstance(value, dict)]
    for table in tables:
        if "columns" in table:
            rows = table["rows"]
            for row in rows.values() if isinstance(rows, dict) else rows:
                assert len(row) == len(table["columns"])


@pytest.mark.parametrize("paper", PAPERS.values(), ids=PAPERS)
def test_claims_are_held_against_something(paper):
    """No claim stands in the file that nothing measured is held against."""
    folder = FOLDER / paper.name.replace("-", "_")
    source = "".join(path.read_text() for path in folder.glob("*.py"))
    claims = tomllib.loads((folder / "claims.toml").read_text())
    reasons = claims.pop("reasons", {})
    told = {words.get("reason") for named in claims.values() for words in named.values()}
    for exhibit, named in claims.items():
        for name, words in named.items():
            assert f'"{exhibit}.{name}"' in source or f'"{name}"' in source, (exhibit, name)
            assert words.keys() <= KEYS_OF_CLAIMS
            assert words["says"]
    for reason in reasons:
        assert reason in told or f'reasons["{reason}"]' in source
    assert told - {None} <= set(reasons)
