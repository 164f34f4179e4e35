// Labels large volumes of bytes that touch at faces, by runs of tiles: the default for them. A tile of 64 x
// 16 x 16 elements is 512 words of bits, a thread each. label_run_tiles unites the runs of a tile in shared
// memory (run_forest.cuh) and keeps words and forest; the first element of a component that reaches the
// tile's border is an entry among the labels. join_run_tiles lists and unites contacts across borders;
// settle_run_roots, for consecutive labels, points entries to their roots and keeps their bits;
// write_run_labels follows each entry once and writes labels. Where foreground has one value links follow
// from bits alone, else from planes of the bits in which values differ. Values that change meanwhile decide
// links only; entries are followed to smaller indices only. Cost: 1 byte read and 4 written per element, half
// a byte written and read twice, 2 per run. Memory: 2.4 bytes per element. Source: ours, from runs (He, Chao
// and Suzuki 2008) and union–find.
#pragma once

#include "cuda/core/root_bits.cuh"
#include "cuda/grid/run_forest.cuh"
#include "cuda/grid/word_bytes.cuh"

namespace conncomp {

// A volume, from its last axis on. Laid out, as TileRuns, as in run_tiles.py.
struct RunShape {
  int64_t value_stride[3];
  int32_t length[3], tiles[3];
  int32_t columns;  // words of a row
};

struct TileRuns {
  uint32_t *foreground, *starts;  // by word of a tile
  uint16_t* before;               // likewise: how many runs begin before
  uint16_t* node;                 // by run of a tile: see RunNode
  int32_t* runs;                  // of a tile
  int32_t* value;                 // of the foreground of a tile, or kSeveral
  int32_t* settled;               // components that do not reach the border of their tile
  uint32_t* roots_of_word;        // of the array, likewise below; null where roots are not numbered
  uint32_t* entries_of_word;
  int32_t* number_of_word;
  int64_t* components;
};

constexpr int kSeveral = -1;

// Kept of a run: its root's run, or, of a root, where it begins and whether it reaches the border.
struct RunNode {
  static constexpr int kIsRoot = 1 << 14, kReaching = 1 << 15, kPlace = kIsRoot - 1;
};

// A tile. Words are numbered as they lie in it.
struct RunTile {
  static constexpr int kLog[3] = {6, 4, 4};
  static constexpr int kRow = (1 << kLog[0]) / kRunWord, kPlane = kRow << kLog[1];  // in words
  static constexpr int kWords = kPlane << kLog[2], kThreads = kWords;
  static constexpr int kElements = kWords * kRunWord, kFewRuns = kElements / 2;

  const RunShape& shape;
  uint32_t number;
  int corner[3];

  static constexpr int side(int a) { return 1 << kLog[a]; }
  RunTile(const RunShape& shape, uint32_t number) : shape(shape), number(number) {
    const uint32_t row = number / uint32_t(shape.tiles[0]), plane = row / uint32_t(shape.tiles[1]);
    corner[0] = int(number - row * uint32_t(shape.tiles[0])) << kLog[0];
    corner[1] = int(row - plane * uint32_t(shape.tiles[1])) << kLog[1];
    corner[2] = int(plane) << kLog[2];
  }
  // The tile with so many before it along each axis.
  RunTile(const RunShape& shape, uint32_t number, int x, int y, int z)
      : shape(shape), number(number), corner{x << kLog[0], y << kLog[1], z << kLog[2]} {}
  static int column(int word) { return word & (kRow - 1); }
  static int row(int word) { return word / kRow & (side(1) - 1); }
  static int plane(int word) { return word / kPlane; }
  int64_t first_word() const { return int64_t(number) * kWords; }
  int64_t first_run() const { return int64_t(number) * kElements; }

