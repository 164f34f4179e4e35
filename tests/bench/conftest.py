import click.testing
import pytest

import conncomp
from conncomp.bench import machine
from conncomp.cli._command import command


@pytest.fixture(autouse=True)
def _same_threads():
    threads = conncomp.get_num_threads()
    yield
    conncomp.set_num_threads(threads)


@pytest.fixture(autouse=True)
def _small_cache(monkeypatch):
    """Measure the copy rate on little memory."""
    monkeypatch.setattr(machine, "_last_level_cache", lambda: 1 << 20)


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run `conncomp bench` in an empty folder, in this process."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        return click.testing.CliRunner().invoke(
            command, ["bench", *map(str, arguments)], prog_name="conncomp"
        )

    return run
