// An array that is not initialised: pages are first touched by the threads that fill them, and large
// arrays ask for huge pages, which spares most of the page faults.
//
// What is left is clearing: the system clears pages before it hands them out, which took half of the time of
// labelling 4096 x 4096 elements where little else is to do. So freed memory is kept for the next array, up
// to kKept bytes in all, and no block more than twice as large as what the next array asks for. The system
// may take the pages back at any time (MADV_FREE), and does so when memory is short.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace conncomp {

constexpr size_t kHugePage = size_t(1) << 21;

// Says how much memory there was none of.
class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(size_t bytes) {
    std::snprintf(text_.data(), text_.size(), "Unable to allocate %.1f GB", 1e-9 * double(bytes));
  }
  const char* what() const noexcept override { return text_.data(); }

 private:
  std::array<char, 48> text_;
};

// Blocks of memory that nobody uses. Those as large as a huge page are aligned as such.
class SpareMemory {
 public:
  static constexpr size_t kSmallest = size_t(1) << 16;
#ifdef __SANITIZE_ADDRESS__
  static constexpr size_t kKept = 0;  // so that it sees who uses what has been freed
#else
  static constexpr size_t kKept = size_t(1) << 28;
#endif

  // A block of at least so many bytes, or nullptr; `bytes` becomes its size.
  static void* take(size_t& bytes) {
    void* memory = nullptr;
    with_blocks([&](Blocks& blocks) {
      for (Block& block : blocks)
        if (block.bytes >= bytes && block.bytes / 2 <= bytes) {
          memory = std::exchange(block.memory, nullptr);
          bytes = std::exchange(block.bytes, 0);
          return;
        }
    });
    return memory;
  }

  // Whether a block is kept. The oldest ones make room for it.
  static bool give(void* memory, size_t bytes) {
    if (bytes > kKept) return false;
#if defined(__linux__) && defined(MADV_FREE)
    if (bytes >= kHugePage) madvise(memory, bytes, MADV_FREE);
#endif
    bool kept = false;
    with_blocks([&](Blocks& blocks) {
      Block next{memory, bytes};
      size_t sum = 0;
      for (Block& block : blocks) {  // each moves on by one
        std::swap(block, next);
        sum += block.bytes;
        if (sum > kKept) {
          sum -= block.bytes;
          std::free(block.memory);
          block = {};
        }
      }
      std::free(next.memory);
      kept = true;
    });
    return kept;
  }

 private:
  struct Block {
    void* memory;
    size_t bytes;
  };
  using Blocks = std::array<Block, 16>;  // from the newest to the oldest

  // Unless another thread is at it, or was when this process was forked off.
  template <class Body>
  static void with_blocks(Body&& body) {
    if (busy_.exchange(true, std::memory_order_acquire)) return;
    body(blocks_);
    busy_.store(false, std::memory_order_release);
  }

  static inline constinit Blocks blocks_{};
  static inline constinit std::atomic<bool> busy_{false};
};

template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  explicit Buffer(int64_t count) {
    size_t bytes = size_t(count) * sizeof(T);
    const size_t alignment = bytes < kHugePage ? 64 : kHugePage;
    bytes = (bytes + alignment) / alignment * alignment;
    void* memory = bytes < SpareMemory::kSmallest ? nullptr : SpareMemory::take(bytes);
    if (!memory) {
      memory = std::aligned_alloc(alignment, bytes);
      if (!memory) throw OutOfMemory(bytes);
#ifdef __linux__
      if (alignment == kHugePage) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    }
    data_ = {static_cast<T*>(memory), Free{bytes}};
  }

  // An array of zeros. Pages of a large one come from the system when they are first touched.
  static Buffer zeros(int64_t count) {
    const size_t bytes = size_t(count) * sizeof(T);
    Buffer buffer;
    buffer.data_.reset(static_cast<T*>(std::calloc(bytes + 1, 1)));
    if (!buffer.data()) throw OutOfMemory(bytes);
#ifdef __linux__
    const uintptr_t first = uintptr_t(buffer.data()), begin = (first + kHugePage - 1) / kHugePage * kHugePage;
    if (begin + kHugePage <= first + bytes)
      madvise(reinterpret_cast<void*>(begin), (first + bytes - begin) / kHugePage * kHugePage, MADV_HUGEPAGE);
#endif
    return buffer;
  }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  T& operator[](int64_t i) { return data_.get()[i]; }
  const T& operator[](int64_t i) const { return data_.get()[i]; }

 private:
  struct Free {
    size_t bytes = 0;
    void operator()(T* memory) const {
      if (bytes < SpareMemory::kSmallest || !SpareMemory::give(memory, bytes)) std::free(memory);
    }
  };
  std::unique_ptr<T, Free> data_;
};

}  // namespace conncomp
