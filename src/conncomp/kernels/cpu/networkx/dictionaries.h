// Graphs of NetworkX: dictionaries that have for each node, any hashable object, the dictionary of its
// neighbours. Arcs become compressed sparse rows (read_targets), or few tell components
// (grow_forest_of_dictionaries). Memory takes the time, so keys are read in blocks, from prefetched
// dictionaries. Python's lock is held, but for a pause after each block. There, and where Python compares
// nodes, others may change the graph: what is used later is kept alive, numbers are checked, and an
// inconsistent graph is an error.
#pragma once

#include <Python.h>
#include <nanobind/nanobind.h>
#include <optional>
#include <stdexcept>

#include <limits>

#include "core/union_find.h"
#include "cpu/core/key_counts.h"

namespace conncomp {

[[noreturn]] inline void refuse_changed_graph() {
  throw std::runtime_error("the graph was changed while it was read; keep other threads from it");
}

inline PyObject* item(const nanobind::tuple& objects, size_t i) {
  return NB_TUPLE_GET_ITEM(objects.ptr(), Py_ssize_t(i));
}

// Looks entries up by hashes: each at the first free place from where its hash says.
template <class Entry> class HashTable {
 public:
  explicit HashTable(size_t entries)
      : slots_(std::bit_ceil(2 * entries + 2)), bits_(std::countr_zero(slots_.size())) {}

  void prefetch(uint64_t hash) const { __builtin_prefetch(&slots_[start(hash)]); }

  const Entry& first(uint64_t hash) const { return slots_[start(hash)]; }

  void insert(uint64_t hash, const Entry& entry) {
    size_t slot = start(hash);
    while (slots_[slot]) slot = (slot + 1) % slots_.size();
    slots_[slot] = entry;
  }

  Entry find(uint64_t hash, auto&& is_wanted) const {
    size_t slot = start(hash);
    while (slots_[slot] && !is_wanted(slots_[slot])) slot = (slot + 1) % slots_.size();
    return slots_[slot];
  }

 private:
  size_t start(uint64_t hash) const { return size_t(hash_.slot(hash, bits_)); }

  KeyHash hash_ = drawn_hash();
  std::vector<Entry> slots_;
  int bits_;
};

// Numbers of nodes: of 0, 1, ... by value; of others by address, 5 to 20 ns a key, else by hash, 50 ns.
class NodeNumbers {
 public:
  explicit NodeNumbers(const nanobind::tuple& nodes) : nodes_(nodes) {
    for (size_t i = 0; i < nodes.size() && in_order_; ++i) in_order_ = value_of(item(nodes, i)) == int64_t(i);
    if (in_order_) return;
    by_address_.emplace(nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i)
      by_address_->insert(address_of(item(nodes, i)), {item(nodes, i), int64_t(i)});
  }

  // Fills numbers[k] for each key, borrowed from a dictionary. This may run code of the user.
  void find(const std::vector<PyObject*>& keys, std::vector<int64_t>& numbers) {
    const size_t count = keys.size();
    numbers.resize(count);
    for (size_t k = 0; k < count; ++k) {
      PyObject *const key = keys[k], *const ahead = keys[std::min(k + kAhead, count - 1)];
      if (by_address_)
        by_address_->prefetch(address_of(ahead));
      else
        __builtin_prefetch(ahead);
      numbers[k] = by_address_ ? number_at(key) : in_order_ ? value_of(key) : -1;
      if (numbers[k] < 0) new_keys_.push_back({nanobind::borrow(key), k, 0});
    }
    if (new_keys_.empty()) return;
    find_by_hash(numbers);
    // Where edges have objects of their own, addresses are of no use.
    if (2 * new_keys_.size() > count) by_address_.reset();
    new_keys_.clear();  // which may run code of the user, too
  }

 private:
  struct Address {
    const PyObject* object = nullptr;
    int64_t number = -1;
    explicit operator bool() const { return object; }
  };
  struct Hash {
    Py_hash_t hash = 0;
    int64_t number = -1;
    explicit operator bool() const { return number >= 0; }
  };
  struct NewKey {
    nanobind::object key;
    size_t k;
    Py_hash_t hash;
  };

