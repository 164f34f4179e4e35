// Work without Python's lock, which a signal can end.
#pragma once

#include <nanobind/nanobind.h>

#include <limits>
#include <optional>

#include "cpu/core/function_ref.h"

namespace conncomp {

// Lets look-ups in this thread call a function, which raises to end them; returns the one before.
nanobind::object ask_meanwhile(nanobind::object question);

// Whether a signal's handler, or the thread's own question, raises: an exception is set.
bool look_up();

// While it exists, other threads of Python run.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() { take_back(); }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

  bool signalled();

 private:
  void take_back();

  PyThreadState* state_;
};

void run_without_gil(FunctionRef<void()> body, double seconds);

// Runs body() without Python's lock, and gives it up at a signal or, by TimeoutError, after some seconds.
auto without_gil(auto&& body, double seconds = std::numeric_limits<double>::infinity()) {
  using Result = decltype(body());
  if constexpr (std::is_void_v<Result>) {
    run_without_gil(body, seconds);
  } else {
    std::optional<Result> result;
    run_without_gil([&] { result.emplace(body()); }, seconds);
    return *std::move(result);
  }
}

}
