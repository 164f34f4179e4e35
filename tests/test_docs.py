"""What the documentation lists is what is public, and its commands do what it says."""

import inspect
import os
import re
import subprocess
import sys

import pytest

from pages import PAGES, ROOT, blocks

sys.path.append(str(ROOT / "docs"))

import command_line_page
import public_api

LISTED = re.compile(r"^   ([\w.]+)$", re.MULTILINE)
MODULE = re.compile(r"^\.\. currentmodule:: (.*)$", re.MULTILINE)

# What README's first two blocks and a GPU need is installed by then.
INSTALLS = "pip install"
NEEDS_GPU = "--device cuda"


def listed_in(page):
    """Return the full names that a page of the reference lists."""
    text = page.read_text()
    module = MODULE.search(text)
    tables = re.findall(r"^\.\. autosummary::\n((?:   .*\n|\n)*)", text, re.MULTILINE)
    return [f"{module[1]}.{name}" for table in tables for name in LISTED.findall(table)]


def test_reference_lists_what_is_public_once():
    listed = [
        name for page in sorted((ROOT / "docs" / "api").glob("*.rst")) for name in listed_in(page)
    ]
    assert sorted(listed) == sorted(public_api.names())


def test_reference_has_all_its_pages():
    index = (ROOT / "docs" / "api" / "index.rst").read_text()
    pages = {page.stem for page in (ROOT / "docs" / "api").glob("*.rst")}
    assert set(LISTED.findall(index)) == pages - {"index"}


def enumerators(cls):
    return getattr(cls, "__members__", ())


CLASSES = public_api.members_of_classes()


@pytest.mark.parametrize("name", CLASSES)
def test_public_members_have_entries(name):
    """Methods and properties have pages with a docstring, and fields stand in the class's own."""
    cls = public_api.find(name)
    pages = [member for members in CLASSES[name].values() for member in members]
    explained = public_api.explained(name)
    bases = [base for base in cls.__mro__ if base.__module__.startswith("conncomp.")]
    own = {key for base in bases for key in vars(base) if not key.startswith("_")}
    own -= set(enumerators(cls))
    internal = {key.rpartition(".")[2] for key in public_api.INTERNAL}
    assert own - internal - set(public_api.fields(name)) == set(pages)
    for member in pages:
        assert inspect.getdoc(getattr(cls, member)) or member in explained
    assert set(public_api.fields(name)) <= explained
    assert not any(member.startswith("_") for member in (*pages, *explained))


def test_tables_of_formats():
    """The guide to graphs has every format that `Graph.read` takes and explains."""
    import conncomp
    from conncomp.graph.inputs.formats import FORMATS

    for kind in FORMATS:
        assert f'"{kind}"' in conncomp.Graph.read.__doc__
        assert f"\n``{kind}`` " in PAGES["docs/graphs.rst"]
        assert f"\n``{kind}``\n    " in PAGES["docs/graphs.rst"]


@pytest.mark.parametrize(
    "words", ["label", "measure", "cluster", "bench grid", "simulate potts", "simulate ising"]
)
def test_command_line_has_every_option(words):
    """The page has the options that `--help` prints."""
    command = [sys.executable, "-m", "conncomp", *words.split(), "--help"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    options = set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", printed, re.M)) - {"--help"}
    [section] = [
        "\n".join(command_line_page.section(context))
        for context in command_line_page.commands()
        if context.command_path == f"conncomp {words}"
    ]
    assert len(options) > 5
    assert options == set(re.findall(r"``(?:-\w, )?(--[\w-]+)[^`]*``$", section, re.M))


INCLUDE = re.compile(r"^\.\. include:: (\S+)\n((?:   .*\n)+)", re.MULTILINE)
BOUND = re.compile(r"^   :(?:start-after|end-before): (.*)$", re.MULTILINE)


@pytest.mark.parametrize("page", [page for page in PAGES if INCLUDE.search(PAGES[page])])
def test_included_parts(page):
    """Where a part of a file is included, its first and its last words are there, in this order."""
    for name, options in INCLUDE.findall(PAGES[page]):
        text = ((ROOT / page).parent / name).read_text()
        for bound in BOUND.findall(options):
            assert bound in text, f"{name} has no {bound!r}"
            text = text.partition(bound)[2]


COMMANDS = {
    page: [block for block in blocks(page, "sh") if INSTALLS not in block and "pytest" not in block]
    for page in PAGES
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Go to a new folder with the examples, where `python` and `conncomp` are those under test."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, command in {"python": "", "conncomp": " -m conncomp"}.items():
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}"{command} "$@"\n')
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    work = tmp_path / "work"
    work.mkdir()
    (work / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(work)
    return work


@pytest.mark.soak
@pytest.mark.parametrize("page", [page for page in COMMANDS if COMMANDS[page]])
def test_commands(page, folder):
    """They run one after another, and print what the page's blocks of text say."""
    printed = set()
    for block in COMMANDS[page]:
        assert NEEDS_GPU not in block, "is run only in a block with an install"
        script = ["bash", "-euxo", "pipefail", "-c", block]
        done = subprocess.run(script, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        printed |= {" ".join(line.split()) for line in done.stdout.splitlines()}
    said = {" ".join(line.split()) for text in blocks(page, "text") for line in text.splitlines()}
    assert said <= printed


def test_installs_are_those_of_ci():
    extras = {
        line
        for page in PAGES
        for block in blocks(page, "sh")
        for line in block.splitlines()
        if line.startswith(INSTALLS)
    }
    assert extras <= {
        'pip install ".[cli]"',
        'pip install ".[cli,models,plots]"',
        'pip install "conncomp[test]"',
        'pip install ".[cuda13]"',
        'pip install "conncomp[torch]"',
        "pip install ./reproductions",
    }
