// Components of a graph that grows: a forest as of core/union_find.h and the number of its trees stay on the
// GPU. Nobody waits: check_vertices writes down a vertex out of range (Refusal), unite_batch then leaves out
// the batch, and the host asks later. A union hooks one root, for good, so unions are counted. A batch at
// once can make a long path: so shorten_united points the ends of a sample of edges that have united (a bit
// each) to their roots, and of all if a path is long. Edges may change meanwhile: each is loaded once, and
// checked, to be united. Cost: edges read twice, some a third time; two random reads of parents an edge, a
// compare-and-swap for one that unites. Source: union-find of Jaiganesh and Burtscher 2018; batches as in
// Hong, Dhulipala and Shun 2020, "Exploring the Design Space of Static and Incremental Graph Connectivity
// Algorithms on GPUs".
#pragma once

#include "cuda/graph/edges.cuh"

namespace conncomp {

constexpr int kGrowingThreads = 256;
constexpr int kWordsOfSample = 16;  // one of so many words of edges is probed
constexpr int kDeep = 64;           // steps of two paths, from which on all are shortened

// The first call, from 1 on, given no vertex, and where; by remainder, as calls may overlap.
struct Refusal {
  static constexpr int kRemainders = 64;

  int64_t call, argument, place, value;
  int64_t last_call[kRemainders];

