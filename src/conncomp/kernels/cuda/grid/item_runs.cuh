// Connected components of small images of bytes on the GPU by runs, a block an item. The default for
// consecutive labels of batches of them, such as the masks of a network.
//
// What: as tiled_quads.cuh, with connectivity 1, too; labels are consecutive in each item.
// How: all in one launch, in shared memory; bits of 32 elements of a row are a word.
//
//    words     foreground of each word, and where runs begin: elements that the one to the left is not linked to
//    runs      are numbered as they lie, by counting beginnings: the run of an element is the last one that
//              begins up to it, however many words it covers. A run is a node, and its parent a lower number
//    contacts  of a run with those of the row above: the first one is its parent, by a store; then paths are
//              halved by all at once, and then the others are united. A contact is left out if two others make
//              up for it (see needed_contacts)
//    labels    a bit for each run says whether it is a root; the label of a root is the number of bits up to its
//              own, as components are numbered by their first elements
//
// Where all foreground of an item is of one value, which it finds out, links follow from bits alone; else both
// values are read again for each link. Values that change meanwhile decide links only: runs follow from words
// that are kept.
//
// Cost: 1 byte read and 4 or 8 written for each element. A block is alone on a multiprocessor if its item is
// large, so that few items leave others idle. Shared memory: 24 bytes a word, and 2 an element for parents.
//
// Source: He, Chao and Suzuki 2008 for runs as nodes; numbers of runs from counts of bits are of Lemaitre,
// Hennequin and Lacassagne 2020, who keep them for each row.
#pragma once

#include "core/links.h"
#include "core/union_find.h"
#include "cuda/core/root_bits.cuh"

namespace conncomp {

// Laid out as in item_runs.py.
struct ItemTable {
  int64_t* components;
  int64_t item_stride;             // of values
  int32_t row_stride, stride;      // likewise
  int32_t height, width, columns;  // of an item, in elements; columns are words of a row
  uint32_t inverse_of_row;         // 2^32 over columns, rounded up, or 0 for one
  int32_t corners;                 // whether elements touch at corners
};

// A word of an item, and the bits of it and of those around.
struct WordOfItem {
  int row, column, number;

  __device__ WordOfItem(int number, const ItemTable& table)
      : row(table.columns == 1 ? number : int(__umulhi(uint32_t(number), table.inverse_of_row))),
        column(number - row * table.columns),
        number(number) {}
};

// The bytes of a word that are not 0: of each the highest bit; these as four bits; and as whole bytes.
__device__ inline uint32_t bytes_that_are_set(uint32_t word) {
  return (((word & 0x7f7f7f7fu) + 0x7f7f7f7fu) | word) & 0x80808080u;
}
__device__ inline uint32_t four_bits(uint32_t bytes) { return (bytes >> 7) * 0x01020408u >> 24; }

struct alignas(16) SixteenBytes {
  uint32_t word[4];
};

// Which contacts with the row above there are, or are needed: with the element above, and those beside it.
struct ContactsAbove {
  uint32_t up, up_left, up_right;

  __device__ uint32_t any() const { return up | up_left | up_right; }
  __device__ ContactsAbove operator&(uint32_t bits) const {
    return {up & bits, up_left & bits, up_right & bits};
  }
};

struct Item {
  const uint8_t* values;
  const ItemTable& table;
  const uint32_t *foreground, *starts;  // by word
  bool is_mixed;                        // whether foreground has several values

  // Bits of a word and of the one to its left or right, such that each lies where its neighbour does.
  __device__ uint32_t from_left(const uint32_t* words, const WordOfItem& word) const {
    return words[word.number] << 1 | (word.column > 0 ? words[word.number - 1] >> 31 : 0);
  }
  __device__ uint32_t from_right(const uint32_t* words, const WordOfItem& word) const {
    return words[word.number] >> 1 | (word.column + 1 < table.columns ? words[word.number + 1] << 31 : 0);
  }
  // Those of a word's elements that have the value of the element so far from them, which is in the item.
  __device__ uint32_t alike(uint32_t elements, const WordOfItem& word, int down, int right) const {
    if (!is_mixed) return elements;
    const uint8_t* const own = values + int64_t(word.row) * table.row_stride +
                               int64_t(word.column * kRootWord) * table.stride;
    const int64_t ahead = int64_t(down) * table.row_stride + int64_t(right) * table.stride;
    uint32_t like = 0;
#pragma unroll 1
    for (uint32_t unvisited = elements; unvisited != 0; unvisited &= unvisited - 1) {
      const int element = __ffs(int(unvisited)) - 1;
      const uint8_t* const value = own + int64_t(element) * table.stride;
      if (value[0] == value[ahead]) like |= 1u << element;
    }
    return like;
  }
  // Elements that are linked to the one to their left.
  __device__ uint32_t linked_left(const WordOfItem& word) const {
    return alike(foreground[word.number] & from_left(foreground, word), word, 0, -1);
  }

