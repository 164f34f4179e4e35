// Quantiles of the values of an image within components, on the GPU.
//
// What: as cpu/components/spread.h: the value below which a fraction of a component's values lie, between two
// by the distance from the place. How: list_keys lists the keys of the values of each component together, in
// any order, with the number of the component above the key, or beside it where a key has 64 bits; the host
// has them sorted, and write_quantiles looks at the places. Cost: values read once, and a sort. Memory: 8
// bytes an element of components, or 16, and those of the sort.
#pragma once

#include "core/fixed_point.h"
#include "cuda/components/runs.cuh"

namespace conncomp {

// Where the keys of values go, and those of the next run of each component.
template <class Value>
struct KeyList {
  static constexpr bool kIsPacked = sizeof(Value) < 8;
  static constexpr int kKeyBits = 32;

  const Value* values;
  int64_t* next;
  uint64_t *keys, *owners;
  int64_t component = 0;

  __device__ void begin(int64_t following) { component = following; }
  __device__ void add(int64_t index, int n) {
    const int64_t place = Shared::fetch_add(next + component, int64_t(n));
    for (int i = 0; i < n; ++i) {
      const uint64_t key = Order<Value>::key(values[index + i]);
      keys[place + i] = kIsPacked ? uint64_t(component) << kKeyBits | key : key;
      if (!kIsPacked) owners[place + i] = uint64_t(component);
    }
  }
  __device__ void combine_lanes() {}
  __device__ void send() const {}
};

// `next` has where the values of each component begin; it becomes where they end.
template <class Value>
__global__ void __launch_bounds__(kTableThreads)
    list_keys(Runs runs, const Value* __restrict__ values, int64_t* next, uint64_t* keys, uint64_t* owners) {
  follow_launch();
  KeyList<Value> list{values, next, keys, owners};
  walk_runs(runs, Turn(1), list);
}

template <class Value>
__global__ void __launch_bounds__(kTableThreads)
    write_quantiles(const RunState* state, const int64_t* __restrict__ sizes,
                    const int64_t* __restrict__ ends, const uint64_t* __restrict__ keys, double fraction,
                    double* quantiles) {
  follow_launch();
  using Key = typename Order<Value>::Key;
  for (int64_t row = grid_thread(); row < state->components; row += grid_threads()) {
    const int64_t size = sizes[row];
    if (size == 0) continue;  // labels have changed since they were counted
    const auto ranked = [&](int64_t rank) {
      return double(Order<Value>::value(Key(keys[ends[row] - size + rank])));
    };
    const double place = fraction * double(size - 1), first = ranked(0), last = ranked(size - 1);
    const int64_t below = int64_t(place), above = below + 1 < size ? below + 1 : size - 1;
    const double part = place - double(below), low = ranked(below), high = ranked(above);
    double between = part < 0.5 ? low + (high - low) * part : high - (high - low) * (1 - part);
    if (part == 0.5) between = (low + high) / 2;
    if (part == 0 || above == below) between = low;
    // NaN is before all numbers, or after them.
    quantiles[row] = first != first ? first : last != last ? last : between;
  }
}

}  // namespace conncomp
