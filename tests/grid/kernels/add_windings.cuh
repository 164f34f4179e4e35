// Adds windings to one lattice, a thread each.
#include "core/wrapping/windings.h"
#include "cuda/core/launch.cuh"

namespace conncomp {

__global__ void add_windings(
    const Winding* windings, int64_t count, int32_t* of_root, WindingLattice* lattices, int32_t* made) {
  const WindingLattices tables{of_root, lattices, made};
  for (int64_t i = grid_thread(); i < count; i += grid_threads()) tables.add<Concurrent>(0, windings[i]);
}

}
