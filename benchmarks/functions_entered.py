"""How many functions of conncomp small calls enter.

    python benchmarks/functions_entered.py

A function counts each time that `sys.setprofile` sees it entered; comprehensions, generator
expressions and lambdas do not count. `tests/test_functions_entered.py` holds the figures to bounds.
"""

import sys
from pathlib import Path

CHUNKS, LENGTH = 8, 64  # along an axis, and of a chunk


def functions_entered(call):
    """Return how many functions of this package a call enters."""
    import conncomp

    folder, count = str(Path(conncomp.__file__).parent), 0

    def seen(frame, event, _):
        nonlocal count
        code = frame.f_code
        count += (
            event == "call"
            and code.co_filename.startswith(folder)
            and not code.co_name.endswith(">")
        )

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        call()
    finally:
        sys.setprofile(before)
    return count


def figures():
    """Return the figures of today by what is called."""
    import dask
    import dask.array
    import numpy as np

    import conncomp
    from conncomp.models import Potts

    # What is imported and cached by dtype is there before the call that counts as the first.
    conncomp.label(np.eye(59, 71, dtype=np.uint8))
    image = np.eye(61, 73, dtype=np.uint8)
    found = {
        "first label of a NumPy array": functions_entered(lambda: conncomp.label(image)),
        "repeated label of a NumPy array": functions_entered(lambda: conncomp.label(image)),
    }
    model = Potts((32, 32), seed=1)
    model.swendsen_wang(1)
    found["swendsen_wang(1) of a Potts model on the CPU"] = functions_entered(
        lambda: model.swendsen_wang(1)
    )
    side = CHUNKS * LENGTH
    lazy = dask.array.from_array(np.zeros((side, side), bool), (LENGTH, LENGTH))
    with dask.config.set(scheduler="sync"):
        dask.compute(conncomp.label(lazy))
        made = functions_entered(lambda: conncomp.label(lazy))
        labels = conncomp.label(lazy)
        computed = functions_entered(lambda: dask.compute(labels))
    found[f"chunk of {LENGTH}² of a Dask label, made"] = made / CHUNKS**2
    found[f"chunk of {LENGTH}² of a Dask label, computed"] = computed / CHUNKS**2
    return found


if __name__ == "__main__":
    for name, number in figures().items():
        print(f"{number:6.1f}  {name}")
