"""Models of spins on lattices and graphs: the updates that all of them have, defined once.

From an inverse temperature to a kernel, as of ``model.swendsen_wang()``:

1. ``model.py``: `SpinModel.swendsen_wang` makes a `ClusterUpdate` by `_updater`, and repeats it.
2. ``state.py``: `SpinState.strengths` has by what the engine draws bonds at inverse temperatures,
   `betas`: probabilities of words, ``BondStrength`` of vectors, or ``GlassTemperature`` on edges.
   Metropolis and heat bath have strengths likewise, by `SpinState.local_engine`.
3. ``protocol.py``: `make_updates` calls the update for each number, or for many at once.
4. ``updates.py``: the update asks the engine for new spins, by `Flips` that say which clusters flip
   and what is recorded, and lets them take the place of the old ones.
5. ``cpu.py``, ``cuda.py``: the engine of words, cells, vectors or edges, a `SpinEngine`, calls the
   core, or launches kernels of ``kernels/cuda/models``.
6. ``measurements.py`` reads what was recorded.

`WordModel` has what `Ising` and `Potts` share, `VectorModel` what models of vectors do.

Energies are in units of the strongest coupling: that of all bonds or, on edges, `EdgeBonds.scale`,
of which couplings and fields are in `WHOLE`. A satisfied bond lowers the energy by `_gain` times
its coupling, 2 of ``s_i s_j`` and 1 of a delta; `_energy_unit` is that of 1 in a record.
"""