  int32_t row_of_array(int word) const {
    return (corner[2] + plane(word)) * shape.length[1] + corner[1] + row(word);
  }
  int x_of(int word) const { return corner[0] + column(word) * kRunWord; }
  int32_t index(int word, int bit) const { return row_of_array(word) * shape.length[0] + x_of(word) + bit; }
  int32_t index_of_place(int place) const { return index(place / kRunWord, place % kRunWord); }
  int64_t word_of_array(int word) const {
    return int64_t(row_of_array(word)) * shape.columns + x_of(word) / kRunWord;
  }
  bool has(int word) const {
    return x_of(word) < shape.length[0] && corner[1] + row(word) < shape.length[1] &&
           corner[2] + plane(word) < shape.length[2];
  }
  const uint8_t* at(const uint8_t* values, int word) const {
    return values + x_of(word) * shape.value_stride[0] + (corner[1] + row(word)) * shape.value_stride[1] +
           (corner[2] + plane(word)) * shape.value_stride[2];
  }
  BytesOfWord read(const uint8_t* values, int word) const {
    return {at(values, word), shape.value_stride[0], shape.length[0] - x_of(word)};
  }
};

// The rows before one of a tile, along two axes, and how words lie in it.
struct RowsBefore {
  static constexpr int kDirections = 2;
  static constexpr int kRow = RunTile::kRow, kPlane = RunTile::kPlane, kWords = RunTile::kWords;
  static int word_before(int word, int direction) { return word - (direction == 0 ? kRow : kPlane); }
};

struct RunTileMemory {
  static constexpr int kWords = RunTile::kWords;
  uint32_t foreground[kWords], starts[kWords], before[kWords + 1];
  uint32_t contacts[RowsBefore::kDirections * kWords];
  uint32_t any_value, differing;
  // Parents, of 32 bits for half as many runs as elements, or of 16 for as many. Before: planes.
  alignas(16) uint32_t parents[RunTile::kFewRuns];
};

struct RunLabelling {
  RunTile tile;
  RunTileMemory& memory;
  uint32_t differing = 0;  // bits in which values differ

