"""How long a thread works between two moments at which it can be given up, in its own time."""

import threading
from time import thread_time

import numpy as np
import pytest

import conncomp
from conncomp._core import asked, native

# Seconds of a thread between two questions, which are 0.05 apart if polls are frequent.
LONGEST = 0.2
# One component of many runs, and many labels of one element.
COMB = np.zeros((4000, 16000), np.uint8)
COMB[::2, ::2] = 1
COMB[1::2, :2] = 1
COMB[:, 0] = 1
COMB[::2] |= np.arange(16000, dtype=np.uint8) % 4 < 3
NOISE = (np.arange(120**3, dtype=np.uint64) * np.uint64(2654435761) >> np.uint64(7)) % 5000000
NOISE = NOISE.reshape((120,) * 3).astype(np.int32)
FEW = np.tile(NOISE % 50, (8, 1, 1))  # so much that it takes many questions on fast processors, too

CALLS = {
    "label": lambda: conncomp.label(COMB),
    "hulls": lambda: conncomp.component_statistics(
        COMB, background=0, properties=["area_convex", "feret_diameter_max"]
    ),
    "extents": lambda: conncomp.component_statistics(
        COMB, background=0, properties=["area_filled", "moments"]
    ),
    "contacts": lambda: conncomp.contacts(NOISE, background=None),
    "contacts of few": lambda: conncomp.contacts(FEW, background=None, connectivity=3),
}


@pytest.mark.parametrize("call", CALLS)
def test_polls_are_frequent(call):
    conncomp.set_num_threads(1)
    times = []
    asked(lambda: times.append(thread_time()), CALLS[call])
    assert len(times) > 1
    assert max(np.diff(times)) < LONGEST


class GivenUpError(Exception):
    pass


def test_other_threads_are_asked():
    """Python hears signals in the main thread only; a question ends a call in any other."""
    caught = []

    def give_up():
        raise GivenUpError

    def work():
        try:
            asked(give_up, CALLS["contacts"])
        except GivenUpError as error:
            caught.append(error)
        native.look_up()  # nobody asks any more

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len(caught) == 1


def test_questions_nest():
    said = []
    asked(lambda: said.append("outer"), asked, lambda: said.append("inner"), native.look_up)
    asked(lambda: said.append("outer"), native.look_up)
    native.look_up()
    assert said == ["inner", "outer"]
