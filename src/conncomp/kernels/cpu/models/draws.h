// Random numbers of core/spins.h, several at a time: with AVX2 a lane of 64 bits has a block of Philox.
#pragma once

#include <algorithm>

#include "core/spins.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace conncomp {

struct EightBonds {
  Bits64 first_word;
  int64_t stride;
  int axis;
  Bits64* words;

  void number(const Draws& draws, Bits64* index) const {
    for (int k = 0; k < 8; ++k) index[k] = (first_word + Bits64(k * stride)) | draws.replica << kReplicaShift;
  }
};

#ifdef __AVX2__

struct FourLanes {
  using Register = __m256i;
  static constexpr int kLanes = 4;
  using Words = Bits64 __attribute__((vector_size(8 * kLanes)));
  static Register all(Bits64 value) { return _mm256_set1_epi64x(int64_t(value)); }
  static Register load(const Bits64* at) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)); }
  static void store(Bits64* at, Register a) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), a); }
  static Register times(Register a, Register b) { return _mm256_mul_epu32(a, b); }
  static Register either(Register a, Register b) { return _mm256_xor_si256(a, b); }
  static Register any(Register a, Register b) { return _mm256_or_si256(a, b); }
  static Register upper(Register a) { return _mm256_srli_epi64(a, 32); }
  static Register joined(Register low, Register high) {
    return _mm256_blend_epi32(low, _mm256_slli_epi64(high, 32), 0xAA);
  }
};

#ifdef __AVX512F__
// Forms with masks of all lanes avoid warnings of GCC.
struct EightLanes {
  using Register = __m512i;
  static constexpr int kLanes = 8;
  using Words = Bits64 __attribute__((vector_size(8 * kLanes)));
  static Register all(Bits64 value) { return _mm512_set1_epi64(int64_t(value)); }
  static Register load(const Bits64* at) { return _mm512_loadu_si512(at); }
  static void store(Bits64* at, Register a) { _mm512_storeu_si512(at, a); }
  static Register times(Register a, Register b) { return _mm512_maskz_mul_epu32(0xFF, a, b); }
  static Register either(Register a, Register b) { return _mm512_xor_si512(a, b); }
  static Register any(Register a, Register b) { return _mm512_or_si512(a, b); }
  static Register upper(Register a) { return _mm512_maskz_srli_epi64(0xFF, a, 32); }
  static Register joined(Register low, Register high) {
    return _mm512_mask_blend_epi32(0xAAAA, low, _mm512_maskz_slli_epi64(0xFF, high, 32));
  }
};
using MostLanes = EightLanes;
#else
using MostLanes = FourLanes;
#endif

// Blocks of Philox, a word of each in the lower half of a lane; the upper halves hold anything.
template <int kRegisters, class Lanes = FourLanes> struct BlockLanes {
  using Register = typename Lanes::Register;

  Register word[4][kRegisters];

  void encrypt(Bits64 seed) {
    const Register low_factor = Lanes::all(0xD2511F53), high_factor = Lanes::all(0xCD9E8D57);
    Bits32 key[2] = {Bits32(seed), Bits32(seed >> 32)};
#pragma GCC unroll 10
    for (int round = 0; round < 10; ++round) {
      const Register low_key = Lanes::all(key[0]), high_key = Lanes::all(key[1]);
      for (int k = 0; k < kRegisters; ++k) {
        const Register a = Lanes::times(low_factor, word[0][k]), b = Lanes::times(high_factor, word[2][k]);
        word[0][k] = Lanes::either(Lanes::either(Lanes::upper(b), low_key), word[1][k]);
        word[2][k] = Lanes::either(Lanes::either(Lanes::upper(a), high_key), word[3][k]);
        word[1][k] = b;
        word[3][k] = a;
      }
      key[0] += 0x9E3779B9u;
      key[1] += 0xBB67AE85u;
    }
  }

  Register half(int register_, int which) const {
    return Lanes::joined(word[2 * which][register_], word[2 * which + 1][register_]);
  }
};

