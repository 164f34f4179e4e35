// Work without Python's lock, which a signal can end.
#pragma once

#include <Python.h>
#include <cxxabi.h>
#include <nanobind/nanobind.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "cpu/core/interrupt.h"

namespace conncomp {

// While it exists, other threads of Python run.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() { take_back(); }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

  // Whether a signal has come whose handler raises, as that of Ctrl-C does in the main thread; the exception
  // is then set.
  bool signalled() {
    take_back();
    const bool raised = PyErr_CheckSignals() != 0;
    state_ = PyEval_SaveThread();
    return raised;
  }

 private:
  // A thread that asks for the lock while the interpreter exits is ended by Python, before 3.14, in a way
  // that aborts the process where C++ is on the stack. Such a thread sleeps instead until the process is
  // gone.
  void take_back() {
    try {
      PyEval_RestoreThread(state_);
    }
#ifdef __GLIBCXX__
    catch (abi::__forced_unwind&) {
      for (;;) pause();
    }
#endif
    catch (...) {
      std::terminate();  // C throws nothing
    }
  }

  PyThreadState* state_;
};

// Runs body() without Python's lock, and gives it up when a signal says so, or, by TimeoutError, once it has
// taken so many seconds; returns what it returns.
template <class Body>
auto without_gil(Body&& body, double seconds = std::numeric_limits<double>::infinity()) {
  using Result = decltype(body());
  using Seconds = std::chrono::duration<double>;
  const auto start = std::chrono::steady_clock::now();
  bool given_up = false, late = false;
  std::optional<std::conditional_t<std::is_void_v<Result>, bool, Result>> result;
  {
    WithoutGil lock;
    WatchedCall call([&] {
      late = Seconds(std::chrono::steady_clock::now() - start).count() > seconds;
      return late || lock.signalled();
    });
    try {
      if constexpr (std::is_void_v<Result>)
        body();
      else
        result = body();
    } catch (const Interrupted&) {
    }
    given_up = call.given_up();
  }
  if (given_up && late) PyErr_SetString(PyExc_TimeoutError, "the time limit is over");
  if (given_up) throw nanobind::python_error();
  if constexpr (!std::is_void_v<Result>) return *std::move(result);
}

}  // namespace conncomp
