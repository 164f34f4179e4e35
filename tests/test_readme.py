"""The README's links and figures, and the examples for a GPU in it and in the documentation.

Doctest runs the other examples.
"""

import importlib
import json
import re
from statistics import median

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


COLUMNS = {"cv2": "cv2", "cc3d": "cc3d", "SciPy": "scipy", "scikit-image": "scikit-image"}


@pytest.mark.parametrize(
    ("result", "columns"),
    [
        ("cpu-grid", {"conncomp": "auto"} | COLUMNS),
        ("gpu-grid", {"conncomp": "auto-consecutive", "CuPy": "cupyx"}),
    ],
)
def test_figures_are_those_measured(result, columns):
    measured = json.loads((ROOT / "benchmarks" / f"{result}.json").read_text())
    milliseconds = {
        row["description"]: {
            run["name"]: f"{1e3 * median(run['seconds']):.3g}"
            for run in row["runs"]
            if run["status"] == "ok"
        }
        for row in measured["rows"]
    }
    [table] = re.findall(rf"{result}\.json\):\n\n((?:\|.*\n)+)", README)
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
    assert len([name for name in EXAMPLES if name.startswith("docs/gpu.rst")]) == 4
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
