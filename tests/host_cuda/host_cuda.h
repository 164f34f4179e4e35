// CUDA's words for the C++ compiler, so that it builds the very .cuh files that NVRTC builds, to be run by
// the executor in host_cuda.cpp. Included ahead of a kernel file, by -include.
//
// Only what CUDA has is here, with the types that CUDA has it for: what compiles here should compile there.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
// A block runs on one thread of the operating system from begin to end, so that what belongs to that thread
// belongs to the block.
#define __shared__ static thread_local
#define CONNCOMP_DYNAMIC_SHARED(T, name) T* const name = static_cast<T*>(host_cuda::dynamic_shared())
#define CONNCOMP_INTERLEAVE() host_cuda::interleave()
#define CONNCOMP_FOR_GPU

// ------------------------------------------------------------------------------------ built-in types

#define HOST_CUDA_VECTORS(T, name)                                               \
  struct alignas(2 * sizeof(T)) name##2 { T x, y; };                             \
  struct name##3 { T x, y, z; };                                                 \
  struct alignas(sizeof(T) == 8 ? 16 : 4 * sizeof(T)) name##4 { T x, y, z, w; }; \
  inline name##2 make_##name##2(T x, T y) { return {x, y}; }                     \
  inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }             \
  inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }     \
  static_assert(sizeof(name##3) == 3 * sizeof(T) && sizeof(name##4) == 4 * sizeof(T), "")

HOST_CUDA_VECTORS(signed char, char);
HOST_CUDA_VECTORS(unsigned char, uchar);
HOST_CUDA_VECTORS(short, short);
HOST_CUDA_VECTORS(unsigned short, ushort);
HOST_CUDA_VECTORS(int, int);
HOST_CUDA_VECTORS(unsigned int, uint);
HOST_CUDA_VECTORS(long long, longlong);
HOST_CUDA_VECTORS(unsigned long long, ulonglong);
HOST_CUDA_VECTORS(float, float);
HOST_CUDA_VECTORS(double, double);
#undef HOST_CUDA_VECTORS

struct dim3 {
  unsigned int x = 1, y = 1, z = 1;
};

constexpr int warpSize = 32;
// At a distance from the thread's pointer that is known once the library is loaded: else each access calls.
#define HOST_CUDA_NEAR __attribute__((tls_model("initial-exec")))
extern __thread uint3 threadIdx HOST_CUDA_NEAR, blockIdx HOST_CUDA_NEAR;
extern __thread dim3 blockDim HOST_CUDA_NEAR, gridDim HOST_CUDA_NEAR;

// ---------------------------------------------------------------------------------- the executor's part

#define HOST_CUDA_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

namespace host_cuda {

// What a launch is given, laid out as host_gpu.py does.
struct Shape {
  dim3 grid, block;
  uint64_t shared, seed;
  int32_t workers, seconds;
};

constexpr int kErrorSize = 2048;
enum Outcome { kDone, kFailed, kWrongArguments };

// The values of a warp, when all lanes in `mask` have come.
struct Lanes {
  unsigned int mask, nonzero;  // nonzero: the lanes whose value is not zero
  uint64_t value[32];
};
using Result = uint64_t (*)(const Lanes&, int parameter);

void* dynamic_shared();
void interleave();
void fence();
int lane();
[[noreturn]] void fail(const char* what, const char* file, int line);
// Waits for all lanes in the mask; `orders` says whether memory accesses before it come before those after.
uint64_t warp_collective(const char* name, unsigned int mask, uint64_t value, int parameter, Result result,
    bool orders, const char* file, int line);
enum class Reduce { kNone, kOr, kAnd, kCount };
int block_barrier(const char* name, Reduce reduce, int predicate, const char* file, int line);
Outcome run(
    const Shape& shape, void (*body)(const void*), const void* call, const void* address, char* error);

template <class T> uint64_t to_bits(T value) {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) >= 4, "CUDA shuffles values of 4 and 8 bytes");
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

template <class T> T from_bits(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

// The value of lane `source`, or anything where that lane is not in the mask.
template <class T>
T shuffle(const char* name, unsigned int mask, T value, int source, const char* file, int line) {
  const Result result = [](const Lanes& lanes, int from) {
    return lanes.mask >> from & 1 ? lanes.value[from] : 0x9e3779b97f4a7c15u ^ lanes.value[from];
  };
  return from_bits<T>(warp_collective(name, mask, to_bits(value), source, result, false, file, line));
}

inline int first_of_group(int width, const char* file, int line) {
  if (width < 1 || width > 32 || (width & (width - 1)) != 0)
    fail("a shuffle's width is not a power of two up to 32", file, line);
  return lane() & ~(width - 1);
}

inline unsigned int vote(const char* name, unsigned int mask, bool predicate, const char* file, int line) {
  const Result result = [](const Lanes& lanes, int) { return uint64_t(lanes.nonzero); };
  return unsigned(warp_collective(name, mask, predicate, 0, result, false, file, line));
}

template <class A> A read_argument(const void* from) {
  std::array<std::byte, sizeof(A)> bytes;
  std::memcpy(bytes.data(), from, sizeof(A));
  return std::bit_cast<A>(bytes);
}

// Runs a kernel with arguments that are given as addresses and sizes, the size of a pointer as -1.
template <class... A>
Outcome launch(void (*kernel)(A...), const Shape& shape, int count, const void* const* arguments,
    const int64_t* sizes, char* error) {
  constexpr int wanted = sizeof...(A);
  const int64_t wanted_sizes[] = {(std::is_pointer_v<A> ? -1 : int64_t(sizeof(A)))..., 0};
  if (count != wanted) {
    std::snprintf(error, kErrorSize, "takes %d arguments, not %d", wanted, count);
    return kWrongArguments;
  }
  for (int i = 0; i < count; ++i) {
    if (sizes[i] == wanted_sizes[i]) continue;
    const auto describe = [](char* text, int64_t size) {
      size < 0 ? std::snprintf(text, 40, "a pointer") : std::snprintf(text, 40, "%d bytes", int(size));
    };
    char wants[40], got[40];
    describe(wants, wanted_sizes[i]);
    describe(got, sizes[i]);
    std::snprintf(error, kErrorSize, "argument %d is %s in the kernel, but %s is given", i, wants, got);
    return kWrongArguments;
  }
  struct Call {
    void (*kernel)(A...);
    std::tuple<A...> values;
  };
  const Call call = [&]<size_t... i>(std::index_sequence<i...>) {
    return Call{kernel, std::tuple<A...>{read_argument<A>(arguments[i])...}};
  }(std::index_sequence_for<A...>());
  const auto body = [](const void* at) {
    const Call& call = *static_cast<const Call*>(at);
    std::apply(call.kernel, call.values);
  };
  return run(shape, body, &call, reinterpret_cast<const void*>(kernel), error);
}

// Integers of eight bytes are `long` for some headers and `long long` for others; CUDA has the latter.
template <class T, class... Types>
concept OneOf = ((std::same_as<T, Types> ||
                     (std::integral<T> && std::integral<Types> && sizeof(T) == 8 && sizeof(Types) == 8 &&
                         std::signed_integral<T> == std::signed_integral<Types>)) ||
                 ...);

// Replaces *at by change(*at), atomically; returns what was there.
template <class T, class Change> T atomic_change(T* at, Change&& change) {
  interleave();
  T seen;
  __atomic_load(at, &seen, __ATOMIC_RELAXED);
  for (T wanted = change(seen);
      !__atomic_compare_exchange(at, &seen, &wanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);)
    wanted = change(seen);
  return seen;
}

}

// ------------------------------------------------------------------------------ barriers and collectives

inline void __syncthreads(HOST_CUDA_HERE) {
  host_cuda::block_barrier("__syncthreads", host_cuda::Reduce::kNone, 0, file, line);
}
inline int __syncthreads_or(int predicate, HOST_CUDA_HERE) {
  return host_cuda::block_barrier("__syncthreads_or", host_cuda::Reduce::kOr, predicate, file, line);
}
inline int __syncthreads_and(int predicate, HOST_CUDA_HERE) {
  return host_cuda::block_barrier("__syncthreads_and", host_cuda::Reduce::kAnd, predicate, file, line);
}
inline int __syncthreads_count(int predicate, HOST_CUDA_HERE) {
  return host_cuda::block_barrier("__syncthreads_count", host_cuda::Reduce::kCount, predicate, file, line);
}

inline void __syncwarp(unsigned int mask = 0xffffffffu, HOST_CUDA_HERE) {
  const host_cuda::Result result = [](const host_cuda::Lanes&, int) { return uint64_t(0); };
  host_cuda::warp_collective("__syncwarp", mask, 0, 0, result, true, file, line);
}

template <class T> T __shfl_sync(unsigned int mask, T value, int source, int width = 32, HOST_CUDA_HERE) {
  const int first = host_cuda::first_of_group(width, file, line);
  return host_cuda::shuffle("__shfl_sync", mask, value, first + (source & (width - 1)), file, line);
}
template <class T>
T __shfl_up_sync(unsigned int mask, T value, unsigned int delta, int width = 32, HOST_CUDA_HERE) {
  const int first = host_cuda::first_of_group(width, file, line), here = host_cuda::lane();
  const bool inside = int64_t(here) - delta >= first;
  return host_cuda::shuffle("__shfl_up_sync", mask, value, inside ? here - int(delta) : here, file, line);
}
template <class T>
T __shfl_down_sync(unsigned int mask, T value, unsigned int delta, int width = 32, HOST_CUDA_HERE) {
  const int first = host_cuda::first_of_group(width, file, line), here = host_cuda::lane();
  const bool inside = int64_t(here) + delta < first + width;
  return host_cuda::shuffle("__shfl_down_sync", mask, value, inside ? here + int(delta) : here, file, line);
}
template <class T> T __shfl_xor_sync(unsigned int mask, T value, int flip, int width = 32, HOST_CUDA_HERE) {
  const int first = host_cuda::first_of_group(width, file, line), here = host_cuda::lane();
  const int source = here ^ flip;  // lanes of a group below may be read, those of one above not
  const bool inside = source >= 0 && source < first + width;
  return host_cuda::shuffle("__shfl_xor_sync", mask, value, inside ? source : here, file, line);
}

inline unsigned int __ballot_sync(unsigned int mask, int predicate, HOST_CUDA_HERE) {
  return host_cuda::vote("__ballot_sync", mask, predicate != 0, file, line);
}
inline int __any_sync(unsigned int mask, int predicate, HOST_CUDA_HERE) {
  return host_cuda::vote("__any_sync", mask, predicate != 0, file, line) != 0;
}
inline int __all_sync(unsigned int mask, int predicate, HOST_CUDA_HERE) {
  return host_cuda::vote("__all_sync", mask, predicate == 0, file, line) == 0;
}
template <class T> unsigned int __match_any_sync(unsigned int mask, T value, HOST_CUDA_HERE) {
  const host_cuda::Result result = [](const host_cuda::Lanes& lanes, int here) {
    uint64_t same = 0;
    for (int i = 0; i < 32; ++i)
      if (lanes.mask >> i & 1 && lanes.value[i] == lanes.value[here]) same |= uint64_t(1) << i;
    return same;
  };
  return unsigned(host_cuda::warp_collective(
      "__match_any_sync", mask, host_cuda::to_bits(value), host_cuda::lane(), result, false, file, line));
}

#define HOST_CUDA_REDUCE(name, T, expression)                                                              \
  inline T name(unsigned int mask, T value, HOST_CUDA_HERE) {                                              \
    const host_cuda::Result result = [](const host_cuda::Lanes& lanes, int) {                              \
      T a{};                                                                                               \
      bool first = true;                                                                                   \
      for (int i = 0; i < 32; ++i) {                                                                       \
        if (!(lanes.mask >> i & 1)) continue;                                                              \
        const T b = host_cuda::from_bits<T>(lanes.value[i]);                                               \
        a = first ? b : static_cast<T>(expression);                                                        \
        first = false;                                                                                     \
      }                                                                                                    \
      return host_cuda::to_bits(a);                                                                        \
    };                                                                                                     \
    return host_cuda::from_bits<T>(                                                                        \
        host_cuda::warp_collective(#name, mask, host_cuda::to_bits(value), 0, result, false, file, line)); \
  }
HOST_CUDA_REDUCE(__reduce_add_sync, unsigned int, a + b)
HOST_CUDA_REDUCE(__reduce_add_sync, int, unsigned(a) + unsigned(b))
HOST_CUDA_REDUCE(__reduce_min_sync, unsigned int, a < b ? a : b)
HOST_CUDA_REDUCE(__reduce_min_sync, int, a < b ? a : b)
HOST_CUDA_REDUCE(__reduce_max_sync, unsigned int, a < b ? b : a)
HOST_CUDA_REDUCE(__reduce_max_sync, int, a < b ? b : a)
HOST_CUDA_REDUCE(__reduce_and_sync, unsigned int, a& b)
HOST_CUDA_REDUCE(__reduce_or_sync, unsigned int, a | b)
HOST_CUDA_REDUCE(__reduce_xor_sync, unsigned int, a ^ b)
#undef HOST_CUDA_REDUCE

inline void __threadfence() { host_cuda::fence(); }
inline void __threadfence_block() { host_cuda::fence(); }
inline void __nanosleep(unsigned int) { host_cuda::interleave(); }
[[noreturn]] inline void __trap(HOST_CUDA_HERE) { host_cuda::fail("__trap", file, line); }

// -------------------------------------------------------------------------------------------- atomics

template <host_cuda::OneOf<int, unsigned int, unsigned long long, float, double> T>
T atomicAdd(T* at, std::type_identity_t<T> value) {
  if constexpr (std::integral<T>) {
    host_cuda::interleave();
    return __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
  } else {
    return host_cuda::atomic_change(at, [=](T seen) { return seen + value; });
  }
}
template <host_cuda::OneOf<int, unsigned int> T> T atomicSub(T* at, std::type_identity_t<T> value) {
  host_cuda::interleave();
  return __atomic_fetch_sub(at, value, __ATOMIC_RELAXED);
}
template <host_cuda::OneOf<int, unsigned int, long long, unsigned long long> T>
T atomicMin(T* at, std::type_identity_t<T> value) {
  return host_cuda::atomic_change(at, [=](T seen) { return value < seen ? value : seen; });
}
template <host_cuda::OneOf<int, unsigned int, long long, unsigned long long> T>
T atomicMax(T* at, std::type_identity_t<T> value) {
  return host_cuda::atomic_change(at, [=](T seen) { return seen < value ? value : seen; });
}
template <host_cuda::OneOf<int, unsigned int, long long, unsigned long long> T>
T atomicOr(T* at, std::type_identity_t<T> value) {
  host_cuda::interleave();
  return __atomic_fetch_or(at, value, __ATOMIC_RELAXED);
}
template <host_cuda::OneOf<int, unsigned int, long long, unsigned long long> T>
T atomicAnd(T* at, std::type_identity_t<T> value) {
  host_cuda::interleave();
  return __atomic_fetch_and(at, value, __ATOMIC_RELAXED);
}
template <host_cuda::OneOf<int, unsigned int, long long, unsigned long long> T>
T atomicXor(T* at, std::type_identity_t<T> value) {
  host_cuda::interleave();
  return __atomic_fetch_xor(at, value, __ATOMIC_RELAXED);
}
template <host_cuda::OneOf<int, unsigned int, unsigned long long, float> T>
T atomicExch(T* at, std::type_identity_t<T> value) {
  return host_cuda::atomic_change(at, [=](T) { return value; });
}
template <host_cuda::OneOf<int, unsigned int, unsigned long long, unsigned short> T>
T atomicCAS(T* at, std::type_identity_t<T> expected, std::type_identity_t<T> desired) {
  host_cuda::interleave();
  __atomic_compare_exchange_n(at, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}

// ---------------------------------------------------------------------------------------- arithmetic

inline int __popc(unsigned int x) { return std::popcount(x); }
inline int __popcll(unsigned long long x) { return std::popcount(x); }
inline int __ffs(int x) { return x == 0 ? 0 : std::countr_zero(unsigned(x)) + 1; }
inline int __ffsll(long long x) { return x == 0 ? 0 : std::countr_zero(uint64_t(x)) + 1; }
inline int __clz(int x) { return std::countl_zero(unsigned(x)); }
inline int __clzll(long long x) { return std::countl_zero(uint64_t(x)); }
inline unsigned int __brev(unsigned int x) {
  unsigned int reversed = 0;
  for (int i = 0; i < 32; ++i) reversed |= (x >> i & 1u) << (31 - i);
  return reversed;
}
inline unsigned long long __brevll(unsigned long long x) {
  return (unsigned long long)(__brev(unsigned(x))) << 32 | __brev(unsigned(x >> 32));
}
inline unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector) {
  const uint64_t bytes = uint64_t(y) << 32 | x;
  unsigned int result = 0;
  for (int i = 0; i < 4; ++i) result |= (unsigned(bytes >> 8 * (selector >> 4 * i & 7)) & 0xffu) << 8 * i;
  return result;
}
inline unsigned int __umulhi(unsigned int x, unsigned int y) { return unsigned(uint64_t(x) * y >> 32); }
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return (unsigned long long)((unsigned __int128)x * y >> 64);
}
// The shift is taken modulo 32, or with `c` no more than 32.
inline unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift) {
  return unsigned((uint64_t(high) << 32 | low) << (shift & 31) >> 32);
}
inline unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) {
  return unsigned((uint64_t(high) << 32 | low) >> (shift & 31));
}
inline unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift) {
  return unsigned((uint64_t(high) << 32 | low) << (shift < 32 ? shift : 32) >> 32);
}
inline unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift) {
  return unsigned((uint64_t(high) << 32 | low) >> (shift < 32 ? shift : 32));
}
template <class T> T __ldg(const T* at) { return *at; }

