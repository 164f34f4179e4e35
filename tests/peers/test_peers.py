"""The suites of other libraries, run through ours; see README.md here."""

import collections
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"), "conncomp-peers")
SECONDS = 300


@dataclass(frozen=True)
class Suite:
    """A peer's packages, its tests, and what of ours stands in for its functions."""

    name: str  # that of a module of `adapters`, and of a table in differences.toml
    wheels: tuple[str, ...]  # requirements that are installed into a folder of their own
    tests: tuple[str, ...]  # files and folders, within `root`
    source: str = ""  # whose distribution has the tests, if the wheel does not
    root: str = "."  # from which tests are named: in the source, or in that of the wheels
    options: str = ""  # of the source's build, to make it short: pip needs its metadata


SUITES = [
    Suite(
        "scikit_image",
        ("scikit-image==0.26.0",),
        ("measure", "morphology", "segmentation"),
        "scikit-image==0.26.0",
        "tests/skimage",
        # To find its metadata pip asks for a wheel: one that is not compiled, and holds nothing.
        '--config-settings "compile-args=-n" --config-settings "install-args=--tags=none"',
    ),
    Suite(
        "scipy",
        ("scipy==1.17.1",),
        ("scipy/ndimage/tests/test_measurements.py", "scipy/sparse/csgraph/tests"),
    ),
    Suite(
        "networkx",
        ("networkx==3.6.1",),
        (
            "networkx/generators",
            *(
                f"networkx/algorithms/{part}"
                for part in (
                    "approximation", "bipartite", "coloring", "community", "components",
                    "connectivity", "isomorphism", "link_analysis", "minors", "operators", "tests",
                    "traversal", "tree",
                )
            ),
        ),
    ),
    Suite(
        "cc3d",
        (
            "connected-components-3d==3.26.0", "crackle-codec==0.54.0", "fastremap==1.21.0",
            "google-crc32c==1.9.0",
        ),
        ("automated_test.py",),
        "connected-components-3d==3.26.0",
    ),
    Suite(
        "cucim", ("cucim-cu13==26.10.0",), ("test_ccomp.py",), root="cucim/skimage/measure/tests"
    ),
    Suite(
        "dask_image",
        (
            "cloudpickle==3.1.2", "dask==2026.8.0", "dask-image==2026.5.0", "fsspec==2026.9.0",
            "importlib-metadata==10.2.0", "lazy-importer==0.1.0", "locket==1.0.0",
            "partd==1.4.2", "pyyaml==6.0.3", "toolz==1.2.0", "zipp==4.1.2",
        ),
        ("test_ndmeasure",),
        "dask-image==2026.5.0",
        "tests/test_dask_image",
    ),
    Suite(
        "tilewise_ccl",
        (
            "cloudpickle==3.1.2", "dask==2026.8.0", "fsspec==2026.9.0",
            "importlib-metadata==10.2.0", "locket==1.0.0", "partd==1.4.2", "pyyaml==6.0.3",
            "tilewise-ccl==0.0.7", "toolz==1.2.0", "zipp==4.1.2",
        ),
        ("test_label_array.py", "test_default_tile_shape.py"),
        "tilewise-ccl==0.0.7",
        "tests",
    ),
]  # fmt: skip


@pytest.mark.parametrize("suite", SUITES, ids=[suite.name for suite in SUITES])
def test_suite(suite, tmp_path, record_property):
    packages = fetch(suite, "wheels", install)
    source = fetch(suite, "source", download) if suite.source else packages
    outcomes, calls = run(suite, packages, source / suite.root, tmp_path)
    assert calls > 0, "the suite never came to us"
    counts = collections.Counter(outcomes.values())
    summary = ", ".join(f"{number} {outcome}" for outcome, number in sorted(counts.items()))
    record_property("peer", f"{suite.name}: {len(outcomes)} tests, {summary}; {calls} calls")
    listed = tomllib.loads((HERE / "differences.toml").read_text())[suite.name]
    assert compare(outcomes, listed) == []