  // The elements of the value in the same place of another word, or to the left; all of one value.
  uint32_t alike(int word, auto&& place_in) const {
    uint32_t unlike = 0;
    const uint32_t* plane = memory.parents;
#pragma unroll 1
    for (uint32_t bits = differing; bits != 0; bits &= bits - 1, plane += RunTile::kWords)
      unlike |= plane[word] ^ place_in(plane);
    return ~unlike;
  }
  uint32_t alike(int word, int other) const {
    return alike(word, [&](const uint32_t* plane) { return plane[other]; });
  }
  static uint32_t from_left(const uint32_t* words, int word) {
    return words[word] << 1 | (RunTile::column(word) > 0 ? words[word - 1] >> 31 : 0);
  }
  uint32_t starts_of(int word) const {
    const uint32_t own = memory.foreground[word];
    const uint32_t linked = from_left(memory.foreground, word) &
                            alike(word, [&](const uint32_t* plane) { return from_left(plane, word); });
    return own & ~linked;
  }
  // Keeps a plane for each bit in which values differ.
  void make_planes(const uint8_t* values, int word) {
    const BytesOfWord bytes = tile.read(values, word);
    uint32_t* plane = memory.parents + word;
#pragma unroll 1
    for (uint32_t bits = differing; bits != 0; bits &= bits - 1, plane += RunTile::kWords)
      *plane = bytes.with_bit(lowest(bits));
  }
  // The needed contacts with rows before: one of two, if neighbours in a row are linked, and those that they
  // touch; likewise along both axes of rows.
  RunContacts<2> contacts_of(int word) const {
    constexpr int kRow = RunTile::kRow, kPlane = RunTile::kPlane;
    const uint32_t own = memory.foreground[word], linked_left = own & ~memory.starts[word];
    uint32_t in_plane = 0, across = 0;
    if (RunTile::row(word) > 0) in_plane = own & memory.foreground[word - kRow] & alike(word, word - kRow);
    if (RunTile::plane(word) > 0) {
      across = own & memory.foreground[word - kPlane] & alike(word, word - kPlane);
      if (RunTile::row(word) > 0)
        across &= ~(
            in_plane & memory.foreground[word - kPlane - kRow] & alike(word - kPlane, word - kPlane - kRow));
      across &= ~(linked_left & ~memory.starts[word - kPlane]);
    }
    if (RunTile::row(word) > 0) in_plane &= ~(linked_left & ~memory.starts[word - kRow]);
    return {{in_plane, across}};
  }
};

// The forest of a tile's runs, whose words lie as `Rows` says.
template <class Rows, class Run> struct TileForest : RunForest<Rows, Run> {
  using Forest = RunForest<Rows, Run>;
  static constexpr int kRow = Rows::kRow, kPlane = Rows::kPlane;
  using Forest::before, Forest::parent, Forest::run_of, Forest::runs, Forest::starts;
  using Forest::Forest;
  using Forest::kWords, Forest::kThreads;

  // Sets the nodes of roots to the places where their runs begin.
  void place_roots(int word) {
    Run run = Run(before[word]);
#pragma unroll 1
    for (uint32_t left = starts[word]; left != 0; left &= left - 1, ++run)
      if (parent[run] == run)
        InBlock::store(parent + run, Run(RunNode::kIsRoot | (word * kRunWord + lowest(left))));
    __syncthreads();
  }
  void mark(int run) {
    const Run node = InBlock::load(parent + run);
    Run* const root = parent + (node & RunNode::kIsRoot ? Run(run) : node);
    const Run of_root = InBlock::load(root);
    if (!(of_root & RunNode::kReaching)) InBlock::store(root, Run(of_root | RunNode::kReaching));
  }
  void mark_all(int first, int step, int end) {
#pragma unroll 1
    for (int run = first; run < end; run += step) mark(run);
  }
  // Marks the roots of runs at the border: of outer planes, outer rows, and ends of rows by `elements`.
  void mark_reaching(uint32_t elements) {
    const int thread = int(threadIdx.x), column = RunTile::column(thread);
    mark_all(thread, kThreads, int(before[kPlane]));
    mark_all(int(before[kWords - kPlane]) + thread, kThreads, runs);
#pragma unroll 1
    for (int plane = thread / kWarp + 1; plane < kWords / kPlane - 1; plane += kThreads / kWarp) {
      const int first = plane * kPlane, last = first + kPlane - kRow;
      mark_all(int(before[first]) + lane(), kWarp, int(before[first + kRow]));
      mark_all(int(before[last]) + lane(), kWarp, int(before[last + kRow]));
    }
    const int bit = column == 0 ? 0 : kRunWord - 1;
    if ((column == 0 || column == kRow - 1) && elements >> bit & 1) mark(int(run_of(thread, bit)));
    __syncthreads();
  }
  // Keeps nodes, and entries of roots at the border; for consecutive labels sets bits of roots and entries.
  // Returns how many of this thread's roots do not reach it.
  template <bool consecutive>
  int keep(const RunTile& tile, int32_t* label, uint16_t* nodes, uint32_t* roots, uint32_t* entries) const {
    int settled = 0;
#pragma unroll 1
    for (int pair = int(threadIdx.x); 2 * pair < runs; pair += kThreads) {
      const uint32_t both[2] = {uint32_t(parent[2 * pair]), uint32_t(parent[2 * pair + 1])};
      reinterpret_cast<uint32_t*>(nodes)[pair] = (both[0] & 0xffff) | both[1] << 16;
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        if (!(both[k] & RunNode::kIsRoot) || 2 * pair + k >= runs) continue;
        const int place = int(both[k] & RunNode::kPlace);
        const bool reaches = both[k] & RunNode::kReaching;
        if (consecutive) InBlock::fetch_or(roots + place / kRunWord, 1u << place % kRunWord);
        if (consecutive && reaches) InBlock::fetch_or(entries + place / kRunWord, 1u << place % kRunWord);
        settled += !reaches;
        if (!reaches) continue;
        const int32_t index = tile.index_of_place(place);
        label[index] = index;
      }
    }
    return settled;
  }
};

