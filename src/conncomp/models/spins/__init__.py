"""Models of spins on lattices and graphs: the updates that all of them have, defined once.

From an inverse temperature to a kernel, as of ``model.swendsen_wang()``:

1. ``model.py``: `SpinModel._updater` makes a `ClusterUpdate`, with the strengths that draw bonds at
   these temperatures: probabilities of words, ``BondStrength`` of vectors, or units of edges.
2. ``protocol.py``: `make_updates` calls the update for each number, or for many at once.
3. ``updates.py``: the update asks the engine for new spins, by `Flips` that say which clusters flip
   and what is recorded, and lets them take the place of the old ones.
4. ``cpu.py``, ``cuda.py``: the engine of words, cells, vectors or edges calls the core, or launches
   kernels of ``kernels/cuda/models``.
5. ``measurements.py`` reads what was recorded.
"""