  // The contacts of a word with the row above that connect all that touch, together with those of elements in
  // rows. Left out are those that others make up for:
  //
  //    up_left  up  up_right     up if left is linked to own, its up to it, and up to up_left; up_left and
  //       left  own  right       up_right if up touches own, as it touches both; up_left if left is linked and
  //                              touches it; up_right likewise
  //
  // What makes up for a contact lies beside it, or to the left of it. At the ends of words of several values
  // contacts are kept.
  __device__ ContactsAbove needed_contacts(const WordOfItem& word) const {
    if (word.row == 0) return {0, 0, 0};
    const WordOfItem above(word.number - table.columns, table);
    const uint32_t own = foreground[word.number];
    const uint32_t of_above = foreground[above.number];
    const uint32_t up = alike(own & of_above, word, -1, 0);
    const uint32_t left = own & ~starts[word.number], left_above = of_above & ~starts[above.number];
    uint32_t up_of_left = up << 1;
    if (!is_mixed && word.column > 0)
      up_of_left |= (foreground[word.number - 1] & foreground[above.number - 1]) >> 31;
    ContactsAbove needed{up & ~(left & up_of_left & left_above), 0, 0};
    if (!table.corners) return needed;
    const uint32_t up_left = own & ~up & from_left(foreground, above) & ~(left & up_of_left);
    uint32_t up_of_right = up >> 1, right = left >> 1;
    if (!is_mixed && word.column + 1 < table.columns) {
      const uint32_t beside = foreground[word.number + 1];
      up_of_right |= (beside & foreground[above.number + 1]) << 31;
      right |= (beside & ~starts[word.number + 1]) << 31;
    }
    const uint32_t up_right = own & ~up & from_right(foreground, above) & ~(right & up_of_right);
    needed.up_left = alike(up_left, word, -1, -1);
    needed.up_right = alike(up_right, word, -1, 1);
    return needed;
  }

  // The foreground of a word, by what is read of its values; and the bits that any of these values has, and
  // that all have.
  __device__ uint32_t read(const WordOfItem& word, const Background<uint8_t>& background, uint32_t& any,
                           uint32_t& all) const {
    const int first = word.column * kRootWord, left = table.width - first;
    const uint8_t* const at = values + int64_t(word.row) * table.row_stride + int64_t(first) * table.stride;
    uint32_t bytes[8];
    if (table.stride == 1 && left >= kRootWord && reinterpret_cast<size_t>(at) % 16 == 0) {
      const auto* const loaded = reinterpret_cast<const SixteenBytes*>(at);
      const SixteenBytes low = loaded[0], high = loaded[1];
#pragma unroll
      for (int k = 0; k < 4; ++k) bytes[k] = low.word[k], bytes[k + 4] = high.word[k];
    } else {
#pragma unroll
      for (int k = 0; k < 8; ++k) {
        bytes[k] = 0;
#pragma unroll
        for (int j = 0; j < 4; ++j)
          if (4 * k + j < left) bytes[k] |= uint32_t(at[int64_t(4 * k + j) * table.stride]) << 8 * j;
      }
    }
    uint32_t elements = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const uint32_t kept =
          background.present ? bytes_that_are_set(bytes[k] ^ background.value * 0x01010101u) : 0x80808080u;
      elements |= four_bits(kept) << 4 * k;
    }
    if (left < kRootWord) elements &= (1u << left) - 1;
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const uint32_t own = elements >> 4 * k & 15;
      const uint32_t whole = (own * 0x00204081u & 0x01010101u) * 255;
      any |= bytes[k] & whole, all &= bytes[k] | ~whole;
    }
    return elements;
  }
};

