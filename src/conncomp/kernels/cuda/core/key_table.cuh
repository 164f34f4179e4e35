// A hash table of keys in global memory, with open addressing: a key takes the first empty slot from its own
// on, at most kMostProbes further. A slot keeps its key, so any number of threads add keys at once; no two
// slots have one key. `empty` is a key that nobody looks for.
#pragma once

#include "core/atomics.h"
#include "core/key_hash.h"

namespace conncomp {

constexpr int kMostProbes = 128;

// The key of a slot, which may hold more.
template <class Key> Key* key_of(Key* slot) { return slot; }

template <class Key, class Slot = Key> struct KeyTable {
  KeyHash hash;
  int bits;  // of the number of slots
  Key empty;
  Slot* slots;

  // The slot of a key, which the key takes if it has none; -1 if no slot within reach is empty.
  int64_t take(Key key) const {
    return probe(key, [this, key](Key* at) {
      const Key seen = Concurrent::load(at);
      return seen == empty ? Concurrent::compare_exchange(at, empty, key) : seen;
    });
  }

  // The slot of a key, or -1; nobody may add keys meanwhile.
  int64_t find(Key key) const {
    if (key == empty) return -1;
    const int64_t slot = probe(key, [](const Key* at) { return __ldg(at); });
    return slot >= 0 && __ldg(key_of(slots + slot)) == key ? slot : -1;
  }

 private:
  int64_t probe(Key key, auto&& look) const {
    const int64_t last = (int64_t(1) << bits) - 1;
    int64_t slot = hash.slot(uint64_t(key), bits);
    for (int probe = 0; probe < kMostProbes; ++probe, slot = (slot + 1) & last) {
      const Key seen = look(key_of(slots + slot));
      if (seen == empty || seen == key) return slot;
    }
    return -1;
  }
};

}
