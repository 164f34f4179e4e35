// Labels small images of bytes by runs, a block an item, in one launch and in shared memory: the default for
// consecutive labels of batches, such as masks of a network. A word has the bits of 32 elements of a row.
// Runs are numbered as they lie, by counting beginnings; a run is a node whose parent is a lower one: the
// first contact with the row above, by a store; then all paths are halved at once, and the other needed
// contacts are united. A label is the number of roots up to its own. Where an item's foreground has one
// value, links follow from bits alone; else both values are read again for each link, and values that change
// meanwhile decide links only. Cost: 1 byte read and 4 or 8 written per element. A large item has a
// multiprocessor to itself, so few items leave others idle. Shared memory: 24 bytes per word and 2 per
// element. Source: ours, from runs (He, Chao and Suzuki 2008) and union–find.
#pragma once

#include "cuda/core/root_bits.cuh"
#include "cuda/grid/run_forest.cuh"
#include "cuda/grid/word_bytes.cuh"

namespace conncomp {

// Layout: item_runs.py.
struct ItemTable {
  int64_t* components;
  int64_t item_stride;             // of values
  int32_t row_stride, stride;      // likewise
  int32_t height, width, columns;  // of an item, in elements; columns are words of a row
  uint32_t inverse_of_row;         // 2^32 over columns, rounded up, or 0 for one
  int32_t corners;                 // whether elements touch at corners
  int32_t parts;                   // blocks of an item
  int32_t most_runs;               // that are numbered by 32 bits
};

struct WordOfItem {
  int row, column, number;

  WordOfItem(int number, const ItemTable& table)
      : row(table.columns == 1 ? number : int(__umulhi(uint32_t(number), table.inverse_of_row))),
        column(number - row * table.columns),
        number(number) {}
};

template <class Label> struct alignas(16) LabelsOfGroup {
  Label label[4];
};

// Contacts with the row above: with the element above, and those beside it.
struct ContactsAbove {
  uint32_t up, up_left, up_right;

  uint32_t any() const { return up | up_left | up_right; }
  ContactsAbove operator&(uint32_t bits) const { return {up & bits, up_left & bits, up_right & bits}; }
};

struct Item {
  const uint8_t* values;
  const ItemTable& table;
  const uint32_t *foreground, *starts;  // by word
  bool is_mixed;                        // whether foreground has several values

  // Bits of a word shifted such that each lies where its right, or left, neighbour does.
  uint32_t from_left(const uint32_t* words, const WordOfItem& word) const {
    return words[word.number] << 1 | (word.column > 0 ? words[word.number - 1] >> 31 : 0);
  }
  uint32_t from_right(const uint32_t* words, const WordOfItem& word) const {
    return words[word.number] >> 1 | (word.column + 1 < table.columns ? words[word.number + 1] << 31 : 0);
  }
  // The elements that have the value of the element so far from them, which is in the item.
  uint32_t alike(uint32_t elements, const WordOfItem& word, int down, int right) const {
    if (!is_mixed) return elements;
    const uint8_t* const own =
        values + int64_t(word.row) * table.row_stride + int64_t(word.column * kRootWord) * table.stride;
    const int64_t ahead = int64_t(down) * table.row_stride + int64_t(right) * table.stride;
    uint32_t like = 0;
#pragma unroll 1
    for (uint32_t unvisited = elements; unvisited != 0; unvisited &= unvisited - 1) {
      const int element = lowest(unvisited);
      const uint8_t* const value = own + int64_t(element) * table.stride;
      if (value[0] == value[ahead]) like |= 1u << element;
    }
    return like;
  }
  uint32_t linked_left(const WordOfItem& word) const {
    return alike(foreground[word.number] & from_left(foreground, word), word, 0, -1);
  }

  // The contacts with the row above that connect all that touch, given those along rows, less those that one
  // beside makes up for: up if left is linked to own and up_left to up, as these touch too; up_left (and
  // up_right likewise) if left or up is linked to own.
  ContactsAbove needed_contacts(const WordOfItem& word) const {
    if (word.row == 0) return {0, 0, 0};
    const WordOfItem above(word.number - table.columns, table);
    const uint32_t own = foreground[word.number], of_above = foreground[above.number];
    const uint32_t left = own & ~starts[word.number], left_above = of_above & ~starts[above.number];
    ContactsAbove needed{alike(own & of_above & ~(left & left_above), word, -1, 0), 0, 0};
    if (!table.corners) return needed;
    const uint32_t apart = own & ~(is_mixed ? needed.up : of_above);
    uint32_t right = left >> 1;
    if (word.column + 1 < table.columns)
      right |= (foreground[word.number + 1] & ~starts[word.number + 1]) << 31;
    needed.up_left = alike(apart & ~left & from_left(foreground, above), word, -1, -1);
    needed.up_right = alike(apart & ~right & from_right(foreground, above), word, -1, 1);
    return needed;
  }

