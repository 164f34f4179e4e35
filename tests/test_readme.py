"""The README's examples for a GPU; doctest runs the others."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
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
