import json
from types import SimpleNamespace

import click.testing
import pytest

import conncomp
from conncomp.cli._command import command
from conncomp.kernels.cuda import launcher
from stand_in import Array, CuPy


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run():
    """Run the command in an empty folder, in this process."""

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


@pytest.fixture
def gpu(monkeypatch):
    """Put a GPU there that notes what is asked of it: arrays, and graphs of them, get there."""
    log = []

    class Gpu(CuPy):
        cuda = SimpleNamespace(
            get_current_stream=lambda: SimpleNamespace(synchronize=lambda: log.append("wait"))
        )

        def asarray(self, values, dtype=None):
            log.append("move")
            return super().asarray(values, dtype)

    class Labels(Array):
        def get(self, out=None):
            log.append("fetch")
            return super().get(out=out)

    label, connected_components = conncomp.label, conncomp.connected_components

    def label_there(image, *arguments, device, **options):
        log.append("label")
        if not isinstance(image, Array):  # as `conncomp.label` does with device="cuda"
            assert device == "cuda"
            return label(image, *arguments, **options)
        labels, count = label(image.host, *arguments, **options)
        return Labels(labels), count

    def label_graph_there(graph, connection, algorithm):
        log.append("label")
        count, labels = connected_components(graph.there, connection=connection)
        return count, Labels(labels)

    def move_graph(graph, device):
        assert device == "cuda"
        log.append("move")
        return SimpleNamespace(there=graph)

    monkeypatch.setattr(launcher, "import_cupy", Gpu)
    monkeypatch.setattr(conncomp, "label", label_there)
    monkeypatch.setattr(conncomp, "connected_components", label_graph_there)
    monkeypatch.setattr(conncomp.Graph, "to", move_graph)
    return log