def compare(outcomes, listed):
    """Return a line for each test that fails and is not listed, or is listed and does not fail."""
    failed = [test for test, outcome in outcomes.items() if outcome == "failed"]
    wrong = [f"fails: {test}" for test in failed if not any(map(covers(test), listed))]
    for pattern in listed:
        tests = [test for test in outcomes if covers(test)(pattern)]
        wrong += [f"passes, but is listed: {test}" for test in tests if test not in failed]
        if not tests:
            wrong.append(f"is listed, but was not run: {pattern}")
    return wrong


def covers(test):
    """Return a function that tells whether a line of the list means `test`: itself, or PREFIX*."""
    return lambda pattern: (
        test.startswith(pattern[:-1]) if pattern.endswith("*") else test == pattern
    )


def run(suite, packages, root, folder):
    """Return what became of each of a suite's tests, and how often they called us."""
    file = folder / "outcomes.json"
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", str(root)]
    command += ["--confcutdir", str(root), "-p", "no:cacheprovider", "-p", "adapters.record"]
    command += ["-p", f"adapters.{suite.name}", "--import-mode=importlib", "--tb=short"]
    # Of zarr, which is no peer: its plugin looks for a GPU, by a CuPy that adapters stand in for.
    command += ["-p", "no:zarr"]
    command += [str(root / path) for path in suite.tests]
    path = os.pathsep.join([str(HERE), str(packages)])
    environment = os.environ | {"PYTHONPATH": path, "CONNCOMP_PEERS_OUTCOMES": str(file)}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS
    )
    print(done.stdout[-20_000:], done.stderr[-2000:])
    assert done.returncode in (0, 1), "the suite did not run"
    found = json.loads(file.read_text())
    return found["outcomes"], sum(found["calls"].values())


def fetch(suite, part, get):
    """Return the folder with what `get` brings, from the cache if it is there."""
    wanted = getattr(suite, part), sys.version_info[:2], sys.platform
    folder = CACHE / f"{suite.name}-{part}-{hashlib.sha256(repr(wanted).encode()).hexdigest()[:12]}"
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        fresh = folder.with_suffix(f".{os.getpid()}")
        try:
            get(suite, fresh)
            fresh.rename(folder)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    return folder


def install(suite, folder):
    pip("install", "--no-deps", "--only-binary", ":all:", "--target", str(folder), *suite.wheels)


def download(suite, folder):
    folder.mkdir()
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{suite.source} {suite.options}\n")
    name = suite.source.partition("==")[0]
    pip("download", "--no-deps", "--no-binary", name, "-d", str(folder), "-r", str(requirements))
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    (top,) = (path for path in folder.iterdir() if path.is_dir())
    for path in top.iterdir():
        path.rename(folder / path.name)
    archive.unlink()


def pip(*arguments):
    command = [sys.executable, "-m", "pip", *arguments, "--quiet", "--retries", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode == 0:
        return
    if re.search("NameResolutionError|NewConnectionError|ConnectTimeout", done.stderr):
        pytest.skip(f"without a network, pip {arguments[0]} cannot fetch the peer's packages")
    pytest.fail(done.stderr[-2000:])


def test_the_list_is_held_against_the_outcomes():
    outcomes = {"a::x[1]": "failed", "a::x[2]": "failed", "a::y": "passed", "a::z": "skipped"}
    assert compare(outcomes, {"a::x[*": "a reason"}) == []
    assert compare(outcomes, {"a::x[1]": "a reason"}) == ["fails: a::x[2]"]
    assert compare(outcomes, {"a::x*": "", "a::y": ""}) == ["passes, but is listed: a::y"]
    assert compare(outcomes, {"a::*": ""}) == [
        "passes, but is listed: a::y",
        "passes, but is listed: a::z",
    ]
    assert compare(outcomes, {"a::x*": "", "b": ""}) == ["is listed, but was not run: b"]
