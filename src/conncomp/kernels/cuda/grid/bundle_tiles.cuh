// Labels large volumes of bytes of one foreground value that touch at corners, by runs of bundles of 2 x 2
// rows: the default for them, if a sample sees no other value. All that the rows of a bundle hold in
// neighbouring columns touches, so a run of the "or" of its rows is connected and is a node. A tile of 64 x
// 16 x 16 elements has 128 words of bundles, a thread each. sample_bundles chooses; label_bundle_tiles takes
// that back where it finds another value, and bricks label the array; the rest is as in run_tiles.cuh. Of
// each of the four bundles that come before one, one or two rows lie beside it, its edge:
//
//     z    before   . .  2 2  . .      0  (y - 1)         rows 0 and 2 touch rows 1 and 3 of that
//          before   . 1  2 2  3 .      1  (y - 1, z - 1)  row 0 touches row 3
//          own      0 0  # #    y      2  (z - 1)         rows 0 and 1 touch rows 2 and 3
//          own      0 0  # #           3  (y + 1, z - 1)  row 1 touches row 2
//
// Cost: 1 byte read and 4 written per element, a quarter of a byte written and read twice, and 2 bytes per
// run. Memory: 0.43 bytes per element. Source: ours, from runs (He, Chao and Suzuki 2008) and union–find;
// rows as one: Grana, Borghesani and Cucchiara 2010.
#pragma once

#include "cuda/grid/brick_tiles.cuh"
#include "cuda/grid/run_tiles.cuh"

namespace conncomp {

// The four rows of a bundle, in a word each, in the order of their elements.
struct alignas(16) BundleWord {
  uint32_t row[4];

  uint32_t all() const { return row[0] | row[1] | row[2] | row[3]; }
  // The rows that lie beside the bundle before in a direction; and those of that bundle.
  uint32_t edge(int direction) const {
    return direction == 0   ? row[0] | row[2]
           : direction == 1 ? row[0]
           : direction == 2 ? row[0] | row[1]
                            : row[1];
  }
  uint32_t edge_before(int direction) const {
    return direction == 0   ? row[1] | row[3]
           : direction == 1 ? row[3]
           : direction == 2 ? row[2] | row[3]
                            : row[2];
  }
};

// How words of bundles lie in a tile, and which come before one.
struct BundlesBefore {
  static constexpr int kRow = RunTile::kRow, kPlane = RunTile::kPlane / 2, kWords = RunTile::kWords / 4;
  static constexpr int kOfRow = RunTile::side(1) / 2, kMostRuns = kWords * kRunWord / 2;
  static constexpr int kDirections = 4, kRowsOfBundle = 4;

  static int down(int direction) { return direction == 2 ? 0 : direction == 3 ? 1 : -1; }
  static int behind(int direction) { return direction == 0 ? 0 : -1; }
  static int word_before(int word, int direction) {
    return word + down(direction) * kRow + behind(direction) * kPlane;
  }
  static int row(int word) { return word / kRow % kOfRow; }
  static int plane(int word) { return word / kPlane; }
  static bool has_before(int word, int direction) {
    const int row_before = row(word) + down(direction);
    return row_before >= 0 && row_before < kOfRow && plane(word) + behind(direction) >= 0;
  }
  static int word_of_row(int word, int row_of) {
    const int plane_of = 2 * plane(word) + row_of / 2;
    return plane_of * RunTile::kPlane + (2 * row(word) + row_of % 2) * kRow + RunTile::column(word);
  }
};

// Kept of a tile. Its size stands in bundle_tiles.py.
struct KeptBundles {
  static constexpr int kWords = BundlesBefore::kWords;
  BundleWord rows[kWords];
  uint32_t starts[kWords];
  uint16_t before[kWords];
  int32_t runs, settled, unused[2];
  uint16_t node[BundlesBefore::kMostRuns];  // see RunNode
};
static_assert(sizeof(KeptBundles) == 6928);

// The "or" of the rows beside others, whether the element to its left is set, and where runs begin.
struct BundleEdge {
  uint32_t edge;
  bool has_left;
  uint32_t starts;