// A block an item. Its threads go through words, runs, and words of runs, in turn.
template <int threads, class Label>
__global__ void __launch_bounds__(threads, 1)
    label_items(Equal<uint8_t> rule, const uint8_t* __restrict__ values, Label* __restrict__ labels,
                ItemTable table) {
  using Run = uint16_t;
  CONNCOMP_DYNAMIC_SHARED(uint32_t, memory);
  __shared__ uint32_t any_value;
  const int words = table.height * table.columns, thread = int(threadIdx.x);
  uint32_t *const foreground = memory, *const starts = foreground + words, *const before = starts + words;
  uint32_t *const up = before + words, *const up_left = up + words, *const up_right = up_left + words;
  Run* const parent = reinterpret_cast<Run*>(up_right + words);
  follow_launch();
  values += blockIdx.x * table.item_stride;
  labels += int64_t(blockIdx.x) * table.height * table.width;
  Item item{values, table, foreground, starts, false};

  uint32_t any = 0, all = ~0u;
  for (int word = thread; word < words; word += threads)
    foreground[word] = item.read({word, table}, rule.background, any, all);
  any = (any | any >> 16 | any >> 8 | any >> 24) & 255, all = all & all >> 16 & all >> 8 & all >> 24 & 255;
  const bool has_any = all <= any;  // else there is no foreground, as all bits are set
  if (has_any) InBlock::store(&any_value, any);
  __syncthreads();
  item.is_mixed = __syncthreads_or(has_any && (any != all || any != any_value));

  // The run of an element of a word, by its bit.
  const auto run_of = [&](int word, int bit) {
    return Run(before[word] + __popc(starts[word] & ((2u << bit) - 1)) - 1);
  };
  int runs = 0;
  for (int first = 0; first < words; first += threads) {
    const int word = first + thread;
    const uint32_t begin =
        word < words ? foreground[word] & ~item.linked_left({word, table}) : 0;
    int total;
    const int of_words = runs + block_scan<threads>(__popc(begin), total);
    if (word < words) starts[word] = begin, before[word] = of_words;
    runs += total;
  }
  __syncthreads();

  const auto run_above = [&](int word, int bit, int right) {
    const int place = bit + right;
    const int above = word - table.columns + (place < 0 ? -1 : place / kRootWord);
    return run_of(above, place & (kRootWord - 1));
  };
  bool has_more = false;
  for (int word = thread; word < words; word += threads) {
    ContactsAbove contacts = item.needed_contacts({word, table});
    Run run = Run(before[word]);
#pragma unroll 1
    for (uint32_t unvisited = starts[word]; unvisited != 0; ++run) {
      const uint32_t begin = unvisited & (0 - unvisited);
      unvisited -= begin;
      const uint32_t end = unvisited & (0 - unvisited);
      const ContactsAbove of_run = contacts & ((end - 1) & ~(begin - 1));
      Run above = run;
      if (const uint32_t touching = of_run.any()) {
        const uint32_t bit = touching & (0 - touching);
        const int right = of_run.up & bit ? 0 : of_run.up_left & bit ? -1 : 1;
        above = run_above(word, __ffs(int(bit)) - 1, right);
        (right == 0 ? contacts.up : right < 0 ? contacts.up_left : contacts.up_right) -= bit;
      }
      parent[run] = above;
    }
    up[word] = contacts.up, up_left[word] = contacts.up_left, up_right[word] = contacts.up_right;
    has_more |= contacts.any() != 0;
  }
  has_more = __syncthreads_or(has_more);

  // Paths are halved by all who are on them, as each moves up.
  const auto flatten = [&] {
#pragma unroll 1
    for (int run = thread; run < runs; run += threads) {
      Run above = InBlock::load(parent + run);
      for (Run next; (next = InBlock::load(parent + above)) != above; above = next)
        InBlock::store(parent + run, next);
    }
    __syncthreads();
  };
  flatten();
  if (has_more) {
    for (int word = thread; word < words; word += threads) {
#pragma unroll 1
      for (int right = -1; right <= 1; ++right) {
#pragma unroll 1
        for (uint32_t unvisited = (right < 0 ? up_left : right > 0 ? up_right : up)[word]; unvisited != 0;
             unvisited &= unvisited - 1) {
          const int bit = __ffs(int(unvisited)) - 1;
          unite<InBlock>(parent, run_of(word, bit), run_above(word, bit, right));
        }
      }
    }
    __syncthreads();
    flatten();
  }

  // Contacts have been read.
  uint32_t *const roots = up, *const number = up_left;
  for (int first = 0; first < runs; first += threads) {
    const int run = first + thread;
    const uint32_t bits = __ballot_sync(kAllLanes, run < runs && parent[run] == run);
    if (lane() == 0 && run < runs) roots[run / kRootWord] = bits;
  }
  __syncthreads();
  int components = 0;
  for (int first = 0; first * kRootWord < runs; first += threads) {
    const int word = first + thread;
    const bool has = word * kRootWord < runs;
    int total;
    const int of_words = components + block_scan<threads>(has ? __popc(roots[word]) : 0, total);
    if (has) number[word] = of_words;
    components += total;
  }
  if (thread == 0) table.components[blockIdx.x] = components;
  __syncthreads();
  // A run's label, less 1, takes the place of its root.
  for (int run = thread; run < runs; run += threads) {
    const int root = parent[run];
    parent[run] = Run(label_of_bit(roots, number, root / kRootWord, root % kRootWord));
  }
  __syncthreads();

  // A lane an element.
#pragma unroll 4
  for (int at = thread / kWarp; at < words; at += threads / kWarp) {
    const WordOfItem word(at, table);
    const int x = word.column * kRootWord + lane();
    const bool is_foreground = foreground[at] >> lane() & 1;
    const Label label = is_foreground ? Label(parent[run_of(at, lane())]) + 1 : 0;
    if (x < table.width) labels[word.row * table.width + x] = label;
  }
}

}  // namespace conncomp
