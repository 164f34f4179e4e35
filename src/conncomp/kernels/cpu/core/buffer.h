// An array that is not initialised: pages are first touched by the threads that fill them, and large
// arrays ask for huge pages, which spares most of the page faults.
//
// What is left is clearing: the system clears pages before it hands them out, which took half of the time of
// labelling 4096 x 4096 elements where little else is to do. So freed memory is kept for the next array, up
// to kKept bytes in all, and no block more than twice as large as what the next array asks for. The system
// may take the pages back at any time (MADV_FREE), and does so when memory is short.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace conncomp {

// Blocks of memory that nobody uses. Those as large as a huge page are aligned as such.
class SpareMemory {
 public:
  static constexpr size_t kSmallest = size_t(1) << 16;
#ifdef __SANITIZE_ADDRESS__
  static constexpr size_t kKept = 0;  // so that it sees who uses what has been freed
#else
  static constexpr size_t kKept = size_t(1) << 30;
#endif

  // A block of at least so many bytes, or nullptr; `bytes` becomes its size.
  static void* take(size_t& bytes);
  // Whether a block is kept. The oldest ones make room for it.
  static bool give(void* memory, size_t bytes);
};

// Memory for an array of so many bytes, or std::bad_alloc; `bytes` becomes its size.
void* allocate(size_t& bytes);
// The same, of zeros. Pages of a large array come from the system when they are first touched.
void* allocate_zeros(size_t bytes);
// Takes memory back: of a size from `allocate`, or of 0 bytes if it is of zeros.
void release(void* memory, size_t bytes);

template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  explicit Buffer(int64_t count) {
    size_t bytes = size_t(count) * sizeof(T);
    T* const memory = static_cast<T*>(allocate(bytes));
    data_ = {memory, Free{bytes}};
  }

  static Buffer zeros(int64_t count) {
    Buffer buffer;
    buffer.data_.reset(static_cast<T*>(allocate_zeros(size_t(count) * sizeof(T))));
    return buffer;
  }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  T& operator[](int64_t i) { return data_.get()[i]; }
  const T& operator[](int64_t i) const { return data_.get()[i]; }

 private:
  struct Free {
    size_t bytes = 0;
    void operator()(T* memory) const { release(memory, bytes); }
  };
  std::unique_ptr<T, Free> data_;
};

}  // namespace conncomp
