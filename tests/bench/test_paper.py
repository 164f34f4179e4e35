"""``conncomp bench paper``: a command of another package, which may be missing."""

from importlib.metadata import EntryPoint, EntryPoints

import click
import pytest

from conncomp.cli.bench import report as bench_paper


@click.command()
@click.argument("name")
@click.option("--figure")
def stand_in(name, figure):
    """Stand in for the command of that package."""
    click.echo(f"{click.get_current_context().info_name}: {name}, figure {figure}")


@pytest.fixture
def install(monkeypatch):
    def install(*entries):
        known = EntryPoints(entries)
        monkeypatch.setattr(bench_paper, "entry_points", lambda **wanted: known.select(**wanted))

    return install


def test_where_it_is_installed(run, install):
    install(EntryPoint("paper", f"{__name__}:stand_in", "conncomp.bench"))
    done = run("paper", "--figure", "3", "some-paper")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == "conncomp bench paper: some-paper, figure 3\n"
    assert "Stand in for the command" in run("paper", "--help").stdout


@pytest.mark.parametrize("words", [(), ("--help",), ("some-paper", "--figure", "3")])
def test_where_it_is_missing(run, install, words):
    install(EntryPoint("paper", f"{__name__}:stand_in", "of.something.else"))
    done = run("paper", *words)
    assert (done.exit_code, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("conncomp: the figures of papers are a package of their own: ")
    assert "pip install ./reproductions" in line
    assert "python -m reproductions" in line


def test_it_is_listed(run):
    assert "paper " in run("--help").stdout
