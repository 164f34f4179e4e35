"""What is shipped beside the code: metadata, citation, recipe, templates, links and weights."""

import re
import tomllib
from importlib import metadata
from pathlib import Path
from urllib.parse import unquote

import pytest
import yaml

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())
PAGES = [
    *ROOT.glob("*.md"),
    *ROOT.glob("benchmarks/*.md"),
    *ROOT.glob("tests/**/*.md"),
    *ROOT.glob("src/**/*.md"),
    *ROOT.glob("reproductions/*.md"),
    *ROOT.glob("docs/*.md"),
    *ROOT.glob("docs/*.rst"),
]
MOST_BYTES = 1 << 20


def test_the_version_is_not_written_anywhere():
    assert "version" not in PROJECT["project"]
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert "version" not in CITATION


def test_installed_version_is_one():
    assert re.match(r"\d+\.\d+\.\d+", metadata.version("conncomp"))


@pytest.mark.parametrize("pattern", PROJECT["project"]["license-files"])
def test_licences_are_there(pattern):
    assert all(path.stat().st_size > 500 for path in ROOT.glob(pattern))
    assert list(ROOT.glob(pattern))


def test_recipe_needs_what_the_package_needs():
    recipe = yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text())
    plain = {line.replace(" ", "") for line in recipe["requirements"]["run"]}
    assert set(PROJECT["project"]["dependencies"]) <= plain
    assert f"python{PROJECT['project']['requires-python']}" in plain
    built = {line.replace(" ", "") for line in recipe["requirements"]["host"]}
    assert set(PROJECT["build-system"]["requires"]) <= built
    for path in recipe["about"]["license_file"]:
        assert (ROOT / path).is_file()
    assert recipe["about"]["license"] == PROJECT["project"]["license"]


@pytest.mark.parametrize("name", ["bug", "feature", "question"])
def test_issue_templates(name):
    template = yaml.safe_load((ROOT / f".github/ISSUE_TEMPLATE/{name}.yml").read_text())
    assert {"name", "description", "body"} <= set(template)
    asked = [part["id"] for part in template["body"]]
    assert len(set(asked)) == len(asked)
    for part in template["body"]:
        assert part["type"] in ("textarea", "checkboxes", "dropdown", "input")
        assert part["attributes"]["label"]
    if name == "bug":
        assert "conncomp info" in str(template)


WORKFLOWS = {path.stem: path.read_text() for path in ROOT.glob(".github/workflows/*.yml")}


def test_actions_are_pinned_and_may_do_little():
    """A tag of an action can be moved to other code, a commit cannot."""
    assert set(WORKFLOWS) == {"ci", "nightly", "release"}
    for text in WORKFLOWS.values():
        actions = re.findall(r"uses: (.*)", text)
        assert actions
        for action in actions:
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", action)
        workflow = yaml.safe_load(text)
        assert workflow["permissions"] == {"contents": "read"}


def test_gate_and_soak_are_short():
    """A newcomer reads them in a few minutes."""
    scripts = list(ROOT.glob(".ci/*"))
    assert {path.name for path in scripts} == {"lint", "run", "soak"}
    assert sum(len(path.read_text().splitlines()) for path in scripts) <= 110


def test_lowest_versions_are_tested():
    jobs = yaml.safe_load(WORKFLOWS["ci"])["jobs"]["tests"]["strategy"]["matrix"]["include"]
    tested = {job["name"]: job for job in jobs}["minimum versions"]
    lowest = [line.replace(">=", "==") + ".*" for line in PROJECT["project"]["dependencies"]]
    assert set(lowest) <= set(tested["constraints"].split())
    assert PROJECT["project"]["requires-python"] == f">={tested['python']}"


def test_files_that_wheels_are_tested_with_exist():
    settings = PROJECT["tool"]["cibuildwheel"]
    paths = re.findall(r"\{project\}/(\S+)", settings["test-command"])
    assert len(paths) >= 4
    assert all((ROOT / path).is_file() for path in paths)


def internal_links(path):
    """Yield where the links and pictures of a page lead, but for those to other sites."""
    text = path.read_text()
    if path.suffix == ".rst":
        links = re.findall(r"(?:image|figure|include|literalinclude)::\s+(\S+)", text)
        links += re.findall(r":(?:doc|download):`(?:[^`<]*<)?([^`>]+)>?`", text)
    else:
        text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)  # programs
        links = re.findall(r"\]\(([^)\s]+)\)|\b(?:src|href)=\"([^\"]+)\"", text)
        links = [markdown or html for markdown, html in links]
    for link in links:
        if not re.match(r"[a-z]+:", link):
            yield unquote(link)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path):
    for link in internal_links(path):
        target, _, anchor = link.partition("#")
        place = (path.parent / target) if target else path
        # Sphinx knows its pages without their ending, and writes what is generated.
        pages = (place.with_name(f"{place.name}{ending}") for ending in ("", ".rst", ".md"))
        assert any(page.exists() for page in pages) or "generated" in place.parts, link
        if anchor and place.suffix == ".md":
            assert anchor in anchors(place), link


def anchors(path):
    """Return what headings of a page are called in links."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_that_lead_nowhere_are_seen(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A heading\n[one](nowhere.md), [two](https://a.site), ![three](page.md#no)\n")
    assert list(internal_links(page)) == ["nowhere.md", "page.md#no"]
    assert anchors(page) == {"a-heading"}
    with pytest.raises(AssertionError, match=r"nowhere\.md"):
        test_links_lead_somewhere(page)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_pages_and_their_pictures_weigh_little(path):
    pictures = {(path.parent / link).resolve() for link in internal_links(path)}
    weights = [p.stat().st_size for p in pictures if p.suffix in (".png", ".jpg", ".svg", ".gif")]
    assert path.stat().st_size + sum(weights) < MOST_BYTES
