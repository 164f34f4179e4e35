"""The Kawasaki model, bit for bit as the reference has it, on both devices."""

from functools import cache

import numpy as np
import pytest

from conncomp.kernels.exchange import ExchangeLattice, pack, unpack
from conncomp.models import Kawasaki
from models.devices import both, equal_steps, on_host
from models.kawasaki_reference import STEPS, ReferenceKawasaki

SHAPES = [
    ("square", (4, 4)),
    ("square", (8, 4)),
    ("square", (12, 20)),
    ("square", (16, 32)),
    ("sc", (4, 4, 4)),
    ("sc", (4, 12, 8)),
    ("bcc", (4, 4, 4)),
    ("bcc", (8, 4, 12)),
    ("bcc", (4, 8, 4)),
    ("bcc", (16, 4, 8)),
]

TEMPERATURES, FRACTIONS = [1.1, 4.0, 30.0], [0.5, 0.2, 0.7]
OF_ALL = {"coupling": 0.7, "seed": 2**40 + 3, "first_replica": 7}


@cache
def sweeps_of_the_reference(lattice, shape, parts):
    """Return spins, and satisfied bonds, at first and after one and three sweeps."""
    ups = [int(share * np.prod(shape) + 0.5) for share in FRACTIONS]
    reference = ReferenceKawasaki(shape, lattice, TEMPERATURES, ups, parts, **OF_ALL)
    found = []
    for sweeps in (0, 1, 2):
        for _ in range(sweeps):
            reference.sweep()
        satisfied = [reference.satisfied(k) for k in range(len(ups))]
        found.append((reference.as_array(), satisfied))
    return found


@pytest.mark.soak(gate="values")
@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize(("lattice", "shape"), SHAPES)
def test_sweeps_are_those_of_the_reference(device, lattice, shape):
    model = Kawasaki(
        shape,
        lattice=lattice,
        temperature=TEMPERATURES,
        fraction=FRACTIONS,
        replicas=3,
        device=device,
        **OF_ALL,
    )
    wanted = sweeps_of_the_reference(lattice, shape, model.lattice.parts)
    for sweeps, (spins, satisfied) in enumerate(wanted):
        model.step(sweeps)
        np.testing.assert_array_equal(on_host(model.spins), spins)
        np.testing.assert_array_equal(model.measure().satisfied_bonds, satisfied)


@pytest.mark.parametrize("device", ["cuda"])
@pytest.mark.parametrize(
    ("shape", "lattice", "replicas"),
    [((64, 64, 96), "bcc", None), ((64, 96, 64), "sc", 2), ((512, 768), "square", None)],
)
def test_lattices_that_blocks_share(device, shape, lattice, replicas):
    arguments = {"lattice": lattice, "fraction": 0.3, "replicas": replicas, "seed": 4}
    equal_steps(both(device, Kawasaki, shape, **arguments), 2)


@pytest.mark.parametrize(("lattice", "shape"), [*SHAPES, ("bcc", (32, 32, 32)), ("sc", (20, 4, 4))])
def test_words_hold_spins(lattice, shape):
    geometry = ExchangeLattice(shape, lattice)
    spins = np.random.default_rng(5).integers(0, 2, (3, *shape), np.uint8)
    words = pack(np, geometry, spins)
    assert words.shape == (3, geometry.words)
    np.testing.assert_array_equal(unpack(np, geometry, words), spins)
    assert all(length % 4 == 0 for length in geometry.domain)


def test_large_lattices_use_all_bits():
    assert ExchangeLattice((32, 32, 32), "bcc").parts == (4, 4, 4)
    assert ExchangeLattice((128, 128, 128), "bcc").domains == 64
    assert ExchangeLattice((256, 256), "square").parts == (8, 8)


@pytest.mark.parametrize("lattice", STEPS)
def test_pairs_of_a_class_share_no_site_and_no_neighbour(lattice):
    from models.kawasaki_reference import residues

    shape = (4, 8) if lattice == "square" else (4, 8, 4)
    sites = list(np.ndindex(shape))
    steps = STEPS[lattice]

    def beside(x, step, sign=1):
        return tuple((a + sign * b) % n for a, b, n in zip(x, step, shape, strict=True))

    seen = set()
    for direction, step in enumerate(steps):
        for residue in range(8 if lattice == "bcc" else 4):
            pairs = [x for x in sites if residues(lattice, direction, x) == residue]
            assert len(pairs) == len(sites) // (8 if lattice == "bcc" else 4)
            owner = {}
            for x in pairs:
                seen.add((direction, x))
                for site in (x, beside(x, step)):
                    assert site not in owner
                    owner[site] = x
            for site, x in owner.items():
                for other in steps:
                    for sign in (1, -1):
                        neighbour = beside(site, other, sign)
                        assert owner.get(neighbour, x) == x
    assert len(seen) == len(steps) * len(sites)