#endif

// Lets first[i] and last[i] be the halves of the block that `draws` has for a purpose and index[i].
[[gnu::noinline]] inline void draw_all(
    const Draws& draws, Purpose purpose, const Bits64* index, int64_t count, Bits64* first, Bits64* last) {
  int64_t i = 0;
#ifdef __AVX2__
  using Lanes = MostLanes;
  constexpr int kRegisters = 4, kBlocks = kRegisters * Lanes::kLanes;
  const Lanes::Register step = Lanes::all(draws.step), draw = Lanes::all(purpose),
                        replica = Lanes::all(draws.replica << kReplicaShift);
  for (; i + kBlocks <= count; i += kBlocks) {
    BlockLanes<kRegisters, Lanes> lanes;
    for (int k = 0; k < kRegisters; ++k) {
      lanes.word[0][k] = Lanes::any(Lanes::load(index + i + Lanes::kLanes * k), replica);
      lanes.word[1][k] = Lanes::upper(lanes.word[0][k]);
      lanes.word[2][k] = step;
      lanes.word[3][k] = draw;
    }
    lanes.encrypt(draws.seed);
    for (int k = 0; k < kRegisters; ++k) {
      Lanes::store(first + i + Lanes::kLanes * k, lanes.half(k, 0));
      Lanes::store(last + i + Lanes::kLanes * k, lanes.half(k, 1));
    }
  }
#endif
  for (; i < count; ++i) {
    const PhiloxBlock block = draws(purpose, index[i]);
    first[i] = half(block, 0);
    last[i] = half(block, 1);
  }
}

#ifdef __AVX2__

// bernoulli() for the words of two registers, in place, given the blocks' indices by lane, purposes and axes.
template <class Lanes>
inline void activate_two(const Draws& draws, const Bits64* index, const Bits32 (&draw)[2], Bits64 probability,
    Bits64* const (&words)[2]) {
  using Words = typename Lanes::Words;
  constexpr int kBlocks = 2;
  Words undecided[2], set[2] = {};
  for (int k = 0; k < 2; ++k) std::memcpy(&undecided[k], words[k], sizeof undecided[k]);
  const auto done = [&] {
    const Words any = undecided[0] | undecided[1], none{};
    return probability == 0 || std::memcmp(&any, &none, sizeof any) == 0;
  };
  for (int block = 0; !done(); block += kBlocks) {
    BlockLanes<2 * kBlocks, Lanes> lanes;  // of both registers for this block, then for the next one
    for (int k = 0; k < 2 * kBlocks; ++k) {
      lanes.word[0][k] = Lanes::load(index + k % 2 * Lanes::kLanes);
      lanes.word[1][k] = Lanes::upper(lanes.word[0][k]);
      lanes.word[2][k] = Lanes::all(draws.step);
      lanes.word[3][k] = Lanes::all(draw[k % 2] | (block + k / 2) << 16);
    }
    lanes.encrypt(draws.seed);
    for (int digit = 0; digit < 2 * kBlocks; ++digit, probability <<= 1)
      for (int k = 0; k < 2; ++k) {
        const Words drawn = Words(lanes.half(digit / 2 * 2 + k, digit % 2));
        if (probability >> 63) {
          set[k] |= undecided[k] & ~drawn;
          undecided[k] &= drawn;
        } else {
          undecided[k] &= ~drawn;
        }
      }
  }
  for (int k = 0; k < 2; ++k) std::memcpy(words[k], &set[k], sizeof set[k]);
}

