// Ways to access a forest of parents: Exclusive, Concurrent (in CUDA global memory), InBlock (shared memory).
// All are relaxed, as entries must be whole, in no order; `load_published` shows what a publisher wrote.
#pragma once

#include "core/platform.h"

namespace conncomp {

// Bytes from which on an entry takes a minimum at once, not by compare_exchange: on a GPU only.
#if defined(__CUDACC__) || defined(CONNCOMP_FOR_GPU)
constexpr int kLeastMinimum = 4;
#else
constexpr int kLeastMinimum = 16;
#endif

struct Exclusive {
  template <class T> static T load(const T* at) { return *at; }
  template <class T> static void store(T* at, T value) { *at = value; }
  template <class T> static T compare_exchange(T* at, T expected, T desired) {
    const T seen = *at;
    if (seen == expected) *at = desired;
    return seen;
  }
  template <class T> static T load_published(const T* at) { return *at; }
  template <class T> static T publish(T* at, T expected, T desired) {
    return compare_exchange(at, expected, desired);
  }
  template <class T> static T fetch_add(T* at, T value) {
    const T seen = *at;
    *at = seen + value;
    return seen;
  }
  template <class T> static void fetch_min(T* at, T value) {
    if (value < *at) *at = value;
  }
  template <class T> static void fetch_max(T* at, T value) {
    if (*at < value) *at = value;
  }
};

#ifdef __CUDACC__

// The types that CUDA's atomic functions take, by size. Those of two bytes are only exchanged.
template <int bytes> struct AtomicTypes;
template <> struct AtomicTypes<2> {
  using Unsigned = unsigned short;
};
template <> struct AtomicTypes<4> {
  using Signed = int;
  using Unsigned = unsigned int;
};
template <> struct AtomicTypes<8> {
  using Signed = long long;
  using Unsigned = unsigned long long;
};

struct Atomics {
  template <class T> using Signed = typename AtomicTypes<sizeof(T)>::Signed;
  template <class T> using Unsigned = typename AtomicTypes<sizeof(T)>::Unsigned;