// A block a tile, a thread a word.
template <bool consecutive>
__global__ void __launch_bounds__(RunTile::kThreads) label_run_tiles(Equal<uint8_t> rule,
    const uint8_t* __restrict__ values, int32_t* __restrict__ label, RunShape shape, TileRuns table) {
  follow_launch();
  CONNCOMP_DYNAMIC_SHARED(RunTileMemory, memory);
  RunLabelling labelling{RunTile(shape, blockIdx.x), *memory};
  const RunTile& tile = labelling.tile;
  const int word = int(threadIdx.x);
  if (word == 0) memory->differing = 0;
  BitsOfValues bits;
  memory->foreground[word] = tile.has(word) ? tile.read(values, word).foreground(rule.background, bits) : 0;
  bits = bits.of_bytes();
  if (bits.has_any()) InBlock::store(&memory->any_value, bits.any);
  __syncthreads();
  const uint32_t any_value = InBlock::load(&memory->any_value);
  const uint32_t differing = bits.has_any() ? (bits.any ^ bits.all) | (bits.any ^ any_value) : 0;
  const bool has_any = __syncthreads_or(bits.has_any());
  if (__syncthreads_or(differing != 0)) {
    const uint32_t of_warp = warp_or(differing);
    if (lane() == 0) InBlock::fetch_or(&memory->differing, of_warp);
    __syncthreads();
    labelling.differing = InBlock::load(&memory->differing);
    if (tile.has(word)) labelling.make_planes(values, word);
    __syncthreads();
  }
  const uint32_t starts = labelling.starts_of(word);
  int runs;
  const int before = block_scan<RunTile::kThreads>(__popc(starts), runs);
  memory->starts[word] = starts, memory->before[word] = uint32_t(before);
  if (word == 0) memory->before[RunTile::kWords] = uint32_t(runs);
  __syncthreads();
  const RunContacts<2> contacts = labelling.contacts_of(word);
  memory->contacts[word] = contacts.of[0], memory->contacts[RunTile::kWords + word] = contacts.of[1];
  __syncthreads();  // planes have been read

  uint32_t *const roots = memory->contacts, *const entries = roots + RunTile::kWords;
  int settled;
  const auto label_all = [&](auto&& forest) {
    forest.unite_all([](int, uint32_t) {});
    if (consecutive) roots[word] = entries[word] = 0;
    forest.place_roots(word);
    forest.mark_reaching(memory->foreground[word]);
    settled = forest.template keep<consecutive>(tile, label, table.node + tile.first_run(), roots, entries);
  };
  const RunWords words{memory->starts, memory->before, memory->contacts, runs};
  if (runs <= RunTile::kFewRuns)
    label_all(TileForest<RowsBefore, int32_t>(words, memory->parents));
  else
    label_all(TileForest<RowsBefore, uint16_t>(words, memory->parents));

  const int64_t kept = tile.first_word() + word;
  table.foreground[kept] = memory->foreground[word], table.starts[kept] = starts;
  table.before[kept] = uint16_t(before);
  settled = block_sum<RunTile::kThreads>(settled);  // all roots are known
  if (consecutive && tile.has(word)) {
    const int64_t of_array = tile.word_of_array(word);
    table.roots_of_word[of_array] = roots[word], table.entries_of_word[of_array] = entries[word];
  }
  if (word != 0) return;
  table.runs[blockIdx.x] = runs, table.settled[blockIdx.x] = settled;
  table.value[blockIdx.x] = labelling.differing || !has_any ? kSeveral : int32_t(any_value);
  if (blockIdx.x == 0) table.components[0] = 0;
}

struct WordsAcross {
  static constexpr int kRow = RunTile::kRow, kPlane = RunTile::kPlane, kWords = RunTile::kWords;
  // The number of words at the border, by axis and in all.
  static constexpr int kCount[3] = {kWords / kRow, kWords / kPlane * kRow, kPlane};
  static constexpr int kAll = kCount[0] + kCount[1] + kCount[2];
  int axis, own, other;  // the axis across the border

  static WordsAcross numbered(int k) {
    if (k < kCount[0]) return {0, k * kRow, k * kRow + kRow - 1};
    k -= kCount[0];
    if (k < kCount[1]) return of_own(1, k / kRow * kPlane + k % kRow);
    return of_own(2, k - kCount[1]);
  }
  static WordsAcross of_own(int axis, int own) {
    return {axis, own, own + (axis == 0 ? kRow - 1 : axis == 1 ? kPlane - kRow : kWords - kPlane)};
  }
  // The distance back to the word whose contacts make up for others of one value; 0 if there is none.
  int beside() const {
    if (axis != 2 && RunTile::plane(own) > 0) return kPlane;
    return axis != 1 && RunTile::row(own) > 0 ? kRow : 0;
  }
};