  // Columns with an element there or to the left.
  uint32_t reached() const { return edge | edge << 1 | uint32_t(has_left); }
};

// The contacts of an edge with one of a bundle before, few for each pair of runs: two elements in one column,
// or neighbouring ones, are a contact in the right one; between beginnings one is enough.
inline uint32_t contacts_of_edges(const BundleEdge& own, const BundleEdge& other) {
  const uint32_t contacts = own.reached() & other.reached(), going_on = ~(own.starts | other.starts);
  uint32_t after = contacts, path = going_on;
#pragma unroll
  for (int step = 1; step < kRunWord; step *= 2) after |= path & after << step, path &= path << step;
  return contacts & ~(after << 1 & going_on);
}

struct BundleMemory {
  static constexpr int kWords = BundlesBefore::kWords, kMostRuns = BundlesBefore::kMostRuns;
  BundleWord rows[kWords];
  uint32_t starts[kWords], before[kWords + 1];
  int32_t value;  // of foreground, or kSeveral if there is none
  struct Uniting {
    uint32_t contacts[BundlesBefore::kDirections * kWords];
    uint16_t first[kMostRuns];  // the first place of a run, in the word where it begins; of a root, of all
  };
  union {
    Uniting uniting;
    uint32_t bits[2][RunTile::kWords];  // then: of roots, and of entries
  };
  int32_t parent[kMostRuns];
};

struct BundleLabelling {
  using Rows = BundlesBefore;
  using Forest = TileForest<Rows, int32_t>;
  const RunTile& tile;
  BundleMemory& memory;
  const int word = int(threadIdx.x), column = RunTile::column(word);

