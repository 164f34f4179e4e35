"""What kernels are launched with, held against their parameters in C++, which tests compile."""

import subprocess
from collections import defaultdict
from ctypes import c_void_p

from conncomp.kernels.cuda.compiling import SOURCES
from host_cuda import host_gpu

# A parameter takes a number of its size, whole or not as it is, or a struct of its size; a pointer
# takes an array of these, or of what fills a struct, such as bytes; null is for any pointer.
# Integers may be signed where the kernel's are not, as values of images are.
CHECK = """
#include <initializer_list>
#include <type_traits>
namespace given {
struct Argument {
  char kind;
  unsigned size;
  bool is_array;
};
template <class T> constexpr bool holds(Argument given) {
  if constexpr (std::is_class_v<T>)
    return given.is_array ? sizeof(T) % given.size == 0 : given.size == sizeof(T);
  else return given.size == sizeof(T) && (given.kind == 'f') == std::is_floating_point_v<T>;
}
template <class P> constexpr bool takes(Argument given) {
  if (given.is_array != std::is_pointer_v<P>) return false;
  return given.kind == '0' || holds<std::remove_cv_t<std::remove_pointer_t<P>>>(given);
}
template <class... P> struct Parameters {
  static constexpr bool take(std::initializer_list<Argument> given) {
    auto next = given.begin();
    return given.size() == sizeof...(P) && (takes<P>(*next++) && ...);
  }
};
template <class... P> Parameters<P...> parameters(void (*)(P...));
}
"""


def described(argument):
    """Return what an argument of `launch` is: ``"i8"`` for a number, ``"u4*"`` for an array."""
    if argument is None or isinstance(argument, c_void_p):  # an address, in a replay
        return "00*"
    dtype = getattr(argument, "dtype", None)
    if dtype is None:
        return {bool: "b1", int: "i8", float: "f8"}[type(argument)]
    return f"{dtype.kind}{dtype.itemsize}{'*' * (getattr(argument, 'ndim', 0) > 0)}"


def misfits(lines):
    """Return the kernels of launches that do not take their arguments.

    A line has a kernel file, the kernel with its template arguments, and after tabs what the
    arguments are, as `described`.
    """
    claims, found = defaultdict(list), []
    for line in lines:
        called, *words = line.split("\t")
        file, _, name = called.partition(" ")
        if "GivenLinks" in name:  # which does not read the values, the first array
            words[next(k for k, word in enumerate(words) if "*" in word)] = "00*"
        given = ", ".join(
            f"{{'{word[0]}', {word[1:].rstrip('*')}, {str('*' in word).lower()}}}" for word in words
        )
        claim = f"decltype(given::parameters(conncomp::{name}))::take({{{given}}})"
        claims[file].append(f'static_assert({claim}, "{called}");\n')
    for file, of_file in claims.items():
        text = f'{CHECK}#include "{file}"\nnamespace conncomp {{\n{"".join(of_file)}}}\n'
        done = subprocess.run(
            [
                *(host_gpu.COMPILER, "-xc++", "-std=c++20", "-fsyntax-only", "-w", f"-I{SOURCES}"),
                *("-include", str(host_gpu.HERE / "host_cuda.h"), "-"),
            ],
            input=text,
            capture_output=True,
            text=True,
        )
        found += [line for line in done.stderr.splitlines() if "error: " in line]
    return found