inline void activate_eight(
    const Draws& draws, const EightBonds& bonds, Bits64 probability, Purpose purpose = kBond) {
  const Bits32 draw = purpose | bonds.axis << 8;
  Bits64 index[8];
  bonds.number(draws, index);
  activate_two<FourLanes>(draws, index, {draw, draw}, probability, {bonds.words, bonds.words + 4});
}
inline void activate_both(const Draws& draws, const EightBonds& first, const EightBonds& second,
    Bits64 probability, Purpose purpose = kBond) {
#ifdef __AVX512F__
  Bits64 index[16];
  first.number(draws, index);
  second.number(draws, index + 8);
  activate_two<EightLanes>(draws, index,
      {Bits32(purpose | first.axis << 8), Bits32(purpose | second.axis << 8)}, probability,
      {first.words, second.words});
#else
  activate_eight(draws, first, probability, purpose);
  activate_eight(draws, second, probability, purpose);
#endif
}

inline Bits64 activate_word(const Draws& draws, Bits64 word, int axis, Bits64 probability, Bits64 wanted) {
  const Bits64 index = word | draws.replica << kReplicaShift;
  Bits64 set = 0, undecided = wanted;
  for (int block = 0; undecided != 0 && probability != 0; block += 4) {
    BlockLanes<1> lanes;
    lanes.word[0][0] = _mm256_set1_epi64x(int64_t(index));
    lanes.word[1][0] = _mm256_set1_epi64x(int64_t(index >> 32));
    lanes.word[2][0] = _mm256_set1_epi64x(draws.step);
    lanes.word[3][0] = _mm256_add_epi64(_mm256_set1_epi64x(kBond | axis << 8 | block << 16),
        _mm256_setr_epi64x(0, 1 << 16, 2 << 16, 3 << 16));
    lanes.encrypt(draws.seed);
    alignas(32) Bits64 drawn[2][4];
    for (int k = 0; k < 2; ++k) _mm256_store_si256(reinterpret_cast<__m256i*>(drawn[k]), lanes.half(0, k));
    for (int digit = 0; digit < 8; ++digit, probability <<= 1) {
      const Bits64 bits = drawn[digit % 2][digit / 2];
      if (probability >> 63) {
        set |= undecided & ~bits;
        undecided &= bits;
      } else {
        undecided &= ~bits;
      }
    }
  }
  return set;
}

#else
inline void activate_eight(
    const Draws& draws, const EightBonds& bonds, Bits64 probability, Purpose purpose = kBond) {
  for (int k = 0; k < 8; ++k)
    bonds.words[k] = bernoulli(
        draws, bonds.first_word + Bits64(k * bonds.stride), bonds.axis, probability, bonds.words[k], purpose);
}
inline void activate_both(const Draws& draws, const EightBonds& first, const EightBonds& second,
    Bits64 probability, Purpose purpose = kBond) {
  activate_eight(draws, first, probability, purpose);
  activate_eight(draws, second, probability, purpose);
}

inline Bits64 activate_word(const Draws& draws, Bits64 word, int axis, Bits64 probability, Bits64 wanted) {
  return bernoulli(draws, word, axis, probability, wanted);
}

#endif

inline void activate(const Draws& draws, int64_t first_word, int axis, Bits64 probability, int64_t count,
    Bits64* words, Purpose purpose = kBond) {
#ifdef __AVX2__
  constexpr int64_t kGroup = 8;
  const auto eight = [&](int64_t w, Bits64* bonds) {
    return EightBonds{Bits64(first_word + w), 1, axis, bonds};
  };
  int64_t w = 0;
  for (; w + 2 * kGroup <= count; w += 2 * kGroup)
    activate_both(draws, eight(w, words + w), eight(w + kGroup, words + w + kGroup), probability, purpose);
  if (w + kGroup <= count) {
    activate_eight(draws, eight(w, words + w), probability, purpose);
    w += kGroup;
  }
  if (w == count) return;
  Bits64 group[kGroup] = {};
  std::copy(words + w, words + count, group);
  activate_eight(draws, eight(w, group), probability, purpose);
  std::copy_n(group, count - w, words + w);
#else
  for (int64_t w = 0; w < count; ++w)
    words[w] = bernoulli(draws, Bits64(first_word + w), axis, probability, words[w], purpose);
#endif
}

}
