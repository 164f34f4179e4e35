// Numbers of the nodes of a graph of NetworkX, which are any hashable objects.
//
// How: keys are numbered a block at a time, as the time goes into waiting for memory. Nodes that are 0, 1,
// ... are numbered by their value; others by the address of the object, which mostly is that of the node,
// too; equal objects that lie elsewhere by their hash. Cost: 5 to 20 ns a key, 50 ns by hash. 32 to 64 bytes
// a node where a table is needed.
#pragma once

#include <Python.h>
#include <nanobind/nanobind.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "cpu/core/drawn_hash.h"

namespace conncomp {

[[noreturn]] inline void refuse_changed_graph() {
  throw std::runtime_error("the graph was changed while it was read; keep other threads from it");
}

inline PyObject* item(const nanobind::tuple& objects, size_t i) {
  return NB_TUPLE_GET_ITEM(objects.ptr(), Py_ssize_t(i));
}

// Looks entries of a table up by hashes: each at the first free place from where its hash says.
template <class Entry>
class HashTable {
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

  // The entry of this hash that is_wanted, or an empty one.
  template <class IsWanted>
  Entry find(uint64_t hash, IsWanted&& is_wanted) const {
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

// Numbers of nodes by equal objects: by the address if it is the same object, else by its hash.
class NodeNumbers {
 public:
  explicit NodeNumbers(const nanobind::tuple& nodes) : nodes_(nodes) {
    for (size_t i = 0; i < nodes.size() && in_order_; ++i) in_order_ = value_of(item(nodes, i)) == int64_t(i);
    if (in_order_) return;
    by_address_.emplace(nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i)
      by_address_->insert(address_of(item(nodes, i)), {item(nodes, i), int64_t(i)});
  }

  // Fills numbers[k] for each key, which is borrowed from a dictionary. This may run code of the user.
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
    // Where edges were made of objects of their own, there is no use in addresses.
    if (2 * new_keys_.size() > count) by_address_.reset();
    new_keys_.clear();  // now, as that may run code of the user, too
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

}  // namespace conncomp