  // Finds the value of foreground, seen elsewhere or in the tile, where the sample has seen none.
  void find_value(const Background<uint8_t>& background, const uint8_t* values, int32_t* of_all) {
    uint32_t unlike = 0;
#pragma unroll 1
    for (int k = 0; k < Rows::kRowsOfBundle; ++k)
      if (const int of_row = Rows::word_of_row(word, k); tile.has(of_row))
        unlike |= tile.read(values, of_row).unlike(background.value);
    __syncthreads();  // it has been asked that there is none
    if (unlike != 0) InBlock::store(&memory.value, int32_t(background.value ^ unlike));
    __syncthreads();
    if (word == 0 && memory.value != kSeveral)
      if (const int32_t seen = Concurrent::compare_exchange(of_all, kSeveral, memory.value); seen != kSeveral)
        memory.value = seen;
    __syncthreads();
  }
  uint32_t starts() const {
    const uint32_t own = memory.rows[word].all();
    return own & ~(own << 1 | (column > 0 ? memory.rows[word - 1].all() >> 31 : 0));
  }
  void find_contacts() {
    const BundleWord own = memory.rows[word];
    unrolled<Rows::kDirections>([&](int direction) {
      uint32_t contacts = 0;
      if (Rows::has_before(word, direction)) {
        const int before = Rows::word_before(word, direction), left = column > 0;
        const bool own_left = left && memory.rows[word - left].edge(direction) >> 31;
        const bool left_before = left && memory.rows[before - left].edge_before(direction) >> 31;
        contacts = contacts_of_edges({own.edge(direction), own_left, memory.starts[word]},
            {memory.rows[before].edge_before(direction), left_before, memory.starts[before]});
      }
      memory.uniting.contacts[direction * Rows::kWords + word] = contacts;
    });
  }
  // The place of the first element of the thread's word in some columns, of which it has one.
  int first_place(uint32_t columns) const {
    int place = 0;
#pragma unroll
    for (int k = Rows::kRowsOfBundle - 1; k >= 0; --k)
      if (const uint32_t of_row = memory.rows[word].row[k] & columns)
        place = Rows::word_of_row(word, k) * kRunWord + lowest(of_row);
    return place;
  }
  void lower_first(int root, int place) {
    uint16_t* const first = memory.uniting.first + root;
    for (uint16_t seen = InBlock::load(first); place < seen;) {
      const uint16_t stored = InBlock::compare_exchange(first, seen, uint16_t(place));
      if (stored == seen) return;
      seen = stored;
    }
  }
  // Sets the nodes of roots to the first places of all their runs.
  void place_roots(Forest& forest) {
    const int thread = int(threadIdx.x), threads = Rows::kWords;
    const uint32_t all = memory.rows[word].all(), starts = memory.starts[word];
    if (const uint32_t columns = all & (lowest_bit(starts) - 1))
      lower_first(forest.parent[memory.before[word] - 1], first_place(columns));
    for (int run = thread; run < forest.runs; run += threads)
      if (const int root = forest.parent[run]; root != run) lower_first(root, memory.uniting.first[run]);
    __syncthreads();
    for (int run = thread; run < forest.runs; run += threads)
      if (forest.parent[run] == run) forest.parent[run] = RunNode::kIsRoot | memory.uniting.first[run];
    __syncthreads();
  }
};

// Where `by_bundles` has the value of all foreground, or kSeveral; at 0, whether it is labelled so.
constexpr int kValueOfBundles = 1;

constexpr int kSampleBundleThreads = 1024, kSampledOfThread = 4;

// One block. Chooses bundles if a sample has one value.
template <int = 0>
__global__ void __launch_bounds__(kSampleBundleThreads) sample_bundles(Equal<uint8_t> rule,
    const uint8_t* __restrict__ values, RunShape shape, int32_t* by_bundles, int64_t* components) {
  follow_launch();
  __shared__ int32_t value;
  const int thread = int(threadIdx.x);
  if (thread == 0) value = kSeveral;
  __syncthreads();
  BitsOfValues bits;
#pragma unroll
  for (int k = 0; k < kSampledOfThread; ++k) {
    // Elements all over the volume, by steps that do not divide its lengths.
    const uint32_t number = uint32_t(thread + k * kSampleBundleThreads);
    int64_t at = 0;
    unrolled<3>([&](int a) {
      at += int64_t(number * (7 + 6 * a) % uint32_t(shape.length[a])) * shape.value_stride[a];
    });
    const uint8_t element = values[at];
    if (!rule.is_background(element)) bits.any |= element, bits.all &= element;
  }
  if (bits.has_any()) InBlock::store(&value, int32_t(bits.any));
  __syncthreads();
  const int32_t seen = InBlock::load(&value);
  const bool several =
      __syncthreads_or(bits.has_any() && (bits.any != bits.all || int32_t(bits.any) != seen));
  if (thread != 0) return;
  by_bundles[0] = !several, by_bundles[kValueOfBundles] = seen;
  for (int k = 0; k < 3; ++k) by_bundles[BrickTable::kTurns + k] = 0;
  components[0] = 0;
}

// A block a tile, a thread a word of bundles.
template <bool consecutive>
__global__ void __launch_bounds__(BundlesBefore::kWords)
    label_bundle_tiles(Equal<uint8_t> rule, const uint8_t* __restrict__ values, int32_t* __restrict__ label,
        RunShape shape, int32_t* by_bundles, KeptBundles* __restrict__ kept,
        uint32_t* __restrict__ roots_of_word, uint32_t* __restrict__ entries_of_word) {
  follow_launch();
  using Rows = BundlesBefore;
  __shared__ BundleMemory memory;
  const RunTile tile(shape, blockIdx.x);
  BundleLabelling labelling{tile, memory};
  const int word = int(threadIdx.x);
  // Other blocks may take it back, or be the first to see foreground, meanwhile: one thread asks.
  if (word == 0) memory.value = Concurrent::load(by_bundles + kValueOfBundles);
  if (__syncthreads_or(word == 0 && Concurrent::load(by_bundles) == 0)) return;
  if (memory.value == kSeveral) labelling.find_value(rule.background, values, by_bundles + kValueOfBundles);
  uint32_t differing = 0;
  const OneByteValue value(rule.background, uint32_t(memory.value));
  BundleWord rows{};
  if (memory.value != kSeveral) {
#pragma unroll
    for (int k = 0; k < Rows::kRowsOfBundle; ++k) {
      const int of_row = Rows::word_of_row(word, k);
      rows.row[k] = tile.has(of_row) ? tile.read(values, of_row).foreground(value, differing) : 0;
    }
  }
  memory.rows[word] = rows;
  if (__syncthreads_or(differing != 0)) {
    if (word == 0) Concurrent::store(by_bundles, 0);
    return;
  }
  const uint32_t starts = labelling.starts();
  int runs;
  const int before = block_scan<Rows::kWords>(__popc(starts), runs);
  memory.starts[word] = starts, memory.before[word] = uint32_t(before);
  if (word == 0) memory.before[Rows::kWords] = uint32_t(runs);
  __syncthreads();
  labelling.find_contacts();
  BundleLabelling::Forest forest(
      {memory.starts, memory.before, memory.uniting.contacts, runs}, memory.parent);
  forest.unite_all([&](int run, uint32_t columns) {
    memory.uniting.first[run] = uint16_t(labelling.first_place(columns));
  });
  labelling.place_roots(forest);
  if (consecutive)
    for (int k = word; k < RunTile::kWords; k += Rows::kWords) memory.bits[0][k] = memory.bits[1][k] = 0;
  forest.mark_reaching(rows.all());
  KeptBundles& of_tile = kept[blockIdx.x];
  int settled = forest.keep<consecutive>(tile, label, of_tile.node, memory.bits[0], memory.bits[1]);
  of_tile.rows[word] = rows, of_tile.starts[word] = starts, of_tile.before[word] = uint16_t(before);
  settled = block_sum<Rows::kWords>(settled);  // all roots are known
  if (consecutive)
    for (int k = word; k < RunTile::kWords; k += Rows::kWords) {
      if (!tile.has(k)) continue;
      const int64_t of_array = tile.word_of_array(k);
      roots_of_word[of_array] = memory.bits[0][k], entries_of_word[of_array] = memory.bits[1][k];
    }
  if (word == 0) of_tile.runs = runs, of_tile.settled = settled;
}

struct BundlePlace {
  int x, y, z;