  template <class T> static T compare_exchange(T* at, T expected, T desired) {
    return T(atomicCAS(reinterpret_cast<Unsigned<T>*>(at), Unsigned<T>(expected), Unsigned<T>(desired)));
  }
  template <class T> static T fetch_add(T* at, T value) {
    return T(atomicAdd(reinterpret_cast<Unsigned<T>*>(at), Unsigned<T>(value)));
  }
  static double fetch_add(double* at, double value) { return atomicAdd(at, value); }
  template <class T> static T exchange(T* at, T value) {
    return T(atomicExch(reinterpret_cast<Unsigned<T>*>(at), Unsigned<T>(value)));
  }
  template <class T> static T fetch_or(T* at, T bits) {
    return T(atomicOr(reinterpret_cast<Unsigned<T>*>(at), Unsigned<T>(bits)));
  }
  template <class T> static T fetch_min(T* at, T value) {
    if constexpr (T(-1) < T(0))
      return T(atomicMin(reinterpret_cast<Signed<T>*>(at), Signed<T>(value)));
    else
      return T(atomicMin(reinterpret_cast<Unsigned<T>*>(at), Unsigned<T>(value)));
  }
  template <class T> static T fetch_max(T* at, T value) {
    if constexpr (T(-1) < T(0))
      return T(atomicMax(reinterpret_cast<Signed<T>*>(at), Signed<T>(value)));
    else
      return T(atomicMax(reinterpret_cast<Unsigned<T>*>(at), Unsigned<T>(value)));
  }
};

// How global loads are ordered: kCached ones may be old, of the L1 cache, and kRelaxed ones take 1.6 and
// 3.5 times as long on a large grid. Inline assembly lets the compiler split, repeat or invent no access.
enum class LoadOrder { kCached, kRelaxed, kAcquire };
#define CONNCOMP_LOAD(...)                             \
  if constexpr (order == LoadOrder::kCached)           \
    asm volatile("ld.global" __VA_ARGS__);             \
  else if constexpr (order == LoadOrder::kRelaxed)     \
    asm volatile("ld.relaxed.gpu.global" __VA_ARGS__); \
  else                                                 \
    asm volatile("ld.acquire.gpu.global" __VA_ARGS__ : "memory")

template <LoadOrder order, class T> T load_one(const T* at) {
  Atomics::Unsigned<T> bits;
  if constexpr (sizeof(T) == 4) {
    CONNCOMP_LOAD(".b32 %0, [%1];" : "=r"(bits) : "l"(__cvta_generic_to_global(at)));
  } else {
    static_assert(sizeof(T) == 8);
    CONNCOMP_LOAD(".b64 %0, [%1];" : "=l"(bits) : "l"(__cvta_generic_to_global(at)));
  }
  return T(bits);
}
template <LoadOrder order, class T> void load_pair(const T* at, T* pair) {
  Atomics::Unsigned<T> first, second;
  if constexpr (sizeof(T) == 4) {
    CONNCOMP_LOAD(".v2.b32 {%0, %1}, [%2];" : "=r"(first), "=r"(second) : "l"(__cvta_generic_to_global(at)));
  } else {
    static_assert(sizeof(T) == 8);
    CONNCOMP_LOAD(".v2.b64 {%0, %1}, [%2];" : "=l"(first), "=l"(second) : "l"(__cvta_generic_to_global(at)));
  }
  pair[0] = T(first), pair[1] = T(second);
}

// For global memory; loads may be old.
struct Concurrent : Atomics {
  template <class T> static T load(const T* at) { return load_one<LoadOrder::kCached>(at); }
  template <class T> static T load_published(const T* at) { return load_one<LoadOrder::kAcquire>(at); }
  template <class T> static void load_all(const T* at, T (&pair)[2]) {
    load_pair<LoadOrder::kCached>(at, pair);
  }
  template <class T> static void load_all(const T* at, T (&values)[4]) {
    if constexpr (sizeof(T) == 4) {
      unsigned int bits[4];
      asm volatile("ld.global.v4.b32 {%0, %1, %2, %3}, [%4];"
          : "=r"(bits[0]), "=r"(bits[1]), "=r"(bits[2]), "=r"(bits[3])
          : "l"(__cvta_generic_to_global(at)));
#pragma unroll
      for (int k = 0; k < 4; ++k) values[k] = T(bits[k]);
    } else {
      load_pair<LoadOrder::kCached>(at, values);
      load_pair<LoadOrder::kCached>(at + 2, values + 2);
    }
  }
  template <class T> static void store(T* at, T value) {
    static_assert(sizeof(T) == 1 || sizeof(T) == 4 || sizeof(T) == 8);
    if constexpr (sizeof(T) == 1)
      asm volatile(
          "st.relaxed.gpu.global.b8 [%0], %1;" ::"l"(__cvta_generic_to_global(at)), "r"((unsigned int)value));
    else if constexpr (sizeof(T) == 4)
      asm volatile("st.relaxed.gpu.global.b32 [%0], %1;" ::"l"(__cvta_generic_to_global(at)),
          "r"((unsigned int)value));
    else
      asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(__cvta_generic_to_global(at)),
          "l"((unsigned long long)value));
  }
  template <class T> static T publish(T* at, T expected, T desired) {
    __threadfence();
    const T seen = compare_exchange(at, expected, desired);
    __threadfence();
    return seen;
  }
  // One, two or four neighbouring entries, each whole, aligned to the size of all, or to 16 bytes.
  template <class T, int count> static void store_all(T* at, const T (&values)[count]) {
    static_assert((sizeof(T) == 4 || sizeof(T) == 8) && (count == 1 || count == 2 || count == 4));
    if constexpr (count == 1) {
      store(at, values[0]);
    } else if constexpr (sizeof(T) == 4 && count == 2) {
      asm volatile("st.relaxed.gpu.global.v2.b32 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(at)),
          "r"((unsigned int)values[0]), "r"((unsigned int)values[1]));
    } else if constexpr (sizeof(T) == 4) {
      asm volatile("st.relaxed.gpu.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(at)),
          "r"((unsigned int)values[0]), "r"((unsigned int)values[1]), "r"((unsigned int)values[2]),
          "r"((unsigned int)values[3]));
    } else {
#pragma unroll
      for (int k = 0; k < count; k += 2)
        asm volatile("st.relaxed.gpu.global.v2.b64 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(at + k)),
            "l"((unsigned long long)values[k]), "l"((unsigned long long)values[k + 1]));
    }
  }
};

