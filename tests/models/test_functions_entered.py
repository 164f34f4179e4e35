"""How many functions of the package one small update enters: what is decided once stays decided."""

import sys

import pytest

from conncomp.models import XY, Ising, Potts


def entered(call):
    """Return the names of the functions of conncomp that a call enters, as often as it does."""
    names = []

    def look(frame, event, _):
        if event == "call" and "/conncomp/" in frame.f_code.co_filename:
            names.append(frame.f_code.co_name)

    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    return names


@pytest.mark.parametrize(("kind", "most"), [(Potts, 20), (Ising, 20), (XY, 23)])
def test_an_update_enters_few_functions(kind, most):
    model = kind((16, 16))
    model.swendsen_wang(1)
    assert len(entered(lambda: model.swendsen_wang(1))) <= most
    assert len(entered(lambda: model.swendsen_wang(1, measure=False))) <= most
