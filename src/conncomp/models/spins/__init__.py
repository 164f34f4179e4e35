"""Models of spins on lattices and graphs: the updates that all of them have, defined once.

From an inverse temperature to a kernel, as of ``model.swendsen_wang()``:

1. ``model.py``: `swendsen_wang` calls `_repeat`, where `_make_update` makes a `ClusterUpdate`.
2. ``protocol.py``: `make_updates` calls the update for each number. It calls ``update.sweep``, many
   updates in one launch, if there are two or more and the engine's `sweeps` measure what is asked.
3. ``state.py``: `SpinState.strengths` turns `betas` into what the engine draws bonds by:
   probabilities for words, ``BondStrength`` for vectors, or ``GlassTemperature`` on edges, a
   struct of ``core/spin_glass.h``. `SpinState.local_engine` does so for Metropolis and heat bath.
4. ``updates.py``: the update passes spins, strengths and `Flips` to the engine.
5. The engine calls the core or launches kernels: `CpuWordEngine`, `CpuCellEngine`,
   `CpuVectorEngine` or `CpuEdgeEngine` in ``cpu.py``. On a GPU, ``cuda.py`` lists `GpuWordEngine`
   and so on, which are in ``kernels/cuda/models``, and makes those of words and vectors. Only these
   two have `sweeps`.
6. ``measurements.py`` reads the records.

`WordModel` has what `Ising` and `Potts` share, `VectorModel` what models of vectors do.

Energies are in units of the strongest coupling: that of all bonds or, on edges, `EdgeBonds.scale`,
of which couplings and fields are in `WHOLE`. A satisfied bond lowers the energy by `_gain` times
its coupling, 2 of ``s_i s_j`` and 1 of a delta; `_energy_unit` is that of 1 in a record.
"""
