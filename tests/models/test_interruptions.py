"""What ends an update, as Ctrl-C does, leaves spins and a number of updates that go together."""

import sys
from itertools import count
from pathlib import Path

import numpy as np
import pytest

import conncomp
from conncomp.kernels.cuda.models import spin_sweeps
from conncomp.models import XY, CahnHilliard, Ising, Kawasaki, Potts, SpinGlass
from conncomp.models.protocol import make_updates

UPDATES = 4
FOLDER = str(Path(conncomp.__file__).parent / "models")

# On a GPU small lattices of the first kinds are updated many times in a launch.
KINDS = [
    (Potts, {"beta": 0.9}, {}),
    (XY, {"beta": 1.1}, {}),
    (Potts, {"beta": 0.9}, {"update": "wolff"}),
    (Potts, {"beta": 0.9}, {"update": "metropolis"}),
    (XY, {"beta": 1.1}, {"update": "metropolis"}),
    (Ising, {"beta": 0.4, "lattice": "triangular"}, {}),
    (SpinGlass, {"beta": [0.5, 0.6, 0.7], "copies": 2}, {"tempering": True}),
    (Kawasaki, {"lattice": "square"}, {}),
    (CahnHilliard, {}, {}),
]


class Alarm(BaseException):
    """As KeyboardInterrupt is one."""


def is_interrupted(moment, function, *arguments):
    """Call, and raise an alarm at a line or return of models; False if there are not so many."""
    passed = 0

    def trace(frame, event, _):
        nonlocal passed
        if not frame.f_code.co_filename.startswith(FOLDER):
            return None
        passed += event in ("line", "return")
        if passed == moment:
            raise Alarm
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function(*arguments)
    except Alarm:
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.mark.soak(gate="values")
@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize(("kind", "parameters", "options"), KINDS)
def test_state_and_number_change_together(device, kind, parameters, options, monkeypatch):
    monkeypatch.setattr(spin_sweeps, "THREADS", 128)
    model = kind((8, 8), **parameters, seed=3, device=device)
    begin, states = model.state(), {}
    update = model.updater(**options)
    for number in range(UPDATES + 1):
        if number > 0:
            update(number)
        states[model.updates] = model.state()
    made = set()
    for moment in count(1):
        model.restore(begin)
        update = model.updater(**options)
        if not is_interrupted(moment, make_updates, update, range(1, UPDATES + 1)):
            break
        found = model.state()
        made.add(found.updates)
        for array, right in zip(found.arrays, states[found.updates].arrays, strict=True):
            np.testing.assert_array_equal(array, right)
    assert {0, UPDATES} <= made


@pytest.mark.parametrize("device", ["cpu"])
@pytest.mark.parametrize(("kind", "parameters", "options"), KINDS)
def test_restoring_is_done_at_once(device, kind, parameters, options):
    model = kind((8, 8), **parameters, seed=3, device=device)
    begin = model.state()
    make_updates(model.updater(**options), range(1, UPDATES + 1))
    end = model.state()
    for moment in count(1):
        model.restore(end)
        if not is_interrupted(moment, model.restore, begin):
            break
        found = model.state()
        right = begin if found.updates == begin.updates else end
        for array, wanted in zip(found.arrays, right.arrays, strict=True):
            np.testing.assert_array_equal(array, wanted)
    assert moment > 3
