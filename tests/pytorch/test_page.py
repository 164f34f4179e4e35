"""The examples of docs/torch.rst, run in their order, as a reader types them."""

import inspect

import numpy as np
import pytest

import mask_reference as reference
from pages import PAGES, ROOT, blocks

torch = pytest.importorskip("torch")
tensors = pytest.importorskip("conncomp.torch")

PAGE = "docs/torch.rst"


@pytest.fixture(scope="module")
def names():
    """What the page has named at its end; functions are compiled for nothing but their graph."""
    names = {}
    compiler = torch.compile
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            torch,
            "compile",
            lambda *model, **options: compiler(*model, **options | {"backend": "aot_eager"}),
        )
        for block in blocks(PAGE, "python"):
            exec(block, names)
    return names


def test_results(names):
    assert names["labels"].dtype == names["areas"].dtype == torch.int32
    for name in ("largest", "larger", "filled"):
        assert names[name].dtype == torch.bool
        assert not torch.equal(names[name], names["masks"])
    scores = names["scores"]
    kept = tensors.largest_components(tensors.fill_holes_in_mask_scores(scores, 64) > 0)
    assert torch.equal(names["cleaned"] != 0, kept)


def test_signatures():
    """The page has those of all functions."""
    for name in tensors.__all__:
        signature = inspect.signature(getattr(tensors, name))
        plain = [
            parameter.replace(annotation=inspect.Parameter.empty)
            for parameter in signature.parameters.values()
        ]
        shown = signature.replace(parameters=plain, return_annotation=inspect.Signature.empty)
        assert f"\n``{name}{shown}``\n" in PAGES[PAGE]


def test_recipe_of_the_predictor(names, device):
    """It does what SAM 2's image predictor does with scores."""
    scores = torch.randn(2, 3, 17, 12, generator=torch.Generator().manual_seed(8))
    for holes, sprinkles in ((3, 5), (0, 4), (8, 0)):
        ours = names["postprocess"](scores.to(device), 0.1, holes, sprinkles)
        arguments = np.float32(0.1), holes, sprinkles
        theirs = reference.each(reference.scores_of_predictor, scores.numpy(), *arguments)
        np.testing.assert_allclose(ours.cpu(), theirs, rtol=1e-6)


def test_gallery_page(monkeypatch):
    """Its model has no break, and does what the page does without PyTorch."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    names = {}
    exec((ROOT / "examples/gallery/gpu/plot_clean_masks.py").read_text(), names)
    pyplot.close("all")
    model = torch.compile(names["clean"], fullgraph=True, backend="aot_eager")
    masks = model(torch.as_tensor(names["logits"]))
    np.testing.assert_array_equal(masks.numpy(), names["masks"])
    assert 0 < masks.sum() < (names["logits"] > 0).sum()
