"""How many functions of the package one small update enters: what is decided once stays decided."""

import pytest

from benchmarks.functions_entered import functions_entered
from conncomp.models import XY, Ising, Potts


@pytest.mark.parametrize(("kind", "most"), [(Potts, 20), (Ising, 20), (XY, 23)])
def test_an_update_enters_few_functions(kind, most):
    model = kind((16, 16))
    model.swendsen_wang(1)
    assert functions_entered(lambda: model.swendsen_wang(1)) <= most
    assert functions_entered(lambda: model.swendsen_wang(1, measure=False)) <= most