inline int root_of_element(
    const uint32_t* starts, const uint16_t* before, const uint16_t* nodes, int word, int bit) {
  int node = nodes[before[word] + __popc(starts[word] & ((2u << bit) - 1)) - 1];
  if (!(node & RunNode::kIsRoot)) node = nodes[node];
  return node & RunNode::kPlace;
}

struct KeptTile {
  const uint32_t *foreground, *starts;
  const uint16_t *before, *node;
  int32_t value;

  KeptTile(const TileRuns& table, int64_t tile)
      : foreground(table.foreground + tile * RunTile::kWords),
        starts(table.starts + tile * RunTile::kWords),
        before(table.before + tile * RunTile::kWords),
        node(table.node + tile * RunTile::kElements),
        value(table.value[tile]) {}

  int root_of(int word, int bit) const { return root_of_element(starts, before, node, word, bit); }
};

// The elements in contact with the tile before, less those that the left one makes up for, if both are linked
// along rows, or those beside, if there is one value.
inline uint32_t contacts_across(const KeptTile& own, const KeptTile& other, const WordsAcross& words) {
  const uint32_t of_own = own.foreground[words.own], of_other = other.foreground[words.other];
  uint32_t touching = words.axis == 0 ? of_own & of_other >> 31 : of_own & of_other;
  if (touching == 0) return 0;
  if (words.axis != 0) touching &= own.starts[words.own] | other.starts[words.other];
  if (const int beside = own.value != kSeveral && own.value == other.value ? words.beside() : 0) {
    const uint32_t behind = other.foreground[words.other - beside];
    touching &= ~(own.foreground[words.own - beside] & (words.axis == 0 ? behind >> 31 : behind));
  }
  return touching;
}

constexpr int kJoinRunThreads = 128;

// The entry of an axis; indexed arrays would lie in memory.
template <class T> T of_axis(const T* of_all, int axis) {
  return axis == 0 ? of_all[0] : axis == 1 ? of_all[1] : of_all[2];
}

// A block a tile. Threads with a word each list contacts, and then share them out.
template <int = 0>
__global__ void __launch_bounds__(kJoinRunThreads)
    join_run_tiles(const uint8_t* __restrict__ values, int32_t* label, RunShape shape, TileRuns table) {
  follow_launch();
  constexpr int kMost = WordsAcross::kCount[0] + kRunWord * (WordsAcross::kCount[1] + WordsAcross::kCount[2]);
  __shared__ uint16_t listed[kMost];  // axis, word and element
  __shared__ int count;
  const RunTile tile(shape, blockIdx.x);
  const KeptTile own(table, tile.number);
  const uint32_t tiles_back[3] = {1, uint32_t(shape.tiles[0]), uint32_t(shape.tiles[0] * shape.tiles[1])};
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  for (int k = int(threadIdx.x); k < WordsAcross::kAll; k += kJoinRunThreads) {
    const WordsAcross words = WordsAcross::numbered(k);
    if (of_axis(tile.corner, words.axis) == 0) continue;
    const KeptTile other(table, tile.number - of_axis(tiles_back, words.axis));
    uint32_t touching = contacts_across(own, other, words);
    if (touching == 0) continue;
    int place = InBlock::fetch_add(&count, __popc(touching));
    for (; touching != 0; touching &= touching - 1)
      listed[place++] = uint16_t(words.axis << 14 | words.own << 5 | lowest(touching));
  }
  __syncthreads();
  for (int k = int(threadIdx.x); k < count; k += kJoinRunThreads) {
    const int bit = listed[k] & (kRunWord - 1);
    const auto words = WordsAcross::of_own(listed[k] >> 14, listed[k] >> 5 & (RunTile::kWords - 1));
    const RunTile tile_before(shape, tile.number - of_axis(tiles_back, words.axis));
    const KeptTile other(table, tile_before.number);
    if (own.value == kSeveral || own.value != other.value) {
      const uint8_t* const value = tile.at(values, words.own) + bit * shape.value_stride[0];
      if (value[0] != value[-of_axis(shape.value_stride, words.axis)]) continue;
    }
    const int32_t a = tile.index_of_place(own.root_of(words.own, bit));
    const int32_t b =
        tile_before.index_of_place(other.root_of(words.other, words.axis == 0 ? kRunWord - 1 : bit));
    unite_from<Concurrent>(label, a, Concurrent::load(label + a), b, Concurrent::load(label + b));
  }
}

