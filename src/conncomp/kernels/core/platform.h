// Lets the C++ compiler, NVRTC (without std) and the tests' host executor compile the same source. Functions
// need no __device__: cuda/launcher.py has NVRTC compile all for the GPU.
#pragma once

#ifdef __CUDACC__
using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = long long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long long;
#else
#include <cstdint>
#include <cstring>
#endif

#ifdef __CUDACC__
// A phase of a long kernel, called rather than inlined, so that it has all registers to itself.
#define CONNCOMP_PHASE __noinline__
// Declares `name`, a T* to the shared memory whose size is given at the launch.
#define CONNCOMP_DYNAMIC_SHARED(T, name)                         \
  extern __shared__ __align__(16) unsigned char name##_memory[]; \
  T* const name = reinterpret_cast<T*>(name##_memory)
#else
#define CONNCOMP_PHASE inline
#ifndef CONNCOMP_INTERLEAVE
#define CONNCOMP_INTERLEAVE()
#endif
#endif

namespace conncomp {

// The type of indices, labels and vertices, behind pointers that `auto` deduces.
template <class T>
concept Integer = requires(T value) { value % value; };

}
