// What `join_tiles` takes for the entry of each element, of an array whose values are given, and masks of it
// from an earlier reading.
#include "cuda/grid/tiled_bricks.cuh"

namespace conncomp {

template <class Value, class Tiles, class Index>
__global__ void entries(Tiles tiles, const Value* values, const Bits* fore, const uint8_t* mixed,
                        const Value* value, Index* entry) {
  using Join = Joining<Value, Tiles, Index>;
  __shared__ Pairs<typename Join::Pair, kJoinThreads, kPairsBeside> pairs;
  const Masks<Value> masks{fore, mixed, value};
  const Join joining{tiles, values, entry, masks, pairs};
  for (int64_t i = grid_thread(); i < tiles.grid.cells(); i += grid_threads())
    entry[i] = joining.entry_of(Index(i));
}

}  // namespace conncomp