// Points entries to roots, complemented; keeps roots' bits, and counts them by chunks of words.
template <bool may_be_elsewhere>
__global__ void __launch_bounds__(kWordThreads) settle_run_roots(int32_t* label, RunShape shape,
    const int32_t* is_chosen, uint32_t* roots_of_word, const uint32_t* __restrict__ entries_of_word,
    int64_t chunk, int64_t* __restrict__ roots_in_chunk, int64_t* components) {
  follow_launch();
  if (may_be_elsewhere && is_chosen[0] == 0) return;
  const int64_t words = int64_t(shape.length[1]) * shape.length[2] * shape.columns;
  for (int64_t part = blockIdx.x; part * chunk < words; part += gridDim.x) {
    const int64_t begin = part * chunk, end = begin + chunk < words ? begin + chunk : words;
    int count = 0;
    for (int64_t word = begin + threadIdx.x; word < end; word += kWordThreads) {
      uint32_t roots = roots_of_word[word];
      const uint32_t entries = entries_of_word[word];
      if (entries != 0) {
        const int32_t row = int32_t(word / shape.columns);
        const int32_t first = row * shape.length[0] + int32_t(word - int64_t(row) * shape.columns) * kRunWord;
        for (uint32_t left = entries; left != 0; left &= left - 1) {
          const int32_t entry = first + lowest(left);
          if (settle_entry(label, entry) != entry) roots &= ~lowest_bit(left);
        }
        roots_of_word[word] = roots;
      }
      count += __popc(roots);
    }
    const int total = block_sum<kWordThreads>(count);
    if (threadIdx.x != 0) continue;
    roots_in_chunk[part] = total;
    Concurrent::fetch_add(components, int64_t(total));
  }
}

// Stores neighbouring labels: in one access if that `fits`, else the `left` ones of the row.
template <int count> void store_labels(int32_t* to, const int32_t (&labels)[count], bool fits, int left) {
  if (fits) {
    Concurrent::store_all(to, labels);
  } else {
#pragma unroll
    for (int k = 0; k < count; ++k)
      if (k < left) Concurrent::store(to + k, labels[k]);
  }
}

template <bool consecutive, int threads = RunTile::kThreads, int at_once = 1> struct RunLabels {
  static constexpr int kThreads = threads, kTogether = 4;
  static constexpr int kAtOnce = at_once;  // runs of a thread
  const RunTile& tile;
  int32_t* label;
  LabelOfRoot<consecutive, int32_t> label_of;

  int32_t entry_of(int node) const {
    return node & RunNode::kReaching ? Concurrent::load(label + tile.index_of_place(node & RunNode::kPlace))
                                     : 0;
  }
  // The label of a root of the tile; counts in `roots` those at the border that are roots of all.
  int32_t label_of_root(int node, int32_t entry, int& roots) const {
    const int32_t index = tile.index_of_place(node & RunNode::kPlace);
    if (!(node & RunNode::kReaching)) return label_of(index);
    // The entry is the root, complemented, or the label written over it.
    if constexpr (consecutive) return entry >= 0 ? entry : label_of(~entry < index ? ~entry : index);
    const int32_t root = find_from<Concurrent, Jump::kNone>(label, index, entry);
    roots += root == index;
    return root;
  }
  // Sets labels[k] to the label of run begin + k, up to `end`.
  void label_runs(const uint16_t* nodes, int begin, int end, int32_t* labels, int& roots) const {
#pragma unroll 1
    for (int first = begin + int(threadIdx.x); first < end; first += kAtOnce * kThreads) {
      int node[kAtOnce];
      int32_t entry[kAtOnce];
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k)
        node[k] = first + k * kThreads < end ? nodes[first + k * kThreads] : 0;
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) entry[k] = node[k] & RunNode::kIsRoot ? entry_of(node[k]) : 0;
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) {
        const int run = first + k * kThreads;
        if (run >= end) break;
        int ignored = 0;
        labels[run - begin] = node[k] & RunNode::kIsRoot ? label_of_root(node[k], entry[k], roots)
                              : node[k] >= begin
                                  ? ~(node[k] - begin)
                                  : label_of_root(nodes[node[k]], entry_of(nodes[node[k]]), ignored);
      }
    }
    __syncthreads();
