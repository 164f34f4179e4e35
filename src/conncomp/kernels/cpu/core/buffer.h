// An array that is not initialised: pages are first touched by the threads that fill them, and large
// arrays ask for huge pages, which spares most of the page faults.
#pragma once

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
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  explicit Buffer(int64_t count) {
    constexpr size_t kPage = size_t(1) << 21;
    const size_t bytes = size_t(count) * sizeof(T);
    const size_t alignment = bytes < kPage ? 64 : kPage;
    const size_t rounded = (bytes + alignment) / alignment * alignment;
    void* memory = std::aligned_alloc(alignment, rounded);
    if (!memory) throw std::bad_alloc();
    data_.reset(static_cast<T*>(memory));
#ifdef __linux__
    if (alignment == kPage) madvise(memory, rounded, MADV_HUGEPAGE);
#endif
  }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  T& operator[](int64_t i) { return data_.get()[i]; }
  const T& operator[](int64_t i) const { return data_.get()[i]; }

 private:
  struct Free {
    void operator()(T* memory) const { std::free(memory); }
  };
  std::unique_ptr<T, Free> data_;
};

}  // namespace conncomp