// The overloads that CUDA has and no others: min(int, long long) is ambiguous there.
#define HOST_CUDA_MIN_MAX(A, B)         \
  inline auto min(A a, B b) {           \
    using T = std::common_type_t<A, B>; \
    return T(b) < T(a) ? T(b) : T(a);   \
  }                                     \
  inline auto max(A a, B b) {           \
    using T = std::common_type_t<A, B>; \
    return T(a) < T(b) ? T(b) : T(a);   \
  }
HOST_CUDA_MIN_MAX(int, int)
HOST_CUDA_MIN_MAX(unsigned int, unsigned int)
HOST_CUDA_MIN_MAX(int, unsigned int)
HOST_CUDA_MIN_MAX(unsigned int, int)
HOST_CUDA_MIN_MAX(long, long)
HOST_CUDA_MIN_MAX(unsigned long, unsigned long)
HOST_CUDA_MIN_MAX(long, unsigned long)
HOST_CUDA_MIN_MAX(unsigned long, long)
HOST_CUDA_MIN_MAX(long long, long long)
HOST_CUDA_MIN_MAX(unsigned long long, unsigned long long)
HOST_CUDA_MIN_MAX(long long, unsigned long long)
HOST_CUDA_MIN_MAX(unsigned long long, long long)
HOST_CUDA_MIN_MAX(float, float)
HOST_CUDA_MIN_MAX(double, double)
HOST_CUDA_MIN_MAX(float, double)
HOST_CUDA_MIN_MAX(double, float)
#undef HOST_CUDA_MIN_MAX
