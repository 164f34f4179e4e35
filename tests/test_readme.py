"""The examples for a GPU, of the README and of the documentation; doctest runs the others."""

import importlib
import re
from pathlib import Path

import numpy as np
import pytest

README = Path(__file__).parents[1] / "README.md"
EXAMPLES_FOLDER = README.parent / "examples"
EXAMPLES = re.findall(r"^```python\n(import .*?)^```$", README.read_text(), re.M | re.S)


def test_examples_compile():
    assert len(EXAMPLES) == 3
    for example in EXAMPLES:
        compile(example, README, "exec")


@pytest.mark.gpu
@pytest.mark.parametrize("example", EXAMPLES, ids=["cupy", "torch", "captured"])
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

    monkeypatch.syspath_prepend(EXAMPLES_FOLDER)
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