  BundlePlace moved(int right, int down, int behind) const { return {x + right, y + down, z + behind}; }
};
struct BundlesOfArray {
  using Rows = BundlesBefore;
  static constexpr int kLog[3] = {RunTile::kLog[0] - 5, RunTile::kLog[1] - 1, RunTile::kLog[2] - 1};
  const RunShape& shape;
  const KeptBundles* kept;

  uint32_t tile_of(const BundlePlace& at) const {
    const uint32_t of_row = uint32_t(shape.tiles[0]), of_plane = of_row * uint32_t(shape.tiles[1]);
    return uint32_t(at.z >> kLog[2]) * of_plane + uint32_t(at.y >> kLog[1]) * of_row +
           uint32_t(at.x >> kLog[0]);
  }
  static int word_of(const BundlePlace& at) {
    return (at.z & ((1 << kLog[2]) - 1)) * Rows::kPlane + (at.y & ((1 << kLog[1]) - 1)) * Rows::kRow +
           (at.x & ((1 << kLog[0]) - 1));
  }
  // Nobody asks for any beyond the end of the first axis.
  bool has(const BundlePlace& at) const {
    return at.x >= 0 && at.y >= 0 && at.z >= 0 && at.x < shape.tiles[0] << kLog[0] &&
           at.y < shape.tiles[1] << kLog[1];
  }
  BundleWord rows(const BundlePlace& at) const {
    return has(at) ? kept[tile_of(at)].rows[word_of(at)] : BundleWord{};
  }
  uint32_t starts(const BundlePlace& at) const { return kept[tile_of(at)].starts[word_of(at)]; }
  int32_t entry_of(const BundlePlace& at, int column) const {
    const uint32_t tile = tile_of(at);
    const KeptBundles& of_tile = kept[tile];
    const int place = root_of_element(of_tile.starts, of_tile.before, of_tile.node, word_of(at), column);
    return RunTile(shape, tile, at.x >> kLog[0], at.y >> kLog[1], at.z >> kLog[2]).index_of_place(place);
  }
};

// Contacts across a tile's borders are listed, then united, a thread each: a word, a column and a kind, which
// is a direction, or for a row's first word also with one element in the last column of the left word of the
// bundle before, or its own; kAside is that with its own bundle's left word.
struct ListedContacts {
  using Rows = BundlesBefore;
  enum Kind {
    kLeftBefore = Rows::kDirections,
    kOwnLeft = 2 * Rows::kDirections,
    kAside = 3 * Rows::kDirections
  };
  // By direction 16, 30, 16, 30 words have others across a border; 64 begin rows.
  static constexpr int kMost = (16 + 30 + 16 + 30) * kRunWord + 64 * (Rows::kDirections + 1);
  BundlesOfArray bundles;
  BundlePlace corner;  // of the tile
  int32_t* label;
  uint16_t* listed;
  int* count;

