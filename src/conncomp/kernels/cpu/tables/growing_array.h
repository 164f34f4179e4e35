// An array to which entries are added, of which nobody knows beforehand how many there will be.
//
// How: room grows by a half. Large memory is moved by the system, page by page, without a copy where it can
// (mremap under realloc), and pages that hold no entries yet take no memory. Cost: an entry is moved three
// times at most, and large ones as a rule not at all.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace conncomp {

template <class T>
class GrowingArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  int64_t size() const { return size_; }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  T& operator[](int64_t i) { return data_.get()[i]; }
  const T& operator[](int64_t i) const { return data_.get()[i]; }

  // Makes room for so many entries in all.
  void reserve(int64_t entries) {
    if (entries <= room_) return;
    const int64_t room = std::max(entries, room_ + room_ / 2 + kFewest);
    void* const memory = std::realloc(static_cast<void*>(data_.get()), size_t(room) * sizeof(T));
    if (!memory) throw std::bad_alloc();
    data_.release();
    data_.reset(static_cast<T*>(memory));
    room_ = room;
    request_huge_pages();
  }

  // Adds entries that are not initialised; returns the first of them.
  T* extend(int64_t entries) {
    reserve(size_ + entries);
    size_ += entries;
    return data() + size_ - entries;
  }

  void add(T value) { *extend(1) = value; }

 private:
  static constexpr int64_t kFewest = 64;

  // They spare most of the misses of where pages are, as entries are read here and there.
  void request_huge_pages() {
#ifdef __linux__
    constexpr uintptr_t kHugePage = uintptr_t(1) << 21;
    const uintptr_t begin = (uintptr_t(data()) + kHugePage - 1) / kHugePage * kHugePage;
    const uintptr_t end = uintptr_t(data() + room_) / kHugePage * kHugePage;
    if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
  }

  struct Free {
    void operator()(T* memory) const { std::free(memory); }
  };
  std::unique_ptr<T, Free> data_;
  int64_t size_ = 0, room_ = 0;
};

}  // namespace conncomp