  static constexpr size_t kAhead = 16;

  static uint64_t address_of(const PyObject* object) { return reinterpret_cast<uintptr_t>(object) >> 4; }

  static Py_hash_t hash_of(PyObject* object) {
    const Py_hash_t hash = PyObject_Hash(object);
    if (hash == -1) throw nanobind::python_error();
    return hash;
  }

  int64_t number_at(const PyObject* key) const {
    return by_address_->find(address_of(key), [=](const Address& entry) { return entry.object == key; })
        .number;
  }

  // The value of an integer that may be a node, if these are 0, 1, ...; else -1.
  int64_t value_of(PyObject* key) const {
    if (!PyLong_CheckExact(key)) return -1;
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(key, &overflow);
    return value < int64_t(nodes_.size()) ? value : -1;
  }

  void find_by_hash(std::vector<int64_t>& numbers) {
    if (!by_hash_) {
      by_hash_.emplace(nodes_.size());
      for (size_t i = 0; i < nodes_.size(); ++i) {
        const Py_hash_t hash = hash_of(item(nodes_, i));
        by_hash_->insert(uint64_t(hash), {hash, int64_t(i)});
      }
    }
    for (NewKey& wanted : new_keys_) {
      wanted.hash = hash_of(wanted.key.ptr());
      by_hash_->prefetch(uint64_t(wanted.hash));
    }
    const size_t count = new_keys_.size();
    for (size_t k = 0; k < count; ++k) {
      const Hash& ahead = by_hash_->first(uint64_t(new_keys_[std::min(k + kAhead, count - 1)].hash));
      if (ahead) __builtin_prefetch(item(nodes_, size_t(ahead.number)));
      numbers[new_keys_[k].k] = number_of(new_keys_[k]);
    }
  }

  int64_t number_of(const NewKey& wanted) const {
    const Hash entry = by_hash_->find(uint64_t(wanted.hash), [&](const Hash& entry) {
      if (entry.hash != wanted.hash) return false;
      const int equal = PyObject_RichCompareBool(wanted.key.ptr(), item(nodes_, size_t(entry.number)), Py_EQ);
      if (equal < 0) throw nanobind::python_error();
      return equal != 0;
    });
    if (!entry) refuse_changed_graph();
    return entry.number;
  }

  const nanobind::tuple nodes_;
  bool in_order_ = true;                          // whether the nodes are 0, 1, ...
  std::optional<HashTable<Address>> by_address_;  // as long as it is of use
  std::optional<HashTable<Hash>> by_hash_;        // once it is needed
  std::vector<NewKey> new_keys_;                  // of a block, that were not known otherwise
};

// Prefetches the first keys, where the pointer lies since 3.6, or else other memory.
inline void prefetch_keys(PyObject* row) {
#ifdef Py_LIMITED_API
  constexpr size_t kPlace = 32;
#else
  constexpr size_t kPlace = offsetof(PyDictObject, ma_keys);
#endif
  if (!PyDict_CheckExact(row)) return;
  const char* keys;
  std::memcpy(&keys, reinterpret_cast<const char*>(row) + kPlace, sizeof keys);
  __builtin_prefetch(keys), __builtin_prefetch(keys + 64);
}

constexpr int64_t kAllNeighbours = std::numeric_limits<int64_t>::max();
constexpr auto every_vertex = [](int64_t i) { return i; };

class AdjacencyReader {
 public:
  // `pause()` is called after each block.
  AdjacencyReader(const nanobind::tuple& nodes, FunctionRef<void()> pause) : numbers_(nodes), pause_(pause) {}

