// nanobind with all converters; arrays as arguments and results. Python checks arguments.
#pragma once

#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <cstring>

#include "bindings/without_gil.h"

namespace nb = nanobind;

namespace conncomp {

template <class T> using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T> using Table = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Arrays whatever their entries: a function with these is bound once, and calls with_integers.
using AnyVector = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using FilledVector = nb::ndarray<nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Calls body(data), with a pointer of the type of the entries, of `Types`.
template <class... Types, class Array, class Body>
decltype(auto) with_entries(const Array& array, Body&& body) {
  using Entry = std::remove_pointer_t<decltype(array.data())>;
  const auto with = [&]<class First, class... Others>(
                        const auto& with, First, Others... others) -> decltype(auto) {
    using T = std::conditional_t<std::is_const_v<Entry>, const First, First>;
    if constexpr (sizeof...(others) > 0)
      if (array.dtype() != nb::dtype<First>()) return with(with, others...);
    if (array.dtype() != nb::dtype<First>()) throw nb::type_error("an array has entries of another type");
    return body(static_cast<T*>(array.data()));
  };
  return with(with, Types()...);
}

template <class T> auto* entries(const auto& array) {
  return with_entries<T>(array, [](auto* data) { return data; });
}

decltype(auto) with_integers(const auto& array, auto&& body) {
  return with_entries<int32_t, int64_t>(array, body);
}

template <class Array> auto* data_or_null(const std::optional<Array>& array) {
  return array ? array->data() : nullptr;
}

// Calls body(memory) without Python's lock, which keeps two calls from taking the memory of one engine.
void with_memory(auto& engine, auto&& body) {
  auto memory = engine.take_memory();
  without_gil([&] { body(memory); });
  engine.give_back(std::move(memory));
}

// What a kernel takes, a pointer as an array.
template <class T>
using Given = std::conditional_t<std::is_pointer_v<T>, Vector<std::remove_pointer_t<T>>, T>;

// A method to be bound, which runs without Python's lock.
template <class Class, class... Taken> auto unlocked(void (Class::*method)(Taken...) const) {
  const auto pass = []<class T>(std::type_identity<T>, const Given<T>& given) -> T {
    if constexpr (std::is_pointer_v<T>)
      return given.data();
    else
      return given;
  };
  return [=](const Class& object, const Given<Taken>&... given) {
    without_gil([&] { (object.*method)(pass(std::type_identity<Taken>(), given)...); });
  };
}

template <class Struct> Struct struct_of(const nb::bytes& bytes) {
  Struct read;
  if (bytes.size() != sizeof read) throw nb::value_error("these are not the bytes of the struct");
  std::memcpy(&read, bytes.data(), sizeof read);
  return read;
}

// Returns a Buffer or a vector as an array that owns it, with `count` entries.
template <class Memory> nb::object give_away(Memory filled, int64_t count) {
  using T = std::remove_pointer_t<decltype(filled.data())>;
  auto memory = std::make_unique<Memory>(std::move(filled));
  T* const data = memory->data();
  const nb::capsule owner(memory.get(), [](void* p) noexcept { delete static_cast<Memory*>(p); });
  memory.release();
  nb::object array = nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {size_t(count)}, owner));
  // NumPy takes 64 bits for long long, which is a type beside its own int64 where long has 64 bits, too.
  if constexpr (std::is_integral_v<T> && sizeof(T) == 8)
    return array.attr("view")(std::is_signed_v<T> ? "i8" : "u8");
  else
    return array;
}

template <class T> nb::object give_away(std::vector<T> filled) {
  const int64_t count = int64_t(filled.size());
  return give_away(std::move(filled), count);
}

// In another interpreter nanobind's arrays would wait for ever for the main one's lock.
inline void check_interpreter() {
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0)
    throw nb::import_error("conncomp works in the main interpreter only, not in subinterpreters");
}

constexpr const char* kProcessName = "conncomp.Process";

// Each adds the functions and classes of the file of its name; module.cpp calls it, or registers.cpp.
void define_arrays(nb::module_& m);
void define_link_rules(nb::module_& m);
void define_grid(nb::module_& m);
void define_weak(nb::module_& m);
void define_strong(nb::module_& m);
void define_forests(nb::module_& m);
void define_growing(nb::module_& m);
void define_graph_inputs(nb::module_& m);
void define_columns(nb::module_& m);
void define_components(nb::module_& m);
void define_models(nb::module_& m);
void define_spin_glass(nb::module_& m);
void define_vector_spins(nb::module_& m);
void define_edge_spins(nb::module_& m);
void define_launches(nb::module_& m);
void define_transfers(nb::module_& m);
void define_tables(nb::module_& m);

}