  BundlePlace place_of(int word) const {
    return corner.moved(RunTile::column(word), Rows::row(word), Rows::plane(word));
  }
  static BundlePlace before(const BundlePlace& place, int direction) {
    return place.moved(0, Rows::down(direction), Rows::behind(direction));
  }
  // Lists those of a word; loads all that a direction needs at once.
  void list(const KeptBundles& own_tile, int word) const {
    const BundlePlace place = place_of(word);
    const bool is_first = RunTile::column(word) == 0;
    const BundleWord own = own_tile.rows[word], own_left = bundles.rows(place.moved(-1, 0, 0));
    const uint32_t starts = own_tile.starts[word];
    BundleEdge edges[Rows::kDirections];
    unrolled<Rows::kDirections>([&](int direction) {
      const BundlePlace other = before(place, direction);
      const bool is_asked = bundles.has(other) && (is_first || !Rows::has_before(word, direction));
      const BundlePlace from = is_asked ? other : place;  // anything
      const uint32_t edge = bundles.rows(from).edge_before(direction);
      const uint32_t left = bundles.rows(from.moved(-1, 0, 0)).edge_before(direction) >> 31;
      edges[direction] = {is_asked ? edge : 0, is_asked && left, bundles.starts(from)};
    });
    uint32_t in_column[Rows::kDirections], kinds = 0;  // of the first column
    if (is_first && own.all() & own_left.all() >> 31) kinds = 1 << kAside;
    int contacts = 0;
    unrolled<Rows::kDirections>([&](int direction) {
      BundleEdge other = edges[direction],
                 own_edge{own.edge(direction), own_left.edge(direction) >> 31 != 0, starts};
      if (is_first) {
        // Across the border between columns, an element beside one of the two is united with both.
        if (own_edge.edge & uint32_t(other.has_left && !own_edge.has_left) & ~other.edge)
          kinds |= 1 << (kLeftBefore + direction);
        if (other.edge & uint32_t(own_edge.has_left && !other.has_left) & ~own_edge.edge)
          kinds |= 1 << (kOwnLeft + direction);
        own_edge.has_left = other.has_left = false;
      }
      in_column[direction] = Rows::has_before(word, direction) ? 0 : contacts_of_edges(own_edge, other);
      contacts += __popc(in_column[direction]);
    });
    contacts += __popc(kinds);
    if (contacts == 0) return;
    int at = InBlock::fetch_add(count, contacts);
    unrolled<Rows::kDirections>([&](int direction) {
      for (uint32_t columns = in_column[direction]; columns != 0; columns &= columns - 1)
        listed[at++] = contact(word, direction, lowest(columns));
    });
    for (; kinds != 0; kinds &= kinds - 1) listed[at++] = contact(word, lowest(kinds), 0);
  }
  static uint16_t contact(int word, int kind, int column) {
    return uint16_t(word | kind << 7 | column << 11);
  }
  void unite(int contact) const {
    const int kind = contact >> 7 & 15, column = contact >> 11, direction = kind % Rows::kDirections;
    const bool is_aside = kind == kAside, is_left = kind >= kLeftBefore && kind < kOwnLeft;
    const BundlePlace own = place_of(contact & (Rows::kWords - 1));
    const int32_t a = entry_in(own, column, kind >= kOwnLeft && !is_aside);
    const int32_t b = entry_in(is_aside ? own : before(own, direction), column, is_left || is_aside);
    unite_from<Concurrent>(label, a, Concurrent::load(label + a), b, Concurrent::load(label + b));
  }
  int32_t entry_in(const BundlePlace& word, int column, bool is_left) const {
    return bundles.entry_of(word.moved(-int(is_left), 0, 0), is_left ? kRunWord - 1 : column);
  }
};

template <int = 0>
__global__ void __launch_bounds__(BundlesBefore::kWords) join_bundle_tiles(
    int32_t* label, RunShape shape, const int32_t* by_bundles, const KeptBundles* __restrict__ kept) {
  follow_launch();
  if (by_bundles[0] == 0) return;
  __shared__ uint16_t listed[ListedContacts::kMost];
  __shared__ int count;
  const RunTile tile(shape, blockIdx.x);
  const BundlePlace corner{tile.corner[0] / kRunWord, tile.corner[1] / 2, tile.corner[2] / 2};
  const ListedContacts contacts{{shape, kept}, corner, label, listed, &count};
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  contacts.list(kept[blockIdx.x], int(threadIdx.x));
  __syncthreads();
  for (int k = int(threadIdx.x); k < count; k += BundlesBefore::kWords) contacts.unite(listed[k]);
}

constexpr int kWriteBundleThreads = 256, kRunsAtOnce = 4;
// On each multiprocessor, where so many fit.
constexpr int kWriteBundleBlocks =
    resident_blocks(kWriteBundleThreads) < 6 ? resident_blocks(kWriteBundleThreads) : 6;

struct BundleLabels {
  using Rows = BundlesBefore;
  BundleWord rows[Rows::kWords];
  uint32_t starts[Rows::kWords];
  uint16_t before[Rows::kWords];
  int32_t of_run[1 + Rows::kMostRuns];  // that of background first, which columns ahead of all runs ask for

