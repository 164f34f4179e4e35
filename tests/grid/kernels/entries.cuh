// What `join_tiles` takes for the entry of each element, of an array whose values are given, and masks of it
// from an earlier reading.
#include "cuda/grid/tiled_bricks.cuh"

namespace conncomp {

template <class Rule, class Tiles, class Index>
__global__ void entries(Tiles tiles, const typename Rule::Value* values, BrickTable table, Index* entry) {
  const Entries<Rule, Tiles, Index> entries{tiles, values, entry, table};
  for (int64_t i = grid_thread(); i < tiles.grid.cells(); i += grid_threads()) {
    Index first_of_item;
    entry[i] = entries.entry_of(Index(i), first_of_item);
  }
}

}
