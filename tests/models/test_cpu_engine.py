"""The Potts model on the CPU: strips of rows, threads, labellings, interrupts."""

import subprocess
import sys
import timeit

import numpy as np
import pytest

import conncomp
from conncomp.models import Potts
from interrupts import interrupted_after

# Of as many sites as are worth several strips a replica, with beta near the transition.
LATTICES = [
    ((512, 512), 2, 0.88, True),
    ((300, 1001), 3, 1.0, (False, True)),
    ((1500, 65), 255, 2.8, (True, False)),
    ((64, 64, 64), 2, 0.44, True),
    ((3, 5, 20000), 4, 0.8, True),
    ((40, 30, 20, 21), 5, 0.4, True),
    ((2, 100000), 2, 0.9, True),
    ((100000, 2), 2, 0.9, True),
    ((100001, 1), 2, 1.5, True),
    ((300000,), 2, 1.5, True),
]


def trajectory(model, tile):
    """Return all that some updates measure, and the spins after them."""
    measured = [
        model.swendsen_wang(2, clusters=True),
        model.metropolis(1),
        model.swendsen_wang(2),
        model.wolff(2),
        model.wolff(1, clusters=True),
        model.few_cluster(2, tile=tile, p_flip=0.7),
        model.few_cluster(1, tile=tile, p_flip=0.3, clusters=True),
        model.swendsen_wang(1),
        model.swendsen_wang(1, clusters=True, wrapping=True),
        model.wolff(1, wrapping=True),
        model.swendsen_wang(1, wrapping=True),
    ]
    return [m.records for m in measured], model.bonds(), model.spins


def check_same(one, other):
    for a, b in zip(one[0], other[0], strict=True):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(one[1:], other[1:], strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(("shape", "q", "beta", "periodic"), LATTICES)
def test_labellings_and_threads_make_no_difference(shape, q, beta, periodic):
    tile = [next(n for n in (50, 16, 10, 13, 7, 5, 3, 1) if length % n == 0) for length in shape]
    arguments = {"shape": shape, "q": q, "beta": beta, "periodic": periodic, "seed": 3}
    conncomp.set_num_threads(1)
    expected = trajectory(Potts(**arguments, labelling="serial"), tile)
    for threads in (1, 2, 3, 7):
        conncomp.set_num_threads(threads)
        check_same(trajectory(Potts(**arguments), tile), expected)


@pytest.mark.parametrize("labelling", ["auto", "serial"])
@pytest.mark.parametrize("replicas", [2, 33])
def test_replicas_share_nothing(labelling, replicas):
    betas = np.linspace(0.7, 1.1, replicas)
    shape, tile = (150, 500), (50, 100)
    conncomp.set_num_threads(3)
    together = Potts(shape, 2, betas, replicas=replicas, seed=9, labelling=labelling)
    records, _, spins = trajectory(together, tile)
    for k in range(0, replicas, 8):
        alone = Potts(shape, 2, betas[k], first_replica=k, seed=9, labelling=labelling)
        records_alone, _, spins_alone = trajectory(alone, tile)
        np.testing.assert_array_equal(spins[k], spins_alone)
        for a, b in zip(records, records_alone, strict=True):
            np.testing.assert_array_equal(a[:, k], b)


FEW = {"tile": 128, "p_flip": 0.5}


@pytest.mark.parametrize("update", ["swendsen_wang", "wolff", "few_cluster", "metropolis"])
@pytest.mark.parametrize("labelling", ["auto", "serial"])
def test_an_interrupt_leaves_the_spins_as_they_were(update, labelling):
    """After a handler that raises, spins and step are of an update that ended, and may go on."""
    conncomp.set_num_threads(2)
    arguments = {"shape": (1024, 1024), "q": 2, "beta": 0.9, "seed": 4, "labelling": labelling}
    model, twin = Potts(**arguments), Potts(**arguments)
    options = {"measure": False, **(FEW if update == "few_cluster" else {})}
    for delay in (0.1, 0.13, 0.17, 0.19):
        with interrupted_after(delay):
            getattr(model, update)(10**6, **options)
        getattr(twin, update)(model.updates - twin.updates, **options)
        np.testing.assert_array_equal(model.spins, twin.spins)


@pytest.mark.parametrize("labelling", ["auto", "serial"])
@pytest.mark.parametrize("update", ["swendsen_wang", "wolff"])
def test_one_update_can_be_interrupted(update, labelling):
    """One that takes long ends before it is done, and can be made again."""
    conncomp.set_num_threads(1)
    arguments = {"shape": (3000, 3000), "q": 2, "beta": 1.2, "seed": 4, "labelling": labelling}
    model, twin, clock = (Potts(**arguments, start="cold") for _ in range(3))
    for each in (model, twin):
        getattr(each, update)()
    shortest = min(timeit.repeat(getattr(clock, update), number=1, repeat=3))

    with interrupted_after(shortest / 4):
        getattr(model, update)()
    assert model.updates == 1
    np.testing.assert_array_equal(model.spins, twin.spins)
    for each in (model, twin):
        getattr(each, update)()
    np.testing.assert_array_equal(model.spins, twin.spins)


SMALL_LATTICES = """
import conncomp
from conncomp import _memory
from conncomp.models import Potts

conncomp.set_num_threads(2)
model = Potts((4, 4), beta=0.9, seed=1, replicas=300_000)
model.metropolis(2)
before = _memory.peak_memory()
model.wolff(2)
print(_memory.peak_memory() - before)
"""


def test_replicas_share_the_memory_of_clusters_that_grow():
    """Bytes a site: patches of each lattice would be 24."""
    done = subprocess.run(
        [sys.executable, "-c", SMALL_LATTICES], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 4 * 300_000 * 16


def test_what_a_gpu_has_is_refused():
    with pytest.raises(ValueError, match="labelling='tiles' is not one of 'auto', 'serial'"):
        Potts((8, 8), 2, 1.0, labelling="tiles")
    with pytest.raises(ValueError, match="leave them out on the CPU"):
        Potts((8, 8), 2, 1.0, tile=4)
