"""The Potts model site by site, in plain Python, from the contract in ``kernels/core/spins.h``.

Sites are numbered in C order and spins are a list of a replica's states. Nothing is held as bits,
probabilities and sums are exact integers, and clusters are found by breadth-first search.
"""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np

from conncomp import label_bonds
from conncomp.generate.random import philox
from models.devices import on_host
from winding_search import bond_windings

# Purposes.
START, BOND, CLUSTER, CHOSEN_SITE, METROPOLIS, EXCHANGE, COIN, FLIP_DIGITS = range(1, 9)
AXES = 4
WORD, JOINED = 64, 16
CERTAIN = 1 << 64
SATISFIED, ACTIVE, CLUSTERS, LARGEST, SQUARES, FOURTHS = 0, 1, 2, 3, 4, 7
WINDING_AXES, WINDING_RANK, COUNTS = 12, 13, 14


def joined(sites, pairs):
    """Return the clusters that pairs join, sorted lists by their lowest sites."""
    clusters = [{site} for site in range(sites)]
    for u, v in pairs:
        large, small = sorted((clusters[u], clusters[v]), key=len, reverse=True)
        if large is not small:
            large |= small
            for site in small:
                clusters[site] = large
    return {min(cluster): sorted(cluster) for cluster in clusters}


