"""The example: its exact curve, and that it runs."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from models.exact import log_kaufman, moments

PATH = Path(__file__).parents[2] / "examples" / "ising_transition.py"


@pytest.mark.parametrize("side", [4, 7, 32])
@pytest.mark.parametrize("beta", [0.5, 0.88, 0.8815, 1.2])
def test_curve_is_that_of_kaufman(side, beta):
    spec = importlib.util.spec_from_file_location("ising_transition", PATH)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    wanted = moments(log_kaufman(side, side), repr(beta))
    energy, specific_heat = example.exact(np.array([beta]), side)
    assert energy[0] == pytest.approx(-wanted.mean / side**2, abs=1e-6)
    assert specific_heat[0] == pytest.approx(beta**2 * wanted.variance / side**2, abs=1e-5)


def test_example_runs(tmp_path):
    picture = tmp_path / "ising.png"
    subprocess.run([sys.executable, PATH, picture, "8", "500"], check=True, timeout=100)
    with Image.open(picture) as image:
        assert min(image.size) > 1000
