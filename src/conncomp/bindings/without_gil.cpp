#include "bindings/without_gil.h"

#include <cxxabi.h>
#include <unistd.h>

#include <chrono>

#include "cpu/core/interrupt.h"

namespace conncomp {

namespace {

// The key of the question in the thread's dictionary, for all modules of the core.
constexpr const char* kQuestion = "conncomp.question";

}

nanobind::object ask_meanwhile(nanobind::object question) {
  nanobind::dict of_thread = nanobind::borrow<nanobind::dict>(PyThreadState_GetDict());
  nanobind::object before = of_thread.contains(kQuestion) ? of_thread[kQuestion] : nanobind::none();
  of_thread[kQuestion] = question;
  return before;
}

bool look_up() {
  if (PyErr_CheckSignals() != 0) return true;
  PyObject* of_thread = PyThreadState_GetDict();
  PyObject* question = of_thread ? PyDict_GetItemString(of_thread, kQuestion) : nullptr;
  if (!question || question == Py_None) return false;
  PyObject* answer = PyObject_CallNoArgs(question);
  Py_XDECREF(answer);
  return !answer;
}

bool WithoutGil::signalled() {
  take_back();
  const bool raised = look_up();
  state_ = PyEval_SaveThread();
  return raised;
}

// Before 3.14, Python ends a thread that asks for the lock while the interpreter exits, which aborts the
// process where C++ is on the stack. So such a thread sleeps.
void WithoutGil::take_back() {
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

void run_without_gil(FunctionRef<void()> body, double seconds) {
  using Clock = std::chrono::steady_clock;
  const bool limited = seconds < std::numeric_limits<double>::infinity();
  const Clock::time_point start = limited ? Clock::now() : Clock::time_point();
  bool given_up = false, late = false;
  {
    WithoutGil lock;
    const auto is_over = [&] {
      late = limited && std::chrono::duration<double>(Clock::now() - start).count() > seconds;
      return late || lock.signalled();
    };
    WatchedCall call(is_over);
    try {
      body();
    } catch (const Interrupted&) {
    }
    given_up = call.given_up();
  }
  if (given_up && late) PyErr_SetString(PyExc_TimeoutError, "the time limit is over");
  if (given_up) throw nanobind::python_error();
}

}