  // The foreground of a word; `of_values` gets the bits of its values.
  uint32_t read(
      const WordOfItem& word, const Background<uint8_t>& background, BitsOfValues& of_values) const {
    const int first = word.column * kRootWord;
    const uint8_t* const at = values + int64_t(word.row) * table.row_stride + int64_t(first) * table.stride;
    return BytesOfWord(at, table.stride, table.width - first).foreground(background, of_values);
  }
};

// The forest of the runs of an item, numbered by 32 bits where shared memory has room.
struct ItemWords {
  const uint32_t *starts, *before;
  uint32_t* contacts[3];  // left ones, those above, right ones
  int words, columns, runs;
};
template <int threads, class Run> struct ItemForest : ItemWords {
  Run* parent;

  ItemForest(const ItemWords& words, void* parent) : ItemWords(words), parent(static_cast<Run*>(parent)) {}

  Run run_of(int word, int bit) const {
    return Run(before[word] + __popc(starts[word] & ((2u << bit) - 1)) - 1);
  }
  // The run of the element above, or of the one `right` of that.
  Run run_above(int word, int bit, int right) const {
    const int place = bit + right;
    return run_of(word - columns + (place < 0 ? -1 : place / kRootWord), place & (kRootWord - 1));
  }

  // Puts each run under the first one above, in the word where it begins; returns whether others are left.
  bool take_parents(const Item& item) {
    bool has_more = false;
    for (int word = int(threadIdx.x); word < words; word += threads) {
      ContactsAbove of_word = item.needed_contacts({word, item.table});
      for_each_run(starts[word], Run(before[word]), [&](Run run, uint32_t columns) {
        Run above = run;
        if (const uint32_t touching = of_word.any() & columns) {
          const uint32_t bit = lowest_bit(touching);
          const int right = of_word.up & bit ? 0 : of_word.up_left & bit ? -1 : 1;
          above = run_above(word, lowest(bit), right);
          (right == 0 ? of_word.up : right < 0 ? of_word.up_left : of_word.up_right) -= bit;
        }
        parent[run] = above;
      });
      contacts[0][word] = of_word.up_left, contacts[1][word] = of_word.up,
      contacts[2][word] = of_word.up_right;
      has_more |= of_word.any() != 0;
    }
    return has_more;
  }

  void flatten(auto&& last) { flatten_runs<threads>(parent, runs, last); }

  void unite_contacts() {
    for (int word = int(threadIdx.x); word < words; word += threads) {
      uint32_t left = contacts[0][word], up = contacts[1][word], right = contacts[2][word];
#pragma unroll 1
      while (left | up | right) {
        const uint32_t bits = up ? up : left ? left : right;
        const int bit = lowest(bits), aside = up ? 0 : left ? -1 : 1;
        (up ? up : left ? left : right) &= bits - 1;
        unite_runs(parent, run_of(word, bit), run_above(word, bit, aside));
      }
    }
    __syncthreads();
  }

  // Sets the parent of each run to its label less 1; returns the number of components.
  int label_runs(const Item& item) {
    const bool has_more = __syncthreads_or(take_parents(item));
    uint32_t *const roots = contacts[0], *const number = contacts[1];  // once contacts have been read
    const auto keep_roots = [&](int run, bool is_root) {
      const uint32_t bits = __ballot_sync(kAllLanes, is_root);
      if (lane() == 0 && run < runs) roots[run / kRootWord] = bits;
    };
    if (has_more) {
      flatten([](int, bool) {});
      unite_contacts();
    }
    flatten(keep_roots);
    int components = 0;
    for (int first = 0; first * kRootWord < runs; first += threads) {
      const int word = first + int(threadIdx.x);
      const bool has = word * kRootWord < runs;
      int total;
      const int of_words = components + block_scan<threads>(has ? __popc(roots[word]) : 0, total);
      if (has) number[word] = of_words;
      components += total;
    }
    __syncthreads();
    for (int run = int(threadIdx.x); run < runs; run += threads) {
      const int root = int(parent[run]);
      parent[run] = Run(label_of_bit(roots, number, root / kRootWord, root % kRootWord));
    }
    __syncthreads();
    return components;
  }

  template <class Label> void write(const Item& item, int first, int end, Label* labels) const {
    const int width = item.table.width;
    constexpr int kGroup = 4, kGroups = kRootWord / kGroup;
    if (width % kGroup == 0 && reinterpret_cast<size_t>(labels) % (kGroup * sizeof(Label)) == 0) {
#pragma unroll 2
      for (int group = first * kGroups + int(threadIdx.x); group < end * kGroups; group += threads) {
        const WordOfItem word(group / kGroups, item.table);
        const int bit = group % kGroups * kGroup, x = word.column * kRootWord + bit;
        if (x >= width) continue;
        const uint32_t elements = item.foreground[word.number] >> bit, own_starts = starts[word.number];
        int run = int(before[word.number]) - 1 + __popc(own_starts & ((1u << bit) - 1));
        LabelsOfGroup<Label> group_of;
#pragma unroll
        for (int k = 0; k < kGroup; ++k) {
          run += own_starts >> bit >> k & 1;
          group_of.label[k] = elements >> k & 1 ? Label(parent[run]) + 1 : 0;
        }
        *reinterpret_cast<LabelsOfGroup<Label>*>(labels + word.row * width + x) = group_of;
      }
      return;
    }
    for (int at = first + int(threadIdx.x) / kWarp; at < end; at += threads / kWarp) {
      const WordOfItem word(at, item.table);
      const int x = word.column * kRootWord + lane();
      const bool is_foreground = item.foreground[at] >> lane() & 1;
      const Label label = is_foreground ? Label(parent[run_of(at, lane())]) + 1 : 0;
      if (x < width) labels[word.row * width + x] = label;
    }
  }
};

// A block an item; or several, each of which labels all of it and writes a part, where items are few.
template <int threads, class Label>
__global__ void __launch_bounds__(threads, 1) label_items(
    Equal<uint8_t> rule, const uint8_t* __restrict__ values, Label* __restrict__ labels, ItemTable table) {
  CONNCOMP_DYNAMIC_SHARED(uint32_t, memory);
  __shared__ uint32_t any_value;
  const int words = table.height * table.columns, thread = int(threadIdx.x);
  const int number = int(blockIdx.x) / table.parts, part = int(blockIdx.x) % table.parts;
  uint32_t *const foreground = memory, *const starts = foreground + words, *const before = starts + words;
  uint32_t* const contacts = before + words;
  void* const parents = contacts + 3 * words;
  follow_launch();
  values += number * table.item_stride;
  labels += int64_t(number) * table.height * table.width;
  Item item{values, table, foreground, starts, false};

  BitsOfValues bits;
  for (int word = thread; word < words; word += threads)
    foreground[word] = item.read({word, table}, rule.background, bits);
  bits = bits.of_bytes();
  if (bits.has_any()) InBlock::store(&any_value, bits.any);
  __syncthreads();
  item.is_mixed = __syncthreads_or(bits.has_any() && (bits.any != bits.all || bits.any != any_value));

  int runs = 0;
  for (int first = 0; first < words; first += threads) {
    const int word = first + thread;
    const uint32_t begin = word < words ? foreground[word] & ~item.linked_left({word, table}) : 0;
    int total;
    const int of_words = runs + block_scan<threads>(__popc(begin), total);
    if (word < words) starts[word] = begin, before[word] = uint32_t(of_words);
    runs += total;
  }
  __syncthreads();

  const int share = (words + table.parts - 1) / table.parts, begin = part * share;
  const int end = begin + share < words ? begin + share : words;
  const auto label_all = [&](auto&& forest) {
    const int components = forest.label_runs(item);
    if (thread == 0 && part == 0) table.components[number] = components;
    forest.write(item, begin, end, labels);
  };
  const ItemWords of_words{
      starts, before, {contacts, contacts + words, contacts + 2 * words}, words, table.columns, runs};
  if (runs <= table.most_runs)
    label_all(ItemForest<threads, int32_t>(of_words, parents));
  else
    label_all(ItemForest<threads, uint16_t>(of_words, parents));
}

}