// For global memory that other blocks write meanwhile; loads are not old.
struct Current : Concurrent {
  template <class T> static T load(const T* at) { return load_one<LoadOrder::kRelaxed>(at); }
  template <class T> static void load_all(const T* at, T (&pair)[2]) {
    load_pair<LoadOrder::kRelaxed>(at, pair);
  }
};

// For shared memory, known by the address; a volatile access is a relaxed one in PTX.
struct InBlock : Atomics {
#ifdef CONNCOMP_RACECHECK
  // compute-sanitizer's racecheck reports accesses that may meet, unless both are atomic functions.
  template <class T> static T load(const T* at) { return compare_exchange(const_cast<T*>(at), T(0), T(0)); }
  template <class T> static void store(T* at, T value) {
    for (T seen = load(at), held; (held = compare_exchange(at, seen, value)) != seen;) seen = held;
  }
#else
  template <class T> static T load(const T* at) { return *const_cast<const volatile T*>(at); }
  template <class T> static void store(T* at, T value) { *const_cast<volatile T*>(at) = value; }
#endif
};

#else

struct Concurrent {
  template <class T> static T load(const T* at) {
    CONNCOMP_INTERLEAVE();
    return __atomic_load_n(at, __ATOMIC_RELAXED);
  }
  template <class T> static void store(T* at, T value) {
    CONNCOMP_INTERLEAVE();
    __atomic_store_n(at, value, __ATOMIC_RELAXED);
  }
  template <class T, int count> static void load_all(const T* at, T (&values)[count]) {
    for (int k = 0; k < count; ++k) values[k] = load(at + k);
  }
  template <class T, int count> static void store_all(T* at, const T (&values)[count]) {
    for (int k = 0; k < count; ++k) store(at + k, values[k]);
  }
  template <class T> static T compare_exchange(T* at, T expected, T desired) {
    CONNCOMP_INTERLEAVE();
    __atomic_compare_exchange_n(at, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
  }
  template <class T> static T load_published(const T* at) {
    CONNCOMP_INTERLEAVE();
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
  }
  template <class T> static T publish(T* at, T expected, T desired) {
    CONNCOMP_INTERLEAVE();
    __atomic_compare_exchange_n(at, &expected, desired, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return expected;
  }
  template <class T> static T fetch_add(T* at, T value) {
    CONNCOMP_INTERLEAVE();
    return __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
  }
  static double fetch_add(double* at, double value) {
    CONNCOMP_INTERLEAVE();
    double seen;
    __atomic_load(at, &seen, __ATOMIC_RELAXED);
    for (double sum = seen + value;
        !__atomic_compare_exchange(at, &seen, &sum, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);)
      sum = seen + value;
    return seen;
  }
  template <class T> static T exchange(T* at, T value) {
    CONNCOMP_INTERLEAVE();
    return __atomic_exchange_n(at, value, __ATOMIC_RELAXED);
  }
  template <class T> static T fetch_or(T* at, T bits) {
    CONNCOMP_INTERLEAVE();
    return __atomic_fetch_or(at, bits, __ATOMIC_RELAXED);
  }
  template <class T> static T fetch_min(T* at, T value) {
    T seen = load(at);
    for (T held; value < seen && (held = compare_exchange(at, seen, value)) != seen;) seen = held;
    return seen;
  }
  template <class T> static T fetch_max(T* at, T value) {
    T seen = load(at);
    for (T held; seen < value && (held = compare_exchange(at, seen, value)) != seen;) seen = held;
    return seen;
  }
};

using Current = Concurrent;
using InBlock = Concurrent;

#endif

}
