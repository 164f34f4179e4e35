"""The worked example beside the kernels shows what they do."""

import re

import numpy as np
import pytest

import worked_example
from conncomp import label
from conncomp.kernels.cuda.compiling import SOURCES
from conncomp.kernels.cuda.grid import tiled_bricks

PAGE = SOURCES / "cuda" / "grid" / "worked_example.md"


@pytest.fixture
def choose_tile(monkeypatch):
    return lambda choose: monkeypatch.setattr(tiled_bricks, "choose_tile", choose)


def test_every_drawing_is_computed(choose_tile):
    shown = re.findall(r"^```text (\w+)\n(.*?)\n```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert dict(shown) == worked_example.drawings(choose_tile)


def test_the_last_one_is_right(choose_tile):
    *_, (_, _, labels) = worked_example.stages(choose_tile)
    np.testing.assert_array_equal(labels, label(worked_example.image(), numbering="roots"))
