"""Models of spins on lattices and graphs: the updates that all of them have, defined once.

From an inverse temperature to a kernel, as of ``model.swendsen_wang()``:

1. ``model.py``: `SpinModel.swendsen_wang` makes a `ClusterUpdate` by `_updater`, and repeats it.
2. ``state.py``: `SpinState.strengths` turns `betas` into what the engine draws bonds by:
   probabilities of words, ``BondStrength`` of vectors, or ``GlassTemperature`` on edges.
   `SpinState.local_engine` does so for Metropolis and heat bath.
3. ``protocol.py``: `make_updates` calls the update for each number, or for many at once.
4. ``updates.py``: the update asks the engine for new spins, by `Flips` that say which clusters flip
   and what is recorded, and exchanges them for the old ones.
5. ``cpu.py``, ``cuda.py``: the engine, a `SpinEngine`, calls the core or launches kernels.
6. ``measurements.py`` reads the records.

`WordModel` has what `Ising` and `Potts` share, `VectorModel` what models of vectors do.

Energies are in units of the strongest coupling: that of all bonds or, on edges, `EdgeBonds.scale`,
of which couplings and fields are in `WHOLE`. A satisfied bond lowers the energy by `_gain` times
its coupling, 2 of ``s_i s_j`` and 1 of a delta; `_energy_unit` is that of 1 in a record.
"""
