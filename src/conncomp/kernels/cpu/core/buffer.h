// An array that is not initialised: the threads that fill pages touch them first, and large arrays ask for
// huge pages. Clearing pages took half of the time of labelling 4096 x 4096 elements; so up to kKept bytes
// are kept for the next array, which the system may take back at any time (MADV_FREE).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace conncomp {

class SpareMemory {
 public:
  static constexpr size_t kSmallest = size_t(1) << 16;
#ifdef __SANITIZE_ADDRESS__
  static constexpr size_t kKept = 0;  // so that it sees who uses what has been freed
#else
  static constexpr size_t kKept = size_t(1) << 30;
#endif

  // A block of at least so many bytes, and less than twice as many, or nullptr; `bytes` becomes its size.
  static void* take(size_t& bytes);
  // Returns whether a block is kept; the oldest ones make room for it.
  static bool give(void* memory, size_t bytes);
};

void* allocate(size_t& bytes);
void* allocate_zeros(size_t bytes);
void release(void* memory, size_t bytes);

template <class T> class Buffer {
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

}
