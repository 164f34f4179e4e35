#include "cpu/core/buffer.h"

#include <cstdio>
#include <cstdlib>
#include <new>

#include "cpu/core/parallel.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace conncomp {

namespace {

constexpr size_t kHugePage = size_t(1) << 21;
// The C library has small blocks ready, but not those aligned to a cache line.
constexpr size_t kFewBytes = size_t(1) << 10;

class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(size_t bytes) {
    std::snprintf(text_.data(), text_.size(), "Unable to allocate %.1f GB", 1e-9 * double(bytes));
  }
  const char* what() const noexcept override { return text_.data(); }

 private:
  std::array<char, 48> text_;
};

using Blocks = decltype(Process::spare_blocks);

// Does nothing while another thread is at it, or was when this process was forked.
bool with_blocks(auto&& body) {
  Process& shared = process();
  if (shared.spare_busy.exchange(true, std::memory_order_acquire)) return false;
  body(shared.spare_blocks);
  shared.spare_busy.store(false, std::memory_order_release);
  return true;
}

}

void* SpareMemory::take(size_t& bytes) {
  void* memory = nullptr;
  with_blocks([&](Blocks& blocks) {
    SpareBlock* smallest = nullptr;  // that is large enough
    for (SpareBlock& block : blocks)
      if (block.bytes >= bytes && block.bytes / 2 <= bytes && (!smallest || block.bytes < smallest->bytes))
        smallest = &block;
    if (!smallest) return;
    memory = std::exchange(smallest->memory, nullptr);
    bytes = std::exchange(smallest->bytes, 0);
  });
  return memory;
}

bool SpareMemory::give(void* memory, size_t bytes) {
  if (bytes > kKept) return false;
#if defined(__linux__) && defined(MADV_FREE)
  if (bytes >= kHugePage) madvise(memory, bytes, MADV_FREE);
#endif
  return with_blocks([&](Blocks& blocks) {
    SpareBlock next{memory, bytes};
    size_t sum = 0;
    for (SpareBlock& block : blocks) {  // each moves on by one
      std::swap(block, next);
      sum += block.bytes;
      if (sum > kKept) {
        sum -= block.bytes;
        std::free(block.memory);
        block = {};
      }
    }
    std::free(next.memory);
  });
}

void* allocate(size_t& bytes) {
  const size_t alignment = bytes < kHugePage ? 64 : kHugePage;
  bytes = (bytes + alignment) / alignment * alignment;
  void* memory = bytes < SpareMemory::kSmallest ? nullptr : SpareMemory::take(bytes);
  if (!memory) {
    memory = bytes <= kFewBytes ? std::malloc(bytes) : std::aligned_alloc(alignment, bytes);
    if (!memory) throw OutOfMemory(bytes);
#ifdef __linux__
    if (alignment == kHugePage) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  }
  return memory;
}

void* allocate_zeros(size_t bytes) {
  void* const memory = std::calloc(bytes + 1, 1);
  if (!memory) throw OutOfMemory(bytes);
#ifdef __linux__
  const uintptr_t first = uintptr_t(memory), begin = (first + kHugePage - 1) / kHugePage * kHugePage;
  if (begin + kHugePage <= first + bytes)
    madvise(reinterpret_cast<void*>(begin), (first + bytes - begin) / kHugePage * kHugePage, MADV_HUGEPAGE);
#endif
  return memory;
}

void release(void* memory, size_t bytes) {
  if (bytes < SpareMemory::kSmallest || !SpareMemory::give(memory, bytes)) std::free(memory);
}

}