  // Calls body(v, neighbour, edges) for `most` first neighbours of vertex(0), ...; counts if `multiple`.
  void for_each_neighbour(
      const nanobind::tuple& rows, int64_t count, auto&& vertex, int64_t most, bool multiple, auto&& body) {
    constexpr size_t kBlock = 4096;
    constexpr int64_t kFar = 24, kNear = 12;  // rows ahead, whose heads and keys are prefetched
    struct End {
      int64_t vertex, edges;
    };
    std::vector<PyObject*> keys;
    std::vector<End> ends;
    std::vector<int64_t> neighbours;
    const auto finish_block = [&] {
      numbers_.find(keys, neighbours);
      for (size_t k = 0; k < keys.size(); ++k) body(ends[k].vertex, neighbours[k], ends[k].edges);
      keys.clear(), ends.clear();
      pause_();
    };
    const auto row_at = [&](int64_t i) { return item(rows, size_t(vertex(std::min(i, count - 1)))); };
    for (int64_t i = 0; i < count; ++i) {
      __builtin_prefetch(row_at(i + kFar));
      prefetch_keys(row_at(i + kNear));
      PyObject *const row = row_at(i), *key, *value;
      if (!PyDict_CheckExact(row)) refuse_changed_graph();
      Py_ssize_t place = 0;
      for (int64_t taken = 0; taken < most && PyDict_Next(row, &place, &key, &value); ++taken) {
        if (multiple && !PyDict_Check(value)) refuse_changed_graph();
        keys.push_back(key);
        ends.push_back({vertex(i), multiple ? int64_t(NB_DICT_GET_SIZE(value)) : 1});
        if (keys.size() == kBlock) finish_block();
      }
    }
    finish_block();
  }

 private:
  NodeNumbers numbers_;
  FunctionRef<void()> pause_;
};

// Fills the rows of arcs: `starts`, one more than nodes, and `targets`, an entry per arc or edge.
template <class Vertex>
void read_targets(const nanobind::tuple& nodes, const nanobind::tuple& rows, bool multiple, int64_t* starts,
    Vertex* targets, int64_t arcs, FunctionRef<void()> pause) {
  AdjacencyReader reader(nodes, pause);
  const int64_t count = int64_t(nodes.size());
  int64_t next = 0, filled = 0;  // the next row to start, and the arcs of those before
  reader.for_each_neighbour(
      rows, count, every_vertex, kAllNeighbours, multiple, [&](int64_t v, int64_t neighbour, int64_t edges) {
        for (; next <= v; ++next) starts[next] = filled;
        if (edges > arcs - filled) refuse_changed_graph();
        std::fill_n(targets + filled, edges, Vertex(neighbour));
        filled += edges;
      });
  for (; next <= count; ++next) starts[next] = filled;
  if (filled != arcs) refuse_changed_graph();
}

// Fills parent[v] with a smaller vertex of v's component, or v. `opposite` has the opposite arcs' rows; so a
// few neighbours find the giant, whose vertices are then done (as in afforest.h).
template <class Index>
void grow_forest_of_dictionaries(const nanobind::tuple& nodes, const nanobind::tuple& rows,
    const nanobind::tuple& opposite, Index* parent, FunctionRef<void()> pause) {
  constexpr int64_t kFew = 4, kSamples = 512;
  AdjacencyReader reader(nodes, pause);
  const int64_t count = int64_t(nodes.size());
  for (int64_t v = 0; v < count; ++v) parent[v] = Index(v);
  const auto unite_ends = [=](int64_t v, int64_t neighbour, int64_t) {
    unite<Exclusive>(parent, Index(v), Index(neighbour));
  };
  reader.for_each_neighbour(rows, count, every_vertex, kFew, false, unite_ends);
  if (count == 0) return;
  std::vector<Index> sample;
  for (int64_t i = 0; i < kSamples; ++i)
    sample.push_back(find<Exclusive>(parent, Index(count / kSamples * i + count % kSamples * i / kSamples)));
  const Index giant = most_frequent(sample).value;
  const auto visit_outside = [&](const nanobind::tuple& side, auto&& is_wanted) {
    const Index root = find<Exclusive>(parent, giant);
    std::vector<Index> vertices;
    for (int64_t v = 0; v < count; ++v)
      if (find<Exclusive>(parent, Index(v)) != root && is_wanted(v)) vertices.push_back(Index(v));
    reader.for_each_neighbour(
        side, int64_t(vertices.size()), [&](int64_t i) { return vertices[size_t(i)]; }, kAllNeighbours, false,
        unite_ends);
  };
  visit_outside(rows, [&](int64_t v) { return NB_DICT_GET_SIZE(item(rows, size_t(v))) > kFew; });
  if (!opposite.is(rows)) visit_outside(opposite, [](int64_t) { return true; });
}

}