#pragma unroll 1
    for (int run = int(threadIdx.x); run < end - begin; run += kThreads)
      if (labels[run] < 0) labels[run] = labels[~labels[run]];
    __syncthreads();
  }
  // Writes words' labels, four a thread, of the same row and columns in all planes.
  void write(int first, int end, const int32_t* labels_of_runs, auto&& elements_of, auto&& starts_of,
      auto&& runs_before) const {
    constexpr int kGroups = kRunWord / kTogether, kAtOnce = kThreads / kGroups;
    constexpr int kPlanes = kAtOnce / RunTile::kPlane;
    static_assert(kAtOnce % RunTile::kPlane == 0);
    const RunShape& shape = tile.shape;
    const int thread = int(threadIdx.x), bit = thread % kGroups * kTogether;
    int word = first + thread / kGroups;
    const int left = shape.length[0] - tile.x_of(word) - bit;
    if (left <= 0 || !tile.has(word)) return;
    int planes_left = shape.length[2] - tile.corner[2] - RunTile::plane(word);
    const int32_t step = kPlanes * shape.length[1] * shape.length[0];
    int32_t* to = label + tile.index(word, bit);
    const bool fits = left >= kTogether && step % kTogether == 0 && reinterpret_cast<size_t>(to) % 16 == 0;
#pragma unroll 2
    for (; word < end && planes_left > 0; word += kAtOnce, planes_left -= kPlanes, to += step) {
      const uint32_t elements = elements_of(word) >> bit, starts = starts_of(word);
      const int32_t* of_run = labels_of_runs + runs_before(word) + __popc(starts & ((1u << bit) - 1));
      int32_t labels[kTogether];
#pragma unroll
      for (int k = 0; k < kTogether; ++k) {
        of_run += starts >> bit >> k & 1;
        labels[k] = elements >> k & 1 ? of_run[-1] : consecutive ? 0 : -1;
      }
      store_labels(to, labels, fits, left);
    }
  }
};

// A block a tile; half of it at a time if it has many runs.
template <bool consecutive>
__global__ void __launch_bounds__(RunTile::kThreads)
    write_run_labels(int32_t* label, RunShape shape, TileRuns table) {
  follow_launch();
  using Labels = RunLabels<consecutive>;
  constexpr int kWords = RunTile::kWords;
  __shared__ uint32_t foreground[kWords], starts[kWords];
  __shared__ uint16_t before[kWords];
  __shared__ int32_t of_run[RunTile::kFewRuns];
  const RunTile tile(shape, blockIdx.x);
  const KeptTile kept(table, blockIdx.x);
  const Labels labels{
      tile, label, {shape.length[0], shape.columns, table.roots_of_word, table.number_of_word}};
  const int thread = int(threadIdx.x), runs = table.runs[blockIdx.x];
  foreground[thread] = kept.foreground[thread], starts[thread] = kept.starts[thread];
  before[thread] = kept.before[thread];
  __syncthreads();
  const int at_once = runs <= RunTile::kFewRuns ? kWords : kWords / 2;
  int roots = 0;
  for (int first = 0; first < kWords; first += at_once) {
    const int begin = before[first], end = first + at_once < kWords ? before[first + at_once] : runs;
    labels.label_runs(kept.node, begin, end, of_run, roots);
    labels.write(
        first, first + at_once, of_run, [&](int word) { return foreground[word]; },
        [&](int word) { return starts[word]; }, [&](int word) { return before[word] - begin; });
    __syncthreads();
  }
  if (consecutive) return;
  roots = block_sum<RunTile::kThreads>(roots);
  if (thread == 0) Concurrent::fetch_add(table.components, int64_t(roots + table.settled[blockIdx.x]));
}

}
