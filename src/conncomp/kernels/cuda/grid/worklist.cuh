// Work that threads share out in shared memory. As bricks have more or fewer components, lanes list what
// there is to do, and take it in turn, instead of waiting for the lane with most.
#pragma once

#include "cuda/core/warp.cuh"
#include "cuda/grid/brick.cuh"

namespace conncomp {

constexpr int kUnlisted = -1;

// 16-bit numbers that the lanes of a warp share out. All lanes call together.
template <int room> struct NumberList {
  uint16_t listed[room];

  // Lists number(bit) for all bits of all lanes; returns their number, or kUnlisted if they have no room.
  int list(Bits bits, auto&& number) {
    const int lane_count = __popcll(bits), up_to_lane = warp_scan(lane_count);
    const int count = __shfl_sync(kAllLanes, up_to_lane, kWarp - 1);
    if (count > room) return kUnlisted;
    uint16_t* entry = listed + up_to_lane - lane_count;
    for (; bits != 0; bits &= bits - 1) *entry++ = uint16_t(number(lowest(bits)));
    __syncwarp();
    return count;
  }
  // Adds a number of each lane that has one, as far as there is room; returns the new count.
  int append(int count, bool has_number, int number) {
    const uint32_t lanes = __ballot_sync(kAllLanes, has_number);
    const int at = count + rank_in(lanes);
    if (has_number && at < room) listed[at] = uint16_t(number);
    return count + __popc(lanes);
  }
  // Calls body(number) for all listed numbers, in any lane; or, if unlisted, for this lane's bits. One loop
  // for both: two were a third of label_tiles of given links.
  void for_each(int count, Bits bits, auto&& number, auto&& body) const {
    for (int begin = 0;; begin += kWarp) {
      bool has_next = begin + lane() < count;
      int next = has_next ? listed[begin + lane()] : 0;
      if (count == kUnlisted) {
        has_next = bits != 0;
        next = has_next ? number(lowest(bits)) : 0;
        bits &= bits - 1;
      }
      if (!__any_sync(kAllLanes, has_next)) return;
      if (has_next) body(next);
      __syncwarp();
    }
  }
};

struct WarpList {
  static constexpr int kRoom = 160, kRoomForNumbers = kRoom * 4;
  Bits component[kRoom];   // or numbers
  uint16_t origin[kRoom];  // the lane of its brick + 32 * its number in the brick

  // Calls each(component, number) for up to `most` components of a lane's brick that have some of `elements`,
  // and body(component, lane of its brick, number, whether it is the last call) for them in any lane. All
  // lanes call, `body` too, with 0 where none is left. Returns the elements beyond `most`. with_links(use)
  // calls use(links): kinds of links share one copy of `body`, a seventh of write_labels.
  template <bool tells_last = false>
  Bits for_each_component(auto&& with_links, Bits elements, int most, auto&& each, auto&& body) {
    Bits grown, beyond = 0;
    // If all bricks of a warp are whole, one step of growth is enough.
    with_links([&](const auto& links) { grown = links.whole(elements) ? elements : links.start(elements); });
    int number = 0;
    for (bool begins = tells_last; begins || __any_sync(kAllLanes, elements != 0); begins = false) {
      int count = 0;
      with_links([&](const auto& links) {
        do {
          const Bits more = links.grown(grown);
          const bool done = elements != 0 && more == grown;
          const uint32_t lanes = __ballot_sync(kAllLanes, done);
          if (done) {
            const int at = count + rank_in(lanes);
            component[at] = grown;
            origin[at] = uint16_t(lane() + kWarp * number);
            each(grown, number++);
            elements &= ~grown;
            if (number == most) {
              beyond = elements;
              elements = 0;
            }
          }
          grown = done ? links.start(elements) : more;
          count += __popc(lanes);
        } while (count <= kRoom - kWarp && __any_sync(kAllLanes, elements != 0));
      });
      const bool last_list = tells_last && !__any_sync(kAllLanes, elements != 0);
      __syncwarp();
      for (int begin = 0; begin < count || (tells_last && begin == 0); begin += kWarp) {
        const int k = begin + lane();
        const uint32_t code = k < count ? origin[k] : 0;
        body(k < count ? component[k] : 0, code % kWarp, code / kWarp, last_list && begin + kWarp >= count);
        __syncwarp();
      }
    }
    return beyond;
  }

  NumberList<kRoomForNumbers>& numbers() {
    return *reinterpret_cast<NumberList<kRoomForNumbers>*>(component);
  }
};

// Pairs for a block to unite later: threads find them at different times.
template <class Pair, int threads, int pairs_of_thread> struct PairList {
  Pair pair[pairs_of_thread * threads];
  int count;

  int capacity() const { return pairs_of_thread * int(blockDim.x); }

  // False if there is no room left.
  bool add(const Pair& added) {
    const int at = InBlock::fetch_add(&count, 1);
    if (at < capacity()) pair[at] = added;
    return at < capacity();
  }
  int stored() const { return count < capacity() ? count : capacity(); }
  // Calls body(pair) for all pairs; all threads call, and nobody adds any more.
  void for_each(auto&& body) const {
    for (int begin = 0; begin < stored(); begin += int(blockDim.x)) {
      const int k = begin + int(threadIdx.x);
      if (k < stored()) body(pair[k]);
      __syncwarp();
    }
  }
};

}
