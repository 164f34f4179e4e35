// Optional instructions of an architecture, which compilers use where they may.
#pragma once

#include <cstdint>

// Calls each(macro, name): the macro of files compiled for them, and their name.
#define CONNCOMP_INSTRUCTIONS(each)                                                                    \
  each(__POPCNT__, "popcnt") each(__AVX__, "avx") each(__AVX2__, "avx2") each(__BMI__, "bmi")          \
      each(__BMI2__, "bmi2") each(__FMA__, "fma") each(__AVX512F__, "avx512f")                         \
          each(__AVX512CD__, "avx512cd") each(__AVX512BW__, "avx512bw") each(__AVX512DQ__, "avx512dq") \
              each(__AVX512VL__, "avx512vl") each(__AVX512IFMA__, "avx512ifma")                        \
                  each(__AVX512VBMI__, "avx512vbmi") each(__AVX512VBMI2__, "avx512vbmi2")              \
                      each(__AVX512VNNI__, "avx512vnni") each(__AVX512BITALG__, "avx512bitalg")        \
                          each(__AVX512VPOPCNTDQ__, "avx512vpopcntdq")

namespace conncomp {

// Those that _registers_native is compiled for, a bit each, in the order above.
extern const uint32_t instructions_of_native;

}
