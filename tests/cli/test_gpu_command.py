"""``conncomp gpu``: what there is, and kernels that are compiled beforehand."""

from importlib import import_module

import pytest

from cli.test_command import check_failure
from conncomp._config import config

gpu_command = import_module("conncomp.cli.gpu")


@pytest.fixture
def calls(monkeypatch):
    """Note the calls that would compile, as there is no GPU."""
    noted = []
    for name, kind in gpu_command.KINDS.items():
        call = lambda device, dtype, name=name: noted.append((name, device, dtype))  # noqa: E731
        monkeypatch.setitem(gpu_command.KINDS, name, kind._replace(call=call))
    return noted


def test_without_options_it_tells_what_there_is(run, report):
    told = report("gpu")
    assert told["gpu"] == config()["gpu"]
    assert list(told["kinds"]) == list(gpu_command.KINDS)
    lines = run("gpu").stdout.splitlines()
    assert all(any(line.startswith(kind) for line in lines) for kind in gpu_command.KINDS)


def test_the_kinds_named_are_compiled(run, report, calls):
    told = report(
        "gpu", "--compile", "strong", "--compile", "label-2d", "--dtype", "f4", "--dtype", "bool"
    )
    assert calls == [
        ("label-2d", "cuda", "float32"),
        ("label-2d", "cuda", "bool"),
        ("strong", "cuda", "float32"),
    ]
    assert list(told["seconds"]) == ["label-2d", "strong"]
    table = run("gpu", "--compile", "potts").stdout.splitlines()
    assert [line.split()[0] for line in table if line.strip()] == ["kind", "potts"]


def test_all_kinds(report, calls):
    assert list(report("gpu", "--compile", "all")["seconds"]) == list(gpu_command.KINDS)
    assert [name for name, *_ in calls] == list(gpu_command.KINDS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--compile", "labels"], "labels"),
        (["--compile", "label-2d", "--dtype", "pixels"], "pixels is no dtype"),
        (["--compile", "label-2d", "--dtype", "complex64"], "complex64 is not bool"),
        (["--compile", "label-2d", "--dtype", "2("], "2( is no dtype"),
        (["--compile", "label-2d", "--dtype", "f4,(-1)f4"], "f4,(-1)f4 is no dtype"),
    ],
)
def test_what_is_refused(run, calls, options, message):
    assert message in check_failure(run("gpu", *options))
    assert not calls


def test_without_a_gpu_it_says_what_is_missing(run, monkeypatch):
    def missing(device, dtype):
        raise ImportError("work on a GPU needs CuPy")

    kind = gpu_command.KINDS["components"]
    monkeypatch.setitem(gpu_command.KINDS, "components", kind._replace(call=missing))
    result = run("gpu", "--compile", "components")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "conncomp: work on a GPU needs CuPy\n"


@pytest.mark.parametrize("name", gpu_command.KINDS)
def test_calls_are_such_as_a_user_makes(name):
    """They work on the CPU, but for the long one of models."""
    if name != "potts":
        gpu_command.KINDS[name].call("cpu", "uint8")
