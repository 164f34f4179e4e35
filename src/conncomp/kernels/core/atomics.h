// Two ways to touch an array that holds a forest of parents: Exclusive, while one thread owns the
// entries, and Shared, when several threads work on them at once. Shared is relaxed throughout: the
// algorithms need each entry to be read and written whole, never an order between entries.
#pragma once

namespace conncomp {

struct Exclusive {
  template <class T>
  static T load(const T* at) {
    return *at;
  }
  template <class T>
  static void store(T* at, T value) {
    *at = value;
  }
  // Replaces `expected` by `desired`; false when the entry holds something else by now.
  template <class T>
  static bool replace(T* at, T expected, T desired) {
    if (*at != expected) return false;
    *at = desired;
    return true;
  }
  template <class T>
  static void fetch_max(T* at, T value) {
    if (*at < value) *at = value;
  }
};

struct Shared {
  template <class T>
  static T load(const T* at) {
    return __atomic_load_n(at, __ATOMIC_RELAXED);
  }
  template <class T>
  static void store(T* at, T value) {
    __atomic_store_n(at, value, __ATOMIC_RELAXED);
  }
  template <class T>
  static bool replace(T* at, T expected, T desired) {
    return __atomic_compare_exchange_n(at, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  }
  template <class T>
  static void fetch_or(T* at, T bits) {
    __atomic_fetch_or(at, bits, __ATOMIC_RELAXED);
  }
  template <class T>
  static void fetch_max(T* at, T value) {
    for (T seen = load(at); seen < value && !replace(at, seen, value);) seen = load(at);
  }
};

}  // namespace conncomp