  // Writes a tile's labels, four columns of a bundle a thread, whose rows share runs.
  void write(const RunTile& tile, int32_t* label) const {
    constexpr int kTogether = 4, kGroups = kRunWord / kTogether;
    const RunShape& shape = tile.shape;
    const int32_t width = shape.length[0], plane = width * shape.length[1];
    const bool fits = width % kTogether == 0 && reinterpret_cast<size_t>(label) % 16 == 0;
    const int32_t background = of_run[0];
    const int bit = int(threadIdx.x) % kGroups * kTogether;
#pragma unroll 1
    for (int word = int(threadIdx.x) / kGroups; word < Rows::kWords; word += kWriteBundleThreads / kGroups) {
      const int first = Rows::word_of_row(word, 0), left = width - tile.x_of(first) - bit;
      if (left <= 0 || !tile.has(first)) continue;
      const BundleWord of_word = rows[word];
      const uint32_t starts_of_word = starts[word];
      int run = before[word] + __popc(starts_of_word & ((1u << bit) - 1));
      int32_t of_column[kTogether];
#pragma unroll
      for (int k = 0; k < kTogether; ++k) {
        run += starts_of_word >> bit >> k & 1;
        of_column[k] = of_run[run];
      }
      int32_t* const to = label + tile.index(first, bit);
#pragma unroll
      for (int k = 0; k < Rows::kRowsOfBundle; ++k) {
        if (!tile.has(Rows::word_of_row(word, k))) continue;
        const uint32_t elements = of_word.row[k] >> bit;
        int32_t labels[kTogether];
#pragma unroll
        for (int j = 0; j < kTogether; ++j) labels[j] = elements >> j & 1 ? of_column[j] : background;
        int32_t* const of_row = to + k / 2 * plane + k % 2 * width;
        store_labels(of_row, labels, fits, left);
      }
    }
  }
};

template <bool consecutive>
__global__ void __launch_bounds__(kWriteBundleThreads, kWriteBundleBlocks)
    write_bundle_labels(int32_t* label, RunShape shape, const int32_t* by_bundles,
        const KeptBundles* __restrict__ kept, const uint32_t* __restrict__ roots_of_word,
        const int32_t* __restrict__ number_of_word, int64_t* components) {
  follow_launch();
  if (by_bundles[0] == 0) return;
  using Labels = RunLabels<consecutive, kWriteBundleThreads, kRunsAtOnce>;
  __shared__ BundleLabels of_tile;
  const RunTile tile(shape, blockIdx.x);
  const KeptBundles& kept_of_tile = kept[blockIdx.x];
  const Labels labels{tile, label, {shape.length[0], shape.columns, roots_of_word, number_of_word}};
  const int thread = int(threadIdx.x), word = thread % BundlesBefore::kWords;
  // Loaded ahead of the labels, and stored after them.
  const BundleWord rows = kept_of_tile.rows[word];
  const uint32_t starts = kept_of_tile.starts[word];
  const uint16_t before = kept_of_tile.before[word];
  const int32_t settled = kept_of_tile.settled;
  int roots = 0;
  labels.label_runs(kept_of_tile.node, 0, kept_of_tile.runs, of_tile.of_run + 1, roots);
  if (thread < BundlesBefore::kWords)
    of_tile.rows[word] = rows, of_tile.starts[word] = starts, of_tile.before[word] = before;
  if (thread == 0) of_tile.of_run[0] = consecutive ? 0 : -1;
  __syncthreads();
  of_tile.write(tile, label);
  if (consecutive) return;
  roots = block_sum<kWriteBundleThreads>(roots);
  if (thread == 0) Concurrent::fetch_add(components, int64_t(roots + settled));
}

}