  bool has(int64_t wanted) const { return Concurrent::load(last_call + wanted % kRemainders) == wanted; }
};

// Whether a value is a vertex; if not, writes down that a call was given it, at a place of an argument.
bool check(auto value, int64_t vertices, Refusal* refusal, int64_t call, int64_t argument, int64_t place) {
  if (is_vertex(value, vertices)) return true;
  Concurrent::store(refusal->last_call + call % Refusal::kRemainders, call);
  if (Concurrent::compare_exchange(&refusal->call, int64_t(0), call) != 0) return false;
  refusal->argument = argument;
  refusal->place = place;
  refusal->value = int64_t(value);
  return false;
}

// Checks two arguments of one length, the first of them being number `argument`.
template <class Vertex>
__global__ void __launch_bounds__(kGrowingThreads, resident_blocks(kGrowingThreads))
    check_vertices(int64_t count, int64_t vertices, int64_t call, int64_t argument,
        const Vertex* __restrict__ first, const Vertex* __restrict__ second, Refusal* refusal) {
  struct Pair {
    Vertex first, second;
  };
  visit_loaded(
      count, [=](int64_t i) { return Pair{first[i], second[i]}; },
      [=](int64_t i, const Pair& pair) {
        check(pair.first, vertices, refusal, call, argument, i);
        check(pair.second, vertices, refusal, call, argument + 1, i);
      });
}

struct UnionSeen {
  bool seen = false;
  void united(auto) { seen = true; }
};

// Unites the ends of edges, unless refused. Bit i of `united` says whether edge i did.
template <class Vertex, class Index>
__global__ void __launch_bounds__(kGrowingThreads) unite_batch(int64_t edges, int64_t vertices, int64_t call,
    const Vertex* __restrict__ src, const Vertex* __restrict__ dst, Index* parent, const Refusal* refusal,
    uint32_t* __restrict__ united, int64_t* components) {
  if (refusal->has(call)) return;
  int unions = 0;
  for (int64_t row = grid_thread() - lane(); row < edges; row += grid_threads()) {
    const int64_t i = row + lane();
    Vertex u = i < edges ? Concurrent::load(src + i) : Vertex(0),
           v = i < edges ? Concurrent::load(dst + i) : Vertex(0);
    if (!is_vertex(u, vertices) || !is_vertex(v, vertices)) u = v = 0;
    const Index above_u = Concurrent::load(parent + u), above_v = Concurrent::load(parent + v);
    UnionSeen trace;
    unite_from<Concurrent>(parent, Index(u), above_u, Index(v), above_v, trace);
    const uint32_t bits = __ballot_sync(kAllLanes, trace.seen);
    if (lane() == 0) united[row / kWarp] = bits, unions += __popc(bits);
  }
  const int64_t total = block_sum<kGrowingThreads>(int64_t(unions));
  if (threadIdx.x == 0 && total > 0) Concurrent::fetch_add(components, -total);
}

struct PathSteps {
  int count = 0;
  void start() {}
  void step() { ++count; }
};

// Points v to its root, which is returned; others do so meanwhile, or unite.
template <class Index, class Path = Uncounted>
Index shorten(Index* parent, Index v, Index above, Path&& path = Path()) {
  const Index root = find_from<Lowering<Concurrent>>(parent, v, above, path);
  if (root < above) Lowering<Concurrent>::store(parent + v, root);
  return root;
}

// Points the ends of edges that have united to their roots: of sampled words if it `probes`, where *deep
// becomes the call if a path is long; or else of the others, if the call is deep.
template <bool probes, class Vertex, class Index>
__global__ void __launch_bounds__(kGrowingThreads) shorten_united(int64_t edges, int64_t vertices,
    int64_t call, const Vertex* __restrict__ src, const Vertex* __restrict__ dst, Index* parent,
    const Refusal* refusal, const uint32_t* __restrict__ united, int64_t* deep) {
  if (refusal->has(call) || (!probes && Concurrent::load(deep) != call)) return;
  for (int64_t i = grid_thread(); i < edges; i += grid_threads()) {
    // Which words are a sample cannot be told from the order of the edges.
    const bool is_sample = mix(uint64_t(i / kWarp) ^ mix(uint64_t(call))) % kWordsOfSample == 0;
    if (is_sample != probes || !(united[i / kWarp] >> (i % kWarp) & 1)) continue;
    const Vertex u = Concurrent::load(src + i), v = Concurrent::load(dst + i);
    if (!is_vertex(u, vertices) || !is_vertex(v, vertices)) continue;
    const Index above_u = Concurrent::load(parent + u), above_v = Concurrent::load(parent + v);
    PathSteps steps;
    shorten(parent, Index(u), above_u, steps);
    shorten(parent, Index(v), above_v, steps);
    if (probes && steps.count > kDeep) Concurrent::store(deep, call);
  }
}

// Lets connected[i] be whether u[i] and v[i] are; false, and the call refused, where one is no vertex.
template <class Vertex, class Index>
__global__ void __launch_bounds__(kGrowingThreads) compare_roots(int64_t pairs, int64_t vertices,
    int64_t call, int64_t argument, const Vertex* __restrict__ u, const Vertex* __restrict__ v, Index* parent,
    bool* __restrict__ connected, Refusal* refusal) {
  for (int64_t i = grid_thread(); i < pairs; i += grid_threads()) {
    const Vertex a = Concurrent::load(u + i), b = Concurrent::load(v + i);
    const bool first = check(a, vertices, refusal, call, argument, i),
               second = check(b, vertices, refusal, call, argument + 1, i);
    connected[i] = first && second && in_one_set<Concurrent>(parent, Index(a), Index(b));
  }
}

// Lets roots[i] be the root of wanted[i]; -1, and the call refused, where that is no vertex.
template <class Vertex, class Index>
__global__ void __launch_bounds__(kGrowingThreads)
    list_roots(int64_t count, int64_t vertices, int64_t call, int64_t argument,
        const Vertex* __restrict__ wanted, Index* parent, Index* __restrict__ roots, Refusal* refusal) {
  for (int64_t i = grid_thread(); i < count; i += grid_threads()) {
    const Vertex v = Concurrent::load(wanted + i);
    const bool exists = check(v, vertices, refusal, call, argument, i);
    roots[i] = exists ? find<Concurrent>(parent, Index(v)) : Index(-1);
  }
}

template <class Index, class Label>
__global__ void __launch_bounds__(kGrowingThreads, resident_blocks(kGrowingThreads))
    copy_roots(int64_t vertices, Index* parent, Label* __restrict__ labels) {
  visit_loaded(
      vertices, [=](int64_t v) { return Concurrent::load(parent + v); },
      [=](int64_t v, Index above) { labels[v] = Label(shorten(parent, Index(v), above)); });
}

}
