// Labels images of one kind without Python's checks, for grid/repeated.py.
#pragma once

#include "bindings/link_rules.h"
#include "cpu/grid/runs.h"

namespace conncomp {

// Holds the memory of a NumPy array, which Python cannot resize meanwhile.
class HeldMemory {
 public:
  HeldMemory(nb::handle array, int flags) : held_(PyObject_GetBuffer(array.ptr(), &buffer_, flags) == 0) {
    if (!held_) PyErr_Clear();
  }
  ~HeldMemory() {
    if (held_) PyBuffer_Release(&buffer_);
  }
  HeldMemory(const HeldMemory&) = delete;
  HeldMemory& operator=(const HeldMemory&) = delete;

  void* data() const { return buffer_.buf; }

  // Whether the array is as `flags` say, of this shape, and its entries are aligned and of this size.
  bool has(const std::vector<int64_t>& shape, int64_t entry_bytes) const {
    return held_ && std::equal(shape.begin(), shape.end(), buffer_.shape, buffer_.shape + buffer_.ndim) &&
           buffer_.itemsize == entry_bytes && uintptr_t(buffer_.buf) % uintptr_t(entry_bytes) == 0;
  }

  // Whether strides, in bytes, are these along axes longer than 1.
  bool steps_by(const std::vector<int64_t>& strides) const {
    for (int k = 0; k < buffer_.ndim; ++k)
      if (buffer_.shape[k] > 1 && buffer_.strides[k] != strides[k]) return false;
    return true;
  }

  bool overlaps(const HeldMemory& other) const {
    const auto [begin, end] = ends();
    const auto [other_begin, other_end] = other.ends();
    return begin < other_end && other_begin < end;
  }

 private:
  std::pair<uintptr_t, uintptr_t> ends() const {
    uintptr_t begin = uintptr_t(buffer_.buf), end = begin + buffer_.itemsize;
    for (int k = 0; k < buffer_.ndim; ++k) {
      const int64_t reach = buffer_.strides[k] * (buffer_.shape[k] - 1);
      (reach < 0 ? begin : end) += reach;
    }
    return {begin, end};
  }

  Py_buffer buffer_;
  const bool held_;
};

// Labels images, as int32, that differ in values only. Python has checked one.
class ImageKind {
 public:
  ImageKind(const LinkRule& links, const Grid& grid, bool consecutive, std::vector<int64_t> shape,
      std::vector<int64_t> strides, int batch_axes)
      : links_(links),
        grid_(grid),
        naming_(Naming(consecutive)),
        shape_(std::move(shape)),
        strides_(std::move(strides)),
        batch_axes_(batch_axes) {}

  // Returns the number of components, or one per item; None, writing nothing, if layouts differ.
  nb::object label(nb::handle image, nb::handle labels) const {
    const HeldMemory values(image, PyBUF_STRIDES), filled(labels, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS);
    if (!values.has(shape_, links_.words->value_bytes) || !values.steps_by(strides_) ||
        !filled.has(shape_, sizeof(int32_t)) || filled.overlaps(values))
      return nb::none();
    int64_t items = 1;
    for (int k = 0; k < batch_axes_; ++k) items *= shape_[k];
    std::vector<int64_t> counts(items);
    without_gil([&] {
      label_runs(
          values.data(), *links_.words, grid_, naming_, static_cast<int32_t*>(filled.data()), counts.data());
    });
    if (batch_axes_ == 0) return nb::int_(counts[0]);
    return give_away(std::move(counts), items);
  }

 private:
  const LinkRule links_;
  const Grid grid_;
  const Naming naming_;
  const std::vector<int64_t> shape_, strides_;
  const int batch_axes_;
};

}