class ReferencePotts:
    """What `conncomp.models.Potts` is to do; arguments as its, with `tile` for each axis.

    Updates return records, int64 of shape (updates, replicas, 14 + q), as
    `conncomp.models.results.Measurements.records` has them for several replicas.
    """

    def __init__(
        self,
        shape,
        q,
        beta,
        *,
        coupling=1.0,
        periodic=True,
        replicas=1,
        seed=0,
        start="hot",
        first_replica=0,
    ):
        self.shape, self.q, self.coupling, self.seed = tuple(shape), q, coupling, seed
        self.periodic = (periodic,) * len(shape) if isinstance(periodic, bool) else tuple(periodic)
        self.betas = [beta] * replicas if isinstance(beta, float) else list(beta)
        self.numbers = range(first_replica, first_replica + replicas)
        self.sites = list(product(*map(range, self.shape)))
        self.neighbours = [
            [self._next_site(site, axis) for site in self.sites] for axis in range(len(self.shape))
        ]
        self.step = 0
        if isinstance(start, str):
            self.states = [self._first_states(start, number) for number in self.numbers]
        else:
            given = np.broadcast_to(start, (replicas, *self.shape))
            self.states = [replica.ravel().tolist() for replica in given]

    @property
    def spins(self):
        return np.array(self.states, np.uint8).reshape(-1, *self.shape)

    def swendsen_wang(self, sweeps, **measures):
        return self._cluster_updates(sweeps, None, None, **measures)

    def wolff(self, updates, **measures):
        return self._cluster_updates(updates, self.shape, CERTAIN, **measures)

    def few_cluster(self, updates, *, tile, p_flip, **measures):
        return self._cluster_updates(updates, tile, int(Fraction(p_flip) * CERTAIN), **measures)

    def metropolis(self, sweeps):
        records = []
        for _ in range(sweeps):
            self.step += 1
            records.append([self._metropolis_sweep(k) for k in range(len(self.states))])
        return self._as_array(records)

    def bonds(self):
        """Return the bonds that the next cluster update draws: (ndim, replicas, *shape)."""
        active = [self._active_bonds(k, self.step + 1) for k in range(len(self.states))]
        return np.array(active).swapaxes(0, 1).reshape(-1, len(active), *self.shape)

    def count(self):
        """Return records of the spins as they are, without clusters."""
        return np.array([self._count(k) for k in range(len(self.states))], np.int64)

    # ------------------------------------------------------------------------------- random numbers

    def _draw(self, purpose, index, replica, step, axis=0, block=0):
        """Return two numbers of 64 bits."""
        counter = index | replica << 40
        a, b, c, d = philox(
            self.seed, (counter % 2**32, counter >> 32, step, purpose | axis << 8 | block << 16)
        )
        return a | b << 32, c | d << 32

    def _words(self):
        """Return of which word each site is, and which bit of it."""
        row = self.shape[-1]
        lines, columns = np.divmod(np.arange(len(self.sites)), row)
        return lines * -(-row // WORD) + columns // WORD, columns % WORD

    def _numbers_by_digits(self, purpose, axis, words, bits, number, step):
        """Return the numbers of 64 bits of sites, as lists.

        Digit k of one, from the highest one, is a bit of half k % 2 of block k // 2 of a word.
        """
        drawn, places = np.unique(words, return_inverse=True)
        blocks = np.arange(32, dtype=np.uint64)
        halves = self._draw(purpose, drawn.astype(np.uint64)[:, None], number, step, axis, blocks)
        digits = np.stack(halves, axis=-1).reshape(-1, 64)[places]
        of_sites = digits >> bits.astype(np.uint64)[:, None] & 1
        return (of_sites << np.arange(63, -1, -1, dtype=np.uint64)).sum(axis=-1).tolist()

    def _bond_numbers(self, number, step, axis):
        """Return the number that is drawn for the bond of each site along an axis."""
        numbered = AXES - len(self.shape) + axis
        return self._numbers_by_digits(BOND, numbered, *self._words(), number, step)

    def _offer_numbers(self, number, of_class):
        """Return the number by which a site flips or not, if it is of this class, and q = 2.

        Of 32 words that follow each other the first 16 share digits with the last 16: they have
        those at even places, of which a site takes that of its pair of sites.
        """
        words, bits = self._words()
        shared = words // (2 * JOINED) * JOINED + words % JOINED
        places = bits // 2 * 2 + words // JOINED % 2
        return self._numbers_by_digits(FLIP_DIGITS, of_class, shared, places, number, self.step)

    # ---------------------------------------------------------------------------------- the lattice

    def _next_site(self, site, axis):
        """Return the number of the next site along an axis, None if there is none."""
        at = list(site)
        at[axis] += 1
        if at[axis] == self.shape[axis]:
            if not self.periodic[axis]:
                return None
            at[axis] = 0
        return int(np.ravel_multi_index(at, self.shape))

    def _first_states(self, start, number):
        if start == "cold":
            return [0] * len(self.sites)
        draws = [self._draw(START, site, number, 0)[0] for site in range(len(self.sites))]
        return [below(draw, self.q) for draw in draws]

    def _active_bonds(self, k, step):
        """Return for each axis and site whether its bond joins equal spins and is drawn."""
        states, probability = self.states[k], bond_probability(self.betas[k], self.coupling)
        active = []
        for axis, neighbours in enumerate(self.neighbours):
            drawn = self._bond_numbers(self.numbers[k], step, axis)
            active.append(
                [
                    neighbour is not None
                    and states[site] == states[neighbour]
                    and drawn[site] < probability
                    for site, neighbour in enumerate(neighbours)
                ]
            )
        return active

    # ---------------------------------------------------------------------------------- the updates

    def _cluster_updates(self, updates, tile, p_flip, **measures):
        records = []
        for _ in range(updates):
            self.step += 1
            replicas = range(len(self.states))
            records.append([self._cluster_update(k, tile, p_flip, **measures) for k in replicas])
        return self._as_array(records)

    def _cluster_update(self, k, tile, p_flip, *, clusters=False, wrapping=False):
        states, number, record = self.states[k], self.numbers[k], self._count(k)
        active = self._active_bonds(k, self.step)
        found = self._clusters(active)
        if tile is None or clusters or wrapping:
            record[ACTIVE] = sum(map(sum, active))
        if wrapping:
            record[WINDING_AXES], record[WINDING_RANK] = self._windings(active)
        if clusters:
            measure_clusters(record, [len(cluster) for cluster in found])
        chosen = None if tile is None else self._chosen_sites(number, tile)
        for cluster in found:
            root = min(cluster)
            bits, decision = self._draw(CLUSTER, root, number, self.step)
            if chosen is None:
                state = self._any_state(root, number, bits)
            elif chosen.isdisjoint(cluster) or decision >= p_flip:
                continue
            else:
                state = another_state(bits, states[root], self.q)
            for site in cluster:
                states[site] = state
        return record

    def _any_state(self, root, number, bits):
        if self.q > 2:
            return below(bits, self.q)
        coins, _ = self._draw(COIN, root // WORD, number, self.step)
        return coins >> root % WORD & 1

    def _clusters(self, active):
        """Return lists of sites."""
        pairs = [
            (site, neighbour)
            for neighbours, of_axis in zip(self.neighbours, active, strict=True)
            for site, neighbour in enumerate(neighbours)
            if of_axis[site]
        ]
        return joined(len(self.sites), pairs).values()

    def _windings(self, active):
        """Return along which axes clusters wrap, a bit for each, and the highest rank of one."""
        ndim = len(self.shape)
        bases = np.array(bond_windings(np.reshape(active, (ndim, *self.shape)), self.periodic))
        axes = sum(1 << k for k in range(ndim) if bases[:, :, k].any())
        return axes, bases.any(axis=2).sum(axis=1).max()

    def _chosen_sites(self, number, tile):
        """Return the numbers of the sites that are drawn, one in each tile."""
        tiles = product(*(range(n // edge) for n, edge in zip(self.shape, tile, strict=True)))
        chosen = set()
        for index, corner in enumerate(tiles):
            place = below(self._draw(CHOSEN_SITE, index, number, self.step)[0], prod(tile))
            within = np.unravel_index(place, tile)
            at = [c * edge + w for c, edge, w in zip(corner, tile, within, strict=True)]
            chosen.add(int(np.ravel_multi_index(at, self.shape)))
        return chosen

    def _metropolis_sweep(self, k):
        states, number, record = self.states[k], self.numbers[k], self._count(k)
        around = [[] for _ in self.sites]
        for neighbours in self.neighbours:
            for site, neighbour in enumerate(neighbours):
                if neighbour is not None and neighbour != site:
                    around[site].append(neighbour)
                    around[neighbour].append(site)
        classes = [self._class(site) for site in self.sites]
        for of_class in sorted(set(classes)):
            before = list(states)
            numbers = self._offer_numbers(number, of_class) if self.q == 2 else None
            for site, old in enumerate(before):
                if classes[site] != of_class:
                    continue
                if numbers is not None:
                    bits, choice = numbers[site], 0
                else:
                    bits, choice = self._draw(METROPOLIS, site, number, self.step)
                new = another_state(choice, old, self.q)
                equal = [before[neighbour] for neighbour in around[site]]
                lost = equal.count(old) - equal.count(new)
                if bits < acceptance(self.betas[k], self.coupling, max(lost, 0), self.q):
                    states[site] = new
        return record

    def _class(self, site):
        """Return which sites are updated together with one; the lower classes come first."""
        number = sum(site) % 2
        for axis, (at, length) in enumerate(zip(site, self.shape, strict=True)):
            odd = self.periodic[axis] and length % 2 == 1 and length > 1
            if odd and at == length - 1:
                number += 2 << (AXES - len(self.shape) + axis)
        return number

    # -------------------------------------------------------------------------------------- records

    def _count(self, k):
        states, record = self.states[k], [0] * (COUNTS + self.q)
        for neighbours in self.neighbours:
            for site, neighbour in enumerate(neighbours):
                record[SATISFIED] += neighbour is not None and states[site] == states[neighbour]
        for state in states:
            record[COUNTS + state] += 1
        return record

    def _as_array(self, records):
        shape = len(records), len(self.states), COUNTS + self.q
        return np.array(records, np.int64).reshape(shape)


def check_state(model, reference):
    """Compare everything that a model tells of its spins and of its next clusters."""
    spins, counted, bonds = on_host(model.spins), reference.count(), reference.bonds()
    assert spins.dtype == np.uint8
    how = {"periodic": reference.periodic, "batch_axes": 1, "return_num": True}
    for found, expected in (
        (spins, reference.spins),
        (model.energy(), -reference.coupling * counted[:, SATISFIED]),
        (model.magnetisation(), magnetisations(counted[:, COUNTS:])),
        (model.bonds(), bonds),
        *zip(model.labels(return_num=True), label_bonds(bonds, **how), strict=True),
    ):
        np.testing.assert_array_equal(np.reshape(on_host(found), expected.shape), expected)


def magnetisations(counts):
    q, sites = counts.shape[1], counts[0].sum()
    if q == 2:
        return (counts[:, 0] - counts[:, 1]) / sites
    return (q * counts.max(axis=1) / sites - 1) / (q - 1)


def check_update(model, reference, update):
    """Make an update; compare what it measured with the reference; return it."""
    name, number, arguments = update
    measured = getattr(model, name)(number, **arguments)
    records = getattr(reference, name)(number, **arguments)
    np.testing.assert_array_equal(measured.records.reshape(records.shape), records)
    spins = on_host(model.spins).reshape(reference.spins.shape)
    np.testing.assert_array_equal(spins, reference.spins)
    assert model.updates == reference.step
    return measured


def below(bits, high):
    return bits * high >> 64


def another_state(bits, old, q):
    return (old + 1 + below(bits, q - 1)) % q


def measure_clusters(record, sizes):
    """Fill in the fields of a record that tell of clusters of these sizes."""
    record[CLUSTERS], record[LARGEST] = len(sizes), max(sizes)
    for field, limbs, power in ((SQUARES, 3, 2), (FOURTHS, 5, 4)):
        for k in range(limbs):
            record[field + k] = sum(size**power >> 32 * k & 0xFFFFFFFF for size in sizes)


def bond_probability(beta, coupling):
    """Return 2**64 (1 - exp(-beta J)) without its fraction, 2**64 - 1 at most."""
    return _fixed_point(1 - _weight(beta, coupling, 1))


def acceptance(beta, coupling, lost, q):
    """Return 2**64 exp(-beta J lost), likewise; 15/16 of that for q = 2."""
    return _fixed_point(_weight(beta, coupling, lost) * (Decimal("0.9375") if q == 2 else 1))


def _weight(beta, coupling, bonds):
    with localcontext(prec=70):
        return (-Decimal(beta) * Decimal(coupling) * bonds).exp()


def _fixed_point(probability):
    with localcontext(prec=70):
        return min(int(probability * CERTAIN), CERTAIN - 1)
