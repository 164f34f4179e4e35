"""The README's links and figures, and examples for a GPU; doctest runs the others."""

import importlib
import json
import re
from statistics import mean, median

import numpy as np
import pytest

from pages import PAGES, ROOT, gpu_examples

EXAMPLES = gpu_examples()
README = PAGES["README.md"]


def test_links():
    links = re.findall(r"\]\(([^)]+)\)", README)
    assert len(links) > 10
    for link in links:
        assert (ROOT / link).exists(), link


BENCHMARKS = ROOT / "benchmarks"


def result(name):
    return json.loads((BENCHMARKS / f"{name}.json").read_text())


def medians(row, kinds=("ours", "peer")):
    """Return the median seconds of the runs of a row by the contender's name."""
    return {
        run["name"]: median(run["seconds"])
        for run in row["runs"]
        if run["status"] == "ok" and run["kind"] in kinds
    }


def shares_of_peers(name):
    """Return the least and the most that the fastest other library takes, of conncomp's time."""
    rows = [row for row in result(name)["rows"] if row["suite"] == "ecl-18"]
    assert len(rows) == 18
    shares = [min(medians(row, ("peer",)).values()) / medians(row)["auto"] for row in rows]
    return min(shares), max(shares)


def noise():
    """Return milliseconds of the volume of half noise: conncomp's, and the fastest other one's."""
    [row] = (
        row
        for row in result("cpu-grid")["rows"]
        if row["description"] == "50 % set at random, 256³"
    )
    return 1e3 * medians(row)["auto"], 1e3 * min(medians(row, ("peer",)).values())


def pairs_in_files():
    """Return the mean seconds of the runs of the command."""
    notes = (BENCHMARKS / "notes-pairs.md").read_text()
    [runs] = re.findall(
        r"^\| `conncomp cluster`, 10⁸ pairs of 10⁷ ids from .*?\| ([\d., ]+) \|", notes, re.M
    )
    return (mean(map(float, runs.split(", "))),)


def pairs_on_gpu():
    return (result("pairs-gpu")["cases"]["10^8 pairs of 10^7 ids"]["seconds"],)


def spin_on_gpu():
    """Return nanoseconds a spin of 16384² of them, with one measurement."""
    return (result("spin-gpu")["last version"]["16384"]["measured"],)


def spin_on_cpu():
    """Return nanoseconds a spin after the last change of the notes."""
    notes = (BENCHMARKS / "notes-spin.md").read_text()
    [table] = re.findall(r"\| change \| label \| flip \| together \|\n((?:\|.*\n)+)", notes)
    return (float(table.splitlines()[-1].split("|")[-2]),)


@pytest.mark.parametrize(
    ("sentence", "measured"),
    [
        (r"is labelled in (\S+) ms on two CPU cores; .* that were measured takes (\S+) ms", noise),
        (r"become clusters in (\S+) seconds on two CPU cores\.", pairs_in_files),
        (r"of the Ising model takes (\S+) ns a spin on one NVIDIA H200\.", spin_on_gpu),
        (r"10⁸ pairs of 10⁷ ids take (\S+) seconds on two CPU cores\.", pairs_in_files),
        (r"NVIDIA H200, `cluster_pairs` takes (\S+) seconds\.", pairs_on_gpu),
        (r"A sweep takes (\S+) ns a spin on one CPU core,", spin_on_cpu),
        (r"CPU core, and (\S+) ns on one NVIDIA H200", spin_on_gpu),
        (
            r"takes (\S+) to (\S+) times as long as conncomp for 18 graphs of up to 130,000 edges",
            lambda: shares_of_peers("cpu-graph"),
        ),
        (
            r"(\S+) to (\S+) times as long for 18 similar ones of up to 2\.7 million edges",
            lambda: shares_of_peers("cpu-graph-medium"),
        ),
    ],
)
def test_figures_in_sentences_are_those_measured(sentence, measured):
    """A figure has as many digits as it is printed with."""
    [figures] = re.findall(sentence, " ".join(README.split()))
    printed = [figures] if isinstance(figures, str) else figures
    for figure, value in zip(printed, measured(), strict=True):
        digits = len(figure.replace(".", "").lstrip("0"))
        assert f"{value:#.{digits}g}".rstrip(".") == figure


COLUMNS = {"cv2": "cv2", "cc3d": "cc3d", "SciPy": "scipy", "scikit-image": "scikit-image"}


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("cpu-grid", {"conncomp": "auto"} | COLUMNS),
        ("gpu-grid", {"conncomp": "auto-consecutive", "CuPy": "cupyx"}),
    ],
)
def test_figures_in_tables_are_those_measured(name, columns):
    measured = result(name)
    milliseconds = {
        row["description"]: {
            contender: f"{1e3 * seconds:.3g}" for contender, seconds in medians(row).items()
        }
        for row in measured["rows"]
    }
    [table] = re.findall(rf"{name}\.json\):\n\n((?:\|.*\n)+)", README)
    [header, _, *rows] = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()
    ]
    names = [columns[cell.split()[0]] for cell in header[1:]]
    assert len(rows) >= 10
    for description, *cells in rows:
        assert cells == [milliseconds[description].get(name, "") for name in names]
    versions = measured["versions"] | {"CuPy": measured["versions"].get("cupy", "")}
    for cell in header[2:]:
        name, version = cell.split()
        key = {"SciPy": "scipy", "scikit-image": "skimage"}.get(name, name)
        assert versions[key].startswith(version)


def test_examples_compile():
    assert len([name for name in EXAMPLES if name.startswith("docs/gpu.rst")]) == 5
    for name, example in EXAMPLES.items():
        compile(example, name, "exec")


@pytest.mark.gpu
@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
def test_on_a_gpu(example):
    import cupy

    import conncomp

    if "torch" in example:
        pytest.importorskip("torch")
    names = {}
    exec(example, names)
    if "roots" in names:
        expected = conncomp.label(names["image"], numbering="roots")
        assert bool((names["roots"] == expected).all())
    elif "table" in names:
        assert all(type(column) is cupy.ndarray for column in names["table"].values())
    else:
        assert type(names["labels"]) is (
            names["torch"].Tensor if "torch" in names else cupy.ndarray
        )


@pytest.mark.gpu
@pytest.mark.parametrize("library", ["cupy", "torch"])
def test_labels_in_a_loop(library, monkeypatch):
    """The field is that of the last launch, and so are labels and the last count."""
    pytest.importorskip(library)
    import conncomp

    monkeypatch.syspath_prepend(ROOT / "examples")
    name = {"cupy": "labels_in_a_loop", "torch": "labels_in_a_torch_loop"}[library]
    field, roots, counts = importlib.import_module(name).count_domains(192, 5, steps=20)
    above = (field > 0).cpu().numpy() if library == "torch" else (field > 0).get()
    expected, count = conncomp.label(above, connectivity=1, periodic=True, return_num=True)
    labels = (roots.cpu().numpy() if library == "torch" else roots.get()).reshape(-1)
    assert (expected > 0).sum() == (labels >= 0).sum()
    assert (
        sorted(set(labels[labels >= 0])) == np.unique(expected, return_index=True)[1][1:].tolist()
    )
    assert int(counts[-1]) == count
    assert int(counts[0]) > count  # it is the launch that counts, not the capture
