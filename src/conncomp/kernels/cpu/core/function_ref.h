// A function that is somebody else's, as an argument: what takes one is compiled once, whatever it is given.
//
// It holds no copy, so it must not outlive the function: it is for arguments, and not to be kept.
// Cost: a call through a pointer, which the compiler cannot see through.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace conncomp {

template <class Signature>
class FunctionRef;

template <class Result, class... Arguments>
class FunctionRef<Result(Arguments...)> {
 public:
  template <class Function>
    requires(!std::is_same_v<std::remove_cvref_t<Function>, FunctionRef>)
  FunctionRef(Function&& function)
      : function_(const_cast<void*>(static_cast<const void*>(std::addressof(function)))),
        call_([](void* called, Arguments... arguments) -> Result {
          return (*static_cast<std::remove_reference_t<Function>*>(called))(
              std::forward<Arguments>(arguments)...);
        }) {}

  Result operator()(Arguments... arguments) const {
    return call_(function_, std::forward<Arguments>(arguments)...);
  }

 private:
  void* function_;
  Result (*call_)(void*, Arguments...);
};

}  // namespace conncomp
