import json

import click.testing
import pytest

import conncomp
from conncomp.cli._command import command


@pytest.fixture(autouse=True)
def _same_threads():
    threads = conncomp.get_num_threads()
    yield
    conncomp.set_num_threads(threads)


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run the command in an empty folder, in this process."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        return click.testing.CliRunner().invoke(
            command, [str(a) for a in arguments], prog_name="conncomp"
        )

    return run


@pytest.fixture
def report(run):
    """Run the command with --json, and return the object."""

    def report(*arguments):
        result = run(*arguments, "--json")
        assert result.exit_code == 0, result.stderr
        assert result.stderr == ""
        return json.loads(result.stdout)

    return report
